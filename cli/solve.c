/*
 * solve.c - "echelon solve": solves A x = b by an iterative or a direct method (solve_direct.c).
 *
 *     run()  options -> device -> output -> A, b, initial guess -> ech_solve() -> report -> x
 *
 * If a method did not converge, the exit status is 1, and x is written only with
 * --write-unconverged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *output, *type, *method, *precond, *rtol, *atol, *dtol, *most, *restart, *block,
        *omega, *drop, *fill;
    const char *lower, *upper, *guess, *history, *plot, *device, *threads;
    bool laplacian, write_unconverged, json;
} set;

static const struct option options[] = {
    { 'o', "output", "FILE", &set.output,
      "write x to FILE, which may be an input, as .npy if it\nhas this extension, otherwise as "
      "Matrix Market;\ndefault: standard output" },
    { 'y', "type", "TYPE", &set.type, "compute in and write f32 or f64 (default)" },
    { 0, "method", "METHOD", &set.method,
      "auto (default), richardson, jacobi, gauss-seidel, sor,\nchebyshev, cg, minres, bicgstab or "
      "gmres; or direct, which\nfactors a sparse A as such; or dense, lu, cholesky or qr,\nwhich "
      "convert A to a dense matrix" },
    { 0, "precond", "PRECOND", &set.precond,
      "preconditioner: none, jacobi, ssor, ilu0, ic0,\nblock-jacobi or ilut; default: none; auto "
      "chooses one" },
    { 0, "rtol", "X", &set.rtol, "stop if |b - A x| <= X |b|; default: 1e-8, for f32 1e-5" },
    { 0, "atol", "X", &set.atol, "stop if |b - A x| <= X; default: 0" },
    { 0, "dtol", "X", &set.dtol,
      "diverged if |b - A x| > X max(|b|, initial residual);\ndefault: 1e5" },
    { 0, "max-iterations", "N", &set.most,
      "maximum number of iterations; default: 10 n, within\n[1000, 100000]" },
    { 0, "restart", "N", &set.restart, "for gmres: the restart length; default: 30" },
    { 0, "block", "N", &set.block,
      "for block-jacobi: rows of a diagonal block, at most 32;\ndefault: 8" },
    { 0, "drop-tolerance", "X", &set.drop,
      "for ilut: drop elements of a row that are smaller than\nX times the norm of the row of A; "
      "default: 1e-4" },
    { 0, "fill", "N", &set.fill,
      "for ilut: maximum number of elements that a row of L, and\nof U, has in addition to those "
      "of "
      "A; default: 10" },
    { 0, "omega", "X", &set.omega,
      "for richardson, jacobi, sor and ssor: relaxation factor;\ndefault: automatic" },
    { 0, "lower", "X", &set.lower,
      "for richardson and chebyshev: lower bound of the\neigenvalues; default: estimated" },
    { 0, "upper", "X", &set.upper,
      "for richardson and chebyshev: upper bound of the\neigenvalues; default: estimated" },
    { 0, "initial-guess", "FILE", &set.guess, "initial guess of x; default: zeros" },
    { 0, "laplacian", NULL, &set.laplacian,
      "A lists the edges of a graph; solve with its Laplacian plus\nthe identity" },
    { 0, "write-unconverged", NULL, &set.write_unconverged,
      "write x even if the method did not converge" },
    { 0, "history", "FILE.csv", &set.history, "write the residual of each iteration to FILE.csv" },
    { 0, "plot", "FILE.svg", &set.plot, "draw the residual of each iteration in FILE.svg" },
    { 0, "json", NULL, &set.json,
      "print the report as JSON, on standard output if x is written\nto a file, otherwise on "
      "standard error" },
    { 'D', "device", "DEVICE", &set.device, CLI_DEVICE_HELP },
    { 0, "threads", "N", &set.threads, CLI_THREADS_HELP },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Options ---- */

