#!/bin/sh
# Every CMake function, variable and target of the packages, the environment scripts, pkg-config and
# make uninstall, on a tree that was installed, beside files of somebody else.
# usage: package_test.sh CMAKE BUILD_DIR
set -eu
cmake=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CROCGPU_DEVICES LD_PRELOAD DESTDIR CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
fail()
{
    echo "package_test: $*" >&2
    exit 1
}

prefix=$work/"a prefix"
mkdir -p "$prefix/lib/cmake" "$prefix/share"
echo mine >"$prefix/lib/mine.so"
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"
for path in bin/crocprof libexec/rocprofiler-sdk/rocprofiler-sdk-launch-compiler \
    share/doc/crocprof/LICENSE share/doc/crocprof/README.md share/doc/crocprof/docs/status.md \
    share/doc/crocprof/examples/tools/kernel_times.c share/man/man1/crocprof.1 share/man/man1/crocgpu.1 share/man/man1/rocpd.1 share/man/man1/rocprofv3-avail.1 .info/version lib/cmake/rocprofiler-sdk/Modules/Findlibdw.cmake; do
    [ -e "$prefix/$path" ] || fail "$path is not installed"
done
grep -Eq '^[0-9]+\.[0-9]+\.[0-9]+-crocprof$' "$prefix/.info/version" || fail "the ROCm version"

# A cereal like AMD's fork, for one of the configurations; the other one has the system's.
mkdir "$work/fork"
cp -r /usr/include/cereal "$work/fork/"
echo 'namespace cereal { class MinimalJSONOutputArchive; }' >>"$work/fork/cereal/archives/json.hpp"
cereal=

# CMake, with the policies of 3.16 and with today's.
newest=$("$cmake" --version | sed -n 's/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
export COMPILER_LOG="$work/compiler.log"
for policies in 3.16 "$newest"; do
    : >"$COMPILER_LOG"
    "$cmake" -S "$here/package" -B "$work/build-$policies" "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DTREE=$prefix" "-DNEWEST=$policies" \
        ${cereal:+-DFORK=ON "-Drocprofiler-sdk_cereal_INCLUDE_DIR=$cereal"} >"$work/log" 2>&1 || fail "$policies: $(cat "$work/log")"
    "$cmake" --build "$work/build-$policies" >"$work/log" 2>&1 || fail "$policies: $(cat "$work/log")"
    (cd "$work/build-$policies" && ctest) >"$work/log" 2>&1 || fail "$policies: $(cat "$work/log")"
    grep -q 'not_buildable .*Disabled' "$work/log" && grep -q 'not_buildable_later.*Disabled' "$work/log" || fail "a test without a compiler: $(cat "$work/log")"
    [ "$(grep -c . "$COMPILER_LOG")" = 2 ] || fail "compiled elsewhere: $(cat "$COMPILER_LOG")"
    while read -r file; do
        [ -f "$file" ] || fail "no library $file"
    done <"$work/build-$policies/files"
    cereal=$work/fork
    if [ ! -e /dev/kfd ] && command -v rocminfo >/dev/null; then
        [ "$(cat "$work/build-$policies/architectures")" = gfx90a ] ||
            fail "architectures: $(cat "$work/build-$policies/architectures")"
    fi
done
# Commands and options that CMake 3.16 does not know, outside of what asks for the version.
if grep -rnE '(cmake_path|block|cmake_language|PROJECT_IS_TOP_LEVEL|NO_CACHE|list\(POP_|string\(JSON|REAL_PATH|PATH_EQUAL)' \
    "$prefix/lib/cmake" | grep -v 'rocprofiler-sdk-custom-compilation.cmake.*cmake_language'; then
    fail "newer than CMake 3.16"
fi

# pkg-config finds each by its name; a module that names what is not there would fail to link.
for name in rocprofiler-sdk rocprofiler-sdk-roctx rocprofiler-sdk-rocattach rocprofiler-sdk-rocpd rocprofiler-register \
    hsa-amd-aqlprofile64 roctracer roctx rocprofiler; do
    PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --exists "$name" || fail "pkg-config $name"
    library=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --libs-only-l "$name" |
        sed 's/^-l//; s/ *$//')
    [ -e "$prefix/lib/lib$library.so" ] || fail "pkg-config $name: lib$library.so"
done

# The environment, from another folder, in the shells at hand.
for shell in bash zsh; do
    command -v $shell >/dev/null || continue
    for name in rocprofiler-sdk rocprofiler-sdk-roctx rocprofiler-sdk-rocpd rocprofiler-register; do
        found=$(cd / && PATH=/usr/bin:/bin LD_LIBRARY_PATH='' $shell -uec ". '$prefix/share/$name/setup-env.sh'
            root=$(echo $name | tr - _)_ROOT; dir=$(echo $name | tr - _)_DIR
            eval \"echo \\\"\\\$\$root|\\\$LD_LIBRARY_PATH|\\\${PATH%%:*}\\\"; [ -d \\\"\\\$\$dir\\\" ]\"") ||
            fail "$shell $name"
        [ "$found" = "$prefix|$prefix/lib|$prefix/bin" ] || fail "$shell $name: $found"
    done
done
cp "$prefix/share/rocprofiler-sdk/setup-env.sh" "$work/stray.sh"
if bash -c ". '$work/stray.sh'" 2>/dev/null; then fail "a stray setup-env.sh is silent"; fi
# From a relative path, in a shell that prints where cd goes.
found=$(cd "$work" && bash -ec "CDPATH=.:/; . 'a prefix/share/rocprofiler-sdk/setup-env.sh'
    echo \"\$rocprofiler_sdk_ROOT\"") || fail "setup-env.sh with CDPATH"
