#!/bin/sh
# abi.sh SOURCE BUILD CC - the binary interface is that of include/abi.txt: exported symbols, prototypes, enumerators,
# struct layouts.  A change must be intended: `make abi` records it, and CHANGELOG.md names it.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

command -v nm >/dev/null || { echo "nm is missing"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
check "scripts/abi.sh prints the interface" sh -c "'$source/scripts/abi.sh' '$build' '$cc' >'$work/abi.txt'"
check "the interface differs from include/abi.txt (make abi)" diff "$source/include/abi.txt" "$work/abi.txt"

# A changed field, enumerator or prototype is noticed.
mkdir "$work/scripts" "$work/include"
cp "$source/scripts/abi.sh" "$source/scripts/amalgamate.sh" "$work/scripts"
for change in 's/^    int transpose;/    int64_t transpose;/' 's/ECH_OP_MAX = 3/ECH_OP_MAX = 33/' \
    's/ech_device_count(void)/ech_device_count(int all)/'; do
    rm -rf "$work/include"
    cp -r "$source/include" "$work/include"
    sed -i "$change" "$work"/include/echelon/*.h
    "$work/scripts/abi.sh" "$build" "$cc" >"$work/changed.txt"
    check "a change is not noticed: $change" sh -c "! cmp -s '$work/abi.txt' '$work/changed.txt'"
done
finish
