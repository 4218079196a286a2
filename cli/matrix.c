/*
 * matrix.c - "echelon matrix": what a matrix of numbers is like.
 *
 * Entries of one place are added first, so that all that is told is of the matrix and not of the
 * file; entries that are zero count as none but for the number of entries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *spy, *threads;
    bool no_picture, json;
} set;

static const struct option options[] = {
    { 0, "spy", "FILE.png", &set.spy, "write a picture of where entries are" },
    { 0, "no-picture", NULL, &set.no_picture, "do not draw it on the terminal" },
    { 0, "json", NULL, &set.json, "as JSON, without the picture" },
    { 0, "threads", "N", &set.threads, "CPU threads, at most; 0: all" },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- The matrix, in order ---- */

/* As rows: those of a, and those of its transpose. */
struct rows {
    ech_csr a, t;
};

static void free_csr(ech_csr *a)
{
    free(a->offsets);
    free(a->columns);
    free(a->values);
}

static bool make_csr(ech_csr *a, uint64_t rows, uint64_t cols, uint64_t entries)
{
    *a = (ech_csr){ .rows = (size_t)rows,
                    .cols = (size_t)cols,
                    .entries = (size_t)entries,
                    .index = ECH_I64,
                    .dtype = ECH_F64 };
    a->offsets = malloc(((size_t)rows + 1) * sizeof(int64_t));
    a->columns = malloc(((size_t)entries + 1) * sizeof(int64_t));
    a->values = malloc(((size_t)entries + 1) * sizeof(double));
    return a->offsets && a->columns && a->values;
}

/* A dense matrix's entries as coordinates, those that are zero left out. */
static int to_coordinates(struct io_matrix *m)
{
    uint64_t n = 0, cells = m->rows * m->cols;
    if (!m->dense) return EXIT_DONE;
    for (uint64_t i = 0; i < cells; i++) n += m->values[i] != 0;
    m->row = malloc(((size_t)n + 1) * sizeof *m->row);
    m->column = malloc(((size_t)n + 1) * sizeof *m->column);
    if (!m->row || !m->column)
        return cli_fail(EXIT_MEMORY, "out of memory: no %llu bytes for its entries",
                        (unsigned long long)n * 16);
    n = 0;
    for (uint64_t i = 0; i < m->rows; i++)
        for (uint64_t j = 0; j < m->cols; j++) {
            const double value = m->values[i * m->cols + j];
            if (value == 0) continue;
            m->row[n] = (int64_t)i;
            m->column[n] = (int64_t)j;
            m->values[n++] = value; /* n has not passed i * cols + j */
        }
    m->entries = n;
    m->dense = false;
    return EXIT_DONE;
}

static int make_rows(ech_ctx *ctx, struct io_matrix *m, struct rows *r)
{
    uint64_t entries;
    if (!make_csr(&r->a, m->rows, m->cols, m->entries))
        return cli_fail(EXIT_MEMORY, "out of memory: no %llu bytes for its rows",
                        (unsigned long long)(m->rows * 8 + m->entries * 16));
    ech_status status =
        ech_csr_from_coo(ctx, m->entries, m->row, m->column, m->values, &r->a, &entries, NULL);
    if (status != ECH_OK) return cli_fail_ech(status, ctx);
    r->a.entries = (size_t)entries;
    if (!make_csr(&r->t, m->cols, m->rows, entries))
        return cli_fail(EXIT_MEMORY, "out of memory: no %llu bytes for its columns",
                        (unsigned long long)(m->cols * 8 + entries * 16));
    status = ech_csr_transpose(ctx, &r->a, &r->t, NULL);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
}

/* ---- What it is like ---- */

struct facts {
    uint64_t zeros;             /* among the entries */
    uint64_t least, most;       /* entries of a row */
    uint64_t empty;             /* rows */
    uint64_t below, above;      /* furthest from the diagonal */
    uint64_t diagonal;          /* rows with a diagonal that is not zero */
    uint64_t positive;          /* and greater */
    uint64_t strict, weak;      /* rows whose diagonal outweighs the others, or balances them */
    uint64_t lonely;            /* entries without a partner beyond the diagonal */
    uint64_t nans;              /* NaN or infinite */
    double asymmetry, skewness; /* most of |a_ij - a_ji| and |a_ij + a_ji| */
    double row_sum, column_sum; /* most, of absolute values: norms infinity and 1 */
    double square;              /* norm of all */
    double low, high;           /* where Gershgorin's circles reach, of the real axis */
};

