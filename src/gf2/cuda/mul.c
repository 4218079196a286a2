/*
 * gf2/cuda/mul.c - products over GF(2) on the GPU, host half: chooses, lays out the workspace,
 * queues kernels.
 *
 *     "block"     operands in the order of lanes, then gf2_mul on the matrix units (sm_80 to
 *                 sm_90; elsewhere as "russians")
 *     "strassen"  the same, by 7 products of halves, "strassen2" by 49 of quarters: the sums of
 *                 parts are made while operands are brought in order, and a product adds itself to
 *                 all places where it belongs, so that it takes less workspace, not more
 *     "russians"  gf2_mul_tables
 *     "vectors"   gf2_mul_vectors, where the right operand is given transposed
 *
 *     workspace   [ left operand | right operand ]  or  [ b turned ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "gf2/gf2.h"
#include "cuda/cuda.h"
#include "gf2/cuda/mul.h"

#include <string.h>

static const char image[] = "gf2_mul_all";

enum algorithm { BLOCK, STRASSEN, STRASSEN2, RUSSIANS, VECTORS, ALGORITHMS };

static const struct {
    const char *name, *what;
} algorithms[ALGORITHMS] = {
    [BLOCK] = { "block", "by the matrix units where they multiply bits, else as russians" },
    [STRASSEN] = { "strassen", "the same, by 7 products of halves of each side" },
    [STRASSEN2] = { "strassen2", "the same, by 49 products of quarters of each side" },
    [RUSSIANS] = { "russians", "tables of sums of 8 rows in shared memory" },
    [VECTORS] = { "vectors", "each row of the matrix once, with every vector" },
};

enum {
    STRASSEN_LEAST = 32768, /* bits of each side of a part, for it to be quicker */
    PART_LEAST = 128,       /* ... and for it to be done where it is asked for */
    VECTORS_MOST = 16       /* that are multiplied one by one */
};

struct plan {
    enum algorithm algorithm;
    unsigned parts;             /* of each side: 1, 2 or 4 */
    uint64_t rows, cols, depth; /* of a part */
    size_t row_chunks, column_chunks, steps;
    size_t row_blocks;
};

static uint64_t part_of(uint64_t n, unsigned parts, uint64_t multiple)
{
    uint64_t part = n / parts + (n % parts != 0);
    return (part + multiple - 1) / multiple * multiple;
}

static ech_status make_plan(const struct echi_gf2_mul *m, struct plan *plan)
{
    const uint64_t rows = m->out.rows, cols = m->out.cols, depth = m->a.cols;
    const uint64_t side = rows < cols ? rows : cols, least = side < depth ? side : depth;
    const int count = m->transposed ? ALGORITHMS : VECTORS;
    *plan = (struct plan){ .algorithm = m->transposed && rows <= VECTORS_MOST ? VECTORS
                                        : least >= 4 * STRASSEN_LEAST         ? STRASSEN2
                                        : least >= 2 * STRASSEN_LEAST         ? STRASSEN
                                                                              : BLOCK };
    for (int i = 0; m->algorithm && i < count; i++) {
        plan->algorithm = (enum algorithm)i;
        if (strcmp(m->algorithm, algorithms[i].name) == 0) break;
        if (i + 1 == count)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "the algorithm is \"%s\", and for products the GPU has \"block\", "
                             "\"strassen\", \"strassen2\" and \"russians\"%s",
                             m->algorithm, m->transposed ? ", or \"vectors\"" : "");
    }
    plan->parts = plan->algorithm == STRASSEN2 ? 4 : plan->algorithm == STRASSEN ? 2 : 1;
    while (plan->parts > 1 && least / plan->parts < PART_LEAST) plan->parts /= 2;
    plan->rows = part_of(rows, plan->parts, 1);
    plan->cols = part_of(cols, plan->parts, plan->parts > 1 ? GF2_MUL_COLUMNS : 1);
    plan->depth = part_of(depth, plan->parts, plan->parts > 1 ? 256 : 1);
    plan->row_blocks = part_of(plan->rows, 1, GF2_MUL_ROWS) / GF2_MUL_ROWS;
    plan->row_chunks = part_of(plan->rows, 1, 256) / 256;
    plan->column_chunks = part_of(plan->cols, 1, 256) / 256;
    plan->steps = part_of(plan->depth, 1, 256 * GF2_MUL_STEPS) / 256;
    return ECH_OK;
}

