/*
 * sort_case.h - one case of test_sort: what is sorted how, its data, and the oracle's answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SORT_CASE_H
#define SORT_CASE_H

#include "test.h"

/* What a case is after, beside the right answer. */
enum sort_kind {
    SORT_PLAIN,   /* "sort": in and out of place, with own and with given workspace */
    SORT_REPEAT,  /* "repeat": ten runs, bit for bit the same */
    SORT_THREADS, /* "threads": 1, 2, 3 and 7 threads, bit for bit the same */
    SORT_LARGE    /* "large": by an analytic oracle; sort_large.c */
};

struct sort_case {
    enum sort_kind kind;
    ech_dtype dtype;
    size_t n;
    size_t value_bytes; /* 0: keys alone, or an argsort when index_dtype is given */
    int index_bytes;    /* 0, 4 or 8 */
    bool descending, total;
    int begin_bit, end_bit; /* end_bit 0: all */
    const char *dist;       /* name in the table of keys.c */
};

/* sort_cases.c: calls run with every case of the table. */
void sort_cases(void (*run)(const struct sort_case *));

/* "sort(f32,n=1000003,v=8,desc,dist=few)" */
void sort_case_id(const struct sort_case *c, char *text, size_t capacity_bytes);

/* keys.c: writes n keys of the case's distribution, the same for the same seed. */
bool keys_fill(const struct sort_case *c, uint64_t seed, void *keys);

/*
 * oracle.c: order[i] becomes the position in keys of the i-th key of the sorted sequence, by a
 * merge sort whose comparison is written from the text of echelon.h and shares nothing with the
 * library.
 */
bool oracle_order(const struct sort_case *c, const void *keys, uint32_t *order);

/* sort_run.c: runs a case on a device by one algorithm; NULL: the library's choice. */
struct sort_data {
    const struct sort_case *c;
    size_t key_bytes, value_bytes;     /* of one; value_bytes also for an index */
    char *keys, *values;               /* inputs; values NULL where there are none */
    char *keys_sorted, *values_sorted; /* answers; NULL where there are none */
    char *got;                         /* room for either */
};
void sort_run(ech_ctx *ctx, const struct sort_data *data, const char *algorithm, uint64_t seed,
              unsigned ways);

/* The ways of giving memory that a case is run in, a bit each. */
enum { SORT_WAYS = 7 };
unsigned sort_ways(ech_ctx *ctx, const struct sort_case *c, uint64_t seed);

/* sort_cover.c: of the ways those in which no sort like this one ran by the algorithm, or one of
 * them; the same, but none unless something about the sort is new. */
unsigned sort_one_way(const struct sort_case *c, const char *algorithm, unsigned ways);
unsigned sort_cover(const struct sort_case *c, const char *algorithm, unsigned ways);

/* sort_large.c: sizes around 2^31 and 2^32, where memory suffices. */
void sort_large(ech_ctx *ctx);

#endif
