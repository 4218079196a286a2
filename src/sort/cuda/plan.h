/*
 * sort/cuda/plan.h - the plan of a sort on the GPU: a strategy, sizes, and the steps that follow.
 *
 *     plan.c      the table of strategies; chooses one, measures the workspace
 *     <name>.c    a strategy: when it can be used, its parts of the workspace, its steps
 *
 * A plan follows from the request only.  The steps follow from the plan and the GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PLAN_H
#define ECHI_SORT_CUDA_PLAN_H

#include "cuda/steps.h"
#include "sort/cuda/count.h"
#include "sort/cuda/msd.h"
#include "sort/cuda/sample.h"
#include "sort/sort.h"

/* A row of SORT_PAIRS_TUNING in tuning.h. */
struct pairs_tuning {
    int key_bytes, payload_bytes;
    unsigned threads, items, blocks, leaf_threads, leaf_items, leaf_blocks;
};

struct block_plan {
    const char *kernel;
    unsigned threads, shared_bytes;
};

struct onesweep_plan {
    unsigned threads, tile, shared_bytes; /* of sort_onesweep */
    unsigned blocks;                      /* a multiprocessor */
    uint64_t tiles;
};

/* How much of everything a sort by most significant digits can need. */
struct msd_plan {
    int levels;
    uint64_t tile, leaf;              /* keys */
    uint64_t segments, tiles, leaves; /* most: of a level, of a level, of all */
    const struct pairs_tuning *pairs; /* NULL: keys without values */
    unsigned count_blocks;
    bool small;                /* the first level is counted and planned by one launch */
    unsigned small_lsd_blocks; /* of a small array of skewed keys, at most */
    bool packed;               /* there is room for the lists of msd_packed.cuh */
    bool adaptive;             /* keys are sampled first, and left to lsd.c if they are skewed */
    bool buckets;              /* a first level of equal-count buckets (msd_buckets.cuh) */
};

struct sort_strategy;

struct sort_plan {
    const struct sort_strategy *strategy;
    char module[32];        /* "sort_sample_k32_v4" */
    char passes_module[32]; /* of sort_lsd and sort_onesweep: "sort_k32_v4" */
    int payload_bytes;      /* what moves with a key: 0, 4, 8 or 16 */
    bool gather;            /* values are fetched by index at the end */
    int passes;
    struct block_plan block;
    struct onesweep_plan onesweep;
    uint32_t buckets; /* of a sample sort */
    struct msd_plan msd;
    /* low_memory.c: blocks; the copy of the keys; the workspace of a window */
    size_t windows, keys_bytes, window_bytes;
};

/* The arguments of a plan's kernels, those of its strategy; all begin with `common`. */
struct sort_args {
    union {
        struct {
            struct sort_common common;
            struct sort_lists lists; /* of `msd` and of `pairs` */
        };
        struct sort_passes_args passes;
        struct sort_count_args count;
        struct sort_sample_args sample;
        struct sort_msd_args msd;
        struct sort_pairs_args pairs;
    };
    struct sort_lsd_args lsd;    /* of the steps of lsd.c */
    struct sort_pairs_args tail; /* of sort_pairs_tail_levels, in which other blocks count */
};

/* Where steps are made. */
struct sort_build {
    const struct echi_sort *sort;
    const struct sort_plan *plan;
    struct echi_gpu gpu;
    struct sort_args *args; /* of all kernels whose step has none of its own */
    struct echi_steps *steps;
    void *work;
};

struct sort_strategy {
    const char *name, *what;
    const char *when;   /* it is chosen, for the documentation */
    const char *family; /* of the module's name: "sort", "sort_msd", "sort_sample" */
    size_t least;       /* of fewer elements it makes no difference */
    bool (*can)(const struct echi_sort *s);
    bool (*best)(const struct echi_sort *s); /* chosen then, if it is not named */

    /* (optional) The sizes that the plan needs. */
    ech_status (*size)(const struct echi_sort *s, struct sort_plan *plan);
    /* Its parts of the workspace, as pointers of args. */
    void (*lay_out)(const struct echi_sort *s, const struct sort_plan *plan,
                    struct echi_layout *layout, struct sort_args *args);
    ech_status (*steps)(const struct sort_build *b);
};

extern const struct sort_strategy echi_sort_by_block, echi_sort_by_count, echi_sort_by_sample,
    echi_sort_by_adaptive, echi_sort_by_buckets, echi_sort_by_msd, echi_sort_by_onesweep,
    echi_sort_by_low_memory;

/* ---- plan.c ---- */

/* For strategies that can do, or are the best for, any sort that comes to them. */
bool echi_sort_any(const struct echi_sort *s);

/* What moves with a key in every pass: nothing, the value, or its index. */
int echi_sort_payload(const struct echi_sort *s, bool *gather);

/* Chooses a strategy and measures the workspace. */
ech_status echi_sort_plan(const struct echi_sort *s, struct sort_plan *plan, size_t *work_bytes);

/* Appends the launch of a kernel of the plan's module. */
void echi_sort_launch(const struct sort_build *b, enum echi_phase phase, enum echi_step_kind kind,
                      const char *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                      int level, const char *when);

/* ---- onesweep.c ---- */

/* A row of SORT_TUNING in tuning.h. */
struct passes_tuning {
    int key_bytes, payload_bytes;
    unsigned threads, items, blocks, alone;
};
const struct passes_tuning *echi_sort_passes_tuning(int key_bytes, int payload_bytes);
struct onesweep_plan echi_sort_onesweep_plan(const struct echi_sort *s, int payload_bytes);

/* The steps that count every digit and plan: of `tiles` tiles with a look-back. */
void echi_sort_histogram_steps(const struct sort_build *b, uint64_t tiles);

/* Blocks of a kernel that moves n things, each thread `each` at a time. */
unsigned echi_sort_move_blocks(const struct sort_build *b, uint64_t n, unsigned each);

/* ---- lsd.c ---- */

/* Least significant digits in few launches, if the device finds that keys are skewed. */
void echi_sort_lsd_steps(const struct sort_build *b);

/* ---- msd.c ---- */

/* Of a small array of skewed keys: the tile that so many blocks have shared memory for (in args);
 * returns how much a block takes, or `least` if that is more. */
unsigned echi_sort_small_lsd_bytes(const struct sort_build *b, unsigned blocks, unsigned least,
                                   unsigned element_bytes);

/* The step that begins the lists of segments. */
void echi_sort_begin_lists(const struct sort_build *b);

/* ---- msd_pairs.c ---- */

/* NULL if no kernel is compiled for keys of that size with such a payload. */
const struct pairs_tuning *echi_sort_pairs_tuning(int key_bytes, int payload_bytes);
ech_status echi_sort_pairs_steps(const struct sort_build *b);

/* ---- host.c ---- */

ech_status echi_sort_run_host(ech_ctx *ctx, const void *request, const void *plan,
                              size_t work_bytes);

#endif
