/*
 * sort/cuda/msd_pairs.c - the steps of an MSD radix sort with values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

#include <string.h>

static const struct pairs_tuning tunings[] = {
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    { key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks },
    SORT_PAIRS_TUNING(ROW)
#undef ROW
};

const struct pairs_tuning *echi_sort_pairs_tuning(int key_bytes, int payload_bytes)
{
    for (size_t i = 0; i < sizeof tunings / sizeof *tunings; i++)
        if (tunings[i].key_bytes == key_bytes && tunings[i].payload_bytes == payload_bytes)
            return &tunings[i];
    return NULL;
}

/* Whether there are asynchronous copies to shared memory, and enough shared memory for them.  This
 * must match msd.cuh for the architecture that the kernel is compiled for, which is not always the
 * GPU's: sm_86 runs code of sm_80. */
static ech_status find_staged(const struct echi_gpu *gpu, const char *module, unsigned *staged)
{
    int architecture = 0;
    ech_status status = ECH_OK;
    TRY(echi_gpu_compiled_for(gpu, module, "sort_pairs_scatter", &architecture));
    *staged = architecture >= 80 && architecture < 110;
done:
    return status;
}

/* Shared memory of a scatter and of a leaf, and the elements of a leaf. */
struct sizes {
    unsigned staged, leaf, shared_bytes, leaf_shared_bytes;
};

static ech_status find_sizes(const struct echi_gpu *gpu, const char *module,
                             const struct pairs_tuning *t, struct sizes *s)
{
    const unsigned key = (unsigned)t->key_bytes, payload = (unsigned)t->payload_bytes;
    *s = (struct sizes){ .staged = 0 };
    const ech_status status = find_staged(gpu, module, &s->staged);
    s->leaf = s->staged ? t->leaf_threads * t->leaf_items : SORT_PAIRS_LEAF;
    s->shared_bytes = SORT_PAIRS_SHARED_BYTES(t->threads, t->items, key, payload, s->staged);
    s->leaf_shared_bytes = SORT_PAIRS_LEAF_SHARED_BYTES(s->leaf, key, payload, s->staged);
    return status;
}

ech_status echi_sort_pairs_leaf_bytes(const struct echi_gpu *gpu, const char *module,
                                      const struct pairs_tuning *t, unsigned *bytes)
{
    struct sizes sizes;
    const ech_status status = find_sizes(gpu, module, t, &sizes);
    *bytes = sizes.leaf_shared_bytes;
    return status;
}

/* The blocks of a scatter that a multiprocessor can hold. */
static unsigned resident_blocks(const struct sort_build *b, unsigned shared_bytes)
{
    const unsigned blocks = b->plan->msd.pairs->blocks;
    return b->gpu.shared_bytes >= blocks * (shared_bytes + ECHI_BLOCK_RESERVED_BYTES) ? blocks : 1;
}

static void pdl(const struct sort_build *b, enum echi_phase phase, const char *kernel,
                unsigned blocks, unsigned threads, unsigned shared_bytes, int level,
                const char *when)
{
    echi_sort_launch(b, phase, ECHI_LAUNCH_PDL, kernel, blocks, threads, shared_bytes, level, when);
}

static const char *not_skewed(const struct sort_build *b)
{
    return b->plan->msd.adaptive ? "the sample is not skewed" : NULL;
}

/* One level by separate launches, with this many blocks for the plan; for a small array one launch
 * counts and plans the first level. */
static void run_level(const struct sort_build *b, int level, unsigned planners,
                      unsigned shared_bytes)
{
    const struct msd_plan *plan = &b->plan->msd;
    const struct pairs_tuning *t = plan->pairs;
    const struct sort_args *args = b->args;
    const char *when = not_skewed(b);
    uint64_t processors = (uint64_t)b->gpu.multiprocessors;
    uint64_t tiles = args->common.n / plan->tile + 1 + SORT_BINS;
    unsigned blocks = echi_cuda_least(plan->tiles, level < 2 ? tiles : t->blocks * processors);
    if (plan->small && level == 0) {
        pdl(b, ECHI_COUNT, "sort_pairs_count_plan", args->pairs.count_blocks + 1, t->threads, 0,
            level, when);
        echi_sort_small_lsd_steps(b);
    } else {
        pdl(b, ECHI_COUNT, "sort_pairs_count", args->pairs.count_blocks, t->threads, 0, level,
            when);
        pdl(b, ECHI_PLAN, "sort_msd_plan", planners, SORT_BINS, 0, level, when);
    }
    pdl(b, ECHI_MOVE, "sort_pairs_scatter", blocks, t->threads, shared_bytes, level, when);
}

/* The number of counting blocks: one of them takes as long for a tile as the plan takes for about
 * twenty of them. */
static unsigned count_blocks(const struct msd_plan *plan, uint64_t most)
{
    unsigned all = echi_cuda_least(plan->count_blocks, most), blocks = 1;
    while (blocks < all && blocks * blocks < 16 * plan->tiles) blocks++;
    return plan->small ? blocks : all;
}

