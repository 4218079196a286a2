#!/bin/sh
# sort_large.sh - measures sorts of files that are larger than their memory budget, and compares them with GNU sort.
#
#     ECHELON=build/cli/echelon bench/sort_large.sh DIRECTORY [GIGABYTES [BUDGET]]
#
# DIRECTORY is on the disk to be measured, with room for three times GIGABYTES (default 2); all files in it are removed.
# BUDGET (default 10 % of the data) is that of --memory, and of sort -S. Prints one line per case: the wall time, the
# processor time, the peak memory, and the ratio of the wall time to that of two reads and two writes at the speed of
# the disk, which the run itself measures, in a time that is subtracted. The page cache is dropped before a case if the user may do so.
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
# Data of this size would remain in the page cache; larger files do not.
export TMPDIR=. LC_ALL=C ECHELON_DEVICE=cpu ECHELON_TRANSFERS=direct

drop_cache() {
    sync
    { echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null || true
}

# run NAME COMMAND...: a line of times.
run() {
    name=$1
    shift
    drop_cache
    /usr/bin/time -o time.txt -f '%e %U %S %M' "$@" 2>log.txt || { cat log.txt; exit 1; }
    ideal=$(sed -n 's/^disk .*: \([0-9.]*\) s for.*/\1/p' log.txt)
    measured=$(sed -n 's/^disk .*(measured in \([0-9.]*\) s)$/\1/p' log.txt)
    awk -v name="$name" -v ideal="${ideal:-0}" -v measured="${measured:-0}" -v bytes="$size" '{
        $1 -= measured
        ratio = ideal > 0 ? sprintf("%.2f", $1 / ideal) : "-"
        printf "%-32s %8.2f s %8.2f s CPU %8.1f MB %8.3f GB/s   disk %s\n", name, $1, $2 + $3, $4 / 1000, bytes / $1 / 1e9, ratio
    }' time.txt
}

echo "$(nproc) processors; $gigabytes GB, budget $budget bytes"

"$ECHELON" gen uniform -N $((bytes / 4)) --type u32 -o a.u32
size=$bytes
run "u32" "$ECHELON" sort -S "$budget" --timing a.u32 -o out.u32
run "u32 --verify" "$ECHELON" sort -S "$budget" --verify --timing a.u32 -o out.u32
mv out.u32 sorted.u32
run "u32, sorted" "$ECHELON" sort -S "$budget" --timing sorted.u32 -o out.u32
rm -f sorted.u32 out.u32
run "records of 100 bytes" "$ECHELON" sort -S "$budget" --record 100 --key 0:10 --timing a.u32 -o out.raw
run "u32, argsort" "$ECHELON" sort -S "$budget" --argsort --timing a.u32 -o out.u64
rm -f out.raw out.u64 a.u32

"$ECHELON" gen uniform -N $((bytes / 20)) --type i64 -o a.txt
size=$(wc -c <a.txt)
run "lines by bytes" "$ECHELON" sort -S "$budget" --string --timing a.txt -o out.txt
run "lines by number" "$ECHELON" sort -S "$budget" -n --timing a.txt -o out.txt
mv out.txt want.txt
run "GNU sort -n" sort -S "${budget}b" -n --parallel="$(nproc)" -T . a.txt -o out.txt
cmp out.txt want.txt
