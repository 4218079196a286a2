/*
 * table_rank.c - the ranks of strings: numbers with the same order and the same equality.
 *
 *     few distinct strings   a hash table numbers them; only the distinct ones are sorted
 *     many                   all strings are sorted, and adjacent ones are compared
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* Rank or position i of an array of 4 or 8 bytes each. */
static uint64_t get(const void *array, bool wide, uint64_t i)
{
    return wide ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

static void put(void *array, bool wide, uint64_t i, uint64_t value)
{
    if (wide)
        ((uint64_t *)array)[i] = value;
    else
        ((uint32_t *)array)[i] = (uint32_t)value;
}

static bool same_strings(const struct table_column *c, uint64_t a, uint64_t b)
{
    const uint64_t n = c->offsets[a + 1] - c->offsets[a];
    return n == c->offsets[b + 1] - c->offsets[b] &&
           memcmp(c->bytes + c->offsets[a], c->bytes + c->offsets[b], (size_t)n) == 0;
}

/* ---- Few distinct strings ---- */

enum { FIRST_SLOTS = 1 << 10, MOST_DISTINCT = 1 << 20, MOST_STEPS = 64 };

/* The distinct strings so far; code k is the string of row rows[k]. */
struct dictionary {
    uint32_t *slots; /* [slot_count] code + 1; 0: empty */
    uint64_t *rows;  /* [slot_count / 2] */
    uint64_t slot_count, count;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static uint64_t hash(const char *at, uint64_t n)
{
    uint64_t h = n, word = 0;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = mix(h ^ word) * 0x9e3779b97f4a7c15u;
    }
    word = 0;
    memcpy(&word, at, (size_t)n);
    return mix(h ^ word);
}

/* The slot of a string: empty, or with its code.  Returns slot_count after too many collisions. */
static uint64_t find_slot(const struct table_column *c, const struct dictionary *d, uint64_t row)
{
    const uint64_t mask = d->slot_count - 1;
    uint64_t slot = hash(c->bytes + c->offsets[row], c->offsets[row + 1] - c->offsets[row]) & mask;
    for (int step = 0; step < MOST_STEPS; step++, slot = (slot + 1) & mask)
        if (!d->slots[slot] || same_strings(c, d->rows[d->slots[slot] - 1], row)) return slot;
    return d->slot_count;
}

/* Doubles the number of slots. */
static bool grow(const struct table_column *c, struct dictionary *d)
{
    const uint64_t slots = d->slot_count ? 2 * d->slot_count : FIRST_SLOTS;
    uint64_t *rows = realloc(d->rows, (size_t)slots / 2 * sizeof *rows);
    if (rows) d->rows = rows;
    free(d->slots);
    d->slots = calloc((size_t)slots, sizeof *d->slots);
    d->slot_count = slots;
    if (!rows || !d->slots) return false;
    for (uint64_t k = 0; k < d->count; k++) {
        const uint64_t slot = find_slot(c, d, d->rows[k]);
        if (slot == slots) return false;
        d->slots[slot] = (uint32_t)(k + 1);
    }
    return true;
}

/* Writes the code of each string to keys.  Returns false if there are too many distinct strings,
 * or too many collisions. */
static bool number_strings(struct table_column *c, uint64_t n, bool wide, struct dictionary *d)
{
    for (uint64_t i = 0; i < n; i++) {
        if (2 * d->count == d->slot_count && !grow(c, d)) return false;
        const uint64_t slot = find_slot(c, d, i);
        if (slot == d->slot_count) return false;
        if (!d->slots[slot]) {
            if (d->count > 4096 + i / 8 || d->count == MOST_DISTINCT) return false;
            d->rows[d->count++] = i;
            d->slots[slot] = (uint32_t)d->count;
        }
        put(c->keys, wide, i, d->slots[slot] - 1);
    }
    return true;
}

/* Sorts the distinct strings, and replaces the codes by ranks. */
static int rank_codes(struct job *job, struct table_column *c, uint64_t n, bool wide,
                      const struct dictionary *d)
{
    const size_t count = (size_t)d->count;
    uint64_t used = 0;
    for (size_t k = 0; k < count; k++) used += c->offsets[d->rows[k] + 1] - c->offsets[d->rows[k]];
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    uint32_t *order = malloc(count * sizeof *order + 1);
    uint32_t *ranks = malloc(count * sizeof *ranks + 1);
    char *bytes = malloc((size_t)used + 1);
    int code = EXIT_DONE;
    if (offsets && order && ranks && bytes) {
        used = 0;
        for (size_t k = 0; k < count; k++) {
            const uint64_t first = c->offsets[d->rows[k]];
            const uint64_t own = c->offsets[d->rows[k] + 1] - first;
            offsets[k] = used;
            memcpy(bytes + used, c->bytes + first, (size_t)own);
            used += own;
        }
        offsets[count] = used;
        const ech_status status = ech_argsort_strings(job->ctx, offsets, bytes, order, count,
                                                      (size_t)used, ECH_U64, ECH_U32, NULL);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
        for (size_t k = 0; k < count && code == EXIT_DONE; k++) ranks[order[k]] = (uint32_t)k;
        for (uint64_t i = 0; i < n && code == EXIT_DONE; i++)
            put(c->keys, wide, i, ranks[get(c->keys, wide, i)]);
    } else {
        code = job_no_memory(job, used + count * 16, "the distinct strings");
    }
    free(offsets);
    free(order);
    free(ranks);
    free(bytes);
    c->distinct = d->count;
    return code;
}

/* ---- Many distinct strings ---- */

enum { AHEAD = 12 }; /* prefetch distance in strings */

static int rank_all(struct job *job, struct table_column *c, uint64_t n, bool wide)
{
    const size_t bytes = (size_t)n * ech_dtype_bytes(c->dtype);
    void *order = malloc(bytes + 1);
    if (!order) return job_no_memory(job, bytes, "the order of its strings");
    const ech_status status = ech_argsort_strings(job->ctx, c->offsets, c->bytes, order, (size_t)n,
                                                  (size_t)c->offsets[n], ECH_U64, c->dtype, NULL);
    uint64_t rank = 0;
    for (uint64_t i = 0; i < n && status == ECH_OK; i++) {
        if (i + 2 * AHEAD < n) __builtin_prefetch(c->offsets + get(order, wide, i + 2 * AHEAD));
        if (i + AHEAD < n) __builtin_prefetch(c->bytes + c->offsets[get(order, wide, i + AHEAD)]);
        const uint64_t at = get(order, wide, i);
        rank += i && !same_strings(c, at, get(order, wide, i - 1));
        put(c->keys, wide, at, rank);
    }
    free(order);
    c->distinct = n ? rank + 1 : 0;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

int table_rank(struct job *job, struct table_column *column, uint64_t n)
{
    const bool wide = n > UINT32_MAX;
    struct dictionary dictionary = { .count = 0 };
    column->dtype = wide ? ECH_U64 : ECH_U32;
    const size_t bytes = (size_t)n * ech_dtype_bytes(column->dtype);
    column->keys = malloc(bytes + 1);
    if (!column->keys) return job_no_memory(job, bytes, "the ranks of its strings");
    const bool few = number_strings(column, n, wide, &dictionary);
    const int code =
        few ? rank_codes(job, column, n, wide, &dictionary) : rank_all(job, column, n, wide);
    free(dictionary.slots);
    free(dictionary.rows);
    return code;
}