/* In the order of ech_factor; then "dense", which is "direct" with a dense matrix. */
static const char *const direct_methods[] = { "direct", "lu", "cholesky", "qr", "dense" };
enum { DIRECT_METHODS = sizeof direct_methods / sizeof *direct_methods };

static int parse_real(const char *name, const char *text, double *value)
{
    if (!text) return EXIT_DONE;
    if (io_parse_float(text, text + strlen(text), value) != IO_NUMBER_OK || !isfinite(*value))
        return cli_fail(EXIT_BAD, "--%s is \"%s\"; give a finite number", name, text);
    if (*value < 0) return cli_fail(EXIT_BAD, "--%s is %s; the minimum is 0", name, text);
    return EXIT_DONE;
}

const char *solve_method_word(int i)
{
    if (i < DIRECT_METHODS) return direct_methods[i];
    const char *name = ech_method_name((ech_method)(i - DIRECT_METHODS));
    return strcmp(name, "?") == 0 ? NULL : name;
}

const char *solve_precond_word(int i)
{
    const char *name = ech_precond_name((ech_precond)i);
    return strcmp(name, "?") == 0 ? NULL : name;
}

static int parse_name(const char *what, const char *text, int (*find)(const char *), int *value,
                      const char *(*word)(int i))
{
    *value = text ? find(text) : 0;
    if (*value >= 0) return EXIT_DONE;
    enum { MOST = 32 };
    const char *names[MOST];
    int n = 0;
    while (n < MOST && (names[n] = word(n))) n++;
    return cli_unknown(what, text, names, n);
}

int solve_parse_method(const char *name, bool *direct, ech_factor *kind, ech_method *method)
{
    int value = 0, code = EXIT_DONE;
    *direct = false;
    *kind = ECH_FACTOR_AUTO;
    for (int i = 0; name && i < DIRECT_METHODS; i++)
        if (strcmp(name, direct_methods[i]) == 0) {
            *direct = true;
            *kind = i < DIRECT_METHODS - 1 ? (ech_factor)i : ECH_FACTOR_AUTO;
        }
    if (!*direct)
        code = parse_name("method", name, ech_method_from_name, &value, solve_method_word);
    *method = (ech_method)value;
    return code;
}

int solve_parse_precond(const char *name, ech_method method, ech_precond *precond)
{
    int value;
    const int code =
        parse_name("preconditioner", name, ech_precond_from_name, &value, solve_precond_word);
    *precond = (ech_precond)value;
    if (code == EXIT_DONE && name && method == ECH_METHOD_AUTO)
        return cli_fail(EXIT_BAD, "--precond cannot be combined with --method auto, which chooses "
                                  "the preconditioner");
    return code;
}

bool solve_is_sparse(const char *method)
{
    return method && strcmp(method, direct_methods[0]) == 0;
}

bool solve_takes_triangles(ech_precond precond)
{
    return precond == ECH_PRECOND_SSOR || precond == ECH_PRECOND_ILU0 ||
           precond == ECH_PRECOND_IC0 || precond == ECH_PRECOND_ILUT;
}

/* Refuses options of iterative methods with a direct method. */
static int check_direct(void)
{
    const struct {
        const char *name, *value;
    } others[] = {
        { "precond", set.precond }, { "rtol", set.rtol },           { "atol", set.atol },
        { "dtol", set.dtol },       { "max-iterations", set.most }, { "restart", set.restart },
        { "block", set.block },     { "omega", set.omega },         { "lower", set.lower },
        { "upper", set.upper },     { "initial-guess", set.guess }, { "history", set.history },
        { "plot", set.plot },       { "drop-tolerance", set.drop }, { "fill", set.fill }
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].value)
            return cli_fail(EXIT_BAD, "--%s cannot be combined with --method %s", others[i].name,
                            set.method);
    if (set.write_unconverged)
        return cli_fail(EXIT_BAD, "--write-unconverged cannot be combined with --method %s",
                        set.method);
    return EXIT_DONE;
}

