/*
 * gf2/cuda/mul.c - products over GF(2) on the GPU, host code: the plan, the table of strategies,
 * and their steps.
 *
 *     "block"     packed operands, then gf2_mul on the tensor cores (sm_80 to sm_90;
 *                 otherwise like "m4r")
 *     "strassen"  the same, by 7 products of halves, "strassen2" by 49 of quarters: sums of parts
 *                 are computed while operands are packed, and a product is added to all of its
 *                 destinations, so that it needs less workspace, not more
 *     "m4r"       gf2_mul_tables
 *     "vectors"   gf2_mul_vectors, if the right operand is given transposed
 *
 *     workspace   [ left operand | right operand ]  or  [ b transposed ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "gf2/gf2.h"
#include "cuda/steps.h"
#include "gf2/cuda/mul.h"

#include <string.h>

static const char module[] = "gf2_mul_all";

enum {
    STRASSEN_MIN = 32768, /* minimum bits of each side of a part, for it to be faster */
    PART_MIN = 128,       /* ... and if it is selected by name */
    VECTORS_MOST = 16     /* maximum number of rows that are multiplied one by one */
};

struct strategy;

/* The plan, which depends on the request only. */
struct plan {
    const struct strategy *strategy;
    unsigned parts;             /* per side: 1, 2 or 4 */
    uint64_t rows, cols, depth; /* of a part */
    size_t row_chunks, column_chunks, steps;
    size_t row_blocks;
};

/* Parts of the workspace. */
struct parts {
    uint32_t *a, *b;
    uint64_t *turned;
};

/* Everything needed to make and to run the steps of a call. */
struct whole {
    const struct echi_gf2_mul *m;
    const struct plan *plan;
    struct echi_gpu gpu;
    struct parts parts;
    uint32_t written; /* the parts of the result that have been written */
    union {           /* arguments of kernels */
        struct {
            struct gf2_pack_args pack;
            struct gf2_mul_args mul;
        } product;
        struct {
            struct gf2_mul_turn_args turn;
            struct gf2_mul_tables_args mul;
        } tables;
        struct gf2_mul_vectors_args vectors;
    } args;
    struct echi_steps steps;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct echi_gf2_mul *m);
    bool (*best)(const struct echi_gf2_mul *m); /* whether it is chosen if no strategy is named */
    unsigned parts;                             /* per side, maximum */
    bool packs, turns;                          /* operands; b, if it is given transposed */
    ech_status (*steps)(struct whole *w);
};

/* ---- When each is the best ---- */

static uint64_t side_of(const struct echi_gf2_mul *m)
{
    const uint64_t rows = m->out.rows, cols = m->out.cols, depth = m->a.cols;
    const uint64_t side = rows < cols ? rows : cols;
    return side < depth ? side : depth;
}

static bool always(const struct echi_gf2_mul *m)
{
    (void)m;
    return true;
}

static bool never(const struct echi_gf2_mul *m)
{
    (void)m;
    return false;
}

static bool is_transposed(const struct echi_gf2_mul *m)
{
    return m->transposed;
}

static bool few_vectors(const struct echi_gf2_mul *m)
{
    return m->transposed && m->out.rows <= VECTORS_MOST;
}

static bool worth_quarters(const struct echi_gf2_mul *m)
{
    return !few_vectors(m) && side_of(m) >= 4 * STRASSEN_MIN;
}

static bool worth_halves(const struct echi_gf2_mul *m)
{
    return !few_vectors(m) && !worth_quarters(m) && side_of(m) >= 2 * STRASSEN_MIN;
}

static bool worth_one(const struct echi_gf2_mul *m)
{
    return !few_vectors(m) && side_of(m) < 2 * STRASSEN_MIN;
}

/* ---- Sizes ---- */

static uint64_t part_of(uint64_t n, unsigned parts, uint64_t multiple)
{
    uint64_t part = n / parts + (n % parts != 0);
    return (part + multiple - 1) / multiple * multiple;
}

