/*
 * sort/cuda/block.c - strategy "block": one launch of one block, in shared memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

#include <stdio.h>

/* Fewer keys are sorted digit by digit in the same time. */
static bool by_words(const struct echi_sort *s)
{
    return echi_sort_as_words(s) && s->n >= SORT_WORDS_MIN;
}

/* The third kernel is for keys that are not ranked by bins. */
static bool can_block(const struct echi_sort *s)
{
    enum sort_end end;
    int payload = echi_sort_payload(s, &end);
    if (by_words(s)) return s->n <= SORT_BLOCK_LARGE_THREADS * SORT_WORDS_ITEMS;
    if (SORT_BY_BINS(s->key_bytes, payload))
        return s->n <= SORT_BLOCK_MEDIUM_THREADS * SORT_BLOCK_MEDIUM_ITEMS;
    return s->n <= SORT_BLOCK_LARGE_THREADS * echi_sort_passes_tuning(s->key_bytes, payload)->large;
}

/* A block that sorts words. */
static void size_words(const struct echi_sort *s, struct sort_plan *plan)
{
    const bool large = s->n > SORT_BLOCK_MEDIUM_THREADS * SORT_BLOCK_MEDIUM_ITEMS;
    snprintf(plan->module, sizeof plan->module, "sort_words_k32");
    plan->block = large ? (struct block_plan){ "sort_words_large", SORT_BLOCK_LARGE_THREADS,
                                               SORT_WORDS_SHARED_BYTES(SORT_BLOCK_LARGE_THREADS,
                                                                       SORT_WORDS_ITEMS) }
                        : (struct block_plan){ "sort_words_medium", SORT_BLOCK_MEDIUM_THREADS,
                                               SORT_WORDS_SHARED_BYTES(SORT_BLOCK_MEDIUM_THREADS,
                                                                       SORT_BLOCK_MEDIUM_ITEMS) };
}

/* The smallest block that holds the array. */
static ech_status size_block(const struct echi_sort *s, struct sort_plan *plan)
{
    if (by_words(s)) {
        size_words(s, plan);
        return ECH_OK;
    }
    const int payload = plan->payload_bytes;
    const struct {
        const char *name;
        unsigned threads, items;
    } blocks[] = {
        { "sort_block_small", SORT_BLOCK_SMALL_THREADS, SORT_BLOCK_SMALL_ITEMS },
        { "sort_block_medium", SORT_BLOCK_MEDIUM_THREADS, SORT_BLOCK_MEDIUM_ITEMS },
        { "sort_block_large", SORT_BLOCK_LARGE_THREADS,
          echi_sort_passes_tuning(s->key_bytes, payload)->large },
    };
    unsigned key_bytes = (unsigned)s->key_bytes, origin_bytes = payload ? 2 : 0;
    int b = 0;
    while (b < 2 && s->n > blocks[b].threads * blocks[b].items) b++;
    unsigned threads = blocks[b].threads, items = blocks[b].items;
    plan->block =
        (struct block_plan){ blocks[b].name, threads,
                             SORT_BLOCK_SHARED_BYTES(threads, items, key_bytes, origin_bytes) };
    unsigned bins = SORT_BINS_SHARED_BYTES(threads, items, key_bytes, origin_bytes);
    if (SORT_BY_BINS(key_bytes, payload) && bins > plan->block.shared_bytes)
        plan->block.shared_bytes = bins;
    if (SORT_BY_VALUES(key_bytes, payload) && plan->block.shared_bytes < SORT_VALUES_BYTES)
        plan->block.shared_bytes = SORT_VALUES_BYTES;
    if (SORT_BY_BYTES(key_bytes, payload) &&
        plan->block.shared_bytes < SORT_BYTES_BYTES(threads * items))
        plan->block.shared_bytes = SORT_BYTES_BYTES(threads * items);
    return ECH_OK;
}

static ech_status steps_of_block(const struct sort_build *b)
{
    const struct block_plan *p = &b->plan->block;
    if (by_words(b->sort)) b->args->sample.words = echi_sort_words(b->sort, b->plan);
    echi_sort_launch(b, ECHI_MOVE, ECHI_LAUNCH_PDL, p->kernel, 1, p->threads, p->shared_bytes, -1,
                     NULL);
    return ECH_OK;
}

const struct sort_strategy echi_sort_by_block = {
    .name = "block",
    .what = "one launch of one block, in shared memory",
    .when = "the array fits in one block: up to 4,096 elements, fewer with wide values",
    .family = "sort",
    .can = can_block,
    .best = echi_sort_any,
    .size = size_block,
    .steps = steps_of_block,
};
