/*
 * dist/call.c - the begin and the end of a distributed call, its workspace, and even shares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/dist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shares ---- */

uint64_t ech_dist_even_share(uint64_t total, int rank, int ranks)
{
    if (rank < 0 || rank >= ranks) return 0;
    return total / (uint64_t)ranks + ((uint64_t)rank < total % (uint64_t)ranks);
}

void echi_dist_even(uint64_t total, int ranks, uint64_t *first)
{
    first[0] = 0;
    for (int r = 0; r < ranks; r++) first[r + 1] = first[r] + ech_dist_even_share(total, r, ranks);
}

int echi_dist_owner(const struct echi_dist *d, const uint64_t *first, uint64_t position)
{
    int low = 0, high = d->ranks; /* first[low] <= position < first[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (first[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- Begin ---- */

static ech_status add_inputs(struct echi_dist *d)
{
    for (int r = 0; r < d->ranks; r++)
        if (__builtin_add_overflow(d->in_first[r], d->comm->calls[r].n, &d->in_first[r + 1]) ||
            d->in_first[r + 1] > INT64_MAX)
            return echi_fail(d->ctx, ECH_ERR_ARG, "n of all ranks together overflows 63 bits");
    d->total = d->in_first[d->ranks];
    return ECH_OK;
}

static ech_status add_outputs(struct echi_dist *d)
{
    const struct echi_comm_call *calls = d->comm->calls;
    int even = 0;
    for (int r = 0; r < d->ranks; r++) even += calls[r].n_out == ECH_DIST_EVEN;
    if (even == d->ranks) {
        echi_dist_even(d->total, d->ranks, d->out_first);
        return ECH_OK;
    }
    for (int r = 0; r < d->ranks; r++) {
        if (calls[r].n_out == ECH_DIST_EVEN)
            return echi_fail(d->ctx, ECH_ERR_ARG,
                             "n_out is ECH_DIST_EVEN on rank %d, but not on all ranks", r);
        if (__builtin_add_overflow(d->out_first[r], calls[r].n_out, &d->out_first[r + 1]))
            d->out_first[r + 1] = UINT64_MAX;
    }
    if (d->out_first[d->ranks] == d->total) return ECH_OK;
    return echi_fail(d->ctx, ECH_ERR_ARG,
                     "n_out of all ranks together is %llu, but the result has %llu elements",
                     (unsigned long long)d->out_first[d->ranks], (unsigned long long)d->total);
}

ech_status echi_dist_begin(struct echi_dist *d, ech_ctx *ctx, ech_comm *comm,
                           struct echi_comm_call *call, const char *const *names,
                           ech_status checked, bool shares)
{
    *d = (struct echi_dist){ .ctx = ctx, .comm = comm };
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!comm) return echi_fail(ctx, ECH_ERR_ARG, "comm is NULL");
    d->rank = comm->table.rank;
    d->ranks = comm->table.ranks;
    d->in_first = calloc((size_t)d->ranks + 1, sizeof *d->in_first);
    d->out_first = calloc((size_t)d->ranks + 1, sizeof *d->out_first);
    d->messages = calloc(2 * (size_t)d->ranks, sizeof *d->messages);
    if (checked == ECH_OK && (!d->in_first || !d->out_first || !d->messages))
        checked = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    ech_status status = echi_comm_begin(ctx, comm, call, names, checked);
    if (status == ECH_OK) status = add_inputs(d);
    if (status == ECH_OK && shares) status = add_outputs(d);
    if (status != ECH_OK) echi_dist_release(d);
    return status;
}

/* ---- Work and end ---- */

ech_status echi_dist_work(struct echi_dist *d, const char *what, size_t bytes, void *work,
                          size_t work_bytes)
{
    if (work_bytes) {
        if (work_bytes < bytes)
            return echi_fail(d->ctx, ECH_ERR_MEMORY,
                             "options->work_bytes is %zu, but %s needs %zu bytes", work_bytes, what,
                             bytes);
        d->work = work;
        return ECH_OK;
    }
    const ech_status status = echi_allocate(d->ctx, bytes, what, &d->work);
    if (status == ECH_OK) {
        d->work_bytes = bytes;
        d->borrowed = true;
    }
    return status;
}

