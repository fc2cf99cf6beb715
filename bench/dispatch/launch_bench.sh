#!/usr/bin/env bash
# launch_bench.sh BUILD [JSON]: launch_bench untraced and traced, in turns, so that all see the same
# machine; the best of all runs, and the lowest median of one run.
set -u
build=$1 json=${2:-}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
tracing=(--no-summary -d "$work/out")
quiet=(--no-memory-copy-trace --no-marker-trace)
for round in 1 2 3; do
    for way in untraced kernels hip all counted counted_4; do
        case $way in
        untraced) command=("$build/bin/crocgpu") ;;
        kernels) command=("$build/bin/crocprof" "${tracing[@]}" "${quiet[@]}" --no-hip-trace --) ;;
        hip) command=("$build/bin/crocprof" "${tracing[@]}" "${quiet[@]}" --no-kernel-trace --) ;;
        all) command=("$build/bin/crocprof" "${tracing[@]}" --) ;;
        counted*) command=("$build/bin/crocprof" "${tracing[@]}" "${quiet[@]}" --no-hip-trace -f none -e SQ_WAVES) ;;
        esac
        [ $way != counted_4 ] || command+=(TCC_HIT TCC_MISS GRBM_COUNT) # a second -e would be a second run
        [[ $way != counted* ]] || command+=(--)
        CROCGPU_THREADS=1 timeout 60 "${command[@]}" "$build/bench/launch_bench" 10 2>"$work/errors" |
            sed "s/^/$way /" >>"$work/results"
        [ "${PIPESTATUS[0]}" = 0 ] || { cat "$work/errors" >&2; exit 1; }
    done
done
awk -v json="$json" '
    { key = $2 " " $1
      if (!(key in best)) { order[++keys] = key; best[key] = $3; middle[key] = $4 }
      if ($3 < best[key]) best[key] = $3
      if ($4 < middle[key]) middle[key] = $4 }
    END {
      printf "%-24s %-9s %9s %9s\n", "us as the program sees", "traced", "best", "median"
      if (json) print "{\"benchmark\": \"launch\", \"unit\": \"us\", \"results\": [" > json
      for (i = 1; i <= keys; i++) {
        split(order[i], part, " ")
        printf "%-24s %-9s %9.2f %9.2f\n", part[1], part[2], best[order[i]], middle[order[i]]
        if (json) printf "  {\"name\": \"%s\", \"traced\": \"%s\", \"best\": %s, \"median\": %s}%s\n", part[1],
            part[2], best[order[i]], middle[order[i]], i < keys ? "," : "" > json
      }
      if (json) print "]}" > json
    }' <(sort -s -k2,2 "$work/results")

# A program that does nothing but launch: wall time as it sees it, and CPU time of the whole process, its start
# and end left out (what 1000 launches take), a launch; the least of three.
TIMEFORMAT='%U %S'
cpu_s() { # LAUNCHES COMMAND...
    { time CROCGPU_THREADS=1 timeout 60 "${@:2}" "$build/tests/programs/launches" "$1" >"$work/said" 2>/dev/null; } \
        2>"$work/cpu" || exit 1
    awk '{ print $1 + $2 }' "$work/cpu"
}
printf '\n%-24s %-9s %9s %9s\n' "us of 100000 launches" traced wall CPU
for way in untraced all; do
    [ $way = untraced ] && command=("$build/bin/crocgpu") || command=("$build/bin/crocprof" "${tracing[@]}" --)
    for round in 1 2 3; do
        start=$(cpu_s 1000 "${command[@]}") && whole=$(cpu_s 100000 "${command[@]}") || exit 1
        awk -v way=$way -v start="$start" -v whole="$whole" \
            '/us each/ { print way, $3, (whole - start) * 1e6 / 99000 }' "$work/said"
    done
done | awk '!($1 in wall) { order[++ways] = $1; wall[$1] = $2; cpu[$1] = $3 }
    { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3 }
    END { for (i = 1; i <= ways; i++) printf "%-24s %-9s %9.2f %9.2f\n", "launch", order[i], wall[order[i]], cpu[order[i]] }'
