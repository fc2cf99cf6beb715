#!/usr/bin/env bash
# litmus_test.sh CROCGPU PROGRAM ISA [ARGS]: the litmus tests on one of the software GPU's builds for
# this CPU, or the best. Exit 77 (skipped) when the CPU has no such instructions.
set -u
crocgpu=$1 program=$2 isa=$3
shift 3
case $isa in
avx512) flag=avx512vl ;;
avx2) flag=avx2 ;;
*) flag= ;;
esac
if [ -n "$flag" ] && ! grep -qw "$flag" /proc/cpuinfo; then
    echo "this CPU has no $isa"
    exit 77
fi
[ "$isa" = best ] || export CROCGPU_HOST_ISA=$isa
export CROCGPU_DEVICES=gfx90a*2
output=$(timeout "${CROC_LITMUS_TIMEOUT_S:-120}" "$crocgpu" "$program" "$@" 2>&1)
status=$?
echo "$output"
[ $status -eq 0 ] && [ "$(tail -n 1 <<<"$output")" = "litmus: ok" ] &&
    ! grep -q CROCGPU_HOST_ISA <<<"$output" # the warning that it is not obeyed
