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

refused missing_program 127 'nosuchprogram: No such file or directory$' -d "$work/none" nosuchprogram
refused not_executable 126 '/etc/passwd' /etc/passwd
refused unknown_option 2 '--frobnicate' --frobnicate touch "$work/ran"
refused no_program 2 'which program'
refused unknown_counter 2 'SQ_WAVESS.*did you mean SQ_WAVES' -e SQ_WAVES,SQ_WAVESS touch "$work/ran"
refused no_counters 2 'pmc needs a value' --pmc ' ,' touch "$work/ran"
refused empty_format 2 'output-format needs a value' -f '' touch "$work/ran"
refused list_without_dashes 127 'GRBM_COUNT: No such file.*where -- stands before' -e SQ_WAVES GRBM_COUNT touch "$work/ran"
refused no_such_device 2 'SQ_WAVES:device=1: there is no such GPU' -e SQ_WAVES:device=0,SQ_WAVES:device=1 touch "$work/ran"
refused no_device 2 'SQ_WAVES:device=: there is no such GPU' -e SQ_WAVES:device= touch "$work/ran"
refused no_group 2 'summary-groups: a.b: missing closing' --summary-groups 'KERNEL' --summary-groups 'a(b' touch "$work/ran"
refused unknown_format 2 'xyz .known: csv, json, rocpd, pftrace, otf2, html' -d "$work" -f xyz touch "$work/ran"
refused directory_is_a_file 2 'passwd' -d /etc/passwd touch "$work/ran"
refused directory_below_a_file 2 'Not a directory' -d /etc/passwd/a touch "$work/ran"
refused unknown_instance 2 'TCC_READ\[32\] on' -e 'TCC_READ[31],TCC_READ[32]' touch "$work/ran"
refused instance_of_nobody 2 'TCC_READX\[0\] on' -e 'TCC_READX[0]' touch "$work/ran"
refused list_of_something 1 'no counter matches$' list nothing_of_that_kind
refused list_of_no_file 2 "$work/x: No such file" -E "$work/x" list
refused list_nearly 1 'no counter matches SQ_WAVEZ .did you mean SQ_WAVES..$' list SQ_WAVEZ
refused list_no_pattern 2 'a.b: missing closing parenthesis' list 'a(b'
refused list_no_gpu 2 'agent 7: there is no such GPU' list --agent 7
refused list_fits_unknown 2 'unknown counter sq_waves on gfx90a .did you mean SQ_WAVES..' list --fits sq_waves
refused misspelt_command 127 'did you mean the command record' recrod touch "$work/ran"
refused no_command_behind_dashes 127 'list: No such file or directory$' -- list
refused help_of_nothing 2 'there is no command xyzzy' help xyzzy
refused help_misspelt 2 'did you mean list' help lits
refused option_of_a_command 2 'unknown option --kernel-trace .see crocprof list --help' list --kernel-trace
refused summary_below_a_file 2 'Not a directory' --summary-file /etc/passwd/s touch "$work/ran"
refused summary_is_a_directory 2 'directory' --summary-file "$work" touch "$work/ran"
if [ "$(id -u)" -ne 0 ]; then
  refused unwritable 2 'cannot write|Permission' -d / touch "$work/ran"
fi

# The default command by its name; every command has a text.
timeout 60 "$crocprof" record sh -c 'exit 42' >"$work/out" 2>"$work/err"
[ $? -eq 42 ] || { echo "record: not the program's status"; cat "$work/err"; failed=1; }
"$crocprof" --help | sed -n "/^Commands/,/^What/s/^  \\([a-z][a-z]*\\) .*/\\1/p" >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 3 ] || { echo "commands in --help: $(cat "$work/commands")"; failed=1; }
while read -r command; do
  "$crocprof" help "$command" >"$work/out" && "$crocprof" "$command" --help | cmp -s - "$work/out" &&
    grep -q "^usage: crocprof $command" "$work/out" || { echo "help of $command"; failed=1; }
done <"$work/commands"

# As in a shell, a program without a path is one of PATH.
touch "$work/here"
cd "$work" || exit 1
refused program_here 127 'here: No such file or directory .did you mean ./here..' here
cd - >/dev/null || exit 1

# Formats need no -- behind them: the next word that is none is the program.
timeout 60 "$crocprof" -f csv json -d "$work/formats" sh -c 'exit 43' >"$work/out" 2>"$work/err"
[ $? -eq 43 ] || { echo "formats without --: not the program's status"; cat "$work/err"; failed=1; }

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
