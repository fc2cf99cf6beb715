#!/bin/sh
# debian_root.sh RELEASE DIR: a private root with the HIP and ROCr of another Debian release than 12,
# and their headers: trixie (5.7.1), forky and sid (6.4.3) or experimental (7.2.4, on top of sid). Nothing in
# it is installed on the machine; programs run in it by its own loader: scripts/debian_run.sh. Does
# nothing when DIR is there already. About 45 s and 600 MB; experimental 110 s and 770 MB. A root that
# an earlier version of this script made, without the headers or AMD's libhsa-amd-aqlprofile64, gets them (3 MB, seconds).
# bookworm is Debian 12 itself, without any of that: what a container begins with (containers/).
set -eu
release=$1 dir=$2
case $release in
bookworm) packages=ca-certificates ;;
trixie) hip=libamdhip64-5 library=libamdhip64.so.5.7
    packages=$hip,libhsa-runtime64-1,rocminfo,libsqlite3-0,libyaml-0-2 ;; # our packages need the last two
forky | sid) hip=libamdhip64-6 library=libamdhip64.so.6.4 packages=$hip,libhsa-runtime64-1,rocminfo ;;
experimental) hip=libamdhip64-7 library=libamdhip64.so.7.2 packages=ca-certificates ;;
*) echo "debian_root: no HIP known in '$release'" >&2; exit 2 ;;
esac
if [ -f "$dir/.complete" ] && [ -f "$dir/.headers" ]; then
    [ "$release" = experimental ] && [ ! -f "$dir/.aqlprofile" ] || exit 0
fi
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
give_up() {
    echo "debian_root: $1, see $log:" >&2
    tail -n 3 "$log" >&2
    [ -f "$dir/.complete" ] || rm -rf "$dir"
    exit 77
}
root_make() {
    rm -rf "$dir"
    base=$release
    [ "$release" != experimental ] || base=sid
    # Debian 12's debootstrap does not know every release by name; their recipe is the one of sid.
    debootstrap --variant=minbase --include="$packages" "$base" "$dir" "$mirror" \
        /usr/share/debootstrap/scripts/sid >"$log" 2>&1 || give_up "debootstrap failed"
    # debootstrap reads one suite; experimental is only ever an addition, which the root's own apt makes.
    if [ "$release" = experimental ]; then
        echo "deb $mirror experimental main" >>"$dir/etc/apt/sources.list"
        cp /etc/resolv.conf "$dir/etc/resolv.conf"
        # A mirror may be a snapshot of an earlier day.
        chroot "$dir" sh -c "apt-get -q -o Acquire::Check-Valid-Until=false update &&
            DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -t experimental \
                install $hip rocminfo" >>"$log" 2>&1 </dev/null || give_up "apt-get failed"
    fi
    [ "$release" != bookworm ] || { touch "$dir/.complete" "$dir/.headers"; return; }
    # What the tests expect is what this release had when they were written.
    ls "$dir"/usr/lib/x86_64-linux-gnu/$library.* >/dev/null 2>>"$log" ||
        give_up "$release has another HIP now than $library"
    # Programs built on Debian 12 ask for libamdhip64.so.5; later libraries keep its symbol versions.
    mkdir -p "$dir/compat"
    [ "$release" = trixie ] ||
        ln -sf ../usr/lib/x86_64-linux-gnu/libamdhip64.so.${hip##*-} "$dir/compat/libamdhip64.so.5"
    touch "$dir/.complete"
}
# Only what the packages hold: they depend on libraries that nobody here needs. A root without them
# serves all but the tests of headers, so the next call tries again, and nobody else waits for it.
headers_add() {
    rm -rf "$dir/headers"
    mkdir "$dir/headers"
    cp /etc/resolv.conf "$dir/etc/resolv.conf"
    chroot "$dir" sh -c "cd /headers &&
        apt-get -q -o APT::Sandbox::User=root -t $release \
            download libamdhip64-dev libhsa-runtime-dev &&
        for package in *.deb; do dpkg-deb -x \$package / || exit; done" >>"$log" 2>&1 </dev/null &&
        [ -f "$dir/usr/include/hip/hip_version.h" ] && [ -f "$dir/usr/include/hsa/hsa.h" ] &&
        touch "$dir/.headers"
    rm -rf "$dir/headers"
}
# AMD's own library of counter packets, to hold ours against: a folder of its own, where nothing finds it that does
# not look for it. What is known of it is known of this version.
aqlprofile_add() {
    rm -rf "$dir/amd"
    mkdir "$dir/amd"
    cp /etc/resolv.conf "$dir/etc/resolv.conf"
    chroot "$dir" sh -c "cd /amd &&
        apt-get -q -o APT::Sandbox::User=root -t $release download libhsa-amd-aqlprofile64-1 &&
        dpkg-deb -x libhsa-amd-aqlprofile64-1_7.2.4* . &&
        mv usr/lib/*/libhsa-amd-aqlprofile64.so.1.* libhsa-amd-aqlprofile64.so.1" \
        >>"$log" 2>&1 </dev/null && touch "$dir/.aqlprofile"
}
[ -f "$dir/.complete" ] || root_make
[ -f "$dir/.headers" ] || headers_add || echo "debian_root: $release has no headers, see $log" >&2
[ "$release" != experimental ] || [ -f "$dir/.aqlprofile" ] || aqlprofile_add ||
    echo "debian_root: $release has no libhsa-amd-aqlprofile64-1 7.2.4, see $log" >&2
