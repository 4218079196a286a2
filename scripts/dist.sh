#!/bin/sh
# dist.sh FILE.tar.gz - writes the sources to an archive with the folder echelon-VERSION.
# dist.sh --copy DIR - copies them to a folder that exists.
#
# The sources are the files that git tracks, as they are in the working tree; in an unpacked archive, all files outside
# build folders. Archives of the same files have the same bytes.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -ge 1 ] || { echo "usage: scripts/dist.sh FILE.tar.gz | --copy DIR" >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
files=$(mktemp)
trap 'rm -f "$files"' EXIT
cd "$source"
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
    git ls-files -z | tr '\0' '\n' | while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done >"$files"
else
    find . -name 'build*' -type d -prune -o -name __pycache__ -prune -o \( -type f -o -type l \) -print | sed 's|^\./||' | sort >"$files"
fi
if [ "$1" = --copy ]; then
    tar -cf - -T "$files" | tar -xf - -C "$2"
else
    time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y include/echelon/base.h)}
    mkdir -p "$(dirname "$1")"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$time" \
        --transform "s|^|echelon-$(scripts/version.sh)/|S" -cf - -T "$files" | gzip -9n >"$1"
fi
