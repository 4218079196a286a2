/*
 * sort_part_cuts.c - the keys between the shares of the ranks of a distributed sort, so that the
 * shares are nearly equal.
 *
 *     part_find_cuts()  samples of all ranks -> rank 0: cuts -> all ranks
 *
 * A cut is a key with a rank and a place in its part.  Records with this key on lower ranks, and
 * before the place, are below it: so records with equal keys are divided, too, except with
 * --unique.  A long key of a cut is truncated, which moves the cut, but orders all records in the
 * same way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_distributed.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 256,       /* for each rank, on each rank */
    MOST_SAMPLES = 1024, /* on each rank */
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
                   const struct part_cut *cut)
{
    unsigned char key[PART_KEY];
    const size_t length = part_key(p, record, bytes, key);
    const size_t both = length < cut->bytes ? length : (size_t)cut->bytes;
    const int order = memcmp(key, cut->key, both);
    if (order) return order;
    return (length > cut->bytes) - (length < cut->bytes);
}

bool part_is_below(const struct part *p, const unsigned char *record, size_t bytes, uint64_t at,
                   const struct part_cut *cut)
{
    const int order = compare(p, record, bytes, cut);
    if (order || p->set->unique) return order < 0;
    return (uint64_t)p->rank < cut->rank || ((uint64_t)p->rank == cut->rank && at < cut->at);
}

/* ---- Prefixes ---- */

/* The first bytes of a key as a number: with --unique, equal numbers may have different bits. */
static uint64_t number_prefix(const struct part *p, const unsigned char *record)
{
    unsigned char key[PART_KEY];
    uint64_t prefix = 0;
    const size_t bytes = number_key(p, record, key);
    for (size_t i = 0; i < bytes; i++) prefix = prefix << 8 | key[i];
    return prefix;
}

size_t part_scan(const struct part *p, const unsigned char *records, size_t bytes, size_t most,
                 uint32_t *lengths, uint64_t *prefixes)
{
    const struct files_kind *kind = p->kind;
    const bool numbers = kind == &p->numbers.kind;
    const size_t n = kind->scan(kind, records, bytes, most, lengths, numbers ? NULL : prefixes);
    for (size_t i = 0; i < n && kind->record_bytes; i++) lengths[i] = (uint32_t)kind->record_bytes;
    for (size_t i = 0; i < n && numbers && prefixes; i++)
        prefixes[i] = number_prefix(p, records + i * kind->record_bytes);
    return n;
}

/* ---- Samples ---- */

uint64_t part_record_at(const struct part *p, const struct block *block, uint64_t from,
                        uint64_t place)
{
    const size_t each = p->kind->record_bytes;
    if (each) return (place + each - 1) / each * each;
    return p->kind->boundary(p->kind, block->at, (size_t)block->bytes, (size_t)from, (size_t)place);
}

/* Records at equal distances in bytes. */
static struct part_cut *take_samples(struct part *p, const struct block *block, size_t *n)
{
    const size_t wanted = SAMPLES * (size_t)p->ranks;
    const size_t count = wanted < MOST_SAMPLES ? wanted : MOST_SAMPLES;
    struct part_cut *samples = calloc(count, sizeof *samples);
    uint64_t at = 0;
    *n = 0;
    if (!samples) part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    for (size_t i = 0; samples && i < count && block->bytes; i++) {
        const double place = ((double)i + 0.5) / (double)count * (double)block->bytes;
        unsigned char key[PART_KEY];
        uint32_t length;
        struct part_cut cut = { .rank = (uint64_t)p->rank };
        at = part_record_at(p, block, at, (uint64_t)place);
        if (at >= block->bytes) break;
        part_scan(p, block->at + at, (size_t)(block->bytes - at), 1, &length, &cut.prefix);
        const size_t bytes = part_key(p, block->at + at, length, key);
        cut.at = at;
        cut.bytes = bytes < PART_CUT_KEY ? bytes : PART_CUT_KEY;
        memcpy(cut.key, key, (size_t)cut.bytes);
        samples[(*n)++] = cut;
    }
    return samples;
}

static int order_of(const void *a, const void *b)
{
    const struct part_cut *x = *(struct part_cut *const *)a, *y = *(struct part_cut *const *)b;
    const int order = memcmp(x->key, y->key, (size_t)(x->bytes < y->bytes ? x->bytes : y->bytes));
    if (order) return order;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Chooses a cut before each rank except the first one; without samples there are no records. */
static void choose(struct part *p, struct part_cut *samples, size_t n, struct part_cut *cuts)
{
    struct part_cut **sorted = malloc((n + 1) * sizeof *sorted);
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
static int agree_on_cuts(struct part *p, const struct part_cut *samples, size_t n,
                         struct part_cut *cuts)
{
    const ech_topk_options options = { .size = sizeof options, .unsorted = 1 };
    const size_t bytes = (size_t)(p->ranks - 1) * sizeof *cuts;
    ech_dist_layout layout = { .size = sizeof layout };
    int code = part_check_host(p, ech_dist_share(p->comm, n, &layout));
    if (code != EXIT_DONE) return code;
    const size_t all = p->rank == 0 ? (size_t)layout.total : 0;
    struct part_cut *gathered = calloc(all + 1, sizeof *gathered);
    struct part_cut *chosen = calloc((size_t)p->ranks, sizeof *chosen);
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

int part_find_cuts(struct part *p, const struct block *block, struct part_cut *cuts)
{
    struct part_cut *samples = NULL;
    size_t n = 0;
    if (p->code == EXIT_DONE) samples = take_samples(p, block, &n);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = agree_on_cuts(p, samples, n, cuts);
    free(samples);
    return code;
}
