/*
 * sort/cuda/onesweep.c - strategy "onesweep": least significant digit first, one launch per digit.
 *
 *     workspace   [ keys' second buffer | (argsort: keys' third) | payload's second buffer
 *                 | state | tile status descriptors ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

#include <stddef.h>
#include <string.h>

static const struct passes_tuning tunings[] = {
#define ROW(key, value, threads, items, blocks, large)                                             \
    { key, value, threads, items, blocks, large },
    SORT_TUNING(ROW)
#undef ROW
};

const struct passes_tuning *echi_sort_passes_tuning(int key_bytes, int payload_bytes)
{
    const struct passes_tuning *t = tunings;
    while (t->key_bytes != key_bytes || t->payload_bytes != payload_bytes) t++;
    return t;
}

struct onesweep_plan echi_sort_onesweep_plan(const struct echi_sort *s, int payload_bytes)
{
    const struct passes_tuning *t = echi_sort_passes_tuning(s->key_bytes, payload_bytes);
    int widest = s->key_bytes > payload_bytes ? s->key_bytes : payload_bytes;
    if (s->key_bytes <= 2 && payload_bytes) widest = payload_bytes + 2; /* narrow.cuh */
    unsigned tile = t->threads * t->items, key = (unsigned)s->key_bytes;
    struct onesweep_plan p = { .threads = t->threads, .tile = tile, .blocks = t->blocks };
    p.shared_bytes = SORT_ONESWEEP_SHARED_BYTES(t->threads, t->items, (unsigned)widest);
    if (key > 2 && payload_bytes == 16)
        p.apart_bytes = SORT_APART_SHARED_BYTES(t->threads, t->items, key, 16u);
    p.tiles = ((uint64_t)s->n + tile - 1) / tile;
    return p;
}

/* A GPU with less shared memory has code that needs less. */
unsigned echi_sort_onesweep_bytes(const struct sort_build *b)
{
    const struct onesweep_plan *p = &b->plan->onesweep;
    return p->apart_bytes && b->gpu.shared_bytes >= p->apart_bytes ? p->apart_bytes
                                                                   : p->shared_bytes;
}

static const struct staged_tuning {
    int key_bytes, payload_bytes;
    unsigned threads, items, blocks;
} staged[] = {
#define ROW(key, value, threads, items, blocks) { key, value, threads, items, blocks },
    SORT_STAGED_TUNING(ROW)
#undef ROW
};

/* The passes on this GPU, which may have larger tiles than those of the plan. */
static ech_status find_passes(const struct sort_build *b, struct onesweep_plan *p)
{
    const struct staged_tuning *t = staged;
    const int key = b->sort->key_bytes, payload = b->plan->payload_bytes;
    int capability;
    ech_status status = ECH_OK;
    *p = b->plan->onesweep;
    p->shared_bytes = echi_sort_onesweep_bytes(b);
    if (!SORT_STAGED(key, payload, 90)) return ECH_OK;
    TRY(echi_gpu_compiled_for(&b->gpu, b->plan->module, "sort_onesweep", &capability));
    if (!SORT_STAGED(key, payload, capability)) return ECH_OK;
    while (t->key_bytes != key || t->payload_bytes != payload) t++;
    p->threads = t->threads;
    p->tile = t->threads * t->items;
    p->tiles = ((uint64_t)b->sort->n + p->tile - 1) / p->tile;
    p->blocks = t->blocks;
    p->shared_bytes =
        SORT_STAGED_SHARED_BYTES(t->threads, t->items, (unsigned)key, (unsigned)payload);
done:
    return status;
}

unsigned echi_sort_move_blocks(const struct sort_build *b, uint64_t n, unsigned each)
{
    return echi_cuda_least(n / (SORT_MOVE_THREADS * each) + 1,
                           32 * (uint64_t)b->gpu.multiprocessors);
}

_Static_assert(offsetof(struct sort_state, counts) == 0, "the counts are at the beginning");

void echi_sort_histogram_steps(const struct sort_build *b, uint64_t tiles)
{
    struct sort_passes_args *args = &b->args->passes;
    if (args->status) { /* also the lists of pages, which are before it */
        args->clear = args->pages.state ? (void *)args->pages.state : args->status;
        args->clear_bytes =
            (uint64_t)((char *)(args->status + tiles * SORT_BINS) - (char *)args->clear);
    }
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_COUNT,
                                                .kind = ECHI_ZEROS,
                                                .level = -1,
                                                .to = args->state,
                                                .slot = &args->counts,
                                                .bytes = sizeof *args->counts });
    /* A block counts in 32 bits, so for very large n the grid grows beyond the size that fills the
     * GPU. */
    uint64_t fill = SORT_HISTOGRAM_BLOCKS * (uint64_t)b->gpu.multiprocessors;
    uint64_t needed = args->common.n >> 31,
             work = args->common.n / (SORT_HISTOGRAM_THREADS * 16) + 1;
    unsigned blocks = echi_cuda_least(work, fill > needed ? fill : needed);
    if (args->pages.most)
        echi_sort_launch(b, ECHI_COUNT, ECHI_LAUNCH_PDL, "sort_histogram_first", blocks,
                         SORT_HISTOGRAM_THREADS, 0, -1, "the first digits of a sample are uneven");
    if (!args->pages.group)
        echi_sort_launch(b, ECHI_COUNT, ECHI_LAUNCH_PDL, "sort_histogram", blocks,
                         SORT_HISTOGRAM_THREADS, 0, -1, NULL);
}

