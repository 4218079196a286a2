#!/bin/sh
# scale.sh - measures distributed operations on 1, 2, 4 and 8 GPUs of one machine, and writes CSV files.
#
#     bench/scale.sh BUILD OUT [PART ...]
#
# BUILD has the benchmarks (targets bench_dist, bench_dist_solve, bench_dist_gf2); OUT receives the files and messages.
# Parts, all of them without PART:
#     ops    sorts of random, ascending, skewed and equal keys, and the other operations, with 2^30 elements per GPU and
#            fewer
#     nccl   sorts and scans of the same arrays with NCCL instead of copies between GPUs
#     check  2^30 elements in total: every result is compared bit by bit with that of one GPU
#     host   sorts of 2^32 keys in host memory
#     solve  conjugate gradients with 2 x 10^8 unknowns on 1 and 2 GPUs, 4 x 10^8 on 4 and 8
#     gf2    matrices over GF(2) with 2^18 and 2^17 rows
#     gf2large  with 2^20 rows on all GPUs, if there is room
#     cpu    sorts of 2^22 and 2^10 keys per rank, with 1 to 16 ranks of one CPU thread each
#     mpi    the same with MPI processes, and a process per GPU, with NCCL; ECHELON_COMM is libechelon_mpi.so, and
#            SCALE_MPIRUN the launcher with its options (mpirun)
# Runs with fewer than all GPUs use different GPUs at the same time, except for host.  A run that exceeds its time limit
# is ended.  SCALE_FROM is the minimum number of GPUs (1).  SCALE_DEVICE=simt or cpu, SCALE_RANKS and SCALE_SMALL=1
# (small arrays) check this script without GPUs.
#
# SPDX-License-Identifier: Apache-2.0
set -u
[ $# -ge 2 ] || { echo "usage: bench/scale.sh BUILD OUT [PART ...]" >&2; exit 2; }
build=$(realpath "$1") out=$2
shift 2
[ $# -gt 0 ] || set -- ops nccl check host solve gf2 gf2large cpu mpi
mkdir -p "$out"
out=$(realpath "$out")
device=${SCALE_DEVICE-cuda} small=${SCALE_SMALL-0} failures=0 launcher=''
export NCCL_NVLS_ENABLE=0
begin=$(date +%s)

# The numbers of the GPUs, and how many there are.
visible=${CUDA_VISIBLE_DEVICES-$(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | paste -s -d , -)}
gpus=${SCALE_RANKS-$(echo "$visible" | tr , '\n' | grep -c .)}
[ "$gpus" -gt 0 ] || { echo "scale.sh: there is no GPU" >&2; exit 1; }

# size LARGE SMALL: one of them
size() { if [ "$small" = 1 ]; then echo "$2"; else echo "$1"; fi; }

log2() {
    case $1 in 1) echo 0 ;; 2) echo 1 ;; 4) echo 2 ;; *) echo 3 ;; esac
}

machine() {
    if [ "$device" = cuda ]; then
        nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c | sed 's/^ *//'
    else
        echo "$gpus ranks of $device"
    fi
}

# run LIMIT FILE RANKS PROGRAM OPTION...: runs a benchmark on the GPUs RANKS ... 2 RANKS - 1, or on all.
run() {
    limit=$1 file=$2 ranks=$3 program=$4
    shift 4
    if [ "$device" = cuda ] && [ "$ranks" -lt "$gpus" ]; then
        CUDA_VISIBLE_DEVICES=$(echo "$visible" | cut -d , -f $((ranks + 1))-$((2 * ranks)))
        export CUDA_VISIBLE_DEVICES
    fi
    part=$out/.$file.$ranks.$$
    # shellcheck disable=SC2086  # the launcher has options
    timeout --foreground -k 2 "$limit" $launcher "$build/bench/$program" --device "$device" --ranks "$ranks" "$@" \
        >"$part" 2>>"$out/$file.log"
    status=$?
    if [ $status -ne 0 ]; then
        echo "FAILED ($status): $program --ranks $ranks $*"
        tail -2 "$out/$file.log"
    fi
    append "$part" "$out/$file.csv"
    rm -f "$part"
    return $status
}

