/*
 * merge/cuda/operation.c - ech_merge() on the GPU, host code: a launch that finds the boundaries of
 * tiles if there are many, and one that merges them; or one that finds where each possible key
 * begins, and one that writes the result.
 *
 *     algorithm    workspace
 *     merge_path   [ splits: tiles + 1 positions of 64 bits ], or nothing
 *     table        [ starts: codes + 1 | of a: codes + 1 ], for many keys of 8 and 16 bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "merge/cuda/common.h"
#include "merge/cuda/launch.h"
#include "merge/merge.h"

#include <stdio.h>
#include <string.h>

/* The part of the plan that depends only on the request. */
struct merge_plan {
    char module[16];
    const char *kernel;
    bool table;         /* the algorithm */
    unsigned key_bytes; /* of the request */
    uint32_t tile;      /* elements */
    uint64_t tiles;
};

/* Whether the keys can be merged by a table of all possible ones. */
static bool is_narrow(const struct echi_merge *m)
{
    return m->key_bytes <= 2 && !m->value_bytes;
}

static ech_status choose_algorithm(const struct echi_merge *m, bool *table)
{
    *table = is_narrow(m) && (uint64_t)m->n[0] + m->n[1] >= MERGE_TABLE_LEAST;
    if (m->algorithm) *table = strcmp(m->algorithm, "table") == 0;
    if (*table && !is_narrow(m))
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED,
                         "algorithm \"table\" does not support %s of %zu bits; \"merge_path\" does",
                         m->value_bytes ? "values and keys" : "keys", 8 * m->key_bytes);
    return ECH_OK;
}

/* Keys of 8 and 16 bits without values have a kernel of their own (narrow.cuh). */
static void choose_kernel(const struct echi_merge *m, struct merge_plan *p)
{
    const unsigned bytes = (unsigned)m->key_bytes;
    unsigned items = MERGE_ITEMS(bytes);
    p->kernel = "merge_pairs";
    if (p->table) {
        p->kernel = "merge_fill";
        p->tile = MERGE_FILL_TILE(bytes);
        return;
    }
    if (!m->value_bytes && bytes <= 2) {
        p->kernel = "merge_narrow";
        items = MERGE_NARROW_WORDS(bytes) * (4 / bytes);
    } else if (!m->value_bytes) {
        p->kernel = "merge_keys";
        items = MERGE_KEYS_ITEMS(bytes);
    }
    p->tile = MERGE_THREADS * items;
}

static ech_status make_plan(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_merge *m = request;
    struct merge_plan *p = plan;
    struct echi_layout layout = { .base = NULL };
    const uint64_t n = (uint64_t)m->n[0] + m->n[1];
    ech_status status;
    TRY(choose_algorithm(m, &p->table));
    p->key_bytes = (unsigned)m->key_bytes;
    snprintf(p->module, sizeof p->module, "merge_k%u", 8 * p->key_bytes);
    choose_kernel(m, p);
    p->tiles = n / p->tile + (n % p->tile != 0);
    if (p->table && n)
        echi_part(&layout, 2 * ((size_t)MERGE_CODES(m->key_bytes) + 1), sizeof(uint64_t));
    else if (p->tiles > MERGE_ALONE)
        echi_part(&layout, (size_t)p->tiles + 1, sizeof(uint64_t));
    *work_bytes = layout.bytes;
done:
    return status;
}

static struct merge_args args_of(const struct echi_merge *m, const struct merge_plan *p, void *work)
{
    const size_t word = m->value_bytes ? echi_opaque_align(m->value_bytes) : 1;
    uint64_t *table = p->table ? work : NULL;
    return (struct merge_args){ .keys = { m->keys[0], m->keys[1] },
                                .values = { m->values[0], m->values[1] },
                                .keys_out = m->keys_out,
                                .values_out = m->values_out,
                                .splits = p->table ? NULL : work,
                                .starts = table,
                                .starts_a = table ? table + MERGE_CODES(m->key_bytes) + 1 : NULL,
                                .n_a = m->n[0],
                                .n_b = m->n[1],
                                .tiles = p->tiles,
                                .tile = p->tile,
                                .words = m->value_bytes / word,
                                .word_bytes = (uint32_t)word,
                                .order = m->order };
}

/* Whether a launch of its own finds the boundaries of the tiles. */
static bool has_split(const struct merge_plan *p, const struct echi_gpu *gpu)
{
    return p->tiles > MERGE_ALONE * (uint64_t)gpu->multiprocessors;
}

static void table_steps(const struct merge_plan *p, const struct echi_gpu *gpu,
                        const struct merge_args *args, struct echi_steps *steps)
{
    /* A warp for each code of 8 bits, a thread for each of 16. */
    const unsigned threads = MERGE_CODES(p->key_bytes) * (p->key_bytes == 1 ? 32 : 1);
    merge_launch(steps, p->module, ECHI_LOOK, "merge_codes", threads / MERGE_THREADS, -1);
    merge_launch(steps, p->module, ECHI_MOVE, p->kernel,
                 echi_gpu_blocks(gpu, args->n_a + args->n_b, p->tile, MERGE_FILL_BLOCKS), -1);
}

static void make_steps(const struct merge_plan *p, struct echi_gpu gpu, struct merge_args *args,
                       struct echi_steps *steps)
{
    args->few = p->tiles <= MERGE_FEW;
    const uint64_t each = args->few ? MERGE_THREADS / 8 : MERGE_THREADS;
    steps->count = 0;
    if (p->tiles == 0) return;
    if (p->table) {
        table_steps(p, &gpu, args, steps);
        return;
    }
    if (has_split(p, &gpu))
        merge_launch(steps, p->module, ECHI_PLAN, "merge_split", p->tiles / each + 1, -1);
    else
        args->splits = NULL;
    merge_launch(steps, p->module, ECHI_MOVE, p->kernel, p->tiles, -1);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct merge_args args = args_of(request, plan, work);
    struct echi_steps steps;
    make_steps(plan, echi_gpu_of(ctx), &args, &steps);
    return echi_cuda_enqueue(ctx, &steps, &args, NULL);
}

/* The algorithm first that is used. */
static void explain_algorithms(const struct echi_merge *m, const struct merge_plan *p,
                               struct echi_explain *e)
{
    for (int used = 1; used >= (is_narrow(m) ? 0 : 1); used--)
        if (p->table == (used == 1))
            echi_explain_algorithm(e, used, "table",
                                   "searches find where each possible key begins; blocks write "
                                   "tiles of %u elements",
                                   (unsigned)MERGE_FILL_TILE(m->key_bytes));
        else
            echi_explain_algorithm(e, used, "merge_path",
                                   "blocks merge tiles in shared memory, whose boundaries a binary "
                                   "search finds");
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_merge *m = request;
    struct merge_plan plan;
    struct echi_steps steps;
    size_t bytes;
    const ech_status status = make_plan(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    struct merge_args args = args_of(m, &plan, NULL);
    make_steps(&plan, echi_gpu_of(NULL), &args, &steps);
    explain_algorithms(m, &plan, e);
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_merge = {
    .plan = make_plan, .plan_bytes = sizeof(struct merge_plan), .explain = explain, .run = run
};