/* Refuses contradictory options.  An option that only another method reads is ignored, so that
 * methods can be compared with the same command line. */
static int check_method(const ech_solve_options *o)
{
    const ech_method m = o->method;
    if (set.precond &&
        (m == ECH_METHOD_JACOBI || m == ECH_METHOD_GAUSS_SEIDEL || m == ECH_METHOD_SOR))
        return cli_fail(EXIT_BAD, "--precond cannot be combined with --method %s",
                        ech_method_name(m));
    if (set.block && o->precond != ECH_PRECOND_BLOCK_JACOBI)
        return cli_fail(EXIT_BAD, "--block needs --precond block-jacobi");
    if ((set.drop || set.fill) && o->precond != ECH_PRECOND_ILUT)
        return cli_fail(EXIT_BAD, "--%s needs --precond ilut",
                        set.drop ? "drop-tolerance" : "fill");
    if (!set.lower != !set.upper)
        return cli_fail(EXIT_BAD, "--lower and --upper must be given together");
    if (o->lower > o->upper)
        return cli_fail(EXIT_BAD, "--lower is %s, greater than --upper %s", set.lower, set.upper);
    return EXIT_DONE;
}

static int check_names(const struct solve_job *s)
{
    const char *const outputs[] = { set.output, set.history, set.plot };
    const char *const inputs[] = { s->name[0], s->name[1], set.guess };
    int code = cli_check_outputs(outputs, 3);
    if (code == EXIT_DONE) code = cli_check_output("history", set.history, inputs, 3);
    if (code == EXIT_DONE) code = cli_check_output("plot", set.plot, inputs, 3);
    return code;
}

static int parse(struct solve_job *s)
{
    ech_solve_options *o = &s->options;
    uint64_t most = 0, restart = 0, block = 0, fill = 0;
    int dtype, code;
    *o = (ech_solve_options){ .size = sizeof *o };
    if ((code = solve_parse_method(set.method, &s->direct, &s->kind, &o->method)) != EXIT_DONE ||
        (s->direct && (code = check_direct()) != EXIT_DONE) ||
        (code = solve_parse_precond(set.precond, o->method, &o->precond)) != EXIT_DONE ||
        (code = cli_parse_dtype(set.type, &dtype)) != EXIT_DONE ||
        (code = parse_real("rtol", set.rtol, &o->rtol)) != EXIT_DONE ||
        (code = parse_real("atol", set.atol, &o->atol)) != EXIT_DONE ||
        (code = parse_real("dtol", set.dtol, &o->dtol)) != EXIT_DONE ||
        (code = parse_real("omega", set.omega, &o->omega)) != EXIT_DONE ||
        (code = parse_real("lower", set.lower, &o->lower)) != EXIT_DONE ||
        (code = parse_real("upper", set.upper, &o->upper)) != EXIT_DONE ||
        (set.most && (code = cli_parse_count("max-iterations", set.most, &most)) != EXIT_DONE) ||
        (set.restart && (code = cli_parse_count("restart", set.restart, &restart)) != EXIT_DONE) ||
        (set.block && (code = cli_parse_count("block", set.block, &block)) != EXIT_DONE) ||
        (code = parse_real("drop-tolerance", set.drop, &o->drop_tolerance)) != EXIT_DONE ||
        (set.fill && (code = cli_parse_count("fill", set.fill, &fill)) != EXIT_DONE))
        return code;
    if (dtype >= 0 && dtype != ECH_F32 && dtype != ECH_F64)
        return cli_fail(EXIT_BAD, "--type is %s; use f32 or f64", set.type);
    if (restart > 1000)
        return cli_fail(EXIT_BAD, "--restart is %s; the maximum is 1000", set.restart);
    if (block > 32) return cli_fail(EXIT_BAD, "--block is %s; the maximum is 32", set.block);
    if (set.fill && (fill < 1 || fill > 1000))
        return cli_fail(EXIT_BAD, "--fill is %s, not from 1 to 1000", set.fill);
    if (set.most && !most) return cli_fail(EXIT_BAD, "--max-iterations is 0; the minimum is 1");
    s->dtype = dtype < 0 ? ECH_F64 : (ech_dtype)dtype;
    o->max_iterations = most;
    o->restart = (int)restart;
    o->block = (int)block;
    o->fill = (size_t)fill;
    o->use_initial_guess = set.guess != NULL;
    code = s->direct ? EXIT_DONE : check_method(o);
    return code == EXIT_DONE ? check_names(s) : code;
}

