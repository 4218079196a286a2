/*
 * gf2/cpu/mul.c - products over GF(2) on the CPU: chooses an algorithm, lays out the workspace,
 * runs it.
 *
 *     block      a and out as byte columns, b as 8 x 8 blocks (common.h): a thread computes 256
 *                rows of up to 8,192 columns of the result, in its cache
 *     strassen   the same with a, b and out in quarters: 7 products of sums of quarters instead of
 *                8 (Strassen, 1969).  Operands are packed from such sums, and each product is added
 *                to one or two quarters, so that no intermediate result is stored
 *     m4r        tables of linear combinations of rows of b (m4r.c)
 *     direct     adds rows of b one by one or, if b is given transposed, computes dot products
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

enum {
    OUT_COLUMNS = 1024, /* byte columns of out at a time */
    IN_COLUMNS =
        64, /* byte columns of a at a time, so that 256 rows of them stay in the L1 cache */
    MOST_THREADS = 64,
    STRIP = 64 /* words of a row of out that "direct" computes at a time */
};

/* One matrix, or the sum of two; the smaller one is padded with zeros. */
struct sum {
    ech_gf2 m[2];
    int n;
};

struct plan {
    const struct echi_gf2_mul *request;
    const ech_ctx *ctx;
    const struct echi_gf2_isa *isa;
    struct sum a, b, out;                      /* of the current product; out: added to both */
    bool add[2];                               /* whether to add to out or to overwrite it */
    size_t rows, in_bits, in_bytes, out_bytes; /* its size: rows of a, bits and bytes of a row of a
                                                  and of out */
    size_t columns;                            /* byte columns of out at a time */
    size_t threads;                            /* at most */
    size_t scratch_bytes;                      /* per thread */
    uint8_t *operands, *scratch;
    size_t first, end; /* byte columns of out that are computed now */
    int round, rounds; /* products of parts: the current one, and their number */
    struct echi_gf2_m4r m4r;
};

static double products(const struct plan *p)
{
    return 64.0 * (double)p->rows * (double)p->in_bytes * (double)p->out_bytes;
}

/* ---- block ---- */

enum { COLUMNS_BYTES = IN_COLUMNS * ECHI_GF2_TILE };

static void block_plan(struct plan *p, struct echi_layout *layout)
{
    p->columns = echi_min(p->out_bytes, OUT_COLUMNS);
    p->threads = echi_min(echi_gf2_tiles(p->rows), MOST_THREADS);
    p->scratch_bytes = COLUMNS_BYTES + p->columns * ECHI_GF2_TILE;
    const size_t parts = (p->in_bytes + IN_COLUMNS - 1) / IN_COLUMNS;
    p->operands = echi_part(layout, p->columns * parts * IN_COLUMNS, p->isa->operand_bytes);
    p->scratch = echi_part(layout, p->threads, p->scratch_bytes);
}

/* The operand of rows 8i ... of b and byte column p->first + j.  The operands for the same
 * IN_COLUMNS byte columns of a are contiguous. */
static uint8_t *operand(const struct plan *p, size_t i, size_t j)
{
    const size_t part = i / IN_COLUMNS * p->columns + j;
    return p->operands + (part * IN_COLUMNS + i % IN_COLUMNS) * p->isa->operand_bytes;
}

/* Loads 256 rows of columns <= IN_COLUMNS byte columns of a matrix, from (row, 8 * byte) on. */
static void load(const struct plan *p, const ech_gf2 *m, size_t row, size_t byte, size_t columns,
                 uint8_t *out)
{
    const size_t rows = row < m->rows ? echi_min(ECHI_GF2_TILE, m->rows - row) : 0;
    const size_t bytes = (m->cols + 7) / 8;
    const size_t some = byte < bytes ? echi_min(columns, bytes - byte) : 0;
    if (rows < ECHI_GF2_TILE || some < columns) memset(out, 0, columns * ECHI_GF2_TILE);
    if (rows && some)
        p->isa->to_columns(m->words + row * m->stride + byte / 8, m->stride, rows, some, out);
}

static void load_sum(const struct plan *p, const struct sum *s, size_t row, size_t byte,
                     size_t columns, uint64_t *out)
{
    load(p, &s->m[0], row, byte, columns, (uint8_t *)out);
    if (s->n == 1) return;
    uint64_t other[COLUMNS_BYTES / 8];
    load(p, &s->m[1], row, byte, columns, (uint8_t *)other);
    for (size_t i = 0; i < columns * (ECHI_GF2_TILE / 8); i++) out[i] ^= other[i];
}

