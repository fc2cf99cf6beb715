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

# What page faults do not find is reported like any other bad address.
export HSA_XNACK=1 CROCGPU_DEVICES=gfx90a*2
for what in unmapped read_only device; do
    output=$(timeout 60 "$crocgpu" "$programs/page_faults" $what 2>&1)
    status=$?
    expect "page_faults $what" 'Memory access fault by GPU node-1' "$output"
    [ $status -ne 0 ] && [ $status -ne 124 ] || { echo "page_faults $what: status $status"; failed=1; }
done
expect "page_faults read_only" '[Rr]ead-only' "$("$crocgpu" "$programs/page_faults" read_only 2>&1)"
expect "bad_address with page faults" 'Memory access fault by GPU node-1 .*on address 0x123456789000' \
    "$(timeout 60 "$crocgpu" "$programs/bad_address" 2>&1)"
output=$(HSA_XNACK=0 timeout 60 "$crocgpu" "$programs/page_faults" 2>&1)
expect "page_faults without" 'does not wait for page faults' "$output"
exit $failed
