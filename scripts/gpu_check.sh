#!/usr/bin/env bash
# gpu_check.sh - runs all tests and benchmarks that need an NVIDIA GPU.
#
#   scripts/gpu_check.sh [--arch 90] [--quick] [--skip STEP]... OUT_DIR
#
# Builds for this GPU, runs every test on the CUDA backend, compute-sanitizer on a subset, and the benchmarks with their
# competitors. Writes logs and CSV to OUT_DIR. Steps: tests, stream, large, python, sanitizer, bench,
# ladder, latency. python: the package with PyTorch, CuPy and JAX, and the bindings of other languages, as far as these
# are installed. The exit status is 1 if a step failed.
#
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/.."
arch=native quick="" skip=" " out=""
while [ $# -gt 0 ]; do
    case $1 in
    --arch) arch=$2; shift ;;
    --quick) quick=--quick ;;
    --skip) skip="$skip$2 "; shift ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "gpu_check.sh: unknown option $1" >&2; exit 2 ;;
    *) out=$1 ;;
    esac
    shift
done
[ -n "$out" ] || { echo "usage: scripts/gpu_check.sh [--arch 90] [--quick] [--skip STEP] OUT_DIR" >&2; exit 2; }
mkdir -p "$out" && out=$(cd "$out" && pwd)
if [ "$arch" = native ]; then
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
fi
build=build-gpu
failed=0
step() { # NAME COMMAND...: runs the command with a log, unless the step is skipped
    local name=$1 begin=$SECONDS
    shift
    case $skip in *" $name "*) echo "== $name: skipped"; return ;; esac
    if "$@" >"$out/$name.log" 2>&1; then echo "== $name: passed, $((SECONDS - begin)) s"
    else echo "== $name: FAILED, $((SECONDS - begin)) s"; failed=1; tail -25 "$out/$name.log"; fi
}

build() {
    # shellcheck disable=SC2086  # the caller's flags
    cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release "-DECHELON_CUDA_ARCHS=$arch" -DECHELON_CUDA_PTX=none ${CMAKE_FLAGS:-} &&
        cmake --build $build --parallel && cmake --build $build --parallel --target bench gpu_benchmark || return 1
    local program
    for program in test_stream test_queued; do
        nvcc -O2 -std=c++17 "-arch=sm_$arch" -Iinclude -o $build/tests/$program tests/$program.cu \
            -L$build/src -lechelon -Xlinker "-rpath=$PWD/$build/src" || return 1
    done
}
column() { # NUMBER: the distinct words of a column of src/operations.def
    sed -n 's/^OPERATION(\(.*\))$/\1/p' src/operations.def | cut -d, -f"$1" | tr -d '"' | tr -s ' ' '\n' |
        grep -vx -e none -e '' | awk '!seen[$0]++'
}
tests() {
    local name
    for name in $(column 5) api context memory sparse_direct; do
        $build/tests/test_$name --device cuda $quick || return 1
    done
    for name in comm dist dist_select dist_linear dist_gf2; do # a rank per GPU
        $build/tests/test_$name --device cuda:all || return 1
    done
    ECHELON_TEST_DEVICE=cuda ctest --test-dir $build -R '^cli_' -E cli_numpy --output-on-failure # cli_numpy opens a GPU 500 times
}
stream() { $build/tests/test_stream && $build/tests/test_queued; }
large() { $build/tests/test_topk --large --device cuda && $build/tests/test_sort --large --device cuda && $build/tests/test_sort_segments --large --device cuda && $build/tests/test_queued --large; }
python() { # exit status 77: nothing could run
    local status language
    sh python/tests/run.sh . $build -m gpu
    status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || return 1
    # The GPU sorts arrays in host memory. Tests of PyTorch and JAX do not depend on that.
    ECHELON_DEVICE=cuda sh python/tests/run.sh . $build -m "not gpu" --ignore python/tests/test_torch.py
    status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || return 1
    for language in cpp rust go fortran julia; do
        ECHELON_DEVICE=cuda sh bindings/test.sh . $build $language
        status=$?
        [ $status -eq 0 ] || [ $status -eq 77 ] || return 1
    done
}
sanitizer() {
    local tool case name every ring
    for tool in memcheck racecheck initcheck synccheck; do
        for case in 'sort(u32,n=7681,' 'sort(f64,n=4097,' 'sort(u8,n=11521,' 'sort(f32,n=5003'; do
            echo "-- $tool $case"
            compute-sanitizer --tool $tool --error-exitcode 9 $build/tests/test_sort --device cuda "$case" || return 1
        done
        for name in $(column 5 | grep -vxE 'sort|.*_(host|memory|api|call|ilut)'); do # a few cases, small
            every=${SANITIZER_EVERY:-997}
            case $name in # these have fewer cases: 5 to 20 of 200 to 800 are run
            gf2* | direct | solve) every=$((every / 20 + 1)) ;;
            sort_segments | topk | merge | merge_many | set | search) every=$((every / 25 + 1)) ;;
            columns | records | strings | unique | quantile) every=$((every / 25 + 1)) ;;
            esac
            echo "-- $tool $name"
            # racecheck does not support the order between warps that mbarriers establish, which scan's ring uses.
            # The SIMT emulator checks these kernels.
            ring=""
            [ $tool$name = racecheckscan ] && ring="--kernel-name-exclude kns=_ring"
            # shellcheck disable=SC2086  # two words or none
            compute-sanitizer --tool $tool $ring --error-exitcode 9 $build/tests/test_$name --device cuda --quick \
                --every $every || return 1
        done
    done
}
bench() {
    local name
    for name in sort_host $(column 6); do
        echo "-- $name"
        $build/bench/gpu_$name $quick --csv "$out/$name.csv" || return 1
    done
    python3 bench/sort_python.py >"$out/sort_python.csv" # 77: neither torch nor CuPy is installed, which is not a failure
    case $? in 0) cat "$out/sort_python.csv" >>"$out/sort.csv" ;; 77) echo "neither torch nor CuPy" ;; *) return 1 ;; esac
    python3 bench/solve_cupy.py $build/src/libechelon.so >"$out/solve_cupy.csv" # the same
    case $? in 0 | 77) ;; *) return 1 ;; esac
}
ladder() { $build/cli/echelon ladder all --check --device cuda && $build/cli/echelon ladder all --device cuda --csv >"$out/ladder_gpu.csv"; }
latency() {
    local n
    echo "device,n,open_ms,first_ms,hundredth_ms,peak_bytes,formula_bytes" >"$out/latency.csv"
    for n in 1000 1000000 100000000; do $build/bench/latency cuda $n | tee -a "$out/latency.csv" || return 1; done
    ls -l $build/src/libechelon.so*
}

echo "== $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1), sm_$arch, $(date -u +%F)"
step build build
[ $failed -eq 0 ] || exit 1
for name in tests stream large python sanitizer bench ladder latency; do step $name $name; done
case $skip in *" bench "*) ;; *) cat "$out/bench.log" ;; esac
case $skip in *" latency "*) ;; *) cat "$out/latency.csv" ;; esac
tail -qn 1 "$out"/tests.log "$out"/stream.log "$out"/large.log 2>/dev/null
exit $failed
