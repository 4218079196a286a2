#!/bin/sh
# simt_sorts.sh COMMAND - sorts that are large enough for kernels which smaller sorts do not launch, or not with several
# blocks, on the SIMT emulator. The results must equal those of the CPU. simt_tiles.py counts the blocks.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
echelon=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# on_both TYPE N ALGORITHM...
on_both() {
    type=$1 n=$2
    shift 2
    "$echelon" gen uniform -N "$n" --type "$type" --seed 1 -o keys.npy &&
        "$echelon" sort keys.npy -o cpu.npy --device cpu || fail "$n keys of $type on the CPU"
    for algorithm; do
        rm -f simt.npy
        option="--algorithm $algorithm"
        [ "$algorithm" = auto ] && option=
        # shellcheck disable=SC2086
        "$echelon" sort keys.npy $option -o simt.npy --device simt
        check "$n keys of $type by $algorithm: wrong" cmp cpu.npy simt.npy
    done
}

# argsorts to 64-bit indices, which the sort moves as 32-bit ones
for type in u8 f32 i32; do
    "$echelon" gen uniform -N 530k --type $type --seed 1 -o keys.npy &&
        "$echelon" sort --argsort keys.npy -o cpu.npy --device cpu || fail "argsort of $type on the CPU"
    "$echelon" sort --argsort keys.npy -o simt.npy --device simt
    check "argsort of 530k keys of $type: wrong" cmp cpu.npy simt.npy
done

on_both u16 900k count
for type in u32 f32 i64 f64; do on_both $type 263k buckets; done
on_both u32 2300k msd # large leaves
on_both u64 1200k msd
on_both u32 16778k msd auto # not with the first level in one launch
on_both u64 8389k msd auto
on_both u32 1700k low_memory # in pages
finish
