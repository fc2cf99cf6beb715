#!/usr/bin/env bash
# arguments_check.sh FILE: the calls of examples/hip/vector_add.cpp (2^20 floats, 256 work-items a
# group), as arguments_tool.c prints them, have the arguments that the program gives.
set -u
failed=0
expect() { # FILE PATTERN COUNT
    found=$(grep -cE "^HIP $2" "$1")
    [ "$found" -eq "$3" ] && return
    echo "$found instead of $3 lines match '$2'"
    failed=1
}
expect "$1" 'hipMalloc ptr=0x[0-9a-f]+ size=4194304 -> 0$' 3
expect "$1" 'hipMemcpy dst=0x[0-9a-f]+ src=0x[0-9a-f]+ sizeBytes=4194304 kind=1 -> 0$' 2
expect "$1" 'hipMemcpy dst=0x[0-9a-f]+ src=0x[0-9a-f]+ sizeBytes=4194304 kind=2 -> 0$' 1
expect "$1" 'hipLaunchKernel function_address=0x[0-9a-f]+ numBlocks=\{x=4096, y=1, z=1\} dimBlocks=\{x=256, y=1, z=1\} args=0x[0-9a-f]+ sharedMemBytes=0 stream=\(null\) -> 0$' 1
expect "$1" '__hipPushCallConfiguration gridDim=\{x=4096, y=1, z=1\} blockDim=\{x=256, y=1, z=1\} sharedMem=0 stream=\(null\) -> 0$' 1
expect "$1" 'hipFree ptr=0x[0-9a-f]+ -> 0$' 3
[ $failed -eq 0 ] || grep '^HIP' "$1"
exit $failed
