#!/usr/bin/env bash
# gpu_truth.sh - records what NVIDIA's tools find in the planted kernels of tests/simt on a GPU.
#
#   scripts/gpu_truth.sh [--arch 90] OUT_DIR
#
# Builds tests/simt/planted_gpu.cu, runs each kernel of faults.def without tools and under the four tools of
# compute-sanitizer, and runs all of patterns.def under Nsight Compute. Writes faults.csv, patterns.csv and the logs to
# OUT_DIR. The tests of the SIMT emulator compare its findings with these tables.
#
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
arch=native out=""
while [ $# -gt 0 ]; do
    case $1 in
    --arch) arch=$2; shift ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "gpu_truth.sh: unknown option $1" >&2; exit 2 ;;
    *) out=$1 ;;
    esac
    shift
done
[ -n "$out" ] || { echo "usage: scripts/gpu_truth.sh [--arch 90] OUT_DIR" >&2; exit 2; }
mkdir -p "$out/logs" && out=$(cd "$out" && pwd)
if [ "$arch" = native ]; then
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
fi
began=$SECONDS
progress() { echo "== $1, $((SECONDS - began)) s"; }

program=$out/planted_gpu
(cd tests/simt && nvcc -O2 -std=c++14 -lineinfo -I../../src "-arch=sm_$arch" -o "$program" \
    planted_gpu.cu faults.cu faults_grid.cu faults_late.cu faults_order.cu patterns.cu planted_oracle.c) || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1 >"$out/logs/machine"
nvcc --version | sed -n 's/.*release \([^,]*\),.*/\1/p' >"$out/logs/cuda"
compute-sanitizer --version 2>&1 | sed -n 's/.*Version \([0-9.]*\).*/\1/p' | head -1 >"$out/logs/sanitizer"
ncu --version | sed -n 's/^Version \([0-9.]*\).*/\1/p' >"$out/logs/ncu"
progress "built for sm_$arch on $(cat "$out/logs/machine")"

"$program" --list-faults >"$out/logs/faults.list" || exit 1
"$program" --list-patterns >"$out/logs/patterns.list" || exit 1

# ---- Patterns: one process per group of counters ----

# Metrics; those that this chip does not have are left out.
wanted="
l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ld
l1tex__t_requests_pipe_lsu_mem_global_op_st l1tex__t_sectors_pipe_lsu_mem_global_op_st
l1tex__t_requests_pipe_lsu_mem_global_op_red l1tex__t_sectors_pipe_lsu_mem_global_op_red
l1tex__t_requests_pipe_lsu_mem_global_op_atom l1tex__t_sectors_pipe_lsu_mem_global_op_atom
smsp__sass_inst_executed_op_shared_ld l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld
smsp__sass_inst_executed_op_shared_st l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st
smsp__sass_inst_executed_op_shared_atom l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom
smsp__sass_branch_targets smsp__sass_branch_targets_threads_divergent
smsp__inst_executed smsp__thread_inst_executed"
ncu --query-metrics >"$out/logs/metrics" 2>&1
metrics=$(for name in $wanted; do
    grep -q "^$name " "$out/logs/metrics" && echo "$name.sum"
done | paste -sd,)
counters() { # NAME OPTIONS...
    ncu --clock-control none --force-overwrite -o "$out/logs/$1" "${@:2}" \
        "$program" --patterns >"$out/logs/$1.log" 2>&1
    echo "== exit $?" >>"$out/logs/$1.log"
    ncu --import "$out/logs/$1.ncu-rep" --csv --page raw --print-units base \
        --print-metric-instances details >"$out/logs/$1.csv" 2>>"$out/logs/$1.log"
}
counters ncu --metrics "$metrics"
progress "patterns under Nsight Compute"
counters opcodes --section InstructionStats --section SourceCounters
progress "patterns by opcodes"
"$program" --patterns >"$out/logs/patterns.results"

# ---- Faults: one process per kernel and tool ----

one() { # TOOL KERNEL: writes the log TOOL.KERNEL
    local options=""
    case $1 in
    memcheck) options="--report-api-errors no" ;;
    racecheck) options="--racecheck-report hazard --racecheck-detect-level info --print-level info" ;;
    esac
    if [ "$1" = plain ]; then set -- "$1" "$2" "$PROGRAM" "$2"
    else
        # shellcheck disable=SC2086  # several options
        set -- "$1" "$2" compute-sanitizer --tool "$1" --print-limit 0 $options "$PROGRAM" "$2"
    fi
    timeout -k 2 "$SECONDS_EACH" "${@:3}" >"$LOGS/$1.$2" 2>&1
    echo "== exit $?" >>"$LOGS/$1.$2"
}
export -f one
export PROGRAM=$program LOGS=$out/logs SECONDS_EACH=10
kernels=$(awk -F, '$4 == 1 { print $1 }' "$out/logs/faults.list")
for kernel in $kernels; do echo plain "$kernel"; done | xargs -P 8 -L 1 bash -c 'one "$@"' one
progress "faults without tools"
SECONDS_EACH=40
for tool in memcheck racecheck initcheck synccheck; do
    for kernel in $kernels; do echo $tool "$kernel"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one
progress "faults under compute-sanitizer"

python3 scripts/gpu_truth.py "$out"
