/*
 * bench.h - "echelon bench": the operations that it measures, and a result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_BENCH_H
#define ECHELON_CLI_BENCH_H

#include "cli.h"

/* The arrays and the parameters of one operation.  The arrays are in host or in device memory. */
struct bench_call {
    ech_ctx *ctx;
    size_t n;
    ech_dtype dtype, index_dtype;
    size_t element_bytes, index_bytes;
    void *in;          /* [n] of dtype, new data for each repetition */
    void *other;       /* [n] of dtype or of index_dtype; values: u32 */
    void *out, *index; /* [n] of dtype; [n] of index_dtype */
    uint64_t *count;   /* [1] */
    uint64_t *counts;  /* [bins] */
    size_t bins, k;
    double lower, upper; /* a range that contains the data */
    uint64_t middle;     /* an element: about half of the data precede it */
    uint64_t seed;
};

enum { /* flags: which arrays an operation needs */
       BENCH_OTHER = 1,
       BENCH_OUT = 2,
       BENCH_INDEX = 4,
       BENCH_NEEDLES = 8 | BENCH_OTHER, /* other receives new data, too */
       BENCH_COUNTED = 16,              /* *count elements are written */
       BENCH_SORTED = 32                /* out must be sorted; in if there is no out */
};

struct bench_row {
    const char *name;
    const char *what;      /* what is computed, and which function of the library does it */
    int flags;             /* BENCH_* */
    int elements, indices; /* read or written once per element: elements, indices */
    int value_bytes;       /* and bytes of values */
    ech_status (*prepare)(struct bench_call *call); /* not timed; may be NULL */
    ech_status (*run)(struct bench_call *call);
};

enum { BENCH_MOST = 32 };                   /* maximum number of rows */
extern const struct bench_row bench_rows[]; /* bench_rows.c; a name of NULL ends it */

/* What was measured, for all rows. */
struct bench_setting {
    const char *device, *description, *distribution;
    bool in_device; /* the arrays are in the memory of the device */
    bool may_be_cached;
    int threads; /* of the CPU; 0: a GPU */
    uint64_t n, repetitions;
    ech_dtype dtype;
};

struct bench_result {
    const struct bench_row *row;
    bool supported;
    char reason[256];       /* why it is not supported */
    double median, minimum; /* seconds */
    double bytes;           /* read and written, each byte once */
};

struct bench {
    struct bench_setting setting;
    const struct distribution *distribution;
    struct bench_call call;
    const struct bench_row *rows[BENCH_MOST];
    struct bench_result results[BENCH_MOST];
    int count;  /* of rows */
    char *host; /* [n] of dtype, for data that is copied to the device; NULL: arrays are here */
    ech_device device;
    struct cli_progress progress;
};

/* ---- Arrays and data: bench_data.c.  Each returns an exit code ---- */

/* Allocates the arrays that flags name.  All pages of host memory are written, so that page faults
 * are not timed. */
int bench_allocate(struct bench *b, int flags);
void bench_release(struct bench *b, int flags);
/* Writes new data to an array of elements. */
int bench_fill(struct bench *b, void *array, uint64_t seed);
/* Sets the range and the middle of the data, from a sample of it. */
void bench_describe(struct bench *b);

/* ---- Output: bench_table.c ---- */

void bench_print_head(const struct bench_setting *setting);
void bench_print_row(const struct bench_setting *setting, const struct bench_result *result);
void bench_print_json(const struct bench_setting *setting, const struct bench_result *results,
                      int n);
/* Writes the results as CSV, and commits the output. */
io_status bench_write_csv(const struct bench_setting *setting, const struct bench_result *results,
                          int n, struct io_output *output, struct io_error *error);

#endif
