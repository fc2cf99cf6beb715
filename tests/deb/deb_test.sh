#!/bin/sh
# The Debian packages: made twice, checked by lintian, installed, used, removed. See README.md.
# usage: deb_test.sh SOURCE BUILD ROOT CMAKE
set -eu
source=$1 build=$2 origin=$3 cmake=$4
prefix=usr/lib/crocprof
unset DESTDIR LD_PRELOAD CROCGPU_DEVICES PKG_CONFIG_PATH CMAKE_PREFIX_PATH
[ -f "$origin/.complete" ] || { echo "deb_test: no root $origin" >&2; exit 77; }
work=$build/tests/deb/work
rm -rf "$work"
mkdir -p "$work"
root=$work/root
fail()
{
    echo "deb_test: $*" >&2
    exit 1
}

# 1. The same bytes, whoever makes them, wherever and whenever.
"$source/scripts/make_deb.sh" "$build" "$work/debs" >"$work/list"
(cd "$work" && umask 077 &&
    CDPATH=.:/ TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$source/scripts/make_deb.sh" "$build" "a folder" >list) || fail "a second time"
for package in "$work"/debs/*.deb; do
    cmp "$package" "$work/a folder/${package##*/}" || fail "not reproducible"
done
[ "$(ls "$work"/debs/*.deb | wc -l)" = 4 ] || fail "packages: $(ls "$work/debs")"
version=$(sed -n 's/^project(crocprof VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
for package in "$work"/debs/*.deb; do
    [ "$(dpkg-deb -f "$package" Version)" = "$version" ] || fail "debian/changelog is not of $version"
done

# 2. Debian's rules. What is overridden has its reason in debian/*.lintian-overrides.
lintian --allow-root --fail-on error,warning "$work"/debs/*.deb >"$work/lintian" 2>&1 ||
    fail "lintian: $(cat "$work/lintian")"

# 3. Nothing lies where somebody else's packages put anything.
for package in "$work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar t | grep -v '/$' |
        grep -Ev "^\./($prefix/|usr/bin/croc(prof|gpu)$|usr/share/man/man1/croc(prof|gpu)\.1\.gz$|\
usr/share/(doc|lintian/overrides)/(lib)?croc|\
usr/share/(bash-completion/completions/|zsh/vendor-completions/_|fish/vendor_completions.d/)crocprof(\.fish)?$|etc/ld\.so\.conf\.d/zz-crocprof\.conf$)" &&
        fail "${package##*/}: files outside of the prefix"
done

# A root of its own: what dpkg replaces is a new file, so /usr may share its files with the origin.
mkdir "$root"
for entry in "$origin"/* "$origin"/.[a-z]*; do
    case ${entry##*/} in
    usr) cp -al "$entry" "$root/" ;;
    proc | sys | headers) mkdir -p "$root/${entry##*/}" ;;
    *) cp -a "$entry" "$root/" ;;
    esac
done
in_root() # as in a container: file systems that nobody else sees
{
    unshare --mount sh -c 'mount -t proc proc "$0/proc" 2>/dev/null || mount --rbind /proc "$0/proc" || exit 77
        exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 AMD_COMGR_CACHE=0 \
        DEBIAN_FRONTEND=noninteractive HOME=/tmp "$@"' "$root" "$@"
}
in_root true || { echo "deb_test: no chroot with /proc here" >&2; exit 77; }

# Packages of AMD's, with a library of the same name as one of ours and a folder for ldconfig.
mkdir -p "$work/amd/DEBIAN" "$work/amd/opt/rocm/lib" "$work/amd/etc/ld.so.conf.d"
cat >"$work/amd/DEBIAN/control" <<END
Package: hip-dev
Version: 5.7
Architecture: all
Provides: hsa-rocr-dev
Maintainer: Nobody <nobody@example.com>
Description: plays AMD's packages
END
echo /opt/rocm/lib >"$work/amd/etc/ld.so.conf.d/10-rocm.conf"
echo 'int roctx_version_major(void) { return 99; }' >"$work/roctx.c"
cc -shared -Wl,-soname,libroctx64.so.4 "$work/roctx.c" -o "$work/amd/opt/rocm/lib/libroctx64.so.4"
dpkg-deb -b --root-owner-group "$work/amd" "$work/hip-dev.deb" >/dev/null
cp "$work/hip-dev.deb" "$root/tmp/"
in_root dpkg -i /tmp/hip-dev.deb >"$work/dpkg" 2>&1 || fail "hip-dev: $(cat "$work/dpkg")"

# A root that an earlier version of debian_root.sh made may lack what the packages depend on.
missing=$(for package in "$work"/debs/*.deb; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' |
    sed 's/ (.*//; s/^ *//; s/:any$//' | grep -v 'croc\||' | sort -u | while read -r name; do
    in_root dpkg-query -W "$name" >/dev/null 2>&1 || echo "$name"
done)
if [ -n "$missing" ]; then
    cp /etc/resolv.conf "$root/etc/"
    # shellcheck disable=SC2086 # a list of words
    in_root apt-get -q -y --no-install-recommends install $missing >"$work/apt" 2>&1 </dev/null ||
        { echo "deb_test: the root lacks $missing: $(tail -1 "$work/apt")" >&2; exit 77; }
