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
#define SLOT(name) PTX_MATRIX_##name,
enum { PTX_MATRIX_SLOTS(SLOT) PTX_MATRIX_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PTX_WGMMA_##name,
enum { PTX_WGMMA_SLOTS(SLOT) PTX_WGMMA_SLOT_COUNT };
#undef SLOT

/* The row that a lane selects, and the source of 16 bytes of the right operand. */
#define PTX_MATRIX_ROW(lane) (((lane)*7 + 3) % 32)
#define PTX_WGMMA_TURN(word, piece)                                                                \
    ((word) << 8 * ((piece) / 128) | (word) >> (63 - 8 * ((piece) / 128)))

#endif
