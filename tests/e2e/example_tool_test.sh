#!/usr/bin/env bash
# example_tool_test.sh CROCGPU TOOL EXAMPLES: the tool of examples/tools counts what the programs
# say of themselves: each kernel once.
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
