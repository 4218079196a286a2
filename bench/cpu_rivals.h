/*
 * cpu_rivals.h - what the CPU benchmark compares with: each rival is a table entry whose sort()
 * says whether it can do the row.
 *
 * A rival is one C++ file, built when its header is there; none is part of this project.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CPU_RIVALS_H
#define BENCH_CPU_RIVALS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row's keys and values; sorted in place.  values NULL: keys alone. */
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
    int (*sort)(const struct job *job); /* 0: cannot */
};

extern const struct rival rival_std, rival_std_stable, rival_std_parallel;
extern const struct rival rival_x86simdsort_avx512, rival_x86simdsort_avx2, rival_vqsort;

#ifdef __cplusplus
}
#endif

#endif
