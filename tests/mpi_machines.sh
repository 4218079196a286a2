#!/bin/sh
# mpi_machines.sh SOURCE BUILD CC - distributed operations, sorts of files and failures with MPI processes on two
# machines, which are simulated.
#
#     machine1, machine2   namespaces: network, host name, IPC and /dev/shm, mounts, boot_id; of machine2 also processes
#     between them         one Ethernet link (veth), TCP
#     started by           Open MPI (Debian), whose remote shell is nsenter
#
# The ranks of different machines have no shared memory and cannot open each other's files of /proc.  This needs root.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

if grep -q '^ECHELON_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
    skip "MPI libraries are not built with a sanitizer"
    finish
fi
for command in mpicc.openmpi mpirun.openmpi unshare nsenter ip pgrep; do
    command -v $command >/dev/null && continue
    skip "two machines: there is no $command"
    finish
done
if ! unshare -n -u -i -m -p --fork true 2>/dev/null; then
    skip "two machines: namespaces cannot be created"
    finish
fi
work=$(mktemp -d) || exit 1
trap ': >"$work/end"; wait; rm -rf "$work"' EXIT

# machine NUMBER OPTION...: creates one, and waits until it exists.
machine() {
    number=$1
    shift
    echo "0000000$number-0000-0000-0000-000000000000" >"$work/boot$number"
    unshare -n -u -i -m "$@" sh -c "hostname machine$number && mount -t tmpfs none /dev/shm &&
        mount --bind '$work/boot$number' /proc/sys/kernel/random/boot_id && ip link set lo up && : >'$work/ready$number'
        while [ ! -e '$work/end' ]; do sleep 0.1; done" &
    process=$!
    i=0
    while [ ! -e "$work/ready$number" ] && [ $((i += 1)) -lt 100 ]; do sleep 0.05; done
}
machine 1
first=$process
machine 2 -p --fork --mount-proc
second=$(pgrep -P "$process")
if ! { [ -e "$work/ready1" ] && [ -e "$work/ready2" ] &&
    ip link add ech0 netns "$first" type veth peer name ech0 netns "$second"; } 2>/dev/null; then
    skip "two machines: they cannot be connected"
    finish
fi
nsenter -t "$first" -n sh -c "ip addr add 10.77.0.1/24 dev ech0 && ip link set ech0 up"
nsenter -t "$second" -n sh -c "ip addr add 10.77.0.2/24 dev ech0 && ip link set ech0 up"

cat >"$work/shell" <<END
#!/bin/sh
shift
exec nsenter -t $second -n -u -i -m -p sh -c "\$*"
END
chmod +x "$work/shell"
mkdir "$work/files"
LD_LIBRARY_PATH=$build/src ECHELON_COMM=$work/mpi.so OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_plm_rsh_agent=$work/shell OMPI_MCA_btl=tcp,vader,self OMPI_MCA_btl_tcp_if_include=ech0
OMPI_MCA_oob_tcp_if_include=ech0 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
OMPI_MCA_mpi_yield_when_idle=1
export LD_LIBRARY_PATH ECHELON_COMM OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_plm_rsh_agent
export OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include OMPI_MCA_oob_tcp_if_include OMPI_MCA_mpi_yield_when_idle
export OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_rmaps_base_oversubscribe

# run RANKS COMMAND...: the first two ranks are on machine1.
run() {
    ranks=$1
    shift
    timeout -k 1 60 nsenter -t "$first" -n -u -i -m --wd="$work/files" mpirun.openmpi --quiet -x LD_LIBRARY_PATH \
        -x ECHELON_COMM -x ECHELON_LIBCUDA -x ECHELON_SIMT -host machine1:2,10.77.0.2:2 -n "$ranks" "$@"
}

check "mpicc.openmpi compiles libechelon_mpi.so" mpicc.openmpi -std=c11 -O2 -shared -fPIC -fvisibility=hidden \
    -Wl,-z,nodelete -I"$source/include" "$source/src/comm/mpi/mpi.c" -L"$build/src" -lechelon -o "$work/mpi.so"
check "mpi_faults.c compiles" "$cc" -std=c11 -I"$source/include" "$source/tests/mpi_faults.c" -L"$build/src" -lechelon \
    -o "$work/faults"
run 4 hostname >"$work/log" 2>&1
check "two ranks on each machine: $(paste -s -d ' ' "$work/log")" sh -c \
    "test \$(grep -c '^machine1\$' '$work/log') = 2 && test \$(grep -c '^machine2\$' '$work/log') = 2"

check "distributed operations" run 4 "$build/tests/test_dist" --every 40
check "selections" run 4 "$build/tests/test_dist_select" --every 40
check "sparse matrices" run 4 "$build/tests/test_dist_linear" --every 60
check "matrices over GF(2)" run 4 "$build/tests/test_dist_gf2" --every 20

run 3 "$work/faults" "$work/result" >"$work/output" 2>&1
cat "$work"/result.* >"$work/log"
for fault in "another call" "the next call" "no memory" "an abort" "a slow rank"; do
    check "$fault: $(grep "^$fault on" "$work/log")" sh -c "test \$(grep -c '^$fault on .* ok\$' '$work/log') -eq 3"
done
check "a dead rank: $(grep "^a dead" "$work/log")" \
    sh -c "test \$(grep -c '^a dead rank on rank [02]: .* ok\$' '$work/log') -eq 2"

# Files that both machines see.
echelon=$build/cli/echelon
cd "$work/files" || exit 1
"$echelon" gen uniform -N 100005 --type u32 -o in.raw
for options in "--type u32 -r" "--record 15 --key 3:bytes10"; do
    # shellcheck disable=SC2086  # a list of options
    "$echelon" sort $options in.raw -o want
    # shellcheck disable=SC2086
    check "echelon sort --distributed $options" run 4 "$echelon" sort --distributed $options in.raw -o got
    check "echelon sort --distributed $options: the result" cmp want got
    rm -f got
done
"$echelon" gen uniform -N 3000 --type u16 | sort -R >in.txt
"$echelon" sort -n in.txt -o want
gzip in.txt
check "echelon sort --distributed of compressed lines" run 4 "$echelon" sort --distributed -n in.txt.gz -o got
check "echelon sort --distributed of compressed lines: the result" cmp want got
if [ -e "$build/src/libechelon_simt.so" ]; then # the emulator as a driver with four GPUs
    : >none.u32
    ECHELON_LIBCUDA=$build/src/libechelon_simt.so ECHELON_SIMT=devices=4
    export ECHELON_LIBCUDA ECHELON_SIMT
    run 4 "$echelon" sort --distributed --json none.u32 -o got >"$work/log" 2>&1
    check "each machine has a GPU per rank, from the first one on: $(cat "$work/log")" \
        grep -q '"device": "cuda:0, cuda:1"' "$work/log"
else
    skip "GPUs of ranks: no emulator"
fi
finish
