#!/bin/sh
# What is wrong is said in one line before the program starts; the program then does not run.
# usage: errors_test.sh CROCPROF PROGRAMS
set -u
crocprof=$1 programs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# refused NAME STATUS PATTERN ARGUMENTS...
refused() {
  name=$1 want=$2 pattern=$3
  shift 3
  timeout 60 "$crocprof" "$@" >"$work/out" 2>"$work/err"
  got=$?
  if [ $got -ne "$want" ] || ! grep -qE -e "$pattern" "$work/err" || [ -e "$work/ran" ]; then
    echo "$name: status $got, expected $want; wanted '$pattern' in:"
    cat "$work/err"
    failed=1
  fi
  if [ "$(grep -c '^crocprof: ' "$work/err")" -ne 1 ]; then
    echo "$name: not one line:"
    cat "$work/err"
    failed=1
  fi
  rm -f "$work/ran"
}

refused missing_program 127 'nosuchprogram' nosuchprogram
refused not_executable 126 '/etc/passwd' /etc/passwd
refused unknown_option 2 '--frobnicate' --frobnicate touch "$work/ran"
refused no_program 2 'which program'
refused unknown_counter 2 'SQ_WAVESS.*did you mean SQ_WAVES' -e SQ_WAVES,SQ_WAVESS touch "$work/ran"
refused unknown_format 2 'xyz .known: csv, rocpd, pftrace' -d "$work" -f xyz touch "$work/ran"
refused directory_is_a_file 2 'passwd' -d /etc/passwd touch "$work/ran"
refused directory_below_a_file 2 'Not a directory' -d /etc/passwd/a touch "$work/ran"
refused unknown_instance 2 'TCC_READ\[32\] on' -e 'TCC_READ[31],TCC_READ[32]' touch "$work/ran"
refused instance_of_nobody 2 'TCC_READX\[0\] on' -e 'TCC_READX[0]' touch "$work/ran"
refused list_of_something 2 'list takes no arguments' list "$work"
refused summary_missing_parent 2 'No such file' --summary-file "$work/a/s" touch "$work/ran"
refused summary_is_a_directory 2 'directory' --summary-file "$work" touch "$work/ran"
if [ "$(id -u)" -ne 0 ]; then
  refused unwritable 2 'cannot write|Permission' -d / touch "$work/ran"
fi

# A program that is not a GPU program runs as if nothing were there.
timeout 60 "$crocprof" sh -c 'echo out; exit 41' >"$work/out" 2>"$work/err"
got=$?
[ $got -eq 41 ] && [ "$(cat "$work/out")" = out ] || {
  echo "plain program: status $got"
  cat "$work/out" "$work/err"
  failed=1
}

# One summary file for all processes of the program, wherever they go; that of an earlier run is
# replaced.
(cd "$work" && echo earlier >summary && timeout 120 "$crocprof" --summary-file summary \
  sh -c 'cd /; "$0"; "$0"' "$programs/lanes" >out 2>err)
got=$?
tables=$(grep -c ' kernel$' "$work/summary")
if [ $got -ne 0 ] || [ "$tables" -ne 2 ] || grep -q earlier "$work/summary"; then
  echo "summary of two processes: status $got, $tables tables in:"
  cat "$work/summary" "$work/err"
  failed=1
fi
exit $failed