/* Operands of 256 rows of b: a tile of b is columns of blocks. */
static void prepare_rows(void *arg, size_t tile, int thread)
{
    const struct plan *p = arg;
    (void)thread;
    uint64_t blocks[COLUMNS_BYTES / 8];
    const size_t row = tile * ECHI_GF2_TILE, rows = echi_min(ECHI_GF2_TILE, p->in_bits - row);
    for (size_t c = p->first; c < p->end; c += IN_COLUMNS) {
        const size_t columns = echi_min(IN_COLUMNS, p->end - c);
        load_sum(p, &p->b, row, c, columns, blocks);
        for (size_t j = 0; j < columns; j++)
            p->isa->prepare(blocks + j * (ECHI_GF2_TILE / 8), (rows + 7) / 8,
                            operand(p, row / 8, c - p->first + j));
    }
}

/* The same for b given transposed: its 256 rows are 32 byte columns of out. */
static void prepare_columns(void *arg, size_t tile, int thread)
{
    const struct plan *p = arg;
    const ech_gf2 *b = &p->request->b;
    (void)thread;
    uint64_t blocks[COLUMNS_BYTES / 8], line[IN_COLUMNS];
    const size_t row = p->first * 8 + tile * ECHI_GF2_TILE;
    const size_t rows = echi_min(ECHI_GF2_TILE, b->rows - row);
    for (size_t i = 0; i < p->in_bytes; i += IN_COLUMNS) {
        const size_t columns = echi_min(IN_COLUMNS, p->in_bytes - i);
        load(p, b, row, i, columns, (uint8_t *)blocks);
        for (size_t j = 0; j < (rows + 7) / 8; j++) {
            for (size_t c = 0; c < columns; c++)
                line[c] = echi_gf2_turned(blocks[c * (ECHI_GF2_TILE / 8) + j]);
            if (i + columns == p->in_bytes && b->cols % 8) /* bits outside of b */
                line[columns - 1] &= ((uint64_t)1 << b->cols % 8 * 8) - 1;
            p->isa->prepare(line, columns, operand(p, i, row / 8 - p->first + j));
        }
    }
}

static void multiply_tile(void *arg, size_t tile, int thread)
{
    const struct plan *p = arg;
    uint8_t *a = p->scratch + (size_t)thread * p->scratch_bytes, *out = a + COLUMNS_BYTES;
    const size_t row = tile * ECHI_GF2_TILE, columns = p->end - p->first;
    memset(out, 0, columns * ECHI_GF2_TILE);
    for (size_t i = 0; i < p->in_bytes; i += IN_COLUMNS) {
        const size_t k = echi_min(IN_COLUMNS, p->in_bytes - i);
        load_sum(p, &p->a, row, i, k, (uint64_t *)(void *)a);
        p->isa->multiply(a, k, operand(p, i, 0), IN_COLUMNS, out, NULL, columns,
                         echi_gf2_lines(p->rows, tile));
    }
    for (int i = 0; i < p->out.n; i++) {
        const ech_gf2 *m = &p->out.m[i];
        if (row >= m->rows || p->first * 8 >= m->cols) continue;
        p->isa->from_columns(out, echi_min(ECHI_GF2_TILE, m->rows - row),
                             echi_min(m->cols, p->end * 8) - p->first * 8,
                             m->words + row * m->stride + p->first / 8, m->stride, p->add[i]);
    }
}

static void block_run(struct plan *p)
{
    const int worth = echi_gf2_threads(p->ctx, p->isa, products(p));
    const int threads = (int)echi_min((size_t)worth, p->threads);
    for (p->first = 0; p->first < p->out_bytes; p->first = p->end) {
        p->end = echi_min(p->out_bytes, p->first + p->columns);
        if (p->request->transposed)
            echi_parallel(threads, (p->end - p->first + 31) / 32, prepare_columns, p);
        else
            echi_parallel(threads, echi_gf2_tiles(p->in_bits), prepare_rows, p);
        echi_parallel(threads, echi_gf2_tiles(p->rows), multiply_tile, p);
        const double done = p->round + (double)p->end / (double)p->out_bytes;
        if (echi_progress(p->ctx, done, p->rounds - done)) return;
    }
}

/* ---- strassen ---- */

