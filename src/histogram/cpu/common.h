/*
 * histogram/cpu/common.h - declarations that the files of the CPU histogram share: the kernels that
 * have instruction-set variants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CPU_COMMON_H
#define ECHI_HISTOGRAM_CPU_COMMON_H

#include "histogram/histogram.h"
#include "cpu/cpu.h"

enum { ECHI_SLOTS = 1024 }; /* elements mapped at a time */

/* A running histogram. */
struct echi_histogram_job {
    const struct echi_histogram *h;
    const void *edges; /* merged if raw is false */
    bool raw;
    bool direct;          /* counts in the output; there are no tables */
    size_t parts, part_n; /* the elements, divided into parts of whole groups of channels */
    size_t copies;        /* copies of a table, used in turn */
    size_t table_words;   /* of all copies of a part's table */
    uint64_t *tables;     /* [parts][copies][counters + 1][words] */
    uint64_t largest;     /* maximum magnitude of the weights: core/exact.h */
};

/* Writes the counters of n elements, beginning at `from`; the counter of an element in no bin is
 * h->counters.  Returns whether there is such an element.  u32 if all counters are less than
 * 2^30.  slots has room for a multiple of 16. */
typedef bool (*echi_slots_u32)(const struct echi_histogram_job *job, size_t from, size_t n,
                               uint32_t *slots);
typedef bool (*echi_slots_u64)(const struct echi_histogram_job *job, size_t from, size_t n,
                               uint64_t *slots);

struct echi_histogram_isa {
    echi_slots_u32 slots[4]; /* of keys of 1, 2, 4, 8 bytes */
    struct echi_histogram_calls calls;
};
extern const struct echi_histogram_isa echi_histogram_portable, echi_histogram_avx2,
    echi_histogram_avx512;

/* portable.c: many counters miss the cache, with every instruction set. */
extern const echi_slots_u64 echi_histogram_slots_u64[4];

#endif
