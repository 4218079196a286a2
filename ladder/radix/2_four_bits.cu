/*
 * 2_four_bits.cu - a radix sort with four bits per pass: 16 digit values, counted per block.
 *
 * Idea:   a block counts the digits of its 1024 keys; all counts, ordered by digit and then by
 *         block, are scanned: the result is the output offset of each block's keys of each digit.
 *         When keys are moved, the rank of a key among the keys of its digit in the block keeps the
 *         pass stable: in a warp, four ballots find the lanes with the same digit
 * Cost:   a pass reads the keys twice and writes them once, 16 counts per block; 8 passes
 * Wastes: each pass waits for the counts of all blocks, which a look-back could avoid; a block
 *         writes 16 short runs, whereas eight bits and sorted tiles write long runs
 * From:   Satish, Harris and Garland (2009), who sorted the tile in shared memory first; ballots
 *         came with sm_20
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void radix_2_count(const uint32_t *keys, uint64_t n, unsigned shift,
                                         uint32_t *counts)
{
    __shared__ uint32_t count[16];
    const unsigned t = threadIdx.x;
    if (t < 16) count[t] = 0;
    __syncthreads(); /* all counts are 0 */
    for (unsigned row = 0; row < 4; row++) {
        const uint64_t i = (uint64_t)blockIdx.x * 1024 + row * 256 + t;
        if (i < n) atomicAdd(&count[keys[i] >> shift & 15], 1u);
    }
    __syncthreads(); /* the tile is counted */
    if (t < 16) counts[(uint64_t)t * gridDim.x + blockIdx.x] = count[t];
}

extern "C" __global__ void radix_2_move(const uint32_t *keys, uint64_t n, unsigned shift,
                                        const uint32_t *starts, uint32_t *out)
{
    __shared__ uint32_t next[16], of_warp[8][16];
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < 16) next[t] = starts[(uint64_t)t * gridDim.x + blockIdx.x];
    for (unsigned row = 0; row < 4; row++) {
        const uint64_t i = (uint64_t)blockIdx.x * 1024 + row * 256 + t;
        const bool there = i < n;
        const uint32_t key = there ? keys[i] : 0, digit = key >> shift & 15;
        uint32_t alike = __ballot_sync(ALL_LANES, there); /* lanes of the same digit */
        for (unsigned b = 0; b < 4; b++) {
            const uint32_t ones = __ballot_sync(ALL_LANES, digit >> b & 1);
            alike &= digit >> b & 1 ? ones : ~ones;
        }
        const uint32_t earlier = (uint32_t)__popc(alike & ((1u << lane) - 1));
        if (lane < 16) of_warp[warp][lane] = 0;
        __syncwarp(); /* all are 0 */
        if (there && earlier == 0) of_warp[warp][digit] = (uint32_t)__popc(alike);
        __syncthreads(); /* the counts of all warps are written */
        if (t < 16) {    /* counts become the offsets of each warp's keys of the digit */
            for (unsigned w = 0; w < 8; w++) {
                const uint32_t count = of_warp[w][t];
                of_warp[w][t] = next[t];
                next[t] += count;
            }
        }
        __syncthreads(); /* the offsets are written */
        if (there) out[of_warp[warp][digit] + earlier] = key;
        __syncwarp(); /* all have read the offsets before the next row */
    }
}
