#!/usr/bin/env bash
# tool_test.sh CROCGPU TOOL PROGRAM CHECK: a program with a tool on the machine's own HIP; CHECK reads what both say.
set -u
output=$(mktemp)
trap 'rm -f "$output"' EXIT
LD_PRELOAD=$2 timeout 120 "$1" "$3" >"$output" 2>&1 || { cat "$output"; exit 1; }
"$4" "$output"
