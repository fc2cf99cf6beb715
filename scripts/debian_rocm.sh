#!/bin/sh
# debian_rocm.sh FOLDER: makes FOLDER a ROCm prefix of Debian's own HIP packages, so that projects
# written for /opt/rocm, among them those with CMake's language HIP, are configured with
#
#   . FOLDER/environment; cmake -DCMAKE_PREFIX_PATH=PREFIX_OF_CROCPROF ...
#
# Debian spreads ROCm over /usr, where CMake does not look for HIP's package files, and those put
# /usr/include before the compiler's own folders. Nothing is copied but those files.
set -eu
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 1; }
mkdir -p "$1"
unset CDPATH # with it, cd would print where it went
root=$(cd "$1" && pwd)
libraries=lib/$(gcc -print-multiarch)
clang=$(hipcc --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
hip=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "/usr/$libraries/cmake/hip/hip-config-version.cmake")
resources=$("clang-$clang" -print-resource-dir)

mkdir -p "$root/include" "$root/$libraries/cmake" "$root/llvm"
for name in hip hsa amd_comgr amd_comgr.h hsakmt roctracer; do
    [ ! -e "/usr/include/$name" ] || ln -sfn "/usr/include/$name" "$root/include/$name"
done
for name in amdgcn libamdhip64.so libhsa-runtime64.so libamd_comgr.so; do
    for path in "/usr/$libraries/$name"*; do
        ln -sfn "$path" "$root/$libraries/"
    done
done
for package in hip hip-lang amd_comgr hsa-runtime64; do
    rm -rf "${root:?}/$libraries/cmake/$package"
    cp -r "/usr/$libraries/cmake/$package" "$root/$libraries/cmake/"
    # where CMake looks when it does not know the multiarch folder; the files count folders upwards
    mkdir -p "$root/lib/cmake/$package"
    for file in "$package-config" "$package-config-version"; do
        echo "include(\"\${CMAKE_CURRENT_LIST_DIR}/../../../$libraries/cmake/$package/$file.cmake\")" \
            >"$root/lib/cmake/$package/$file.cmake"
    done
done
ln -sfn /usr/lib/cmake/AMDDeviceLibs "$root/lib/cmake/AMDDeviceLibs"
ln -sfn "$libraries/amdgcn" "$root/amdgcn"
ln -sfn /usr/bin "$root/bin"
ln -sfn "/usr/lib/llvm-$clang/bin" "$root/llvm/bin"

cat >"$root/environment" <<END
export ROCM_PATH='$root' HIPCXX='/usr/bin/clang++-$clang'
export HIPFLAGS='--rocm-path=$root --hip-version=$hip -isystem $resources/include/..'
export CMAKE_PREFIX_PATH='$root'\${CMAKE_PREFIX_PATH:+:\$CMAKE_PREFIX_PATH}
END
