#!/bin/bash
# For coverage.py: a command of clang. What only GCC compiles (softgpu/valu, some of wave) is taken from the build
# beside it, and counts nothing.
ccache "$@" 2>/dev/null && exit
words=" $*"
made=${words##* -o }
made=${made%% *}
echo "$made:" >"$made.d"
cp "../build/$made" "$made"