/* One launch for the levels that evenly distributed keys do not need. */
static void add_tail(const struct sort_build *b, int level, unsigned blocks, unsigned shared_bytes)
{
    b->args->tail = b->args->pairs;
    b->args->tail.common.level = level;
    b->args->tail.count_blocks = count_blocks(&b->plan->msd, blocks);
    echi_step_add(b->steps,
                  (struct echi_step){ .phase = ECHI_MOVE,
                                      .kind = ECHI_LAUNCH_COOPERATIVE,
                                      .module = b->plan->module,
                                      .name = "sort_pairs_tail_levels",
                                      .when = "there are more levels, or the keys are skewed",
                                      .blocks = blocks,
                                      .threads = b->plan->msd.pairs->threads,
                                      .shared_bytes = shared_bytes,
                                      .level = level,
                                      .args = &b->args->tail });
}

/* The shared memory of that launch for a small array. */
static unsigned small_tail_bytes(const struct sort_build *b, unsigned shared_bytes)
{
    const struct pairs_tuning *t = b->plan->msd.pairs;
    return echi_sort_small_lsd_bytes(b, resident_blocks(b, shared_bytes), shared_bytes,
                                     (unsigned)(t->key_bytes + t->payload_bytes));
}

/* Like echi_sort_msd_groups(), with values. */
ech_status echi_sort_pairs_groups(const struct sort_build *b, uint64_t longest, bool even)
{
    const struct msd_plan *plan = &b->plan->msd;
    const struct pairs_tuning *t = plan->pairs;
    struct sort_args *args = b->args;
    struct sizes sizes;
    ech_status status = find_sizes(&b->gpu, b->plan->module, b->plan->msd.pairs, &sizes);
    if (status != ECH_OK) return status;
    uint64_t processors = (uint64_t)b->gpu.multiprocessors;
    int level = 0;
    args->pairs.count_blocks = count_blocks(plan, SORT_PAIRS_COUNT_BLOCKS * processors);
    args->lists.levels = plan->levels;
    for (uint64_t n = longest;
         level < 2 && (level ? n > SORT_LEAF_FULL(sizes.leaf) : n > SORT_PAIRS_LEAF);
         n >>= SORT_DIGIT_BITS)
        run_level(b, level++, echi_cuda_least(plan->segments, 8 * processors), sizes.shared_bytes);
    if (longest > SORT_PAIRS_LEAF)
        add_tail(b, level, resident_blocks(b, sizes.shared_bytes) * (unsigned)processors,
                 sizes.shared_bytes);
    pdl(b, ECHI_FINISH, "sort_pairs_leaf",
        echi_sort_group_leaves(b, longest, even, SORT_PAIRS_LEAF), t->leaf_threads,
        sizes.leaf_shared_bytes, level, NULL);
    pdl(b, ECHI_FINISH, "sort_pairs_skewed_leaf",
        echi_cuda_least(plan->leaves, t->leaf_blocks * processors), t->leaf_threads,
        sizes.leaf_shared_bytes, level, NULL);
    return ECH_OK;
}

/* Whether msd_packed.cuh may sort them.  Between its levels, pairs are stored in the output arrays,
 * which must not be read as input, and in the workspace, in two adjacent buffers used as one. */
static bool can_pack(const struct sort_build *b, unsigned staged)
{
    const struct sort_args *args = b->args;
    uintptr_t keys = (uintptr_t)args->common.keys_out, values = (uintptr_t)args->common.values_out;
    const bool all_bits = args->common.begin_bit == 0 && args->common.end_bit == 32;
    return b->plan->msd.packed && b->plan->msd.adaptive && staged && all_bits &&
           !args->common.in_place && (keys | values) % 8 == 0 &&
           b->gpu.shared_bytes >= SORT_PACKED_COUNT_BYTES + 1024;
}

/* The number of bins of two digits, the second of packed_bits(). */
static uint64_t packed_bins(uint64_t n, uint64_t fill)
{
    uint64_t bins = 2 * SORT_BINS;
    while (n / bins > fill && bins < SORT_BINS * SORT_BINS) bins *= 2;
    return bins;
}

/* The maximum number of leaves, and of parts of bins that are larger than a leaf.  Most of the bins
 * of a map are empty. */
static uint64_t packed_leaves(uint64_t n)
{
    const uint64_t fill = SORT_PACKED_FILL(SORT_PAIRS_LEAF);
    const uint64_t even = packed_bins(n, SORT_LEAF_FULL(SORT_PAIRS_LEAF));
    const uint64_t all = packed_bins(n, fill), wanted = n / fill + 2 * SORT_BINS;
    const uint64_t mapped = wanted < all && n / fill >= SORT_PACKED_PIECES ? wanted : all;
    return (even > mapped ? even : mapped) + n / SORT_PACKED_LARGE / SORT_PAIRS_LEAF + 1;
}

bool echi_sort_by_map_or_passes(const struct sort_build *b)
{
    const struct pairs_tuning *t = b->plan->msd.pairs;
    return t && t->key_bytes == 4 && t->payload_bytes == 4 && b->plan->msd.adaptive &&
           b->args->common.order.float_mask;
}

