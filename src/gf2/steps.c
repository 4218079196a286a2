/*
 * gf2/steps.c - implements echelon.h: builds the augmented matrix, eliminates, and extracts the
 * results.
 *
 * The same functions run twice: without a context they only lay out the workspace and query the
 * workspace of each operation; the operations use one such part in turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/echelon.h"

struct steps {
    ech_ctx *ctx; /* NULL: only measure */
    const struct echi_backend *backend;
    struct echi_layout layout;
    size_t most; /* maximum workspace of an operation */
    void *own;
    ech_status status;
};

static void step(struct steps *s, const struct echi_operation *operation, const void *request)
{
    size_t bytes = 0;
    if (s->status != ECH_OK) return;
    if (s->ctx) {
        s->status = echi_operation_run(s->ctx, operation, request, s->own);
        return;
    }
    s->status = echi_operation_workspace(operation, request, &bytes);
    if (bytes > s->most) s->most = bytes;
}

static void simple(struct steps *s, struct echi_gf2 request)
{
    step(s, s->backend->operations[ECHI_OP_gf2], &request);
}

/* ---- Matrices of the workspace ---- */

/* Words of a part of a row: an even number, so that parts are aligned to 16 bytes. */
static size_t part_words(size_t cols)
{
    return (echi_gf2_words(cols) + 1) / 2 * 2;
}

static size_t at_least_1(size_t n)
{
    return n ? n : 1;
}

/* Zeroed, because a store to a part of a word reads the rest. */
static ech_gf2 scratch(struct steps *s, size_t rows, size_t words)
{
    ech_gf2 m = {
        .size = sizeof(ech_gf2), .rows = at_least_1(rows), .cols = words * 64, .stride = words
    };
    m.words = echi_part(&s->layout, m.rows, words * sizeof(uint64_t));
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_ZERO, .out = m });
    return m;
}

static uint32_t *positions(struct steps *s, size_t count)
{
    return echi_part(&s->layout, at_least_1(count), sizeof(uint32_t));
}

/* The part of m that begins with this word, as rows x cols. */
static ech_gf2 part(const ech_gf2 *m, size_t word, size_t rows, size_t cols)
{
    ech_gf2 view = {
        .size = sizeof(ech_gf2), .words = m->words, .rows = rows, .cols = cols, .stride = m->stride
    };
    if (view.words) view.words += word;
    return view;
}

static bool none(const ech_gf2 *m)
{
    return m->rows == 0 || m->cols == 0;
}

static void copy(struct steps *s, const ech_gf2 *from, const ech_gf2 *to)
{
    if (none(from)) return;
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_COPY, .a = *from, .out = *to });
}

static void gather_columns(struct steps *s, const ech_gf2 *from, const uint32_t *order,
                           const ech_gf2 *to)
{
    if (none(to)) return;
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_GATHER_COLUMNS,
                                 .a = *from,
                                 .out = *to,
                                 .order = order,
                                 .limit = from->cols,
                                 .columns = to->cols });
}

/* ---- The matrix that is eliminated ---- */

struct augmented {
    ech_gf2 all, a, b, identity;       /* all, and its parts */
    uint32_t *full, *inverse, *pivots; /* with an order: all columns in order, and its inverse */
    uint32_t *rank;
};

