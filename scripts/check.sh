#!/usr/bin/env bash
# make check: builds are done; runs every test and closes with "N passed, N failed, N skipped".
set -u
dir=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --test-dir "$dir" --output-on-failure -j2 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
passed=$(grep -c ' Passed ' "$log" || true)
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
failed=$(grep -cE '\*\*\*(Failed|Timeout|Exception|Not Run)' "$log" || true)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$passed" -gt 0 ] || status=1
exit "$status"
