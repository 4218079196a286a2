#!/bin/sh
# test.sh SOURCE BUILD - libechelon_petsc.so with the PETSc that pkg-config finds: a program of PETSc loads it, and its
# results have the same digits for every number of processes.
#
# PETSc, its compiler and its launcher are skipped, and named, if they are missing.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
. "$source/tests/lib.sh"

if grep -q '^ECHELON_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
    skip "PETSc is not built with a sanitizer"
    finish
fi
if ! pkg-config --exists PETSc 2>/dev/null; then
    skip "bindings/petsc: PETSc is not installed (Debian: petsc-dev)"
    finish
fi
mpicc=$(pkg-config --variable=ccompiler PETSc)
mpicc=$(command -v "${mpicc:-mpicc}") || { skip "bindings/petsc: the compiler of PETSc is missing"; finish; }
launcher=$(dirname "$mpicc")/mpiexec
[ -x "$launcher" ] || { skip "bindings/petsc: $launcher is missing"; finish; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
LD_LIBRARY_PATH=$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1 ECHELON_DEVICE=cpu
export LD_LIBRARY_PATH OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism OMP_NUM_THREADS ECHELON_DEVICE

flags="$(pkg-config --cflags PETSc | sed 's/-I/-isystem /g') -std=c11 -O2 -Wall -Wextra -Wshadow -Werror"
libs=$(pkg-config --libs PETSc)
# shellcheck disable=SC2086  # lists of flags
check "libechelon_petsc.so compiles" "$mpicc" $flags -shared -fPIC -fvisibility=hidden -Wl,-z,nodelete \
    -I"$source/include" "$source/bindings/petsc/petsc.c" "$source/src/comm/mpi/mpi.c" -L"$build/src" -lechelon $libs \
    -o "$work/libechelon_petsc.so"
# shellcheck disable=SC2086
check "a program of PETSc compiles" "$mpicc" $flags "$source/bindings/petsc/example.c" $libs -o "$work/example"

# shellcheck disable=SC2317  # called by check
contains() { case $1 in *"$2"*) ;; *) false ;; esac; }

# run PROCESSES OPTION...: the output without the time.
run() {
    processes=$1
    shift
    "$launcher" -n "$processes" "$work/example" -dll_append "$work/libechelon_petsc.so" "$@" 2>&1 |
        sed 's/, [0-9.]* ms$//'
}

# same NAME OPTION...: converges, with the same digits for 1, 2 and 3 processes.
same() {
    name=$1
    shift
    wanted=$(run 1 "$@")
    check "$name converges: $wanted" contains "$wanted" CONVERGED_RTOL
    for processes in 2 3; do
        got=$(run $processes "$@")
        check "$name with $processes processes: $got, not $wanted" test "$got" = "$wanted"
    done
}

same echelon_cg -ksp_type echelon_cg
same "echelon_cg with pbjacobi" -ksp_type echelon_cg -pc_type pbjacobi -mat_block_size 4

reference=$(run 1 -ksp_type cg -pc_type jacobi -ksp_norm_type unpreconditioned)
result=$(run 2 -mat_type aijechelon -ksp_type cg -pc_type jacobi -ksp_norm_type unpreconditioned)
check "aijechelon: $result, but PETSc: $reference" test "${result%%,*}" = "${reference%%,*}"
result=$(run 2 -ksp_type echelon_cg)
check "echelon_cg: $result, but PETSc: $reference" test "${result%%,*}" = "${reference%%,*}"

message=$(run 2 -ksp_type echelon_cg -pc_type sor)
check "another preconditioner is refused: $message" contains "$message" "supports -pc_type none, jacobi and pbjacobi"
view=$(run 1 -ksp_type echelon_cg -ksp_view)
check "-ksp_view names the library: $view" contains "$view" " on cpu, preconditioner jacobi"
monitor=$(run 2 -ksp_type echelon_cg -ksp_monitor | grep -c "KSP Residual norm")
check "-ksp_monitor prints $monitor residuals" test "$monitor" -gt 60
finish