/* The split into two halves: the second half may be shorter. */
static size_t half(size_t n, size_t multiple)
{
    return (n + 2 * multiple - 1) / (2 * multiple) * multiple;
}

static void strassen_plan(struct plan *p, struct echi_layout *layout)
{
    p->rounds = 7;
    p->rows = half(p->rows, ECHI_GF2_TILE);
    p->in_bits = half(p->in_bits, IN_COLUMNS * 8);
    p->in_bytes = p->in_bits / 8;
    p->out_bytes = half(p->out_bytes * 8, 64) / 8;
    block_plan(p, layout);
}

static ech_gf2 quarter(const ech_gf2 *m, int i, size_t rows, size_t cols)
{
    ech_gf2 q = *m;
    const size_t row = i / 2 ? rows : 0, col = i % 2 ? cols : 0;
    q.rows = row < m->rows ? echi_min(rows, m->rows - row) : 0;
    q.cols = col < m->cols ? echi_min(cols, m->cols - col) : 0;
    if (q.rows && q.cols) q.words += row * m->stride + col / 64;
    return q;
}

/* Sets of quarters 0 to 3 as bits: sums of a times sums of b, added to those of out. */
static const struct {
    unsigned char a, b, out;
} strassen[] = { { 9, 9, 9 }, { 12, 1, 12 }, { 1, 10, 10 }, { 8, 5, 5 },
                 { 3, 8, 3 }, { 5, 3, 8 },   { 10, 12, 1 } };

static void take_quarters(struct sum *s, const ech_gf2 *m, unsigned which, size_t rows, size_t cols)
{
    s->n = 0;
    for (int i = 0; i < 4; i++)
        if (which >> i & 1) s->m[s->n++] = quarter(m, i, rows, cols);
}

static void strassen_run(struct plan *p)
{
    const struct echi_gf2_mul *r = p->request;
    unsigned written = r->add ? 15 : 0;
    for (int i = 0; i < 7; i++) {
        const unsigned out = strassen[i].out;
        take_quarters(&p->a, &r->a, strassen[i].a, p->rows, p->in_bits);
        take_quarters(&p->b, &r->b, strassen[i].b, p->in_bits, p->out_bytes * 8);
        take_quarters(&p->out, &r->out, out, p->rows, p->out_bytes * 8);
        for (int j = 0, n = 0; j < 4; j++)
            if (out >> j & 1) p->add[n++] = written >> j & 1;
        written |= out;
        p->round = i;
        block_run(p);
        if (echi_canceled(p->ctx)) return;
    }
}

/* ---- m4r ---- */

static void zero(const ech_gf2 *out)
{
    const size_t words = echi_gf2_words(out->cols);
    for (size_t i = 0; i < out->rows; i++) {
        uint64_t *row = out->words + i * out->stride;
        memset(row, 0, (words - 1) * sizeof *row);
        row[words - 1] &= ~echi_gf2_last_mask(out->cols);
    }
}

static void m4r_plan(struct plan *p, struct echi_layout *layout)
{
    echi_gf2_m4r_plan(&p->m4r, layout, p->request->out.rows);
}

static void m4r_run(struct plan *p)
{
    const struct echi_gf2_mul *r = p->request;
    const size_t words = echi_gf2_words(r->a.cols);
    p->m4r.ctx = p->ctx;
    if (!r->add) zero(&r->out);
    for (size_t w = 0; w < words; w++) {
        const uint64_t mask = w + 1 < words ? ~(uint64_t)0 : echi_gf2_last_mask(r->a.cols);
        for (size_t i = 0; i < r->a.rows; i++)
            p->m4r.multipliers[i] = r->a.words[i * r->a.stride + w] & mask;
        if (echi_progress(p->ctx, (double)w, (double)(words - w))) return;
        echi_gf2_m4r_add(&p->m4r, &r->b, w * 64, echi_min(64, r->a.cols - w * 64), &r->out, 0,
                         r->out.rows, 0);
    }
}

/* ---- direct ---- */

static void direct_plan(struct plan *p, struct echi_layout *layout)
{
    (void)p;
    (void)layout;
}

