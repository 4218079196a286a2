/*
 * cpu/sort_block.c - stable sort of a block of keys, with values of any size, in the cache.
 *
 *     key      x(key)                 packed: one integer each           sorted, and gathered
 *     3.5      ..1010..1101   ->      top bits that differ | position -> values[position], ...
 *
 * The position in the lower bits makes any sort of the integers a stable one, and the bits of the key
 * that did not fit only matter among equal integers, which are rare: those runs are sorted again by the
 * next bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <string.h>

struct block {
    const struct echi_sort_job *job;
    const char *keys;
    uint64_t *packed, *work;
    int index_bits;
};

/* x(key of element i); one call for a run's element, so not worth a kernel of its own. */
static uint64_t window_of(const struct block *b, size_t i)
{
    uint64_t x[1] = { 0 };
    size_t bytes = b->job->key_bytes;
    b->job->width->encode(&b->job->window, b->keys + i * bytes, x, 1);
    uint8_t x1;
    uint16_t x2;
    uint32_t x4;
    if (bytes == 8) return x[0];
    if (bytes == 4) return memcpy(&x4, x, 4), x4;
    if (bytes == 2) return memcpy(&x2, x, 2), x2;
    return memcpy(&x1, x, 1), x1;
}

/* Sorts runs of packed integers that agree above the index by the low bits of their keys. */
static void resolve_ties(const struct block *b, size_t n, int low)
{
    uint64_t index_mask = ((uint64_t)1 << b->index_bits) - 1;
    int take = (int)echi_min((size_t)low, (size_t)(64 - b->index_bits));
    int drop = low - take;
    uint64_t keep = ~(uint64_t)0 >> (64 - low);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t top = b->packed[i] >> b->index_bits;
        for (end = i + 1; end < n && b->packed[end] >> b->index_bits == top;) end++;
        if (end - i == 1) continue;
        for (size_t j = i; j < end; j++) {
            uint64_t index = b->packed[j] & index_mask;
            b->packed[j] = (window_of(b, index) & keep) >> drop << b->index_bits | index;
        }
        struct block run = *b;
        run.packed += i;
        b->job->isa->widths[3]->sort(run.packed, b->work, end - i, false, b->index_bits,
                                     b->index_bits + take);
        if (drop) resolve_ties(&run, end - i, drop);
    }
}

#define GATHER(bytes)                                                                              \
    if (size == bytes) {                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            memcpy(to + i * bytes, from + (packed[i] & index_mask) * bytes, bytes);                \
        return;                                                                                    \
    }

void echi_gather(const char *from, size_t size, const uint64_t *packed, uint64_t index_mask,
                 size_t n, char *to)
{
    GATHER(4)
    GATHER(8)
    GATHER(1)
    GATHER(2)
    GATHER(16)
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * size, from + (packed[i] & index_mask) * size, size);
}

#undef GATHER

/* Positions are not in memory yet when the block is the whole sort. */
static void write_positions(const uint64_t *packed, uint64_t index_mask, size_t n, size_t bytes,
                            char *to)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t index = packed[i] & index_mask;
        uint32_t narrow = (uint32_t)index;
        if (bytes == 4) memcpy(to + 4 * i, &narrow, 4);
        else memcpy(to + 8 * i, &index, 8);
    }
}

void echi_sort_block(const struct echi_sort_job *job, struct echi_side from, size_t offset,
                     size_t n, void *scratch)
{
    struct block b = { .job = job, .packed = scratch, .work = (uint64_t *)scratch + n };
    size_t key_bytes = job->key_bytes, value_bytes = job->value_bytes;
    b.keys = from.keys + offset * key_bytes;
    b.index_bits = echi_bit_length(n - 1);
    uint64_t index_mask = ((uint64_t)1 << b.index_bits) - 1;
    uint64_t differ = job->width->differ(&job->window, b.keys, n);
    int bits = echi_bit_length(differ);
    int take = (int)echi_min((size_t)bits, (size_t)echi_min((size_t)job->isa->window_bits,
                                                            (size_t)(64 - b.index_bits)));
    uint64_t keep = bits ? ~(uint64_t)0 >> (64 - bits) : 0;
    job->width->pack(&job->window, b.keys, n, keep, bits - take, b.index_bits, b.packed);
    if (bits) {
        job->isa->widths[3]->sort(b.packed, b.work, n, false, b.index_bits, b.index_bits + take);
        if (bits > take) resolve_ties(&b, n, bits - take);
    }
    if (job->keep_keys)
        echi_gather(b.keys, key_bytes, b.packed, index_mask, n, job->out.keys + offset * key_bytes);
    char *values = job->out.values + offset * value_bytes;
    if (value_bytes && from.values)
        echi_gather(from.values + offset * value_bytes, value_bytes, b.packed, index_mask, n, values);
    else if (value_bytes)
        write_positions(b.packed, index_mask, n, value_bytes, values);
}
