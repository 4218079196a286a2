#!/bin/sh
# bench.sh BUILD_DIR - runs the benchmarks of a build directory on this machine, writes their CSV to bench/results/, and
# updates the tables in the documents from the files there.
#
#   NAME=epyc    first part of the file names; default: the processor
#   LARGEST=1e7  largest n of the CPU benchmarks
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
build=$1
processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
name=${NAME:-$(echo "${processor:-cpu}" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9]\{1,\}/-/g; s/-$//')}
mkdir -p bench/results

# measure FILE COMMAND...: writes no file if the command fails.
measure() {
    file=bench/results/$1
    shift
    echo "$* > $file"
    "$@" >"$file.part"
    mv "$file.part" "$file"
}

for threads in 1 "$(getconf _NPROCESSORS_ONLN)"; do
    measure "$name-cpu-$threads.csv" "$build/bench/bench_cpu" "$threads" "${LARGEST:-1e7}" 5
    measure "$name-cpu-ops-$threads.csv" "$build/bench/bench_cpu_ops" "$threads" 1e8 7
    measure "$name-cpu-gf2-$threads.csv" env ECHELON_DEVICE=cpu "$build/bench/bench_gf2" "$threads" 0.4
done
if [ -x "$build/bench/gf2_m4ri" ]; then # with M4RI: append its rows
    "$build/bench/gf2_m4ri" 1 0.4 | grep -v '^op,' >>"bench/results/$name-cpu-gf2-1.csv"
fi
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    cmake --build "$build" --target gpu_benchmark
    for operation in sort reduce scan histogram select arrange gf2; do
        "$build/bench/gpu_$operation" --csv "bench/results/$name-gpu-$operation.csv"
    done
fi
python3 bench/table.py docs/*.md docs/performance/*.md docs/lab/*.md
