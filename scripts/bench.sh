#!/usr/bin/env bash
# make bench: text on stdout, JSON in build/bench.
set -u
dir=$1
mkdir -p "$dir/bench"
status=0
if [ -x "$dir/bin/croc_bench" ]; then
    echo "== record path: ns per traced call, and the ratio to the machine's floor"
    "$dir/bin/croc_bench" record --json "$dir/bench/record.json" || status=1
    echo "== record path: many threads, and the longest calls"
    "$dir/bin/croc_bench" threads || status=1
    "$dir/bin/croc_bench" latency || status=1
fi
if [ -x "$dir/tests/conformance/conformance_linked" ]; then
    echo "== load, find tools, initialise: ms at a runtime's first registration"
    python3 "$(dirname "$0")/../bench/load/load_bench.py" "$dir" --json "$dir/bench/load.json" || status=1
fi
if [ -x "$dir/bench/dispatch_bench" ]; then
    echo "== kernel dispatch: CPU time that tracing adds"
    "$dir/bench/dispatch_bench" --json "$dir/bench/dispatch.json" || status=1
fi
if [ -x "$dir/bin/crocprof" ] && [ -x "$dir/bench/launch_bench" ]; then
    echo "== kernel launch on the software GPU, untraced and traced"
    "$(dirname "$0")/../bench/dispatch/launch_bench.sh" "$dir" "$dir/bench/launch.json" || status=1
    echo "== HIP programs: launches of 1 to 8 threads, small copies, under each HIP that is there"
    "$(dirname "$0")/../bench/dispatch/programs_bench.sh" "$dir" "$dir/bench/programs.json" || status=1
fi
if [ -x "$dir/bin/crocgpu" ] && [ -x "$dir/bench/gpu_bench" ]; then
    for threads in 1 0; do # 0: one per CPU
        echo "== software GPU, $([ $threads = 1 ] && echo one host thread || echo all host threads)"
        CROCGPU_THREADS=$threads "$dir/bin/crocgpu" "$dir/bench/gpu_bench" \
            --json "$dir/bench/gpu_threads_$threads.json" || status=1
    done
fi
if [ -x "$dir/bench/counters_bench" ]; then
    echo "== counters: definitions, evaluation, passes, command buffers"
    "$dir/bench/counters_bench" --json "$dir/bench/counters.json" || status=1
fi
echo "== libraries that come into a program, stripped"
"$(dirname "$0")/../bench/load/size_bench.sh" "$dir/lib" || status=1
if [ -x "$dir/bench/tables_bench" ]; then
    echo "== HIP calls through API tables: what tracing adds"
    "$dir/bench/tables_bench" --json "$dir/bench/tables.json" || status=1
    if command -v valgrind >/dev/null; then
        echo "instructions of a traced call beyond the plain one"
        python3 "$(dirname "$0")/../bench/record/count.py" "$dir" || status=1
    fi
fi
if [ -x "$dir/bench/markers_bench" ]; then
    echo "== markers nobody listens to"
    "$dir/bench/markers_bench" --json "$dir/bench/markers.json" || status=1
fi
if [ -x "$dir/bin/crocgpu" ] && [ -x "$dir/bench/roctracer_bench" ]; then
    echo "== roctracer: ns per call, and the ratio to the machine's floor"
    "$dir/bin/crocgpu" "$dir/bench/roctracer_bench" --json "$dir/bench/roctracer.json" || status=1
    "$dir/bin/crocgpu" "$dir/bench/pools_bench" --json "$dir/bench/pools.json" || status=1
fi
if [ -x "$dir/bin/crocgpu" ] && [ -x "$dir/bench/v1_bench" ]; then
    echo "== ROC Profiler v1: CPU time of the calling thread"
    CROCPROF_LOCK_DIR="$dir/bench" ROCP_HSA_INTERCEPT=1 HSA_TOOLS_LIB="$dir/lib/librocprofiler64.so.1" \
        "$dir/bin/crocgpu" "$dir/bench/v1_bench" "$dir/tests/conformance/counting" \
        --json "$dir/bench/rocprofiler_v1.json" || status=1
fi
if [ -x "$dir/bench/out_bench" ]; then
    echo "== writers: a million records"
    plugins=$(ls "$dir"/lib/roctracer/lib*_plugin.so 2>/dev/null)
    "$dir/bench/out_bench" --json "$dir/bench/out.json" $plugins || status=1
fi
if [ -x "$dir/bin/crocprof" ] && [ -x "$dir/bench/part_make" ]; then
    echo "== merge: the parts of a job (soak: 64 of a million records)"
    "$(dirname "$0")/../bench/merge/merge_bench.py" "$dir" --json "$dir/bench/merge.json" --directory "$dir/bench" || status=1
fi
exit $status
