#!/usr/bin/env bash
# newer_functions_test.sh SOURCE BUILD: functions that came with HIP 7.1 and 7.2 and with HSA 7.2, under 7.2.4: one call each, by
# name. Exit 77 (skipped) when the root cannot be had.
set -u
source=$1 build=$2 root=$2/experimental
"$source/scripts/debian_root.sh" experimental "$root" || exit $?
output=$(LD_PRELOAD=$build/lib/libcrocgpu.so:$build/lib/libcrocprof-tool.so ROCPROF_HIP_RUNTIME_API_TRACE=1 \
    ROCPROF_HSA_AMD_EXT_API_TRACE=1 \
    ROCPROF_STATS_SUMMARY_PER_DOMAIN=1 ROCPROF_OUTPUT_FORMAT=none timeout 120 \
    "$source/scripts/debian_run.sh" "$root" "$build/tests/programs/newer_functions" 2>&1)
for line in '^ *1 .* hipStreamGetId$' '^ *1 .* hipMemsetD2D8$' '^ *1 .* hsa_amd_ais_file_read$' \
    '^3 of 3 functions$' '^newer_functions: ok$'; do
    grep -qE "$line" <<<"$output" && continue
    echo "no line matches '$line' in:"
    echo "$output"
    exit 1
done
