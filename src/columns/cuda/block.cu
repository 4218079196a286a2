/*
 * columns/cuda/block.cu - the entire sort of a few rows, or of a few records, in one block.
 *
 *     words    per word of the key, the last one first: a thread forms the words of the rows at its
 *              places
 *     rank     the block ranks (word, place) stably, by bins (sort/cuda/bins.cuh)
 *     rows     the rows change places through shared memory
 *     write    the rows; or the records in their order.  In place, they are first copied to shared
 *              memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/cuda/word.cuh"
#include "sort/cuda/bins.cuh"

/* The rows in their order, and the records of a sort in place; sorting uses the same memory. */
struct block_moves {
    uint16_t row[COLUMNS_BLOCK_MOST];
    unsigned char records[COLUMNS_BLOCK_STAGE];
};

static_assert(sizeof(struct block_moves) == COLUMNS_BLOCK_MOVE_BYTES(COLUMNS_BLOCK_STAGE),
              "the host gives less shared memory than the kernel uses");

/* The rows of a thread: numbers of 16 bits, two per register, because ranking needs the others. */
template <int ITEMS> struct block_rows {
    uint32_t pair[ITEMS / 2];

    __device__ inline uint32_t at(int i) const
    {
        return pair[i / 2] >> i % 2 * 16 & 0xffff;
    }
    __device__ inline void set(const uint32_t (&row)[ITEMS])
    {
#pragma unroll
        for (int i = 0; i < ITEMS; i += 2) pair[i / 2] = row[i] | row[i + 1] << 16;
    }
};

/* The rank of each row of a thread by one word; the threads' rows are in the order of the words
 * below it.  The row at a place is then that of this rank. */
template <int WARPS, int ITEMS>
static __device__ inline void block_word(const struct columns_block_args &a, uint32_t w,
                                         struct block_rows<ITEMS> &own)
{
    typedef struct bins_shared<WARPS, ITEMS> shared;
    static_assert(sizeof(shared) <= COLUMNS_BLOCK_RANK_BYTES(WARPS * 32, ITEMS),
                  "the host gives less shared memory than the kernel uses");
    struct bins_shared<WARPS, ITEMS> &s = *(struct bins_shared<WARPS, ITEMS> *)shared_bytes;
    uint16_t *rows = (uint16_t *)shared_bytes;
    const uint32_t n = (uint32_t)a.n;
    const int items = (int)((n + WARPS * 32 - 1) / (WARPS * 32)); /* items that contain rows */
    struct sort_common common = {};
    struct block_keys<ITEMS> k;
    uint32_t rank[ITEMS], row[ITEMS];
    ukey low = ~(ukey)0, high = 0;
    common.plain = 1;
#pragma unroll
    for (int i = 0; i < ITEMS; i += 2) { /* two at a time, because of their registers */
        const uint32_t two[2] = { own.at(i), own.at(i + 1) };
        uint64_t word[2] = { 0, 0 };
        if (i < items) add_word(a.source, a.part + a.word[w].first, a.word[w], two, word);
        k.key[i] = word[0];
        k.key[i + 1] = word[1];
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        k.origin[i] = bins_mine<WARPS>(i);
        if (bins_mine<WARPS>(i) >= n) continue;
        low = key_min(low, k.key[i]);
        high = key_max(high, k.key[i]);
    }
    bins_range(s, low, high);
    if (low == high) {   /* equal words are in order */
        __syncthreads(); /* all threads have read the range */
        return;
    }
    bins_rank<WARPS, ITEMS, WARPS * 32, true>(common, s, n, threadIdx.x, items, true, low, high, k,
                                              rank);
    uint16_t *ranked = rows + WARPS * 32 * ITEMS;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (bins_mine<WARPS>(i) < n) {
            rows[bins_mine<WARPS>(i)] = (uint16_t)own.at(i);
            ranked[rank[i]] = (uint16_t)k.origin[i];
        }
    __syncthreads(); /* the row and the rank of each place are written */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        row[i] = bins_mine<WARPS>(i) < n ? rows[ranked[bins_mine<WARPS>(i)]] : n - 1;
    own.set(row);
    __syncthreads(); /* and read */
}

/* ---- Records ---- */

/* Writes the records in their new order; `from` has them in the old one.  Adjacent threads copy
 * adjacent words. */
template <typename type>
static __device__ inline void move_records(const struct columns_block_args &a,
                                           const struct block_moves &m, const void *from)
{
    const uint32_t words = a.record_bytes / (uint32_t)sizeof(type), n = (uint32_t)a.n;
    for (uint32_t j = threadIdx.x; j < n * words; j += blockDim.x) {
        const uint32_t record = j / words, part = j - record * words;
        ((type *)a.records_out)[j] = ((const type *)from)[m.row[record] * words + part];
    }
}

template <typename type>
static __device__ inline void stage_records(const struct columns_block_args &a,
                                            struct block_moves &m)
{
    const uint32_t count = (uint32_t)a.n * (a.record_bytes / (uint32_t)sizeof(type));
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x)
        ((type *)m.records)[j] = ((const type *)a.source[0].data)[j];
    __syncthreads(); /* the records may be overwritten */
}

template <typename type>
static __device__ inline void write_records(const struct columns_block_args &a,
                                            struct block_moves &m)
{
    if (a.in_place) stage_records<type>(a, m);
    move_records<type>(a, m, a.in_place ? m.records : a.source[0].data);
}

/* ---- The kernels ---- */

template <int WARPS, int ITEMS>
static __device__ inline void block_sort(const struct columns_block_args &a)
{
    struct block_moves &m = *(struct block_moves *)shared_bytes;
    const uint32_t n = (uint32_t)a.n;
    struct block_rows<ITEMS> own;
    uint32_t row[ITEMS];
    wait_for_earlier();
    /* Rows after the last are copies of it: loads need no conditions. */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) row[i] = min(bins_mine<WARPS>(i), n - 1);
    own.set(row);
    for (uint32_t w = a.words; w-- > 0;) block_word<WARPS, ITEMS>(a, w, own);
    if (!a.record_bytes) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const uint32_t at = bins_mine<WARPS>(i);
            if (at >= n) continue;
            if (a.index_bytes == 4)
                ((uint32_t *)a.indices)[at] = own.at(i);
            else
                ((uint64_t *)a.indices)[at] = own.at(i);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (bins_mine<WARPS>(i) < n) m.row[bins_mine<WARPS>(i)] = (uint16_t)own.at(i);
    __syncthreads(); /* the rows are in shared memory */
    if (a.record_bytes % 16 == 0)
        write_records<uint4>(a, m);
    else if (a.record_bytes % 8 == 0)
        write_records<uint64_t>(a, m);
    else if (a.record_bytes % 4 == 0)
        write_records<uint32_t>(a, m);
    else if (a.record_bytes % 2 == 0)
        write_records<uint16_t>(a, m);
    else
        write_records<uint8_t>(a, m);
}

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_SMALL_THREADS)
    columns_block_small(const __grid_constant__ struct columns_block_args a)
{
    block_sort<SORT_BLOCK_SMALL_THREADS / 32, SORT_BLOCK_SMALL_ITEMS>(a);
}

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_MEDIUM_THREADS)
    columns_block_medium(const __grid_constant__ struct columns_block_args a)
{
    block_sort<SORT_BLOCK_MEDIUM_THREADS / 32, SORT_BLOCK_MEDIUM_ITEMS>(a);
}
