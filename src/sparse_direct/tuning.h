/*
 * sparse_direct/tuning.h - measured constants of the choice among libraries.
 *
 * constant                        value   device                   date
 * ECHI_KLU_FLOPS_PER_ENTRY_MUMPS  200     AMD EPYC (family 26)     2026-11-27
 * ECHI_KLU_LITTLE_FLOPS_MUMPS     2 10^7  AMD EPYC (family 26)     2026-11-27
 * ECHI_KLU_FLOPS_PER_ENTRY_CUDSS  100     H100, H200; Intel Xeon   2026-11-28
 * ECHI_KLU_LITTLE_FLOPS_CUDSS     6 10^7  H100, H200; Intel Xeon   2026-11-28
 *
 * docs/performance/solve.md has the measurements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_DIRECT_TUNING_H
#define ECHI_SPARSE_DIRECT_TUNING_H

/* KLU leaves a matrix to another library if it expects more operations per entry of L and U, and
 * more operations in total. */
enum {
    ECHI_KLU_FLOPS_PER_ENTRY_MUMPS = 200, /* above it, MUMPS is faster than KLU */
    ECHI_KLU_LITTLE_FLOPS_MUMPS = 20000000,
    ECHI_KLU_FLOPS_PER_ENTRY_CUDSS = 100,  /* above it, cuDSS is faster than KLU */
    ECHI_KLU_LITTLE_FLOPS_CUDSS = 60000000 /* about the time of an empty call of cuDSS, 45 ms */
};

#endif
