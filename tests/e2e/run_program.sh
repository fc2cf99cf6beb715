#!/usr/bin/env bash
# run_program.sh CROCGPU PROGRAM TIMES: the program must end with "name: ok" and status 0, each time.
set -u
crocgpu=$1 program=$2 times=$3
name=$(basename "$program")
for ((run = 1; run <= times; run++)); do
    output=$(timeout 60 "$crocgpu" "$program" 2>&1)
    status=$?
    if [ $status -ne 0 ] || [ "$(tail -n 1 <<<"$output")" != "$name: ok" ]; then
        echo "run $run of $times: status $status"
        echo "$output" | tail -n 40
        exit 1
    fi
done
echo "$name: ok $times times"
# The kernel's own lines, in any order of blocks: two blocks, three threads each.
[ "$name" != device_printf ] || diff <(grep '^block' <<<"$output" | sort) - <<'EOF'
block 0 thread 0 sum 40 half 0.00 text
block 0 thread 1 sum 41 half 0.50 text
block 0 thread 2 sum 42 half 1.00 text
block 1 thread 0 sum 40 half 0.00 text
block 1 thread 1 sum 41 half 0.50 text
block 1 thread 2 sum 42 half 1.00 text
EOF
