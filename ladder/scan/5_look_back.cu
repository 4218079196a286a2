/*
 * 5_look_back.cu - one pass: a tile asks the tiles before it.
 *
 * Idea:   a block scans its tile by shuffles and says its sum; then one warp looks at what the 32
 *         tiles before have said: their own sum, or that of all up to them.  Where the latter is
 *         found the looking ends, and this tile says the sum of all up to itself
 * Cost:   2n words moved, one launch; tiles are given out in the order in which blocks begin, so
 *         that who is waited for is at work
 * Wastes: blocks that wait; and floats are added in the order in which blocks speak, so that the
 *         last bits of two runs may differ (production's do not)
 * From:   Merrill and Garland (2016)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* What a word has: the tile's sum, or that of all up to it. */
enum { scan_5_own = 1, scan_5_all = 2 };

union scan_5_bits {
    element x;
    uint32_t bits;
};

/* Says x and what it is by one store: nobody sees half of it. */
static __device__ inline void scan_5_say(volatile uint64_t *word, uint64_t what, element x)
{
    union scan_5_bits b;
    b.x = x;
    *word = what << 32 | b.bits;
}

/* The sum of all tiles before this one, by a warp. */
static __device__ inline element scan_5_look(const volatile uint64_t *words, uint64_t tile)
{
    const unsigned lane = threadIdx.x;
    element before = 0;
    for (uint64_t end = tile; end > 0; end = end > 32 ? end - 32 : 0) {
        uint64_t word = (uint64_t)scan_5_all << 32; /* before the first tile: 0 */
        if (lane < end) do
                word = words[end - 1 - lane];
            while (word == 0);
        unsigned all = __ballot_sync(ALL_LANES, word >> 32 == scan_5_all);
        unsigned nearest = (unsigned)__ffs((int)all) - 1; /* none: more than any lane */
        union scan_5_bits b;
        b.bits = (uint32_t)word;
        element x = lane <= nearest ? b.x : (element)0;
        for (int s = 16; s > 0; s /= 2) x += __shfl_xor_sync(ALL_LANES, x, s);
        before += x;
        if (all) break;
    }
    return before;
}

extern "C" __global__ void scan_5(const element *in, uint64_t n, element *out, uint64_t *words,
                                  uint32_t *next)
{
    __shared__ element of_warp[8], of_tiles;
    __shared__ uint32_t shared_tile;
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) shared_tile = atomicAdd(next, 1u);
    __syncthreads(); /* the tile's number is there */
    const uint64_t tile = shared_tile, first = tile * 2048 + warp * 256 + lane;
    element x[8], sum = 0, all = 0, before = 0;
    for (int k = 0; k < 8; k++) x[k] = first + 32 * k < n ? in[first + 32 * k] : (element)0;
    for (int k = 0; k < 8; k++) { /* a warp has 8 rows of 32, one after the other */
        for (unsigned s = 1; s < 32; s *= 2) {
            element left = __shfl_up_sync(ALL_LANES, x[k], s);
            if (lane >= s) x[k] += left;
        }
        element left = __shfl_up_sync(ALL_LANES, x[k], 1), row = __shfl_sync(ALL_LANES, x[k], 31);
        x[k] = sum + (lane > 0 ? left : (element)0);
        sum += row;
    }
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads(); /* the sums of all warps are there */
    for (unsigned w = 0; w < 8; w++) {
        if (w < warp) before += of_warp[w];
        all += of_warp[w];
    }
    if (warp == 0) {
        if (t == 0) scan_5_say(words + tile, tile ? scan_5_own : scan_5_all, all);
        element sum_before = scan_5_look(words, tile);
        if (t == 0 && tile) scan_5_say(words + tile, scan_5_all, sum_before + all);
        if (t == 0) of_tiles = sum_before;
    }
    __syncthreads(); /* what lies before the tile is there */
    for (int k = 0; k < 8; k++)
        if (first + 32 * k < n) out[first + 32 * k] = of_tiles + (before + x[k]);
}
