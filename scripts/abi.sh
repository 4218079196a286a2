#!/bin/sh
# abi.sh BUILD CC - prints the binary interface: exported symbols, prototypes, enumerators with their values, structs
# with sizes and offsets.  `make abi` writes it to include/abi.txt; tests/abi.sh compares.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -eq 2 ] || { echo "usage: scripts/abi.sh BUILD CC" >&2; exit 2; }
build=$1 cc=$2
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$source/scripts/amalgamate.sh" "$work/echelon.h"

echo "# The binary interface of libechelon on 64-bit Linux. Written by \`make abi\`, compared by \`make check\`."
echo
echo "# Exported symbols"
nm -D --defined-only "$build/src/libechelon.so" | awk '$3 ~ /^ech/ { print $3 }' | sort

# Declarations, one per line, as the compiler sees them without comments and macros.
"$cc" -std=c11 -E -P "$work/echelon.h" | tr '\n' ' ' |
    sed 's/__attribute__ *((visibility("default")))//g; s/[[:space:]][[:space:]]*/ /g' |
    awk '{
        depth = 0; line = ""
        n = split($0, c, "")
        for (i = 1; i <= n; i++) {
            line = line c[i]
            if (c[i] == "{") depth++
            if (c[i] == "}") depth--
            if (c[i] == ";" && depth == 0) {
                sub(/^ +/, "", line)
                if (line ~ /ech_/ && line !~ /^_Static_assert/) print line
                line = ""
            }
        }
    }' >"$work/declarations"

echo
echo "# Functions and function types"
grep -v -e '^typedef enum' -e '^typedef struct [a-z_0-9]* {' "$work/declarations" | sort

echo
echo "# Enumerators"
sed -n 's/^typedef enum [a-z_0-9]* {\(.*\)} \([a-z_0-9]*\);$/\2:\1/p' "$work/declarations" |
    sed 's/ *: */: /; s/, *$//; s/ *$//' | sort

# A program that prints sizes and offsets.
{
    echo '#include "echelon.h"'
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    grep '^typedef struct [a-z_0-9]* {' "$work/declarations" | awk '{
        name = $NF; sub(/;$/, "", name)
        body = $0; sub(/^[^{]*\{/, "", body); sub(/\}[^}]*$/, "", body)
        printf "printf(\"%s: %%zu bytes\", sizeof(%s));\n", name, name
        while (match(body, /[^;]*;/)) {
            field = substr(body, RSTART, RLENGTH - 1); body = substr(body, RSTART + RLENGTH)
            if (match(field, /\(\*[a-z_0-9]+\)/)) {
                f = substr(field, RSTART + 2, RLENGTH - 3)
                printf "printf(\", %s %%zu+%%zu\", offsetof(%s, %s), sizeof ((%s *)0)->%s);\n", f, name, f, name, f
                continue
            }
            m = split(field, part, ",")
            for (i = 1; i <= m; i++) {
                f = part[i]; gsub(/\[[^]]*\]/, "", f); gsub(/ +$/, "", f); sub(/.*[ *]/, "", f)
                if (f != "") printf "printf(\", %s %%zu+%%zu\", offsetof(%s, %s), sizeof ((%s *)0)->%s);\n", f, name, f, name, f
            }
        }
        print "puts(\"\");"
    }'
    echo 'return 0; }'
} >"$work/layout.c"
"$cc" -std=c11 -I"$work" "$work/layout.c" -o "$work/layout"
echo
echo "# Structs: size, then offset+size of each field"
"$work/layout" | sort
