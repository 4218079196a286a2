#!/bin/sh
# test.sh - installs the port with vcpkg, as release and debug, and builds examples/sort.c with it.
#
#   VCPKG_ROOT=DIR packaging/vcpkg/test.sh    DIR is a checkout of vcpkg; the program vcpkg is in it or in PATH
#
# vcpkg uses the cmake, ninja and compiler of this system (VCPKG_FORCE_SYSTEM_BINARIES), so that it downloads nothing.
# The feature cuda is not built.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$source/tests/lib.sh"

vcpkg=${VCPKG_ROOT:-none}/vcpkg
[ -x "$vcpkg" ] || vcpkg=$(command -v vcpkg) || vcpkg=
if [ -z "${VCPKG_ROOT:-}" ] || [ -z "$vcpkg" ]; then
    skip "vcpkg: VCPKG_ROOT is not set, or there is no program vcpkg"
    finish
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export VCPKG_FORCE_SYSTEM_BINARIES=1 VCPKG_DISABLE_METRICS=1 VCPKG_ROOT ECHELON_DEVICE=cpu
export VCPKG_KEEP_ENV_VARS="CCACHE_DIR;CCACHE_BASEDIR;CCACHE_NOHASHDIR;CMAKE_C_COMPILER_LAUNCHER"
triplet=x64-linux
installed=$work/installed/$triplet

mkdir "$work/source"
"$source/scripts/dist.sh" --copy "$work/source"
run_vcpkg() {
    "$vcpkg" "$@" --overlay-ports="$work/source/packaging/vcpkg" --x-install-root="$work/installed" \
        --x-buildtrees-root="$work/buildtrees" --x-packages-root="$work/packages" --downloads-root="$work/downloads" \
        --binarysource=clear --classic
}

version=$("$source/scripts/version.sh")
check "vcpkg.json has the version of the header" grep -q "\"version\": \"$version\"" "$here/vcpkg.json"
check "vcpkg.json is in vcpkg's format" sh -c "
    cp '$here/vcpkg.json' '$work/vcpkg.json' && '$vcpkg' format-manifest '$work/vcpkg.json' &&
    diff '$here/vcpkg.json' '$work/vcpkg.json'"
check "vcpkg installs echelon[tools]" run_vcpkg install "echelon[tools]" --triplet="$triplet" --no-print-usage
check "vcpkg finds no fault in the installed files" sh -c \
    "! grep -rn 'warning: ' '$work/buildtrees/echelon'/stdout-*.log"
check "the command is in tools/echelon" sh -c \
    "test \"\$(printf '2\\n1\\n' | '$installed/tools/echelon/echelon' sort | tr '\\n' ' ')\" = '1 2 '"

cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(echelon $version CONFIG REQUIRED)
add_executable(sorts $source/examples/sort.c)
target_link_libraries(sorts PRIVATE echelon::echelon)
END
for type in Release Debug; do
    check "find_package finds it ($type)" cmake -S "$work" -B "$work/$type" -DCMAKE_BUILD_TYPE=$type \
        -DCMAKE_TOOLCHAIN_FILE="$VCPKG_ROOT/scripts/buildsystems/vcpkg.cmake" -DVCPKG_TARGET_TRIPLET="$triplet" \
        -DVCPKG_INSTALLED_DIR="$work/installed" -DVCPKG_MANIFEST_MODE=OFF
    check "a program is built ($type)" cmake --build "$work/$type"
    check "it sorts ($type)" test "$("$work/$type/sorts" | tr '\n' ' ')" = "-1 0 2.5 7 "
done
for folder in lib debug/lib; do
    export PKG_CONFIG_PATH="$installed/$folder/pkgconfig"
    # shellcheck disable=SC2046  # lists of flags
    check "pkg-config in $folder" cc "$source/examples/sort.c" -o "$work/by_pkgconf" \
        $(pkg-config --cflags --libs echelon) "-Wl,-rpath,$installed/$folder"
    check "its program sorts" test "$("$work/by_pkgconf" | tr '\n' ' ')" = "-1 0 2.5 7 "
done
check "vcpkg removes it" run_vcpkg remove echelon --triplet="$triplet"
check "no file of it remains" test -z "$(find "$work/installed/$triplet" -name '*echelon*' 2>/dev/null)"
finish
