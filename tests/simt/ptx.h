/*
 * simt/ptx.h - tests of src/cuda/device/ptx*.cuh: the slots that the kernels write, as in
 * intrinsics.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_PTX_H
#define SIMT_PTX_H

#include "intrinsics.h"

enum { PTX_CLUSTER = 4, PTX_ROUNDS = 4, PTX_ROUND_BYTES = 1024, PTX_BARRIER_THREADS = 128 };

/* clang-format off */
#define PTX_ORDER_SLOTS(SLOT)                                                                      \
    SLOT(CHAIN) SLOT(CHAIN_U64) SLOT(WORD) SLOT(WORD_U64) SLOT(MATCH_BIT)
#define PTX_COPY_SLOTS(SLOT)    SLOT(BYTES_16) SLOT(BYTES_8) SLOT(BYTES_4)
#define PTX_BARRIER_SLOTS(SLOT) SLOT(ROTATED) SLOT(BULK) SLOT(BEFORE)
#define PTX_CLUSTER_SLOTS(SLOT) SLOT(RANK) SLOT(BLOCKS) SLOT(REMOTE) SLOT(REMOTE_ADD)
#define PTX_MMA_SLOTS(SLOT)                                                                        \
    SLOT(AND_0) SLOT(AND_1) SLOT(AND_2) SLOT(AND_3) SLOT(XOR_0) SLOT(XOR_1) SLOT(XOR_2) SLOT(XOR_3)
#define PTX_TENSOR_SLOTS(SLOT)                                                                     \
    SLOT(4_0) SLOT(4_1) SLOT(4_2) SLOT(4_3) SLOT(8_0) SLOT(8_1) SLOT(8_2) SLOT(8_3)                \
    SLOT(16_0) SLOT(16_1) SLOT(16_2) SLOT(16_3)
#define PTX_MATRIX_SLOTS(SLOT) SLOT(0) SLOT(1) SLOT(2) SLOT(3)
#define PTX_WGMMA_SLOTS(SLOT)  SLOT(FIRST) SLOT(BOTH)
/* clang-format on */

#define SLOT(name) PTX_ORDER_##name,
enum { PTX_ORDER_SLOTS(SLOT) PTX_ORDER_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_COPY_##name,
enum { PTX_COPY_SLOTS(SLOT) PTX_COPY_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_BARRIER_##name,
enum { PTX_BARRIER_SLOTS(SLOT) PTX_BARRIER_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_CLUSTER_##name,
enum { PTX_CLUSTER_SLOTS(SLOT) PTX_CLUSTER_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_MMA_##name,
enum { PTX_MMA_SLOTS(SLOT) PTX_MMA_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_TENSOR_##name,
enum { PTX_TENSOR_SLOTS(SLOT) PTX_TENSOR_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_MATRIX_##name,
enum { PTX_MATRIX_SLOTS(SLOT) PTX_MATRIX_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_WGMMA_##name,
enum { PTX_WGMMA_SLOTS(SLOT) PTX_WGMMA_SLOT_COUNT };
#undef SLOT

/* Number i of a thread's f64 operands: 0 to 7 for a, 8 to 11 for b, 12 to 15 for c.  Sums of
 * products are rounded. */
#define PTX_TENSOR_ROTATED(word, bits) ((word) << (bits) | (word) >> (64 - (bits)))
#define PTX_TENSOR_OF(word)                                                                        \
    ((double)(int32_t)(uint32_t)((word) >> 32) * (double)(1U << ((word)&15)))
#define PTX_TENSOR_VALUE(in, i) PTX_TENSOR_OF(PTX_TENSOR_ROTATED((in)[(i) % 4], (i) / 4 * 13 + 1))

/* The row that a lane selects, and the source of 16 bytes of the right operand. */
#define PTX_MATRIX_ROW(lane) (((lane)*7 + 3) % 32)
#define PTX_WGMMA_TURN(word, piece)                                                                \
    ((word) << 8 * ((piece) / 128) | (word) >> (63 - 8 * ((piece) / 128)))

#endif