ech_status echi_dist_no_work(ech_ctx *ctx, const void *work)
{
    if (!work) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                     "options->work is given, but this call allocates its workspace");
}

ech_status echi_dist_check_work(ech_ctx *ctx, const char *what, size_t bytes, size_t work_bytes)
{
    if (work_bytes == 0 || work_bytes >= bytes) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_MEMORY, "options->work_bytes is %zu, but %s needs %zu bytes",
                     work_bytes, what, bytes);
}

void echi_dist_lend(struct echi_dist *d, void *work, size_t work_bytes)
{
    if (work_bytes == 0) return;
    d->arena = (struct echi_arena){ .base = work, .bytes = work_bytes };
    d->ctx->arena = &d->arena;
}

void echi_dist_release(struct echi_dist *d)
{
    if (d->borrowed) echi_release(d->ctx, d->work, d->work_bytes);
    if (d->ctx->arena == &d->arena) d->ctx->arena = NULL;
    d->borrowed = false;
    free(d->in_first);
    free(d->out_first);
    free(d->messages);
    d->in_first = d->out_first = NULL;
    d->messages = NULL;
}

ech_status echi_dist_end(struct echi_dist *d, ech_status status)
{
    if (status == ECH_OK) status = ech_sync(d->ctx); /* errors of queued work count, too */
    status = echi_comm_agree(d->ctx, d->comm, status, NULL, 0);
    echi_dist_release(d);
    return status;
}

/* ---- The size of a workspace ---- */

struct echi_need echi_need_begin(const char *device, int ranks, size_t *bytes)
{
    const struct echi_backend *backend = NULL;
    struct echi_need need = { .device = device, .status = ECH_OK };
    if (!bytes)
        need.status = echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    else if (ranks < 1)
        need.status = echi_fail(NULL, ECH_ERR_ARG, "ranks is %d, less than 1", ranks);
    else
        need.status = echi_backend_ask(device, &backend);
    if (bytes) *bytes = 0;
    need.copies = backend != &echi_cpu;
    return need;
}

size_t echi_need_product(size_t count, size_t bytes)
{
    size_t all;
    return __builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all;
}

void echi_need_step(struct echi_need *need, size_t work, size_t copy, size_t second)
{
    struct echi_layout step = { .base = NULL };
    echi_part(&step, work, 1);
    if (need->copies) {
        echi_part(&step, copy, 1);
        echi_part(&step, second, 1);
    }
    if (step.bytes > need->largest.bytes) need->largest.bytes = step.bytes;
    need->largest.overflow |= step.overflow;
}

ech_status echi_need_end(struct echi_need *need, size_t *bytes)
{
    if (need->status != ECH_OK) return need->status;
    echi_part(&need->kept, need->largest.bytes, 1);
    if (need->kept.overflow || need->largest.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    *bytes = need->kept.bytes;
    return ECH_OK;
}

/* ---- The layout of an array ---- */

ech_status ech_dist_share(ech_comm *comm, uint64_t n, ech_dist_layout *layout)
{
    struct echi_comm_call call = { .name = "ech_dist_share", .n = n };
    if (!comm) return echi_fail(NULL, ECH_ERR_ARG, "comm is NULL");
    ech_status status =
        layout ? echi_check_size(NULL, "layout", "ech_dist_layout", layout->size, sizeof *layout)
               : echi_fail(NULL, ECH_ERR_ARG, "layout is NULL");
    status = echi_comm_begin(NULL, comm, &call, NULL, status);
    if (status != ECH_OK) return status;
    ech_dist_layout l = { .size = sizeof l };
    const int rank = comm->table.rank, ranks = comm->table.ranks;
    for (int r = 0; r < ranks; r++) {
        if (r == rank) l.first = l.total;
        if (__builtin_add_overflow(l.total, comm->calls[r].n, &l.total) || l.total > INT64_MAX)
            return echi_fail(NULL, ECH_ERR_ARG, "n of all ranks together overflows 63 bits");
    }
    l.n_out = ech_dist_even_share(l.total, rank, ranks);
    for (int r = 0; r < rank; r++) l.out_first += ech_dist_even_share(l.total, r, ranks);
    echi_write_struct(&l, sizeof l, layout);
    return ECH_OK;
}
