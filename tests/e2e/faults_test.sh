#!/usr/bin/env bash
# faults_test.sh CROCGPU PROGRAMS: errors of a kernel surface as the runtime's own reports.
set -u
crocgpu=$1 programs=$2
failed=0

expect() { # expect NAME PATTERN OUTPUT
    if ! grep -qE "$2" <<<"$3"; then
        echo "$1: no line matches '$2' in:"
        echo "$3" | tail -n 20
        failed=1
    fi
}

ulimit -c 0
output=$(timeout 60 "$crocgpu" "$programs/bad_address" 2>&1)
status=$?
expect bad_address 'Memory access fault by GPU node-1 .*on address 0x123456789000' "$output"
[ $status -ne 0 ] && [ $status -ne 124 ] || { echo "bad_address: status $status"; failed=1; }

output=$(timeout 60 "$crocgpu" "$programs/bad_instruction" 2>&1)
status=$?
expect bad_instruction 'feedface' "$output"
expect bad_instruction '[Ii]llegal [Ii]nstruction|ILLEGAL_INSTRUCTION' "$output"
[ $status -ne 124 ] || { echo "bad_instruction: hung"; failed=1; }
exit $failed
