/*
 * solve_sparse.c - "echelon solve --method direct" for a sparse A: a sparse LU factorization.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve.h"

#include <inttypes.h>
#include <string.h>

static void report_words(const ech_sparse_direct_report *r)
{
    const bool factored = strcmp(r->algorithm, "none") != 0;
    fprintf(stderr, "echelon solve: %s%s%s", factored ? r->algorithm : "", factored ? ": " : "",
            ech_direct_status_text(r->status));
    if (r->status == ECH_DIRECT_STATUS_SOLVED) {
        fprintf(stderr, "; backward error %.2g after %d steps of refinement, rcond %.2g",
                r->backward_error, r->refinements, r->rcond);
        if (r->factor_nnz) fprintf(stderr, ", %" PRIu64 " entries in L and U", r->factor_nnz);
    } else if (r->failed_index != UINT64_MAX) {
        const bool column = r->status == ECH_DIRECT_STATUS_SINGULAR;
        fprintf(stderr, ": %s %" PRIu64,
                column                                      ? "column"
                : r->status == ECH_DIRECT_STATUS_NOT_FINITE ? "row"
                                                            : "column of b",
                r->failed_index + 1);
    }
    putc('\n', stderr);
}

static void report_json(const ech_sparse_direct_report *r, FILE *to)
{
    struct json json = { .to = to };
    json_open(&json, NULL, '{');
    json_literal(&json, "solved", r->status == ECH_DIRECT_STATUS_SOLVED ? "true" : "false");
    json_text(&json, "status", ech_direct_status_text(r->status));
    json_text(&json, "method", r->algorithm);
    if (r->status != ECH_DIRECT_STATUS_SOLVED && r->failed_index != UINT64_MAX)
        json_count(&json, "failed_index", r->failed_index);
    json_number(&json, "backward_error", r->backward_error);
    json_count(&json, "refinements", (uint64_t)r->refinements);
    json_number(&json, "rcond", r->rcond);
    json_count(&json, "factor_nnz", r->factor_nnz);
    json_close(&json, '}');
    putc('\n', to);
}

int solve_sparse(struct solve_job *s)
{
    const ech_sparse_direct_options options = { .size = sizeof options, .estimate_condition = 1 };
    ech_sparse_direct_report report = { .size = sizeof report };
    cli_progress_stage(&s->progress, "factoring");
    const ech_status status =
        ech_solve_sparse(s->ctx, &s->csr, s->count, s->rhs, s->n, s->x, s->n, &options, &report);
    cli_progress_end(&s->progress);
    if (status == ECH_ERR_UNSUPPORTED)
        return cli_fail(EXIT_BAD, "%s; --method dense factors A as a dense matrix",
                        ech_error(s->ctx));
    if (status != ECH_OK) return cli_fail_ech(status, s->ctx);
    if (s->json)
        report_json(&report, s->json);
    else
        report_words(&report);
    return report.status == ECH_DIRECT_STATUS_SOLVED ? EXIT_DONE : EXIT_NO;
}
