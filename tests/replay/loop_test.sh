#!/usr/bin/env bash
# loop_test.sh RUN... -- TOOL PROGRAM: a program whose kernels write in place what they read, with
# each kernel executed several times. RUN starts it on the software GPU. What the passes counted is
# what runs of the program count that execute each kernel once.
set -u
run=()
while [ "$1" != -- ]; do
    run+=("$1")
    shift
done
tool=$2 program=$3
output=$(mktemp)
trap 'rm -f "$output" "$output".*' EXIT
failed=0

# run_with VARIABLES... -- ARGUMENTS...
run_with() {
    local variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$tool" "${variables[@]}" timeout 120 "${run[@]}" "$program" "${@:2}" \
        >"$output" 2>&1
    local status=$?
    if [ $status -ne 0 ] || ! grep -q '^replayed: ok$' "$output" || ! grep -q '^REPLAY .* wrong 0$' "$output"; then
        echo "${variables[*]}: status $status"
        cat "$output"
        failed=1
    fi
    read -r _ _ launches _ first second third fourth _ values _ stopped _ < <(grep '^REPLAY' "$output")
}

check() { # check WHAT: an arithmetic expression of what the tool has seen
    (($1)) && return
    echo "not so: $1"
    cat "$output"
    failed=1
}

# Pinned and managed memory that a kernel writes: 8 launches have one pass only, and so have copies
# by kernels. A thread that copies may end another one's loop. Launches of the part with one thread come in the same order always.
one_thread='^VALUE [1-7] '
run_with REPLAY_SHOW=1 --
check 'launches >= 30 && first >= launches - 3 && second >= 17 && third <= second && third >= 16 && fourth == 0'
check 'values == launches + second + third'
grep "$one_thread" "$output" | sort >"$output.passes"
for counter in 0 1 2; do
    run_with REPLAY_SHOW=1 REPLAY_PASSES=1 REPLAY_FIRST=$counter --
    check 'first == 0 && values == launches'
    grep "$one_thread" "$output" | sort >>"$output.runs"
done
if ! sort "$output.runs" | comm -13 - "$output.passes" | cmp - /dev/null || [ "$(wc -l <"$output.passes")" -lt 12 ]; then
    echo "counters of passes, which runs do not have:"
    sort "$output.runs" | comm -13 - "$output.passes"
    failed=1
fi

run_with REPLAY_UNTIL=4 --
check 'second >= 17 && fourth <= third && fourth >= 15 && values == launches + second + third + fourth'
run_with REPLAY_STOP=1 --
check 'second >= 17 && stopped == second + third && values == launches + third'
# Device memory that grows and shrinks between launches: all have all passes.
run_with REPLAY_PASSES=3 -- large 8 10
check 'launches >= 10 && second == first && third == first && values == launches + second + third'
# A kernel that waits for its host ran once, and is not tried again.
run_with CROCPROF_REPLAY_LIMIT_MS=500 -- wait
check 'first <= launches - 3 && values >= launches'
exit $failed
