/*
 * 5_look_back.cu - a single pass with decoupled look-back.
 *
 * Idea:   a block scans its tile by shuffles and publishes its aggregate; then one warp reads the
 *         status of the 32 preceding tiles: their aggregate or their inclusive prefix. At the
 *         nearest inclusive prefix the look-back ends, and this tile publishes its own inclusive
 *         prefix
 * Cost:   2n words moved, one launch; tiles are assigned in the order in which blocks begin, so a
 *         tile only waits for tiles of running blocks
 * Wastes: waiting blocks; and floats are added in an order that depends on timing, so the last bits
 *         of two runs may differ (production's do not)
 * From:   Merrill and Garland (2016); our addition
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The state of a status descriptor: aggregate, or inclusive prefix. */
enum { scan_5_own = 1, scan_5_all = 2 };

union scan_5_bits {
    element x;
    uint32_t bits;
};

/* Publishes x and its state by one store, so no thread can read half of it. */
static __device__ inline void scan_5_say(volatile uint64_t *word, uint64_t what, element x)
{
    union scan_5_bits b;
    b.x = x;
    *word = what << 32 | b.bits;
}

/* The exclusive prefix of the tile, computed by a warp. */
static __device__ inline element scan_5_look(const volatile uint64_t *words, uint64_t tile)
{
    const unsigned lane = threadIdx.x;
    element before = 0;
    for (uint64_t end = tile; end > 0; end = end > 32 ? end - 32 : 0) {
        uint64_t word = (uint64_t)scan_5_all << 32; /* lanes before the first tile: prefix 0 */
        if (lane < end) do
                word = words[end - 1 - lane];
            while (word == 0);
        unsigned all = __ballot_sync(ALL_LANES, word >> 32 == scan_5_all);
        unsigned nearest = (unsigned)__ffs((int)all) - 1; /* if none, larger than any lane */
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
    __syncthreads(); /* the tile number is written */
    const uint64_t tile = shared_tile, first = tile * 2048 + warp * 256 + lane;
    element x[8], sum = 0, all = 0, before = 0;
    for (int k = 0; k < 8; k++) x[k] = first + 32 * k < n ? in[first + 32 * k] : (element)0;
    for (int k = 0; k < 8; k++) { /* a warp scans 8 rows of 32, one after another */
        for (unsigned s = 1; s < 32; s *= 2) {
            element left = __shfl_up_sync(ALL_LANES, x[k], s);
            if (lane >= s) x[k] += left;
        }
        element left = __shfl_up_sync(ALL_LANES, x[k], 1), row = __shfl_sync(ALL_LANES, x[k], 31);
        x[k] = sum + (lane > 0 ? left : (element)0);
        sum += row;
    }
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads(); /* the sums of all warps are written */
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
    __syncthreads(); /* the exclusive prefix is written */
    for (int k = 0; k < 8; k++)
        if (first + 32 * k < n) out[first + 32 * k] = of_tiles + (before + x[k]);
}