/* ---- The system ---- */

static int no_memory(const char *what)
{
    return cli_fail(EXIT_MEMORY, "out of memory for %s", what);
}

/* The Laplacian of a graph plus the identity: degree + 1 on the diagonal, -1 per edge.  Loops and
 * weights of edges are ignored. */
static int make_laplacian(struct io_matrix *a)
{
    const uint64_t n = a->rows, edges = a->entries;
    if (a->dense) return cli_fail(EXIT_BAD, "--laplacian needs a sparse matrix, but A is dense");
    int64_t *row = realloc(a->row, ((size_t)(edges + n) + 1) * sizeof *row);
    if (row) a->row = row;
    int64_t *column = realloc(a->column, ((size_t)(edges + n) + 1) * sizeof *column);
    if (column) a->column = column;
    double *values = realloc(a->values, ((size_t)(edges + n) + 1) * sizeof *values);
    if (values) a->values = values;
    if (!row || !column || !values) return no_memory("the diagonal");
    for (uint64_t i = 0; i < n; i++) {
        row[edges + i] = column[edges + i] = (int64_t)i;
        values[edges + i] = 1;
    }
    for (uint64_t e = 0; e < edges; e++) {
        const bool edge = row[e] != column[e];
        values[e] = edge ? -1 : 0;
        values[edges + (uint64_t)row[e]] += edge;
    }
    a->entries = edges + n;
    return EXIT_DONE;
}

static void narrow(int64_t *indices, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const int32_t index = (int32_t)indices[i];
        memcpy((char *)indices + i * sizeof index, &index, sizeof index);
    }
}

static int make_csr(struct solve_job *s)
{
    struct io_matrix *a = &s->a;
    const bool wide = a->rows > INT32_MAX || a->cols > INT32_MAX || a->entries > INT32_MAX;
    const size_t index_bytes = wide ? 8 : 4, bytes = ech_dtype_bytes(s->dtype);
    uint64_t entries = 0;
    s->csr = (ech_csr){ .size = sizeof(ech_csr),
                        .rows = (size_t)a->rows,
                        .cols = (size_t)a->cols,
                        .nnz = (size_t)a->entries,
                        .index_dtype = wide ? ECH_I64 : ECH_I32,
                        .dtype = s->dtype };
    s->csr.row_offsets = malloc(((size_t)a->rows + 1) * index_bytes);
    s->csr.col_indices = malloc(((size_t)a->entries + 1) * index_bytes);
    s->csr.values = malloc(((size_t)a->entries + 1) * bytes);
    if (!s->csr.row_offsets || !s->csr.col_indices || !s->csr.values)
        return no_memory("the matrix's rows");
    if (!wide) {
        narrow(a->row, a->entries);
        narrow(a->column, a->entries);
    }
    if (s->dtype == ECH_F32)
        for (uint64_t e = 0; e < a->entries; e++) {
            const float value = (float)a->values[e];
            memcpy((char *)a->values + e * sizeof value, &value, sizeof value);
        }
    const ech_status status = ech_csr_from_coo(s->ctx, a->row, a->column, a->values, &s->csr,
                                               &entries, (size_t)a->entries, NULL);
    if (status != ECH_OK) return cli_fail_ech(status, s->ctx);
    s->csr.nnz = (size_t)entries;
    io_matrix_free(a);
    return EXIT_DONE;
}

