#!/bin/sh
# arm.sh [BUILD_DIR [PROGRAM...]] - compiles the library and its C tests for 64-bit Arm, and runs them under qemu.
#
# BUILD_DIR is build-arm by default; PROGRAM is the name of a test program without "test_". Needs aarch64-linux-gnu-gcc
# and qemu-aarch64-static (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static), and skips the tests
# without them. EVERY=N runs one case of N of the programs with many cases; the default is one of 30. The last line is
# the total of cases. The kernels have no code of their own for Arm: gcc vectorises them for NEON.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/tests/lib.sh"
build=${1:-$source/build-arm}
[ $# -eq 0 ] || shift
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static cmake; do
    command -v "$tool" >/dev/null 2>&1 || { skip "tests for Arm: there is no $tool"; finish; }
done
generator=
command -v ninja >/dev/null && generator="-G Ninja"
arm=/usr/aarch64-linux-gnu

# Programs with few cases, and those of which a part runs. test_threads counts the threads of the process, of which qemu
# has one of its own.
few="context plan predicate algorithm explain sum"
few="$few sort_short short_calls sort_host histogram_api sparse_make gf2_batch solve_ilut solve_callback"
many="sort sort_segments topk merge merge_many set search columns records strings reduce scan histogram select unique"
many="$many quantile arrange sparse matmul solve direct gf2 gf2_echelon is_sorted lines files dist dist_select"
[ $# -eq 0 ] || { few='' many="$*"; }

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
# The oracles calculate in __float128, which gcc for Arm calls _Float128. No libraries of this machine.
# shellcheck disable=SC2086
cmake -S "$source" -B "$build" $generator -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_C_FLAGS=-D__float128=_Float128 \
    -DECHELON_CUDA=OFF -DECHELON_SIMT=OFF -DECHELON_ZLIB=OFF -DECHELON_ZSTD=OFF -DECHELON_BUILD_BENCH=OFF \
    >"$log" 2>&1 || { cat "$log"; fail "cmake for Arm"; finish; }
existing=
for name in $few $many; do
    [ -f "$source/tests/test_$name.c" ] && existing="$existing test_$name"
done
# shellcheck disable=SC2086
cmake --build "$build" --target $existing >"$log" 2>&1 || { tail -n 40 "$log"; fail "the build for Arm"; finish; }

# run NAME ARGUMENT...: adds the numbers of a program.
run() {
    name=$1
    shift
    qemu-aarch64-static -L "$arm" "$build/tests/test_$name" "$@" >"$log" 2>&1
    status=$?
    line=$(tail -n 1 "$log")
    echo "test_$name: $line"
    numbers=$(echo "$line" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    # shellcheck disable=SC2086
    set -- ${numbers:-0 0 0}
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    case $status in 0 | 77) return ;; esac
    sed 's/^/    /' "$log" | tail -n 40
    [ "$2" -gt 0 ] || fail "test_$name ended with status $status"
}
for name in $few; do
    case " $existing " in *" test_$name "*) run "$name" ;; esac
done
for name in $many; do # an offset excludes what test_select runs in any case, which takes minutes
    case " $existing " in *" test_$name "*) run "$name" --device cpu --quick --every "${EVERY:-30}" --offset 1 ;; esac
done
finish
