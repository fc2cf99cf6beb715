#!/bin/sh
# make_deb.sh BUILD [FOLDER]: Debian packages of the tree that is built in BUILD, in FOLDER (BUILD/deb).
# The checkout stays as it is. The packages depend on the commit and on nothing else: times are those of
# debian/changelog.
set -eu
unset CDPATH DESTDIR # with the former, cd would print where it went
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
out=${2:-$build/deb}
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/crocprof_*.deb "$out"/crocgpu_*.deb "$out"/libcrocprof*_*.deb
work=$(mktemp -d /tmp/crocprof-deb-XXXXXX) # debhelper knows no folders with blanks
trap 'rm -rf "$work"' EXIT
cp -R "$source/debian" "$work/"
umask 022
(cd "$work" && CROC_BUILD="$build" CROC_DEBS="$out" ./debian/rules binary) >"$out/log" 2>&1 ||
    { cat "$out/log" >&2; exit 1; }
ls "$out"/*.deb