/* Methods and preconditioners that need the triangles of A require a sparse matrix. */
static int check_dense(const struct solve_job *s)
{
    const ech_solve_options *o = &s->options;
    const bool sweeps = o->method == ECH_METHOD_GAUSS_SEIDEL || o->method == ECH_METHOD_SOR;
    if (!sweeps && !solve_takes_triangles(o->precond)) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: is dense, but %s needs a sparse matrix", s->name[0],
                    sweeps ? set.method : set.precond);
}

static int load_matrix(struct solve_job *s)
{
    int code = matrix_load(s->name[0], &s->progress, &s->a);
    if (code != EXIT_DONE) return code;
    s->m = (size_t)s->a.rows;
    s->n = (size_t)s->a.cols;
    if (s->a.rows != s->a.cols && (!s->direct || set.laplacian))
        return cli_fail(EXIT_BAD, "%s: has %llu rows and %llu columns, but must be square",
                        s->name[0], (unsigned long long)s->a.rows, (unsigned long long)s->a.cols);
    code = set.laplacian ? make_laplacian(&s->a) : matrix_check_finite(&s->a, s->name[0]);
    s->sparse = solve_is_sparse(set.method) && !s->a.dense && s->m == s->n;
    if (code != EXIT_DONE || (s->direct && !s->sparse)) return code;
    if (s->a.dense) code = check_dense(s);
    if (code != EXIT_DONE) return code;
    return s->a.dense ? matrix_values(&s->a, s->dtype, s->name[0], &s->dense) : make_csr(s);
}

/* Loads a matrix with n rows as vectors: [columns][n] of dtype. */
static int load_vectors(struct solve_job *s, const char *name, struct io_matrix *m, void **vectors)
{
    struct io_error error;
    int code = matrix_load(name, &s->progress, m);
    if (code != EXIT_DONE) return code;
    if (m->rows != s->n)
        return cli_fail(EXIT_BAD, "%s: has %llu rows, but A has %zu", name,
                        (unsigned long long)m->rows, s->n);
    code = matrix_check_finite(m, name);
    if (code != EXIT_DONE) return code;
    const io_status status = io_matrix_to_dense(m, name, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    *vectors = malloc((size_t)(m->rows * m->cols + 1) * sizeof(double));
    if (!*vectors) return no_memory("the right-hand sides");
    for (uint64_t i = 0; i < m->rows; i++)
        for (uint64_t j = 0; j < m->cols; j++) {
            const double value = m->values[i * m->cols + j];
            if (s->dtype == ECH_F64)
                ((double *)*vectors)[j * m->rows + i] = value;
            else
                ((float *)*vectors)[j * m->rows + i] = (float)value;
        }
    return EXIT_DONE;
}

static int load_sides(struct solve_job *s)
{
    struct io_matrix guess = { .rows = 0 };
    int code = load_vectors(s, s->name[1], &s->b, &s->rhs);
    if (code != EXIT_DONE) return code;
    s->count = (size_t)s->b.cols;
    if (set.guess) {
        code = load_vectors(s, set.guess, &guess, &s->x);
        if (code == EXIT_DONE && guess.cols != s->b.cols)
            code = cli_fail(EXIT_BAD, "%s: has %llu columns, but b has %zu", set.guess,
                            (unsigned long long)guess.cols, s->count);
        io_matrix_free(&guess);
    } else {
        s->x = malloc((s->n * s->count + 1) * sizeof(double));
        if (!s->x) code = no_memory("x");
    }
    s->reports = calloc(s->count + 1, sizeof *s->reports);
    if (code == EXIT_DONE && !s->reports) code = no_memory("the reports");
    for (size_t i = 0; s->reports && i < s->count; i++) s->reports[i].size = sizeof *s->reports;
    return code;
}

/* ---- Solution ---- */

static int watch(void *user, size_t which, uint64_t iteration, double residual)
{
    struct solve_job *s = user;
    char text[96];
    if (s->count > 1)
        snprintf(text, sizeof text, "solving %zu of %zu: iteration %llu, residual %.2e", which + 1,
                 s->count, (unsigned long long)iteration, residual);
    else
        snprintf(text, sizeof text, "solving: iteration %llu, residual %.2e",
                 (unsigned long long)iteration, residual);
    cli_progress_say(&s->progress, text);
    return 0;
}

static int solve(struct solve_job *s)
{
    const ech_operator a = { .size = sizeof a,
                             .n = s->n,
                             .dtype = s->dtype,
                             .csr = s->dense ? NULL : &s->csr,
                             .dense = s->dense,
                             .stride = s->dense ? s->n : 0 };
    ech_solve_options *o = &s->options;
    const uint64_t most = o->max_iterations ? o->max_iterations : 100000;
    if (set.history || set.plot) {
        o->history_capacity = (size_t)most + 1;
        o->history = malloc((s->count * o->history_capacity + 1) * sizeof *o->history);
        if (!o->history) return no_memory("the history of residuals");
        s->history = o->history;
    }
    o->monitor = watch;
    o->monitor_user = s;
    cli_progress_stage(&s->progress, "solving");
    const double begun = cli_seconds();
    const ech_status status =
        ech_solve(s->ctx, &a, s->count, s->rhs, s->n, s->x, s->n, o, s->reports);
    s->seconds = cli_seconds() - begun;
    cli_progress_end(&s->progress);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, s->ctx);
}