static void size_parts(const struct echi_gf2_mul *m, struct plan *plan)
{
    const uint64_t side = side_of(m);
    plan->parts = plan->strategy->parts;
    while (plan->parts > 1 && side / plan->parts < PART_MIN) plan->parts /= 2;
    plan->rows = part_of(m->out.rows, plan->parts, 1);
    plan->cols = part_of(m->out.cols, plan->parts, plan->parts > 1 ? GF2_MUL_COLUMNS : 1);
    plan->depth = part_of(m->a.cols, plan->parts, plan->parts > 1 ? 256 : 1);
    plan->row_blocks = part_of(plan->rows, 1, GF2_MUL_ROWS) / GF2_MUL_ROWS;
    plan->row_chunks = part_of(plan->rows, 1, 256) / 256;
    plan->column_chunks = part_of(plan->cols, 1, 256) / 256;
    plan->steps = part_of(plan->depth, 1, 256 * GF2_MUL_STEPS) / 256;
}

/* The maximum over all GPUs. */
static size_t lay_out(const struct echi_gf2_mul *m, const struct plan *plan, void *base,
                      bool *overflow, struct parts *parts)
{
    enum { CHUNK_BYTES = 8192 };
    struct echi_layout layout = { .base = base }, turned = { .base = base };
    *parts = (struct parts){ 0 };
    if (plan->strategy->packs) {
        parts->a = echi_part(&layout, plan->row_chunks * plan->steps, CHUNK_BYTES);
        parts->b = echi_part(&layout, plan->column_chunks * plan->steps, CHUNK_BYTES);
    }
    if (m->transposed && plan->strategy->turns)
        parts->turned = echi_part(&turned, m->b.cols * echi_gf2_words(m->b.rows), 8);
    *overflow = layout.overflow || turned.overflow;
    return layout.bytes > turned.bytes ? layout.bytes : turned.bytes;
}

/* ---- Steps ---- */

static ech_status launch(struct whole *w, enum echi_phase phase, const char *kernel,
                         uint64_t blocks, unsigned threads, unsigned shared_bytes, void *args)
{
    if (blocks > INT32_MAX)
        return echi_fail(w->gpu.ctx, ECH_ERR_UNSUPPORTED,
                         "the product is too large: it has more tiles than a grid can have blocks");
    echi_step_add(&w->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = module,
                                                 .name = kernel,
                                                 .blocks = (unsigned)blocks,
                                                 .threads = threads,
                                                 .shared_bytes = shared_bytes,
                                                 .level = -1,
                                                 .args = args });
    return ECH_OK;
}

/* Part (i, j) of a matrix, given the number of rows and columns of its parts; empty beyond the
 * matrix. */
static struct gf2_source part_at(const ech_gf2 *x, unsigned i, unsigned j, uint64_t rows,
                                 uint64_t cols)
{
    struct gf2_source part = { 0 };
    if (i * rows >= x->rows || j * cols >= x->cols) return part;
    if (x->words) part.words = x->words + i * rows * x->stride + j * cols / 64;
    part.rows = x->rows - i * rows < rows ? x->rows - i * rows : rows;
    part.cols = x->cols - j * cols < cols ? x->cols - j * cols : cols;
    return part;
}

/* A product of sums of parts, and the parts of the result to which it is added: bit 2 i + j. */
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

/* The parts that a set of halves stands for; with quarters, each half is again a set of halves. */
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

/* The product of packed operands in pieces of columns, one launch each, so that kernels of another
 * stream start between them, or on the multiprocessors that are left free. */
