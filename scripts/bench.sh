#!/bin/sh
# bench.sh BUILD_DIR - runs the benchmarks of a build directory on this machine, writes their CSV to bench/results/, and
# updates the tables in the documents from the files there.
#
#   NAME=epyc    first part of the file names; default: the processor
#   LARGEST=1e7  largest n of the CPU benchmarks
#   ONLY=ladder  only the ladders of the GPU course
#
# The ladders are counted on the SIMT emulator, and timed on a GPU if there is one. The counts are those of every
# machine, so they replace ladder_simt.csv; times replace ladder_gpu.csv on a GPU of the same model, and otherwise get a
# file of their own. The charts of this machine are in BUILD_DIR/ladder_simt.html and BUILD_DIR/ladder_gpu.html.
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

# ladders FILE DEVICE PAGE WORDS: the ladders on a device; WORDS describe it in the first line of the file.
ladders() {
    measure "$1" "$build/cli/echelon" ladder all --csv --html "$3" --device "$2"
    { echo "# $(date -u +%F); $4; echelon ladder all --csv --device $2" && cat "bench/results/$1"; } >"$3.csv"
    mv "$3.csv" "bench/results/$1"
    echo "$3"
}

course() {
    cmake --build "$build" --target echelon_ladder_simt
    if "$build/cli/echelon" info | grep -q '^simt: '; then
        ladders ladder_simt.csv simt "$build/ladder_simt.html" "kernels compiled by $(c++ --version | head -n 1)"
    else
        echo "the ladders are not counted: this build has no SIMT emulator"
    fi
    if $gpu; then
        cmake --build "$build" --target echelon_ladder_kernels
        model=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, /, driver /')
        file=ladder_gpu.csv
        grep -qF "${model%%,*}" "bench/results/$file" || file=$name-gpu-ladder.csv
        ladders "$file" cuda "$build/ladder_gpu.html" "$model"
    fi
    python3 bench/ladder_table.py docs/ladder/*.md
}

gpu=false
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then gpu=true; fi
course
[ "${ONLY:-all}" = all ] || exit 0

for threads in 1 "$(getconf _NPROCESSORS_ONLN)"; do
    measure "$name-cpu-$threads.csv" "$build/bench/bench_cpu" "$threads" "${LARGEST:-1e7}" 5
    measure "$name-cpu-ops-$threads.csv" "$build/bench/bench_cpu_ops" "$threads" 1e8 7
    measure "$name-cpu-gf2-$threads.csv" env ECHELON_DEVICE=cpu "$build/bench/bench_gf2" "$threads" 0.4
done
if [ -x "$build/bench/gf2_m4ri" ]; then # with M4RI: append its rows
    "$build/bench/gf2_m4ri" 1 0.4 | grep -v '^op,' >>"bench/results/$name-cpu-gf2-1.csv"
fi
if $gpu; then
    cmake --build "$build" --target gpu_benchmark
    for operation in sort reduce scan histogram select arrange gf2; do
        "$build/bench/gpu_$operation" --csv "bench/results/$name-gpu-$operation.csv"
    done
fi
python3 bench/table.py docs/*.md docs/performance/*.md docs/lab/*.md