/* ---- Output ---- */

static void report_json(const struct solve_job *s)
{
    struct json json = { .to = s->json };
    json_open(&json, NULL, '[');
    for (size_t i = 0; i < s->count; i++) {
        const ech_solve_report *r = &s->reports[i];
        json_open(&json, NULL, '{');
        json_literal(&json, "converged", r->status > 0 ? "true" : "false");
        json_text(&json, "status", ech_solve_status_text(r->status));
        json_text(&json, "method", ech_method_name(r->method));
        json_text(&json, "precond", ech_precond_name(r->precond));
        json_count(&json, "iterations", r->iterations);
        json_count(&json, "products", r->applications);
        json_count(&json, "restarts", r->restarts);
        json_number(&json, "residual", r->residual);
        json_number(&json, "b_norm", r->b_norm);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    putc('\n', s->json);
}

static void report_words(const struct solve_job *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const ech_solve_report *r = &s->reports[i];
        fputs("echelon solve: ", stderr);
        if (s->count > 1) fprintf(stderr, "column %zu: ", i);
        fprintf(stderr, "%s: %s", ech_method_name(r->method), ech_solve_status_text(r->status));
        if (r->status == ECH_SOLVE_STATUS_STOPPED_SINGULAR ||
            (r->status == ECH_SOLVE_STATUS_STOPPED_INDEFINITE && r->precond == ECH_PRECOND_IC0))
            fprintf(stderr, ": row %llu", (unsigned long long)r->failed_index + 1);
        fprintf(stderr, "; %llu iterations, |b - A x| = %.3g", (unsigned long long)r->iterations,
                r->residual);
        if (r->b_norm > 0) fprintf(stderr, " = %.3g |b|", r->residual / r->b_norm);
        fprintf(stderr, "; preconditioner: %s\n", ech_precond_name(r->precond));
    }
}

static int write_history(const struct solve_job *s)
{
    const struct solve_history h = { s->count, s->options.history_capacity, s->history,
                                     s->reports };
    int code = EXIT_DONE;
    if (set.history) code = solve_write_csv(&h, set.history);
    if (code == EXIT_DONE && set.plot) code = solve_write_svg(&h, s->name[0], set.plot);
    return code;
}

