#!/bin/sh
# mpi.sh SOURCE BUILD CC [large] - libechelon_mpi.so, built by the mpicc of every MPI library found, and that of BUILD/src,
# which opens an MPI library with the standard binary interface: distributed operations and failures, with MPI processes
# as ranks.
#
# With "large" as the fourth argument, only a message of more than 2 GiB.
#
# Looks for mpicc_abi (MPICH 5, for example from "pip install mpich"), mpicc.mpich and mpicc.openmpi (Debian) in PATH,
# and for mpicc_abi in BUILD/packages, which make check installs; ECHELON_MPICC names another one. The launcher, mpiexec,
# is in the folder of the compiler.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3 only=${4:-}
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
library="-std=c11 -O2 -shared -fPIC $warnings -fvisibility=hidden -Wl,-z,nodelete -I$source/include"
# shellcheck disable=SC2086  # a list of flags
check "mpi_faults.c compiles" "$cc" -std=c11 $warnings -I"$source/include" "$source/tests/mpi_faults.c" \
    -L"$build/src" -lechelon -o "$work/faults"

found=no kinds= built=no
if [ -e "$build/src/libechelon_mpi.so" ] && ! grep -q '^ECHELON_MPI:BOOL=ON' "$build/CMakeCache.txt"; then built=yes; fi
# try MPICC LAUNCHER: builds and tests.
try() {
    mpicc=$1 launcher=$2
    name=$(basename "$mpicc")
    # shellcheck disable=SC2086
    check "$name compiles libechelon_mpi.so" "$mpicc" $library "$source/src/comm/mpi/mpi.c" -L"$build/src" -lechelon \
        -o "$work/$name.so"
    comm=$work/$name.so
    case $name in *_abi)
        # The library of this build opens the MPI of the first mpiexec in PATH.
        if [ $built = yes ]; then
            [ "$only" = large ] || check "$name: distributed operations, compiled by $name" env ECHELON_COMM="$comm" \
                "$launcher" -n 3 "$build/tests/test_dist" --every 400
            comm=libechelon_mpi.so PATH=$(dirname "$launcher"):$PATH
        fi
        ;;
    esac
    ECHELON_COMM=$comm
    export ECHELON_COMM
    if [ "$only" = large ]; then
        check "$name: a message of more than 2 GiB" "$launcher" -n 2 "$build/tests/test_dist" --large "a message of"
        return
    fi
    # shellcheck disable=SC2086
    check "$name compiles mpi_existing.c" "$mpicc" -std=c11 $warnings -I"$source/include" \
        "$source/tests/mpi_existing.c" "$work/$name.so" -L"$build/src" -lechelon -o "$work/existing"
    check "$name: existing communicators" "$launcher" -n 3 "$work/existing"
    check "$name: distributed operations" "$launcher" -n 3 "$build/tests/test_dist" --every 40
    if [ $found = no ]; then # the calls of MPI are the same
        check "$name: sparse matrices" "$launcher" -n 3 "$build/tests/test_dist_linear" --every 60
        # shellcheck disable=SC2086
        check "$name compiles libechelon_mpi.so with small pieces" "$mpicc" $library -DECHELON_MPI_PIECE_BYTES=1000 \
            "$source/src/comm/mpi/mpi.c" -L"$build/src" -lechelon -o "$work/pieces.so"
        ECHELON_COMM=$work/pieces.so
        check "$name: selections in small pieces" "$launcher" -n 3 "$build/tests/test_dist_select" --every 40
        check "$name: matrices over GF(2) in small pieces" "$launcher" -n 3 "$build/tests/test_dist_gf2" --every 20
        ECHELON_COMM=$comm
    fi
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

