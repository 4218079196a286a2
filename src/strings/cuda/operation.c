/*
 * strings/cuda/operation.c - sorts of strings on the GPU, host code: the plan, the workspace, the
 * steps.
 *
 *     first      the keys after the common prefix of all strings, and a sort of (key, position)
 *     rounds     refine: finds ties, and sorts each by the keys after its own common prefix, as
 *                segments of the array
 *     merge      sorts what is left in ties by merging
 *
 *     workspace  [ sorted keys, ties ][ keys | workspace of a sort ]
 *                                     [ workspace of a round ]
 *                                     [ records of the merges ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "sort/segments.h"
#include "strings/cuda/common.h"
#include "strings/strings.h"

#include <string.h>

/* Up to so many strings, ties are only merged.  NVIDIA H200, 2026-11-24: merge takes 0.20 to 0.67
 * of the time of refine for 10,000 strings, and 0.55 to 0.99 for 2^20; URLs with long common
 * prefixes take 1.19 and 3.6. */
enum { FEW = 1 << 17 };

/* The segments that a GPU sorts have at most 2^31 elements. */
#define MOST_ROUNDS_N ((uint64_t)1 << 31)

/* ---- Algorithms ---- */

static bool refine_applicable(const struct echi_strings *s)
{
    return s->n <= MOST_ROUNDS_N;
}

static bool refine_chosen(const struct echi_strings *s)
{
    return s->n > FEW && refine_applicable(s);
}

static bool any(const struct echi_strings *s)
{
    (void)s;
    return true;
}

static const struct algorithm {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*applicable)(const struct echi_strings *s);
    bool (*chosen)(const struct echi_strings *s); /* the first one is chosen */
    uint32_t rounds;
} algorithms[] = {
    {
        .name = "refine",
        .what = "sorts by 7 bytes after the common prefix; three times, each tie by 7 bytes after "
                "its common prefix; the rest by merging",
        .when = "more than 131072 strings, up to 2^31",
        .applicable = refine_applicable,
        .chosen = refine_chosen,
        .rounds = STRINGS_ROUNDS,
    },
    {
        .name = "merge",
        .what = "sorts by 7 bytes after the common prefix, then ties by merging",
        .when = "all other numbers of strings",
        .applicable = any,
        .chosen = any,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static ech_status choose(const struct echi_strings *s, const struct algorithm **algorithm)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        if (s->algorithm ? strcmp(s->algorithm, algorithms[i].name) != 0 : !algorithms[i].chosen(s))
            continue;
        if (algorithms[i].applicable(s)) return ECH_OK;
        return echi_fail(NULL, ECH_ERR_ARG,
                         "algorithm \"%s\" sorts at most 2^31 strings, but n is %zu; available: "
                         "merge",
                         s->algorithm, s->n);
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for sorts of strings on a GPU; available: refine, "
                     "merge",
                     s->algorithm);
}

/* ---- Workspace ---- */

struct build {
    const struct echi_strings *s;
    const struct algorithm *algorithm;
    struct echi_gpu gpu;
    struct strings_args args;
    void *first_work, *round_work, *clear;
    size_t clear_bytes;
    struct echi_steps steps;
};

static size_t tiles_of(size_t n, size_t each)
{
    return n / each + (n % each != 0);
}

/* The sort of the ties of a round. */
static struct echi_sort_segments ties_sort(const struct echi_strings *s)
{
    struct echi_sort_segments r = { .sort = echi_strings_sort(s, false),
                                    .groups = s->n / 2,
                                    .in = { 1, 1 },
                                    .out = { 1, 1 },
                                    .offsets_index = { (uint32_t)s->index_bytes, 0 } };
    static const uint64_t some; /* only distinguishes segments from rows */
    r.offsets = r.ends = &some;
    return r;
}