/* a's row i and its column i, which is the transpose's row: both rise, so they are merged. */
static void compare_row(const struct rows *r, size_t i, struct facts *f)
{
    const int64_t *ao = r->a.offsets, *to = r->t.offsets, *ac = r->a.columns, *tc = r->t.columns;
    const double *av = r->a.values, *tv = r->t.values;
    int64_t p = ao[i], q = to[i];
    while (p < ao[i + 1] || q < to[i + 1]) {
        const int64_t a = p < ao[i + 1] ? ac[p] : INT64_MAX, t = q < to[i + 1] ? tc[q] : INT64_MAX;
        const double x = a <= t ? av[p] : 0, y = t <= a ? tv[q] : 0;
        if (a <= t && t != a && x != 0) f->lonely++;
        f->asymmetry = fmax(f->asymmetry, fabs(x - y));
        f->skewness = fmax(f->skewness, fabs(x + y));
        p += a <= t;
        q += t <= a;
    }
}

static void look_at_row(const ech_csr *a, size_t i, struct facts *f)
{
    const int64_t *offsets = a->offsets, *columns = a->columns;
    const double *values = a->values;
    const uint64_t count = (uint64_t)(offsets[i + 1] - offsets[i]);
    double others = 0, diagonal = 0;
    if (i == 0 || count < f->least) f->least = count;
    if (count > f->most) f->most = count;
    f->empty += count == 0;
    for (int64_t e = offsets[i]; e < offsets[i + 1]; e++) {
        const uint64_t j = (uint64_t)columns[e];
        const double value = values[e];
        if (!isfinite(value)) f->nans++;
        f->zeros += value == 0;
        f->square += value * value;
        if (value != 0 && j < i && i - j > f->below) f->below = i - j;
        if (value != 0 && j > i && j - i > f->above) f->above = j - i;
        if (j == i)
            diagonal = value;
        else
            others += fabs(value);
    }
    f->row_sum = fmax(f->row_sum, others + fabs(diagonal));
    f->diagonal += diagonal != 0;
    f->positive += diagonal > 0;
    f->strict += fabs(diagonal) > others;
    f->weak += fabs(diagonal) >= others;
    f->low = i == 0 ? diagonal - others : fmin(f->low, diagonal - others);
    f->high = i == 0 ? diagonal + others : fmax(f->high, diagonal + others);
}

static void find_facts(const struct rows *r, struct facts *f)
{
    *f = (struct facts){ 0 };
    for (size_t i = 0; i < r->a.rows; i++) look_at_row(&r->a, i, f);
    f->square = sqrt(f->square);
    const int64_t *offsets = r->t.offsets;
    const double *values = r->t.values;
    for (size_t j = 0; j < r->t.rows; j++) {
        double sum = 0;
        for (int64_t e = offsets[j]; e < offsets[j + 1]; e++) sum += fabs(values[e]);
        f->column_sum = fmax(f->column_sum, sum);
    }
    for (size_t i = 0; r->a.rows == r->a.cols && i < r->a.rows; i++) compare_row(r, i, f);
}

/* ---- Told ---- */

static const char *symmetry_of(const struct rows *r, const struct facts *f)
{
    if (r->a.rows != r->a.cols) return "no: not square";
    if (f->nans) return "not known: some are not finite";
    if (f->asymmetry == 0) return "symmetric";
    if (f->skewness == 0) return "skew-symmetric";
    return f->lonely ? "no" : "in structure alone";
}

static const char *dominance_of(const struct rows *r, const struct facts *f)
{
    if (f->strict == r->a.rows) return "strict";
    return f->weak == r->a.rows ? "weak" : "no";
}

static unsigned long long u(uint64_t n)
{
    return n;
}

static double density_of(const struct rows *r)
{
    const double cells = (double)r->a.rows * (double)r->a.cols;
    return cells > 0 ? (double)r->a.entries / cells : 0;
}

static void print_facts(const char *name, const struct io_matrix *m, const struct rows *r,
                        const struct facts *f)
{
    const size_t rows = r->a.rows;
    const bool square = rows == r->a.cols;
    printf("%s: %llu x %llu, %llu entries", name, u(rows), u(r->a.cols), u(r->a.entries));
    if (m->entries > r->a.entries) printf(" in %llu lines", u(m->entries));
    printf(", density %.4g\n", density_of(r));
    if (f->zeros) printf("zeros       %llu of the entries\n", u(f->zeros));
    if (f->nans) printf("not finite  %llu of the entries\n", u(f->nans));
    printf("rows        %llu to %llu entries, %.4g in the mean", u(f->least), u(f->most),
           rows ? (double)r->a.entries / (double)rows : 0);
    if (f->empty) printf(", %llu empty", u(f->empty));
    printf("\nsymmetric   %s", symmetry_of(r, f));
    if (square && f->asymmetry > 0 && !f->lonely && f->skewness > 0)
        printf(", |a - a'| up to %.4g", f->asymmetry);
    printf("\nband        %llu below the diagonal, %llu above\n", u(f->below), u(f->above));
    if (square) {
        printf("diagonal    %llu not zero, %llu positive, of %llu\n", u(f->diagonal),
               u(f->positive), u(rows));
        printf("dominant    %s: %llu rows strictly, %llu at least weakly\n", dominance_of(r, f),
               u(f->strict), u(f->weak));
        printf("eigenvalues real parts from %.6g to %.6g at most, by Gershgorin\n", f->low,
               f->high);
    }
    printf("norms       1: %.6g, infinity: %.6g, Frobenius: %.6g\n", f->column_sum, f->row_sum,
           f->square);
}

