/*
 * simt/intrinsics_oracle.h - the launches that test the intrinsic functions, and their results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_ORACLE_H
#define SIMT_INTRINSICS_ORACLE_H

#include "intrinsics.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intrinsics_case {
    const char *kernel;
    uint32_t grid[3], block[3], shared_bytes;
    uint32_t cluster; /* number of blocks along x; 1: no clusters */
    uint32_t slots;
    const char *const *names; /* [slots] */
    void (*expect)(const struct intrinsics_case *c, uint32_t n, const uint64_t *in, uint64_t *out);
};

extern const struct intrinsics_case intrinsics_cases[];
extern const int intrinsics_case_count;

extern const struct intrinsics_case ptx_cases[]; /* of ptx.cu */
extern const int ptx_case_count;

/* The number of threads of the launch. */
uint32_t intrinsics_threads(const struct intrinsics_case *c);

/* Words that are often special: ends of ranges, small numbers, floats that are difficult to
 * convert. */
void intrinsics_fill(uint64_t *in, size_t words);

/* out is [slots][n] and zero, as it is before the kernel runs. */
void intrinsics_expect_integer(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                               uint64_t *out);
void intrinsics_expect_float(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                             uint64_t *out);
void intrinsics_expect_warp(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                            uint64_t *out);
void intrinsics_expect_memory(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                              uint64_t *out);
void intrinsics_expect_place(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                             uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
