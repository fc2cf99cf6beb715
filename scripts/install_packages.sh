#!/bin/sh
# Installs the packages of packages.txt that are missing. Quiet and instant when none is.
set -eu
cd "$(dirname "$0")/.."
wanted=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' packages.txt)
missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "crocprof: these Debian packages are missing:$missing" >&2
    echo "crocprof: run 'make' once as root, or: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "crocprof: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086 # a list of words
apt-get -qq install -y --no-install-recommends $missing >/dev/null
