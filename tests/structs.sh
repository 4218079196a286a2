#!/bin/sh
# structs.sh SOURCE BUILD CC - programs that are compiled with other versions of the header run with this library: the
# current header, one whose structs lack a field, and one whose structs have two more fields.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/same" "$work/older" "$work/newer"
header=$work/same/echelon.h
"$source/scripts/amalgamate.sh" "$header" || exit 1

# A struct with a size ends at the line with a brace and its name.
awk '/^typedef struct/ { sized = 0; sort = $3 == "ech_sort_options" }
     /^ *size_t size;/ { sized = 1 }
     (sized && /^    (size_t work_bytes|const void \*diagonal|int driver);/) ||
     (sort && /^    size_t (out_)?row_stride, (out_)?element_stride;/) {
         while (/\/\*/ && !/\*\//) { getline more; $0 = $0 more } # including its comment
         next
     }
     { print }' "$header" >"$work/older/echelon.h"
awk '/^typedef struct/ { sized = 0 }
     /^ *size_t size;/ { sized = 1 }
     sized && /^} ech_/ { print "    size_t newer[2];"; sized = 0 }
     { print }' "$header" >"$work/newer/echelon.h"
fields=$(diff "$header" "$work/older/echelon.h" | grep -c '^<')
structs=$(grep -c 'newer\[2\]' "$work/newer/echelon.h")
check "the older header lacks fields" test "$fields" -ge 12
check "the newer header has more fields" test "$structs" -ge 12

# A struct that ends in padding cannot grow, because the padding of an older program is undefined.
names=$(sed -n '/newer\[2\]/,/^} ech_/s/^} \(ech_[a-z0-9_]*\);.*/\1/p' "$work/newer/echelon.h")
for version in same newer; do
    {
        printf '%s\n' '#include <echelon.h>' '#include <stdio.h>' \
            '#define SHOW(name, bytes) printf("%s %zu\n", #name, (size_t)(bytes))' 'int main(void)' '{'
        for name in $names; do
            case $version in
            same) echo "SHOW($name, sizeof($name));" ;;
            newer) echo "SHOW($name, offsetof($name, newer));" ;;
            esac
        done
        echo '}'
    } >"$work/$version/sizes.c"
    "$cc" -std=c11 -I"$work/$version" "$work/$version/sizes.c" -o "$work/$version/sizes" &&
        "$work/$version/sizes" >"$work/$version/sizes.txt"
done
check "all structs with a size were found" test "$(wc -l <"$work/same/sizes.txt")" -eq "$(grep -c "^ *size_t size;" "$header")"
check "no struct ends in padding" diff "$work/same/sizes.txt" "$work/newer/sizes.txt"

sanitize=$(sed -n 's/^ECHELON_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
for version in same older newer; do
    define=$(echo "-D$version" | tr a-z A-Z)
    # shellcheck disable=SC2086
    check "a program compiles against the $version header" \
        "$cc" -std=c11 -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} "$define" -I"$work/$version" \
        "$source/tests/structs.c" -o "$work/$version/program" -L"$build/src" -lechelon -Wl,-rpath,"$build/src"
    check "a program with the $version header runs" "$work/$version/program"
done
finish