/* ---- The strategy ---- */

static void lay_out_onesweep(const struct echi_sort *s, const struct sort_plan *plan,
                             struct echi_layout *layout, struct sort_args *args)
{
    const size_t payload = (size_t)plan->payload_bytes;
    args->common.keys_tmp = echi_part(layout, s->n, (size_t)s->key_bytes);
    if (echi_sort_discards_keys(s))
        args->common.keys_out = echi_part(layout, s->n, (size_t)s->key_bytes);
    if (payload) args->common.values_tmp = echi_part(layout, s->n, payload);
    args->passes.state = echi_part(layout, 1, sizeof *args->passes.state);
    args->passes.status =
        echi_part(layout, plan->onesweep.tiles, SORT_BINS * sizeof *args->passes.status);
}

/* A launch of pages_place.cuh. */
static void add_pages(const struct sort_build *b, enum echi_phase phase, const char *kernel,
                      unsigned blocks, unsigned threads, int level)
{
    echi_step_add(b->steps, (struct echi_step){ .phase = phase,
                                                .kind = ECHI_LAUNCH,
                                                .module = "sort_groups_all",
                                                .name = kernel,
                                                .when = "elements are in pages",
                                                .blocks = blocks,
                                                .threads = threads,
                                                .level = level });
}

/* More shared memory for a pass that may use splitters. */
static unsigned splitters_bytes(const struct sort_build *b)
{
    return SORT_SPLITS(b->sort->key_bytes, b->plan->payload_bytes)
               ? SORT_SPLITTERS_SHARED_BYTES(b->plan->onesweep.tile, (unsigned)b->sort->key_bytes)
               : 0;
}

/* Whether the bins of the first digit may be sorted separately.  The emulator does so for fewer
 * elements, to test it. */
static bool sorts_bins(const struct sort_build *b)
{
    const bool emulated = b->gpu.ctx && strcmp(b->gpu.ctx->backend->name, "simt") == 0;
    if (!b->plan->pages.portion) return false;
    return (emulated || b->args->common.n >= SORT_LOW_MEMORY_BINS_MIN) &&
           echi_sort_onesweep_bytes(b) + splitters_bytes(b) <= b->gpu.shared_bytes;
}

enum { RESIDENT_GROUP = 2 /* tiles of a group of bins, per block */ };

/* Many keys need large leaves, because a bin has at most SORT_BINS parts. */
static bool leaves_are_large(const struct echi_sort *s)
{
    return !s->value_bytes && s->n >= SORT_LOW_MEMORY_BINS_MIN;
}

static uint32_t leaf_of(const struct echi_sort *s)
{
    if (s->value_bytes) return SORT_PAIRS_LEAF;
    return SORT_MSD_LEAF((unsigned)s->key_bytes) * (leaves_are_large(s) ? 2 : 1);
}

/* The blocks that sort bins in place, which are resident together; 0: the bins are not sorted so,
 * because they are probably too large, or the descriptors are. */
static unsigned bins_blocks(const struct sort_build *b)
{
    enum { STATIC_BYTES = 4096 }; /* of struct resident_shared, at most */
    const struct onesweep_plan *p = &b->plan->onesweep;
    const uint64_t n = b->args->common.n;
    if (!b->plan->pages.resident ||
        echi_sort_onesweep_bytes(b) + splitters_bytes(b) > b->gpu.shared_bytes ||
        (leaves_are_large(b->sort) && SORT_LEAF_SHARED_BYTES(1) > b->gpu.shared_bytes) ||
        !echi_gpu_has(&b->gpu, b->plan->module, "sort_onesweep_bins"))
        return 0;
    const unsigned blocks =
        echi_gpu_resident(&b->gpu, p->blocks, p->threads,
                          echi_sort_onesweep_bytes(b) + splitters_bytes(b) + STATIC_BYTES) *
        (unsigned)b->gpu.multiprocessors;
    /* Bins of twice the mean size must fit, with values of four times: unevenly distributed pairs
     * of 2^28 u32 take twice the time otherwise. */
    const uint64_t most = n / (b->sort->value_bytes ? SORT_LOW_MEMORY_BINS : SORT_BINS / 2);
    return (uint64_t)blocks * p->tile < most ? 0 : blocks;
}

