/*
 * direct/cpu/common.h - declarations that the files of the CPU's direct solvers share: the steps,
 * by type and instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CPU_COMMON_H
#define ECHI_DIRECT_CPU_COMMON_H

#include "direct/step.h"
#include "cpu/cpu.h"

/* A batch of small systems, and the workspace of the threads. */
struct echi_direct_small {
    const struct echi_direct *call;
    char *work;
    size_t thread_bytes; /* a multiple of ECHI_ALIGN */
    size_t systems;      /* in a task */
};

enum { ECHI_DIRECT_SIZES = 5 };

struct echi_direct_isa {
    void (*f32)(const ech_ctx *ctx, const struct echi_direct_step *step);
    void (*f64)(const ech_ctx *ctx, const struct echi_direct_step *step);

    /* Run a task of a struct echi_direct_small: of any n; for n = 1 ... 4, or NULL. */
    void (*small_f32[ECHI_DIRECT_SIZES])(void *small, size_t task, int thread);
    void (*small_f64[ECHI_DIRECT_SIZES])(void *small, size_t task, int thread);
};

extern const struct echi_direct_isa echi_direct_portable, echi_direct_avx2, echi_direct_avx512;

#endif
