#!/usr/bin/env bash
# make soak: the long runs, in parts: PARTS="torture kernels/gfx90a" chooses, all else. A part's words go to
# BUILD/soak/PART.log, and one line says how it ended; the last line is "N passed, N failed, N left out".
# CROC_SOAK_JOBS: how many parts at a time (half of the cores else); what measures runs alone, behind the others.
# CROC_PART_JOBS: how many processes a part of random programs or runs has (2 else). At its own sizes all takes a night on two cores, by estimate: nobody has waited for it.
# CROC_E2E_REPEAT, CROC_ENDINGS_REPEAT, CROC_TOGETHER, CROC_RECORDS, CROC_LITMUS_VALUES, CROC_TORTURE_S, CROC_LAUNCHES,
# CROC_RANDOM_SEEDS, CROC_CSMITH_SEEDS, CROC_TRANSLATE_RUNS, CROC_INSTRUCTION_ROUNDS, CROC_V1_LAUNCHES and CROC_V1_ROUNDS make it shorter or longer; CROC_LIBRARIES=1 adds Debian's tests of
# ROCm's libraries, which fetches gigabytes.
set -u
dir=$(realpath "$1")
shift
bin=$dir/bin tests=$dir/tests
LEFT_OUT=77
cores=$(nproc)
jobs=${CROC_SOAK_JOBS:-$((cores > 3 ? cores / 2 : 1))}
part_jobs=${CROC_PART_JOBS:-2}

TOGETHER=(programs matrix ends launches records pools threads litmus/avx512 litmus/avx2 litmus/portable torture
    kernels/gfx90a kernels/gfx906 kernels/gfx908 kernels/gfx942 csmith/gfx90a csmith/gfx906 csmith/gfx942 runs translated/avx512 translated/avx2
    instructions/gfx90a instructions/gfx906 instructions/gfx908 instructions/gfx942
    races v1-pools v1-hostile containers libraries)
ALONE=(tracebuf merge)

