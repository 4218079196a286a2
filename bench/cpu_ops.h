/*
 * cpu_ops.h - what the benchmark of the CPU's other operations compares with: a call with its
 * arrays, and rivals that may know how to do it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CPU_OPS_H
#define BENCH_CPU_OPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum call_op {
    CALL_READ,      /* the roof of what only reads: sums 64-bit words */
    CALL_COPY,      /* the roof of what reads and writes: memcpy() */
    CALL_SUM,       /* result: the sum */
    CALL_MAX,       /* result: the greatest */
    CALL_VARIANCE,  /* result */
    CALL_SCAN,      /* out: inclusive sums */
    CALL_COUNT,     /* out: [256] or [65536] u64, how often each byte or 16-bit value occurs */
    CALL_HISTOGRAM, /* out: [256] u64, of floats in [0, 1) */
    CALL_SELECT,    /* out: those less than half the range; result: how many */
    CALL_UNIQUE,    /* out: the first of each run; result: how many */
    CALL_REVERSE,   /* out */
    CALL_SHUFFLE    /* out: in random order */
};

struct call {
    enum call_op op;
    const char *dtype; /* "u32" ... */
    const void *in;
    void *out;
    size_t n;
    int threads;
    double result;
};

struct contender {
    const char *name, *version;
    int (*run)(struct call *call); /* 0: cannot */
};

extern const struct contender contender_std, contender_gnu_parallel, contender_openmp,
    contender_tbb;

#ifdef __cplusplus
}
#endif

#endif
