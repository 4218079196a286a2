/*
 * cpu/direct.h - what the files of the CPU's direct solvers share: the steps, by type and
 * instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_DIRECT_H
#define ECHI_CPU_DIRECT_H

#include "../direct_step.h"
#include "cpu.h"

struct echi_direct_isa {
    void (*f32)(const ech_ctx *ctx, const struct echi_direct_step *step);
    void (*f64)(const ech_ctx *ctx, const struct echi_direct_step *step);
};

extern const struct echi_direct_isa echi_direct_portable, echi_direct_avx2, echi_direct_avx512;

#endif
