/*
 * columns/cuda/operation.c - sorts by columns on the GPU, host code.
 *
 *     block  few rows: one launch of one block
 *     pack   one stable sort of (word, position)
 *     lsd    one such sort per word of the key, the least significant word first; the words of a
 *            later sort are read in the order of the sort before it
 *
 *     workspace   [ words ][ records: positions ][ records in place: copy ][ workspace of a sort ]
 *
 * The positions are sorted in place, in the output or, for records, in the workspace. Records are
 * then moved to their places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/columns.h"
#include "columns/cuda/common.h"
#include "columns/cuda/tuning.h"
#include "core/call.h"
#include "cuda/steps.h"

#include <string.h>

/* ---- Algorithms ---- */

/* A row of COLUMNS_BLOCK_TUNING in tuning.h. */
struct block_tuning {
    uint32_t words;
    size_t rows, record_bytes;
};

static const struct block_tuning *block_tuning(const struct echi_columns *c)
{
#define ROW(words, rows, record_bytes) { words, rows, record_bytes },
    static const struct block_tuning rows[COLUMNS_BLOCK_WORDS] = { COLUMNS_BLOCK_TUNING(ROW) };
#undef ROW
    return &rows[echi_columns_words(c) - 1];
}

static bool block_applicable(const struct echi_columns *c)
{
    const size_t most = c->in_place ? COLUMNS_BLOCK_STAGE : (size_t)1 << 30;
    return c->n <= COLUMNS_BLOCK_MOST && !c->plain && c->parts <= COLUMNS_BLOCK_PARTS &&
           echi_columns_words(c) <= COLUMNS_BLOCK_WORDS && c->n * c->record_bytes <= most;
}

static bool block_best(const struct echi_columns *c)
{
    const struct block_tuning *t = block_tuning(c);
    return c->n <= t->rows && c->n * c->record_bytes <= t->record_bytes;
}

static bool pack_applicable(const struct echi_columns *c)
{
    return c->bits <= 64;
}

static bool always(const struct echi_columns *c)
{
    (void)c;
    return true;
}

