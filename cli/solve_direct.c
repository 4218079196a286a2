/*
 * solve_direct.c - "echelon solve --method direct": factors A as a dense matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve.h"

#include <stdlib.h>

/* Returns a matrix in row-major order. */
static int take(struct solve_job *s, struct io_matrix *m, const char *name, void **values)
{
    struct io_error error;
    const io_status status = io_matrix_to_dense(m, name, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    return matrix_values(m, s->dtype, name, values);
}

static void report_words(const ech_direct_report *r)
{
    const bool row =
        r->status == ECH_DIRECT_STATUS_INDEFINITE || r->status == ECH_DIRECT_STATUS_NOT_FINITE;
    fprintf(stderr, "echelon solve: %s: %s", ech_factor_name(r->kind),
            ech_direct_status_text(r->status));
    if (r->status == ECH_DIRECT_STATUS_SOLVED)
        fprintf(stderr, "; backward error %.2g after %d steps of refinement, rcond %.2g\n",
                r->backward_error, r->refinements, r->rcond);
    else
        fprintf(stderr, ": %s %llu\n", row ? "row" : "column",
                (unsigned long long)r->failed_index + 1);
}

static void report_json(const ech_direct_report *r, FILE *to)
{
    struct json json = { .to = to };
    json_open(&json, NULL, '{');
    json_literal(&json, "solved", r->status == ECH_DIRECT_STATUS_SOLVED ? "true" : "false");
    json_text(&json, "status", ech_direct_status_text(r->status));
    json_text(&json, "method", ech_factor_name(r->kind));
    if (r->status != ECH_DIRECT_STATUS_SOLVED) json_count(&json, "failed_index", r->failed_index);
    json_number(&json, "backward_error", r->backward_error);
    json_count(&json, "refinements", (uint64_t)r->refinements);
    json_number(&json, "rcond", r->rcond);
    json_number(&json, "determinant_sign", r->sign);
    json_number(&json, "determinant_log", r->log_abs);
    json_close(&json, '}');
    putc('\n', to);
}

int solve_direct(struct solve_job *s)
{
    const ech_direct_options options = { .size = sizeof options, .kind = s->kind };
    ech_direct_report report = { .size = sizeof report };
    int code = take(s, &s->a, s->name[0], &s->dense);
    if (code == EXIT_DONE) code = matrix_load(s->name[1], &s->progress, &s->b);
    if (code == EXIT_DONE) code = matrix_check_finite(&s->b, s->name[1]);
    if (code != EXIT_DONE) return code;
    s->count = (size_t)s->b.cols;
    if (s->m < s->n)
        return cli_fail(EXIT_BAD,
                        "%s: has %zu rows and %zu columns; underdetermined systems are not "
                        "supported",
                        s->name[0], s->m, s->n);
    if (s->b.rows != s->m)
        return cli_fail(EXIT_BAD, "%s: has %llu rows, but A has %zu", s->name[1],
                        (unsigned long long)s->b.rows, s->m);
    code = take(s, &s->b, s->name[1], &s->rhs);
    if (code != EXIT_DONE) return code;
    s->x = malloc((s->n * s->count + 1) * sizeof(double));
    if (!s->x) return cli_fail(EXIT_MEMORY, "out of memory for x");
    cli_progress_stage(&s->progress, "factoring");
    const ech_status status =
        ech_solve_direct(s->ctx, s->m, s->n, s->dense, s->n, s->count, s->rhs, s->count, s->x,
                         s->count, s->dtype, &options, &report);
    cli_progress_end(&s->progress);
    if (status != ECH_OK) return cli_fail_ech(status, s->ctx);
    if (s->json)
        report_json(&report, s->json);
    else
        report_words(&report);
    if (report.status != ECH_DIRECT_STATUS_SOLVED) return EXIT_NO;
    return matrix_write(&s->to, s->x, s->dtype, s->n, s->count, &s->progress);
}
