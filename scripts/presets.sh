#!/bin/sh
# presets.sh [--all] SOURCE - builds combinations of the build options with little optimisation, in a temporary folder,
# and runs the command and a program with the library of each. The default is one small combination; --all: the presets
# and options of docs/guide/install.md. Exit status: 0 all work, 1 otherwise.
#
# SPDX-License-Identifier: Apache-2.0
set -u
all=
[ "${1-}" = --all ] && { all=1; shift; }
source=$(realpath "$1") || exit 1
. "$source/tests/lib.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
generator=
command -v ninja >/dev/null && generator="-G Ninja"

cat >"$work/sum.c" <<'END'
#include <echelon.h>
#include <stdio.h>
int main(void)
{
    ech_ctx *ctx;
    int x[3] = { 3, 1, 2 };
    long long sum = 0;
    if (ech_open(&ctx, "cpu") != ECH_OK || ech_sort(ctx, x, x, 3, ECH_I32, NULL) != ECH_OK ||
        ech_reduce(ctx, ECH_OP_SUM, x, &sum, 3, ECH_I32, NULL) != ECH_OK)
        return printf("%s\n", ech_error(NULL)), 1;
    ech_close(ctx);
    return x[0] == 1 && x[2] == 3 && sum == 6 ? 0 : 1;
}
END

build() { # OPTION...
    rm -rf "$work/build"
    # shellcheck disable=SC2086
    cmake -S "$source" -B "$work/build" $generator -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 "$@" &&
        cmake --build "$work/build" -j "$(nproc)"
}

run_command() {
    test "$(printf '2\n1\n' | "$work/build/cli/echelon" sort --device cpu | tr '\n' ' ')" = "1 2 "
}

# reports BYTES MESSAGE: the command rejects an input that begins with the bytes.
reports() {
    # shellcheck disable=SC2059  # the format is the bytes
    printf "$1" | "$work/build/cli/echelon" stats --device cpu 2>&1 | grep -q "$2"
}

run_library() { # LIBRARY...
    cc -I"$source/include" "$work/sum.c" -o "$work/sum" "$@" -Wl,-rpath,"$work/build/src" && "$work/sum"
}

try() { # OPTION...
    check "build with $*" build "$@"
    if [ -e "$work/build/cli/echelon" ]; then check "the command, built with $*" run_command; fi
    check "the library, built with $*" run_library -L"$work/build/src" -lechelon
    [ -e "$work/build/src/libechelon.a" ] &&
        check "the static library, built with $*" run_library "$work/build/src/libechelon.a" -lm -lpthread -ldl
}

no_tests="-DECHELON_BUILD_TESTS=OFF -DECHELON_BUILD_BENCH=OFF"
# shellcheck disable=SC2086
if [ -z "$all" ]; then
    # Without optimisation gcc 12 reports conversions in the intrinsic functions of AVX-512.
    try --preset cpu-only $no_tests -DECHELON_BUILD_CLI=OFF -DECHELON_BUILD_STATIC=ON -DCMAKE_C_FLAGS_DEBUG=-O0 -DECHELON_WERROR=OFF
else
    # shellcheck disable=SC2086
    try --preset cpu-only $no_tests -DECHELON_BUILD_STATIC=ON
    for preset in default release clang; do
        command -v clang >/dev/null || [ $preset != clang ] || { skip "clang is not installed"; continue; }
        try --preset $preset
    done
    for option in ECHELON_BUILD_CLI ECHELON_BUILD_TESTS ECHELON_SIMT ECHELON_HARDEN ECHELON_WERROR ECHELON_CUDA; do
        try -D$option=OFF
    done
    # shellcheck disable=SC2086
    try $no_tests -DECHELON_ZLIB=OFF -DECHELON_ZSTD=OFF
    check "the command without zlib names it" reports '\037\213\010\000' "built without zlib"
    check "the command without libzstd names it" reports '\050\265\057\375' "built without libzstd"
    if command -v nvcc >/dev/null; then
        # shellcheck disable=SC2086
        try $no_tests -DECHELON_CUDA_ARCHS="80;90" -DECHELON_CUDA_PTX=90
        # shellcheck disable=SC2086
        try $no_tests -DECHELON_CUDA_PTX=none
    else
        skip "nvcc is not installed: no combination with machine code for GPUs"
    fi
fi
finish
