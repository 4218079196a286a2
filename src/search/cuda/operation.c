/*
 * search/cuda/operation.c - ech_lower_bound() and ech_upper_bound() on the GPU, host code: the
 * choice of the algorithm, the plan and its steps.
 *
 *     algorithm   workspace                        chosen for
 *     warp                                         few needles
 *     binary                                       a small part of the array is read
 *     tree        [ level 1 | level 2 | ... ]      many needles
 *     table       [ positions of all needles ]   many needles of 8 and 16 bits
 *     sorted      [ splits: tiles + 1 of u64 ]     needles that are probably sorted, if
 *                                                  there are about as many as keys
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "search/cuda/common.h"
#include "search/search.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 1 << 30 /* maximum per launch */ };

/* The fastest algorithm, measured with u32 on an NVIDIA H200, 2026-11-24:
 *
 *     needles         any order                        sorted, with the hint
 *     2^10            warp                             warp
 *     2^14            binary                           binary
 *     2^18 in 2^20    tree (0.013 ms; binary 0.022)    tree (0.007; binary 0.012, sorted 0.018)
 *          in 2^26    binary (0.046; tree 0.059)       binary (0.036; tree 0.055, sorted 0.061)
 *          in 2^28    binary (0.094; tree 0.19)        binary (0.051; sorted 0.076, tree 0.19)
 *     2^22 in 2^20    tree (0.12; binary 0.26)         sorted (0.039; tree 0.049)
 *          in 2^26    tree (0.28; binary 0.62)         tree (0.12; sorted 0.17, binary 0.20)
 *          in 2^28    tree (0.50; binary 1.3)          binary (0.24; sorted 0.30, tree 0.31)
 *     2^26 in 2^26    tree (3.5; binary 9.4)           sorted (0.58; tree 0.92)
 *          in 2^28    tree (5.0; binary 20)            tree (1.13; sorted 1.40) */
enum {
    WARP_NEEDLES = 1 << 12,     /* at most so many are searched by a warp each */
    TREE_NEEDLES = 1 << 17,     /* at least so many, and */
    TREE_KEYS = 64,             /* at most so many keys per needle: the tree is worth making */
    TREE_KEYS_SORTED = 32,      /* ... if the needles are sorted */
    TABLE_NEEDLES_8 = 1 << 17,  /* at least so many of 8 bits */
    TABLE_NEEDLES_16 = 1 << 18, /* ... of 16 bits */
    SORTED_NEEDLES = 1 << 21,   /* at least so many, and */
    SORTED_KEYS = 2             /* at most so many keys per needle: a range fits in shared memory */
};

enum { WARP, BINARY, TREE, TABLE, SORTED, ALGORITHMS };

static const struct {
    const char *name, *what;
    size_t least_bytes, most_bytes; /* of a key */
} algorithms[] = {
    [WARP] = { "warp", "a warp per needle divides the range by 32 keys at a time", 1, 8 },
    [BINARY] = { "binary", "a thread per needle does a binary search", 1, 8 },
    [TREE] = { "tree",
               "a tree of samples whose top level is in shared memory; then one sector per "
               "level and needle",
               2, 8 },
    [TABLE] = { "table", "a table of the position of each possible needle", 1, 2 },
    [SORTED] = { "sorted",
                 "a block per tile of needles loads the range of the array between the "
                 "positions of the first needles of two tiles",
                 4, 8 },
};

/* The part of the plan that depends only on the request. */
struct search_plan {
    char module[16];
    int algorithm;
    uint64_t tiles; /* tree and sorted */
    uint32_t levels, top_bits;
    uint64_t count[SEARCH_LEVELS + 1];
    size_t offset[SEARCH_LEVELS + 1]; /* of a level, in the workspace */
};

static bool supports(const struct echi_search *s, int algorithm)
{
    return s->key_bytes >= algorithms[algorithm].least_bytes &&
           s->key_bytes <= algorithms[algorithm].most_bytes;
}

static bool needs_table(const struct echi_search *s)
{
    return s->key_bytes <= 2 && s->m >= (s->key_bytes == 1 ? TABLE_NEEDLES_8 : TABLE_NEEDLES_16);
}

static ech_status choose(const struct echi_search *s, int *algorithm)
{
    const size_t tree_keys = s->needles_sorted ? TREE_KEYS_SORTED : TREE_KEYS;
    const bool sorted = s->needles_sorted && s->m >= SORTED_NEEDLES && s->n / SORTED_KEYS <= s->m;
    *algorithm = s->m <= WARP_NEEDLES                               ? WARP
                 : needs_table(s)                                   ? TABLE
                 : sorted                                           ? SORTED
                 : s->m >= TREE_NEEDLES && s->n / tree_keys <= s->m ? TREE
                                                                    : BINARY;
    if (!s->algorithm) return ECH_OK;
    for (*algorithm = 0; *algorithm < ALGORITHMS; ++*algorithm)
        if (strcmp(s->algorithm, algorithms[*algorithm].name) == 0) break;
    if (*algorithm == ALGORITHMS)
        return echi_fail(NULL, ECH_ERR_ARG,
                         "unknown algorithm \"%s\" for searches on the GPU; available: warp, "
                         "binary, tree, table, sorted",
                         s->algorithm);
    if (!supports(s, *algorithm))
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED,
                         "algorithm \"%s\" does not support keys of %zu bits; \"binary\" does",
                         s->algorithm, 8 * s->key_bytes);
    return ECH_OK;
}

