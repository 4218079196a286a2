/*
 * reduce/cuda/items.h - the items that blocks reduce, host code: how many at most, and of how many
 * chunks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_ITEMS_H
#define ECHI_REDUCE_CUDA_ITEMS_H

#include "reduce/reduce.h"
#include "reduce/cuda/common.h"

enum {
    ITEM_COST = 6,    /* time to combine an item's values, in chunks */
    ROW_ITEMS = 2048, /* of one row, unless they would exceed REDUCE_MOST_CHUNKS */
    /* Per multiprocessor: */
    BLOCKS_AT_ONCE = 3, /* minimum before small items grow */
    BLOCKS_RESIDENT = 4,
    BLOCKS_RESIDENT_F16 = 2 /* of variances of 16-bit floats */
};

static uint64_t chunks_of(const struct echi_reduce *r, uint64_t n)
{
    uint64_t chunk = ECHI_CHUNK_BYTES / r->rule.bytes;
    return n / chunk + (n % chunk != 0);
}

/* The maximum number of items of any rows or segments with n elements, which have this many chunks.
 * Items of one warp are used only for fewer than 512 chunks, otherwise items of eight warps.  A
 * listed segment has an item per REDUCE_ITEM_CHUNKS chunks.  It has at least 33 chunks; or more
 * than two if there are at most 8,192 segments, and then there are at most chunks / 2 items, and at
 * most 8192 + chunks / 32.  The smaller of both is below chunks / 3 + 3072. */
static uint64_t most_items(uint64_t chunks)
{
    uint64_t some = chunks / 3 + 3072;
    return chunks < 2 ? 0 : 2 * chunks < some ? 2 * chunks : some;
}

/* The same for one row, so few that the workspace is small: echi_cuda_scratch(). */
static uint64_t most_row_items(uint64_t chunks)
{
    const uint64_t some = chunks / REDUCE_MOST_CHUNKS + 1 + ROW_ITEMS;
    return chunks < some ? chunks : some;
}

/* The time of all items relative to that of a chunk, if each block has one. */
static uint64_t time_of_items(uint64_t items, uint64_t item, uint64_t resident)
{
    return (items + resident - 1) / resident * (item + ITEM_COST);
}

/* The number of blocks of a request that are resident together. */
static uint64_t resident_blocks(const struct echi_reduce *r, uint64_t multiprocessors)
{
    const bool few =
        r->kind == ECHI_REDUCE_VARIANCE && r->rule.bytes == 2 && echi_dtype_is_float(r->dtype);
    return (few ? BLOCKS_RESIDENT_F16 : BLOCKS_RESIDENT) * multiprocessors;
}

/* The chunks of an item, at least `item`: so many that the blocks are resident together, or so few
 * that the last blocks take little time.  Variances of small arrays are slow if a few blocks run
 * after the others; for other kinds, more blocks are faster. */
static uint32_t chunks_of_item(const struct echi_reduce *r, uint64_t row, uint32_t item,
                               uint64_t multiprocessors)
{
    const uint64_t rows = r->rows, resident = resident_blocks(r, multiprocessors);
    const bool by_time = r->kind == ECHI_REDUCE_VARIANCE;
    while (!by_time && item < REDUCE_ITEM_CHUNKS && item < row &&
           (row / item / 2 + 1) * rows >= BLOCKS_AT_ONCE * multiprocessors)
        item *= 2;
    if (!by_time && item < REDUCE_ITEM_CHUNKS) return item;
    uint64_t best = time_of_items((row + item - 1) / item * rows, item, resident);
    for (uint32_t next = 2 * item; next <= REDUCE_MOST_CHUNKS && next / 2 < row; next *= 2) {
        const uint64_t items = (row + next - 1) / next * rows;
        const uint64_t time = time_of_items(items, next, resident);
        if ((next > REDUCE_ITEM_CHUNKS && 8 * items < 7 * resident) || time >= best) continue;
        best = time;
        item = next;
    }
    return item;
}

#endif
