#!/bin/sh
# The layout check must refuse a wrong fact, one of each kind.
# usage: asserts_can_fail.sh CC make_asserts.py INCLUDE_DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r fact; do
  echo "$fact" >"$work/facts.txt"
  python3 "$2" layout "$work/facts.txt" "$work/facts.c"
  if "$1" -std=c11 -I"$3" -fsyntax-only "$work/facts.c" 2>"$work/errors"; then
    echo "accepted the wrong fact: $fact"
    exit 1
  fi
  grep -q 'static assertion failed' "$work/errors" || { cat "$work/errors"; exit 1; }
done <<EOF
size rocprofiler_agent_v0_t 304
offset rocprofiler_agent_v0_t uuid 0
value ROCPROFILER_STATUS_ERROR_FINALIZED 20
EOF
printf '%s\n' 'include stdint.h' 'bits struct_of_bits second 3 1' >"$work/facts.txt"
python3 "$2" bits "$work/facts.txt" "$work/facts.c"
sed -i '1i typedef struct { unsigned first : 3, second : 2; } struct_of_bits;' "$work/facts.c"
"$1" -std=c11 -I"$3" -o "$work/facts" "$work/facts.c"
if "$work/facts" >/dev/null; then
  echo "accepted a bit-field of the wrong width"
  exit 1
fi