struct parts {
    uint32_t *a, *b;
    uint64_t *turned;
};

/* What any GPU may need. */
static size_t lay_out(const struct echi_gf2_mul *m, const struct plan *plan, void *base,
                      bool *overflow, struct parts *parts)
{
    enum { CHUNK_BYTES = 8192 };
    struct echi_layout layout = { .base = base }, turned = { .base = base };
    *parts = (struct parts){ 0 };
    if (plan->algorithm < RUSSIANS) {
        parts->a = echi_part(&layout, plan->row_chunks * plan->steps, CHUNK_BYTES);
        parts->b = echi_part(&layout, plan->column_chunks * plan->steps, CHUNK_BYTES);
    }
    if (m->transposed && plan->algorithm != VECTORS)
        parts->turned = echi_part(&turned, m->b.cols * echi_gf2_words(m->b.rows), 8);
    *overflow = layout.overflow || turned.overflow;
    return layout.bytes > turned.bytes ? layout.bytes : turned.bytes;
}

static ech_status workspace(const void *request, void *kept, size_t *bytes)
{
    (void)kept;
    const struct echi_gf2_mul *m = request;
    struct plan plan;
    struct parts parts;
    bool overflow;
    ech_status status = make_plan(m, &plan);
    if (status != ECH_OK) return status;
    *bytes = lay_out(m, &plan, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY,
                         "the product is %zu x %zu x %zu: the workspace is larger than any memory",
                         m->a.rows, m->a.cols, m->out.cols);
    return ECH_OK;
}

static ech_status explain(const void *request, struct echi_text *text)
{
    const struct echi_gf2_mul *m = request;
    struct plan plan;
    ech_status status = make_plan(m, &plan);
    if (status != ECH_OK) return status;
    echi_print(text, "algorithm  %s: %s\n", algorithms[plan.algorithm].name,
               algorithms[plan.algorithm].what);
    for (int i = 0; i < (m->transposed ? ALGORITHMS : VECTORS); i++)
        if (i != (int)plan.algorithm)
            echi_print(text, "could be   %s: %s\n", algorithms[i].name, algorithms[i].what);
    if (plan.parts > 1)
        echi_print(text, "products   %d of parts of 1/%u of each side\n", plan.parts > 2 ? 49 : 7,
                   plan.parts);
    return ECH_OK;
}

/* ---- What is queued ---- */

static ech_status launch(ech_ctx *ctx, const char *kernel, uint64_t blocks, unsigned threads,
                         unsigned shared_bytes, const void *args)
{
    if (blocks > INT32_MAX)
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                         "the product is too large: more tiles than a grid has blocks");
    return echi_cuda_launch_early(ctx, image, kernel, (unsigned)blocks, threads, shared_bytes,
                                  args);
}

/* Part (i, j) of a matrix whose parts have so many rows and columns; what is beyond it is empty. */
static struct gf2_source part_at(const ech_gf2 *x, unsigned i, unsigned j, uint64_t rows,
                                 uint64_t cols)
{
    struct gf2_source part = { 0 };
    if (i * rows >= x->rows || j * cols >= x->cols) return part;
    part.words = x->words + i * rows * x->stride + j * cols / 64;
    part.rows = x->rows - i * rows < rows ? x->rows - i * rows : rows;
    part.cols = x->cols - j * cols < cols ? x->cols - j * cols : cols;
    return part;
}

/* A product of sums of parts, and the parts of the result that it is added to: bit 2 i + j. */
static const struct {
    unsigned a, b, out;
} strassen[7] = {
    { 1 << 0 | 1 << 3, 1 << 0 | 1 << 3, 1 << 0 | 1 << 3 },
    { 1 << 2 | 1 << 3, 1 << 0, 1 << 2 | 1 << 3 },
    { 1 << 0, 1 << 1 | 1 << 3, 1 << 1 | 1 << 3 },
    { 1 << 3, 1 << 0 | 1 << 2, 1 << 0 | 1 << 2 },
    { 1 << 0 | 1 << 1, 1 << 3, 1 << 0 | 1 << 1 },
    { 1 << 0 | 1 << 2, 1 << 0 | 1 << 1, 1 << 3 },
    { 1 << 1 | 1 << 3, 1 << 2 | 1 << 3, 1 << 0 },
};

