/*
 * topk/cuda/plan.h - declarations that the host code of top-k selections on the GPU shares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_PLAN_H
#define ECHI_TOPK_CUDA_PLAN_H

#include "cuda/steps.h"
#include "sort/cuda/segments.h"
#include "topk/cuda/common.h"
#include "topk/topk.h"

struct topk_plan {
    int algorithm;
    bool pack, large; /* rows are packed; the candidates of one group are sorted */
    bool lists;       /* segments: of those that are not short */
    const char *warp; /* a kernel, or NULL */
    bool has_lanes, has_block, has_long, gathers;
    bool bytes; /* one long array of keys of 8 bits */
    uint32_t chip, chunk, bins_log;
    uint64_t longs, chunks, candidates, row_room, row_rank, row_sample, chip_room;
    size_t word_bytes;
    int position_bytes; /* of the positions of "sort" */
    char module[16], long_module[24];
};

struct topk_parts {
    void *packed;
    struct topk_lists *lists;
    uint32_t *chip_list, *chunk_of, *chunk_equal;
    struct topk_long *longs;
    struct topk_totals *totals;
    uint32_t *chunk_bins;
    uint64_t *split_keys;
    uint32_t *split_positions;
    void *candidates, *samples, *positions, *picks, *sort_work;
};

/* The steps, and the arguments of their kernels. */
struct topk_build {
    const struct echi_topk *t;
    const struct topk_plan *p;
    struct echi_gpu gpu;
    struct topk_parts parts;
    struct topk_args args;
    struct topk_write_args write;
    struct sort_pack_args pack;
    struct echi_steps steps;
};

/* ---- steps.c ---- */

/* The distance of rows in the array that the kernels read. */
size_t echi_topk_row(const struct echi_topk *t, const struct topk_plan *p);

/* Sets the arguments and adds the steps up to a sort; select: of the algorithm "select". */
void echi_topk_begin(struct topk_build *b, bool select);

/* Adds the step that writes the result from sorted positions; pick: that copies the positions of
 * the selected elements. */
void echi_topk_add_write(struct topk_build *b, bool pick);

#endif