static ech_status run_pieces(ech_ctx *ctx, void *user)
{
    const struct whole *w = user;
    const struct gf2_mul_args *all = &w->args.product.mul;
    const uint64_t free_most = (uint64_t)w->gpu.multiprocessors / 2;
    const uint64_t left_free = w->m->spare < free_most ? w->m->spare : free_most;
    const uint64_t staying = (uint64_t)w->gpu.multiprocessors - left_free;
    const uint64_t wanted = w->m->tiles * staying / all->row_blocks;
    const uint32_t most = wanted > UINT32_MAX ? UINT32_MAX : wanted ? (uint32_t)wanted : 1;
    ech_status status = ECH_OK;
    for (uint32_t at = 0; at < all->column_blocks && status == ECH_OK;) {
        const uint32_t left = all->column_blocks - at, here = left < most ? left : most;
        const uint64_t blocks = (uint64_t)here * all->row_blocks;
        struct gf2_mul_args piece = *all;
        piece.b += (uint64_t)at * (GF2_MUL_COLUMNS * 8);
        piece.column_blocks = here;
        piece.target[0].words += (uint64_t)at * (GF2_MUL_COLUMNS / 64);
        piece.target[0].cols -= (uint64_t)at * GF2_MUL_COLUMNS;
        status = echi_cuda_launch_pdl(
            ctx, module, "gf2_mul", (unsigned)(blocks < staying ? blocks : staying),
            GF2_MUL_THREADS + 32, GF2_MUL_STAGES * GF2_MUL_STAGE_BYTES, &piece);
        at += here;
    }
    return status;
}

/* The two steps of a product of sums of parts. */
static ech_status add_product(struct whole *w, unsigned outer, unsigned inner)
{
    const struct echi_gf2_mul *m = w->m;
    const struct plan *plan = w->plan;
    const struct places a = places_of(plan, strassen[outer].a, strassen[inner].a);
    struct places b = places_of(plan, strassen[outer].b, strassen[inner].b);
    const struct places out = places_of(plan, strassen[outer].out, strassen[inner].out);
    struct gf2_pack_args *pack = &w->args.product.pack;
    struct gf2_mul_args *args = &w->args.product.mul;
    ech_status status = ECH_OK;
    *pack = (struct gf2_pack_args){ 0 };
    pack->left =
        operand_of(&m->a, &a, plan->rows, plan->depth, plan->steps, plan->row_chunks, w->parts.a);
    for (unsigned i = 0; m->transposed && i < b.count; i++) {
        const unsigned row = b.row[i];
        b.row[i] = b.column[i];
        b.column[i] = row;
    }
    pack->right = operand_of(&m->b, &b, m->transposed ? plan->cols : plan->depth,
                             m->transposed ? plan->depth : plan->cols, plan->steps,
                             plan->column_chunks, w->parts.b);
    const uint64_t strips = (plan->steps + 3) / 4, halves = 256 / GF2_PACK_ROWS;
    const uint64_t left = strips * plan->row_chunks * halves;
    const uint64_t right = m->transposed ? strips * plan->column_chunks * halves
                                         : plan->steps * ((plan->column_chunks + 3) / 4);
    pack->left_blocks = (uint32_t)left;
    TRY(launch(w, ECHI_LOOK, m->transposed ? "gf2_pack_turned" : "gf2_pack_operands", left + right,
               GF2_MUL_THREADS, 0, pack));
    *args = (struct gf2_mul_args){ .a = w->parts.a,
                                   .b = w->parts.b,
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
        args->target[i] = (struct gf2_target){ .words = (uint64_t *)(uintptr_t)part.words,
                                               .rows = part.rows,
                                               .cols = part.cols,
                                               .add = m->add || (w->written & bit) };
        w->written |= bit;
    }
    const uint64_t blocks = plan->row_blocks * plan->column_chunks;
    const uint64_t staying = (uint64_t)w->gpu.multiprocessors;
    const bool groups = w->gpu.architecture / 10 == 9 && echi_gpu_has(&w->gpu, module, "gf2_mul");
    if (groups && m->tiles)
        echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                     .kind = ECHI_CALL,
                                                     .level = -1,
                                                     .name = "gf2_mul for pieces of the columns",
                                                     .call = run_pieces,
                                                     .user = w });
    else if (groups)
        TRY(launch(w, ECHI_MOVE, "gf2_mul", blocks < staying ? blocks : staying,
                   GF2_MUL_THREADS + 32, GF2_MUL_STAGES * GF2_MUL_STAGE_BYTES, args));
    else
        TRY(launch(w, ECHI_MOVE, "gf2_mul_copied", blocks, GF2_MUL_THREADS,
                   GF2_MUL_STAGES_COPIED * GF2_MUL_STAGE_BYTES, args));