# Sorts files with three processes as ranks.
sort_files() {
    mpicc=$1 launcher=$2 echelon=$build/cli/echelon
    name=$(basename "$mpicc") simt=$build/src/libechelon_simt.so
    LD_LIBRARY_PATH=$build/src ECHELON_COMM=$comm
    export ECHELON_COMM
    mkdir -p "$work/files" "$work/elsewhere"
    "$echelon" gen uniform -N 10005 --type u32 -o "$work/files/in.raw"
    for options in "--type u32 -r" "--record 20 --key 3:bytes10 --key 16:f32:desc"; do
        # shellcheck disable=SC2086  # a list of options
        check "$name: echelon sort --distributed $options" sh -c "cd '$work/files' &&
            '$echelon' sort $options in.raw -o want &&
            '$launcher' -n 3 '$echelon' sort --distributed $options in.raw -o got && cmp want got"
    done
    check "$name: echelon sort --distributed --csv --unique, compressed" sh -c "cd '$work/files' &&
        { echo '\"v \"\"x\",w' && '$echelon' gen uniform -N 3000 --type u8 | sed 's/.*/&,\"a\n&\"/'; } >in.csv &&
        '$echelon' sort --csv --header -u -k w:r in.csv -o want.csv && gzip in.csv &&
        '$launcher' -n 3 '$echelon' sort --distributed --csv --header -u -k w:r in.csv.gz -o got.csv.gz &&
        gzip -d <got.csv.gz | cmp - want.csv"
    if [ -e "$simt" ]; then # the emulator as a driver with two GPUs, which without elements need no kernels
        check "$name: ranks of a machine use different GPUs" sh -c "cd '$work/files' && : >none.u32 &&
            ECHELON_LIBCUDA='$simt' ECHELON_SIMT=devices=2 '$launcher' -n 3 '$echelon' sort --distributed --json \
                none.u32 -o got | grep -q '\"device\": \"cuda:0, cuda:1\"'"
    else
        skip "$name: GPUs of ranks: no emulator"
    fi
    rm -f "$work"/files/got* "$work"/files/want* "$work"/files/none.u32
}

# The library of this build without its MPI library.
sort_without_mpi() {
    for case in "/none:ECHELON_MPI_ABI to the path of libmpi_abi.so" "libc.so.6:does not have version 1"; do
        check "ECHELON_MPI_ABI=${case%%:*}: one message" sh -c "cd '$work/files' &&
            ! env -u ECHELON_COMM ECHELON_MPI_ABI=${case%%:*} '$echelon' sort --distributed --type u32 in.raw -o lost \
                >'$work/output' 2>&1 && test \$(wc -l <'$work/output') = 1 && grep -q '${case#*:}' '$work/output'"
    done
    # It is in the folder of libechelon, or in a folder below, as in the Debian package.
    mkdir -p "$work/moved/echelon"
    ln -sf "$build"/src/libechelon.so* "$work/moved"
    ln -sf "$build/src/libechelon_mpi.so" "$work/moved/echelon"
    for folder in "$build/src" "$work/moved"; do
        check "without ECHELON_COMM: $name: $folder" sh -c "cd '$work/files' && env -u ECHELON_COMM \
            LD_LIBRARY_PATH='$folder' '$launcher' -n 2 '$echelon' sort --distributed --json --type u32 in.raw -o got |
            grep -q '\"ranks\": 2' && rm got"
    done
}

