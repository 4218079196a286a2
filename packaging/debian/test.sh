#!/bin/sh
# test.sh [DEB_DIR] - installs the packages of scripts/deb.sh in a new Debian system and tests them there.
#
# The system is made by mmdebstrap or debootstrap from the Debian mirror, so the test needs root and the network, and
# is not part of make check. In that system it
#
#   1. installs the packages echelon and libechelon0.2 with apt, in a system without a compiler, and runs tests/command
#   2. installs libechelon-dev and the packages that tests/control names, and runs tests/library
#   3. removes all three packages, and compares the files with those before they were installed
#
# Without root, or without the network, it unpacks the packages in a folder instead, and checks only that programs can
# be built there and that all libraries are found; the rest is counted as skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$source/tests/lib.sh"
debs=$(cd "${1:-$source/build/deb}" && pwd) || exit 1
version=$("$source/scripts/version.sh")
packages="libechelon0.2 libechelon-dev echelon"
for package in $packages; do
    [ -f "$(echo "$debs/${package}_$version"-*.deb)" ] || { echo "$debs has no $package $version: make deb" >&2; exit 1; }
done

work=$(mktemp -d) || exit 1
root=$work/root
clean() {
    if [ -d "$root/proc/1" ]; then umount "$root/proc" || return; fi
    rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }
install() { in_root apt-get install -q -y --no-install-recommends "$@"; }
# Files of packages only: without caches, logs and the lists of dpkg.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./root -o -path ./var/cache \
        -o -path ./var/log -o -path ./var/lib/apt -o -path './var/lib/dpkg/*-old' -o -name ld.so.cache \) \
        -prune -o -print | sort)
}

make_root() {
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    if command -v mmdebstrap >/dev/null; then
        mmdebstrap --variant=minbase --mode=root --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$root"
    else
        debootstrap --variant=minbase "$suite" "$root"
    fi >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
    mount -t proc proc "$root/proc" || return 1
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null
    in_root apt-get update -q >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
    mkdir -p "$root/root/debs" "$root/root/source/debian" "$root/root/source/examples"
    cp "$debs"/*.deb "$root/root/debs"
    cp -R "$here/tests" "$root/root/source/debian"
    cp "$source/examples/sort.c" "$root/root/source/examples"
}

file_of() { # PACKAGE: its file in the new system
    for file in "$root/root/debs/${1}_$version"-*.deb; do echo "${file#"$root"}"; done
}

test_installed() {
    files >"$work/before"
    check "apt installs echelon and libechelon0.2" install "$(file_of libechelon0.2)" "$(file_of echelon)"
    check "there is no compiler before libechelon-dev is installed" in_root sh -c '! command -v cc && ! command -v gcc'
    check "the command works (tests/command)" in_root sh /root/source/debian/tests/command
    # Everything that the packages need, and nothing else, so that this is not compared below.
    needs=$(sed -n '/^Tests: library/,$s/^Depends: *libechelon-dev, //p' "$here/tests/control" | tr -d ,)
    # shellcheck disable=SC2086  # a list
    check "apt installs libechelon-dev and $needs" install "$(file_of libechelon-dev)" $needs
    check "programs can be built and run (tests/library)" in_root sh /root/source/debian/tests/library
    for package in $packages; do
        # shellcheck disable=SC2016  # a program for the new system
        check "a file of $package differs from the package" \
            in_root sh -c 'changed=$(dpkg --verify "$0") && echo "$changed" && test -z "$changed"' "$package"
    done
    files >"$work/installed"
    check "the lists of files show no file of the packages" \
        sh -c "comm -13 '$work/before' '$work/installed' | grep -q 'libechelon.so.$version'"
    # shellcheck disable=SC2086
    check "apt removes the packages" in_root apt-get purge -q -y $packages
    check "apt removes what they needed" in_root sh -c "apt-get purge -q -y $needs; apt-get autoremove --purge -q -y"
    files >"$work/after"
    left=$(comm -13 "$work/before" "$work/after" | grep -i echelon)
    check "no file of the packages remains, not: $left" test -z "$left"
    left=$(comm -13 "$work/before" "$work/after")
    check "no other file remains, not: $(echo "$left" | head -n 5)" test -z "$left"
}

test_unpacked() {
    skip "a new Debian system: $1; the packages are only unpacked"
    skip "installation and removal by apt"
    mkdir -p "$root"
    for package in $packages; do dpkg -x "$(echo "$debs/${package}_$version"-*.deb)" "$root"; done
    libdir=$(dirname "$(find "$root/usr/lib" -name libechelon.a)")
    export LD_LIBRARY_PATH="$libdir" PKG_CONFIG_PATH="$libdir/pkgconfig" CMAKE_PREFIX_PATH="$root/usr"
    export PATH="$root/usr/bin:$PATH"
    mkdir -p "$work/source/debian" "$work/source/examples"
    cp -R "$here/tests" "$work/source/debian"
    cp "$source/examples/sort.c" "$work/source/examples"
    check "the command works (tests/command)" sh "$work/source/debian/tests/command"
    check "programs can be built and run (tests/library)" sh "$work/source/debian/tests/library"
}

if [ "$(id -u)" != 0 ]; then
    test_unpacked "this user is not root"
elif ! command -v mmdebstrap >/dev/null && ! command -v debootstrap >/dev/null; then
    test_unpacked "mmdebstrap and debootstrap are not installed"
elif reason=$(make_root); then
    test_installed
else
    clean
    mkdir -p "$work"
    test_unpacked "it cannot be made: $reason"
fi
finish
