/*
 * sort/cuda/segments_plan.h - the plan of a sort of rows or segments on the GPU, and what its steps
 * are made of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SEGMENTS_PLAN_H
#define ECHI_SORT_CUDA_SEGMENTS_PLAN_H

#include "sort/cuda/plan.h"
#include "sort/cuda/segments.h"
#include "sort/segments.h"

struct groups_plan {
    uint64_t longest;               /* of a group, at most */
    uint64_t portion;               /* elements that the lists of long groups refer to, at most */
    uint32_t words_log, most_class; /* long groups have more than 2^most_class elements */
    bool positions, has_long, huge_rows, pack, unpack;
    bool counted, bins; /* sort_short_block counts keys; sort_group_bins sorts them by bins */
    bool all;           /* ... all groups, which are not listed */
    bool wide;          /* sort_counted instead of sort_short_block */
    /* Long groups: keys become 32 bits wide; what is gathered by index; whether indices of 32 bits
     * in the workspace are sorted with the keys. */
    bool widen, gather_keys, gather_values, index;
    char short_module[32];
    struct echi_sort rest; /* the sort of long groups */
    struct sort_plan plan; /* its plan */
};

/* The parts of the workspace. */
struct groups_parts {
    void *keys, *values; /* packed rows */
    uint32_t *lists[SORT_BLOCK_CLASSES + 1];
    struct sort_groups_state *state;
    void *row_work; /* of a huge row */
    size_t row_work_bytes;
    struct sort_args args;
    uint32_t *wide, *index;
    void *keys_copy, *values_copy; /* keys also of groups that are counted in place, or in tiles */
};

/* The steps, and the arguments of their kernels. */
struct groups_build {
    const struct echi_sort_segments *r;
    const struct groups_plan *plan;
    struct echi_gpu gpu;
    struct groups_parts parts;
    struct echi_steps steps;
    struct echi_sort s; /* with the arrays in which elements are adjacent */
    struct sort_groups groups;
    struct sort_short_args shorts; /* also of sort_group_bins, and of blocks that count */
    struct sort_short_args blocks[SORT_BLOCK_CLASSES];
    struct sort_long_args longs;
    struct sort_widen_args widen;
    struct sort_gather_args gather[2];
    struct sort_pack_args pack[2], unpack[2];
    struct echi_sort rest;
};

/* ---- segments.c ---- */

/* The maximum number of segments in a list. */
uint64_t echi_sort_groups_capacity(const struct echi_sort_segments *r, const struct groups_plan *p,
                                   uint32_t list);

/* ---- segments_steps.c ---- */

/* Appends the steps before those of long groups: rows are packed, short groups are sorted. */
void echi_sort_groups_begin(struct groups_build *b);

/* Appends the steps for the long groups that begin in [base, base + step), of an array of n
 * elements from base on. */
ech_status echi_sort_groups_long(struct groups_build *b, uint64_t base, uint64_t step, uint64_t n);

/* Appends the steps that unpack rows. */
void echi_sort_groups_end(struct groups_build *b);

/* The address of an element; NULL if there is no array. */
static inline const void *echi_sort_groups_at(const void *array, uint64_t element, size_t bytes)
{
    return array ? (const char *)array + element * bytes : NULL;
}

static inline void *echi_sort_groups_out(void *array, uint64_t element, size_t bytes)
{
    return array ? (char *)array + element * bytes : NULL;
}

#endif
