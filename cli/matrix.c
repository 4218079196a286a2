/*
 * matrix.c - "echelon matrix info": properties of a matrix of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matrix_info.h"

#include <float.h>
#include <string.h>

static struct {
    const char *spy, *threads;
    bool no_picture, no_condition, json;
} set;

static const struct option options[] = {
    { 0, "spy", "FILE.png", &set.spy, "write a picture of the sparsity pattern to FILE.png" },
    { 0, "no-picture", NULL, &set.no_picture, "do not draw the picture on standard output" },
    { 0, "no-condition", NULL, &set.no_condition,
      "do not estimate the condition number, which may take seconds" },
    { 0, "json", NULL, &set.json, "print JSON, without the picture" },
    { 0, "threads", "N", &set.threads, CLI_THREADS_HELP },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Output ---- */

static const char *symmetry_of(const struct matrix_view *r, const struct matrix_facts *f)
{
    if (r->rows != r->cols) return "no: not square";
    if (f->nans) return "unknown: some entries are not finite";
    if (f->asymmetry == 0) return "symmetric";
    if (f->skewness == 0) return "skew-symmetric";
    return f->lonely ? "no" : "only in structure";
}

static const char *dominance_of(const struct matrix_view *r, const struct matrix_facts *f)
{
    if (f->strict == r->rows) return "strict";
    return f->weak == r->rows ? "weak" : "no";
}

static unsigned long long u(uint64_t n)
{
    return n;
}

static double density_of(const struct matrix_view *r)
{
    const double cells = (double)r->rows * (double)r->cols;
    return cells > 0 ? (double)r->entries / cells : 0;
}

/* "condition   2.5e+07 in the 2-norm, estimated by 450 Lanczos steps on A" */
static void print_condition(const struct matrix_condition *c)
{
    fputs("condition   ", stdout);
    switch (c->kind) {
    case CONDITION_UNKNOWN:
        fputs("unknown: ", stdout);
        break;
    case CONDITION_INFINITE:
        fputs("infinite: ", stdout);
        break;
    case CONDITION_ESTIMATE:
    case CONDITION_AT_LEAST:
        printf("%s%.3g in the %d-norm, ", c->kind == CONDITION_AT_LEAST ? "at least " : "",
               c->value, c->norm);
        break;
    }
    printf("%s%s\n", c->how,
           c->value * DBL_EPSILON >= 1 ? "; numerically singular or badly scaled in f64" : "");
}

static void json_condition(struct json *json, const struct matrix_condition *c)
{
    static const char *const kinds[] = { "unknown", "estimate", "at least", "infinite" };
    json_text(json, "condition_kind", kinds[c->kind]);
    if (c->value > 0) {
        json_number(json, "condition", c->value);
        json_count(json, "condition_norm", (uint64_t)c->norm);
    }
    json_text(json, "condition_method", c->how);
}

static void print_facts(const char *name, const struct io_matrix *m, const struct matrix_view *r,
                        const struct matrix_facts *f)
{
    const size_t rows = r->rows;
    const bool square = rows == r->cols;
    cli_print_name(stdout, name);
    printf(": %llu x %llu, %llu entries", u(rows), u(r->cols), u(r->entries));
    if (!m->dense && m->entries > r->entries) printf(" in %llu lines", u(m->entries));
    printf(", density %.4g\n", density_of(r));
    if (f->zeros) printf("zeros       %llu of the entries\n", u(f->zeros));
    if (f->nans) printf("not finite  %llu of the entries\n", u(f->nans));
    printf("rows        %llu to %llu entries, mean %.4g", u(f->least), u(f->most),
           rows ? (double)r->entries / (double)rows : 0);
    if (f->empty) printf(", %llu empty", u(f->empty));
    printf("\nsymmetric   %s", symmetry_of(r, f));
    if (square && f->asymmetry > 0 && !f->lonely && f->skewness > 0)
        printf(", |a_ij - a_ji| up to %.4g", f->asymmetry);
    printf("\nbandwidth   lower %llu, upper %llu\n", u(f->below), u(f->above));
    if (square) {
        printf("diagonal    %llu nonzero, %llu positive, of %llu\n", u(f->diagonal), u(f->positive),
               u(rows));
        printf("dominant    %s: %llu rows strictly, %llu at least weakly\n", dominance_of(r, f),
               u(f->strict), u(f->weak));
        if (!f->nans)
            printf("eigenvalues real parts within [%.6g, %.6g] (Gershgorin)\n", f->low, f->high);
    }
    if (f->nans) return;
    printf("norms       1-norm %.6g, infinity-norm %.6g, Frobenius %.6g\n", f->column_sum,
           f->row_sum, f->square);
}