/* The launch that makes a map; it precedes the steps of lsd.c. */
void echi_sort_packed_map_step(const struct sort_build *b)
{
    if (b->plan->msd.pairs && (b->args->pairs.packed || echi_sort_by_map_or_passes(b)))
        pdl(b, ECHI_LOOK, "sort_packed_map", (unsigned)b->gpu.multiprocessors,
            SORT_PACKED_COUNT_THREADS, 0, -1, "the sample is uneven");
}

/* For keys that look evenly distributed, or are mapped; otherwise these launches do nothing. */
static void run_packed(const struct sort_build *b, unsigned leaf_threads,
                       unsigned leaf_shared_bytes)
{
    static const char even[] = "the sample is even, or mapped";
    const uint64_t n = b->args->common.n;
    unsigned count =
        echi_cuda_least(n / (SORT_PACKED_COUNT_THREADS * 16) + 1, (uint64_t)b->gpu.multiprocessors);
    pdl(b, ECHI_COUNT, "sort_packed_count", count, SORT_PACKED_COUNT_THREADS,
        SORT_PACKED_COUNT_BYTES, -1, even);
    pdl(b, ECHI_PLAN, "sort_packed_plan", 1, SORT_PACKED_COUNT_THREADS, 0, -1, even);
    pdl(b, ECHI_MOVE, "sort_packed_first", (unsigned)((n - 1) / SORT_PACKED_TILE(0) + 1),
        SORT_PACKED_THREADS, SORT_PACKED_SHARED_BYTES(0), -1, even);
    pdl(b, ECHI_PLAN, "sort_packed_bins", SORT_BINS, SORT_BINS, 0, -1, even);
    pdl(b, ECHI_MOVE, "sort_packed_second", (unsigned)SORT_PACKED_TILES(n), SORT_PACKED_THREADS,
        SORT_PACKED_SHARED_BYTES(1), -1, even);
    pdl(b, ECHI_FINISH, "sort_packed_leaf", (unsigned)packed_leaves(n), leaf_threads,
        leaf_shared_bytes, -1, even);
}

/* Like steps_of_msd(), with values.  The counting blocks, the plan and the scatter must agree on
 * the tiles of each block, so all launches of a level have the same number of blocks. */
ech_status echi_sort_pairs_steps(const struct sort_build *b)
{
    const struct msd_plan *plan = &b->plan->msd;
    const struct pairs_tuning *t = plan->pairs;
    struct sort_args *args = b->args;
    struct sizes sizes;
    ech_status status = find_sizes(&b->gpu, b->plan->module, b->plan->msd.pairs, &sizes);
    if (status != ECH_OK) return status;
    uint64_t processors = (uint64_t)b->gpu.multiprocessors,
             leaves = args->common.n / sizes.leaf + 1;
    unsigned skewed = echi_cuda_least(plan->leaves, t->leaf_blocks * processors);
    int even = args->common.n > SORT_BINS * SORT_LEAF_FULL(sizes.leaf)
                   ? 2
                   : 1; /* levels of keys distributed so */
    int level = 0;
    args->pairs.count_blocks = count_blocks(plan, SORT_PAIRS_COUNT_BLOCKS * processors);
    args->pairs.packed = can_pack(b, sizes.staged);
    args->lists.levels = plan->levels;
    unsigned tail_bytes =
        plan->small ? small_tail_bytes(b, sizes.shared_bytes) : sizes.shared_bytes;
    echi_sort_begin_lists(b);
    if (args->pairs.packed) run_packed(b, t->leaf_threads, sizes.leaf_shared_bytes);
    const bool floats = echi_sort_by_map_or_passes(b);
    if (floats && !args->pairs.packed) {
        echi_sort_lsd_steps(b);
        return ECH_OK;
    }
    if (floats) { /* levels only divide bins that are larger than a leaf: few keys */
        pdl(b, ECHI_COUNT, "sort_pairs_count", args->pairs.count_blocks, t->threads, 0, 0,
            not_skewed(b));
        level = 2;
    }
    /* Many keys have one more level by separate launches, which skewed keys use. */
    for (; !floats && level < (plan->small ? even : even + 1); level++)
        run_level(b, level, level ? echi_cuda_least(plan->segments, 8 * processors) : 1,
                  sizes.shared_bytes);
    unsigned tail = resident_blocks(b, sizes.shared_bytes) * (unsigned)processors;
    add_tail(b, level, plan->small ? echi_cuda_least(tail, plan->small_lsd_blocks) : tail,
             tail_bytes);
    /* After packed steps these probably have nothing to do; fewer blocks end faster. */
    pdl(b, ECHI_FINISH, "sort_pairs_leaf",
        echi_cuda_least(plan->leaves,
                        (args->pairs.packed ? 1 : 2) * leaves / SORT_EACH(args->common.n) + 1),
        t->leaf_threads, sizes.leaf_shared_bytes, level, not_skewed(b));
    pdl(b, ECHI_FINISH, "sort_pairs_skewed_leaf", skewed, t->leaf_threads, sizes.leaf_shared_bytes,
        level, not_skewed(b));
    if (floats) echi_sort_lsd_steps(b);
    return ECH_OK;
}
