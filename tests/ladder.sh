#!/bin/sh
# ladder.sh COMMAND NAME MODULES TYPE... - runs every rung of one ladder on the SIMT emulator: checks the results for
# unusual sizes and these types; then those of the first type of the ladder in another order of blocks and warps, the
# counts, and the claims about them. The file MODULES lists the modules that "make ladder" builds.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
echelon=$1 name=$2 modules=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for type; do
    text=$("$echelon" ladder "$name" --check --type "$type" --device simt 2>&1)
    status=$?
    echo "$text"
    check "a rung of $name is wrong" test "$status" -eq 0
    checked=$(echo "$text" | sed -n 's/^\([0-9]*\) checked, .*/\1/p')
    wrong=$(echo "$text" | sed -n 's/^[0-9]* checked, \([0-9]*\) wrong$/\1/p')
    check "no rung of $name was checked" test "${checked:-0}" -gt 0
    passed=$((passed + ${checked:-0} - ${wrong:-0}))
    failed=$((failed + ${wrong:-0}))
done

if ECHELON_SIMT_TALLY=$work/tally "$echelon" ladder "$name" --device simt --seed 7; then pass
else fail "$name is wrong in another order, or a claim about its counts is false"; fi

sed 's/\.so .*//' "$work/tally" | sort -u >"$work/loaded"
sort "$modules" >"$work/built"
check "no module of $name was loaded" grep -q "^ladder_${name}_" "$work/loaded"
missing=$(comm -23 "$work/loaded" "$work/built" | tr '\n' ' ')
check "make ladder does not build $missing(ladder/CMakeLists.txt)" test -z "$missing"
# The source of the last rung as kernels of the reader: the same results and counts, except of branches, which depend on
# the flags of the compiler.
compare() {
    sed 's/"[^"]*"//' | awk -F, '$4 == "idea" || $4 == "claim" || /^#/ { next }
        { key = $3 "," $7; row = $8 "," $9 "," $15 "," $16 "," $17 "," $20 "," $21 "," $22 }
        $4 == "try" { tried++; if (row != of[key]) { print "try: " row ", the rung: " of[key]; bad = 1 } next }
        { of[key] = row }
        END { exit bad || !tried }'
}
if command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; then
    file=$(ls "$(dirname "$0")/../ladder/$name"/[0-9]*.cu | tail -1)
    rung=$(basename "$file" | sed 's/_.*//')
    "$echelon" ladder "$name" --rung "$rung" --try "$file" -N 100 --csv >"$work/try"
    check "--try $file" test $? -eq 0
    check "--try $file has other counts" compare <"$work/try"
else
    skip "echelon ladder --try: no C++ compiler"
fi
finish
