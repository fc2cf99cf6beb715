#!/usr/bin/env bash
# streams_check.sh FILE: what streams_tool.c counted in tests/programs/streams.cpp. Every stream is
# used by a memset, 12 + 1 kernels, an event and a wait: 16; the first by two events more.
set -u
line='STREAMS created 8 destroyed 8 used 8 uses 16 to 18 unbalanced 0 wrong 0'
grep -qxF "$line" "$1" && exit 0
echo "no line is '$line' in:"
cat "$1"
exit 1