done:
    return status;
}

/* 7 or 49 products, whose arguments are made when they are enqueued. */
static ech_status run_products(ech_ctx *ctx, void *user)
{
    const struct whole *all = user;
    struct whole one;
    ech_status status = ECH_OK;
    one.m = all->m;
    one.plan = all->plan;
    one.gpu = all->gpu;
    one.parts = all->parts;
    one.written = 0;
    for (unsigned outer = 0; outer < (all->plan->parts == 4 ? 7 : 1); outer++)
        for (unsigned inner = 0; inner < 7; inner++) {
            one.steps.count = 0;
            TRY(add_product(&one, outer, inner));
            TRY(echi_cuda_enqueue(ctx, &one.steps, NULL, NULL));
        }
done:
    return status;
}

static ech_status steps_of_tables(struct whole *w)
{
    const struct echi_gf2_mul *m = w->m;
    ech_status status = ECH_OK;
    const uint64_t words = echi_gf2_words(m->out.cols);
    const uint64_t strips = (words + GF2_MUL_TABLE_WORDS - 1) / GF2_MUL_TABLE_WORDS;
    const uint64_t bands = (m->out.rows + GF2_MUL_TABLE_ROWS - 1) / GF2_MUL_TABLE_ROWS;
    struct gf2_mul_tables_args *args = &w->args.tables.mul;
    *args = (struct gf2_mul_tables_args){ .a = m->a.words,
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
        struct gf2_mul_turn_args *turn = &w->args.tables.turn;
        *turn = (struct gf2_mul_turn_args){ .in = m->b.words,
                                            .out = w->parts.turned,
                                            .in_stride = m->b.stride,
                                            .out_stride = words,
                                            .rows = m->b.rows,
                                            .cols = m->b.cols };
        const uint64_t blocks = echi_gf2_words(m->b.cols) * (m->b.rows / 128 + 1);
        args->b = w->parts.turned;
        args->b_stride = words;
        TRY(launch(w, ECHI_LOOK, "gf2_mul_turn", blocks, GF2_MUL_THREADS, 0, turn));
    }
    TRY(launch(w, ECHI_MOVE, "gf2_mul_tables", strips * bands, GF2_MUL_THREADS, 0, args));
done:
    return status;
}

/* Tables, if the tensor cores do not multiply bits. */
static ech_status steps_of_products(struct whole *w)
{
    const bool native = w->gpu.architecture >= 80 && w->gpu.architecture < 100;
    if (!native) return steps_of_tables(w);
    if (w->plan->parts == 1) return add_product(w, 0, 0);
    echi_step_add(&w->steps, (struct echi_step){
                                 .phase = ECHI_MOVE,
                                 .kind = ECHI_CALL,
                                 .level = -1,
                                 .name = w->plan->parts == 4
                                             ? "49 products of sums of parts: gf2_pack_..., gf2_mul"
                                             : "7 products of sums of parts: gf2_pack_..., gf2_mul",
                                 .call = run_products,
                                 .user = w });
    return ECH_OK;
}

