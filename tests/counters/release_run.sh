#!/bin/sh
# release_run.sh SCRIPTS ROOT RELEASE COMMAND...: runs a test of this folder under the runtime of
# another Debian release, whose root is made first. Exit 77 (skipped) when it cannot be had.
set -eu
scripts=$1 root=$2 release=$3
shift 3
"$scripts/debian_root.sh" "$release" "$root" || exit $?
COUNTING_ROOT=$scripts:$root exec "$@"