/* Lays out the parts and fills them. b NULL: no such part. */
static struct augmented augmented_matrix(struct steps *s, const struct echi_gf2_elimination *e,
                                         const ech_gf2 *b, bool identity)
{
    struct augmented m;
    const bool turned = e->left;
    const size_t rows = turned ? e->a.cols : e->a.rows, cols = turned ? e->a.rows : e->a.cols;
    size_t words = part_words(at_least_1(cols));
    const size_t b_word = words;
    words += b ? part_words(b->cols) : 0;
    const size_t identity_word = words;
    words += identity ? part_words(rows) : 0;
    m.all = scratch(s, rows, words);
    m.a = part(&m.all, 0, rows, cols);
    m.b = part(&m.all, b_word, rows, b ? b->cols : 0);
    m.identity = part(&m.all, identity_word, rows, identity ? rows : 0);
    m.full = e->has_order ? positions(s, cols) : NULL;
    m.inverse = e->has_order ? positions(s, cols) : NULL;
    m.pivots = positions(s, rows < cols ? rows : cols);
    m.rank = positions(s, 1);

    if (e->has_order && cols) {
        simple(s, (struct echi_gf2){ .what = ECHI_GF2_ORDER,
                                     .order = e->order,
                                     .columns = e->columns,
                                     .limit = cols,
                                     .full = m.full,
                                     .inverse = m.inverse });
        if (rows) gather_columns(s, &e->a, m.full, &m.a);
    } else if (turned && rows && cols) {
        simple(s, (struct echi_gf2){ .what = ECHI_GF2_TRANSPOSE, .a = e->a, .out = m.a });
    } else {
        copy(s, &e->a, &m.a);
    }
    if (b) copy(s, b, &m.b);
    if (identity && rows)
        simple(s, (struct echi_gf2){ .what = ECHI_GF2_IDENTITY, .out = m.identity });
    return m;
}

static void eliminate(struct steps *s, const struct echi_gf2_elimination *e, const ech_gf2 *a,
                      size_t columns, bool reduced, uint32_t *rank, uint32_t *pivots,
                      uint32_t *rows_from)
{
    struct echi_gf2_echelon request = { .a = *a,
                                        .columns = at_least_1(columns),
                                        .reduced = reduced,
                                        .rank_only = e->rank_only,
                                        .quick = e->quick,
                                        .rank = rank,
                                        .pivots = pivots,
                                        .rows_from = rows_from,
                                        .algorithm = e->algorithm };
    request.max_rank = request.columns < a->rows ? request.columns : a->rows;
    if (e->max_rank && e->max_rank < request.max_rank) request.max_rank = e->max_rank;
    step(s, s->backend->operations[ECHI_OP_gf2_echelon], &request);
}

/* Converts pivots in the ordered columns to columns of a. */
static void map_pivots(struct steps *s, const struct augmented *m, size_t limit, uint32_t *pivots,
                       const uint32_t *rank)
{
    if (!m->full || !limit) return;
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_MAP,
                                 .order = m->full,
                                 .limit = limit,
                                 .positions = pivots,
                                 .rank = rank });
}

/* ---- Each call ---- */

static void run_echelon(struct steps *s, const struct echi_gf2_elimination *e)
{
    if (!e->rank_only && !e->has_order && !e->has_transform && !none(&e->a)) {
        eliminate(s, e, &e->a, e->columns, e->reduced, e->rank, e->pivots, e->rows_from);
        return;
    }
    struct augmented m = augmented_matrix(s, e, NULL, e->has_transform);
    uint32_t *pivots = e->has_pivots && !none(&e->a) ? e->pivots : NULL;
    eliminate(s, e, &m.all, e->columns, e->reduced, e->rank, pivots,
              e->a.rows ? e->rows_from : NULL);
    if (e->has_pivots && !none(&e->a)) map_pivots(s, &m, e->a.cols, pivots, e->rank);
    if (e->rank_only) return;
    if (e->has_order && e->a.rows)
        gather_columns(s, &m.a, m.inverse, &e->a);
    else
        copy(s, &m.a, &e->a);
    if (e->has_transform) copy(s, &m.identity, &e->transform);
}

/* a(p[i], q[j]) = (L U)(i, j): the echelon form gives U, and L is a's pivot columns times the
 * inverse of U. */
