/*
 * dist/linear/matvec.c - ech_dist_matvec(): every rank gathers x and multiplies its rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/linear/linear.h"

struct matvec {
    struct echi_dist d;
    size_t rows, cols, a_stride;
    double alpha, beta;
    const void *a, *x;
    void *y;
    ech_dtype dtype;
};

/* Every rank receives all parts of x in its workspace. */
static ech_status gather(struct matvec *m)
{
    struct echi_dist *d = &m->d;
    const size_t ranks = (size_t)d->ranks, bytes = ech_dtype_bytes(m->dtype);
    for (size_t r = 0; r < ranks; r++) {
        d->messages[r] =
            (ech_comm_message){ (void *)(uintptr_t)m->x, echi_dist_n(d) * bytes, (int64_t)r };
        d->messages[ranks + r] =
            (ech_comm_message){ echi_after(d->work, d->in_first[r] * bytes),
                                (d->in_first[r + 1] - d->in_first[r]) * bytes, (int64_t)r };
    }
    return echi_comm_exchange(d->ctx, d->comm, d->messages, ranks, d->messages + ranks, ranks);
}

static ech_status run(struct matvec *m)
{
    struct echi_dist *d = &m->d;
    const struct echi_linear_number numbers[] = { { "alpha", m->alpha }, { "beta", m->beta } };
    ech_status status;
    TRY(echi_linear_same(d->ctx, d->comm, "ech_dist_matvec", numbers, 2));
    if (d->total != m->cols)
        FAIL(d->ctx, ECH_ERR_ARG, "x has %llu elements on all ranks, but cols is %zu",
             (unsigned long long)d->total, m->cols);
    status = echi_dist_work(d, "a product", m->cols * ech_dtype_bytes(m->dtype), NULL, 0);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(gather(m));
    if (m->rows == 0) return ECH_OK;
    TRY(ech_matvec(d->ctx, m->rows, m->cols, m->alpha, m->a, m->a_stride, d->work, m->beta, m->y,
                   m->dtype, NULL));
done:
    return status;
}

static ech_status check(ech_ctx *ctx, const struct matvec *m, size_t n_x)
{
    size_t elements;
    if (m->dtype != ECH_F32 && m->dtype != ECH_F64)
        return echi_fail(ctx, ECH_ERR_ARG, "dtype is %s, not f32 or f64", ech_dtype_name(m->dtype));
    if (m->a_stride < m->cols)
        return echi_fail(ctx, ECH_ERR_ARG, "a_stride is %zu, less than cols, %zu", m->a_stride,
                         m->cols);
    if (__builtin_mul_overflow(m->rows, m->a_stride, &elements) || elements > PTRDIFF_MAX / 8)
        return echi_fail(ctx, ECH_ERR_ARG, "rows is %zu: the size of a overflows size_t", m->rows);
    if (m->rows && m->cols && !m->a) return echi_fail(ctx, ECH_ERR_ARG, "a is NULL");
    if (n_x && !m->x) return echi_fail(ctx, ECH_ERR_ARG, "x is NULL");
    if (m->rows && !m->y) return echi_fail(ctx, ECH_ERR_ARG, "y is NULL");
    return echi_check_count(ctx, "cols", m->cols, 8);
}

ech_status ech_dist_matvec(ech_ctx *ctx, ech_comm *comm, size_t rows, size_t cols, double alpha,
                           const void *a, size_t a_stride, const void *x, size_t n_x, double beta,
                           void *y, ech_dtype dtype)
{
    static const char *const names[] = { "cols", "dtype", NULL };
    struct matvec m = { .rows = rows,
                        .cols = cols,
                        .a_stride = a_stride,
                        .alpha = alpha,
                        .beta = beta,
                        .a = a,
                        .x = x,
                        .y = y,
                        .dtype = dtype };
    struct echi_comm_call call = { .name = "ech_dist_matvec",
                                   .option = { cols, (uint64_t)dtype },
                                   .n = n_x };
    const ech_status status =
        echi_dist_begin(&m.d, ctx, comm, &call, names, ctx ? check(ctx, &m, n_x) : ECH_OK, false);
    if (status != ECH_OK) return status;
    return echi_dist_end(&m.d, run(&m));
}