/* Writes x as [n][count], the layout of b in its file. */
static int write_solution(struct solve_job *s)
{
    const size_t bytes = ech_dtype_bytes(s->dtype);
    char *turned = malloc((s->n * s->count + 1) * bytes);
    if (!turned) return no_memory("the transpose of x");
    for (size_t j = 0; j < s->count; j++)
        for (size_t i = 0; i < s->n; i++)
            memcpy(turned + (i * s->count + j) * bytes, (const char *)s->x + (j * s->n + i) * bytes,
                   bytes);
    const int code = matrix_write(&s->to, turned, s->dtype, s->n, s->count, &s->progress);
    free(turned);
    return code;
}

static int work(struct solve_job *s)
{
    bool converged = true;
    const bool to_file = set.output && strcmp(set.output, "-") != 0;
    s->json = !set.json ? NULL : to_file ? stdout : stderr;
    int code = matrix_create(&s->to, set.output);
    if (code == EXIT_DONE) code = cli_check_writable(set.history);
    if (code == EXIT_DONE) code = cli_check_writable(set.plot);
    if (code == EXIT_DONE) code = load_matrix(s);
    if (code == EXIT_DONE && s->direct && !s->sparse) return solve_direct(s);
    if (code == EXIT_DONE) code = load_sides(s);
    if (code == EXIT_DONE && s->sparse) {
        code = solve_sparse(s);
        return code == EXIT_DONE ? write_solution(s) : code;
    }
    if (code == EXIT_DONE) code = solve(s);
    if (code == EXIT_DONE) code = write_history(s);
    if (code != EXIT_DONE) return code;
    for (size_t i = 0; i < s->count; i++) converged &= s->reports[i].status > 0;
    if (s->json)
        report_json(s);
    else
        report_words(s);
    if (converged || set.write_unconverged) code = write_solution(s);
    return code == EXIT_DONE && !converged ? EXIT_NO : code;
}

static int run(int count, char **operands)
{
    static struct solve_job s; /* static, because it is large */
    int threads;
    if (count < 2) return cli_fail(EXIT_BAD, "two files are needed: echelon solve A b");
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        return cli_fail(EXIT_BAD, "A and b cannot both be standard input");
    s.name[0] = operands[0];
    s.name[1] = operands[1];
    int code = parse(&s);
    if (code == EXIT_DONE) code = cli_parse_threads(set.threads, &threads);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&s.progress);
    code = cli_open(&s.ctx, set.device, threads);
    if (code == EXIT_DONE) code = work(&s);
    cli_progress_end(&s.progress);
    matrix_discard(&s.to);
    ech_close(s.ctx);
    io_matrix_free(&s.a);
    io_matrix_free(&s.b);
    free(s.csr.row_offsets);
    free(s.csr.col_indices);
    free(s.csr.values);
    free(s.dense);
    free(s.rhs);
    free(s.x);
    free(s.history);
    free(s.reports);
    return code;
}

static const struct cli_value values[] = {
    { "TYPE", CLI_WORDS, "f32 f64", NULL },
    { "METHOD", CLI_WORDS, NULL, solve_method_word },
    { "PRECOND", CLI_WORDS, NULL, solve_precond_word },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_solve = {
    .name = "solve",
    .summary = "solve A x = b by iterative or direct methods",
    .usage = "  echelon solve [OPTION]... A b\n",
    .examples = "  echelon solve A.mtx b.mtx -o x.mtx\n"
                "  echelon solve --method direct A.mtx b.mtx -o x.mtx\n"
                "  echelon solve --method qr A.npy b.npy -o x.npy\n"
                "  echelon solve --method cg --precond jacobi --plot r.svg A.mtx b.npy -o x.npy\n",
    .notes = "A and b are Matrix Market (coordinate or array) or .npy.  b has one column per\n"
             "right-hand side, or is text with one number per line.  One of them may be \"-\",\n"
             "standard input.\n\n"
             "The exit status is 1 if the true residual, computed at the end, does not meet the\n"
             "tolerance, or if A is singular.  If A has more rows than columns, a direct method\n"
             "solves the least-squares problem.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
    .values = values,
};
