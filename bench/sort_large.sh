#!/bin/sh
# sort_large.sh - measures sorts of files that are larger than their memory budget, and compares them with GNU sort.
#
#     ECHELON=build/cli/echelon bench/sort_large.sh DIRECTORY [GIGABYTES [BUDGET [ROUNDS]]]
#
# DIRECTORY is on the disk to be measured, with room for five times GIGABYTES (default 2); all files in it are removed.
# BUDGET (default 10 % of the data) is that of --memory, and of sort -S. Runs each case ROUNDS times (default 3), in
# alternation, and drops the page cache before each run if the user may do so. Prints one line per run: the elapsed
# time, the processor time, the peak memory, and the speed of the disk (reads of the input and of temporary files,
# writes), which the run itself measures, in a time that is subtracted. At the end: the medians, and the ratio of the
# elapsed time to that of two reads and two writes at the medians of all measured speeds, because the speed of a disk
# changes from run to run.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
: "${ECHELON:?is not set: give the path of the command}"
ECHELON=$(realpath "$ECHELON")
mkdir -p "$1/sort_large"
cd "$1/sort_large"
trap 'cd ..; rm -rf sort_large' EXIT
gigabytes=${2-2}
bytes=$((gigabytes * 1000000000))
budget=${3-$((bytes / 10))}
rounds=${4-3}
# Data of this size would remain in the page cache; larger files do not.
export TMPDIR=. LC_ALL=C ECHELON_DEVICE=cpu ECHELON_TRANSFERS=direct

drop_cache() {
    sync
    { echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null || true
}

# run NAME COMMAND...: a line of times; the same in all.txt, in columns that tabs separate.
run() {
    name=$1
    shift
    drop_cache
    /usr/bin/time -o time.txt -f '%e %U %S %M' "$@" 2>log.txt || { cat log.txt; exit 1; }
    # The speeds of the input, of temporary files and of writes; the time of two reads and two writes; that to measure.
    disk=$(grep '^disk ' log.txt | sed 's/[^0-9. ]//g' | awk '{ print $1, $2, $3, $4, $NF }')
    echo "$(tail -n 1 time.txt) ${disk:-0 0 0 0 0}" | awk -v name="$name" -v bytes="$size" '{
        wall = $1 - $9
        work = $8 ? $8 / (1 / $5 + 1 / $6 + 2 / $7) : 0 # GB that are read twice and written twice
        printf "%s\t%.2f\t%.2f\t%.1f\t", name, wall, $2 + $3, $4 / 1000
        printf "%.3f\t%.3f\t%.3f\t%.3f\t%.0f\n", $5, $6, $7, work, bytes
    }' >>all.txt
    tail -n 1 all.txt | awk -F '\t' '{
        printf "%-28s %8.2f s %8.2f s CPU %8.1f MB   ", $1, $2, $3, $4
        printf "disk: %s and %s read, %s GB/s written\n", $5, $6, $7
    }'
}

# Column N of the runs of a case; without NAME: of all runs that measured the disk.  The median of numbers.
column() {
    awk -F '\t' -v name="$2" -v n="$1" 'name == "" ? $5 > 0 : $1 == name { print $n }' all.txt
}
median() {
    sort -n | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'
}

range() {
    sort -n | sed -n '1p;$p' | tr '\n' ' '
}

summary() {
    input=$(column 5 '' | median)
    temporary=$(column 6 '' | median)
    write=$(column 7 '' | median)
    echo "medians; the disk in GB/s: $input read from inputs ($(column 5 '' | range)), $temporary from temporary files" \
        "($(column 6 '' | range)), $write written ($(column 7 '' | range))"
    cut -f 1 all.txt | awk '!seen[$0]++' | while read -r name; do
        echo "$(column 2 "$name" | median) $(column 3 "$name" | median) $(column 4 "$name" | median)" \
            "$(column 8 "$name" | median) $(column 9 "$name" | median)" |
            awk -v name="$name" -v input="$input" -v temporary="$temporary" -v write="$write" '{
                ratio = $4 > 0 ? sprintf("%.2f", $1 / ($4 / input + $4 / temporary + 2 * $4 / write)) : "-"
                printf "%-28s %8.2f s %8.2f s CPU %8.1f MB ", name, $1, $2, $3
                printf "%8.3f GB/s   ratio %s\n", $5 / $1 / 1e9, ratio
            }'
    done
}

repeat() { # CASES: a function that runs each case once
    round=0
    while [ "$round" -lt "$rounds" ]; do
        "$1"
        round=$((round + 1))
    done
}

numbers() {
    run "u32" "$ECHELON" sort -S "$budget" --timing a.u32 -o out
    run "u32 --verify" "$ECHELON" sort -S "$budget" --verify --timing a.u32 -o out
    [ -f sorted.u32 ] || mv out sorted.u32
    run "u32, sorted" "$ECHELON" sort -S "$budget" --timing sorted.u32 -o out
    run "records of 100 bytes" "$ECHELON" sort -S "$budget" --record 100 --key 0:10 --timing a.u32 -o out
}

positions() {
    run "u32, argsort" "$ECHELON" sort -S "$budget" --argsort --timing a.u32 -o out
}

lines() {
    run "lines by bytes" "$ECHELON" sort -S "$budget" --string --timing a.txt -o out
    run "lines by number" "$ECHELON" sort -S "$budget" -n --timing a.txt -o out
}

echo "$(nproc) processors; $gigabytes GB, budget $budget bytes, $rounds rounds"
"$ECHELON" gen uniform -N $((bytes / 4)) --type u32 -o a.u32
size=$bytes
repeat numbers
rm -f sorted.u32 out
repeat positions
rm -f a.u32 out
"$ECHELON" gen uniform -N $((bytes / 20)) --type i64 -o a.txt
size=$(wc -c <a.txt)
repeat lines
mv out want
run "GNU sort -n" sort -S "${budget}b" -n --parallel="$(nproc)" -T . a.txt -o out
cmp out want
summary
