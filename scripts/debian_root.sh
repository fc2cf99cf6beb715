#!/bin/sh
# debian_root.sh RELEASE DIR: a private root with the HIP and ROCr of another Debian release than 12:
# trixie (5.7.1) or forky (6.4.3). Nothing in it is installed on the machine; programs run in it by
# its own loader: scripts/debian_run.sh. Does nothing when DIR is there already. About 45 s and
# 600 MB.
set -eu
release=$1 dir=$2
case $release in
trixie) hip=libamdhip64-5 ;;
forky) hip=libamdhip64-6 ;;
*) echo "debian_root: no HIP known in '$release'" >&2; exit 2 ;;
esac
[ ! -f "$dir/.complete" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "debian_root: debootstrap needs root" >&2
    exit 77
fi
# The mirror that apt itself uses: deb822 files first, then one-line ones.
mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs:[[:space:]]*//p' |
    head -n 1 | awk '{print $1}')
[ -n "$mirror" ] || mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' | head -n 1)
[ -n "$mirror" ] || { echo "debian_root: no Debian mirror in apt's configuration" >&2; exit 77; }
log="$dir.log"
mkdir -p "$(dirname "$dir")"
rm -rf "$dir"
# Debian 12's debootstrap does not know every release by name; their recipe is the one of sid.
if ! debootstrap --variant=minbase \
    --include=$hip,libhsa-runtime64-1,rocminfo \
    "$release" "$dir" "$mirror" /usr/share/debootstrap/scripts/sid >"$log" 2>&1; then
    echo "debian_root: debootstrap failed, see $log:" >&2
    tail -n 3 "$log" >&2
    rm -rf "$dir"
    exit 77
fi
# Programs built on Debian 12 ask for libamdhip64.so.5; the 6.4.3 library keeps its symbol versions.
mkdir -p "$dir/compat"
[ "$release" = trixie ] || ln -sf ../usr/lib/x86_64-linux-gnu/libamdhip64.so.6 "$dir/compat/libamdhip64.so.5"
touch "$dir/.complete"
