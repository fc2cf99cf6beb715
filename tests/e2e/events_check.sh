#!/usr/bin/env bash
# events_check.sh FILE: what events_tool.c saw of tests/programs/events.cpp: two streams record four events each
# and wait for each other's; one records three more. The calls besides, four, leave nothing on the device.
set -u
line='EVENTS calls 23 recorded 11 waited 8 records 11 and 8 across queues 8 wrong 0'
grep -qxF "$line" "$1" && exit 0
echo "no line is '$line' in:"
cat "$1"
exit 1
