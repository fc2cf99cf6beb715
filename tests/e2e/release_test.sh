#!/usr/bin/env bash
# release_test.sh SOURCE BUILD RELEASE: rocminfo and the HIP programs, built on Debian 12, under ROCr
# and HIP of another Debian release with the same libcrocgpu.so. Exit 77 (skipped) when the root
# cannot be had.
set -u
source=$1 build=$2 release=$3
root=$build/$release
"$source/scripts/debian_root.sh" "$release" "$root" || exit $?
export LD_PRELOAD=$build/lib/libcrocgpu.so
failed=0
if ! timeout 60 "$source/scripts/debian_run.sh" "$root" rocminfo | grep -q 'Name: *gfx90a'; then
    echo "rocminfo does not list gfx90a"
    failed=1
fi
programs=$(echo examples/{vector_add,transpose,reduction,gemm} \
    tests/programs/{half_axpy,hash64,lanes,private_memory,host_memory,copy_2d,streams,graph,events,threads,spin,wait_value,device_printf,math_functions,cooperative,ipc,textures,hsa_queues})
# Left out: virtual memory management, which needs ROCm 6 or later; ipc under HIP 5.7, where 2 MiB stay
# taken when the last holder has gone; threads under HIP 7.2, which now and then calls a null pointer
# of its own when threads launch their first kernels at once.
case $release in
trixie) programs=${programs/tests\/programs\/ipc /} ;;
experimental) programs="${programs/tests\/programs\/threads /} tests/programs/virtual_memory" ;;
*) programs="$programs tests/programs/virtual_memory" ;;
esac
# HIP 7 copies to pageable memory with a kernel.
copy_to_host='^ *1 .* MEMORY_COPY_DEVICE_TO_HOST'
[ "$release" != experimental ] || copy_to_host='^ *1 .* __amd_rocclr_copyBuffer'
for program in $programs "tests/programs/hsa_queues again"; do
    name=$(basename "${program% *}")
    # shellcheck disable=SC2086 # a program and its argument
    output=$(timeout 120 "$source/scripts/debian_run.sh" "$root" "$build"/$program 2>&1)
    status=$?
    if [ $status -ne 0 ] || [ "$(tail -n 1 <<<"$output")" != "$name: ok" ]; then
        echo "$name: status $status under $release"
        tail -n 15 <<<"$output"
        failed=1
    else
        echo "$name: ok under $release"
    fi
done

# Memory that nobody told the runtime of.
output=$(HSA_XNACK=1 timeout 120 "$source/scripts/debian_run.sh" "$root" "$build/tests/programs/page_faults" 2>&1)
if [ "$(tail -n 1 <<<"$output")" != "page_faults: ok" ]; then
    echo "page_faults: not ok under $release"
    tail -n 15 <<<"$output"
    failed=1
fi

# The runtime is told why a queue stopped, in the way that it asked for; HIP 7 has a text of its own.
ulimit -c 0
output=$(timeout 120 "$source/scripts/debian_run.sh" "$root" "$build/tests/programs/bad_instruction" 2>&1)
if [ $? -eq 124 ] || ! grep -qE 'HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION|unspecified launch failure' <<<"$output"; then
    echo "bad_instruction: not told of under $release"
    tail -n 15 <<<"$output"
    failed=1
fi

# What crocprof tells its tool library when nobody asks for anything else.
crocprof=(ROCPROF_KERNEL_TRACE=1 ROCPROF_MEMORY_COPY_TRACE=1 ROCPROF_HIP_RUNTIME_API_TRACE=1
    ROCPROF_STATS_SUMMARY_PER_DOMAIN=1 ROCPROF_OUTPUT_FORMAT=none)

# The profiler on the same runtime: one kernel of 2^20 work-items, two copies in, one out.
if [ -f "$build/lib/libcrocprof-tool.so" ]; then
    output=$(env LD_PRELOAD="$LD_PRELOAD:$build/lib/libcrocprof-tool.so" ROCPROF_COUNTERS=SQ_WAVES \
        "${crocprof[@]}" timeout 120 "$source/scripts/debian_run.sh" "$root" "$build/examples/vector_add" 2>&1)
    for line in '^ *1 .* vector_add\(' '^ *1 +16384 .* SQ_WAVES ' '^ *2 .* MEMORY_COPY_HOST_TO_DEVICE' \
        "$copy_to_host" '^ *3 .* hipMemcpy$'; do
        grep -qE "$line" <<<"$output" && continue
        echo "crocprof under $release: no line matches '$line' in:"
        echo "$output"
        failed=1
    done
