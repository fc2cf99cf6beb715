#!/usr/bin/env bash
# run.sh SOURCE BUILD PRESET PARTS TARGET...: builds the targets (unit test programs) with a
# sanitizer preset in a build folder of its own and runs each. Everything a sanitizer finds ends the
# program with an error. BUILD has been built: its objects of softgpu/valu's loops, which no sanitizer
# looks at, are taken.
set -u
source=$1 built=$2 build=$2/sanitize-$3 preset=$3 parts=$4
shift 4
log=$build.log
mkdir -p "$build"
if ! { cd "$source" && cmake --preset "$preset" -B "$build" -DCROC_PARTS="$parts" \
        -DCROC_VALU_BUILT="$built" &&
       cmake --build "$build" --target "$@"; } >"$log" 2>&1; then
    grep -E 'error|FAILED' "$log" | head -n 20
    echo "the $preset build failed, see $log"
    exit 1
fi
# A leak of the libraries' own is an error; what a runtime keeps until exit is not ours to free.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
failed=0
for target in "$@"; do
    if timeout 300 "$build/tests/$target" >"$build/$target.txt" 2>&1; then
        echo "$target: clean"
    else
        echo "$target: status $?"
        grep -vE '^\[ +(RUN|OK)' "$build/$target.txt" | head -n 40
        failed=1
    fi
done
exit $failed