/* A strip of a row of out: a linear combination of rows of b. */
static void add_strip(void *arg, size_t task, int thread)
{
    const struct plan *p = arg;
    const struct echi_gf2_mul *r = p->request;
    (void)thread;
    const size_t words = echi_gf2_words(r->out.cols), strips = (words + STRIP - 1) / STRIP;
    const size_t i = task / strips, first = task % strips * STRIP;
    const size_t n = echi_min(STRIP, words - first);
    uint64_t sum[STRIP] = { 0 };
    for (size_t k = 0; k < r->a.cols; k++) {
        if (!(r->a.words[i * r->a.stride + k / 64] >> k % 64 & 1)) continue;
        const uint64_t *b = r->b.words + k * r->b.stride + first;
        for (size_t w = 0; w < n; w++) sum[w] ^= b[w];
    }
    uint64_t *out = r->out.words + i * r->out.stride + first;
    for (size_t w = 0; w < n; w++) {
        const uint64_t mask =
            first + w + 1 < words ? ~(uint64_t)0 : echi_gf2_last_mask(r->out.cols);
        out[w] = r->add ? out[w] ^ (sum[w] & mask) : (out[w] & ~mask) | (sum[w] & mask);
    }
}

/* One word of every row of out: dot products of rows of a with 64 rows of b. */
static void dot_word(void *arg, size_t word, int thread)
{
    const struct plan *p = arg;
    const struct echi_gf2_mul *r = p->request;
    (void)thread;
    const size_t words = echi_gf2_words(r->a.cols), n = echi_min(64, r->out.cols - word * 64);
    const uint64_t mask =
        word + 1 < echi_gf2_words(r->out.cols) ? ~(uint64_t)0 : echi_gf2_last_mask(r->out.cols);
    for (size_t i = 0; i < r->a.rows; i++) {
        const uint64_t *a = r->a.words + i * r->a.stride;
        uint64_t bits = 0;
        for (size_t j = 0; j < n && words > 0; j++) {
            const uint64_t *b = r->b.words + (word * 64 + j) * r->b.stride;
            uint64_t sum = a[words - 1] & b[words - 1] & echi_gf2_last_mask(r->a.cols);
            for (size_t w = 0; w + 1 < words; w++) sum ^= a[w] & b[w];
            bits |= (uint64_t)__builtin_parityll(sum) << j;
        }
        uint64_t *out = r->out.words + i * r->out.stride + word;
        *out = r->add ? *out ^ bits : (*out & ~mask) | bits;
    }
}

static void direct_run(struct plan *p)
{
    const struct echi_gf2_mul *r = p->request;
    const size_t words = echi_gf2_words(r->out.cols), strips = (words + STRIP - 1) / STRIP;
    const int threads = echi_parallel_for_bytes(p->ctx, r->a.rows * r->a.cols / 8 * words * 8 / 8);
    if (r->transposed)
        echi_parallel(threads, words, dot_word, p);
    else
        echi_parallel(threads, r->out.rows * strips, add_strip, p);
}

/* ---- Choice of the algorithm ---- */

static bool whole_words(const struct plan *p)
{
    return !p->request->transposed && p->request->a.cols % 64 == 0 &&
           p->request->out.cols % 64 == 0;
}

/* Large enough that the additions cost less than the product that they save. */
static bool strassen_chosen(const struct plan *p)
{
    const size_t least = 12288;
    const struct echi_gf2_mul *r = p->request;
    return p->isa->fast && r->a.rows >= least && r->a.cols >= least && r->out.cols >= least;
}

static bool block_chosen(const struct plan *p)
{
    return p->isa->fast || p->request->transposed;
}

/* With so few rows of a, the preparation of b for block or m4r takes longer than the product. */
static bool direct_chosen(const struct plan *p)
{
    if (p->request->transposed) return p->request->a.rows <= (p->isa->fast ? 14 : 128);
    return p->request->a.rows <= (p->isa->fast ? 5 : 12);
}

static bool always(const struct plan *p)
{
    (void)p;
    return true;
}

static bool not_transposed(const struct plan *p)
{
    return !p->request->transposed;
}

