/*
 * direct/factor.c - LU, Cholesky and QR of a dense matrix, recursively: most work is matrix
 * products.
 *
 *     LU (Toledo 1997)      Cholesky              QR (Schreiber, Van Loan 1989)
 *
 *     | 1 | 2 swap, solve   | 1 |                 | 1 |  panel   | 2  C -= V T^T V^T C
 *     |   |----------       |---|---              |   |          |
 *     |   | 3 product       | 2 | 3 product       |   |          |
 *     |   | 4 the same      |   | 4 the same      by panels of 32 columns
 *
 * where 1 is half of the columns, factored recursively, down to panels of 32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/direct.h"
#include "matmul/matmul.h"

enum {
    LEAF = ECHI_DIRECT_LEAF,
    SQUARE = 256, /* size of a symmetric product that is not divided further */
    LONG = ECHI_DIRECT_LONG
};

struct echi_direct_step echi_direct_step(const struct echi_direct_run *run, unsigned what)
{
    return (struct echi_direct_step){ .what = what,
                                      .f64 = run->bytes == 8,
                                      .tau = run->parts.tau,
                                      .pivots = run->parts.pivots,
                                      .scalars = run->parts.scalars };
}

ech_status echi_direct_do(struct echi_direct_run *run, const struct echi_direct_step *step)
{
    const struct echi_backend *backend = run->call->backend;
    return run->ctx ? echi_operation_run(run->ctx, backend->operations[ECHI_OP_direct], step,
                                         run->parts.steps)
                    : ECH_OK;
}

char *echi_direct_at(const struct echi_direct_run *run, void *matrix, size_t stride, size_t i,
                     size_t j)
{
    return matrix ? (char *)matrix + (i * stride + j) * run->bytes : NULL;
}

static char *at(const struct echi_direct_run *run, size_t i, size_t j)
{
    return echi_direct_at(run, run->parts.factor, run->stride, i, j);
}

/* ---- Products ---- */

static ech_status do_product(struct echi_direct_run *run, const struct echi_operation *operation,
                             const void *request)
{
    size_t bytes;
    ech_status status;
    if (run->ctx) return echi_operation_run(run->ctx, operation, request, run->parts.product);
    status = echi_operation_workspace(operation, request, &bytes);
    if (status == ECH_OK && bytes > run->product_bytes) run->product_bytes = bytes;
    return status;
}

ech_status echi_direct_multiply(struct echi_direct_run *run, const struct echi_direct_product *p)
{
    const struct echi_backend *backend = run->call->backend;
    if (!p->m || !p->n || !p->k) return ECH_OK;
    if (p->n == 1 && p->b_stride == 1 && p->c_stride == 1 && !p->b_turned) {
        const struct echi_matvec v = { .rows = p->a_turned ? p->k : p->m,
                                       .cols = p->a_turned ? p->m : p->k,
                                       .turned = p->a_turned,
                                       .a = p->a,
                                       .x = p->b,
                                       .y = p->c,
                                       .a_stride = p->a_stride,
                                       .alpha = p->alpha,
                                       .beta = p->beta,
                                       .dtype = run->call->dtype };
        return do_product(run, backend->operations[ECHI_OP_matvec], &v);
    }
    const struct echi_matmul product = { .backend = backend,
                                         .m = p->m,
                                         .n = p->n,
                                         .k = p->k,
                                         .count = p->count ? p->count : 1,
                                         .a_step = p->a_step,
                                         .b_step = p->b_step,
                                         .c_step = p->c_step,
                                         .a_turned = p->a_turned,
                                         .b_turned = p->b_turned,
                                         .a = p->a,
                                         .b = p->b,
                                         .c = p->c,
                                         .a_stride = p->a_stride,
                                         .b_stride = p->b_stride,
                                         .c_stride = p->c_stride,
                                         .alpha = p->alpha,
                                         .beta = p->beta,
                                         .dtype = run->call->dtype,
                                         .algorithm = "tiled" };
    return do_product(run, backend->operations[ECHI_OP_matmul], &product);
}

/* c = a^T b; long columns are divided into parts, whose results are added one after the other: this
 * provides work for more threads than a small c has elements. */
