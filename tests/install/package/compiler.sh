#!/bin/sh
# A compiler that says what it compiled, to the file that the test names.
echo "$*" >>"$COMPILER_LOG"
exec "${CXX:-c++}" "$@"
