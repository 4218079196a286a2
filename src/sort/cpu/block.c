/*
 * sort/cpu/block.c - stable sort of a block of keys, with values of any size, in the cache.
 *
 *     key      x(key)                 packed: one integer each           sorted, and gathered
 *     3.5      ..1010..1101   ->      top bits that differ | position -> values[position], ...
 *
 * The position in the lower bits makes any sort of the integers stable.  Narrow: 32 bits per
 * integer; few keys agree in all bits that fit, unless the block is unusual, and each of these is
 * moved to its place among them afterwards.  Wide: 64 bits, for unusual blocks; runs of equal
 * integers are packed and sorted again by their next bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    MIN_NARROW_BITS = 14, /* with fewer bits there would be too many ties */
    SAMPLE = 256,         /* packed integers that predict the number of ties ... */
    SAMPLED_KEYS = 1024,  /* ... of more keys than this; a quarter as many ... */
    FEWER_KEYS = 512      /* ... of more than this */
};

struct block {
    const struct echi_sort_job *job;
    const char *keys;
    uint64_t *packed, *work;
    int index_bits;
};

/* Whether the keys of a run of packed integers have the same bits: they are in order already. */
static bool same_keys(const struct block *b, const uint64_t *run, size_t n)
{
    const size_t bytes = b->job->key_bytes;
    const uint64_t mask = ((uint64_t)1 << b->index_bits) - 1;
    const char *first = b->keys + (size_t)(run[0] & mask) * bytes;
    for (size_t i = 1; i < n; i++) {
        const char *own = b->keys + (size_t)(run[i] & mask) * bytes;
        if (bytes == 8 ? memcmp(own, first, 8) != 0 : memcmp(own, first, bytes) != 0) return false;
    }
    return true;
}

/* Sorts runs of packed integers that agree above the index, by the low bits of their keys. */
static void resolve_ties(const struct block *b, size_t n, int low)
{
    int take = (int)echi_min((size_t)low, (size_t)(64 - b->index_bits));
    int drop = low - take;
    uint64_t keep = ~(uint64_t)0 >> (64 - low);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t top = b->packed[i] >> b->index_bits;
        for (end = i + 1; end < n && b->packed[end] >> b->index_bits == top;) end++;
        if (end - i == 1 || same_keys(b, b->packed + i, end - i)) continue;
        b->job->width->pack_again(&b->job->window, b->keys, end - i, keep, drop, b->index_bits,
                                  b->packed + i);
        struct block run = *b;
        run.packed += i;
        b->job->isa->widths[3]->sort(run.packed, b->work, end - i, false, b->index_bits,
                                     b->index_bits + take);
        if (drop) resolve_ties(&run, end - i, drop);
    }
}

#define GATHER(bytes)                                                                              \
    if (size == bytes) {                                                                           \
        for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + index[i] * bytes, bytes);     \
        return;                                                                                    \
    }

/* to[i] = from[index[i]] for elements of `size` bytes. */
static void gather(const char *from, size_t size, const uint32_t *index, size_t n, char *to)
{
    GATHER((size_t)4)
    GATHER((size_t)8)
    GATHER((size_t)1)
    GATHER((size_t)2)
    GATHER((size_t)16)
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + index[i] * size, size);
}

#undef GATHER

/* If the block is the whole sort, the positions are not in memory yet. */
static void write_positions(const uint32_t *index, size_t n, size_t bytes, char *to)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t wide = index[i];
        if (bytes == 4)
            memcpy(to + 4 * i, &index[i], 4);
        else
            memcpy(to + 8 * i, &wide, 8);
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Whether about every second integer will agree with another one above the index: in a sample of s
 * of n random integers, n / s as few times as many agree. */
static bool many_ties(const struct block *b, size_t n, const uint32_t *packed)
{
    uint32_t sample[SAMPLE], work[SAMPLE];
    const size_t count = n > SAMPLED_KEYS ? SAMPLE : SAMPLE / 4;
    size_t ties = 0;
    if (n <= FEWER_KEYS) return false;
    for (size_t i = 0; i < count; i++) sample[i] = packed[i * (n / count)];
    b->job->isa->widths[2]->sort(sample, work, count, false, 0, 32);
    for (size_t i = 1; i < count; i++) ties += (sample[i] ^ sample[i - 1]) >> b->index_bits == 0;
    return 2 * ties * n > count * count;
}

