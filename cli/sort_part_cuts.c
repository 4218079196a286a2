/*
 * sort_part_cuts.c - where the sorted records of each rank of a distributed sort are cut, so that
 * each rank receives a nearly equal share.
 *
 *     part_find_cuts()  samples of all ranks -> rank 0: cuts -> all ranks -> where they are
 *
 * A cut is a key with a rank and a place in its sorted records.  Records with this key on lower
 * ranks, and before the place, are below it: so records with equal keys are divided, too, except
 * with --unique.  A long key of a cut is truncated, which moves the cut, but orders all records in
 * the same way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_distributed.h"

#include <stdlib.h>
#include <string.h>

enum {
    CUT_KEY = 232,       /* bytes of a key that a cut has */
    STEP = 16,           /* records between two fences */
    SAMPLES = 32,        /* for each rank, on each rank */
    MOST_SAMPLES = 1024, /* on each rank */
};

struct cut {
    uint64_t bytes, rank, at; /* bytes: of the key */
    unsigned char key[CUT_KEY];
};

/* ---- Keys ---- */

static size_t width_of(const ech_record_key *key)
{
    return key->kind == ECH_KEY_DTYPE ? ech_dtype_bytes(key->dtype) : key->width_bytes;
}

/* Appends a key of a record as bytes in its order. */
static unsigned char *add_key(const ech_record_key *key, const unsigned char *record,
                              unsigned char *to)
{
    const unsigned char *at = record + key->offset_bytes;
    const size_t width = width_of(key);
    const bool number = key->kind == ECH_KEY_DTYPE;
    const struct io_order order = {
        .dtype = key->dtype, .order = key->order, .descending = key->descending != 0, .merged = true
    };
    const uint64_t rank = number ? io_rank(&order, at) : 0;
    for (size_t i = 0; i < width; i++) {
        const size_t back = width - 1 - i;
        if (number) {
            *to++ = (unsigned char)(rank >> (8 * back & 63));
            continue;
        }
        unsigned char byte = at[key->kind == ECH_KEY_BYTES ? i : back];
        if (key->kind == ECH_KEY_SIGNED && i == 0) byte ^= 0x80;
        *to++ = key->descending ? (unsigned char)~byte : byte;
    }
    return to;
}

struct io_order part_order(const struct part *p)
{
    const ech_sort_options *options = &p->numbers.options;
    const int width = options->end_bit - options->begin_bit;
    const bool part = options->end_bit && width < 8 * (int)p->kind->input_bytes;
    return (struct io_order){ .dtype = p->plan.dtype,
                              .order = options->order,
                              .descending = options->descending != 0,
                              .merged = p->set->unique && !part,
                              .begin_bit = options->begin_bit,
                              .end_bit = options->end_bit };
}

/* A number, or that of a record with a position, which is its rank already. */
static size_t number_key(const struct part *p, const unsigned char *record, unsigned char *to)
{
    const size_t bytes = p->kind->input_bytes;
    const struct io_order order = part_order(p);
    const uint64_t rank = p->plan.argsort ? io_load(record, bytes) : io_rank(&order, record);
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(rank >> 8 * (bytes - 1 - i));
    return bytes;
}

size_t part_key(const struct part *p, const unsigned char *record, size_t bytes, unsigned char *to)
{
    unsigned char *end = to;
    if (p->order)
        return lines_full_key(p->order, (const char *)record,
                              lines_body(p->order, (const char *)record, bytes), to, PART_KEY);
    if (!p->plan.key_count) return number_key(p, record, to);
    for (size_t k = 0; k < p->plan.key_count; k++) end = add_key(&p->plan.keys[k], record, end);
    return (size_t)(end - to);
}

/* The order of a record and of the key of a cut. */
static int compare(const struct part *p, const unsigned char *record, size_t bytes,
                   const struct cut *cut)
{
    unsigned char key[PART_KEY];
    const size_t length = part_key(p, record, bytes, key);
    const size_t both = length < cut->bytes ? length : (size_t)cut->bytes;
    const int order = memcmp(key, cut->key, both);
    if (order) return order;
    return (length > cut->bytes) - (length < cut->bytes);
}

/* ---- Fences: where every 16th record begins ---- */

struct fences {
    const struct part *p;
    const struct block *block;
    uint64_t *at; /* [n] of lines; NULL: the records have a fixed size */
    uint64_t n;
};

static size_t length_at(const struct fences *f, uint64_t at)
{
    if (!f->p->order) return f->p->kind->record_bytes;
    return lines_next(f->p->order, (const char *)f->block->at + at, (size_t)(f->block->bytes - at));
}

static uint64_t fence_at(const struct fences *f, uint64_t i)
{
    if (i >= f->n) return f->block->bytes;
    return f->at ? f->at[i] : i * STEP * f->p->kind->record_bytes;
}

static void find_fences(struct part *p, struct fences *f)
{
    const uint64_t most = f->block->records / STEP + 1;
    f->n = (f->block->records + STEP - 1) / STEP;
    if (!p->order || !f->n) return;
    f->at = malloc(most * sizeof *f->at);
    if (!f->at) part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    uint64_t i = 0;
    for (uint64_t at = 0; f->at && at < f->block->bytes; at += length_at(f, at), i++)
        if (i % STEP == 0) f->at[i / STEP] = at;
    f->n = (i + STEP - 1) / STEP; /* --unique has dropped some */
}

