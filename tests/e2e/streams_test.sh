#!/usr/bin/env bash
# streams_test.sh CROCGPU TOOL STREAMS: on the machine's own HIP.
set -u
output=$(mktemp)
trap 'rm -f "$output"' EXIT
LD_PRELOAD=$2 timeout 120 "$1" "$3" >"$output" 2>&1 || { cat "$output"; exit 1; }
"$(dirname "$0")/streams_check.sh" "$output"