static void json_facts(const char *name, const struct rows *r, const struct facts *f)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", name);
    json_count(&json, "rows", r->a.rows);
    json_count(&json, "columns", r->a.cols);
    json_count(&json, "entries", r->a.entries);
    json_number(&json, "density", density_of(r));
    json_count(&json, "zeros", f->zeros);
    json_count(&json, "not_finite", f->nans);
    json_count(&json, "row_least", f->least);
    json_count(&json, "row_most", f->most);
    json_count(&json, "empty_rows", f->empty);
    json_text(&json, "symmetry", symmetry_of(r, f));
    json_count(&json, "band_below", f->below);
    json_count(&json, "band_above", f->above);
    json_count(&json, "diagonal_nonzero", f->diagonal);
    json_count(&json, "diagonal_positive", f->positive);
    json_text(&json, "dominance", dominance_of(r, f));
    json_number(&json, "gershgorin_low", f->low);
    json_number(&json, "gershgorin_high", f->high);
    json_number(&json, "norm_1", f->column_sum);
    json_number(&json, "norm_infinity", f->row_sum);
    json_number(&json, "norm_frobenius", f->square);
    json_close(&json, '}');
    putchar('\n');
}

static int draw(const struct io_matrix *m)
{
    enum { TERMINAL_ROWS = 96, TERMINAL_COLUMNS = 120, PICTURE = 600 };
    struct spy spy;
    int code = EXIT_DONE;
    if (set.spy) {
        code = spy_make(&spy, m, PICTURE, PICTURE);
        if (code == EXIT_DONE) code = spy_write_png(&spy, set.spy);
        if (code == EXIT_DONE || spy.counts) spy_free(&spy);
    }
    if (code != EXIT_DONE || set.no_picture || set.json || set.spy || !m->rows || !m->cols)
        return code;
    code = spy_make(&spy, m, TERMINAL_ROWS, TERMINAL_COLUMNS);
    if (code == EXIT_DONE) spy_print(&spy);
    spy_free(&spy);
    return code;
}

static int info(ech_ctx *ctx, const char *name, struct cli_progress *progress, struct io_matrix *m)
{
    struct rows r = { { 0 }, { 0 } };
    struct facts f;
    int code = matrix_load(name, progress, m);
    if (code == EXIT_DONE) code = to_coordinates(m);
    if (code == EXIT_DONE) code = make_rows(ctx, m, &r);
    if (code == EXIT_DONE) {
        find_facts(&r, &f);
        if (set.json)
            json_facts(name, &r, &f);
        else
            print_facts(name, m, &r, &f);
        code = draw(m);
    }
    free_csr(&r.a);
    free_csr(&r.t);
    return code;
}

static int run(int count, char **operands)
{
    struct cli_progress progress;
    struct io_matrix m = { .rows = 0 };
    ech_ctx *ctx = NULL;
    int threads;
    static const char *const verbs[] = { "info" };
    if (count == 0) return cli_fail(EXIT_BAD, "do what?  Try: echelon matrix info INPUT");
    if (strcmp(operands[0], "info") != 0) return cli_unknown("operation", operands[0], verbs, 1);
    int code = cli_parse_threads(set.threads, &threads);
    if (code == EXIT_DONE) code = cli_open(&ctx, "cpu", threads);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&progress);
    code = info(ctx, count > 1 ? operands[1] : "-", &progress, &m);
    cli_progress_end(&progress);
    io_matrix_free(&m);
    ech_close(ctx);
    return code;
}

const struct command command_matrix = {
    .name = "matrix",
    .summary = "what a matrix of numbers is like",
    .usage = "  echelon matrix info [OPTION]... [INPUT]\n",
    .examples =
        "  echelon matrix info A.mtx               size, symmetry, dominance, and a picture\n"
        "  echelon matrix info --spy A.png A.mtx   the picture as a file\n",
    .notes = "INPUT is Matrix Market, coordinates or an array, or .npy; \"-\", the default, is\n"
             "standard input.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
};
