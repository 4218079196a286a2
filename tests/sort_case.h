/*
 * sort_case.h - one case of test_sort: the call, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SORT_CASE_H
#define SORT_CASE_H

#include "test.h"

/* What a case tests in addition to the result. */
enum sort_kind {
    SORT_PLAIN,   /* "sort": in and out of place, workspace of the context and of the caller */
    SORT_REPEAT,  /* "repeat": ten bit-identical runs */
    SORT_THREADS, /* "threads": bit-identical with 1, 2, 3 and 7 threads */
    SORT_LARGE    /* "large": with an analytic oracle; sort_large.c */
};

struct sort_case {
    enum sort_kind kind;
    ech_dtype dtype;
    size_t n;
    size_t value_bytes; /* 0: only keys, or an argsort if index_bytes is set */
    int index_bytes;    /* 0, 4 or 8 */
    bool descending, total;
    bool cpu_only;          /* tests a method of the CPU; takes long on the emulator */
    int begin_bit, end_bit; /* end_bit 0: all bits */
    const char *dist;       /* a name in keys.c */
};

/* sort_cases.c: calls run() with every case. */
void sort_cases(void (*run)(const struct sort_case *));

/* For example "sort(f32,n=1000003,v=8,desc,dist=few)". */
void sort_case_id(const struct sort_case *c, char *text, size_t capacity_bytes);

/* keys.c: writes n keys of the case's distribution, which depend only on the seed. */
bool keys_fill(const struct sort_case *c, uint64_t seed, void *keys);

/*
 * oracle.c: order[i] becomes the input position of the i-th key of the sorted sequence. The merge
 * sort and its comparison follow echelon/sort.h and share no code with the library.
 */
bool oracle_order(const struct sort_case *c, const void *keys, uint32_t *order);

/* sort_run.c: runs a case on a device with one algorithm; NULL: the library's choice. */
struct sort_data {
    const struct sort_case *c;
    size_t key_bytes, value_bytes;     /* per element; value_bytes also for an index */
    char *keys, *values;               /* inputs; values is NULL if unused */
    char *keys_sorted, *values_sorted; /* expected results; NULL if unused */
    char *got;                         /* a buffer for keys or values */
};
void sort_run(ech_ctx *ctx, const struct sort_data *data, const char *algorithm, uint64_t seed,
              unsigned ways);

/* The ways in which a case receives its memory, one bit per way. */
enum { SORT_WAYS = 7 };
unsigned sort_ways(ech_ctx *ctx, const struct sort_case *c, uint64_t seed);

/* sort_cover.c: sort_one_way() selects the ways that no earlier sort of this kind used with the
 * algorithm, or one way if there are none. sort_cover() does the same, but returns 0 if the sort
 * has no new feature. */
unsigned sort_one_way(const struct sort_case *c, const char *algorithm, unsigned ways);
unsigned sort_cover(const struct sort_case *c, const char *algorithm, unsigned ways);

/* sort_large.c: sizes near 2^31 and 2^32, if memory suffices. */
void sort_large(ech_ctx *ctx);

#endif
