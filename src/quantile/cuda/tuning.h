/*
 * quantile/cuda/tuning.h - measured bounds between the algorithms for elements of ranks on the GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_TUNING_H
#define ECHI_QUANTILE_CUDA_TUNING_H

/* From `select` elements on they are found without a sort of the
 * input; from `many` elements on, if there are more than QUANTILE_FEW; from `place` elements on, a
 * partition around several ranks is one pass instead of a sort of part numbers. select: H200,
 * 2026-11-24; many, place: predicted, not measured. */
/* clang-format off */
/*      key select   many     place */
#define QUANTILE_TUNING(ROW)                                                                       \
    ROW(1,  1 << 17, 1 << 17, 0)                                                                   \
    ROW(2,  1 << 17, 1 << 21, 0)                                                                   \
    ROW(4,  1 << 17, 1 << 21, 0)                                                                   \
    ROW(8,  1 << 17, 1 << 20, 0)
/* clang-format on */

#endif
