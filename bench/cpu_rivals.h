/*
 * cpu_rivals.h - the competitors of bench_cpu: table entries whose sort() returns whether it
 * supports a row.
 *
 * Each competitor is called from one C++ file, which is built if its header is found.  No
 * competitor is part of this project.  A shared library can contain further competitors: it
 * exports bench_rivals, and "bench_cpu --with FILE" opens it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CPU_RIVALS_H
#define BENCH_CPU_RIVALS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum call { SORT, ARGSORT, ROWS }; /* ROWS: Echelon sorts the batch in one call */

/* The keys and values of a row: a batch of arrays of n elements, one after the other, each of
 * which is sorted in place.  ARGSORT: values are 0, 1, ... n - 1 and become the permutation; keys
 * may be modified. */
struct job {
    const char *dtype; /* "u32" ... */
    enum call call;
    void *keys;   /* for a rival with records: a key, then its value, for each element */
    void *values; /* NULL: keys only */
    size_t n, batch, value_bytes;
    int threads;
};

struct rival {
    const char *name;
    const char *version;
    int stable;
    int records; /* keys and values are one array of records; their sizes are equal */
    int (*sort)(const struct job *job); /* returns 0 if not supported */
};

extern const struct rival rival_std, rival_std_stable, rival_std_parallel;
extern const struct rival rival_std_records, rival_std_records_stable;
extern const struct rival rival_tbb, rival_tbb_records, rival_tbb_records_stable;
extern const struct rival rival_pdqsort, rival_pdqsort_records, rival_spreadsort;
extern const struct rival rival_spreadsort_records;
extern const struct rival rival_x86simdsort_avx512, rival_x86simdsort_avx2, rival_vqsort;

/* The competitors of a shared library; the last entry is NULL. */
extern const struct rival *const bench_rivals[];

#ifdef __cplusplus
}
#endif

#endif
