#!/bin/sh
# sort_files.sh ECHELON [LINES] - times of "echelon sort" and of GNU sort on generated text files.
#
# Writes a CSV: the case, the lines, and for each command the best time of RUNS runs, and the CPU time of that run, in
# milliseconds. The outputs are compared. Both commands write to standard output, redirected to a file, because
# "echelon sort -o" also waits until the file is on the disk, which GNU sort does not.
#
#   RUNS=5     runs of each command
#   FOLDER=.   where the files are written; they are removed at the end
#   THREADS=N  threads of both commands; default: all processors
#
# SPDX-License-Identifier: Apache-2.0
set -eu
echelon=$(realpath "$1")
lines=${2:-1000000}
threads=${THREADS:-$(nproc)}
export LC_ALL=C ECHELON_DEVICE=cpu
folder=$(mktemp -d "${FOLDER:-.}/sort_files.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# A generator of Lehmer with products below 2^53, so that awk computes them exactly, and the files are the same on every
# machine. The first numbers are left out, because they are small.
make_file() {
    awk -v n="$lines" -v kind="$1" 'function random(m) {
            state = state * 16807 % 2147483647
            return int(state / 2147483647 * m)
        }
        BEGIN {
            state = 20261126
            for (i = 0; i < 10; i++) random(1)
            for (i = 0; i < n; i++) {
                if (kind == "numbers") print random(2000000000) - 1000000000
                else if (kind == "text") printf "w%d w%d w%d w%d\n", random(1000000), random(1000000), random(1000000),
                    random(1000000)
                else if (kind == "repeated") printf "w%d w%d\n", 100000 + random(100), 100000 + random(100)
                else printf "%d w%d %d\n", random(1000000), random(50000), random(100)
            }
        }'
}

# best OUTPUT COMMAND...: "wall cpu" of the fastest run, in milliseconds.
best() {
    output=$1
    shift
    run=0
    while [ "$run" -lt "${RUNS:-5}" ]; do
        bash -c 'TIMEFORMAT="%R %U %S"; output=$1; shift; time "$@" >"$output"' _ "$output" "$@" 2>&1
        run=$((run + 1))
    done | awk '{ wall = 1000 * $1; cpu = 1000 * ($2 + $3) } NR == 1 || wall < shortest { shortest = wall; used = cpu }
        END { printf "%.0f,%.0f", shortest, used }'
}

row() {
    name=$1 file=$2
    shift 2
    gnu=$(best "$folder/gnu" sort --parallel="$threads" "$@" "$folder/$file")
    own=$(best "$folder/own" "$echelon" sort --threads "$threads" "$@" "$folder/$file")
    cmp "$folder/gnu" "$folder/own" >&2
    echo "$name,$lines,$gnu,$own"
}

for kind in numbers text mixed repeated; do
    make_file "$kind" >"$folder/$kind"
done
echo "# $(date -u +%F), $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $threads threads, $(sort --version | head -n 1)"
echo "case,lines,gnu_ms,gnu_cpu_ms,echelon_ms,echelon_cpu_ms"
row numeric numbers -n
row bytes text -s
row two_keys mixed -k2,2 -k1n
row reverse_unique mixed -k2,2r -u
row fold text -f
row repeated repeated -s
