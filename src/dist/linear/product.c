/*
 * dist/linear/product.c - products of a distributed sparse matrix: ech_dist_spmv().
 *
 *     pack the boundary | exchange the halo               | rows before, rows after
 *                       | interior, by a second context   |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/linear/linear.h"

#include <pthread.h>

/* The interior of a product, for a thread. */
struct interior {
    ech_dist_csr *a;
    ech_ctx *ctx;
    double alpha, beta;
    const void *x;
    void *y;
    ech_status status;
};

static ech_status part_product(ech_ctx *ctx, const ech_dist_csr *a, int which, double alpha,
                               const void *x, double beta, void *y)
{
    const struct echi_linear_part *part = &a->part[which];
    const ech_csr_options options = { .size = sizeof options,
                                      .work = part->work.pointer,
                                      .work_bytes = part->work.bytes };
    if (part->csr.rows == 0) return ECH_OK;
    return ech_spmv(ctx, alpha, &part->csr, x, beta, echi_after(y, part->row * a->bytes), &options);
}

static void *run_interior(void *arg)
{
    struct interior *i = arg;
    i->status = part_product(i->ctx, i->a, 1, i->alpha, i->x, i->beta, i->y);
    return NULL;
}

/* Copies the elements that other ranks need to one array. */
static ech_status pack(ech_dist_csr *a, const void *x)
{
    const size_t n = (size_t)a->send_first[a->ranks];
    ech_status status = ECH_OK;
    if (n) TRY(ech_gather(a->ctx, x, a->send_index, a->send, n, a->n, a->send_dtype, a->bytes));
    if (a->side) TRY(ech_sync(a->ctx)); /* x and y are complete: the second context may use them */
done:
    return status;
}

static ech_status exchange(ech_dist_csr *a, void *x)
{
    size_t sends = 0, receives = 0;
    ech_comm_message *to = a->messages, *from = to + a->ranks;
    for (int r = 0; r < a->ranks; r++) {
        const uint64_t s = a->send_first[r], n_send = a->send_first[r + 1] - s;
        const uint64_t h = a->halo_first[r], n_halo = a->halo_first[r + 1] - h;
        if (n_send)
            to[sends++] =
                (ech_comm_message){ echi_after(a->send, s * a->bytes), n_send * a->bytes, r };
        if (n_halo)
            from[receives++] =
                (ech_comm_message){ echi_after(x, (a->n + h) * a->bytes), n_halo * a->bytes, r };
    }
    return echi_comm_exchange_device(a->ctx, a->comm, to, sends, from, receives);
}

/* The exchange, and the interior at the same time: on a GPU queued on the stream of the second
 * context, on the CPU by a thread. */
static ech_status overlap(ech_dist_csr *a, double alpha, void *x, double beta, void *y,
                          ech_status *status)
{
    struct interior i = { a, a->side, alpha, beta, x, y, ECH_OK };
    const bool cpu = a->ctx->backend == &echi_cpu;
    pthread_t thread;
    const bool started =
        cpu && *status == ECH_OK && pthread_create(&thread, NULL, run_interior, &i) == 0;
    if (!started && *status == ECH_OK) run_interior(&i);
    const ech_status step = exchange(a, x);
    if (started) pthread_join(thread, NULL);
    if (*status == ECH_OK && i.status == ECH_OK && !cpu) i.status = ech_sync(a->side);
    if (*status == ECH_OK && i.status != ECH_OK)
        *status = echi_fail(a->ctx, i.status, "%s", ech_error(a->side));
    return step;
}

ech_status echi_linear_product(ech_dist_csr *a, double alpha, void *x, double beta, void *y,
                               ech_status *status)
{
    ech_status step = ECH_OK;
    if (*status == ECH_OK) *status = pack(a, x);
    if (a->ranks > 1 && a->side) {
        step = overlap(a, alpha, x, beta, y, status);
    } else {
        if (a->ranks > 1) step = exchange(a, x);
        if (step == ECH_OK && *status == ECH_OK)
            *status = part_product(a->ctx, a, 1, alpha, x, beta, y);
    }
    for (int p = 0; p < ECHI_LINEAR_PARTS; p += 2)
        if (step == ECH_OK && *status == ECH_OK)
            *status = part_product(a->ctx, a, p, alpha, x, beta, y);
    return step;
}

/* ---- The call ---- */

/* Memory for x and y in the matrix's division, made by the first call that needs it. */
static ech_status make_vectors(ech_dist_csr *a)
{
    ech_status status = ECH_OK;
    if (!a->x.pointer) {
        a->x.bytes = (a->n + a->halo) * a->bytes;
        TRY(echi_allocate(a->ctx, a->x.bytes, "a vector", &a->x.pointer));
    }
    if (!a->y.pointer) {
        a->y.bytes = a->n * a->bytes;
        TRY(echi_allocate(a->ctx, a->y.bytes, "a vector", &a->y.pointer));
    }
done:
    return status;
}

static ech_status multiply(ech_dist_csr *a, double alpha, const void *x, double beta, void *y)
{
    const struct echi_linear_number numbers[] = { { "alpha", alpha }, { "beta", beta } };
    ech_status status = ECH_OK, step;
    TRY(echi_linear_same(a->ctx, a->comm, "ech_dist_spmv", numbers, 2));
    status = make_vectors(a);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    step = echi_linear_move(a, x, a->given, a->x.pointer, a->first, a->bytes, &status);
    if (step == ECH_OK && beta != 0)
        step = echi_linear_move(a, y, a->given, a->y.pointer, a->first, a->bytes, &status);
    if (step == ECH_OK)
        step = echi_linear_product(a, alpha, a->x.pointer, beta, a->y.pointer, &status);
    if (step == ECH_OK)
        step = echi_linear_move(a, a->y.pointer, a->first, y, a->given, a->bytes, &status);
    if (step != ECH_OK) status = step;
done:
    return status;
}

ech_status ech_dist_spmv(ech_ctx *ctx, ech_comm *comm, double alpha, ech_dist_csr *a, const void *x,
                         double beta, void *y)
{
    static const char *const names[] = { "the number of the call that made the matrix", NULL };
    struct echi_dist d;
    ech_status status = echi_linear_check(ctx, comm, a);
    if (status == ECH_OK && a->given[a->rank] < a->given[a->rank + 1] && (!x || !y))
        status = echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", x ? "y" : "x");
    struct echi_comm_call call = { .name = "ech_dist_spmv",
                                   .option = { status == ECH_OK ? a->serial : 0 } };
    status = echi_dist_begin(&d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    return echi_dist_end(&d, multiply(a, alpha, x, beta, y));
}
