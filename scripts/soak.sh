#!/usr/bin/env bash
# make soak: the long runs. Every program of tests/e2e twenty times, then the long unit stresses.
set -u
dir=$1
cmake -S . -B "$dir" -DCROC_E2E_REPEAT=20 >/dev/null
ctest --test-dir "$dir" -L 'e2e' --output-on-failure --timeout 1500
status=$?
cmake -S . -B "$dir" -DCROC_E2E_REPEAT=3 >/dev/null
CROC_SOAK=1 ctest --test-dir "$dir" -L soak --output-on-failure --timeout 3600 || status=1
exit $status