static ech_status multiply_long(struct echi_direct_run *run, const struct echi_direct_product *p)
{
    const size_t whole = p->k / LONG, rest = p->k % LONG, count = whole + (rest != 0);
    struct echi_direct_product part = *p;
    struct echi_direct_step sum = echi_direct_step(run, ECHI_DIRECT_SUM);
    ech_status status;
    if (p->n == 1 || count < 2) return echi_direct_multiply(run, p);
    part.k = LONG;
    part.count = whole;
    part.a_step = LONG * p->a_stride;
    part.b_step = LONG * p->b_stride;
    part.c = run->parts.room;
    part.c_stride = p->n;
    part.c_step = p->m * p->n;
    TRY(echi_direct_multiply(run, &part));
    part.k = rest;
    part.count = 1;
    part.a = echi_direct_at(run, (void *)(uintptr_t)p->a, p->a_stride, whole * LONG, 0);
    part.b = echi_direct_at(run, (void *)(uintptr_t)p->b, p->b_stride, whole * LONG, 0);
    part.c = echi_direct_at(run, run->parts.room, part.c_step, whole, 0);
    TRY(echi_direct_multiply(run, &part));
    sum.rows = p->m;
    sum.cols = p->n;
    sum.inner = count;
    sum.a = run->parts.room;
    sum.a_stride = p->n;
    sum.c = p->c;
    sum.c_stride = p->c_stride;
    TRY(echi_direct_do(run, &sum));
done:
    return status;
}

/* c -= a op(b), all with the same stride. */
static ech_status subtract(struct echi_direct_run *run, size_t m, size_t n, size_t k, const void *a,
                           const void *b, bool b_turned, void *c)
{
    const struct echi_direct_product p = { .m = m,
                                           .n = n,
                                           .k = k,
                                           .a = a,
                                           .b = b,
                                           .c = c,
                                           .a_stride = run->stride,
                                           .b_stride = run->stride,
                                           .c_stride = run->stride,
                                           .b_turned = b_turned,
                                           .alpha = -1,
                                           .beta = 1 };
    return echi_direct_multiply(run, &p);
}

/* ---- Triangles ---- */

static size_t half_of(size_t n)
{
    return (n / 2 + LEAF - 1) / LEAF * LEAF;
}

static ech_status triangle_leaf(struct echi_direct_run *run, unsigned kind, const void *t,
                                size_t rows, void *x, size_t x_stride, size_t cols)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_TRIANGLE);
    step.rows = rows;
    step.cols = cols;
    step.a = t;
    step.a_stride = run->stride;
    step.c = x;
    step.c_stride = x_stride;
    step.upper = (kind & ECHI_TRIANGLE_UPPER) != 0;
    step.unit = (kind & ECHI_TRIANGLE_UNIT) != 0;
    step.turned = (kind & ECHI_TRIANGLE_TURNED) != 0;
    step.beside = (kind & ECHI_TRIANGLE_BESIDE) != 0;
    return echi_direct_do(run, &step);
}

ech_status echi_direct_triangle(struct echi_direct_run *run, unsigned kind, const void *t,
                                size_t rows, void *x, size_t x_stride, size_t cols)
{
    const bool upper = kind & ECHI_TRIANGLE_UPPER, turned = kind & ECHI_TRIANGLE_TURNED;
    const bool beside = kind & ECHI_TRIANGLE_BESIDE, forward = upper == turned;
    void *const matrix = (void *)(uintptr_t)t;
    ech_status status = ECH_OK;
    if (rows <= LEAF || (cols == 1 && x_stride == 1 && !beside))
        return triangle_leaf(run, kind, t, rows, x, x_stride, cols);
    const size_t top = half_of(rows), down = rows - top;
    const void *last = echi_direct_at(run, matrix, run->stride, top, top);
    void *x_down = echi_direct_at(run, x, x_stride, beside ? 0 : top, beside ? top : 0);
    /* the elements of t outside the diagonal blocks, below or to the right of them */
    const void *off = echi_direct_at(run, matrix, run->stride, upper ? 0 : top, upper ? top : 0);
    struct echi_direct_product p = { .k = forward ? top : down,
                                     .alpha = -1,
                                     .beta = 1,
                                     .c = forward ? x_down : x,
                                     .c_stride = x_stride };
    const size_t n = forward ? down : top;
    p.m = beside ? cols : n;
    p.n = beside ? n : cols;
    p.a = beside ? (forward ? x : x_down) : off;
    p.b = beside ? off : (forward ? x : x_down);
    p.a_stride = beside ? x_stride : run->stride;
    p.b_stride = beside ? run->stride : x_stride;
    p.a_turned = !beside && turned;
    p.b_turned = beside && !turned;
    TRY(echi_direct_triangle(run, kind, forward ? t : last, forward ? top : down,
                             forward ? x : x_down, x_stride, cols));
    TRY(echi_direct_multiply(run, &p));
    TRY(echi_direct_triangle(run, kind, forward ? last : t, n, forward ? x_down : x, x_stride,
                             cols));
done:
    return status;
}