# append PART FILE: adds the lines of a run to a file, which begins with the machine, the date and the columns.
append() {
    exec 9>"$out/.lock"
    flock 9
    if [ ! -s "$2" ]; then
        echo "# $(date +%F); $(machine); echelon $(sed -n '1s/^# //p' "$1" | cut -d ';' -f 1)" >"$2"
        grep -m 1 -v '^#' "$1" >>"$2"
    fi
    grep -v '^#' "$1" | tail -n +2 >>"$2"
    exec 9>&-
}

# spread MINIMUM LIMIT FILE PROGRAM OPTION...: runs with 1, 2, 4, 8 ranks, at least MINIMUM.
spread() {
    minimum=$1
    [ "$minimum" -ge "${SCALE_FROM-1}" ] || minimum=$SCALE_FROM
    shift
    jobs=
    for r in 1 2 4; do
        if [ "$r" -ge "$minimum" ] && [ "$r" -lt "$gpus" ]; then
            (run_with "$r" "$@") &
            jobs="$jobs $!"
        fi
    done
    for job in $jobs; do wait "$job" || failures=$((failures + 1)); done
    [ "$gpus" -lt "$minimum" ] || (run_with "$gpus" "$@") || failures=$((failures + 1))
}

# run_with RANKS LIMIT FILE PROGRAM OPTION...: "@" in an option is replaced by the size for this number of ranks.
run_with() {
    r=$1 limit=$2 file=$3 program=$4
    shift 4
    case $program in
        bench_dist) share=$(($(size 30 14) - $(log2 "$r"))) ;;
        *) share=$(if [ "$r" -lt 4 ]; then size 585 30; else size 737 37; fi) ;;
    esac
    for option; do
        shift
        [ "$option" != @ ] || option=$share
        set -- "$@" "$option"
    done
    run "$limit" "$file" "$r" "$program" "$@"
}

ops() {
    spread 1 45 dist bench_dist --log2 "$(size 30 12)" --log2 "$(size 26 11)" --log2 "$(size 22 10)" --repeat 3
    spread 1 30 dist bench_dist --log2 "$(size 30 12)" --repeat 3 --only sort,u32 --only sort,u64 \
        --only sort_pairs,u32 --data sorted --data skewed --data equal
}

nccl() {
    spread 2 30 dist_nccl bench_dist --comm nccl --log2 "$(size 30 12)" --log2 "$(size 26 11)" \
        --log2 "$(size 22 10)" --repeat 3 --only sort,u32 --only sort,u64 --only sort_pairs,u32 --only scan,u32
}

check() {
    spread 2 30 dist_check bench_dist --log2 @ --repeat 1 --check 1
    spread 2 30 dist_check bench_dist --log2 @ --repeat 1 --check 1 --only sort,u32 --only sort_pairs,u32 \
        --data skewed --data equal
}

host() {
    for r in 1 2 4 8; do
        [ "$r" -le "$gpus" ] || continue
        [ "$r" -ge "${SCALE_FROM-1}" ] || continue
        (run 40 dist_host "$r" bench_dist --memory host --log2 $(($(size 32 15) - $(log2 "$r"))) --repeat 2 \
            --only sort,u32) || failures=$((failures + 1))
    done
}

solve() {
    spread 1 60 dist_solve bench_dist_solve --side @ --iterations 20 --local 1 --repeat 2
}

# Whether the GPUs have room for a matrix of 2^40 bits, a copy and 8 GiB more.
has_room() {
    [ "$device" = cuda ] || return 0
    mib=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | sort -n | head -1)
    [ "$mib" -ge $((2 * 131072 / gpus + 8192)) ]
}

