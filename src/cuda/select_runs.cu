/*
 * cuda/select_runs.cu - runs by their lengths: the lengths that cross tiles, and decoding.
 *
 *     select_lengths   a run that goes on past its tile has its start where its length belongs; the
 *                      next tile that begins a run makes a length of it
 *     decode_sums      sums of the lengths of all tiles of runs up to each
 *     decode_write     a block takes a share of the outputs, finds the tile of runs that its first
 *                      output lies in, and writes run by run, a tile's at a time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_tile.cuh"

extern "C" __global__ void __launch_bounds__(SELECT_THREADS)
    select_lengths(const __grid_constant__ struct select_args a)
{
    __shared__ uint32_t last;
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; t < a.tiles; t += step) {
        uint64_t before = placed_before(words, t), through = placed_before(words, t + 1);
        if (before && through != before) /* the tile ends a run that began before it */
            a.lengths[before - 1] = t * a.tile_n - a.skew + a.first[t] - a.lengths[before - 1];
        if (t == a.tiles - 1) a.lengths[through - 1] = a.n - a.lengths[through - 1];
    }
    if (a.clear) leave_words(a.words, a.tiles, gridDim.x, &last);
}
