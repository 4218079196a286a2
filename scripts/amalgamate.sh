#!/bin/sh
# amalgamate.sh FILE - writes include/echelon.h and the headers that it includes as one file, for tools that read
# declarations (cffi, bindgen) and for programs that want to copy a single header.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -eq 1 ] || { echo "usage: scripts/amalgamate.sh FILE" >&2; exit 2; }
include=$(dirname "$0")/../include
mkdir -p "$(dirname "$1")"
awk -v folder="$include" '
    function inlined(name,    line) {
        while ((read = getline line < (folder "/" name)) > 0)
            if (line !~ /^#include <echelon\//) print line
        if (read < 0) { print "amalgamate.sh: cannot read " folder "/" name > "/dev/stderr"; exit 1 }
        close(folder "/" name)
    }
    /^#include <echelon\// { sub(/^#include </, ""); sub(/>.*/, ""); inlined($0); next }
    { print }' "$include/echelon.h" >"$1.part"
mv "$1.part" "$1"
