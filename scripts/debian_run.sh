#!/bin/sh
# debian_run.sh ROOT PROGRAM [ARGS]: runs a program with the loader and the libraries of a root made
# by debian_root.sh. LD_PRELOAD in the environment works as usual; libraries in LIBRARIES_FIRST come
# before the root's.
set -eu
root=$1
shift
program=$1
shift
case $program in
rocminfo) program=$root/usr/bin/rocminfo ;;
esac
libraries=$root/usr/lib/x86_64-linux-gnu
export AMD_COMGR_CACHE=0 # no files outside the test's own folders
exec "$libraries/ld-linux-x86-64.so.2" --library-path \
    "${LIBRARIES_FIRST:+$LIBRARIES_FIRST:}$root/compat:$libraries" "$program" "$@"
