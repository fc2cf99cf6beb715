#!/usr/bin/env bash
# soak_libraries.sh DIR [WORD...]: the tests that Debian ships with ROCm's libraries, unmodified, and our sweeps of them
# (tests/library_sweeps) on the software GPU of the build folder DIR; the rows of data/libraries/tests.list that contain every WORD. Each release's packages
# go into a copy of its root (DIR/libraries-RELEASE, gigabytes), the results into DIR/libraries.txt:
# name, result, seconds, the test's own last word. Needs root, and the roots of debian_root.sh.
set -u
dir=$(realpath "$1")
shift
results=$dir/libraries.txt status=0
: >"$results"

# The rows that are asked for.
rows() {
    local rows
    rows=$(grep -v '^#' data/libraries/tests.list | grep .)
    for word in "$@"; do rows=$(grep -F -- "$word" <<<"$rows"); done
    echo "$rows"
}

# A copy of the release's root with the packages in it; quick when both are there.
root_with() {
    local release=$1 packages=$2 root=$dir/libraries-$1 sweep
    [ -f "$dir/$release/.complete" ] || { echo "no root of $release: scripts/debian_root.sh $release $dir/$release"; return 1; }
    [ -f "$root/.complete" ] || { rm -rf "$root" && cp -a "$dir/$release/." "$root"; } || return 1
    # Moved into its place: whoever runs there already keeps what it has mapped.
    mkdir -p "$root/crocgpu" && cp "$dir/lib/libcrocgpu.so" "$root/crocgpu/.new" &&
        mv "$root/crocgpu/.new" "$root/crocgpu/libcrocgpu.so" || return 1
    for sweep in "$dir"/tests/library_sweeps/*_sweep; do
        [ ! -x "$sweep" ] || install -C "$sweep" "$root/crocgpu/" || return 1
    done
    # shellcheck disable=SC2086 # several packages
    chroot "$root" dpkg -s $packages >/dev/null 2>&1 && return
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # First of all what a run that was cut off has left half installed.
    chroot "$root" sh -c "dpkg --configure -a && apt-get -q -o Acquire::Check-Valid-Until=false update &&
        DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -t $release install $packages" \
        </dev/null >"$root.log" 2>&1 || { echo "cannot install $packages, see $root.log"; return 1; }
}

# One row. A test that does not end in its time is a failure like any other.
row_run() {
    local name=$1 release=$2 packages=$3 devices=$4 limit_s=$5 command=$6 begin=$SECONDS code word
    local log=$dir/libraries-$name.log
    if ! word=$(root_with "$release" "$packages"); then
        printf '%s\tnot run\t0\t%s\n' "$name" "$word" | tee -a "$results"
        return 1
    fi
    # With a /proc of its own, which RCCL and hashcat read; it goes with the mount namespace.
    # shellcheck disable=SC2016 # the inner shell's
    unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$dir/libraries-$release" \
        env HOME=/tmp AMD_COMGR_CACHE=0 CROCGPU_DEVICES="$devices" \
        LD_PRELOAD=/crocgpu/libcrocgpu.so timeout "$limit_s" sh -c "$command" >"$log" 2>&1 </dev/null
    code=$?
    word=$(grep -v '^[[:space:]]*$' "$log" | tail -n 1 | tr '\t' ' ' | cut -c1-100)
    # One failed case of googletest is a failure whatever the program's status says.
    if grep -q '^\[  FAILED  \]' "$log" && [ $code -eq 0 ]; then code=1; fi
    printf '%s\t%s\t%d\t%s\n' "$name" "$([ $code -eq 0 ] && echo passed || echo "failed ($code)")" \
        $((SECONDS - begin)) "$word" | tee -a "$results"
    return $code
}

while IFS='|' read -r name release packages devices limit_s command; do
    [ -n "$name" ] || continue
    row_run "$(xargs <<<"$name")" "$(xargs <<<"$release")" "$(xargs <<<"$packages")" "$(xargs <<<"$devices")" \
        "$(xargs <<<"$limit_s")" "$command" || status=1
done < <(rows "$@")
exit $status