/* Which parts a set of halves is, of each of which again a set of halves is meant where there are
 * quarters: rows and columns of parts. */
struct places {
    unsigned count, row[GF2_MUL_PARTS], column[GF2_MUL_PARTS];
};

static struct places places_of(const struct plan *plan, unsigned halves, unsigned quarters)
{
    struct places p = { 0 };
    if (plan->parts == 1) halves = quarters = 1 << 0;
    if (plan->parts == 2) halves = 1 << 0;
    for (unsigned h = 0; h < 4; h++)
        for (unsigned q = 0; q < 4; q++) {
            if (!(halves >> h & 1) || !(quarters >> q & 1)) continue;
            p.row[p.count] = h / 2 * 2 + q / 2;
            p.column[p.count++] = h % 2 * 2 + q % 2;
        }
    return p;
}

/* rows, cols: of a part of x. */
static struct gf2_operand operand_of(const ech_gf2 *x, const struct places *places, uint64_t rows,
                                     uint64_t cols, size_t steps, size_t chunks, uint32_t *out)
{
    struct gf2_operand args = { .stride = x->stride,
                                .parts = places->count,
                                .steps = (uint32_t)steps,
                                .chunks = (uint32_t)chunks,
                                .out = out };
    for (unsigned i = 0; i < places->count; i++)
        args.part[i] = part_at(x, places->row[i], places->column[i], rows, cols);
    return args;
}

/* One product of sums of parts; written: the parts of the result that have something already. */
static ech_status multiply(ech_ctx *ctx, const struct echi_gf2_mul *m, const struct plan *plan,
                           const struct parts *parts, unsigned outer, unsigned inner,
                           uint32_t *written)
{
    const struct places a = places_of(plan, strassen[outer].a, strassen[inner].a);
    struct places b = places_of(plan, strassen[outer].b, strassen[inner].b);
    const struct places out = places_of(plan, strassen[outer].out, strassen[inner].out);
    ech_status status = ECH_OK;
    struct gf2_pack_args pack = { 0 };
    pack.left =
        operand_of(&m->a, &a, plan->rows, plan->depth, plan->steps, plan->row_chunks, parts->a);
    for (unsigned i = 0; m->transposed && i < b.count; i++) {
        const unsigned row = b.row[i];
        b.row[i] = b.column[i];
        b.column[i] = row;
    }
    pack.right = operand_of(&m->b, &b, m->transposed ? plan->cols : plan->depth,
                            m->transposed ? plan->depth : plan->cols, plan->steps,
                            plan->column_chunks, parts->b);
    const uint64_t strips = (plan->steps + 3) / 4, halves = 256 / GF2_PACK_ROWS;
    const uint64_t left = strips * plan->row_chunks * halves;
    const uint64_t right = m->transposed ? strips * plan->column_chunks * halves
                                         : plan->steps * ((plan->column_chunks + 3) / 4);
    pack.left_blocks = (uint32_t)left;
    TRY(launch(ctx, m->transposed ? "gf2_pack_turned" : "gf2_pack_operands", left + right,
               GF2_MUL_THREADS, 0, &pack));
    struct gf2_mul_args args = { .a = parts->a,
                                 .b = parts->b,
                                 .steps = (uint32_t)plan->steps,
                                 .a_chunks = (uint32_t)plan->row_chunks,
                                 .b_chunks = (uint32_t)plan->column_chunks,
                                 .row_blocks = (uint32_t)plan->row_blocks,
                                 .column_blocks = (uint32_t)plan->column_chunks,
                                 .stride = m->out.stride,
                                 .targets = out.count };
    for (unsigned i = 0; i < out.count; i++) {
        const uint32_t bit = (uint32_t)1 << (4 * out.row[i] + out.column[i]);
        const struct gf2_source part =
            part_at(&m->out, out.row[i], out.column[i], plan->rows, plan->cols);
        args.target[i] = (struct gf2_target){ .words = (uint64_t *)(uintptr_t)part.words,
                                              .rows = part.rows,
                                              .cols = part.cols,
                                              .add = m->add || (*written & bit) };
        *written |= bit;
    }
    const struct echi_cuda *cuda = ctx->state;
    const uint64_t blocks = plan->row_blocks * plan->column_chunks;
    const uint64_t staying = (uint64_t)cuda->multiprocessors;
    if (cuda->architecture / 10 == 9 && echi_cuda_has(ctx, image, "gf2_mul"))
        TRY(launch(ctx, "gf2_mul", blocks < staying ? blocks : staying, GF2_MUL_THREADS + 32,
                   GF2_MUL_STAGES * GF2_MUL_STAGE_BYTES, &args));
    else
        TRY(launch(ctx, "gf2_mul_copied", blocks, GF2_MUL_THREADS,
                   GF2_MUL_STAGES_COPIED * GF2_MUL_STAGE_BYTES, &args));
done:
    return status;
}

