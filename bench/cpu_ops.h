/*
 * cpu_ops.h - the calls that bench_cpu_ops measures, and the contenders that may implement them.
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
    CALL_READ,      /* read bandwidth ceiling: sums 64-bit words */
    CALL_COPY,      /* copy bandwidth ceiling: memcpy() */
    CALL_SUM,       /* result: the sum */
    CALL_MAX,       /* result: the maximum */
    CALL_VARIANCE,  /* result */
    CALL_SCAN,      /* out: inclusive sums */
    CALL_COUNT,     /* out: [256] or [65536] u64, the counts of bytes or 16-bit values */
    CALL_HISTOGRAM, /* out: [256] u64, of floats in [0, 1) */
    CALL_SELECT,    /* out: elements below half the range; result: their number */
    CALL_UNIQUE,    /* out: the first element of each run; result: their number */
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
    int (*run)(struct call *call); /* returns 0 if not supported */
};

extern const struct contender contender_std, contender_gnu_parallel, contender_openmp,
    contender_tbb;

#ifdef __cplusplus
}
#endif

#endif
