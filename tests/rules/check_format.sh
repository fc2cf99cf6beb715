#!/bin/sh
# Every C file is as clang-format leaves it (`make format` makes it so).
cd "$1" || exit 1
files=$(git ls-files '*.c' '*.h' '*.hpp' 2>/dev/null)
[ -n "$files" ] || exit 77 # no git checkout
# shellcheck disable=SC2086 # a list of names without spaces
wrong=$(clang-format --dry-run -Werror $files 2>&1 | grep 'error:' | head -n 20)
[ -n "$wrong" ] || exit 0
echo "$wrong"
exit 1