static ech_status steps_of_vectors(struct whole *w)
{
    const struct echi_gf2_mul *m = w->m;
    struct gf2_mul_vectors_args *args = &w->args.vectors;
    *args = (struct gf2_mul_vectors_args){
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
    if (m->a.rows == 1)
        return launch(w, ECHI_MOVE, "gf2_mul_vector", words, GF2_MUL_THREADS, 0, args);
    return launch(w, ECHI_MOVE, "gf2_mul_vectors", words * groups, GF2_MUL_THREADS, 0, args);
}

/* ---- The strategies ---- */

static const struct strategy strategies[] = {
    {
        .name = "block",
        .what = "on tensor cores if they multiply bits, otherwise like m4r",
        .when = "products with a side of less than 65,536 bits",
        .can = always,
        .best = worth_one,
        .parts = 1,
        .packs = true,
        .turns = true,
        .steps = steps_of_products,
    },
    {
        .name = "strassen",
        .what = "like block, by 7 products of halves of each side",
        .when = "all sides have at least 65,536 bits",
        .can = always,
        .best = worth_halves,
        .parts = 2,
        .packs = true,
        .turns = true,
        .steps = steps_of_products,
    },
    {
        .name = "strassen2",
        .what = "like block, by 49 products of quarters of each side",
        .when = "all sides have at least 131,072 bits",
        .can = always,
        .best = worth_quarters,
        .parts = 4,
        .packs = true,
        .turns = true,
        .steps = steps_of_products,
    },
    {
        .name = "m4r",
        .what = "tables of linear combinations of 8 rows in shared memory (M4R)",
        .when = "only by name",
        .can = always,
        .best = never,
        .parts = 1,
        .turns = true,
        .steps = steps_of_tables,
    },
    {
        .name = "vectors",
        .what = "reads each row of the matrix once, for all vectors",
        .when = "the right operand is given transposed, and the left one has at most 16 rows",
        .can = is_transposed,
        .best = few_vectors,
        .parts = 1,
        .steps = steps_of_vectors,
    },
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static ech_status choose(const struct echi_gf2_mul *m, const struct strategy **choice)
{
    for (int i = 0; i < STRATEGIES; i++) {
        const struct strategy *a = *choice = &strategies[i];
        if (a->can(m) && (m->algorithm ? strcmp(m->algorithm, a->name) == 0 : a->best(m)))
            return ECH_OK;
    }
    return echi_fail(
        NULL, ECH_ERR_ARG,
        "algorithm \"%s\" is unknown or cannot run this product; available on the GPU: "
        "block, strassen, strassen2, m4r%s",
        m->algorithm, m->transposed ? ", vectors" : "");
}

static ech_status plan_product(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_gf2_mul *m = request;
    struct plan *plan = place;
    struct parts parts;
    bool overflow;
    ech_status status = choose(m, &plan->strategy);
    if (status != ECH_OK) return status;
    size_parts(m, plan);
    *work_bytes = lay_out(m, plan, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY,
                         "the product is %zu x %zu x %zu: the workspace exceeds SIZE_MAX bytes",
                         m->a.rows, m->a.cols, m->out.cols);
    return ECH_OK;
}

static ech_status make_steps(const struct echi_gf2_mul *m, const struct plan *plan,
                             struct echi_gpu gpu, void *work, struct whole *w)
{
    bool overflow;
    w->m = m;
    w->plan = plan;
    w->gpu = gpu;
    w->written = 0;
    w->steps.count = 0;
    lay_out(m, plan, work, &overflow, &w->parts);
    if (m->out.rows == 0 || m->out.cols == 0) return ECH_OK;
    return plan->strategy->steps(w);
}

static ech_status run_product(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    ech_status status = make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    return status == ECH_OK ? echi_cuda_enqueue(ctx, &w.steps, NULL, NULL) : status;
}

static ech_status explain_product(const void *request, struct echi_explain *e)
{
    const struct echi_gf2_mul *m = request;
    struct plan plan;
    struct whole w;
    size_t bytes;
    ech_status status;
    TRY(plan_product(m, &plan, &bytes));
    TRY(make_steps(m, &plan, echi_gpu_of(NULL), NULL, &w));
    echi_explain_algorithm(e, true, plan.strategy->name, "%s", plan.strategy->what);
    for (int i = 0; i < STRATEGIES; i++)
        if (&strategies[i] != plan.strategy && strategies[i].can(m))
            echi_explain_algorithm(e, false, strategies[i].name, "%s", strategies[i].what);
    if (plan.parts > 1)
        echi_explain_line(e, "products", "%d of blocks of 1/%u of each side",
                          plan.parts > 2 ? 49 : 7, plan.parts);
    echi_explain_steps(e, &w.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_gf2_mul = {
    .plan = plan_product,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_product,
    .run = run_product,
};