# sort_fails WHAT STATUS MESSAGE WORDS...: sorts in.raw on three ranks, on which rank 1 runs "WORDS..." first.  Status ""
# is any but 0. There must be one message, if any, and no output.
sort_fails() {
    what=$1 wanted=$2 message=$3
    shift 3
    # OMPI_COMM_WORLD_RANK, PMI_RANK: the number of the rank.
    ( cd "$work/files" && timeout 30 "$launcher" -n 3 sh -c "rank=\${OMPI_COMM_WORLD_RANK-\$PMI_RANK}
        [ \$rank = 1 ] && { $*; }
        exec '$echelon' sort --distributed --type u32 \${input-in.raw} \$more -o lost" ) >"$work/output" 2>&1
    status=$?
    check "$name: $what: status $status, $(grep '^echelon' "$work/output")" sh -c "! [ -e '$work/files/lost' ] &&
        if [ '$wanted' ]; then [ '$wanted' = $status ]; else [ $status != 0 ]; fi &&
        [ \$(grep -c '^echelon' '$work/output') = \$([ '$message' ] && echo 1 || echo 0) ] &&
        grep -q '$message' '$work/output' && [ \$(find '$work/files' | wc -l) = 3 ]"
}

sort_faults() {
    sort_fails "a missing file" 2 "rank 1 cannot open it" cd ../elsewhere
    export more=--merge
    # No rank connects to another one, as with a library for another MPI than that of the launcher.
    check "$name: another launcher" sh -c "cd '$work/files' && ! OMPI_COMM_WORLD_SIZE=3 PMI_SIZE=1 '$echelon' sort \
        --distributed --type u32 in.raw -o lost >'$work/output' 2>&1 && grep -q 'has started 3' '$work/output'"
    sort_fails "one message" 2 "cannot be combined with --type" :
    export more=--format=text input=.
    sort_fails "a directory" 2 "is a directory, not a file" :
    unset input
    sort_fails "text without an option" 2 "in.raw: is text: give an option for lines" :
    unset more
    printf '%s\n' '#include <errno.h>' '#include <sys/types.h>' 'ssize_t pwrite64(void) { errno = ENOSPC; return -1; }' \
        'ssize_t pwrite(void) { return pwrite64(); }' >"$work/full.c"
    check "full.c compiles" "$cc" -fPIC -shared -fno-builtin -o "$work/full.so" "$work/full.c"
    sort_fails "a full disk" 2 "rank 1 cannot write it: No space left" export LD_PRELOAD="$work/full.so"
    # All ranks wait for an input that does not come, until rank 1 is killed.
    mkfifo "$work/pipe"
    exec 7<>"$work/pipe"
    ( i=0
        while [ ! -s "$work/pid" ] && [ $((i += 1)) -lt 100 ]; do sleep 0.05; done
        sleep 0.3
        kill -9 "$(cat "$work/pid")" ) &
    export input=../pipe
    sort_fails "a killed rank" "" "" "echo \$\$ >'$work/pid'"
    # Rank 0 reads the input, which does not come, while rank 1 waits for it.
    ( cd "$work/files" && timeout 30 "$launcher" -n 2 "$echelon" sort --distributed --time-limit 1 --type u32 ../pipe \
        -o lost ) >"$work/output" 2>&1
    status=$?
    check "$name: --time-limit: status $status, $(cat "$work/output")" sh -c "! [ -e '$work/files/lost' ] &&
        [ $status != 0 ] && grep -q 'rank 1: .* waited 1 s for another rank; raise --time-limit if' '$work/output'"
    wait
    exec 7>&-
    unset input
}

# other_launcher NAME LAUNCHER: with the library of this name.  The command names the cause, unless MPI itself refuses the
# launcher and ends the process.
other_launcher() {
    check "the library of $1 and $(basename "$2")" sh -c "cd '$work/files' && export ECHELON_COMM='$work/$1.so' &&
        ! timeout 30 '$2' -n 3 '$build/cli/echelon' sort --distributed --type u32 in.raw -o lost >'$work/output' 2>&1 &&
        ! [ -e lost ] && grep -Eq 'has started 3 processes, but MPI has connected|Fatal error in .*Init' '$work/output'"
}

for mpicc in ${ECHELON_MPICC:-} mpicc_abi mpicc.mpich mpicc.openmpi \
    "$build/packages/bin/mpicc_abi"; do
    path=$(command -v "$mpicc") || continue
    # One of each kind: the same MPICH may be in PATH, too.
    case " $kinds " in *" ${path##*/} "*) continue ;; esac
    kinds="$kinds ${path##*/}"
    folder=$(dirname "$path")
    case $mpicc in
    *.openmpi) launcher=$folder/mpiexec.openmpi ;;
    *.mpich) launcher=$folder/mpiexec.mpich ;;
    *_abi) launcher=$folder/mpiexec ;;
    *) launcher=$folder/mpiexec ;;
    esac
    try "$path" "$launcher"
    if [ $found = no ] && [ "$only" != large ] && [ -x "$build/cli/echelon" ]; then
        sort_files "$path" "$launcher"
        sort_faults
    fi
    # The library of one MPI with the launcher of another one.
    if [ $found = yes ] && [ "$only" != large ] && [ -x "$build/cli/echelon" ]; then
        other_launcher "$first" "$launcher"
        other_launcher "$name" "$first_launcher"
    fi
    [ $found = yes ] || first=$name first_launcher=$launcher
    [ "$comm" != libechelon_mpi.so ] || [ "$only" = large ] || ! [ -x "$build/cli/echelon" ] || sort_without_mpi
    found=yes
done
[ $found = yes ] || skip "MPI: there is no mpicc_abi, mpicc.mpich or mpicc.openmpi (pip install mpich)"
finish