static void run_pluq(struct steps *s, const struct echi_gf2_elimination *e)
{
    struct augmented m = augmented_matrix(s, e, NULL, false);
    eliminate(s, e, &m.all, e->columns, false, e->rank, m.pivots, e->a.rows ? e->rows_from : NULL);
    map_pivots(s, &m, e->a.cols, m.pivots, e->rank);
    if (e->a.cols)
        simple(s, (struct echi_gf2){ .what = ECHI_GF2_ORDER,
                                     .positions = m.pivots,
                                     .rank = e->rank,
                                     .limit = e->a.cols,
                                     .full = e->q });
    if (none(&e->a)) return;

    const size_t rows = e->a.rows, cols = e->a.cols, least = rows < cols ? rows : cols;
    const ech_gf2 wide = scratch(s, rows, part_words(cols));
    const ech_gf2 permuted = part(&wide, 0, rows, cols);
    const ech_gf2 square = scratch(s, least, 2 * part_words(least));
    const ech_gf2 u = part(&square, 0, least, least);
    const ech_gf2 u_inverse = part(&square, part_words(least), least, least);
    const ech_gf2 pivot_columns = part(&m.all, 0, rows, least); /* after U has been extracted from
                                                                   it */
    const ech_gf2 lower_room = scratch(s, rows, part_words(least));
    const ech_gf2 lower = part(&lower_room, 0, rows, least);
    uint32_t *rank = positions(s, 1);

    if (e->has_order) { /* the columns' own order first, since q is in it */
        const ech_gf2 own = permuted;
        gather_columns(s, &m.a, m.inverse, &own);
        copy(s, &own, &m.a);
    }
    gather_columns(s, &m.a, e->q, &permuted);
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_UNIT, .a = permuted, .out = u, .rank = e->rank });
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_IDENTITY, .out = u_inverse });
    eliminate(s, e, &square, least, true, rank, NULL, NULL);

    simple(s, (struct echi_gf2){ .what = ECHI_GF2_GATHER_ROWS,
                                 .a = e->a,
                                 .out = m.a,
                                 .order = e->rows_from,
                                 .limit = rows,
                                 .columns = rows });
    const ech_gf2 by_rows = m.a;
    gather_columns(s, &by_rows, e->q, &lower);
    copy(s, &lower, &pivot_columns);
    struct echi_gf2_mul product = { .a = pivot_columns, .b = u_inverse, .out = lower };
    step(s, s->backend->operations[ECHI_OP_gf2_mul], &product);
    simple(s, (struct echi_gf2){
                  .what = ECHI_GF2_LU, .a = permuted, .b = lower, .out = e->a, .rank = e->rank });
}

static void run_solve(struct steps *s, const struct echi_gf2_elimination *e)
{
    struct augmented m = augmented_matrix(s, e, &e->b, e->has_transform);
    eliminate(s, e, &m.all, e->columns, true, m.rank, m.pivots, NULL);
    map_pivots(s, &m, e->a.cols, m.pivots, m.rank);
    if (e->a.rows == 0) m.b = part(&m.all, part_words(1), 1, e->b.cols); /* a row of zeros */
    if (!none(&e->out)) {
        simple(s, (struct echi_gf2){ .what = ECHI_GF2_SPREAD_ROWS,
                                     .a = m.b,
                                     .out = e->out,
                                     .positions = m.pivots,
                                     .rank = m.rank });
        simple(s, (struct echi_gf2){
                      .what = ECHI_GF2_CLEAR, .a = m.b, .out = e->out, .rank = m.rank });
    }
    if (e->has_solvable)
        simple(s, (struct echi_gf2){
                      .what = ECHI_GF2_SOLVABLE, .a = m.b, .rank = m.rank, .bytes = e->solvable });
    if (e->has_transform && !none(&e->transform))
        simple(s, (struct echi_gf2){ .what = ECHI_GF2_CERTIFICATE,
                                     .a = m.b,
                                     .b = m.identity,
                                     .out = e->transform,
                                     .rank = m.rank });
}

