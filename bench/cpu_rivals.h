/*
 * cpu_rivals.h - the competitors of bench_cpu: table entries whose sort() returns whether it
 * supports a row.
 *
 * Each competitor is called from one C++ file, which is built if its header is found.  No
 * competitor is part of this project.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CPU_RIVALS_H
#define BENCH_CPU_RIVALS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The keys and values of a row, sorted in place.  values == NULL: keys only. */
struct job {
    const char *dtype; /* "u32" ... */
    void *keys, *values;
    size_t n, value_bytes;
    int threads;
};

struct rival {
    const char *name;
    const char *version;
    int stable;
    int (*sort)(const struct job *job); /* returns 0 if not supported */
};

extern const struct rival rival_std, rival_std_stable, rival_std_parallel;
extern const struct rival rival_x86simdsort_avx512, rival_x86simdsort_avx2, rival_vqsort;

#ifdef __cplusplus
}
#endif

#endif
