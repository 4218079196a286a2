/*
 * gf2/cuda/mul_groups.cuh - products of packed matrices with wgmma (sm_90a).
 *
 * Persistent thread blocks compute one block of the result after the other.  Two groups of four
 * warps each have the counts of 64 x 256 elements in registers, distributed so that a lane has all
 * counts of two words.  A ninth warp loads the operands with TMA bulk copies, several stages ahead
 * and across blocks, so the multiplication of a group only pauses while it writes its words;
 * meanwhile the other group may multiply.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_MUL_GROUPS_CUH
#define ECHI_GF2_CUDA_MUL_GROUPS_CUH

#include "gf2/cuda/bits.cuh"
#include "gf2/cuda/mul_block.cuh"
#include "cuda/device/ptx_wgmma.cuh"

enum { GROUP_THREADS = 128, GROUP_WARPS = GF2_MUL_THREADS / 32 };

/* Refills the stages when they have been read. */
static __device__ inline void bring(const struct gf2_mul_args &a, uint4 *stages, uint64_t *full,
                                    uint64_t *empty)
{
    uint32_t slot = 0, parity = 1, row, column;
    for (uint32_t block = blockIdx.x; block < a.row_blocks * a.column_blocks; block += gridDim.x) {
        place_block(a, block, &row, &column);
        struct operands o = operands_of(a, row, column);
        for (uint32_t turn = 0; turn < a.steps / STEPS; turn++) {
            uint4 *stage = stages + slot * STAGE_PIECES;
            while (!mbarrier_try_wait(empty + slot, parity)) continue;
            mbarrier_arrive_expect(full + slot, GF2_MUL_STAGE_BYTES);
#pragma unroll
            for (int x = 0; x < STEPS; x++) {
                copy_bulk(stage + x * A_PIECES, o.a, A_PIECES * 16, full + slot);
                copy_bulk(stage + STEPS * A_PIECES + x * B_PIECES, o.b, B_PIECES * 16, full + slot);
                o.a += o.a_step;
                o.b += o.b_step;
            }
            if (++slot == GF2_MUL_STAGES) slot = 0, parity ^= 1;
        }
    }
}

/* The two words of which a lane has all counts. */
static __device__ inline void put_words(const struct gf2_mul_args &a, const int32_t (&count)[128],
                                        uint32_t row_block, uint32_t column_block)
{
    const uint64_t first = (uint64_t)row_block * GF2_MUL_ROWS + threadIdx.x / 32 * 16;
    const uint64_t w = (uint64_t)column_block * 4 + lane_id() % 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        uint32_t bits[2] = { 0, 0 };
#pragma unroll
        for (int r = 0; r < 16; r++) {
            const int32_t *c = count + 8 * r + 2 * h; /* of the round's two fragments */
            bits[r / 8] = gf2_append(bits[r / 8], gf2_parities(c[0], c[1], c[4], c[5]));
        }
        for (uint32_t x = 0; x < a.targets; x++)
            put(a.target[x], a.stride, first + 8 * h + lane_id() / 4, w,
                bits[0] | (uint64_t)bits[1] << 32);
    }
}

/* A group's 64 x 256 elements of block after block. */
static __device__ inline void multiply_groups(const struct gf2_mul_args &a, const uint4 *stages,
                                              uint64_t *full, uint64_t *empty)
{
    int32_t count[128];
    uint32_t slot = 0, parity = 0, before = 0, row, column;
    const uint4 *left = stages + threadIdx.x / GROUP_THREADS * 64 * 2;
    const uint4 *right = stages + STEPS * A_PIECES;
    for (uint32_t block = blockIdx.x; block < a.row_blocks * a.column_blocks; block += gridDim.x) {
        for (uint32_t turn = 0; turn < a.steps / STEPS; turn++) {
            while (!mbarrier_try_wait(full + slot, parity)) continue;
            wgmma_fence();
#pragma unroll
            for (int x = 0; x < STEPS; x++)
                wgmma_and(count, wgmma_operand(left + slot * STAGE_PIECES + x * A_PIECES),
                          wgmma_operand(right + slot * STAGE_PIECES + x * B_PIECES), turn + x);
            wgmma_commit();
            wgmma_wait<1>(); /* the previous stage has been read */
            __syncwarp();
            if (turn && lane_id() == 0) mbarrier_arrive(empty + before);
            before = slot;
            if (++slot == GF2_MUL_STAGES) slot = 0, parity ^= 1;
        }
        wgmma_wait<0>();
        __syncwarp();
        if (lane_id() == 0) mbarrier_arrive(empty + before);
        place_block(a, block, &row, &column);
        put_words(a, count, row, column);
    }
}

#endif