/* Lays out the workspace for sorts of bins in resident blocks. */
static void lay_out_bins(const struct echi_sort *s, const struct onesweep_plan *plan,
                         struct echi_layout *layout, struct sort_pages_args *pages,
                         struct sort_lists *lists)
{
    const size_t rows = SORT_BINS + SORT_BINS_WORKERS(s->n);
    const size_t descriptors = (size_t)(plan->tiles + rows) * SORT_BINS * sizeof(uint32_t) +
                               (s->n / leaf_of(s) + 1) * sizeof(uint32_t);
    const size_t splitters = rows * SORT_BINS * (size_t)s->key_bytes;
    const size_t leaves = SORT_BINS_LEAVES(s->n, leaf_of(s));
    char *bins = echi_part(layout, splitters + sizeof *pages->bins + descriptors, 1);
    pages->bins = bins ? (void *)(bins + splitters) : NULL;
    pages->leaves = echi_part(layout, leaves, sizeof *pages->leaves);
    lists->skewed_leaves = echi_part(layout, leaves, sizeof *lists->skewed_leaves);
}

size_t echi_sort_resident_bytes(const struct echi_sort *s, const struct onesweep_plan *plan)
{
    struct echi_layout layout = { 0 };
    struct sort_pages_args pages;
    struct sort_lists lists;
    lay_out_bins(s, plan, &layout, &pages, &lists);
    return layout.bytes;
}

static void add_leaf(const struct sort_build *b, const char *module, const char *kernel,
                     uint64_t blocks, unsigned threads, unsigned shared_bytes)
{
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                .kind = ECHI_LAUNCH_PDL,
                                                .module = module,
                                                .name = kernel,
                                                .when = "no bin of the first digit is too large",
                                                .blocks = echi_cuda_least(blocks, UINT32_MAX),
                                                .threads = threads,
                                                .shared_bytes = shared_bytes,
                                                .level = b->plan->passes,
                                                .args = &b->args->leaf });
}

/* The leaves that sort_onesweep_bins lists. */
static ech_status add_leaves(const struct sort_build *b)
{
    const uint64_t leaves = b->sort->n / (leaf_of(b->sort) / 2) + SORT_BINS;
    const uint64_t processors = (uint64_t)b->gpu.multiprocessors;
    ech_status status = ECH_OK;
    if (b->sort->value_bytes) {
        const int key = b->sort->key_bytes, value = (int)b->sort->value_bytes;
        const struct pairs_tuning *t = echi_sort_pairs_tuning(key, value);
        const char *module = key == 4
                                 ? value == 4 ? "sort_msd_pairs_k32_v4" : "sort_msd_pairs_k32_v8"
                             : value == 4 ? "sort_msd_pairs_k64_v4"
                                          : "sort_msd_pairs_k64_v8";
        unsigned bytes;
        TRY(echi_sort_pairs_leaf_bytes(&b->gpu, module, t, &bytes));
        add_leaf(b, module, "sort_pairs_leaf", leaves, t->leaf_threads, bytes);
        add_leaf(b, module, "sort_pairs_skewed_leaf",
                 echi_cuda_least(leaves, t->leaf_blocks * processors), t->leaf_threads, bytes);
    } else {
        const char *module = b->sort->key_bytes == 4 ? "sort_msd_k32" : "sort_msd_k64";
        const bool large = leaves_are_large(b->sort);
        add_leaf(b, module, large ? "sort_msd_leaf_large" : "sort_msd_leaf", leaves,
                 SORT_LEAF_THREADS, SORT_LEAF_SHARED_BYTES(large));
        add_leaf(b, module, large ? "sort_msd_skewed_leaf_large" : "sort_msd_skewed_leaf",
                 echi_cuda_least(leaves, SORT_SKEWED_LEAF_BLOCKS * processors),
                 SORT_SKEWED_LEAF_THREADS, SORT_SKEWED_LEAF_SHARED_BYTES(large));
    }
done:
    return status;
}

/* A launch for all bins. */
static void add_resident(const struct sort_build *b, const char *kernel, const char *when,
                         unsigned blocks, unsigned shared_bytes)
{
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                .kind = ECHI_LAUNCH_COOPERATIVE,
                                                .module = b->plan->module,
                                                .name = kernel,
                                                .when = when,
                                                .blocks = blocks,
                                                .threads = b->plan->onesweep.threads,
                                                .shared_bytes = shared_bytes,
                                                .level = b->plan->passes });
}

