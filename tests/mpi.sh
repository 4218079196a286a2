#!/bin/sh
# mpi.sh SOURCE BUILD CC - libechelon_mpi.so, built by the mpicc of every MPI library found: distributed operations and
# failures, with MPI processes as ranks.
#
# Looks for mpicc_abi (MPICH 5, for example from "pip install mpich"), mpicc.mpich and mpicc.openmpi (Debian) in PATH,
# and for that in BUILD/packages, which make check installs; ECHELON_MPICC names another one. The launcher, mpiexec, is in the folder of the compiler.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

if grep -q '^ECHELON_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
    skip "MPI libraries are not built with a sanitizer"
    finish
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
LD_LIBRARY_PATH=$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_vader_single_copy_mechanism=none
export LD_LIBRARY_PATH OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
# shellcheck disable=SC2086  # a list of flags
check "mpi_faults.c compiles" "$cc" -std=c11 $warnings -I"$source/include" "$source/tests/mpi_faults.c" \
    -L"$build/src" -lechelon -o "$work/faults"

# try MPICC LAUNCHER: builds and tests.
try() {
    mpicc=$1 launcher=$2
    name=$(basename "$mpicc")
    # shellcheck disable=SC2086
    check "$name compiles libechelon_mpi.so" "$mpicc" -std=c11 -O2 -shared -fPIC $warnings -fvisibility=hidden \
        -Wl,-z,nodelete -I"$source/include" "$source/src/comm/mpi/mpi.c" -L"$build/src" -lechelon -o "$work/$name.so"
    ECHELON_COMM=$work/$name.so
    export ECHELON_COMM
    check "$name: distributed operations" "$launcher" -n 3 "$build/tests/test_dist" --every 40
    check "$name: sparse matrices" "$launcher" -n 3 "$build/tests/test_dist_linear" --every 60
    check "$name: matrices over GF(2)" "$launcher" -n 3 "$build/tests/test_dist_gf2" --every 60
    rm -f "$work"/result.*
    "$launcher" -n 3 "$work/faults" "$work/result" >"$work/output" 2>&1
    cat "$work"/result.* >"$work/log"
    for fault in "another call" "the next call" "no memory" "an abort" "a slow rank"; do
        check "$name: $fault: $(grep "^$fault on" "$work/log")" \
            sh -c "test \$(grep -c '^$fault on .* ok\$' '$work/log') -eq 3"
    done
    check "$name: a dead rank: $(grep "^a dead" "$work/log")" \
        sh -c "test \$(grep -c '^a dead rank on rank [02]: .* ok\$' '$work/log') -eq 2"
}

# Sorts files with three processes as ranks. Errors: the file of one rank is missing; options of all ranks are wrong.
sort_files() {
    mpicc=$1 launcher=$2 echelon=$build/cli/echelon
    name=$(basename "$mpicc")
    LD_LIBRARY_PATH=$build/src ECHELON_COMM=$work/$name.so
    export ECHELON_COMM
    mkdir -p "$work/files" "$work/elsewhere"
    for options in "--type u32 -r" "--record 20 --key 3:bytes10 --key 16:f32:desc"; do
        # shellcheck disable=SC2086  # a list of options
        check "$name: echelon sort --distributed $options" sh -c "cd '$work/files' &&
            '$echelon' gen uniform -N 10005 --type u32 -o in.raw && '$echelon' sort $options in.raw -o want &&
            '$launcher' -n 3 '$echelon' sort --distributed $options in.raw -o got && cmp want got"
    done
    check "$name: echelon sort --distributed --header -k v:nr" sh -c "cd '$work/files' && { echo 'v w' &&
        '$echelon' gen uniform -N 5000 --type u16; } >in.txt && '$echelon' sort --header -k v:nr in.txt -o want.txt &&
        '$launcher' -n 3 '$echelon' sort --distributed --header -k v:nr in.txt -o got.txt && cmp want.txt got.txt"
    # OMPI_COMM_WORLD_RANK, PMI_RANK: the number of the rank.
    ( cd "$work/files" && "$launcher" -n 3 sh -c "[ \"\${OMPI_COMM_WORLD_RANK-\$PMI_RANK}\" = 1 ] && cd ../elsewhere
        exec '$echelon' sort --distributed --type u32 in.raw -o lost" ) >"$work/output" 2>&1
    check "$name: a missing file: $(grep '^echelon' "$work/output")" sh -c "! [ -e '$work/files/lost' ] &&
        [ \$(grep -c '^echelon' '$work/output') = 1 ] && grep -q 'rank 1 cannot open it' '$work/output' &&
        [ \$(find '$work/files' | wc -l) = 7 ]"
    ( cd "$work/files" && "$launcher" -n 3 "$echelon" sort --distributed --unique in.raw -o lost ) >"$work/output" 2>&1
    check "$name: one message" sh -c "[ \$(grep -c '^echelon' '$work/output') = 1 ]"
    rm -rf "$work/files"
}

found=no
for mpicc in ${ECHELON_MPICC:-} mpicc_abi mpicc.mpich mpicc.openmpi \
    "$build/packages/bin/mpicc_abi"; do
    path=$(command -v "$mpicc") || continue
    folder=$(dirname "$path")
    case $mpicc in
    *.openmpi) launcher=$folder/mpiexec.openmpi ;;
    *.mpich) launcher=$folder/mpiexec.mpich ;;
    *_abi) launcher=$folder/mpiexec ;;
    *) launcher=$folder/mpiexec ;;
    esac
    try "$path" "$launcher"
    if [ $found = no ] && [ -x "$build/cli/echelon" ]; then sort_files "$path" "$launcher"; fi
    found=yes
done
[ $found = yes ] || skip "MPI: there is no mpicc_abi, mpicc.mpich or mpicc.openmpi (pip install mpich)"
finish
