#!/bin/sh
# test.sh [SPACK] - installs the package with Spack from an archive of this source tree, and tests it.
#
# SPACK is the program spack; the default is that in PATH. cmake, ninja, xz, zlib, zstd and the compiler of this system
# are used as external packages, so that Spack builds nothing but Echelon. Its configuration, installation and caches are in a
# temporary folder. For the variant cuda, only the concretization is tested.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$source/tests/lib.sh"
spack=${1:-$(command -v spack)}
if [ -z "$spack" ]; then
    skip "spack is not installed"
    finish
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
version=$("$source/scripts/version.sh")

mkdir -p "$work/user" "$work/repo/packages/echelon"
printf 'repo:\n  namespace: local\n' >"$work/repo/repo.yaml"
cp "$here/package.py" "$work/repo/packages/echelon/package.py"
printf 'repos:\n- %s\n' "$work/repo" >"$work/user/repos.yaml"
printf 'config:\n  install_tree:\n    root: %s\n  build_stage: [%s]\n  source_cache: %s\n' \
    "$work/tree" "$work/stage" "$work/sources" >"$work/user/config.yaml"
external() { # NAME VERSION PREFIX
    printf '  %s:\n    externals: [{spec: "%s@%s", prefix: %s}]\n    buildable: false\n' "$1" "$1" "$2" "$3"
}
{
    printf 'packages:\n  all:\n    target: [%s]\n' "$(uname -m)"
    external cmake "$(cmake --version | sed -n '1s/.* //p')" /usr
    external ninja "$(ninja --version)" /usr
    external zlib "$(pkg-config --modversion zlib)" /usr
    external zstd "$(pkg-config --modversion libzstd)" /usr
    printf '  zlib-api:\n    require: [zlib]\n'
    external xz "$(xz --version | sed -n '1s/.* //p')" /usr
    external cuda 13.0 /usr/local/cuda
} >"$work/user/packages.yaml"
export SPACK_USER_CONFIG_PATH="$work/user" SPACK_USER_CACHE_PATH="$work/cache"
export ECHELON_DEVICE=cpu

check "package.py has the version of the header" grep -qF "version(\"$version\")" "$here/package.py"
check "dist.sh writes the archive" "$source/scripts/dist.sh" "$work/echelon-$version.tar.gz"
cd "$work" || exit 1
check "Spack finds a compiler" "$spack" compiler find --scope user
# Development versions before 0.23 know the language C only as a name.
! "$spack" spec echelon 2>&1 | grep -q "Package 'c' not found" ||
    sed -i '/depends_on("c"/d' "$work/repo/packages/echelon/package.py"
check "Spack reads the package" "$spack" info local.echelon
check "the variant cuda needs cuda and xz" sh -c \
    "'$spack' spec echelon+cuda cuda_arch=90 >spec && grep -q 'cuda@' spec && grep -q 'xz@' spec"
check "the package for the CPU does not" sh -c \
    "'$spack' spec echelon >spec && grep -q 'echelon@$version' spec && ! grep -qE '(cuda|xz)@' spec"
check "Spack installs it" "$spack" install --no-checksum --dirty echelon+static
prefix=$("$spack" location -i echelon)
check "the command sorts" sh -c "test \"\$(printf '2\\n1\\n' | '$prefix/bin/echelon' sort | tr '\\n' ' ')\" = '1 2 '"
check "the static library is installed (+static)" test -f "$prefix/lib/libechelon.a"
check "the tests of the package pass (spack test run)" "$spack" test run echelon
check "one test was run" sh -c "'$spack' test results -l | grep -qi passed"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046  # lists of flags
check "a program is built by pkg-config" cc "$source/examples/sort.c" -o by_pkgconf \
    $(pkg-config --cflags --libs echelon) "-Wl,-rpath,$prefix/lib"
check "it sorts" test "$(./by_pkgconf | tr '\n' ' ')" = "-1 0 2.5 7 "
check "Spack removes it" "$spack" uninstall -y echelon
check "no file of it remains" test ! -e "$prefix"
finish