static ech_status run_tables(ech_ctx *ctx, const struct echi_gf2_mul *m, uint64_t *turned)
{
    ech_status status = ECH_OK;
    const uint64_t words = echi_gf2_words(m->out.cols);
    const uint64_t strips = (words + GF2_MUL_TABLE_WORDS - 1) / GF2_MUL_TABLE_WORDS;
    const uint64_t bands = (m->out.rows + GF2_MUL_TABLE_ROWS - 1) / GF2_MUL_TABLE_ROWS;
    struct gf2_mul_tables_args args = { .a = m->a.words,
                                        .b = m->b.words,
                                        .a_stride = m->a.stride,
                                        .b_stride = m->b.stride,
                                        .out_stride = m->out.stride,
                                        .out = m->out.words,
                                        .rows = m->out.rows,
                                        .depth = m->a.cols,
                                        .cols = m->out.cols,
                                        .add = m->add };
    if (m->transposed) {
        struct gf2_mul_turn_args turn = { .in = m->b.words,
                                          .out = turned,
                                          .in_stride = m->b.stride,
                                          .out_stride = words,
                                          .rows = m->b.rows,
                                          .cols = m->b.cols };
        const uint64_t blocks = echi_gf2_words(m->b.cols) * (m->b.rows / 128 + 1);
        args.b = turned;
        args.b_stride = words;
        TRY(launch(ctx, "gf2_mul_turn", blocks, GF2_MUL_THREADS, 0, &turn));
    }
    TRY(launch(ctx, "gf2_mul_tables", strips * bands, GF2_MUL_THREADS, 0, &args));
done:
    return status;
}

static ech_status run_vectors(ech_ctx *ctx, const struct echi_gf2_mul *m)
{
    struct gf2_mul_vectors_args args = {
        .a = m->b.words,
        .x = m->a.words,
        .a_stride = m->b.stride,
        .x_stride = m->a.stride,
        .out_stride = m->out.stride,
        .rows = m->b.rows,
        .depth = m->b.cols,
        .vectors = (uint32_t)m->a.rows,
        .out = { .words = m->out.words, .rows = m->out.rows, .cols = m->out.cols, .add = m->add }
    };
    const uint64_t words = echi_gf2_words(m->out.cols);
    const uint64_t groups = (m->a.rows + GF2_MUL_VECTORS - 1) / GF2_MUL_VECTORS;
    if (m->a.rows == 1) return launch(ctx, "gf2_mul_vector", words, GF2_MUL_THREADS, 0, &args);
    return launch(ctx, "gf2_mul_vectors", words * groups, GF2_MUL_THREADS, 0, &args);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *kept, void *work)
{
    (void)kept;
    const struct echi_gf2_mul *m = request;
    const struct echi_cuda *cuda = ctx->state;
    const bool native = cuda->architecture >= 80 && cuda->architecture < 100;
    struct plan plan;
    struct parts parts;
    bool overflow;
    uint32_t written = 0;
    ech_status status = ECH_OK;
    TRY(make_plan(m, &plan));
    lay_out(m, &plan, work, &overflow, &parts);
    if (m->out.rows == 0 || m->out.cols == 0) return ECH_OK;
    if (plan.algorithm == VECTORS) return run_vectors(ctx, m);
    if (plan.algorithm == RUSSIANS || !native) return run_tables(ctx, m, parts.turned);
    for (unsigned outer = 0; outer < (plan.parts == 4 ? 7 : 1); outer++)
        for (unsigned inner = 0; inner < (plan.parts >= 2 ? 7 : 1); inner++)
            TRY(multiply(ctx, m, &plan, &parts, outer, inner, &written));
done:
    return status;
}

const struct echi_operation echi_cuda_gf2_mul = { .plan = workspace,
                                                  .explain = explain,
                                                  .run = run };
