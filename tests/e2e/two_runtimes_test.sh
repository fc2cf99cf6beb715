#!/usr/bin/env bash
# two_runtimes_test.sh CROCGPU PROGRAM HSA_RUNTIME CODE_OBJECT: the HSA runtime twice in one process. The
# second one is renamed as wheels do it, with the kernel driver's library that it brings along.
set -u
crocgpu=$1 program=$2 runtime=$(realpath "$3") code_object=$4 status=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
rename() { # names of the same length, so that nothing in the file moves
    sed 's/libhsa-runtime64\.so\.1/libhsa-runtime64.so.W/g; s/libhsakmt\.so\.1/libhsakmt.so.W/g' "$1"
}
rename "$runtime" >"$work/libhsa-runtime64.so.W"
thunk=$(ldd "$runtime" | awk '$1 == "libhsakmt.so.1" { print $3 }')
[ -z "$thunk" ] || rename "$thunk" >"$work/libhsakmt.so.W"
for mode in trace count device; do
    LD_LIBRARY_PATH=$work "$crocgpu" "$program" $mode "$runtime" "$work/libhsa-runtime64.so.W" \
        "$code_object" || status=1
done
exit $status