fi
# HIP as a wheel brings it: its file's name does not say the release.
if [ -f "$build/lib/libcrocprof-tool.so" ]; then
    wheel=$(mktemp -d)
    cp -L "$(ls "$root"/usr/lib/x86_64-linux-gnu/libamdhip64.so.?)" "$wheel/libamdhip64.so.5"
    output=$(env LIBRARIES_FIRST="$wheel" "${crocprof[@]}" \
        LD_PRELOAD="$LD_PRELOAD:$build/lib/libcrocprof-tool.so" timeout 120 "$source/scripts/debian_run.sh" "$root" "$build/examples/vector_add" 2>&1)
    if [ "$(grep -cE '^ *3 .* hipMemcpy$|^ *1 .* hipLaunchKernel$|^vector_add: ok$' <<<"$output")" != 3 ]; then
        echo "crocprof under $release, HIP without a version in its name:"
        echo "$output"
        failed=1
    fi
    rm -rf "$wheel"
fi
for check in arguments:examples/vector_add streams:tests/programs/streams \
    graphs:tests/programs/graph events:tests/programs/events; do
    tool=${check%%:*} program=${check#*:}
    [ -f "$build/tests/e2e/libe2e_${tool}_tool.so" ] || continue
    output=$(mktemp)
    LD_PRELOAD=$LD_PRELOAD:$build/tests/e2e/libe2e_${tool}_tool.so timeout 120 \
        "$source/scripts/debian_run.sh" "$root" "$build/$program" >"$output" 2>&1
    "$source/tests/e2e/${tool}_check.sh" "$output" || failed=1
    rm -f "$output"
done
# ROCtracer's tool: calls in the program's order, each with the work it caused.
if [ -f "$build/lib/roctracer/libroctracer_tool.so" ]; then
    traces=$(mktemp -d)
    LD_PRELOAD=$LD_PRELOAD:$build/lib/roctracer/libroctracer_tool.so ROCTRACER_DOMAIN=hip \
        ROCP_OUTPUT_DIR=$traces timeout 120 "$source/scripts/debian_run.sh" "$root" \
        "$build/examples/vector_add" >/dev/null || failed=1
    calls=$(sed -E 's/^[0-9: ]* (\w+)\(.*/\1/' "$traces"/*_hip_api_trace.txt | grep -E 'Mem|Launch' | xargs)
    if ! grep -qE 'hipMalloc\(ptr=0x[0-9a-f]+, size=4194304\)' "$traces"/*_hip_api_trace.txt ||
        ! grep -qE 'numBlocks=\{x=4096, y=1, z=1\}.* kernel=vector_add\(float' "$traces"/*_hip_api_trace.txt; then
        echo "roctracer's tool under $release: arguments or kernel names are missing"
        failed=1
    fi
    # Each operation's name and the name of the call with its correlation id.
    work=$(sort -n "$traces"/*_hcc_ops_trace.txt | sed -E 's/.* (.*):([0-9]+):[0-9]+$/\1 \2/' |
        while read -r name id; do
            echo "$name $(sed -nE "s/^[0-9: ]* (\w+)\(.* :$id\$/\1/p" "$traces"/*_hip_api_trace.txt)"
        done | grep -v '^Marker ' | xargs)
    if [ "$calls" != "hipMemcpy hipMemcpy hipLaunchKernel hipMemcpy" ] ||
        [ "$work" != "CopyHostToDevice hipMemcpy CopyHostToDevice hipMemcpy vector_add hipLaunchKernel CopyDeviceToHost hipMemcpy" ]; then
        echo "roctracer's tool under $release: calls $calls; work $work"
        failed=1
    fi
    rm -rf "$traces"
fi
exit $failed
