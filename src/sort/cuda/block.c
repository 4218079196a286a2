/*
 * sort/cuda/block.c - the sort in one block on the GPU, host half: which of its kernels, and how
 * much shared memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/block.h"
#include "sort/cuda/onesweep.h"

/* The third kernel is for what is not ranked by bins. */
bool echi_sort_block_fits(const struct echi_sort *s, int moved_bytes)
{
    if (SORT_BY_BINS(s->key_bytes, moved_bytes))
        return s->n <= SORT_BLOCK_MEDIUM_THREADS * SORT_BLOCK_MEDIUM_ITEMS;
    return s->n <=
           SORT_BLOCK_LARGE_THREADS * echi_sort_passes_tuning(s->key_bytes, moved_bytes)->alone;
}

struct block_plan echi_cuda_plan_block(const struct echi_sort *s, int moved_bytes)
{
    const struct {
        const char *name;
        unsigned threads, items;
    } blocks[] = {
        { "sort_block_small", SORT_BLOCK_SMALL_THREADS, SORT_BLOCK_SMALL_ITEMS },
        { "sort_block_medium", SORT_BLOCK_MEDIUM_THREADS, SORT_BLOCK_MEDIUM_ITEMS },
        { "sort_block_large", SORT_BLOCK_LARGE_THREADS,
          echi_sort_passes_tuning(s->key_bytes, moved_bytes)->alone },
    };
    unsigned key_bytes = (unsigned)s->key_bytes, place_bytes = moved_bytes ? 2 : 0;
    int b = 0;
    while (b < 2 && s->n > blocks[b].threads * blocks[b].items) b++;
    unsigned threads = blocks[b].threads, items = blocks[b].items;
    struct block_plan plan = { blocks[b].name, threads,
                               SORT_BLOCK_SHARED_BYTES(threads, items, key_bytes, place_bytes) };
    unsigned bins = SORT_BINS_SHARED_BYTES(threads, items, key_bytes, place_bytes);
    if (SORT_BY_BINS(key_bytes, moved_bytes) && bins > plan.shared_bytes) plan.shared_bytes = bins;
    return plan;
}
