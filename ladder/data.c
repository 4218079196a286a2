/*
 * data.c - what ladders make to work on: keys of several kinds, small numbers, random words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"

#include "../src/io/io.h"

#include <stdlib.h>
#include <string.h>

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
        uint64_t x = ladder_random(trial->seed, i), rank = 12345; /* all alike */
        if (trial->seed == 1) rank = x % 5;                       /* equal keys */
        if (trial->seed == 2) rank = trial->n - i;                /* falling */
        /* Of seed 0 any bits: of floats, NaN too.  The middle rank is that of 0. */
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

static const struct io_order *order; /* of compare(); ladders run in one thread */

static int compare(const void *a, const void *b)
{
    uint64_t x = io_rank(order, a), y = io_rank(order, b);
    return (x > y) - (x < y);
}

void ladder_expect_sorted(struct trial *trial)
{
    struct io_order by = { .dtype = trial->type, .order = ECH_ORDER_TOTAL };
    order = &by;
    memcpy(trial->expected, trial->host_in, trial->out_bytes);
    qsort(trial->expected, (size_t)trial->n, trial->element_bytes, compare);
    order = NULL;
}