# Every program of tests/e2e twenty times, every way to end one a hundred times.
part_programs() {
    local limits=(-DCROC_E2E_REPEAT="${CROC_E2E_REPEAT:-20}" -DCROC_ENDINGS_REPEAT="${CROC_ENDINGS_REPEAT:-100}"
        -DCROC_E2E_TIMEOUT_S=3000 -DCROC_KILLED_STEP=1 "-DCROC_INVARIANT_SEEDS=1;2;3;4;5;6;7;8;9;10") limit status
    cmake -S . -B "$dir" "${limits[@]}" >/dev/null
    ctest --test-dir "$dir" -L "e2e|crocprof" --output-on-failure -j"$jobs"
    status=$?
    for limit in "${limits[@]%%=*}"; do set -- "$@" "-U${limit#-D}"; done
    cmake -S . -B "$dir" "$@" >/dev/null
    return $status
}
part_matrix() {
    [ -x "$tests/matrix/matrix_ways" ] || return $LEFT_OUT
    python3 tests/matrix/matrix_test.py "$bin" "$dir/lib" "$tests/matrix/matrix_ways" \
        "$tests/matrix/libmatrix_tool.so" "$tests/conformance/counting" together "${CROC_TOGETHER:-2000}"
}
part_ends() {
    python3 tests/crocprof/each_end_test.py "$bin/crocprof" "$tests/programs" "$tests/support/libfull_disk.so" each
}
part_launches() {
    python3 tests/crocprof/long_run.py "$bin/crocprof" "$tests/programs" "${CROC_LAUNCHES:-10000000}"
}
part_records() { "$tests/conformance/conformance_soak" "${CROC_RECORDS:-50000000}"; }
part_pools() { "$bin/crocgpu" "$tests/conformance/conformance_roctracer_pools" 1000000; }
part_threads() { "$tests/conformance/conformance_roctracer_threads" 100000; }
part_litmus() {
    CROC_LITMUS_TIMEOUT_S=1200 tests/litmus/litmus_test.sh "$bin/crocgpu" "$tests/litmus/litmus" \
        "$1" all "${CROC_LITMUS_VALUES:-20000}" 60000
}
part_torture() {
    CROCPROF_SERIALIZE_LIMIT_MS=100000 "$bin/crocgpu" "$tests/conformance/dispatch_torture" \
        "$tests/conformance/torture/torture_gfx90a.co" "${CROC_TORTURE_S:-3600}" 0 restart
}
# Prints --root for the GPUs that ROCr 5.2.3 does not know.
root_of() {
    [ "$1" = gfx942 ] || return 0
    [ -d "$dir/forky/usr" ] || return $LEFT_OUT
    echo "--root $dir/forky"
}
part_kernels() {
    local root
    root=$(root_of "$1") || return $LEFT_OUT
    tests/random_kernels/random_kernels.py --arch "$1" --seeds "1-${CROC_RANDOM_SEEDS:-1000}" $root --jobs "$part_jobs" \
        --crocgpu "$bin/crocgpu" --runner "$tests/random_kernels/runner"
}
# LLVM 15 at O0 for a gfx942: in frames of more than 4 KiB two registers are kept in one place at a time, and one is lost.
part_csmith() {
    local root levels=O0,O1,O2,O3
    root=$(root_of "$1") || return $LEFT_OUT
    [ "$1" != gfx942 ] || levels=O1,O2,O3
    tests/random_kernels/random_kernels.py --csmith --arch "$1" --seeds "1-${CROC_CSMITH_SEEDS:-200}" --levels $levels $root --jobs "$part_jobs" \
        --clang clang-15 --crocgpu "$bin/crocgpu" --runner "$tests/random_kernels/runner"
}
# Translated code against the interpreter: runs of instructions, and whole kernels on a level of the host's.
part_runs() {
    local runs=$((${CROC_TRANSLATE_RUNS:-2000000} / part_jobs)) shard shards=()
    for ((shard = 0; shard < part_jobs; shard++)); do
        (
            export CROC_TRANSLATE_SEED=$shard CROC_TRANSLATE_RUNS=$runs
            "$tests/translate_translate_test" || exit
            CROC_TRANSLATE_RUNS=$((runs / 10)) "$tests/wave_run_test" && CROC_TRANSLATE_RUNS=$((runs / 10)) "$tests/wave_linear_test"
        ) &
        shards+=($!)
    done
    for shard in "${shards[@]}"; do wait "$shard" || return; done
}
part_translated() {
    CROCGPU_TRANSLATE=always CROCGPU_HOST_ISA=$1 tests/random_kernels/random_kernels.py --arch gfx90a \
        --seeds "2001-$((2000 + ${CROC_RANDOM_SEEDS:-200}))" --jobs "$part_jobs" --crocgpu "$bin/crocgpu" --runner "$tests/random_kernels/runner"
}
part_instructions() {
    local root
    root=$(root_of "$1") || return $LEFT_OUT
    tests/instruction_reference/instruction_reference.py --arch "$1" $root --crocgpu "$bin/crocgpu" \
        --rounds "${CROC_INSTRUCTION_ROUNDS:-200}" --runner "$tests/instruction_reference/runner"
}
part_races() { CROC_RACE_VALUES="${CROC_LITMUS_VALUES:-20000}" "$tests/wave_memory_test"; }
v1_run() {
    HSA_TOOLS_LIB=$dir/lib/librocprofiler64.so.1 CROCPROF_LOCK_DIR=$(mktemp -d "$dir/soak/lock.XXXXXX") ROCP_HSA_INTERCEPT=1 \
        "$bin/crocgpu" "$@" "$tests/conformance/counting"
}
part_v1_pools() { V1_POOL_LAUNCHES=${CROC_V1_LAUNCHES:-2500} v1_run "$tests/conformance/rocprofiler_v1_intercept"; }
part_v1_hostile() { V1_ROUNDS=${CROC_V1_ROUNDS:-5000} v1_run "$tests/conformance/rocprofiler_v1_hostile"; }
part_containers() {
    scripts/make_deb.sh "$dir" && scripts/debian_root.sh bookworm "$dir/bookworm" &&
        python3 tests/containers/containers_test.py "$PWD" run "$dir/bookworm" "$dir/deb"
}
part_libraries() {
    [ -n "${CROC_LIBRARIES:-}" ] || return $LEFT_OUT
    scripts/soak_libraries.sh "$dir"
}
part_tracebuf() { CROC_STRESS_RECORDS=10000000 "$tests/tracebuf_tracebuf_test"; }
# Its parts and what is made of them take 25 GB.
part_merge() {
    [ "$(df --output=avail -BG "$dir" | tail -1 | tr -dc 0-9)" -ge "${CROC_MERGE_GB:-30}" ] || return $LEFT_OUT
    bench/merge/merge_bench.py "$dir" --parts 64 --records 1000000 --directory "$dir"
}

# part_function NAME: NAME is a function's, and its argument behind a slash.
part_function() {
    local name=$1 argument="" function
    function=part_${name%%/*}
    [ "$name" = "${name#*/}" ] || argument=${name#*/}
    "${function//-/_}" $argument
}
if [ "${1:-}" = --part ]; then
    part_function "$2"
    exit
fi

# A shell's background jobs, and all that they start, ignore Ctrl-C and Ctrl-\; programs that end by these are of the tests.
part_run() {
    local name=$1 log=$dir/soak/${1//\//-}.log begin=$SECONDS word
    env --default-signal=HUP,INT,QUIT "$0" "$dir" --part "$name" >"$log" 2>&1 </dev/null
    case $? in
    0) word=passed ;;
    $LEFT_OUT) word="left out" ;;
    *) word=FAILED ;;
    esac
    echo "soak: $name: $word, $((SECONDS - begin)) s ($log)" | tee -a "$results"
    [ "$word" != FAILED ] || tail -n 20 "$log"
}

mkdir -p "$dir/soak"
results=$dir/soak/results.txt
: >"$results"
wanted() { [ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]] || [[ " ${*:2} " == *" ${1%%/*} "* ]]; }
for name in "$@"; do
    [[ " ${TOGETHER[*]} ${ALONE[*]} " =~ " $name"[\ /] ]] || { echo "soak: no part '$name': ${TOGETHER[*]} ${ALONE[*]}"; exit 2; }
done
for name in "${TOGETHER[@]}"; do
    wanted "$name" "$@" || continue
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    part_run "$name" &
done
wait
for name in "${ALONE[@]}"; do
    wanted "$name" "$@" && part_run "$name"
done
count() { grep -c ": $1, " "$results"; }
echo "$(count passed) passed, $(count FAILED) failed, $(count 'left out') left out"
[ "$(count FAILED)" -eq 0 ] && [ "$(count passed)" -gt 0 ]