static void json_facts(const char *name, const struct matrix_view *r, const struct matrix_facts *f,
                       const struct matrix_condition *c)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", name);
    json_count(&json, "rows", r->rows);
    json_count(&json, "columns", r->cols);
    json_count(&json, "nnz", r->entries);
    json_number(&json, "density", density_of(r));
    json_count(&json, "zeros", f->zeros);
    json_count(&json, "not_finite", f->nans);
    json_count(&json, "row_min", f->least);
    json_count(&json, "row_max", f->most);
    json_count(&json, "empty_rows", f->empty);
    json_text(&json, "symmetry", symmetry_of(r, f));
    json_count(&json, "bandwidth_lower", f->below);
    json_count(&json, "bandwidth_upper", f->above);
    json_count(&json, "diagonal_nonzero", f->diagonal);
    json_count(&json, "diagonal_positive", f->positive);
    json_text(&json, "dominance", dominance_of(r, f));
    json_number(&json, "gershgorin_low", f->low);
    json_number(&json, "gershgorin_high", f->high);
    json_exact(&json, "norm_1", f->column_sum);
    json_exact(&json, "norm_infinity", f->row_sum);
    json_exact(&json, "norm_frobenius", f->square);
    if (c) json_condition(&json, c);
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

static int info(ech_ctx *ctx, const char *name, int threads, struct cli_progress *progress,
                struct io_matrix *m)
{
    struct matrix_view r = { .rows = 0 };
    struct matrix_facts f;
    struct matrix_condition c = { .kind = CONDITION_UNKNOWN };
    int code = matrix_load(name, progress, m);
    if (code == EXIT_DONE) code = matrix_view_make(ctx, m, &r);
    if (code == EXIT_DONE) code = matrix_find_facts(&r, &f);
    if (code == EXIT_DONE && !set.no_condition)
        code = matrix_find_condition(ctx, &r, &f, threads, progress, &c);
    cli_progress_end(progress);
    if (code == EXIT_DONE) {
        if (set.json)
            json_facts(name, &r, &f, set.no_condition ? NULL : &c);
        else
            print_facts(name, m, &r, &f);
        if (!set.json && !set.no_condition && r.rows == r.cols) print_condition(&c);
        code = draw(m);
    }
    matrix_view_free(&r);
    return code;
}

static int run(int count, char **operands)
{
    struct cli_progress progress;
    struct io_matrix m = { .rows = 0 };
    ech_ctx *ctx = NULL;
    int threads;
    static const char *const verbs[] = { "info" };
    if (count == 0)
        return cli_fail(EXIT_BAD, "no operation: give one, for example echelon matrix info INPUT");
    if (strcmp(operands[0], "info") != 0) return cli_unknown("operation", operands[0], verbs, 1);
    const char *const input = count > 1 ? operands[1] : "-";
    int code = cli_check_output("spy", set.spy, &input, 1);
    if (code == EXIT_DONE) code = cli_check_writable(set.spy);
    if (code == EXIT_DONE) code = cli_parse_threads(set.threads, &threads);
    if (code == EXIT_DONE) code = cli_open(&ctx, "cpu", threads);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&progress);
    code = info(ctx, input, threads, &progress, &m);
    cli_progress_end(&progress);
    io_matrix_free(&m);
    ech_close(ctx);
    return code;
}

const struct command command_matrix = {
    .name = "matrix",
    .summary = "properties of a matrix: symmetry, norms, condition number",
    .usage = "  echelon matrix info [OPTION]... [INPUT]\n",
    .examples =
        "  echelon matrix info A.mtx               shape, symmetry, condition, and a picture\n"
        "  echelon matrix info --spy A.png A.mtx   the picture as a PNG file\n",
    .notes = "INPUT is Matrix Market (coordinate or array) or .npy; \"-\" is standard input, the\n"
             "default.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
};
