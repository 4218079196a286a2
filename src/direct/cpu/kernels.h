/*
 * direct/cpu/kernels.h - template: the steps of direct solvers in f32 and f64, for the instruction
 * set of the including file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/cpu/common.h"
#include "direct/cpu/lane.h"

#include <math.h>
#include <string.h>

enum {
    LEAF = ECHI_DIRECT_LEAF,
    LANES = ECHI_DIRECT_LANES,
    ROWS_OF_TASK = 32,
    COLUMNS_OF_TASK = 256
};

struct job {
    const struct echi_direct_step *step;
    const void *x; /* of a residual: a contiguous column */
    size_t column;
};

static void run_tasks(const ech_ctx *ctx, size_t bytes, size_t tasks,
                      void (*run)(void *job, size_t i, int thread), struct job *job)
{
    echi_parallel(echi_parallel_for_bytes(ctx, bytes), tasks, run, job);
}

/* The sum of lanes: lane i + 16 is added to lane i, then i + 8, ... i + 1. */
static double fold_lanes(double *lanes, size_t n)
{
    for (size_t half = n / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

#define REAL      float
#define REAL_BITS 32
#define NAME(x)   x##_f32
#include "direct/cpu/panel.h"
#include "direct/cpu/real.h"
#include "direct/cpu/vectors.h"
#define SIZE     0
#define SIZED(x) NAME(x)
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#ifdef __AVX2__
#define SIZE     1
#define SIZED(x) x##_f32_1
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#define SIZE     2
#define SIZED(x) x##_f32_2
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#define SIZE     3
#define SIZED(x) x##_f32_3
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#define SIZE     4
#define SIZED(x) x##_f32_4
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#endif
#undef REAL
#undef REAL_BITS
#undef NAME

#define REAL      double
#define REAL_BITS 64
#define NAME(x)   x##_f64
#include "direct/cpu/panel.h"
#include "direct/cpu/real.h"
#include "direct/cpu/vectors.h"
#define SIZE     0
#define SIZED(x) NAME(x)
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#ifdef __AVX2__
#define SIZE     1
#define SIZED(x) x##_f64_1
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#define SIZE     2
#define SIZED(x) x##_f64_2
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#define SIZE     3
#define SIZED(x) x##_f64_3
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#define SIZE     4
#define SIZED(x) x##_f64_4
#include "direct/cpu/lanes.h"
#include "direct/cpu/small.h"
#endif
#undef REAL
#undef REAL_BITS
#undef NAME

const struct echi_direct_isa ISA = {
    .f32 = step_f32,
    .f64 = step_f64,
#ifdef __AVX2__
    .small_f32 = { run_small_f32, run_small_f32_1, run_small_f32_2, run_small_f32_3,
                   run_small_f32_4 },
    .small_f64 = { run_small_f64, run_small_f64_1, run_small_f64_2, run_small_f64_3,
                   run_small_f64_4 },
#else
    .small_f32 = { run_small_f32 },
    .small_f64 = { run_small_f64 },
#endif
};