/* ---- LU ---- */

ech_status echi_direct_swap(struct echi_direct_run *run, void *c, size_t stride, size_t cols,
                            size_t first, size_t count, bool turned)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_SWAP);
    step.rows = count;
    step.cols = cols;
    step.first = first;
    step.c = c;
    step.c_stride = stride;
    step.turned = turned;
    return cols && count ? echi_direct_do(run, &step) : ECH_OK;
}

/* A panel at (k, k), down to the last row. */
static ech_status panel(struct echi_direct_run *run, unsigned what, size_t k, size_t cols)
{
    struct echi_direct_step step = echi_direct_step(run, what);
    step.rows = run->m - k;
    step.cols = cols;
    step.first = k;
    step.c = at(run, k, k);
    step.c_stride = run->stride;
    return echi_direct_do(run, &step);
}

static ech_status lu(struct echi_direct_run *run, size_t k, size_t cols)
{
    ech_status status;
    if (cols <= LEAF) return panel(run, ECHI_DIRECT_LU, k, cols);
    const size_t left = half_of(cols), right = cols - left, middle = k + left;
    TRY(lu(run, k, left));
    TRY(echi_direct_swap(run, at(run, 0, middle), run->stride, right, k, left, false));
    TRY(echi_direct_triangle(run, ECHI_TRIANGLE_UNIT, at(run, k, k), left, at(run, k, middle),
                             run->stride, right));
    TRY(subtract(run, run->m - middle, right, left, at(run, middle, k), at(run, k, middle), false,
                 at(run, middle, middle)));
    TRY(lu(run, middle, right));
    TRY(echi_direct_swap(run, at(run, 0, k), run->stride, left, middle, right, false));
done:
    return status;
}

/* ---- Cholesky ---- */

/* The lower triangle of c -= b b^T, n x n at (k, k); b is to its left, from column j on. */
static ech_status subtract_square(struct echi_direct_run *run, size_t k, size_t n, size_t j,
                                  size_t cols)
{
    ech_status status;
    if (n <= SQUARE)
        return subtract(run, n, n, cols, at(run, k, j), at(run, k, j), true, at(run, k, k));
    const size_t top = half_of(n), middle = k + top;
    TRY(subtract_square(run, k, top, j, cols));
    TRY(subtract(run, n - top, top, cols, at(run, middle, j), at(run, k, j), true,
                 at(run, middle, k)));
    TRY(subtract_square(run, middle, n - top, j, cols));
done:
    return status;
}

static ech_status cholesky(struct echi_direct_run *run, size_t k, size_t n)
{
    ech_status status;
    if (n <= LEAF) return panel(run, ECHI_DIRECT_CHOLESKY, k, n);
    const size_t top = half_of(n), middle = k + top;
    TRY(cholesky(run, k, top));
    TRY(echi_direct_triangle(run, ECHI_TRIANGLE_BESIDE, at(run, k, k), top, at(run, middle, k),
                             run->stride, n - top));
    TRY(subtract_square(run, middle, n - top, k, top));
    TRY(cholesky(run, middle, n - top));
done:
    return status;
}

/* ---- QR ---- */

static void *chain_at(const struct echi_direct_run *run, size_t k)
{
    return echi_direct_at(run, run->parts.chain, LEAF, k, 0);
}

