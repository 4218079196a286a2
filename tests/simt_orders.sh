#!/bin/sh
# simt_orders.sh COMMAND - sorts and selections on the SIMT emulator, with blocks that give way and stores that other
# blocks see late (ECHELON_SIMT=yield=N,weak=1). Several tiles look back at each other; the results must equal those of
# the CPU. The tests
# test_sort_simt_*_long and test_select_simt_*_long run more cases.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
echelon=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# compare NAME OPTIONS ARGUMENTS... - the output of a command on both devices.
compare() {
    name=$1 options=$2
    shift 2
    rm -f cpu.npy simt.npy
    "$echelon" "$@" -o cpu.npy --device cpu && ECHELON_SIMT=$options "$echelon" "$@" $algorithm -o simt.npy --device simt
    check "$name is wrong with ECHELON_SIMT=$options" cmp cpu.npy simt.npy
}

"$echelon" gen uniform -N 60k --type u32 --seed 1 -o keys.npy || exit 1
"$echelon" gen few -N 60k --type u32 --seed 1 -o few.npy || exit 1
for options in seed=1,yield=16 seed=2,yield=4,weak=1 seed=3,yield=64,weak=1 seed=4,yield=16,threads=2; do
    for name in onesweep msd; do
        algorithm="--algorithm $name"
        compare "sort, $name" "$options" sort keys.npy
    done
    algorithm=
    compare "unique" "$options" unique few.npy
    compare "select" "$options" select '>=2000000000' keys.npy
done
finish