/* The bins of the first digit in place; or all passes in pages. */
static ech_status add_bins(const struct sort_build *b, unsigned blocks)
{
    const unsigned bytes = echi_sort_onesweep_bytes(b);
    ech_status status = ECH_OK;
    struct sort_pages_args *pages = &b->args->passes.pages;
    struct sort_msd_args *leaf = &b->args->leaf;
    struct echi_layout layout = { .base = (char *)pages->owner };
    lay_out_bins(b->sort, &b->plan->onesweep, &layout, pages, &leaf->lists);
    pages->leaf = leaf_of(b->sort);
    leaf->common = b->args->common;
    leaf->common.keys_in = leaf->common.keys_out; /* in place */
    leaf->common.values_in = leaf->common.values_out;
    leaf->lists.msd = pages->msd;
    leaf->lists.leaves = pages->leaves;
    add_resident(b, "sort_onesweep_bins", "no bin of the first digit is too large", blocks,
                 bytes + splitters_bytes(b));
    TRY(add_leaves(b));
    add_resident(b, "sort_onesweep_rest", "a bin of the first digit is too large", blocks, bytes);
done:
    return status;
}

/* A launch of a pass. */
static void add_pass(const struct sort_build *b, const struct onesweep_plan *p, const char *kernel,
                     int pass, unsigned more_bytes)
{
    const uint64_t portion_tiles = SORT_PORTION / p->tile;
    const uint64_t portions = (p->tiles + portion_tiles - 1) / portion_tiles;
    echi_step_add(
        b->steps,
        (struct echi_step){ .phase = ECHI_MOVE,
                            .kind = ECHI_LAUNCH_PDL,
                            .module = b->plan->module,
                            .name = kernel,
                            .when = "the digit differs between keys",
                            .blocks = echi_cuda_least(p->tiles, portion_tiles),
                            .threads = p->threads,
                            .shared_bytes = p->shared_bytes + more_bytes,
                            .level = pass,
                            .parts = portions,
                            .last_blocks = (unsigned)(p->tiles - (portions - 1) * portion_tiles) });
}

ech_status echi_sort_onesweep_steps(const struct sort_build *b)
{
    struct onesweep_plan p;
    struct sort_pages_args *pages = &b->args->passes.pages;
    const uint64_t processors = (uint64_t)b->gpu.multiprocessors;
    const bool paged = b->plan->pages.each != 0;
    const unsigned bins = pages->most ? bins_blocks(b) : 0;
    ech_status status = ECH_OK;
    TRY(find_passes(b, &p));
    if (bins)
        pages->most = (uint64_t)bins * p.tile;
    else if (!sorts_bins(b))
        pages->most = 0;
    pages->group = RESIDENT_GROUP * bins;
    if (pages->most) add_pages(b, ECHI_LOOK, "sort_pages_look", 1, SORT_LOOK_THREADS, 0);
    echi_sort_histogram_steps(b, p.tiles);
    if (pages->most) {
        const unsigned bytes = splitters_bytes(b);
        const char *first = bytes ? "sort_onesweep_first" : "sort_onesweep";
        add_pass(b, &p, first, b->plan->passes - 1, bytes);
    }
    if (bins) return add_bins(b, bins);
    if (paged && !b->args->common.in_place && !(pages->most && b->plan->passes == 1))
        add_pass(b, &p, "sort_onesweep", 0, 0);
    for (int pass = 0; pass < b->plan->passes; pass++) {
        if (paged)
            add_pages(b, ECHI_PLAN, "sort_pages_begin",
                      echi_cuda_least(pages->slots / SORT_BINS + 1, processors), SORT_BINS, pass);
        add_pass(b, &p, paged ? "sort_onesweep_pages" : "sort_onesweep", pass, 0);
    }
    if (paged)
        add_pages(b, ECHI_FINISH, "sort_pages_place",
                  echi_cuda_least(pages->pool / (SORT_PAGES_THREADS / SORT_WARP) + 1,
                                  SORT_PAGES_BLOCKS * processors),
                  SORT_PAGES_THREADS, b->plan->passes);
    if (paged || b->args->common.in_place || b->plan->passes == 0)
        echi_sort_launch(b, ECHI_FINISH, ECHI_LAUNCH_PDL, "sort_finish",
                         echi_sort_move_blocks(b, b->args->common.n, 4), SORT_MOVE_THREADS, 0,
                         b->plan->passes, NULL);
done:
    return status;
}

const struct sort_strategy echi_sort_by_onesweep = {
    .name = "onesweep",
    .what = "least significant digit first, one launch per digit of 8 bits",
    .when = "no other strategy applies: narrow keys, values with few key bits, or at least 2^32 "
            "elements",
    .family = "sort",
    .can = echi_sort_any,
    .best = echi_sort_any,
    .lay_out = lay_out_onesweep,
    .steps = echi_sort_onesweep_steps,
};
