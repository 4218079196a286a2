/*
 * dist/linear/create.c - ech_dist_csr_create(): moves rows to the boundaries of granules, numbers
 * the columns of a rank, and finds what each rank needs of the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/cpu.h"
#include "dist/linear/linear.h"
#include "solve/step.h"

#include <stdlib.h>
#include <string.h>

/* What create needs only while it runs; arrays in host memory. */
struct making {
    struct echi_dist d;
    ech_dist_csr *a;
    ech_csr in;              /* of the caller */
    uint64_t *lengths;       /* [rows] of the caller's rows, then [n] of the rank's */
    uint64_t *offsets;       /* [n + 1] */
    uint64_t *entries_given; /* [ranks + 1] entries before each rank */
    uint64_t *entries_first;
    void *columns;         /* of the caller, of the rank's rows */
    bool borrowed;         /* columns belongs to the caller */
    void *numbered;        /* the columns as positions in x */
    uint64_t *ids;         /* [halo] */
    uint64_t *asked;       /* [send_first[ranks]] positions that other ranks need */
    unsigned char *remote; /* [n] */
};

static bool on_cpu(const ech_dist_csr *a)
{
    return a->ctx->backend == &echi_cpu;
}

static ech_status no_memory(ech_ctx *ctx)
{
    return echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for a distributed matrix");
}

ech_status echi_linear_allocate(ech_dist_csr *a, size_t bytes, const char *what, void **pointer)
{
    const ech_status status = echi_allocate(a->ctx, bytes, what, pointer);
    if (status == ECH_OK && bytes)
        a->array[a->arrays++] = (struct echi_linear_memory){ *pointer, bytes };
    return status;
}

