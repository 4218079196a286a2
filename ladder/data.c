/*
 * data.c - the input data of the ladders: keys of several distributions, small numbers, random
 * bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 1 << 16 }; /* digit values of the oracle */

uint64_t ladder_random(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed * 0x9E3779B97F4A7C15u) ^ (i + 1) * 0xD1B54A32D192ED03u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

double ladder_number(ech_dtype type, const void *elements, uint64_t i)
{
    return io_key_to_double(type, (const char *)elements + i * ech_dtype_bytes(type));
}

static void store(struct trial *trial, uint64_t i, uint64_t bits)
{
    io_store((char *)trial->host_in + i * trial->element_bytes, trial->element_bytes, bits);
}

uint64_t ladder_order_bits(ech_dtype type, const void *elements, uint64_t i)
{
    struct io_order by = { .dtype = type, .order = ECH_ORDER_TOTAL };
    return io_rank(&by, (const char *)elements + i * ech_dtype_bytes(type));
}

void ladder_shape_keys(struct trial *trial)
{
    trial->in_bytes = trial->out_bytes = trial->n * trial->element_bytes;
}

void ladder_make_keys(struct trial *trial)
{
    bool is_signed = io_is_float(trial->type) || trial->type == ECH_I32;
    uint64_t middle = is_signed ? (uint64_t)1 << (8 * trial->element_bytes - 1) : 0;
    for (uint64_t i = 0; i < trial->n; i++) {
        uint64_t x = ladder_random(trial->seed, i), rank = 12345; /* all equal */
        if (trial->seed == 1) rank = x % 5;                       /* equal keys */
        if (trial->seed == 2) rank = trial->n - i;                /* descending */
        /* Seed 0: random bits, for floats including NaN.  The middle rank is that of 0. */
        store(trial, i, trial->seed == 0 ? x : io_unrank(trial->type, middle + rank));
    }
}

void ladder_make_numbers(struct trial *trial)
{
    for (uint64_t i = 0; i < trial->n; i++) {
        uint64_t x = ladder_random(trial->seed, i);
        double small = (double)(int64_t)(x % 2048) / 1024 - 1;
        if (trial->type == ECH_F32) {
            float f = (float)small;
            memcpy((char *)trial->host_in + i * sizeof f, &f, sizeof f);
        } else if (trial->type == ECH_F64) {
            memcpy((char *)trial->host_in + i * sizeof small, &small, sizeof small);
        } else {
            store(trial, i, x % 256);
        }
    }
}

void ladder_make_bytes(struct trial *trial, bool alike)
{
    uint8_t *bytes = trial->host_in;
    uint64_t kind = alike ? 3 : trial->seed;
    for (uint64_t i = 0; i < trial->n; i++) {
        uint64_t x = kind == 2 ? i : ladder_random(trial->seed, i) >> 8;
        if (kind == 1) x = x % 3 * 97;
        bytes[i] = kind == 3 ? 173 : (uint8_t)x;
    }
}

/* Sorts ranks stably by their 16-bit digit at `shift`, into `to`. */
static void sort_digit(const uint64_t *from, uint64_t *to, uint64_t n, int shift, uint64_t *places)
{
    memset(places, 0, (DIGITS + 1) * sizeof *places);
    for (uint64_t i = 0; i < n; i++) places[(from[i] >> shift) % DIGITS + 1]++;
    for (int digit = 0; digit < DIGITS; digit++) places[digit + 1] += places[digit];
    for (uint64_t i = 0; i < n; i++) to[places[(from[i] >> shift) % DIGITS]++] = from[i];
}

/* Counting sort digit by digit: for large n, qsort() would take longer than all rungs together. */
void ladder_expect_sorted(struct trial *trial)
{
    struct io_order by = { .dtype = trial->type, .order = ECH_ORDER_TOTAL };
    size_t bytes = trial->element_bytes;
    uint64_t *from = malloc((size_t)trial->n * sizeof *from + 1);
    uint64_t *to = malloc((size_t)trial->n * sizeof *to + 1);
    uint64_t *places = malloc((DIGITS + 1) * sizeof *places);
    if (from && to && places) {
        for (uint64_t i = 0; i < trial->n; i++)
            from[i] = io_rank(&by, (char *)trial->host_in + i * bytes);
        for (int shift = 0; shift < 8 * (int)bytes; shift += 16) {
            sort_digit(from, to, trial->n, shift, places);
            uint64_t *sorted = to;
            to = from;
            from = sorted;
        }
        for (uint64_t i = 0; i < trial->n; i++)
            io_store((char *)trial->expected + i * bytes, bytes, io_unrank(trial->type, from[i]));
    } else {
        ladder_fail(trial, "out of memory for %llu elements", (unsigned long long)trial->n);
    }
    free(from);
    free(to);
    free(places);
}