static const struct algorithm {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*applicable)(const struct plan *p);
    bool (*chosen)(const struct plan *p);
    void (*plan)(struct plan *p, struct echi_layout *layout);
    void (*run)(struct plan *p);
} algorithms[] = {
    {
        .name = "direct",
        .what = "adds rows of b one by one, or computes dot products of rows",
        .when = "the left operand has few rows: at most 5 with AVX2, otherwise 12; if the right "
                "operand is given transposed, 14 and 128",
        .applicable = always,
        .chosen = direct_chosen,
        .plan = direct_plan,
        .run = direct_run,
    },
    {
        .name = "strassen",
        .what = "block, with 7 products of quarters instead of 8",
        .when = "the CPU has AVX2; all sides have at least 12,288 bits, and columns are multiples "
                "of 64",
        .applicable = whole_words,
        .chosen = strassen_chosen,
        .plan = strassen_plan,
        .run = strassen_run,
    },
    {
        .name = "block",
        .what = "byte columns times blocks of 8 x 8 bits",
        .when = "the CPU has AVX2, or the right operand is given transposed",
        .applicable = always,
        .chosen = block_chosen,
        .plan = block_plan,
        .run = block_run,
    },
    {
        .name = "m4r",
        .what = "tables of linear combinations of rows of b (M4R)",
        .when = "all other products",
        .applicable = not_transposed,
        .chosen = always,
        .plan = m4r_plan,
        .run = m4r_run,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static void list(const struct plan *p, struct echi_text *text)
{
    const char *comma = "";
    for (int i = 0; i < ALGORITHMS; i++) {
        if (!algorithms[i].applicable(p)) continue;
        echi_print(text, "%s%s", comma, algorithms[i].name);
        comma = ", ";
    }
}

static ech_status choose(const struct plan *p, const struct algorithm **algorithm)
{
    const char *name = p->request->algorithm;
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        if (!algorithms[i].applicable(p)) continue;
        if (name ? strcmp(name, algorithms[i].name) == 0 : algorithms[i].chosen(p)) return ECH_OK;
    }
    char names[128] = "";
    struct echi_text text = { .at = names, .left = sizeof names };
    list(p, &text);
    return echi_fail(NULL, ECH_ERR_ARG,
                     "algorithm \"%s\" is unknown or cannot run this product; available: %s", name,
                     names);
}

/* The product as a whole; no workspace yet. */
static void begin(ech_ctx *ctx, const struct echi_gf2_mul *r, struct plan *p)
{
    *p = (struct plan){ .request = r, .ctx = ctx, .isa = echi_gf2_isa() };
    p->a = (struct sum){ { r->a }, 1 };
    p->b = (struct sum){ { r->b }, 1 };
    p->out = (struct sum){ { r->out }, 1 };
    p->add[0] = r->add;
    p->rows = r->a.rows;
    p->in_bits = r->a.cols;
    p->in_bytes = (r->a.cols + 7) / 8;
    p->out_bytes = (r->out.cols + 7) / 8;
    p->rounds = 1;
    p->m4r.isa = p->isa;
}

static ech_status lay_out(ech_ctx *ctx, const struct algorithm *algorithm, void *work,
                          struct plan *p, size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    if (p->out_bytes && p->request->out.rows) algorithm->plan(p, &layout);
    if (layout.overflow)
        return echi_fail(ctx, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    *bytes = layout.bytes;
    return ECH_OK;
}

static ech_status plan_product(const void *request, void *plan, size_t *bytes)
{
    const struct algorithm **algorithm = plan;
    struct plan p;
    begin(NULL, request, &p);
    const ech_status status = choose(&p, algorithm);
    return status == ECH_OK ? lay_out(NULL, *algorithm, NULL, &p, bytes) : status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    struct plan p;
    const struct algorithm *algorithm;
    size_t bytes;
    ech_status status;
    begin(NULL, request, &p);
    TRY(choose(&p, &algorithm));
    TRY(lay_out(NULL, algorithm, NULL, &p, &bytes));
    echi_explain_algorithm(e, true, algorithm->name, "%s", algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != algorithm && algorithms[i].applicable(&p))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_line(e, "isa", "%s", p.isa->name);
    if (algorithm->run == block_run || algorithm->run == strassen_run)
        echi_explain_line(e, "blocks", "%d rows of a x %zu columns of b, %d rows of b at a time",
                          ECHI_GF2_TILE, p.columns * 8, IN_COLUMNS * 8);
    if (algorithm->run == m4r_run)
        echi_explain_line(e, "tables", "2^%d linear combinations each", p.m4r.bits);
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct algorithm *algorithm = *(const struct algorithm *const *)plan;
    struct plan p;
    size_t bytes;
    begin(ctx, request, &p);
    const ech_status status = lay_out(ctx, algorithm, work, &p, &bytes);
    if (status == ECH_OK && p.out_bytes && p.request->out.rows) algorithm->run(&p);
    return status;
}

const struct echi_operation echi_cpu_gf2_mul = { .plan = plan_product,
                                                 .plan_bytes = sizeof(const struct algorithm *),
                                                 .explain = explain,
                                                 .run = run };