/* Keys differ in bits from `low` to `bits` - 1. */
static bool order_narrow(const struct block *b, size_t n, int low, int bits, uint32_t *packed)
{
    const struct echi_sort_job *job = b->job;
    const int take = least(bits - low, 32 - b->index_bits);
    const bool all = take == bits - low;
    uint64_t keep = bits ? ~(uint64_t)0 >> (64 - bits) : 0;
    if (!all && take < MIN_NARROW_BITS) return false;
    job->width->pack_narrow(&job->window, b->keys, n, keep, bits - take, b->index_bits, packed);
    if (!all && many_ties(b, n, packed)) return false;
    job->isa->widths[2]->sort(packed, packed + n, n, false, b->index_bits, b->index_bits + take);
    if (!all && !job->width->fix_ties(&job->window, b->keys, packed, n, b->index_bits))
        return false;
    uint32_t mask = ((uint32_t)1 << b->index_bits) - 1;
    for (size_t i = 0; i < n; i++) packed[i] &= mask;
    return true;
}

static void order_wide(struct block *b, size_t n, int low, int bits, uint32_t *index)
{
    const struct echi_sort_job *job = b->job;
    const int take = least(bits - low, least(job->isa->window_bits, 64 - b->index_bits));
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): 0 bits are not wide */
    uint64_t keep = ~(uint64_t)0 >> (64 - bits);
    job->width->pack(&job->window, b->keys, n, keep, bits - take, b->index_bits, b->packed);
    job->isa->widths[3]->sort(b->packed, b->work, n, false, b->index_bits, b->index_bits + take);
    if (bits - low > take) resolve_ties(b, n, bits - take);
    uint64_t mask = ((uint64_t)1 << b->index_bits) - 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t position = (uint32_t)(b->packed[i] & mask);
        memcpy(&index[i], &position, sizeof position);
    }
}

void echi_sort_block(const struct echi_sort_job *job, struct echi_sort_arrays from, size_t offset,
                     size_t n, void *scratch)
{
    size_t key_bytes = job->key_bytes, value_bytes = job->value_bytes;
    char *values = job->out.values + offset * value_bytes;
    if (n <= ECHI_PACKED_KEYS && job->width->sort_packed) {
        job->width->sort_packed(&job->window, from.keys + offset * key_bytes,
                                from.values ? from.values + offset * value_bytes : NULL, n,
                                value_bytes,
                                job->keep_keys ? job->out.keys + offset * key_bytes : NULL, values);
        return;
    }
    const struct echi_sort_arrays own = { from.keys + offset * key_bytes,
                                          from.values ? from.values + offset * value_bytes : NULL };
    if (echi_sort_few(job, &own, offset, n, scratch)) return;
    if (echi_sort_values(job, &own, offset, n)) return;
    struct block b = { .job = job, .packed = scratch, .work = (uint64_t *)scratch + n };
    b.keys = from.keys + offset * key_bytes;
    b.index_bits = echi_bit_length(n - 1);
    int low = 0, bits = 8 * (int)key_bytes;
    if (!job->isa->vectors || bits + b.index_bits > 32) {
        const uint64_t differ = job->width->differ(&job->window, b.keys, n);
        bits = echi_bit_length(differ);
        low = differ ? __builtin_ctzll(differ) : 0;
    }
    uint32_t *index = scratch;
    if (!order_narrow(&b, n, low, bits, index)) {
        index = (uint32_t *)b.work;
        order_wide(&b, n, low, bits, index);
    }
    if (job->keep_keys) gather(b.keys, key_bytes, index, n, job->out.keys + offset * key_bytes);
    if (value_bytes && from.values)
        gather(from.values + offset * value_bytes, value_bytes, index, n, values);
    else if (value_bytes)
        write_positions(index, n, value_bytes, values);
}
