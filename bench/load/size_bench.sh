#!/usr/bin/env bash
# size_bench.sh LIB: bytes of the libraries that come into a program, stripped.
set -u
budget=1500000 total=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
for name in libcrocprof librocprofiler-sdk librocprofiler-sdk-roctx librocprofiler-register \
    libroctracer64 libroctx64 libhsa-amd-aqlprofile64; do
    library=$(find "$1" -maxdepth 1 -type f -name "$name.so*" | head -1)
    [ -n "$library" ] && strip -o "$work/stripped" "$library" || exit 1
    size=$(stat -c %s "$work/stripped")
    printf '%-26s %8d bytes\n' "$name" "$size"
    total=$((total + size))
done
verdict=met
[ $total -le $budget ] || verdict=OVER
printf '%-26s %8d bytes  budget %d  %s\n' together $total $budget $verdict
