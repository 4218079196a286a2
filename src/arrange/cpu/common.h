/*
 * arrange/cpu/common.h - declarations that the CPU files of arrange share: division of an array
 * among threads, and copies of elements of a size known at compile time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CPU_COMMON_H
#define ECHI_ARRANGE_CPU_COMMON_H

#include "arrange/arrange.h"
#include "cpu/cpu.h"

#include <string.h>

enum {
    ECHI_PART_BYTES = 1 << 18, /* the part that a thread processes at a time */
    ECHI_AT_ONCE = 4096,       /* elements of at most this many bytes that one thread processes */
    ECHI_AT_ONCE_BYTES = 16
};

/* A request for count items, which threads divide into parts [begin, end). */
struct echi_arrange_job {
    const struct echi_arrange *request;
    void (*run)(struct echi_arrange_job *job, size_t begin, size_t end);
    size_t count, each;
    _Atomic(uint64_t) first_bad; /* the lowest position of an index that is too large */
};

/* Runs job->run() on parts of about ECHI_PART_BYTES, for count items of thing_bytes each. */
void echi_arrange_parts(ech_ctx *ctx, struct echi_arrange_job *job, size_t count,
                        size_t thing_bytes);

/* CALL_BY_SIZE(f, size, ...) calls f(..., size) so that common sizes are constants in f, which must
 * be inlined: a copy of that many bytes is then one load and one store. */
#define CALL_BY_SIZE(f, size, ...)                                                                 \
    switch (size) {                                                                                \
    case 1:                                                                                        \
        f(__VA_ARGS__, 1);                                                                         \
        break;                                                                                     \
    case 2:                                                                                        \
        f(__VA_ARGS__, 2);                                                                         \
        break;                                                                                     \
    case 4:                                                                                        \
        f(__VA_ARGS__, 4);                                                                         \
        break;                                                                                     \
    case 8:                                                                                        \
        f(__VA_ARGS__, 8);                                                                         \
        break;                                                                                     \
    case 12:                                                                                       \
        f(__VA_ARGS__, 12);                                                                        \
        break;                                                                                     \
    case 16:                                                                                       \
        f(__VA_ARGS__, 16);                                                                        \
        break;                                                                                     \
    default:                                                                                       \
        f(__VA_ARGS__, size);                                                                      \
        break;                                                                                     \
    }
#define INLINED static inline __attribute__((always_inline))

/* transpose.c, make.c, shuffle.c */
void echi_cpu_transpose(ech_ctx *ctx, struct echi_arrange_job *job);
void echi_cpu_fill(ech_ctx *ctx, struct echi_arrange_job *job);
void echi_cpu_iota(ech_ctx *ctx, struct echi_arrange_job *job);
void echi_cpu_permutation(ech_ctx *ctx, struct echi_arrange_job *job);
void echi_cpu_shuffle(ech_ctx *ctx, struct echi_arrange_job *job);

#endif
