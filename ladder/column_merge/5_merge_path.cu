/*
 * 5_merge_path.cu - every thread finds its own part of the result.
 *
 * Idea:   for two sorted runs, binary search finds how many of the first d keys of their merge come
 *         from the first run, without merging: so every thread starts at its own d. Runs are merged
 *         in pairs, first the columns of a block, then the results of the blocks
 * Cost:   log2(columns) rounds with one barrier each instead of n; any n
 * Wastes: keys move once per round, and each thread reads its own range of memory
 * From:   merge path (Odeh, Green, Mwassi, Shmueli, Birk: 2012)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/column_merge/columns.cuh"

/* Writes out[from] ... out[to - 1] of the merge of a and b, whose elements are step apart; equal
 * keys of a come first. */
template <typename count>
static __device__ inline void column_merge_5_piece(const uint32_t *a, count a_count,
                                                   const uint32_t *b, count b_count, unsigned step,
                                                   uint32_t *out, count from, count to)
{
    count i = from > b_count ? from - b_count : 0, most = from < a_count ? from : a_count;
    while (i < most) { /* whether a[middle] is among the first `from` of the merge */
        count middle = (i + most) / 2;
        if (a[middle * step] <= b[(from - 1 - middle) * step])
            i = middle + 1;
        else
            most = middle;
    }
    for (count k = from, j = from - i; k < to; k++) {
        bool from_a = i < a_count && (j >= b_count || a[i * step] <= b[j * step]);
        out[k] = from_a ? a[i++ * step] : b[j++ * step];
    }
}

/* Sorts 4096 keys per block: columns, then rounds that merge adjacent runs of `width` columns. */
extern "C" __global__ void column_merge_5_block(const uint32_t *in, uint64_t n, uint32_t *out,
                                                unsigned columns)
{
    uint64_t first = (uint64_t)blockIdx.x * 4096;
    unsigned count = n - first < 4096 ? (unsigned)(n - first) : 4096;
    unsigned rows = count / columns, longer = count % columns; /* columns with one more key */
    unsigned each = (count + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each;
    unsigned end = begin + each < count ? begin + each : count;
    uint32_t *x = (uint32_t *)shared_bytes, *y = x + count;
    load_columns(in + first, count, columns, x, y);
    for (unsigned width = 1; width == 1 || width < columns; width *= 2) {
        uint32_t *to = 2 * width >= columns ? out + first : y;
        for (unsigned k = begin, stop; k < end; k = stop) {
            /* The column of k if columns were contiguous; its pair of runs. */
            unsigned head = longer * (rows + 1);
            unsigned c = k < head ? k / (rows + 1) : longer + (k - head) / rows;
            unsigned a = c / (2 * width) * (2 * width), b = min(a + width, columns);
            unsigned over = min(b + width, columns);
            unsigned at = a * rows + min(a, longer), middle = b * rows + min(b, longer);
            over = over * rows + min(over, longer);
            stop = min(over, end);
            column_merge_5_piece(x + (width == 1 ? a : at), middle - at,
                                 x + (width == 1 ? b : middle), over - middle,
                                 width == 1 ? columns : 1, to + at, k - at, stop - at);
        }
        __syncthreads(); /* the runs of this round are written */
        y = x;
        x = to;
    }
}

/* Merges adjacent runs of `run` keys, 8 keys per thread. */
extern "C" __global__ void column_merge_5(const uint32_t *in, uint64_t n, uint32_t *out,
                                          uint64_t run)
{
    uint64_t k = global_thread() * 8, at = k / (2 * run) * (2 * run);
    if (k >= n) return;
    uint64_t middle = n - at < run ? n : at + run, over = n - middle < run ? n : middle + run;
    uint64_t stop = k + 8 < over ? k + 8 : over;
    column_merge_5_piece(in + at, middle - at, in + middle, over - middle, 1, out + at, k - at,
                         stop - at);
}