static const struct algorithm {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*applicable)(const struct echi_columns *c);
    bool (*best)(const struct echi_columns *c); /* the first that applies and is best is chosen */
    bool one_block;                             /* one launch, without sorts and workspace */
} algorithms[] = {
    {
        .name = "block",
        .what = "one launch of one block that forms the keys, sorts, and moves records",
        .when =
            "up to 4,096 rows with a key of at most 256 bits, and records of at most 128 KiB in "
            "total, of 256 KiB if the key has more than 64 bits, or of 48 KiB in place; but not "
            "one column without nulls",
        .applicable = block_applicable,
        .best = block_best,
        .one_block = true,
    },
    {
        .name = "pack",
        .what = "packs the columns into one key of at most 64 bits: one sort",
        .when = "the columns have at most 64 bits, with one for each bitmap",
        .applicable = pack_applicable,
        .best = always,
    },
    {
        .name = "lsd",
        .what = "packs the columns into words of 64 bits, and sorts by the least significant word "
                "first: one sort per word",
        .when = "all other columns",
        .applicable = always,
        .best = always,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* The names of the algorithms that apply. */
static const char *available(const struct echi_columns *c, char names[64])
{
    names[0] = 0;
    for (int i = 0; i < ALGORITHMS; i++)
        if (algorithms[i].applicable(c))
            strcat(strcat(names, *names ? ", " : ""), algorithms[i].name);
    return names;
}

static ech_status choose(const struct echi_columns *c, const struct algorithm **algorithm)
{
    char names[64];
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        const bool applicable = algorithms[i].applicable(c);
        if (c->algorithm ? strcmp(c->algorithm, algorithms[i].name) != 0
                         : !applicable || !algorithms[i].best(c))
            continue;
        if (applicable) return ECH_OK;
        return echi_fail(NULL, ECH_ERR_ARG,
                         "algorithm \"%s\" (%s) cannot sort %zu rows by these columns, which have "
                         "%u bits; available: %s",
                         c->algorithm, algorithms[i].what, c->n, c->bits, available(c, names));
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for sorts by columns on a GPU; available: %s",
                     c->algorithm, available(c, names));
}

/* ---- Workspace ---- */

struct parts {
    void *words, *indices, *copy, *work;
};

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_columns *c, struct echi_layout *layout,
                          struct parts *parts)
{
    const uint32_t words = echi_columns_words(c);
    size_t most = 0;
    ech_status status = ECH_OK;
    for (uint32_t i = 0; i < words; i++) {
        const struct echi_sort sort = echi_columns_sort(c, i, i + 1 == words);
        size_t bytes;
        TRY(echi_operation_workspace(&echi_cuda_sort, &sort, &bytes));
        if (bytes > most) most = bytes;
    }
    /* Word 0 is the widest. */
    if (!c->plain)
        parts->words = echi_part(layout, c->n, (size_t)echi_columns_sort(c, 0, true).key_bytes);
    parts->indices = c->record_bytes ? echi_part(layout, c->n, (size_t)c->index_bytes) : c->indices;
    if (c->in_place) parts->copy = echi_part(layout, c->n, c->record_bytes);
    parts->work = echi_part(layout, most, 1);
done:
    return status;
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_columns *c = request;
    const struct algorithm *algorithm;
    struct echi_layout layout = { 0 };
    struct parts parts;
    ech_status status;
    (void)no_plan;
    *work_bytes = 0;
    TRY(choose(c, &algorithm));
    if (c->n == 0 || algorithm->one_block) goto done;
    TRY(lay_out(c, &layout, &parts));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", c->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- The operation ---- */

/* Whether all addresses of a part are multiples of its size, which is a power of two. */
static bool is_aligned(const struct echi_source *s, const struct echi_part *p)
{
    const uint64_t at = (uint64_t)(uintptr_t)s->data + p->offset, mask = p->bytes - 1;
    return (p->bytes & mask) == 0 && ((at | s->stride) & mask) == 0;
}

/* Marks the parts that one access loads. */
static void align_parts(const struct echi_source *sources, struct echi_part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        parts[i].aligned = is_aligned(&sources[parts[i].source], &parts[i]);
}

static struct columns_args args_of(const struct echi_columns *c, uint32_t word, const void *indices,
                                   void *out)
{
    struct columns_args a = { .word = c->word[word],
                              .positions = word + 1 < echi_columns_words(c) ? indices : NULL,
                              .out = out,
                              .n = c->n,
                              .position_bytes = (uint32_t)c->index_bytes };
    a.out_bytes = echi_columns_word_bytes(&a.word);
    memcpy(a.source, c->source, c->sources * sizeof *c->source);
    memcpy(a.part, c->part + a.word.first, a.word.count * sizeof *a.part);
    align_parts(a.source, a.part, a.word.count);
    return a;
}

/* The step that writes a word of all rows. */
static void add_words(const struct echi_columns *c, uint32_t word, const struct echi_gpu *gpu,
                      struct echi_steps *steps)
{
    const uint64_t tile = COLUMNS_THREADS * COLUMNS_ROWS, tiles = (c->n + tile - 1) / tile;
    const unsigned most = COLUMNS_BLOCKS * (unsigned)gpu->multiprocessors;
    echi_step_add(steps, (struct echi_step){ .phase = ECHI_LOOK,
                                             .kind = ECHI_LAUNCH,
                                             .module = "columns_all",
                                             .name = "columns_words",
                                             .blocks = echi_cuda_least(tiles, most),
                                             .threads = COLUMNS_THREADS,
                                             .level = (int)word });
}

static struct columns_block_args block_args_of(const struct echi_columns *c)
{
    struct columns_block_args a = { .indices = c->indices,
                                    .records_out = c->records_out,
                                    .n = c->n,
                                    .words = echi_columns_words(c),
                                    .index_bytes = (uint32_t)c->index_bytes,
                                    .record_bytes = (uint32_t)c->record_bytes,
                                    .in_place = c->in_place };
    memcpy(a.source, c->source, c->sources * sizeof *c->source);
    memcpy(a.part, c->part, c->parts * sizeof *c->part);
    memcpy(a.word, c->word, a.words * sizeof *c->word);
    align_parts(a.source, a.part, c->parts);
    return a;
}

/* The step of the sort in one block: the smaller block that holds the rows. */
static void add_block(const struct echi_columns *c, struct echi_steps *steps)
{
    const bool small = c->n <= SORT_BLOCK_SMALL_THREADS * SORT_BLOCK_SMALL_ITEMS;
    const unsigned rank =
        small ? COLUMNS_BLOCK_RANK_BYTES(SORT_BLOCK_SMALL_THREADS, SORT_BLOCK_SMALL_ITEMS)
              : COLUMNS_BLOCK_RANK_BYTES(SORT_BLOCK_MEDIUM_THREADS, SORT_BLOCK_MEDIUM_ITEMS);
    const unsigned staged = c->in_place ? (unsigned)(c->n * c->record_bytes) : 0;
    const unsigned move = c->record_bytes ? COLUMNS_BLOCK_MOVE_BYTES(staged) : 0;
    echi_step_add(
        steps,
        (struct echi_step){ .phase = ECHI_MOVE,
                            .kind = ECHI_LAUNCH_PDL,
                            .module = "columns_block_all",
                            .name = small ? "columns_block_small" : "columns_block_medium",
                            .blocks = 1,
                            .threads = small ? SORT_BLOCK_SMALL_THREADS : SORT_BLOCK_MEDIUM_THREADS,
                            .shared_bytes = rank > move ? rank : move,
                            .level = -1 });
}

static ech_status run_block(ech_ctx *ctx, const struct echi_columns *c)
{
    struct echi_steps steps = { .count = 0 };
    struct columns_block_args args = block_args_of(c);
    add_block(c, &steps);
    return echi_cuda_enqueue(ctx, &steps, &args, NULL);
}

static ech_status run_sorts(ech_ctx *ctx, const struct echi_columns *c, const struct parts *parts)
{
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    const uint32_t words = echi_columns_words(c);
    ech_status status = ECH_OK;
    for (uint32_t i = words; i-- > 0;) {
        struct echi_sort sort = echi_columns_sort(c, i, i + 1 == words);
        sort.keys_in = parts->words;
        sort.values_out = parts->indices;
        if (i + 1 < words) {
            sort.keys_out = parts->words;
            sort.values_in = parts->indices;
        }
        if (c->plain) {
            sort.keys_in = c->source[0].data;
        } else {
            struct echi_steps steps = { .count = 0 };
            struct columns_args args = args_of(c, i, parts->indices, parts->words);
            add_words(c, i, &gpu, &steps);
            TRY(echi_cuda_enqueue(ctx, &steps, &args, NULL));
        }
        TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, parts->work));
    }
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_columns *c = request;
    struct echi_layout layout = { .base = work };
    struct parts parts = { 0 };
    const struct algorithm *algorithm;
    ech_status status;
    (void)no_plan;
    TRY(choose(c, &algorithm));
    if (algorithm->one_block) return run_block(ctx, c);
    TRY(lay_out(c, &layout, &parts));
    TRY(run_sorts(ctx, c, &parts));
    if (!c->record_bytes) goto done;
    if (c->in_place) {
        const struct echi_arrange copy = echi_records_copy(c, parts.copy);
        TRY(echi_operation_run(ctx, &echi_cuda_arrange, &copy, NULL));
    }
    const void *from = c->in_place ? parts.copy : c->source[0].data;
    const struct echi_arrange move = echi_records_move(c, from, parts.indices);
    TRY(echi_operation_run(ctx, &echi_cuda_arrange, &move, NULL));
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_columns *c = request;
    const struct echi_gpu gpu = echi_gpu_of(NULL);
    const struct algorithm *algorithm;
    struct echi_steps steps = { .count = 0 };
    const ech_status status = choose(c, &algorithm);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithm->name, "%s", algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != algorithm && algorithms[i].applicable(c))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_count(e, "key_bits", c->bits);
    echi_explain_count(e, "sorts", echi_columns_words(c));
    if (algorithm->one_block)
        add_block(c, &steps);
    else if (c->plain)
        echi_explain_line(e, "key", "the only column");
    else
        for (uint32_t i = echi_columns_words(c); c->n && i-- > 0;) add_words(c, i, &gpu, &steps);
    if (c->record_bytes && !algorithm->one_block)
        echi_explain_line(e, "move", "%s",
                          c->in_place ? "of a copy of the records" : "of the records");
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_columns = { .plan = plan, .explain = explain, .run = run };