static void lay_out_records(const struct echi_strings *s, struct echi_layout *layout,
                            struct strings_args *a)
{
    const size_t index = (size_t)s->index_bytes;
    for (int i = 0; i < 2; i++) {
        a->records[i].keys = echi_part(layout, s->n, sizeof *a->records[i].keys);
        a->records[i].positions = echi_part(layout, s->n, index);
        a->records[i].ties = echi_part(layout, s->n, index);
    }
    a->slots = echi_part(layout, s->n, index);
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(struct build *b, struct echi_layout *layout)
{
    const struct echi_strings *s = b->s;
    const size_t n = s->n, index = (size_t)s->index_bytes;
    const size_t tiles = tiles_of(n, STRINGS_POSITIONS);
    const struct echi_sort sort = echi_strings_sort(s, true);
    const struct echi_sort_segments ties = ties_sort(s);
    struct strings_args *a = &b->args;
    size_t first_bytes, round_bytes = 0;
    ech_status status;
    TRY(echi_operation_workspace(&echi_cuda_sort, &sort, &first_bytes));
    if (b->algorithm->rounds)
        TRY(echi_operation_workspace(&echi_cuda_sort_segments, &ties, &round_bytes));
    *a = (struct strings_args){ .head_words = tiles * STRINGS_THREADS };
    a->launch_words = tiles + STRINGS_WORDS_FIRST;
    a->state = b->clear = echi_part(layout, 1, sizeof *a->state);
    a->words =
        echi_part(layout, (b->algorithm->rounds + 2) * (size_t)a->launch_words, sizeof *a->words);
    b->clear_bytes = layout->bytes;
    a->keys = echi_part(layout, n, sizeof *a->keys);
    a->heads = echi_part(layout, (size_t)a->head_words, sizeof *a->heads);
    a->before = echi_part(layout, (size_t)a->head_words, index);
    a->begins = echi_part(layout, n / 2, index);
    a->ends = echi_part(layout, n / 2, index);
    a->common = echi_part(layout, n / 2, sizeof *a->common);
    a->depths = echi_part(layout, n, sizeof *a->depths);
    struct echi_layout first = *layout, round = *layout; /* used one after the other */
    a->first_keys = echi_part(&first, n, sizeof *a->first_keys);
    b->first_work = echi_part(&first, first_bytes, 1);
    b->round_work = echi_part(&round, round_bytes, 1);
    lay_out_records(s, layout, a);
    if (first.bytes > layout->bytes) layout->bytes = first.bytes;
    if (round.bytes > layout->bytes) layout->bytes = round.bytes;
    layout->overflow |= first.overflow | round.overflow;
done:
    return status;
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    struct echi_layout layout = { 0 };
    struct build b = { .s = request };
    ech_status status;
    (void)no_plan;
    *work_bytes = 0;
    TRY(choose(b.s, &b.algorithm));
    if (b.s->n == 0) goto done;
    TRY(lay_out(&b, &layout));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", b.s->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Steps ---- */

static void launch(struct build *b, enum echi_phase phase, const char *module, const char *kernel,
                   uint64_t blocks, uint32_t level)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = module,
                                                 .name = kernel,
                                                 .when = phase == ECHI_FINISH ? "ties" : NULL,
                                                 .blocks = (unsigned)blocks,
                                                 .threads = STRINGS_THREADS,
                                                 .level = (int)level });
}

/* Blocks that process n items, `each` per block. */
static unsigned blocks_for(const struct build *b, uint64_t n, uint64_t each)
{
    return echi_gpu_blocks(&b->gpu, n, each, STRINGS_BLOCKS);
}

static void add_first(struct build *b)
{
    const uint64_t n = b->s->n;
    echi_step_add(&b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_CLEAR,
                                                 .level = -1,
                                                 .to = b->clear,
                                                 .bytes = b->clear_bytes });
    if (!b->s->array.validity)
        launch(b, ECHI_LOOK, "strings_all", "strings_prefix", blocks_for(b, n, STRINGS_THREADS), 0);
    launch(b, ECHI_LOOK, "strings_all", "strings_first", blocks_for(b, n, STRINGS_THREADS), 0);
}

/* Finds the ties, and the common prefix of each. */
static void add_ties(struct build *b, uint32_t level)
{
    const uint64_t words = b->args.head_words;
    const unsigned blocks = blocks_for(b, words, STRINGS_THREADS);
    launch(b, ECHI_COUNT, "strings_all", "strings_heads", blocks, level);
    launch(b, ECHI_PLAN, "strings_all", "strings_ties", words / STRINGS_THREADS, level);
    launch(b, ECHI_PLAN, "strings_all", "strings_common", blocks, level);
}