gf2() {
    spread 1 40 dist_gf2 bench_dist_gf2 --log2 "$(size 18 9)" --block "$(size 4096 64)" --only rank --only echelon \
        --repeat 2
    spread 1 40 dist_gf2 bench_dist_gf2 --log2 "$(size 17 9)" --block "$(size 4096 64)" --local 1 --repeat 3
}

gf2large() {
    has_room || { echo "gf2large: the memory of $gpus GPUs is too small for 2^20 rows"; return 0; }
    for call in echelon rank; do
        [ "$gpus" -ge 8 ] || [ $call = echelon ] || continue
        (run 75 dist_gf2 "$gpus" bench_dist_gf2 --log2 "$(size 20 10)" --block "$(size 4096 64)" --repeat 1 \
            --only $call) || failures=$((failures + 1))
    done
}

cpu() {
    for ranks in 1 2 4 8 16; do
        [ "$ranks" -le "$(nproc)" ] || continue
        (device=cpu gpus=$ranks run 30 dist_cpu "$ranks" bench_dist --log2 "$(size 22 12)" --log2 10 --repeat 5 \
            --only sort,u32 --only sort,u64 --only sort_pairs,u32 --only sum,u32) || failures=$((failures + 1))
    done
}

mpi() {
    [ -n "${ECHELON_COMM-}" ] || { echo "mpi: skipped: ECHELON_COMM is not set"; return 0; }
    for ranks in 2 4 8; do
        if [ "$device" = cuda ] && [ "$ranks" -le "$gpus" ]; then
            (launcher="${SCALE_MPIRUN-mpirun} -n $ranks" gpus=$ranks run 40 dist_mpi "$ranks" bench_dist \
                --comm processes+nccl --log2 30 --log2 26 --repeat 3 --only sort,u32 --only sort,u64 --only sum,u32) ||
                failures=$((failures + 1))
        fi
    done
    for ranks in 1 2 4 8 16; do
        [ "$ranks" -le "$(nproc)" ] || continue
        (launcher="${SCALE_MPIRUN-mpirun} -n $ranks" device=cpu gpus=$ranks run 30 dist_mpi_cpu "$ranks" bench_dist \
            --comm processes --log2 "$(size 22 12)" --log2 10 --repeat 5 --only sort,u32 --only sum,u32) ||
            failures=$((failures + 1))
    done
}

# The time of each case by the number of ranks.
summary() {
    for file in "$out"/dist*.csv; do
        [ -s "$file" ] || continue
        echo "$(basename "$file"): milliseconds by ranks"
        awk -F , '
            /^#/ { next }
            !header { for (i = 1; i <= NF; i++) column[$i] = i; header = 1; next }
            {
                time = "ms" in column ? $column["ms"] : $column["ms_per_iteration"]
                key = "op" in column ? $column["op"] " " $column["dtype"] " " $column["data"] : $column["call"]
                if ("elements" in column) key = key " " $column["elements"] / $column["ranks"]
                if ("unknowns" in column) key = key " " $column["unknowns"]
                if ("rows" in column) key = key " " $column["rows"]
                if (!(key in seen)) { seen[key] = 1; order[n++] = key }
                of[key] = of[key] sprintf("  %s: %s", $column["ranks"], time)
            }
            END { for (i = 0; i < n; i++) printf "  %-44s%s\n", order[i], of[order[i]] }' "$file"
    done
}

echo "$(machine); $(nproc) processors"
for part; do
    case $part in
        ops | nccl | check | host | solve | gf2 | gf2large | cpu | mpi) ;;
        *) echo "scale.sh: there is no part $part" >&2; exit 2 ;;
    esac
    $part
    echo "$part: done after $(($(date +%s) - begin)) s"
done
rm -f "$out/.lock"
summary
[ $failures -eq 0 ] || { echo "scale.sh: $failures runs failed"; exit 1; }
