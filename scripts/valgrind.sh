#!/bin/sh
# valgrind.sh BUILD_DIR - runs some small tests of the library under valgrind: no invalid accesses, uninitialised reads
# or leaks.
#
# Libraries that are never closed keep memory until the process ends. It is "still reachable", which does not count as a
# leak; "definitely" and "indirectly" lost memory does.
#
# SPDX-License-Identifier: Apache-2.0
set -u
build=$1
command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 1; }

failed=0
check() { # PROGRAM ARGUMENT...
    echo "$1 under valgrind"
    test=$1
    shift
    OMP_NUM_THREADS=2 valgrind --quiet --error-exitcode=9 --leak-check=full \
        --errors-for-leak-kinds=definite,indirect --show-leak-kinds=definite,indirect \
        "$build/tests/$test" "$@" || failed=$((failed + 1))
}
for test in test_api test_context test_memory test_sort; do check $test --device cpu --quick; done
for test in test_reduce test_scan test_histogram test_arrange test_columns test_records test_strings test_topk test_unique \
    test_quantile test_merge test_merge_many test_search test_set test_sort_segments; do # one of 101 cases
    check $test --device cpu --quick --every 101
done
# Without 64-bit integers: valgrind has no long double, so the oracle of the test has only 53 bits.
check test_select --device cpu --quick 'select_if(u32,n=1' 'unique(f32,n=1' 'encode_runs(u8,n=1' \
    'unique_by_key(u16,n=1' 'partition_if(f16,n=1'
for test in test_gf2 test_gf2_echelon test_gf2_batch; do check $test --device cpu --quick --every 7; done
if [ -x "$build/tests/test_simt" ]; then # few cases, because fiber switches are slow under valgrind
    check test_simt 'fault(race_raw_across,threads=1' 'fault(lookback_all_ok' 'pattern(reduce'
    check test_intrinsics ptx_cluster ptx_order
fi
[ "$failed" -eq 0 ]
