#!/usr/bin/env bash
# example_tool_test.sh CROCGPU TOOL EXAMPLES [TOOL]: the tools of examples/tools count what the programs
# say of themselves: each kernel once; with ROCtracer's tool, each call with its work.
set -u
runs_of() { # runs_of KERNEL < output: the first column of its line
    awk -v kernel="$1" 'index($4, kernel) {print $1}'
}
expect() { # expect PROGRAM KERNEL RUNS
    local output runs
    output=$(LD_PRELOAD=$tool timeout 100 "$crocgpu" "$examples/$1" 2>&1) || { echo "$output"; exit 1; }
    runs=$(runs_of "$2" <<<"$output")
    [ "$runs" = "$3" ] || { echo "$1: $2 ran '$runs' times, not $3"; echo "$output"; exit 1; }
}
crocgpu=$1 tool=$2 examples=$3
expect reduction histogram 1
expect reduction reduce_sum 1
expect vector_add vector_add 1

[ $# -eq 4 ] || exit 0
output=$(LD_PRELOAD=$4 timeout 100 "$crocgpu" "$examples/vector_add" 2>&1) || { echo "$output"; exit 1; }
# calls and work of vector_add.cpp; HIP's own markers come as they like
for line in 'hipMalloc 3 0' 'hipLaunchKernel 1 1' 'hipFree 3 -' 'hipMemcpy 3 3-'; do
    read -r name count work <<<"$line"
    seen=$(awk -v name="$name" '$5 == name {print $1, $3}' <<<"$output")
    case $work in
    -) [ "${seen%% *}" = "$count" ] && continue ;;
    *-) [ "${seen%% *}" = "$count" ] && [ "${seen##* }" -ge "${work%-}" ] && continue ;;
    *) [ "$seen" = "$count $work" ] && continue ;;
    esac
    echo "vector_add: $name has '$seen' calls and work, not '$count $work'"
    echo "$output"
    exit 1
done
