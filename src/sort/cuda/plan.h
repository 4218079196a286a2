/*
 * sort/cuda/plan.h - the plan of a sort on the GPU: a strategy, sizes, and the steps that follow.
 *
 *     plan.c      the table of strategies; chooses one, measures the workspace
 *     <name>.c    a strategy: its condition, its parts of the workspace, its steps
 *
 * A plan depends on the request only.  The steps depend on the plan and the GPU.
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
    unsigned apart_bytes; /* ... if the values have their own part of it; 0: they do not */
    unsigned blocks;      /* per multiprocessor */
    uint64_t tiles;
};

/* The maximum number of elements of which bins of the first digit are sorted in place: those whose
 * parts are leaves after the second one, or nearly all of them. */
#define SORT_LOW_MEMORY_RESIDENT(key_bytes, value_bytes)                                           \
    ((size_t)((key_bytes) == 4 && (value_bytes) <= 4 ? 2 : 1) * SORT_LOW_MEMORY_BINS_MIN)

/* Passes in one array, pages.cuh: the elements of a page, and the pages of the pool. */
struct pages_plan {
    uint32_t each, pool;
    /* If the bins of the first digit are sorted: elements of a bin at most, and elements and
     * workspace of the bins that are sorted at a time; or 0. */
    size_t most, portion, work_bytes;
    bool resident; /* ... or if all bins are sorted in one launch */
};

/* Upper bounds for the lists of an MSD radix sort. */
struct msd_plan {
    int levels;
    uint64_t tile, leaf;              /* keys */
    uint64_t segments, tiles, leaves; /* maxima: of a level, of a level, of all levels */
    const struct pairs_tuning *pairs; /* NULL: keys without values */
    unsigned count_blocks;
    bool small;                /* one launch counts and plans the first level */
    unsigned small_lsd_blocks; /* of a small array of skewed keys, maximum */
    bool packed;               /* the lists of msd_packed.cuh fit */
    bool adaptive;             /* keys are sampled first; if they are skewed, lsd.c sorts them */
    bool buckets;              /* a first level of equal-count buckets (msd_buckets.cuh) */
};

/* The end of a sort: what was moved with the keys is the output; or it is an index, by which values
 * are gathered, or which is narrower than those of the output. */
enum sort_end { SORT_AS_MOVED, SORT_GATHER, SORT_WIDEN };

struct sort_strategy;

struct sort_plan {
    const struct sort_strategy *strategy;
    char module[32];        /* "sort_sample_k32_v4" */
    char passes_module[32]; /* of sort_lsd and sort_onesweep: "sort_k32_v4" */
    int payload_bytes;      /* bytes that are moved with a key: 0, 4, 8 or 16 */
    enum sort_end end;      /* how they reach the output */
    int passes;
    struct block_plan block;
    struct onesweep_plan onesweep;
    uint32_t buckets; /* of a sample sort */
    struct msd_plan msd;
    /* low_memory.c: blocks, 1 for the sort of the entire array by `whole`, or 0 for pages; the copy
     * of the keys; the workspace of a window */
    size_t windows, keys_bytes, window_bytes;
    const char *whole;
    struct pages_plan pages;
};

/* The arguments of a plan's kernels, depending on its strategy; all begin with `common`. */
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
    struct sort_lsd_args lsd;         /* of the steps of lsd.c */
    struct sort_lsd_args lsd_pass[4]; /* ... of each pass, if the passes are launches */
    union {                           /* of the leaves of low_memory.c */
        struct sort_msd_args leaf;
        struct sort_pairs_args pairs_leaf;
    };
    struct sort_pairs_args tail; /* of sort_pairs_tail_levels, which has another number of counting
                                    blocks */
};

/* The context in which steps are made. */
struct sort_build {
    const struct echi_sort *sort;
    const struct sort_plan *plan;
    struct echi_gpu gpu;
    struct sort_args *args; /* of all kernels whose step has no separate arguments */
    struct echi_steps *steps;
    void *work;
    bool one_level; /* groups have known high bits, so that one level may make large leaves */
};

struct sort_strategy {
    const char *name, *what;
    const char *when;   /* when it is chosen, for the documentation */
    const char *family; /* of the module's name: "sort", "sort_msd", "sort_sample" */
    size_t least;       /* minimum number of elements for which it is listed as an alternative */
    bool (*can)(const struct echi_sort *s);
    bool (*best)(const struct echi_sort *s); /* whether it is chosen if no strategy is named */

    /* (optional) Computes the sizes of the plan. */
    ech_status (*size)(const struct echi_sort *s, struct sort_plan *plan);
    /* Lays out its parts of the workspace, as pointers in args. */
    void (*lay_out)(const struct echi_sort *s, const struct sort_plan *plan,
                    struct echi_layout *layout, struct sort_args *args);
    ech_status (*steps)(const struct sort_build *b);
};

extern const struct sort_strategy echi_sort_by_block, echi_sort_by_count, echi_sort_by_sample,
    echi_sort_by_adaptive, echi_sort_by_buckets, echi_sort_by_msd, echi_sort_by_onesweep,
    echi_sort_by_low_memory;

/* ---- plan.c ---- */

/* For strategies that can sort, or are the best for, all sorts that reach them. */
bool echi_sort_any(const struct echi_sort *s);

/* What is moved with a key in every pass: nothing, the value, or its index. */
int echi_sort_payload(const struct echi_sort *s, enum sort_end *end);