/* Where the first record is that is not below the key of a cut, or, if strict, above it. */
static uint64_t bound(const struct fences *f, const struct cut *cut, bool strict)
{
    uint64_t low = 0, high = f->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, at = fence_at(f, middle);
        if (compare(f->p, f->block->at + at, length_at(f, at), cut) < (strict ? 1 : 0))
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t at = low ? fence_at(f, low - 1) : 0;
    const uint64_t end = fence_at(f, low);
    while (at < end && compare(f->p, f->block->at + at, length_at(f, at), cut) < (strict ? 1 : 0))
        at += length_at(f, at);
    return at;
}

static uint64_t begin_of(const struct fences *f, const struct cut *cut)
{
    const uint64_t rank = (uint64_t)f->p->rank, low = bound(f, cut, false);
    if (f->p->set->unique || rank > cut->rank) return low;
    const uint64_t high = bound(f, cut, true);
    if (rank < cut->rank || cut->at > high) return high;
    return cut->at < low ? low : cut->at;
}

/* ---- Samples ---- */

/* Records at equal distances in bytes. */
static struct cut *take_samples(struct part *p, const struct fences *f, size_t *n)
{
    const size_t wanted = SAMPLES * (size_t)p->ranks;
    const size_t count = wanted < MOST_SAMPLES ? wanted : MOST_SAMPLES;
    struct cut *samples = calloc(count, sizeof *samples);
    uint64_t fence = 0;
    *n = 0;
    if (!samples) part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    for (size_t i = 0; samples && i < count && f->n; i++) {
        const double place = ((double)i + 0.5) / (double)count * (double)f->block->bytes;
        unsigned char key[PART_KEY];
        while (fence + 1 < f->n && fence_at(f, fence + 1) <= (uint64_t)place) fence++;
        const uint64_t at = fence_at(f, fence);
        const size_t bytes = part_key(p, f->block->at + at, length_at(f, at), key);
        struct cut *cut = &samples[(*n)++];
        *cut = (struct cut){ bytes < CUT_KEY ? bytes : CUT_KEY, (uint64_t)p->rank, at, { 0 } };
        memcpy(cut->key, key, (size_t)cut->bytes);
    }
    return samples;
}

static int order_of(const void *a, const void *b)
{
    const struct cut *x = *(struct cut *const *)a, *y = *(struct cut *const *)b;
    const int order = memcmp(x->key, y->key, (size_t)(x->bytes < y->bytes ? x->bytes : y->bytes));
    if (order) return order;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Chooses a cut before each rank except the first one; without samples there are no records. */
static void choose(struct part *p, struct cut *samples, size_t n, struct cut *cuts)
{
    struct cut **sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted) {
        part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
        return;
    }
    for (size_t i = 0; i < n; i++) sorted[i] = &samples[i];
    qsort(sorted, n, sizeof *sorted, order_of);
    for (int r = 1; r < p->ranks && n; r++) cuts[r - 1] = *sorted[n * (size_t)r / (size_t)p->ranks];
    free(sorted);
}

/* Gathers the samples on rank 0, and copies its cuts to all ranks. */
static int agree_on_cuts(struct part *p, const struct cut *samples, size_t n, struct cut *cuts)
{
    const ech_topk_options options = { .size = sizeof options, .unsorted = 1 };
    const size_t bytes = (size_t)(p->ranks - 1) * sizeof *cuts;
    ech_dist_layout layout = { .size = sizeof layout };
    int code = part_check_host(p, ech_dist_share(p->comm, n, &layout));
    if (code != EXIT_DONE) return code;
    const size_t all = p->rank == 0 ? (size_t)layout.total : 0;
    struct cut *gathered = calloc(all + 1, sizeof *gathered);
    struct cut *chosen = calloc((size_t)p->ranks, sizeof *chosen);
    if (!gathered || !chosen)
        part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    code = part_agree(p);
    if (code == EXIT_DONE)
        code = part_check_host(
            p, ech_dist_rebalance(p->host, p->comm, samples, gathered, n, all, sizeof *samples));
    if (code == EXIT_DONE) {
        if (p->rank == 0) choose(p, gathered, all, chosen);
        code = part_agree(p);
    }
    if (code == EXIT_DONE) /* the "best" bytes in their order are all bytes */
        code = part_check_host(p, ech_dist_topk(p->host, p->comm, chosen, cuts, NULL,
                                                p->rank == 0 ? bytes : 0, bytes, ECH_U8, ECH_U64,
                                                &options));
    free(gathered);
    free(chosen);
    return code;
}

int part_find_cuts(struct part *p, const struct block *block, uint64_t *begins)
{
    struct fences fences = { p, block, NULL, 0 };
    struct cut *cuts = calloc((size_t)p->ranks, sizeof *cuts), *samples = NULL;
    size_t n = 0;
    if (!cuts) part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    if (p->code == EXIT_DONE) find_fences(p, &fences);
    if (p->code == EXIT_DONE) samples = take_samples(p, &fences, &n);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = agree_on_cuts(p, samples, n, cuts);
    if (code == EXIT_DONE) {
        begins[0] = 0;
        for (int r = 1; r < p->ranks; r++) begins[r] = begin_of(&fences, &cuts[r - 1]);
        begins[p->ranks] = block->bytes;
    }
    free(samples);
    free(cuts);
    free(fences.at);
    return code;
}
