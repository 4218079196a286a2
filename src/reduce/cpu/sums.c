/*
 * reduce/cpu/sums.c - sums of rows and segments of up to ECHI_TREE_CHUNKS chunks: several of them
 * by one call of a kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/cpu/common.h"
#include "core/call.h"
#include "cpu/cpu.h"

enum {
    CACHED_BYTES = 1 << 19 /* arrays of at most so many bytes are in the cache: no prefetches */
};

bool echi_reduce_has_sums(const struct echi_reduce *r, const struct echi_reduce_isa *isa)
{
    return !r->rule.ignore && r->rule.finish != ECHI_FINISH_NORM &&
           isa->segments[r->kind][r->dtype];
}

/* The kernel for segments of up to `most` elements; NULL: there is none. */
static echi_long_segments_function *long_sums(const struct echi_reduce *r,
                                              const struct echi_reduce_isa *isa, size_t most)
{
    if (most > ECHI_TREE_CHUNKS * ECHI_CHUNK_BYTES / r->rule.bytes) return NULL;
    return isa->long_segments[r->kind][r->dtype];
}

void echi_reduce_add_rows(const struct echi_reduce *r, const struct echi_reduce_isa *isa,
                          size_t from, size_t to)
{
    const size_t row_bytes = r->columns * r->rule.bytes;
    uint64_t ends[ECHI_SOME_SEGMENTS + 1], sums[ECHI_SOME_SEGMENTS];
    echi_rows_function *add = isa->rows[r->kind][r->dtype];
    const bool ahead = r->rows * row_bytes > CACHED_BYTES, far = echi_reduce_is_far(r);
    for (size_t s = 0; s <= ECHI_SOME_SEGMENTS; s++) ends[s] = s * r->columns;
    for (size_t row = from, here; row < to; row += here) {
        const char *in = (const char *)r->in + row * row_bytes;
        here = echi_min(ECHI_SOME_SEGMENTS, to - row);
        if (ahead) echi_reduce_prefetch(in, here * row_bytes, far);
        if (r->kind == ECHI_REDUCE_ISUM) {
            add(in, r->columns, here, (uint64_t *)r->out + row);
            continue;
        }
        add(in, r->columns, here, sums);
        echi_reduce_store_sums(r, sums, ends, here, row);
    }
}

bool echi_reduce_add_long_rows(const struct echi_reduce *r, const struct echi_reduce_isa *isa,
                               size_t from, size_t to)
{
    const size_t row_bytes = r->columns * r->rule.bytes;
    uint64_t ends[ECHI_SOME_SEGMENTS + 1], sums[ECHI_SOME_SEGMENTS];
    echi_long_segments_function *add = long_sums(r, isa, r->columns);
    if (!add || !echi_reduce_has_sums(r, isa)) return false;
    for (size_t s = 0; s <= ECHI_SOME_SEGMENTS; s++) ends[s] = s * r->columns;
    for (size_t row = from, here; row < to; row += here) {
        here = echi_min(ECHI_SOME_SEGMENTS, to - row);
        add((const char *)r->in + row * row_bytes, ends, here, echi_reduce_is_far(r), sums);
        echi_reduce_store_sums(r, sums, ends, here, row);
    }
    return true;
}

bool echi_reduce_add_segments(const struct echi_reduce *r, const struct echi_reduce_isa *isa,
                              size_t from, size_t to)
{
    uint64_t ends[ECHI_SOME_SEGMENTS + 1], sums[ECHI_SOME_SEGMENTS], most = 0, invalid = 0;
    const size_t count = to - from;
    const bool far = echi_reduce_is_far(r);
    ends[0] = echi_index_at(r->offsets, r->offsets_index, from);
    for (size_t s = 0; s < count; s++) {
        ends[s + 1] = echi_index_at(r->offsets, r->offsets_index, from + s + 1);
        const uint64_t n = ends[s + 1] - ends[s]; /* if they decrease, a large number */
        most = n > most ? n : most;
        invalid |= ends[s + 1] > r->n;
    }
    if (invalid || ends[0] > r->n) return false;
    if (most <= ECHI_SHORT_SEGMENT) {
        const char *in = (const char *)r->in + ends[0] * r->rule.bytes;
        echi_reduce_prefetch(in, (ends[count] - ends[0]) * r->rule.bytes, far);
        isa->segments[r->kind][r->dtype](r->in, ends, count, most, sums);
    } else {
        echi_long_segments_function *add = long_sums(r, isa, most);
        if (!add) return false;
        add(r->in, ends, count, far, sums);
    }
    echi_reduce_store_sums(r, sums, ends, count, from);
    return true;
}