static void add_merges(struct build *b, uint32_t level)
{
    const uint64_t n = b->s->n;
    const unsigned blocks = blocks_for(b, n, STRINGS_TILE);
    launch(b, ECHI_FINISH, "strings_merge_all", "strings_members",
           b->args.head_words / STRINGS_THREADS, level);
    launch(b, ECHI_FINISH, "strings_merge_all", "strings_block", blocks, 0);
    for (uint32_t pass = 0; (uint64_t)STRINGS_TILE << pass < n; pass++)
        launch(b, ECHI_FINISH, "strings_merge_all", "strings_merge", blocks, pass);
    launch(b, ECHI_FINISH, "strings_merge_all", "strings_place", blocks, 0);
}

static void set_level(void *args, struct echi_step *step, uint64_t part)
{
    struct strings_args *a = args;
    (void)part;
    a->level = (uint32_t)step->level;
}

/* ---- The operation ---- */

static ech_status begin(struct build *b, void *work)
{
    const struct echi_strings *s = b->s;
    struct echi_layout layout = { .base = work };
    ech_status status;
    TRY(choose(s, &b->algorithm));
    TRY(lay_out(b, &layout));
    b->args.array = s->array;
    b->args.indices = s->indices;
    b->args.n = s->n;
    b->args.index_bytes = (uint32_t)s->index_bytes;
    if (b->gpu.ctx) b->args.data_error = echi_cuda_error_word(b->gpu.ctx);
    b->steps.count = 0;
done:
    return status;
}

static ech_status enqueue(ech_ctx *ctx, struct build *b)
{
    const ech_status status = echi_cuda_enqueue(ctx, &b->steps, &b->args, set_level);
    b->steps.count = 0;
    return status;
}

static ech_status run_round(ech_ctx *ctx, struct build *b, uint32_t round)
{
    struct strings_args *a = &b->args;
    struct echi_sort_segments r = ties_sort(b->s);
    ech_status status;
    add_ties(b, round);
    launch(b, ECHI_COUNT, "strings_all", "strings_keys",
           blocks_for(b, a->head_words, STRINGS_THREADS), round);
    TRY(enqueue(ctx, b));
    r.sort.keys_in = r.sort.keys_out = a->keys;
    r.sort.values_in = r.sort.values_out = b->s->indices;
    r.offsets = a->begins;
    r.ends = a->ends;
    r.count = &a->state->ties[round];
    TRY(echi_operation_run(ctx, &echi_cuda_sort_segments, &r, b->round_work));
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    struct build b = { .s = request, .gpu = echi_gpu_of(ctx) };
    ech_status status = ECH_OK;
    (void)no_plan;
    if (b.s->n == 0) goto done;
    TRY(begin(&b, work));
    add_first(&b);
    TRY(enqueue(ctx, &b));
    struct echi_sort sort = echi_strings_sort(b.s, true);
    sort.keys_in = b.args.first_keys;
    sort.keys_out = b.args.keys;
    sort.values_out = b.s->indices;
    TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, b.first_work));
    for (uint32_t i = 0; i < b.algorithm->rounds; i++) TRY(run_round(ctx, &b, i));
    add_ties(&b, b.algorithm->rounds);
    add_merges(&b, b.algorithm->rounds);
    TRY(enqueue(ctx, &b));
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    struct build b = { .s = request, .gpu = echi_gpu_of(NULL) };
    ech_status status;
    TRY(choose(b.s, &b.algorithm));
    echi_explain_algorithm(e, true, b.algorithm->name, "%s", b.algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != b.algorithm && algorithms[i].applicable(b.s))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_count(e, "rounds", b.algorithm->rounds);
    if (b.s->n == 0) goto done;
    TRY(begin(&b, NULL));
    add_first(&b);
    for (uint32_t i = 0; i <= b.algorithm->rounds; i++) add_ties(&b, i);
    add_merges(&b, b.algorithm->rounds);
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_strings = { .plan = plan, .explain = explain, .run = run };
