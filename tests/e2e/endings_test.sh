#!/usr/bin/env bash
# endings_test.sh CROCGPU PROGRAMS: however a program ends, its status is its own and nothing of the
# software GPU is left behind; children of fork and exec have a GPU of their own.
set -u
crocgpu=$1 programs=$2
failed=0
ulimit -c 0

leftovers() { # files, and processes of the program
    find /tmp /dev/shm "$HOME/.cache" -maxdepth 2 -iname '*crocgpu*' -newer "$mark" 2>/dev/null
}

mark=$(mktemp)
trap 'rm -f "$mark"' EXIT
while read -r how want; do
    timeout 60 "$crocgpu" "$programs/hsa_queues" $how >/dev/null 2>&1
    status=$?
    [ "$status" = "$want" ] || { echo "hsa_queues $how: status $status, not $want"; failed=1; }
done <<'ENDINGS'
exit 0
_exit 0
abort 134
fork 0
ENDINGS
left=$(leftovers)
[ -z "$left" ] || { echo "left behind: $left"; failed=1; }

# The launcher's own answers.
expect() { # expect STATUS PATTERN COMMAND...
    local want=$1 pattern=$2 output status
    shift 2
    output=$(timeout 60 "$@" 2>&1)
    status=$?
    [ "$status" = "$want" ] || { echo "$*: status $status, not $want"; failed=1; }
    grep -qE "$pattern" <<<"$output" || { echo "$*: no '$pattern' in: $output"; failed=1; }
}
expect 42 'done' "$crocgpu" sh -c 'echo done; exit 42'
expect 127 'no_such_program' "$crocgpu" no_such_program
expect 126 'Permission denied' "$crocgpu" /etc/passwd
expect 2 'gfx1100.*known: gfx90a' "$crocgpu" --devices gfx1100 true
expect 2 'usage' "$crocgpu"
expect 2 'incomplete option --devices' "$crocgpu" --devices
expect 0 'usage' "$crocgpu" --help
expect 0 'Instinct MI100' "$crocgpu" --devices gfx908 rocminfo
# A child started by exec inherits the GPU.
expect 0 'Instinct MI210' "$crocgpu" sh -c 'exec rocminfo'
exit $failed