static void run_kernel(struct steps *s, const struct echi_gf2_elimination *e)
{
    const size_t cols = e->left ? e->a.rows : e->a.cols;
    struct augmented m = augmented_matrix(s, e, NULL, false);
    if (cols == 0) { /* a rank of 0 is also the dimension */
        eliminate(s, e, &m.all, 1, true, e->rank, NULL, NULL);
        return;
    }
    eliminate(s, e, &m.all, cols, true, m.rank, m.pivots, NULL);
    simple(s, (struct echi_gf2){ .what = ECHI_GF2_KERNEL,
                                 .a = part(&m.all, 0, m.all.rows, cols),
                                 .out = e->out,
                                 .positions = m.pivots,
                                 .rank = m.rank,
                                 .dim = e->rank });
}

static void run_inverse(struct steps *s, const struct echi_gf2_elimination *e)
{
    struct augmented m = augmented_matrix(s, e, NULL, true);
    eliminate(s, e, &m.all, e->a.cols, true, e->rank, NULL, NULL);
    copy(s, &m.identity, &e->out);
}

static void run_call(struct steps *s, const struct echi_gf2_elimination *e)
{
    switch (e->call) {
    case ECH_GF2_CALL_PLUQ:
        run_pluq(s, e);
        break;
    case ECH_GF2_CALL_SOLVE:
        run_solve(s, e);
        break;
    case ECH_GF2_CALL_NULLSPACE:
        run_kernel(s, e);
        break;
    case ECH_GF2_CALL_INVERSE:
        run_inverse(s, e);
        break;
    default:
        run_echelon(s, e);
        break;
    }
}

/* ---- As an operation ---- */

static struct steps measured(const struct echi_gf2_elimination *e)
{
    struct steps s = { .backend = e->backend };
    run_call(&s, e);
    if (s.status == ECH_OK && s.layout.overflow)
        s.status = echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    return s;
}

static ech_status elimination_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct steps s = measured(request);
    *bytes = s.layout.bytes + s.most;
    return s.status;
}

static ech_status elimination_explain(const void *request, struct echi_explain *text)
{
    const struct echi_gf2_elimination *e = request;
    const struct echi_operation *engine = e->backend->operations[ECHI_OP_gf2_echelon];
    size_t cols = e->left ? e->a.rows : e->a.cols, rows = e->left ? e->a.cols : e->a.rows;
    if (e->call == ECH_GF2_CALL_SOLVE) cols = part_words(cols) * 64 + e->b.cols;
    if (e->has_transform || e->call == ECH_GF2_CALL_INVERSE) cols = part_words(cols) * 64 + rows;
    struct echi_gf2_echelon inner = { .a = { .rows = at_least_1(rows),
                                             .cols = at_least_1(cols),
                                             .stride = part_words(at_least_1(cols)) },
                                      .columns = at_least_1(e->columns),
                                      .reduced = e->reduced,
                                      .algorithm = e->algorithm };
    inner.max_rank = inner.columns < inner.a.rows ? inner.columns : inner.a.rows;
    echi_explain_line(text, "matrix", "%zu x %zu bits, pivots in %zu columns", inner.a.rows,
                      inner.a.cols, inner.columns);
    return engine->explain(&inner, text);
}

static ech_status elimination_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_gf2_elimination *e = request;
    struct steps s = measured(e);
    if (s.status != ECH_OK) return s.status;
    char *base = work;
    void *own = base ? base + s.layout.bytes : NULL;
    s = (struct steps){ .ctx = ctx, .backend = e->backend, .layout.base = base, .own = own };
    run_call(&s, e);
    return s.status;
}

/* On a GPU, "block" needs less than "lookahead". */
static bool elimination_economise(void *request)
{
    struct echi_gf2_elimination *e = request;
    if (e->algorithm || e->backend == &echi_cpu) return false;
    e->algorithm = "block";
    return true;
}

const struct echi_operation echi_gf2_elimination = { .plan = elimination_workspace,
                                                     .explain = elimination_explain,
                                                     .economise = elimination_economise,
                                                     .run = elimination_run };
