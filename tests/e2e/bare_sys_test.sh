#!/bin/sh
# bare_sys_test.sh CROCGPU PROGRAM: machines whose /sys says little of the host's processor, as virtual ones and containers do:
# without caches the thunk of ROCr 5 shows no agent, and HIP then dies. Each has a mount namespace of its own.
set -eu
crocgpu=$1 program=$2
unshare -m mount -t tmpfs none /sys 2>/dev/null || { echo "no mount namespaces here"; exit 77; }
for places in /sys /sys/devices/system /sys/devices/system/node /sys/devices/system/node/node0 \
    "/sys/devices/system/node /sys/devices/system/cpu"; do
    # shellcheck disable=SC2016
    unshare -m sh -euc 'crocgpu=$1 program=$2; shift 2
        for place; do [ ! -d "$place" ] || mount -t tmpfs none "$place"; done
        "$crocgpu" "$program"' - "$crocgpu" "$program" $places ||
        { echo "fails with nothing in $places"; exit 1; }
done