fi

# Names, kinds, sizes and times of all that is there, without what dpkg and ldconfig write themselves.
state()
{
    in_root find / -xdev \( -path /proc -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log \
        -o -path /var/cache/ldconfig -o -path /etc/ld.so.cache \) -prune -o \
        \( -type d -printf '%p %m\n' -o -printf '%p %m %s %T@ %l\n' \) | sort
    in_root find /var/lib/dpkg/info /var/lib/dpkg/alternatives | sort
}
state >"$work/before"

# 4. Installed, each with what it depends on.
cp "$work"/debs/*.deb "$root/tmp/"
in_root sh -c 'dpkg -i /tmp/*croc*.deb' >"$work/dpkg" 2>&1 || fail "dpkg -i: $(cat "$work/dpkg")"
in_root dpkg --audit >"$work/audit"
[ ! -s "$work/audit" ] || fail "dpkg --audit: $(cat "$work/audit")"
in_root sh -c "for file in \$(dpkg -L libcrocprof0 crocprof crocgpu | grep -E '\.so|/bin/'); do
    ldd \$file; done" >"$work/ldd" 2>&1
if grep 'not found' "$work/ldd"; then fail "libraries that no package brings"; fi
grep -q libsqlite3 "$work/ldd" || fail "ldd saw nothing"

# 5. Used: the software GPU, the profiler above it.
cp "$build/examples/vector_add" "$root/tmp/"
in_root crocgpu rocminfo >"$work/rocminfo" 2>&1 || fail "rocminfo: $(tail -3 "$work/rocminfo")"
grep -q gfx90a "$work/rocminfo" || fail "crocgpu rocminfo: no gfx90a"
in_root crocgpu /tmp/vector_add >"$work/run" 2>&1 || fail "crocgpu: $(cat "$work/run")"
in_root sh -c 'cd /tmp && crocprof -e SQ_WAVES -d out ./vector_add' >"$work/run" 2>&1 ||
    fail "crocprof: $(cat "$work/run")"
in_root sh -c 'cat /tmp/out/*_counter_collection.csv /tmp/out/*_kernel_trace.csv' >"$work/csv" ||
    fail "files of crocprof: $(ls "$root/tmp/out")"
grep -q 'SQ_WAVES' "$work/csv" && grep -q 'vector_add\|add(' "$work/csv" || fail "crocprof: $(cat "$work/csv")"

# 6. Clients of the development package, without a path of the libraries in them.
"$cmake" -S "$source/tests/install/client" -B "$work/client" "-DCMAKE_PREFIX_PATH=$root/$prefix" \
    -DCMAKE_SKIP_RPATH=ON "-DEXAMPLES=$root/usr/share/doc/libcrocprof-dev/examples" >"$work/log" 2>&1 ||
    fail "CMake: $(cat "$work/log")"
"$cmake" --build "$work/client" >"$work/log" 2>&1 || fail "CMake: $(cat "$work/log")"
flags=$(PKG_CONFIG_PATH="$root/$prefix/lib/pkgconfig" pkg-config --cflags --libs rocprofiler-sdk)
# shellcheck disable=SC2086 # the flags are words
cc -std=c11 "$source/tests/install/client/client.c" $flags -o "$work/client/client-pc"
for name in client client-pc runtime; do
    cp "$work/client/$name" "$root/tmp/"
    in_root "/tmp/$name" || fail "client $name"
done

# A program that has no path finds AMD's library before ours, by LD_LIBRARY_PATH or setup-env.sh ours.
cp "$work/client/markers" "$root/tmp/"
if in_root /tmp/markers 2>"$work/log"; then fail "ours came before AMD's"; fi
in_root env LD_LIBRARY_PATH=/$prefix/lib /tmp/markers || fail "markers with LD_LIBRARY_PATH"
in_root bash -ec ". /$prefix/share/rocprofiler-sdk/setup-env.sh; /tmp/markers" || fail "setup-env.sh"

# 7. Removed, then purged: the root is as it was.
in_root dpkg -r libcrocprof-dev crocprof crocgpu libcrocprof0 >"$work/dpkg" 2>&1 ||
    fail "dpkg -r: $(cat "$work/dpkg")"
[ ! -e "$root/$prefix" ] || fail "dpkg -r left $(find "$root/$prefix")"
in_root dpkg -P libcrocprof-dev crocprof crocgpu libcrocprof0 >"$work/dpkg" 2>&1 ||
    fail "dpkg -P: $(cat "$work/dpkg")"
state >"$work/after"
diff "$work/before" "$work/after" || fail "not as it was"
in_root ldconfig -p | grep crocprof && fail "ldconfig still knows the libraries"
rm -rf "$root"