static void plan_tree(const struct echi_search *s, struct search_plan *p,
                      struct echi_layout *layout)
{
    const uint64_t sector = SEARCH_SECTOR(s->key_bytes);
    p->count[0] = s->n;
    while (p->count[p->levels] > SEARCH_TOP) {
        const uint64_t each = p->levels ? sector : SEARCH_WINDOW(s->key_bytes);
        const uint64_t count = (p->count[p->levels++] - 1) / each;
        p->count[p->levels] = count;
        p->offset[p->levels] = layout->bytes;
        echi_part(layout, (size_t)((count - 1) / sector + 1) * (size_t)sector, s->key_bytes);
    }
    while (p->count[p->levels] >> p->top_bits) p->top_bits++;
}

/* Bytes of a position in the table. */
static size_t table_word(const struct echi_search *s)
{
    return (uint64_t)s->n >> 32 ? 8 : 4;
}

static ech_status make_plan(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_search *s = request;
    struct search_plan *p = plan;
    struct echi_layout layout = { .base = NULL };
    ech_status status;
    *p = (struct search_plan){ .levels = 0 };
    TRY(choose(s, &p->algorithm));
    const uint64_t m = s->m, tile = p->algorithm == TREE ? SEARCH_TREE_TILE : SEARCH_TILE;
    snprintf(p->module, sizeof p->module, "search_k%u", 8 * (unsigned)s->key_bytes);
    p->tiles = m / tile + (m % tile != 0);
    if (m && p->algorithm == TREE) plan_tree(s, p, &layout);
    if (m && p->algorithm == TABLE)
        echi_part(&layout, (size_t)1 << 8 * s->key_bytes, table_word(s));
    if (m && p->algorithm == SORTED) echi_part(&layout, (size_t)p->tiles + 1, sizeof(uint64_t));
    *work_bytes = layout.bytes;
done:
    return status;
}

static struct search_args args_of(const struct echi_search *s, const struct search_plan *p,
                                  void *work)
{
    struct search_args a = { .sorted = s->sorted,
                             .needles = s->needles,
                             .positions = s->positions,
                             .splits = work,
                             .table = work,
                             .n = s->n,
                             .m = s->m,
                             .tiles = p->tiles,
                             .levels = p->levels,
                             .top_bits = p->top_bits,
                             .upper = s->upper,
                             .index_bytes = (uint32_t)s->index_bytes,
                             .order = s->order };
    for (uint32_t l = 0; l <= p->levels; l++) {
        a.count[l] = p->count[l];
        a.level[l] = l ? (char *)work + p->offset[l] : NULL;
    }
    return a;
}

static void launch(struct echi_steps *steps, const struct search_plan *p, enum echi_phase phase,
                   const char *kernel, unsigned blocks, unsigned threads)
{
    echi_step_add(steps, (struct echi_step){ .phase = phase,
                                             .kind = ECHI_LAUNCH_PDL,
                                             .module = p->module,
                                             .name = kernel,
                                             .blocks = blocks,
                                             .threads = threads,
                                             .level = -1 });
}

static void make_steps(const struct echi_search *s, const struct search_plan *p,
                       const struct echi_gpu *gpu, struct echi_steps *steps)
{
    steps->count = 0;
    if (s->m == 0) return;
    switch (p->algorithm) {
    case WARP:
        launch(steps, p, ECHI_MOVE, "search_warp",
               echi_cuda_least((s->m - 1) / SEARCH_WARPS + 1, BLOCKS), SEARCH_THREADS);
        break;
    case BINARY:
        launch(steps, p, ECHI_MOVE, "search_binary",
               echi_cuda_least((s->m - 1) / SEARCH_THREADS + 1, BLOCKS), SEARCH_THREADS);
        break;
    case TREE:
        if (p->levels)
            launch(steps, p, ECHI_LOOK, "search_build",
                   echi_gpu_blocks(gpu, p->count[1], SEARCH_THREADS, 16), SEARCH_THREADS);
        launch(steps, p, ECHI_MOVE, "search_tree", echi_gpu_blocks(gpu, s->m, SEARCH_TREE_TILE, 4),
               SEARCH_TREE_THREADS);
        break;
    case TABLE:
        launch(steps, p, ECHI_LOOK, "search_codes",
               s->key_bytes == 1 ? 256 / SEARCH_WARPS : 65536 / SEARCH_THREADS, SEARCH_THREADS);
        launch(steps, p, ECHI_MOVE, "search_table",
               echi_gpu_blocks(gpu, s->m,
                               SEARCH_THREADS * SEARCH_TABLE_AT_ONCE * 16 / s->index_bytes, 8),
               SEARCH_THREADS);
        break;
    default:
        launch(steps, p, ECHI_PLAN, "search_split",
               echi_cuda_least(p->tiles / SEARCH_THREADS + 1, BLOCKS), SEARCH_THREADS);
        launch(steps, p, ECHI_MOVE, "search_sorted", echi_cuda_least(p->tiles, BLOCKS),
               SEARCH_THREADS);
    }
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct search_args args = args_of(request, plan, work);
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    struct echi_steps steps;
    make_steps(request, plan, &gpu, &steps);
    return echi_cuda_enqueue(ctx, &steps, &args, NULL);
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_gpu gpu = echi_gpu_of(NULL);
    struct search_plan plan;
    struct echi_steps steps;
    size_t bytes;
    const ech_status status = make_plan(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    make_steps(request, &plan, &gpu, &steps);
    echi_explain_algorithm(e, true, algorithms[plan.algorithm].name, "%s",
                           algorithms[plan.algorithm].what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (i != plan.algorithm && supports(request, i))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_line(e, "module", "%s", plan.module);
    if (plan.algorithm == TREE) echi_explain_count(e, "levels", plan.levels);
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_search = {
    .plan = make_plan, .plan_bytes = sizeof(struct search_plan), .explain = explain, .run = run
};
