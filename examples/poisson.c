/*
 * poisson.c - the temperature of a square plate with a cold edge and a heated centre: builds a
 * sparse linear system from its entries and solves it.   cc poisson.c -lechelon
 *
 *     4 u[i][j] - u[i-1][j] - u[i+1][j] - u[i][j-1] - u[i][j+1] = h^2 f[i][j]
 *
 * The matrix is symmetric positive definite, so the conjugate gradient method applies. The number
 * of iterations is proportional to SIDE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>

#include <stdio.h>

enum { SIDE = 200, N = SIDE * SIDE };

static int32_t rows[5 * N], columns[5 * N], offsets[N + 1], sorted[5 * N];
static double values[5 * N], entries[5 * N], f[N], u[N];

/* Creates the entries in arbitrary order and returns their number. */
static size_t make_entries(void)
{
    static const int steps[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
    size_t n = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const int32_t row = i * SIDE + j;
            rows[n] = columns[n] = row;
            values[n++] = 4;
            for (int s = 0; s < 4; s++) {
                const int a = i + steps[s][0], b = j + steps[s][1];
                if (a < 0 || a >= SIDE || b < 0 || b >= SIDE) continue; /* the edge is 0 */
                rows[n] = row;
                columns[n] = a * SIDE + b;
                values[n++] = -1;
            }
        }
    return n;
}

int main(void)
{
    const double h = 1.0 / (SIDE + 1);
    ech_csr a = { .size = sizeof(ech_csr),
                  .rows = N,
                  .cols = N,
                  .nnz = 5 * N,
                  .row_offsets = offsets,
                  .col_indices = sorted,
                  .values = entries,
                  .index_dtype = ECH_I32,
                  .dtype = ECH_F64 };
    const ech_operator laplace = { .size = sizeof laplace, .n = N, .dtype = ECH_F64, .csr = &a };
    const ech_solve_options options = {
        .size = sizeof options, .method = ECH_METHOD_CG, .precond = ECH_PRECOND_IC0, .rtol = 1e-10
    };
    ech_solve_report report = { .size = sizeof report };
    uint64_t count;
    ech_ctx *ctx;
    if (ech_open(&ctx, "cpu") != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    for (int i = SIDE / 4; i < SIDE * 3 / 4; i++)
        for (int j = SIDE / 4; j < SIDE * 3 / 4; j++) f[i * SIDE + j] = h * h;
    ech_status status =
        ech_csr_from_coo(ctx, rows, columns, values, &a, &count, make_entries(), NULL);
    if (status == ECH_OK) {
        a.nnz = count;
        status = ech_solve(ctx, &laplace, 1, f, N, u, N, &options, &report);
    }
    if (status != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(ctx));
    } else {
        printf("%d unknowns: %s\n", N, ech_solve_status_text(report.status));
        printf("%llu iterations, |b - A x| = %.1e |b|, %.6f in the middle\n",
               (unsigned long long)report.iterations, report.residual / report.b_norm,
               u[SIDE / 2 * SIDE + SIDE / 2]);
    }
    ech_close(ctx);
    return status != ECH_OK || report.status < 0;
}