[ "$found" = "$prefix" ] || fail "setup-env.sh with CDPATH: $found"
if command -v tclsh >/dev/null; then
    echo "proc module-whatis a {}; proc setenv {a b} {puts \$b}; proc prepend-path {a b} {puts \$b}
        set ModulesCurrentModulefile {$prefix/share/modulefiles/rocprofiler-sdk/1.0.0}
        source \$ModulesCurrentModulefile" | tclsh | grep -qx "$prefix/lib" || fail "the module file"
fi

# The launcher by itself: what it leaves alone, what it replaces, behind linters too.
launch=$prefix/libexec/rocprofiler-sdk/rocprofiler-sdk-launch-compiler
[ "$("$launch" /bin/echo cc cc 'two words' x)" = "two words x" ] || fail "launcher: the compiler"
[ "$("$launch" /bin/echo cc printf '%s-' a 'b c')" = "a-b c-" ] || fail "launcher: another program"
mkdir "$work/fake"
printf '#!/bin/sh\necho "$*"\n' >"$work/fake/cmake"
chmod +x "$work/fake/cmake"
[ "$("$launch" /bin/true cc "$work/fake/cmake" -E __run_co_compile --tidy=t -- cc -c a.c)" = \
    "-E __run_co_compile --tidy=t -- /bin/true -c a.c" ] || fail "launcher: a linter"
if "$launch" /no/such/compiler cc cc x 2>/dev/null; then fail "launcher: no compiler"; fi
if "$launch" 2>/dev/null; then fail "launcher: no arguments"; fi

# Uninstalling, with a list that an attacker or an accident has touched: nothing but ours goes.
echo mine >"$work/outside"
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log" # a second time
printf '%s\n' "../outside" "/$work/outside" >>"$prefix/share/crocprof/installed.txt"
"$cmake" "-DPREFIX=$prefix" -P "$here/../../cmake/uninstall.cmake" >"$work/log" 2>&1 ||
    fail "uninstall: $(cat "$work/log")"
left=$(cd "$prefix" && find . ! -type d | sort)
[ "$left" = ./lib/mine.so ] || fail "left after uninstall: $left"
[ -d "$prefix/lib" ] && [ ! -e "$prefix/include" ] || fail "folders after uninstall"
[ -f "$work/outside" ] || fail "uninstall left the prefix"
if "$cmake" "-DPREFIX=$prefix" -P "$here/../../cmake/uninstall.cmake" >"$work/log" 2>&1; then
    fail "uninstalled twice"
fi
# A ROCm that is there already keeps its version.
mkdir -p "$work/rocm/.info"
echo 6.4.3-128 >"$work/rocm/.info/version"
"$cmake" --install "$build" --prefix "$work/rocm" >"$work/install.log"
"$cmake" "-DPREFIX=$work/rocm" -P "$here/../../cmake/uninstall.cmake" >"$work/log" 2>&1
[ "$(cat "$work/rocm/.info/version")" = 6.4.3-128 ] || fail "another ROCm's version"

# Prefixes that mean something to shells, to make or to CMake; what others have there stays.
makefile=$here/../../Makefile
for name in 'two words' 'x[1]y' 'st*r?' "q'uote" 'a&b(1)'; do
    odd=$work/odd/$name
    mkdir -p "$odd/lib/cmake"
    echo mine >"$odd/lib/cmake/.mine"
    "$cmake" --install "$build" --prefix "$odd" >"$work/install.log"
    make -s -f "$makefile" -C "$here/../.." uninstall PREFIX="/$name" DESTDIR="$work/odd" >"$work/log" 2>&1 ||
        fail "$name: $(cat "$work/log")"
    left=$(cd "$odd" && find . ! -type d)
    [ "$left" = ./lib/cmake/.mine ] || fail "left in $name: $left"
    make -n -f "$makefile" install -o all PREFIX="$odd" 2>/dev/null | grep -qF "\"$odd\"" || fail "make install $name"
done
for name in 'a;b' 'a\b'; do
    if "$cmake" --install "$build" --prefix "$work/odd/$name" >"$work/log" 2>&1; then fail "installed in $name"; fi
    grep -q 'cannot be installed in' "$work/log" || fail "$name: $(cat "$work/log")"
done
[ "$(find "$work/odd" ! -type d | wc -l)" = 5 ] || fail "left: $(find "$work/odd" ! -type d | head)"

# Packagers' way, and a prefix that is relative.
DESTDIR=$work/stage "$cmake" --install "$build" --prefix /usr >"$work/install.log"
grep -qx bin/crocprof "$work/stage/usr/share/crocprof/installed.txt" || fail "the list under DESTDIR"
if grep -q '\.\./' "$work/stage/usr/share/crocprof/installed.txt"; then fail "the list under DESTDIR"; fi
DESTDIR=$work/stage "$cmake" -DPREFIX=/usr -P "$here/../../cmake/uninstall.cmake" >"$work/log" 2>&1
[ -z "$(find "$work/stage" ! -type d)" ] || fail "left under DESTDIR: $(find "$work/stage" ! -type d)"
mkdir "$work/here"
(cd "$work/here" && "$cmake" --install "$build" --prefix there >"$work/install.log" &&
    "$cmake" -DPREFIX=there -P "$here/../../cmake/uninstall.cmake" >"$work/log" 2>&1) ||
    fail "a relative prefix: $(cat "$work/log")"
[ -z "$(find "$work/here" ! -type d)" ] || fail "left: $(find "$work/here" ! -type d | head)"
