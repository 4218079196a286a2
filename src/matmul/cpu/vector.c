/*
 * matmul/cpu/vector.c - a matrix times a vector on the CPU.
 *
 * Sums are computed in levels, in the order that docs/matmul.md documents: the sums of chunks of
 * rows, or of columns of a transposed matrix, form a smaller matrix, whose rows or columns are
 * added in the same way, until one chunk is left.
 *
 *     workspace   [ sums of the first level, third, ... | of the second, fourth, ... ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cpu/cpu.h"
#include "matmul/cpu/common.h"

#include <string.h>

enum {
    ROWS_AT_ONCE = 64,      /* whose sums are buffered before they are written to y */
    STRIP_BYTES = 4 << 10,  /* of a row, of a transposed matrix */
    TASK_BYTES = 256 << 10, /* that a thread reads at a time, approximately */
    L2_BYTES = 1 << 20,     /* of the cache of a core, approximately */
    HUGE_BYTES = 40 << 20,  /* of a matrix that the L3 cache cannot even hold in part */
    QUICK_BYTES = 64 << 10  /* of a matrix that needs no plan, maximum */
};

static size_t parts_of(size_t n, size_t part)
{
    return n / part + (n % part != 0);
}

/* One level of sums. */
struct level {
    const struct echi_matmul_real *real;
    size_t bytes; /* of an element */
    const char *a;
    size_t stride, rows, cols;
    const char *x; /* NULL: ones */
    char *sums;    /* [rows][chunks]; turned: [chunks][cols]; NULL: last level, writes y */
    char *y;
    struct echi_matmul_end end;
    size_t chunks, strips; /* strips: of columns, of a transposed matrix */
    size_t each;           /* rows, or chunks, of a task */
    enum echi_matvec_way way;
};

static size_t chunks_of(const struct echi_matvec *v, size_t rows, size_t cols)
{
    const size_t chunks =
        v->turned ? parts_of(rows, ECHI_MATVEC_ROWS) : parts_of(cols, ECHI_MATVEC_CHUNK);
    return chunks ? chunks : 1;
}

/* The size of the matrix of a level's sums. */
static void next_size(const struct echi_matvec *v, size_t *rows, size_t *cols)
{
    const size_t chunks = chunks_of(v, *rows, *cols);
    *(v->turned ? rows : cols) = chunks;
}

static ech_status lay_out(const struct echi_matvec *v, void *work, char *sums[2], size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    size_t rows = v->rows, cols = v->cols, last[2] = { rows, cols };
    sums[0] = sums[1] = NULL;
    *bytes = 0;
    if (v->empty) return ECH_OK;
    for (int i = 0; i < 2 && chunks_of(v, last[0], last[1]) > 1; i++) {
        next_size(v, &rows, &cols);
        sums[i] = echi_part(&layout, rows * cols, ech_dtype_bytes(v->dtype));
        last[0] = rows;
        last[1] = cols;
    }
    *bytes = layout.bytes;
    return ECH_OK;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    char *sums[2];
    return lay_out(request, NULL, sums, bytes);
}

/* A few rows, or a chunk of each. */
static void add_rows(void *arg, size_t task, int thread)
{
    const struct level *l = arg;
    const size_t chunk = task % l->chunks, begin = task / l->chunks * l->each;
    const size_t from = chunk * ECHI_MATVEC_CHUNK, end = echi_min(begin + l->each, l->rows);
    const size_t n = echi_min(l->cols - from, ECHI_MATVEC_CHUNK);
    const char *x = l->x ? l->x + from * l->bytes : NULL;
    double few[ROWS_AT_ONCE];
    (void)thread;
    if (l->sums) {
        l->real->sum_rows(l->a + (begin * l->stride + from) * l->bytes, l->stride, x, n,
                          end - begin, l->sums + (begin * l->chunks + chunk) * l->bytes, l->chunks,
                          l->way);
        return;
    }
    for (size_t i = begin, rows; i < end; i += rows) {
        rows = echi_min(end - i, ROWS_AT_ONCE);
        l->real->sum_rows(l->a + i * l->stride * l->bytes, l->stride, x, n, rows, few, 1, l->way);
        l->real->end(&l->end, few, 1, rows, l->y + i * l->bytes, rows);
    }
}

