/*
 * fake_libsimt.c - the SIMT emulator with fixed counts and faults, so that tests can compare the
 * output of the command exactly.
 *
 * The library links with libechelon_simt.so for all other functions. The environment variable
 * FAKE_SIMT_FAULTS is the number of faults, at most 2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/simt.h"

#include <stdlib.h>

static struct simt_line_counts lines[] = {
    { "sort_fast.cuh:7", { .branches = 100, .divergent = 4 } },
    { "sort_fast.cuh:12",
      { .load_requests = 1000, .load_sectors = 4000, .load_bytes = 128000, .branches = 20 } },
    { "sort_fast.cuh:9", { .branches = 100, .divergent = 5 } },
    { "warp.cuh:29", { .barriers = 8, .warp_operations = 300, .branches = 20 } },
    { "sort_fast_and_with_a_long_name.cuh:1234",
      { .shared_loads = 99999,
        .shared_load_wavefronts = 100001,
        .bank_conflicts = 2,
        .bank16_conflicts = 99950 } },
};

static const struct simt_kernel_counts kernels[] = {
    { "sort_fast",
      3,
      12345678,
      3160493568,
      1234567890,
      { .load_requests = 1000,
        .load_sectors = 4000,
        .load_bytes = 128000,
        .store_requests = 12345678901,
        .store_sectors = 395061724832,
        .store_bytes = 1580246899328,
        .atomic_requests = 3,
        .atomic_sectors = 96,
        .shared_loads = 99999,
        .shared_load_wavefronts = 100001,
        .shared_stores = 100000,
        .shared_store_wavefronts = 999949,
        .shared_atomics = 999950,
        .shared_atomic_wavefronts = 9999500,
        .bank_conflicts = 2,
        .bank16_conflicts = 99950,
        .barriers = 8,
        .warp_operations = 300,
        .branches = 240,
        .divergent = 9 },
      lines,
      sizeof lines / sizeof *lines },
    { "sort_none", 1, 1, 32, 1000, { 0 }, NULL, 0 },
};

static const struct simt_finding faults[] = {
    { SIMT_RACE, 17, "sort_fast", "sort_fast.cuh:12",
      "race in sort_fast at sort_fast.cuh:12: thread 1 \"and\" 2" },
    { SIMT_BOUNDS, 1, "sort_none", "sort.cu:3",
      "out of bounds in sort_none at sort.cu:3: thread 0" },
};

SIMT_API size_t simt_profile(const struct simt_kernel_counts **out)
{
    *out = kernels;
    return sizeof kernels / sizeof *kernels;
}

SIMT_API size_t simt_findings(const struct simt_finding **out)
{
    const char *count = getenv("FAKE_SIMT_FAULTS");
    *out = faults;
    return count ? (size_t)atoi(count) : 0;
}
