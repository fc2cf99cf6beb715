#!/usr/bin/env bash
# make soak: the long runs. Every program of tests/e2e twenty times, random kernels, then the long unit
# stresses. CROC_E2E_REPEAT, CROC_ENDINGS_REPEAT, CROC_TOGETHER, CROC_LITMUS_VALUES, CROC_TORTURE_S,
# CROC_LAUNCHES and CROC_RANDOM_SEEDS make it shorter or longer; CROC_LIBRARIES=1 adds Debian's tests of ROCm's
# libraries, which fetches gigabytes.
set -u
dir=$1
cmake -S . -B "$dir" -DCROC_E2E_REPEAT="${CROC_E2E_REPEAT:-20}" -DCROC_ENDINGS_REPEAT="${CROC_ENDINGS_REPEAT:-100}" \
    -DCROC_E2E_TIMEOUT_S=3000 -DCROC_KILLED_STEP=1 \
    -DCROC_INVARIANT_SEEDS="1;2;3;4;5;6;7;8;9;10" >/dev/null
ctest --test-dir "$dir" -L "e2e|crocprof" --output-on-failure
status=$?
cmake -S . -B "$dir" -UCROC_E2E_REPEAT -UCROC_ENDINGS_REPEAT -UCROC_E2E_TIMEOUT_S -UCROC_KILLED_STEP \
    -UCROC_INVARIANT_SEEDS >/dev/null
ways="$dir/tests/matrix/matrix_ways"
[ -x "$ways" ] && { python3 tests/matrix/matrix_test.py "$PWD/$dir/bin" "$PWD/$dir/lib" "$PWD/$ways" \
    "$PWD/$dir/tests/matrix/libmatrix_tool.so" "$PWD/$dir/tests/conformance/counting" together "${CROC_TOGETHER:-2000}" || status=1; }
python3 tests/crocprof/each_end_test.py "$PWD/$dir/bin/crocprof" "$PWD/$dir/tests/programs" \
    "$PWD/$dir/tests/support/libfull_disk.so" each || status=1
python3 tests/crocprof/long_run.py "$PWD/$dir/bin/crocprof" "$PWD/$dir/tests/programs" \
    "${CROC_LAUNCHES:-10000000}" || status=1
"$dir/tests/conformance/conformance_soak" 50000000 || status=1
"$dir/bin/crocgpu" "$dir/tests/conformance/conformance_roctracer_pools" 1000000 || status=1
"$dir/tests/conformance/conformance_roctracer_threads" 100000 || status=1
for isa in avx512 avx2 portable; do
    CROC_LITMUS_TIMEOUT_S=1200 tests/litmus/litmus_test.sh "$dir/bin/crocgpu" "$dir/tests/litmus/litmus" \
        $isa all "${CROC_LITMUS_VALUES:-20000}" 60000
    case $? in 0 | 77) ;; *) status=1 ;; esac
done
CROCPROF_SERIALIZE_LIMIT_MS=100000 "$dir/bin/crocgpu" "$dir/tests/conformance/dispatch_torture" \
    "$dir/tests/conformance/torture/torture_gfx90a.co" "${CROC_TORTURE_S:-3600}" 0 restart || status=1
for arch in gfx90a gfx906 gfx908 gfx942; do
    root=
    [ $arch != gfx942 ] || root="--root $PWD/$dir/forky" # ROCr 5.2.3 does not know it
    [ -z "$root" ] || [ -d "$dir/forky/usr" ] || continue
    tests/random_kernels/random_kernels.py --arch $arch --seeds "1-${CROC_RANDOM_SEEDS:-1000}" $root \
        --crocgpu "$dir/bin/crocgpu" --runner "$dir/tests/random_kernels/runner" || status=1
    tests/instruction_reference/instruction_reference.py --arch $arch $root --crocgpu "$dir/bin/crocgpu" \
        --rounds "${CROC_INSTRUCTION_ROUNDS:-200}" --runner "$dir/tests/instruction_reference/runner" || status=1
done
CROC_RACE_VALUES="${CROC_LITMUS_VALUES:-20000}" "$dir/tests/wave_memory_test" || status=1
export HSA_TOOLS_LIB=$dir/lib/librocprofiler64.so.1 CROCPROF_LOCK_DIR=$dir/tests ROCP_HSA_INTERCEPT=1
V1_POOL_LAUNCHES=2500 "$dir/bin/crocgpu" "$dir/tests/conformance/rocprofiler_v1_intercept" \
    "$dir/tests/conformance/counting" || status=1
V1_ROUNDS=5000 "$dir/bin/crocgpu" "$dir/tests/conformance/rocprofiler_v1_hostile" \
    "$dir/tests/conformance/counting" || status=1
unset HSA_TOOLS_LIB CROCPROF_LOCK_DIR ROCP_HSA_INTERCEPT
scripts/make_deb.sh "$dir" >/dev/null && scripts/debian_root.sh bookworm "$dir/bookworm" &&
    python3 tests/containers/containers_test.py "$PWD" run "$dir/bookworm" "$dir/deb" || status=1
[ -z "${CROC_LIBRARIES:-}" ] || scripts/soak_libraries.sh "$dir" || status=1
CROC_STRESS_RECORDS=10000000 "$dir/tests/tracebuf_tracebuf_test" || status=1
# Its parts and what is made of them take 25 GB: left out where there is less.
if [ "$(df --output=avail -BG "$dir" | tail -1 | tr -dc 0-9)" -ge "${CROC_MERGE_GB:-30}" ]; then
    bench/merge/merge_bench.py "$dir" --parts 64 --records 1000000 --directory "$dir" || status=1
else
    echo "soak: merge of 64 parts: left out, too little room on the disk"
fi
exit $status