/* A few blocks of rows, a strip of columns of each. */
static void add_columns(void *arg, size_t task, int thread)
{
    const struct level *l = arg;
    const size_t width = STRIP_BYTES / l->bytes, col = task % l->strips * width;
    const size_t begin = task / l->strips * l->each, cols = echi_min(width, l->cols - col);
    double strip[STRIP_BYTES / sizeof(double)];
    (void)thread;
    for (size_t chunk = begin; chunk < echi_min(begin + l->each, l->chunks); chunk++) {
        const size_t row = chunk * ECHI_MATVEC_ROWS;
        void *to = l->sums ? (void *)(l->sums + (chunk * l->cols + col) * l->bytes) : strip;
        l->real->columns(l->a + (row * l->stride + col) * l->bytes, l->stride,
                         l->x ? l->x + row * l->bytes : NULL,
                         echi_min(ECHI_MATVEC_ROWS, l->rows - row), cols, to);
        if (!l->sums) l->real->end(&l->end, strip, 1, cols, l->y + col * l->bytes, cols);
    }
}

static enum echi_matvec_way way_of(size_t bytes, size_t element_bytes)
{
    if (bytes <= L2_BYTES || (bytes > HUGE_BYTES && element_bytes == sizeof(float)))
        return ECHI_MATVEC_SEVERAL;
    return bytes <= ECHI_FAR_BYTES ? ECHI_MATVEC_SINGLE : ECHI_MATVEC_PAGES;
}

static void add_level(const ech_ctx *ctx, bool turned, struct level *l)
{
    const size_t bytes = l->rows * l->cols * l->bytes;
    const int threads = echi_parallel_for_bytes(ctx, bytes);
    if (turned) {
        const size_t width = echi_min(STRIP_BYTES / l->bytes, l->cols);
        l->strips = parts_of(l->cols, STRIP_BYTES / l->bytes);
        l->each = TASK_BYTES / (ECHI_MATVEC_ROWS * width * l->bytes) + 1;
        echi_parallel(threads, parts_of(l->chunks, l->each) * l->strips, add_columns, l);
    } else {
        const size_t width = echi_min(ECHI_MATVEC_CHUNK, l->cols);
        l->each = TASK_BYTES / (width * l->bytes) + 1;
        if (l->each > l->rows / (4 * (size_t)threads))
            l->each = l->rows / (4 * (size_t)threads) + 1;
        l->way = way_of(bytes, l->bytes);
        echi_parallel(threads, parts_of(l->rows, l->each) * l->chunks, add_rows, l);
    }
}

static struct level first_level(const struct echi_matvec *v)
{
    const struct echi_matmul_isa *isa = echi_matmul_isa();
    return (struct level){ .real = v->dtype == ECH_F64 ? isa->f64 : isa->f32,
                           .bytes = v->dtype == ECH_F64 ? 8 : 4,
                           .a = v->a,
                           .stride = v->a_stride,
                           .rows = v->rows,
                           .cols = v->cols,
                           .x = v->x,
                           .y = v->y,
                           .end = { v->alpha, v->beta, v->dtype },
                           .chunks = chunks_of(v, v->rows, v->cols) };
}

/* One level without workspace and threads. */
static bool matvec_at_once(const void *request)
{
    const struct echi_matvec *v = request;
    if (v->empty || (v->turned ? v->rows > ECHI_MATVEC_ROWS : v->cols > ECHI_MATVEC_CHUNK))
        return false;
    struct level l = first_level(v);
    if (l.rows * l.cols * l.bytes > QUICK_BYTES) return false;
    l.each = v->turned ? 1 : l.rows;
    l.strips = v->turned ? parts_of(l.cols, STRIP_BYTES / l.bytes) : 1;
    for (size_t task = 0; task < l.strips; task++)
        (v->turned ? add_columns : add_rows)(&l, task, 0);
    return true;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_matvec *v = request;
    struct level l = first_level(v);
    const size_t n = v->turned ? v->cols : v->rows;
    char *sums[2];
    size_t bytes;
    lay_out(v, work, sums, &bytes);
    if (v->empty) {
        if (v->beta == 0)
            memset(v->y, 0, n * l.bytes);
        else if (v->beta != 1)
            l.real->scale(v->dtype, v->beta, v->y, n);
        return ECH_OK;
    }
    for (int i = 0;; i ^= 1) {
        l.sums = l.chunks > 1 ? sums[i] : NULL;
        add_level(ctx, v->turned, &l);
        if (l.chunks == 1) return ECH_OK;
        next_size(v, &l.rows, &l.cols);
        l.a = l.sums;
        l.stride = l.cols;
        l.x = NULL;
        l.chunks = chunks_of(v, l.rows, l.cols);
    }
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_matvec *v = request;
    echi_explain_algorithm(e, true, v->turned ? "columns" : "rows",
                           "sums of chunks of %d elements, which are added level by level",
                           v->turned ? (int)ECHI_MATVEC_ROWS : (int)ECHI_MATVEC_CHUNK);
    echi_explain_line(e, "isa", "%s", echi_matmul_isa()->name);
    return ECH_OK;
}

const struct echi_operation echi_cpu_matvec = {
    .plan = workspace, .explain = explain, .run = run, .quick = matvec_at_once
};
