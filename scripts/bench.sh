#!/bin/sh
# bench.sh BUILD_DIR - runs the benchmarks of a build directory on this machine, keeps their CSV in
# bench/results/, and rewrites the tables in the texts from all that lies there.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
build=$1
machine=$(hostname -s | tr -c 'a-zA-Z0-9\n' -)
mkdir -p bench/results
"$build/bench/bench_sort" --csv "bench/results/$machine.csv"
python3 bench/table.py README.md docs/*.md docs/performance/*.md
