#!/bin/sh
# simt_archs.sh SOURCE BUILD [COMPILER [ARCH...]] - the code that kernels have for other GPUs, on the SIMT emulator: the
# modules are compiled with __CUDA_ARCH__ (ECHELON_SIMT_ARCH), and the emulator reports that compute capability, its
# shared memory and its threads. Kernels select other code below 8.0, below 9.0, from 10.0 on, and from 11.0 on.
#
# The builds stay in BUILD/simt_archs. Each compiles about 120 modules, which takes five minutes of one processor.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
source=$1 build=$2/simt_archs
[ $# -le 3 ] || { shift 3; archs=$*; }
generator=
command -v ninja >/dev/null && generator="-G Ninja"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

# program:N: one of N cases. Kernels of the other operations have no such code.
programs="sort:397 sort_segments:921 reduce:411 scan:161 select:489 histogram:107 merge:621 set:621 unique:207 search:621
topk:4001 matmul:31 gf2:7 gf2_echelon:21 gf2_batch:3"
folders="arrange gf2 histogram matmul merge reduce scan search select set sort topk unique"

# instances OPERATION: the targets of its modules.
instances() {
    sed '/^#/d; /^stream/d; /^ *$/d' "$source/src/$1/instances.txt" | while read -r file suffix _; do
        if [ "$file" = kernels ]; then echo "simt_$1_$suffix"; else echo "simt_$1_${file}_$suffix"; fi
    done
}

targets="echelon"
for folder in $folders; do targets="$targets $(instances "$folder" | tr '\n' ' ')"; done
for program in $programs; do targets="$targets test_${program%:*}"; done

for arch in ${archs:-75 80 100 120}; do
    here=$build/$arch
    # shellcheck disable=SC2086
    cmake -S "$source" -B "$here" $generator -DCMAKE_BUILD_TYPE=Release -DECHELON_CUDA=OFF -DECHELON_BUILD_BENCH=OFF \
        -DECHELON_WERROR=OFF -DECHELON_SIMT_ARCH="$arch" >"$log" 2>&1 && cmake --build "$here" --target $targets >>"$log" 2>&1 ||
        { fail "the build for sm_$arch"; tail -n 30 "$log"; continue; }
    for program in $programs; do
        "$here/tests/test_${program%:*}" --device simt --quick --every "${program#*:}" >"$log" 2>&1
        status=$?
        echo "sm_$arch, test_${program%:*}: $(tail -n 1 "$log")"
        if [ $status -eq 0 ]; then pass; else fail "test_${program%:*} as sm_$arch"; tail -n 20 "$log"; fi
    done
done
finish
