#!/bin/sh
# petsc_cg.sh BUILD [SIDE...] - conjugate gradients by PETSc and by ech_dist_solve() on the CPU: CSV of bench/petsc_cg.c
# for 1 and 2 processes, and cubes of 64 and 128 points per side, or of SIDE.
#
# Needs Debian's petsc-dev. PROCESSES and REPEATS change the processes ("1 2") and the solves of which the best counts.
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -ge 1 ] || { echo "usage: bench/petsc_cg.sh BUILD [SIDE...]" >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd) build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 64 128
pkg-config --exists PETSc || { echo "PETSc is not installed (Debian: petsc-dev)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpicc=$(command -v "$(pkg-config --variable=ccompiler PETSc)")
flags="$(pkg-config --cflags PETSc | sed 's/-I/-isystem /g') -std=c11 -O2 -Wall -Wextra -Wshadow -Werror"
# shellcheck disable=SC2086,SC2046  # lists of flags
"$mpicc" $flags -I"$source/include" "$source/bench/petsc_cg.c" "$source/src/comm/mpi/mpi.c" -L"$build/src" \
    -Wl,-rpath,"$build/src" -lechelon $(pkg-config --libs PETSc) -o "$work/petsc_cg"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMP_NUM_THREADS OMPI_MCA_btl_vader_single_copy_mechanism
echo "# PETSc $(pkg-config --modversion PETSc); $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "call,processes,unknowns,iterations,ms,ms_per_iteration,residual"
for side in "$@"; do
    for processes in ${PROCESSES:-1 2}; do
        "$(dirname "$mpicc")/mpiexec" -n "$processes" --bind-to core "$work/petsc_cg" -side "$side" \
            -repeats "${REPEATS:-5}"
    done
done