/* Whether keys with values can be sorted as words (words.cuh), by one block or by samplesort; the
 * arguments for that. */
bool echi_sort_as_words(const struct echi_sort *s);
struct sort_words echi_sort_words(const struct echi_sort *s, const struct sort_plan *plan);

/* Whether all keys with different bits are different. */
bool echi_sort_compared_plainly(const struct echi_sort *s);

/* The arguments that all kernels have, without the workspace. */
struct sort_common echi_sort_common(const struct echi_sort *s);

/* Chooses a strategy and measures the workspace. */
ech_status echi_sort_plan(const struct echi_sort *s, struct sort_plan *plan, size_t *work_bytes);

/* Appends the launch of a kernel of the plan's module. */
void echi_sort_launch(const struct sort_build *b, enum echi_phase phase, enum echi_step_kind kind,
                      const char *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                      int level, const char *when);

/* Sets the arguments that differ between the launches of a plan: for echi_cuda_enqueue(). */
void echi_sort_set_args(void *args, struct echi_step *step, uint64_t part);

/* ---- onesweep.c ---- */

/* A row of SORT_TUNING in tuning.h. */
struct passes_tuning {
    int key_bytes, payload_bytes;
    unsigned threads, items, blocks, large;
};
const struct passes_tuning *echi_sort_passes_tuning(int key_bytes, int payload_bytes);
struct onesweep_plan echi_sort_onesweep_plan(const struct echi_sort *s, int payload_bytes);
unsigned echi_sort_onesweep_bytes(const struct sort_build *b); /* of shared memory, on this GPU */

/* The steps that count all digits and plan the passes; clears the descriptors of `tiles` tiles. */
void echi_sort_histogram_steps(const struct sort_build *b, uint64_t tiles);

/* The workspace for sorts of bins in resident blocks. */
size_t echi_sort_resident_bytes(const struct echi_sort *s, const struct onesweep_plan *plan);

/* All steps of a sort in passes; in pages, if the plan has any. */
ech_status echi_sort_onesweep_steps(const struct sort_build *b);

/* The number of blocks of a kernel that moves n elements, `each` per thread and iteration. */
unsigned echi_sort_move_blocks(const struct sort_build *b, uint64_t n, unsigned each);

/* ---- lsd.c ---- */

/* LSD radix sort in few launches, if the device finds that keys are skewed.  They follow the launch
 * that finds it: if the levels' launches, which then end at once, preceded them, the GPU would wait
 * for the host. */
void echi_sort_lsd_steps(const struct sort_build *b);

/* ---- msd.c ---- */

/* For a small array of skewed keys: sets the tile for which this many blocks have shared memory (in
 * args); returns the shared memory of a block, at least `least`. */
unsigned echi_sort_small_lsd_bytes(const struct sort_build *b, unsigned blocks, unsigned least,
                                   unsigned element_bytes);

/* The same for a small array, unless small_lsd.cuh sorts it because each block has one tile. */
void echi_sort_small_lsd_steps(const struct sort_build *b);

/* Names the module of an MSD radix sort with the plan's payload. */
void echi_sort_msd_module(const struct echi_sort *s, struct sort_plan *plan);

/* The plan of the lists for groups in an array of s->n elements, of which `leaves` may be leaves at
 * once; and their parts of the workspace. */
void echi_sort_msd_size_groups(const struct echi_sort *s, uint64_t leaves, struct sort_plan *plan);
void echi_sort_msd_lay_out(const struct echi_sort *s, const struct sort_plan *plan,
                           struct echi_layout *layout, struct sort_args *args);

/* The maximum number of elements of a leaf of groups.  The steps that sort them, after the first
 * lists; longest: elements of a group at most; even: all groups have that many. */
uint32_t echi_sort_msd_leaf(const struct sort_plan *plan);

/* The blocks for the leaves of groups: one per leaf if their number is known, because this is
 * faster than persistent blocks. */
unsigned echi_sort_group_leaves(const struct sort_build *b, uint64_t longest, bool even,
                                uint64_t leaf);
ech_status echi_sort_msd_groups(const struct sort_build *b, uint64_t longest, bool even);

/* The step that begins the lists of segments. */
void echi_sort_begin_lists(const struct sort_build *b);

/* ---- msd_pairs.c ---- */

/* NULL if no kernel is compiled for keys of that size with such a payload. */
const struct pairs_tuning *echi_sort_pairs_tuning(int key_bytes, int payload_bytes);
ech_status echi_sort_pairs_steps(const struct sort_build *b);

/* Whether pairs are floats that are sorted packed, or by passes instead of levels: the steps of
 * these are the last ones. */
bool echi_sort_by_map_or_passes(const struct sort_build *b);

/* The step that makes a map of uneven keys, if the pairs may be packed, or decides that passes sort
 * them. */
void echi_sort_packed_map_step(const struct sort_build *b);

/* The shared memory of the leaves of a module. */
ech_status echi_sort_pairs_leaf_bytes(const struct echi_gpu *gpu, const char *module,
                                      const struct pairs_tuning *t, unsigned *bytes);
ech_status echi_sort_pairs_groups(const struct sort_build *b, uint64_t longest, bool even);

/* ---- host.c ---- */

ech_status echi_sort_run_host(ech_ctx *ctx, const void *request, const void *plan,
                              size_t work_bytes);

#endif
