/*
 * dist_case.h - distributed tests: ranks as threads of this process or as processes, divisions of
 * an array, and arrays whose parts lie between guard zones.
 *
 * If the environment variable ECHELON_COMM is set, this process is one rank of the communicator of
 * that library, and runs the cases with as many ranks; otherwise the ranks are threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DIST_CASE_H
#define DIST_CASE_H

#include "test.h"

enum { DIST_MAX_RANKS = 16, DIST_ARRAYS = 5 };

/* A rank of a case.  Its function runs in a thread of its own. */
struct dist_rank {
    int rank, ranks;
    ech_comm *comm;
    ech_ctx *ctx;
    void *task; /* of the case, shared by all ranks */
    bool host;  /* dist_array() allocates host memory, also if the device is a GPU */
    struct buffer arrays[DIST_ARRAYS];
    int n_arrays;
    uint64_t held, allowed; /* bytes: before a call, and what it may allocate */
    ech_status status;
    char message[512]; /* of the context, if the status is not ECH_OK */
    char problem[256]; /* what is wrong with a result, or "" */
};

typedef ech_status dist_function(struct dist_rank *rank);

/* Opens the contexts of all ranks; the name of the device, for ids. */
const char *dist_open(void);
void dist_close(void);

/* Whether a case with this many ranks can run in this process. */
bool dist_can_run(int ranks);

/*
 * Runs all cases with each number of ranks.  operations: their names, NULL ends the list.  Fails if
 * no case of one of them runs that has several ranks and at least DIST_SEVERAL elements, unless
 * the command line selects cases.
 *
 * dist_drawn() selects them.  With --every N, one of N consecutive cases of an operation runs, at a
 * random place among them, so that the order in which a program lists its cases has no influence on
 * which operations run.  Cases with one rank or few elements are counted separately.  At least one
 * of the others runs.  dist_always() selects every case.
 */
enum { DIST_SEVERAL = 100, DIST_QUICK_RANKS = 8 }; /* --quick: at most 8 ranks */
void dist_cases(void (*cases)(int ranks), const char *const *operations);
bool dist_drawn(const char *operation, int ranks, size_t elements, bool is_small);
bool dist_always(const char *operation, int ranks, size_t elements);

/* Runs a function on each rank, and fails the open case for every problem and every status that
 * differs from `wanted`, with a message that contains part (NULL: any).  limit_s: 0 for the
 * default. */
void dist_run(int ranks, double limit_s, dist_function *run, void *task, ech_status wanted,
              const char *part);

/* An array of this rank with these contents (NULL: uninitialised), in memory of the device, or in
 * host memory if rank->host is set; NULL if there is no memory.  dist_run() releases it and checks
 * its guard zones. */
void *dist_array(struct dist_rank *rank, const void *contents, size_t bytes);

/* Every other rank gives a call a workspace of exactly `bytes` bytes; the call of such a rank must
 * allocate nothing, and that of another one at most `bytes` bytes, which dist_work_end() checks. */
void dist_work_begin(struct dist_rank *rank, size_t bytes, void **work, size_t *work_bytes);
void dist_work_end(struct dist_rank *rank);

/* Compares an array of this rank with its expected contents. */
void dist_expect(struct dist_rank *rank, const char *name, const void *array, const void *expected,
                 size_t bytes);

/* Divides `total` elements: first [ranks + 1]. */
enum dist_division { DIST_EVEN, DIST_RANDOM, DIST_SPARSE, DIST_LAST, DIST_DIVISIONS };
extern const char *const dist_division_names[];
void dist_divide(uint64_t *first, uint64_t total, int ranks, enum dist_division division,
                 struct rng *rng);

/* Fills n elements. */
enum dist_data {
    DIST_BITS,
    DIST_FEW,
    DIST_EQUAL,
    DIST_SKEWED,
    DIST_SORTED,
    DIST_NUMBERS,
    DIST_DATA
};
extern const char *const dist_data_names[];
void dist_fill(void *out, size_t n, ech_dtype dtype, enum dist_data data, struct rng *rng);

/* ---- Cases ---- */

/* An array and what is expected; parts of it belong to the ranks. */
struct dist_task {
    ech_dtype dtype;
    size_t bytes, total, value_bytes, result_bytes;
    char *in, *values;
    char *out, *out_values; /* expected */
    uint64_t *more;         /* expected: indices, counts */
    uint64_t first[DIST_MAX_RANKS + 1], out_first[DIST_MAX_RANKS + 1];
    bool even; /* n_out is ECH_DIST_EVEN */
    bool argsort;
    unsigned hosts; /* bit r: rank r has its arrays in host memory */
    ech_op op;
    ech_sort_options sort;
    ech_reduce_options reduce;
    ech_scan_options scan;
    ech_topk_options topk;
    ech_histogram_options histogram;
    ech_quantile_method method;
    ech_quantile_options quantile;
    size_t k; /* top-k, bins, distinct elements, quantiles */
    ech_dtype index_dtype;
    double *q;
};

void *dist_allocate(size_t bytes); /* zeros; free() releases it */
void dist_task_free(struct dist_task *t);
struct rng dist_seed(const char *what, ech_dtype dtype, int data, int ranks);

/* The number of elements of a rank. */
size_t dist_part(const uint64_t *first, const struct dist_rank *r);

/* An array of `total` elements, which ranks divide. */
struct dist_task dist_task_make(ech_dtype dtype, size_t total, enum dist_data data, int ranks,
                                enum dist_division division, struct rng *rng);

#endif
