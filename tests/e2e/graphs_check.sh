#!/usr/bin/env bash
# graphs_check.sh FILE: what graphs_tool.c saw of tests/programs/graph.cpp, which makes one graph of three
# kernels and launches it twenty times.
set -u
line='GRAPHS created 1 destroyed 1 launches 20 records 20 kernels 60 recorded 60 of calls 20 wrong 0'
grep -qxF "$line" "$1" && exit 0
echo "no line is '$line' in:"
cat "$1"
exit 1
