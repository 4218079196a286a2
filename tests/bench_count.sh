#!/bin/sh
# bench_count.sh SOURCE BUILD CC - the check of instruction counts (bench/count.py): every row can be counted and is in the
# table, counts are reproducible, and a count that grows beyond the tolerance fails with the name of its row.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=$source/bench/count.py program=$work/bench_count

check "bench_count compiles" "$cc" -std=c11 -O1 -I"$source/include" "$source/bench/bench_count.c" -o "$program" \
    -L"$build/src" -lechelon -Wl,-rpath,"$build/src"
check "each row succeeds" "$program"
"$program" >"$work/rows"
sed -n 's/^avx2,\(.*\),[0-9]*$/\1/p' "$source/bench/counts.csv" >"$work/rows_of_table"
check "the table has these rows (make bench-count UPDATE=1)" diff "$work/rows" "$work/rows_of_table"
"$program" sort,u32 gf2 >"$work/rows"
check "texts select rows" test "$(grep -c '^sort,u32,\|^gf2' "$work/rows")" -eq "$(wc -l <"$work/rows")"
"$program" --perf sort,u32 >"$work/rows" 2>"$work/error"
case $? in
0) check "the counter of the processor counts" awk -F, '$4 < 10 * $3 { bad = 1 } END { exit bad || NR != 3 }' "$work/rows" ;;
77) skip "bench_count --perf: $(cat "$work/error")" ;;
*) fail "bench_count --perf: $(cat "$work/error")" ;;
esac

# status WHAT EXPECTED TABLE TEXT: the comparison of the counts with TABLE exits with EXPECTED and prints TEXT.
printf '%s\n' '# counts' 'kernels,op,dtype,n,instructions' 'avx2,sort,u32,10,1000' 'avx2,sum,f32,100,50' >"$work/counts"
status() {
    python3 "$count" --read "$work/counts" --table "$3" >"$work/output"
    result=$?
    check "$1: status" test "$result" -eq "$2"
    check "$1: message" grep -q "$4" "$work/output"
}
change() { sed "s/$1/$2/" "$work/counts" >"$work/$3"; }
status "equal counts" 0 "$work/counts" '^2 passed, 0 failed, 0 skipped$'
change 'u32,10,1000' 'u32,10,975' within
status "2.6 % more" 0 "$work/within" '^2 passed, 0 failed, 0 skipped$'
change 'u32,10,1000' 'u32,10,960' grown
status "4.2 % more" 1 "$work/grown" '^FAIL avx2,sort,u32,10: 1000 instructions, 960 in the table (+4.2%)$'
change 'u32,10,1000' 'u32,10,1200' less
status "fewer" 0 "$work/less" '^less avx2,sort,u32,10: 1000 instructions, 1200 in the table (-16.7%)$'
sed /sum/d "$work/counts" >"$work/unknown"
status "a row that the table lacks" 1 "$work/unknown" '^FAIL avx2,sum,f32,100: .* no such row$'
{ cat "$work/counts"; echo avx512,sort,u32,10,500; } >"$work/more"
status "a row that is not counted" 0 "$work/more" '^skip 1 rows of avx512: '
sed '$s/^avx2/avx512/' "$work/counts" >"$work/other"
cp "$work/other" "$work/measured" && sed -i '$d' "$work/other"
python3 "$count" --read "$work/measured" --table "$work/other" >"$work/output"
check "an instruction set that the table lacks: status" test $? -eq 0
check "an instruction set that the table lacks: message" grep -q '^skip 1 rows of avx512: the table has none' "$work/output"
check "an instruction set that the table lacks: totals" grep -q '^1 passed, 0 failed, 1 skipped$' "$work/output"

if command -v valgrind >/dev/null; then
    only="sort,u32 sum,f32"
    # shellcheck disable=SC2086
    check "the first count" python3 "$count" --program "$program" --table "$work/table" --update --only $only
    # shellcheck disable=SC2086
    check "the second count is the same" python3 "$count" --program "$program" --table "$work/table" --only $only
    check "six rows" test "$(grep -c '^avx2,' "$work/table")" -eq 6
    check "longer arrays need more instructions" awk -F, '$4 == 10 { small[$2] = $5 } $4 == 1000 && $5 <= small[$2] { bad = 1 }
        END { exit bad }' "$work/table"
    # One row of the committed table, which is valid for one compiler, one C library and the release build.
    CC=$cc python3 "$count" --read "$work/counts" --table "$work/counts" --write "$work/here" >/dev/null
    if [ "$(sed -n 1p "$work/here")" = "$(sed -n 1p "$source/bench/counts.csv")" ] &&
        grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release$' "$build/CMakeCache.txt" &&
        ! grep -q '^ECHELON_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt"; then
        check "a sort needs as many instructions as in bench/counts.csv" \
            python3 "$count" --program "$program" --only sort,u32,1000
    else
        skip "the row of bench/counts.csv: it was counted with another compiler, C library or build type"
    fi
else
    skip "counts: valgrind is not installed"
fi
finish
