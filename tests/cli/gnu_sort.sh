# The same lines in the same order as GNU sort, which is stable with -s.
command -v sort >/dev/null || skip "no sort"
sort --version 2>/dev/null | grep -q GNU || skip "sort is not GNU sort"
same() {
    cmp "$1" "$2" && echo same
}
echelon gen uniform -N 50k --type i64 -o i64.txt
same <(sort -s -n i64.txt) <(echelon sort i64.txt)
same <(sort -s -n -r i64.txt) <(echelon sort -r i64.txt)
echelon gen few --values 100 -N 50k --type u16 | awk '{print (NR % 3 ? "" : " ") $1 (NR % 2 ? "" : ".0")}' >few.txt
same <(sort -s -g few.txt) <(echelon sort few.txt)
same <(sort -s -g -r few.txt) <(echelon sort -r few.txt)
same <(sort -s -g -u few.txt) <(echelon sort -u few.txt)
echelon gen normal -N 50k --type f64 -o normal.txt
same <(sort -s -g normal.txt) <(echelon sort normal.txt)
echelon gen sorted -N 50k --type f64 | sort -R --random-source=/dev/zero >wide.txt
same <(sort -s -g wide.txt) <(echelon sort wide.txt)