/* V of the panel at (k, k), and T if it has not been computed yet. */
static ech_status gather_reflectors(struct echi_direct_run *run, size_t k, size_t cols)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_REFLECTORS);
    const struct echi_direct_product gram = { .m = cols,
                                              .n = cols,
                                              .k = run->m - k,
                                              .a = run->parts.reflectors,
                                              .b = run->parts.reflectors,
                                              .c = run->parts.gram,
                                              .a_stride = LEAF,
                                              .b_stride = LEAF,
                                              .c_stride = LEAF,
                                              .a_turned = true,
                                              .alpha = 1 };
    ech_status status;
    step.rows = run->m - k;
    step.cols = cols;
    step.a = at(run, k, k);
    step.a_stride = run->stride;
    step.c = run->parts.reflectors;
    step.c_stride = LEAF;
    TRY(echi_direct_do(run, &step));
    if (k < run->chained) return ECH_OK;
    run->chained = k + cols;
    TRY(multiply_long(run, &gram));
    step.what = ECHI_DIRECT_CHAIN;
    step.first = k;
    step.rows = cols;
    step.a = run->parts.gram;
    step.a_stride = LEAF;
    step.c = chain_at(run, k);
    TRY(echi_direct_do(run, &step));
done:
    return status;
}

/* c [rows][cols] = (I - V T^T V^T) c, for the panel at (k, k). */
static ech_status reflect(struct echi_direct_run *run, size_t k, size_t width, void *c,
                          size_t stride, size_t cols)
{
    const size_t rows = run->m - k;
    struct echi_direct_product p = { .m = width,
                                     .n = cols,
                                     .k = rows,
                                     .a = run->parts.reflectors,
                                     .b = c,
                                     .c = run->parts.between[0],
                                     .a_stride = LEAF,
                                     .b_stride = stride,
                                     .c_stride = cols,
                                     .a_turned = true,
                                     .alpha = 1 };
    ech_status status;
    TRY(multiply_long(run, &p));
    p.k = width;
    p.a = chain_at(run, k);
    p.b = p.c;
    p.b_stride = cols;
    p.c = run->parts.between[1];
    TRY(echi_direct_multiply(run, &p));
    p.m = rows;
    p.a = run->parts.reflectors;
    p.a_turned = false;
    p.b = p.c;
    p.c = c;
    p.c_stride = stride;
    p.alpha = -1;
    p.beta = 1;
    TRY(echi_direct_multiply(run, &p));
done:
    return status;
}

static size_t width_at(const struct echi_direct_run *run, size_t k)
{
    return run->n - k < LEAF ? run->n - k : LEAF;
}

static ech_status qr(struct echi_direct_run *run)
{
    ech_status status = ECH_OK;
    for (size_t k = 0; k < run->n; k += LEAF) {
        const size_t width = width_at(run, k);
        TRY(panel(run, ECHI_DIRECT_QR, k, width));
        if (k + width == run->n) break;
        TRY(gather_reflectors(run, k, width));
        TRY(reflect(run, k, width, at(run, k, k + width), run->stride, run->n - k - width));
    }
done:
    return status;
}

ech_status echi_direct_apply(struct echi_direct_run *run, void *x, size_t x_stride, size_t cols)
{
    ech_status status = ECH_OK;
    for (size_t k = 0; k < run->n; k += LEAF) {
        const size_t width = width_at(run, k);
        TRY(gather_reflectors(run, k, width));
        TRY(reflect(run, k, width, echi_direct_at(run, x, x_stride, k, 0), x_stride, cols));
    }
done:
    return status;
}

/* ---- The factorization ---- */

static ech_status factor_by_vendor(struct echi_direct_run *run)
{
    const struct echi_direct *call = run->call;
    const struct echi_vendor_factor request = { .kind = run->kind,
                                                .m = run->m,
                                                .n = run->n,
                                                .stride = run->stride,
                                                .dtype = call->dtype,
                                                .c = run->parts.factor,
                                                .tau = run->parts.tau,
                                                .pivots = run->parts.pivots,
                                                .scalars = run->parts.scalars };
    return do_product(run, call->backend->direct_vendor, &request);
}

ech_status echi_direct_factor(struct echi_direct_run *run)
{
    if (run->call->vendor) return factor_by_vendor(run);
    if (run->kind == ECH_FACTOR_QR) return qr(run);
    return run->kind == ECH_FACTOR_CHOLESKY ? cholesky(run, 0, run->n) : lu(run, 0, run->n);
}
