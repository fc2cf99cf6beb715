#!/usr/bin/env bash
# make soak: the long runs. Every program of tests/e2e twenty times, then the long unit stresses.
set -u
dir=$1
cmake -S . -B "$dir" -DCROC_E2E_REPEAT=20 -DCROC_ENDINGS_REPEAT=100 >/dev/null
ctest --test-dir "$dir" -L "e2e|crocprof" --output-on-failure --timeout 3000
status=$?
cmake -S . -B "$dir" -UCROC_E2E_REPEAT -UCROC_ENDINGS_REPEAT >/dev/null
CROC_STRESS_RECORDS=10000000 "$dir/tests/tracebuf_tracebuf_test" || status=1
exit $status