/* A move, whose failure on this rank stays in status until the next agreement. */
#define MOVE(a, in, in_first, out, out_first, bytes)                                               \
    do {                                                                                           \
        const ech_status step = echi_linear_move(a, in, in_first, out, out_first, bytes, &status); \
        if (step != ECH_OK) {                                                                      \
            status = step;                                                                         \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* ---- Divisions ---- */

/* The rows of a granule: whole items of the largest possible size (solve/step.h), so that the
 * partial sums of a rank are aligned subtrees of those of the whole vector. */
static uint64_t granule_of(uint64_t total, size_t bytes)
{
    const uint64_t chunk = (uint64_t)(ECHI_SOLVE_LINE_BYTES * ECHI_SOLVE_LINES) / bytes;
    return chunk * echi_solve_item_chunks(echi_solve_chunks(total, (int)bytes));
}

static void divide(ech_dist_csr *a)
{
    const uint64_t granule = granule_of(a->total, a->bytes);
    a->first[0] = 0;
    for (int r = 1; r <= a->ranks; r++) {
        const uint64_t rest = a->given[r] % granule;
        a->first[r] = a->given[r] - rest + (rest > granule / 2 ? granule : 0);
        if (r == a->ranks || a->first[r] > a->total) a->first[r] = a->total;
    }
    for (int r = 0; r <= a->ranks; r++) a->moved |= a->first[r] != a->given[r];
    a->n = (size_t)(a->first[a->rank + 1] - a->first[a->rank]);
}

/* ---- The rows of this rank ---- */

static uint64_t index_at(const void *array, size_t bytes, size_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

/* Reads the caller's offsets; lengths receives the number of entries of each row. */
static ech_status read_lengths(struct making *m)
{
    const ech_csr *in = &m->in;
    const size_t bytes = ech_dtype_bytes(in->index_dtype);
    ech_ctx *ctx = m->a->ctx;
    ech_status status;
    void *offsets = malloc((in->rows + 1) * bytes);
    m->lengths = malloc((in->rows + 1) * sizeof *m->lengths);
    if (!offsets || !m->lengths) FAIL(ctx, ECH_ERR_MEMORY, "out of memory for %zu rows", in->rows);
    TRY(ech_copy(ctx, offsets, in->row_offsets, (in->rows + 1) * bytes));
    if (index_at(offsets, bytes, 0) != 0)
        FAIL(ctx, ECH_ERR_ARG, "rows->row_offsets[0] is %llu, not 0",
             (unsigned long long)index_at(offsets, bytes, 0));
    for (size_t i = 0; i < in->rows; i++) {
        const uint64_t begin = index_at(offsets, bytes, i), end = index_at(offsets, bytes, i + 1);
        if (end < begin || end > in->nnz)
            FAIL(ctx, ECH_ERR_ARG,
                 "rows->row_offsets[%zu] is %llu: less than the one before, or "
                 "more than nnz, %zu",
                 i + 1, (unsigned long long)end, in->nnz);
        m->lengths[i] = end - begin;
    }
    if (index_at(offsets, bytes, in->rows) != in->nnz)
        FAIL(ctx, ECH_ERR_ARG, "rows->row_offsets[%zu] is %llu, but nnz is %zu", in->rows,
             (unsigned long long)index_at(offsets, bytes, in->rows), in->nnz);
done:
    free(offsets);
    return status;
}

/* Moves the lengths of rows; computes the offsets of this rank and the entries of all ranks. */
static ech_status move_lengths(struct making *m)
{
    ech_dist_csr *a = m->a;
    uint64_t *moved = malloc((a->n + 1) * sizeof *moved), own = 0;
    uint64_t *all = calloc((size_t)a->ranks, sizeof *all);
    m->offsets = malloc((a->n + 1) * sizeof *m->offsets);
    m->remote = calloc(a->n + 1, 1);
    ech_status status = moved && all && m->offsets && m->remote ? ECH_OK : no_memory(a->ctx);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    MOVE(a, m->lengths, a->given, moved, a->first, sizeof *moved);
    for (size_t i = 0; i < a->n; i++) {
        m->offsets[i] = own;
        own += moved[i];
    }
    m->offsets[a->n] = own;
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    TRY(echi_comm_allgather(a->ctx, a->comm, &own, all, sizeof own));
    for (int r = 0; r < a->ranks; r++) m->entries_first[r + 1] = m->entries_first[r] + all[r];
done:
    free(moved);
    free(all);
    return status;
}

/* The columns and values of this rank's rows. */
static ech_status move_entries(struct making *m)
{
    ech_dist_csr *a = m->a;
    const size_t index = ech_dtype_bytes(m->in.index_dtype);
    const size_t nnz = (size_t)m->offsets[a->n];
    enum echi_side side = ECHI_HOST;
    ech_status status = ECH_OK;
    if (m->in.nnz && !on_cpu(a))
        status = a->ctx->backend->side(a->ctx, m->in.col_indices, &side, NULL);
    m->borrowed = !a->moved && side == ECHI_HOST;
    m->columns = m->borrowed ? m->in.col_indices : malloc((nnz + 1) * index);
    if (status == ECH_OK && !m->columns && nnz) status = no_memory(a->ctx);
    if (status == ECH_OK)
        status = echi_linear_allocate(a, nnz * a->bytes, "the values of a distributed matrix",
                                      &a->csr.values);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    if (!m->borrowed)
        MOVE(a, m->in.col_indices, m->entries_given, m->columns, m->entries_first, index);
    MOVE(a, m->in.values, m->entries_given, a->csr.values, m->entries_first, a->bytes);
    a->csr.nnz = nnz;
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
done:
    return status;
}

/* ---- What ranks need of each other ---- */

/* Exchanges the numbers of elements, then their positions. */
static ech_status ask(struct making *m)
{
    ech_dist_csr *a = m->a;
    const size_t ranks = (size_t)a->ranks;
    uint64_t *counts = calloc(2 * ranks, sizeof *counts);
    ech_comm_message *to = a->messages, *from = to + ranks;
    ech_status status = counts ? ECH_OK : no_memory(a->ctx);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    for (size_t r = 0; r < ranks; r++) {
        counts[r] = a->halo_first[r + 1] - a->halo_first[r];
        to[r] = (ech_comm_message){ &counts[r], sizeof *counts, (int64_t)r };
        from[r] = (ech_comm_message){ &counts[ranks + r], sizeof *counts, (int64_t)r };
    }
    TRY(echi_comm_exchange(a->ctx, a->comm, to, ranks, from, ranks));
    for (size_t r = 0; r < ranks; r++) a->send_first[r + 1] = a->send_first[r] + counts[ranks + r];
    m->asked = malloc((size_t)(a->send_first[ranks] + 1) * sizeof *m->asked);
    if (!m->asked) status = no_memory(a->ctx);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    for (size_t r = 0; r < ranks; r++) {
        to[r] = (ech_comm_message){ m->ids + a->halo_first[r], counts[r] * 8, (int64_t)r };
        from[r] =
            (ech_comm_message){ m->asked + a->send_first[r], counts[ranks + r] * 8, (int64_t)r };
    }
    TRY(echi_comm_exchange(a->ctx, a->comm, to, ranks, from, ranks));
done:
    free(counts);
    return status;
}

/* Copies an array of u64 in host memory to the device as indices of 4 or 8 bytes. */
static ech_status put_indices(ech_dist_csr *a, uint64_t *from, size_t n, size_t bytes,
                              const char *what, void **to)
{
    ech_status status;
    TRY(echi_linear_allocate(a, n * bytes, what, to));
    if (bytes == 4) {
        uint32_t *narrow = (uint32_t *)(void *)from; /* in place, forwards */
        for (size_t i = 0; i < n; i++) {
            const uint32_t value = (uint32_t)from[i];
            memcpy(narrow + i, &value, sizeof value);
        }
    }
    TRY(ech_copy(a->ctx, *to, from, n * bytes));
done:
    return status;
}

static ech_status make_sends(struct making *m)
{
    ech_dist_csr *a = m->a;
    const size_t n = (size_t)a->send_first[a->ranks];
    ech_status status;
    a->send_dtype = a->n <= UINT32_MAX ? ECH_U32 : ECH_U64;
    for (size_t i = 0; i < n; i++) m->asked[i] -= a->first[a->rank];
    TRY(put_indices(a, m->asked, n, ech_dtype_bytes(a->send_dtype), "the boundary",
                    &a->send_index));
    TRY(echi_linear_allocate(a, n * a->bytes, "the boundary", &a->send));
done:
    return status;
}

/* ---- Parts ---- */

/* The longest sequence of rows that do not need the halo. */
static void find_interior(const struct making *m, size_t *from, size_t *to)
{
    const size_t n = m->a->n;
    *from = *to = 0;
    for (size_t i = 0, begin = 0; i <= n; i++) {
        if (i < n && !m->remote[i]) continue;
        if (i - begin > *to - *from) {
            *from = begin;
            *to = i;
        }
        begin = i + 1;
    }
}

static ech_status make_part(struct making *m, struct echi_linear_part *part, size_t from, size_t to,
                            void *offsets)
{
    ech_dist_csr *a = m->a;
    const size_t index = ech_dtype_bytes(a->csr.index_dtype), begin = (size_t)m->offsets[from];
    ech_csr *csr = &part->csr;
    ech_status status;
    part->row = from;
    *csr = a->csr;
    csr->rows = to - from;
    csr->nnz = (size_t)m->offsets[to] - begin;
    csr->row_offsets = offsets;
    csr->col_indices = echi_after(a->csr.col_indices, begin * index);
    csr->values = echi_after(a->csr.values, begin * a->bytes);
    TRY(ech_csr_workspace(ech_device_name(a->ctx), ECH_CSR_CALL_SPMV, csr, 1, NULL,
                          &part->work.bytes));
    TRY(echi_allocate(a->ctx, part->work.bytes, "a product", &part->work.pointer));
done:
    return status;
}

/* Offsets of all rows, then those of each part, which begin with 0. */
static ech_status make_parts(struct making *m)
{
    ech_dist_csr *a = m->a;
    const size_t index = ech_dtype_bytes(a->csr.index_dtype);
    const size_t all = 2 * (a->n + 1) + ECHI_LINEAR_PARTS - 1;
    size_t cut[ECHI_LINEAR_PARTS + 1] = { 0, 0, 0, a->n }, at = a->n + 1;
    uint64_t *offsets = malloc(all * sizeof *offsets);
    void *memory = NULL;
    ech_status status;
    if (!offsets) {
        status = no_memory(a->ctx);
        goto done;
    }
    find_interior(m, &cut[1], &cut[2]);
    memcpy(offsets, m->offsets, (a->n + 1) * sizeof *offsets);
    for (int p = 0; p < ECHI_LINEAR_PARTS; p++)
        for (size_t i = cut[p]; i <= cut[p + 1]; i++)
            offsets[at++] = m->offsets[i] - m->offsets[cut[p]];
    TRY(put_indices(a, offsets, all, index, "the rows of a distributed matrix", &memory));
    a->csr.row_offsets = memory;
    at = a->n + 1;
    for (int p = 0; p < ECHI_LINEAR_PARTS; p++) {
        TRY(make_part(m, &a->part[p], cut[p], cut[p + 1], echi_after(memory, at * index)));
        at += cut[p + 1] - cut[p] + 1;
    }
done:
    free(offsets);
    return status;
}

/* A second context of the device, for the interior, if there is something to overlap. */
static ech_status open_side(ech_dist_csr *a)
{
    const size_t elements = (size_t)a->send_first[a->ranks] + a->halo;
    ech_status status = ECH_OK;
    if (!elements || a->part[1].csr.nnz < ECHI_LINEAR_OVERLAP) return ECH_OK;
    /* one thread: a second one would compete with the exchange, which waits actively */
    if (on_cpu(a) && echi_threads(a->ctx) == 1) return ECH_OK;
    if (ech_open(&a->side, ech_device_name(a->ctx)) != ECH_OK)
        FAIL(a->ctx, ECH_ERR_MEMORY, "a second context: %s", ech_error(NULL));
    if (!on_cpu(a) && (status = ech_set_private_stream(a->side)) != ECH_OK)
        status = echi_fail(a->ctx, status, "a second context: %s", ech_error(a->side));
    if (on_cpu(a)) status = ech_set_threads(a->side, a->ctx->threads);
done:
    return status;
}

/* ---- The call ---- */

/* Sets the matrix of this rank after its columns have been numbered. */
static ech_status finish(struct making *m)
{
    ech_dist_csr *a = m->a;
    const size_t bytes = a->csr.nnz * ech_dtype_bytes(a->csr.index_dtype);
    ech_status status;
    if (!on_cpu(a)) {
        TRY(echi_linear_allocate(a, bytes, "the columns of a distributed matrix",
                                 &a->csr.col_indices));
        TRY(ech_copy(a->ctx, a->csr.col_indices, m->numbered, bytes));
    }
    TRY(make_parts(m));
    TRY(make_sends(m));
    TRY(open_side(a));
done:
    return status;
}

static ech_status make(struct making *m)
{
    ech_dist_csr *a = m->a;
    struct echi_linear_columns in;
    const size_t ranks = (size_t)a->ranks;
    ech_status status = ECH_OK;
    a->given = malloc((ranks + 1) * sizeof *a->given);
    a->first = malloc((ranks + 1) * sizeof *a->first);
    a->halo_first = calloc(ranks + 1, sizeof *a->halo_first);
    a->send_first = calloc(ranks + 1, sizeof *a->send_first);
    a->messages = calloc(2 * ranks, sizeof *a->messages);
    m->entries_given = calloc(ranks + 1, sizeof *m->entries_given);
    m->entries_first = calloc(ranks + 1, sizeof *m->entries_first);
    if (!a->given || !a->first || !a->halo_first || !a->send_first || !a->messages ||
        !m->entries_given || !m->entries_first)
        status = no_memory(a->ctx);
    if (status == ECH_OK) {
        memcpy(a->given, m->d.in_first, (ranks + 1) * sizeof *a->given);
        for (size_t r = 0; r < ranks; r++)
            m->entries_given[r + 1] = m->entries_given[r] + a->comm->calls[r].n_out;
        divide(a);
        status = read_lengths(m);
    }
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    TRY(move_lengths(m));
    TRY(move_entries(m));
    in = (struct echi_linear_columns){ m->offsets, m->columns, m->in.index_dtype };
    status = echi_linear_renumber(a, &in, &m->numbered, &m->ids, m->remote);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    TRY(ask(m));
    TRY(finish(m));
done:
    return status;
}

static ech_status check(ech_ctx *ctx, const ech_csr *rows, ech_dist_csr *const *a, ech_csr *in)
{
    ech_status status;
    if (!a) return echi_fail(ctx, ECH_ERR_ARG, "a is NULL");
    if (!rows) return echi_fail(ctx, ECH_ERR_ARG, "rows is NULL");
    TRY(echi_read_struct(ctx, "rows", "ech_csr", rows, in, sizeof *in));
    in->index_dtype = echi_csr_index_dtype(in->index_dtype);
    if (in->index_dtype != ECH_I32 && in->index_dtype != ECH_I64)
        FAIL(ctx, ECH_ERR_ARG, "rows->index_dtype is %s, not i32, u32, i64 or u64",
             ech_dtype_name(in->index_dtype));
    if (in->dtype != ECH_F32 && in->dtype != ECH_F64)
        FAIL(ctx, ECH_ERR_ARG, "rows->dtype is %s, not f32 or f64", ech_dtype_name(in->dtype));
    TRY(echi_check_count(ctx, "rows->rows", in->rows, 32));
    TRY(echi_check_count(ctx, "rows->nnz", in->nnz, 32));
    if (!in->row_offsets) FAIL(ctx, ECH_ERR_ARG, "rows->row_offsets is NULL");
    if (in->nnz && !in->col_indices) FAIL(ctx, ECH_ERR_ARG, "rows->col_indices is NULL");
    if (in->nnz && !in->values) FAIL(ctx, ECH_ERR_ARG, "rows->values is NULL");
done:
    return status;
}

static void release(struct making *m)
{
    free(m->lengths);
    free(m->offsets);
    free(m->entries_given);
    free(m->entries_first);
    if (!m->borrowed) free(m->columns);
    if (m->a && !on_cpu(m->a)) free(m->numbered);
    free(m->ids);
    free(m->asked);
    free(m->remote);
}

ech_status ech_dist_csr_create(ech_ctx *ctx, ech_comm *comm, const ech_csr *rows, ech_dist_csr **a)
{
    static const char *const names[] = { "rows->cols", "rows->dtype", "rows->index_dtype", NULL };
    struct making m = { .a = NULL };
    if (a) *a = NULL;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!comm) return echi_fail(ctx, ECH_ERR_ARG, "comm is NULL");
    ech_status status = check(ctx, rows, a, &m.in);
    m.a = calloc(1, sizeof *m.a);
    if (status == ECH_OK && !m.a)
        status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for a matrix");
    struct echi_comm_call call = { .name = "ech_dist_csr_create",
                                   .option = { m.in.cols, (uint64_t)m.in.dtype,
                                               (uint64_t)m.in.index_dtype },
                                   .n = m.in.rows,
                                   .n_out = m.in.nnz };
    status = echi_dist_begin(&m.d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK || !m.a) goto failed;
    m.a->ctx = ctx;
    m.a->comm = comm;
    m.a->rank = m.d.rank;
    m.a->ranks = m.d.ranks;
    m.a->serial = comm->sequence;
    m.a->total = m.d.total;
    m.a->dtype = m.in.dtype;
    m.a->bytes = ech_dtype_bytes(m.in.dtype);
    if (m.d.total != m.in.cols) /* the same on all ranks */
        status = echi_fail(ctx, ECH_ERR_ARG,
                           "the ranks have %llu rows, but rows->cols is %zu: the "
                           "matrix must be square",
                           (unsigned long long)m.d.total, m.in.cols);
    if (status == ECH_OK) status = make(&m);
    release(&m);
    status = echi_dist_end(&m.d, status);
    if (status == ECH_OK && a) {
        *a = m.a;
        return ECH_OK;
    }
failed:
    ech_dist_csr_free(m.a);
    return status;
}

void ech_dist_csr_free(ech_dist_csr *a)
{
    if (!a) return;
    ech_close(a->side);
    for (int p = 0; p < ECHI_LINEAR_PARTS; p++)
        echi_release(a->ctx, a->part[p].work.pointer, a->part[p].work.bytes);
    if (a->ctx) {
        echi_release(a->ctx, a->x.pointer, a->x.bytes);
        echi_release(a->ctx, a->y.pointer, a->y.bytes);
    }
    for (int i = 0; i < a->arrays; i++)
        echi_release(a->ctx, a->array[i].pointer, a->array[i].bytes);
    free(a->given);
    free(a->first);
    free(a->halo_first);
    free(a->send_first);
    free(a->messages);
    free(a);
}
