/*
 * sort_part_divide.c - moves the records of a rank that are for the same rank of a distributed sort
 * together, in their order.
 *
 *     block   a c b a b c ...     a span for each thread, and more
 *             0 2 1 0 1 2         count(): the rank of each record, and the bytes for each rank
 *             a a ... b b ... c c copy()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "sort_distributed.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, SPANS = 4, LEAST = 1 << 16 };

/* Consecutive records. */
struct span {
    uint64_t begin, end; /* in bytes */
    uint16_t *ranks;     /* [n] of each record */
    size_t n, room;
    uint64_t *offsets; /* [ranks] the bytes for each rank; then where they go */
    bool failed;       /* out of memory */
};

struct divide {
    const struct part *p;
    const struct block *block;
    const struct part_cut *cuts;
    struct span *spans;
    int n;
    unsigned char *out;
};

/* The rank that receives a record. */
static int rank_of(const struct divide *d, uint64_t at, size_t bytes, uint64_t prefix)
{
    const struct part_cut *cuts = d->cuts;
    int low = 0, high = d->p->ranks - 1;
    while (low < high) { /* the first cut with this prefix or a higher one */
        const int middle = low + (high - low) / 2;
        if (cuts[middle].prefix < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < d->p->ranks - 1 && cuts[low].prefix == prefix &&
           !part_is_below(d->p, d->block->at + at, bytes, at, &cuts[low]))
        low++;
    return low;
}

static bool reserve(struct span *s)
{
    if (s->n + BATCH <= s->room) return true;
    const size_t room = 2 * s->room + BATCH;
    uint16_t *more = realloc(s->ranks, room * sizeof *more);
    if (!more) return false;
    s->ranks = more;
    s->room = room;
    return true;
}

static void count(void *user, int i)
{
    const struct divide *d = user;
    struct span *s = &d->spans[i];
    uint32_t lengths[BATCH];
    uint64_t prefixes[BATCH];
    for (uint64_t at = s->begin; at < s->end && !s->failed;) {
        const size_t n =
            part_scan(d->p, d->block->at + at, (size_t)(s->end - at), BATCH, lengths, prefixes);
        s->failed = !reserve(s) || n == 0;
        for (size_t k = 0; k < n && !s->failed; k++) {
            const int rank = rank_of(d, at, lengths[k], prefixes[k]);
            s->ranks[s->n++] = (uint16_t)rank;
            s->offsets[rank] += lengths[k];
            at += lengths[k];
        }
    }
}

static void copy(void *user, int i)
{
    const struct divide *d = user;
    struct span *s = &d->spans[i];
    uint32_t lengths[BATCH];
    size_t done = 0;
    for (uint64_t at = s->begin; at < s->end;) {
        const size_t n =
            part_scan(d->p, d->block->at + at, (size_t)(s->end - at), BATCH, lengths, NULL);
        for (size_t k = 0; k < n; k++) {
            uint64_t *to = &s->offsets[s->ranks[done++]];
            memcpy(d->out + *to, d->block->at + at, lengths[k]);
            *to += lengths[k];
            at += lengths[k];
        }
    }
}

/* Finds the spans, each of whole records. */
static bool find_spans(struct divide *d, int most)
{
    const uint64_t bytes = d->block->bytes;
    const size_t ranks = (size_t)d->p->ranks;
    uint64_t at = 0;
    d->spans = calloc((size_t)most, sizeof *d->spans);
    for (int i = 0; d->spans && i < most && at < bytes; i++) {
        struct span *s = &d->spans[d->n++];
        const uint64_t place = bytes / (uint64_t)most * (uint64_t)(i + 1);
        s->begin = at;
        s->end = i == most - 1 ? bytes : part_record_at(d->p, d->block, at, place);
        at = s->end;
        s->offsets = calloc(ranks, sizeof *s->offsets);
        if (!s->offsets) return false;
    }
    return d->spans;
}

/* Replaces the bytes for each rank by where they go. */
static void place_spans(struct divide *d, uint64_t *begins)
{
    uint64_t at = 0;
    for (int r = 0; r < d->p->ranks; r++) {
        begins[r] = at;
        for (int i = 0; i < d->n; i++) {
            const uint64_t bytes = d->spans[i].offsets[r];
            d->spans[i].offsets[r] = at;
            at += bytes;
        }
    }
    begins[d->p->ranks] = at;
}

void part_divide(struct part *p, struct block *block, const struct part_cut *cuts, uint64_t *begins)
{
    struct divide d = { .p = p, .block = block, .cuts = cuts };
    const uint64_t wanted = block->bytes / LEAST, threads = SPANS * (uint64_t)p->threads;
    bool good = find_spans(&d, (int)(wanted < threads ? wanted : threads) + 1);
    if (good) io_for_each_by(p->threads, d.n, count, &d);
    for (int i = 0; i < d.n; i++) good = good && !d.spans[i].failed;
    if (!good) part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    if (good) d.out = part_allocate(p, block->bytes + 1);
    if (d.out) {
        place_spans(&d, begins);
        io_for_each_by(p->threads, d.n, copy, &d);
        free(block->at);
        block->at = d.out;
    }
    for (int i = 0; i < d.n; i++) {
        free(d.spans[i].ranks);
        free(d.spans[i].offsets);
    }
    free(d.spans);
}
