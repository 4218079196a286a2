/*
 * sparse_direct/tuning.h - measured constants of the choice among libraries.
 *
 * constant                  value     device                    date
 * ECHI_KLU_FLOPS_PER_ENTRY  200       AMD EPYC (family 26)      2026-11-27
 * ECHI_KLU_LITTLE_FLOPS     2 10^7    AMD EPYC (family 26)      2026-11-27
 *
 * docs/performance/solve.md has the measurements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_DIRECT_TUNING_H
#define ECHI_SPARSE_DIRECT_TUNING_H

enum {
    ECHI_KLU_FLOPS_PER_ENTRY = 200,  /* of L and U: above it, MUMPS is faster than KLU */
    ECHI_KLU_LITTLE_FLOPS = 20000000 /* with fewer operations, KLU factors any matrix */
};

#endif
