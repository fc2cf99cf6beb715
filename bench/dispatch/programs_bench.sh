#!/usr/bin/env bash
# programs_bench.sh BUILD [JSON]: HIP programs of several sorts, untraced and traced in turns, under the
# machine's HIP and, where its root stands, Debian forky's 6.4.3; nothing is written. The least of three.
set -u
build=$1 json=${2:-}
here=$(dirname "$0")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
tracing=(ROCPROF_KERNEL_TRACE=1 ROCPROF_MEMORY_COPY_TRACE=1 ROCPROF_HIP_RUNTIME_API_TRACE=1
    ROCPROF_OUTPUT_FORMAT=none)
run() { # RELEASE WAY SORT COUNT THREADS
    local program=("$build/bench/programs_bench" "${@:3}") preload=$build/lib/libcrocgpu.so env=(CROCGPU_THREADS=1)
    [ "$1" = host ] || program=("$here/../../scripts/debian_run.sh" "$build/$1" "${program[@]}")
    [ "$2" = untraced ] || { preload+=:$build/lib/libcrocprof-tool.so && env+=("${tracing[@]}"); }
    env "${env[@]}" LD_PRELOAD="$preload" timeout 100 "${program[@]}" 2>"$work/errors" |
        sed "s/^/$1 $2 /" >>"$work/results"
    [ "${PIPESTATUS[0]}" = 0 ] || { cat "$work/errors" >&2; exit 1; }
}
releases=host
[ ! -d "$build/forky/usr" ] || releases+=" forky"
for round in 1 2 3; do
    for release in $releases; do
        for sort in "launches 20000 1" "launches 20000 2" "launches 20000 4" "launches 20000 8" "copies 2000 1"; do
            for way in untraced traced; do
                run "$release" $way $sort
            done
        done
    done
done
awk -v json="$json" '
    { key = $1 " " $3 " " $4
      if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
      at = key " " $2
      if (!(at in wall) || $5 < wall[at]) wall[at] = $5
      if (!(at in cpu) || $6 < cpu[at]) cpu[at] = $6 }
    END {
      printf "%-9s %-9s %7s %19s %19s %7s %7s\n", "us each", "", "threads", "wall, traced", "CPU, traced", "wall +", "CPU +"
      if (json) print "{\"benchmark\": \"programs\", \"unit\": \"us\", \"results\": [" > json
      for (i = 1; i <= keys; i++) {
        split(order[i], part, " ")
        u = order[i] " untraced"; t = order[i] " traced"
        printf "%-9s %-9s %7d %9.2f %9.2f %9.2f %9.2f %7.2f %7.2f\n", part[1], part[2], part[3],
            wall[u], wall[t], cpu[u], cpu[t], wall[t] - wall[u], cpu[t] - cpu[u]
        if (json) printf "  {\"release\": \"%s\", \"name\": \"%s\", \"threads\": %d, \"wall\": %s, \"wall_traced\": %s, \"cpu\": %s, \"cpu_traced\": %s}%s\n",
            part[1], part[2], part[3], wall[u], wall[t], cpu[u], cpu[t], i < keys ? "," : "" > json
      }
      if (json) print "]}" > json
    }' "$work/results"
