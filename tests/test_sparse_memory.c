/*
 * test_sparse_memory.c - the workspace of each call on sparse matrices: the size that the query
 * returns suffices, one byte less is rejected, and a failed allocation is reported without leaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_case.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES = 16, NAME_BYTES = 64, ROWS = 100, LENGTH = 7, COLUMNS = 3 };

enum call { SPMV, SPMM, FROM_COO, TRANSPOSE, DIAGONAL, CHECK_IT, CALLS };

static const char *const names[CALLS] = {
    "spmv", "spmm", "from_coo", "transpose", "diagonal", "check",
};

/* A square matrix, its entries as arguments of ech_csr_from_coo(), vectors, and memory for a
 * result. */
struct data {
    struct sparse m;
    struct sparse_copy a;
    struct buffer rows, x, y, entries, offsets, columns, values;
    ech_csr out;
};

static bool make(struct data *d, ech_ctx *ctx)
{
    enum { N = ROWS * LENGTH };
    static double zeros[ROWS * COLUMNS];
    static uint64_t rows[N];
    ech_ctx *place = sparse_place(ctx, 0, 0);
    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < N; i++) rows[i] = i / LENGTH;
    if (!CHECK(sparse_make(&d->m, ROWS, ROWS, ECH_I64, ECH_F64, "7", "small", 3)) ||
        !sparse_copy_make(&d->a, ctx, &d->m, 0, 0) ||
        !integers_make(&d->rows, place, rows, N, ECH_I64, 0) ||
        !numbers_make(&d->x, place, zeros, ROWS * COLUMNS, ECH_F64, 0) ||
        !numbers_make(&d->y, place, zeros, ROWS * COLUMNS, ECH_F64, 0) ||
        !buffer_make(&d->entries, place, 8, 0) ||
        !buffer_make(&d->offsets, place, (ROWS + 1) * 8, 0) ||
        !buffer_make(&d->columns, place, N * 8, 0) || !buffer_make(&d->values, place, N * 8, 0))
        return false;
    d->out = d->a.csr;
    d->out.row_offsets = d->offsets.data;
    d->out.col_indices = d->columns.data;
    d->out.values = d->values.data;
    return true;
}

static void drop(struct data *d)
{
    struct buffer *all[] = { &d->rows,    &d->x,       &d->y,     &d->entries,
                             &d->offsets, &d->columns, &d->values };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
    sparse_copy_free(&d->a);
    sparse_free(&d->m);
}

static ech_status run(ech_ctx *ctx, struct data *d, enum call call, const ech_csr_options *o)
{
    const ech_csr *a = &d->a.csr;
    switch (call) {
    case SPMV:
        return ech_spmv(ctx, 1, a, d->x.data, 0, d->y.data, o);
    case SPMM:
        return ech_spmm(ctx, 1, a, COLUMNS, d->x.data, COLUMNS, 0, d->y.data, COLUMNS, o);
    case FROM_COO:
        return ech_csr_from_coo(ctx, d->rows.data, a->col_indices, a->values, &d->out,
                                (uint64_t *)(void *)d->entries.data, a->nnz, o);
    case TRANSPOSE:
        return ech_csr_transpose(ctx, a, &d->out, o);
    case DIAGONAL:
        return ech_csr_diagonal(ctx, a, d->y.data);
    default:
        return ech_csr_check(ctx, a, 0);
    }
}

static size_t workspace(ech_ctx *ctx, struct data *d, enum call call)
{
    static const ech_csr_call calls[] = { ECH_CSR_CALL_SPMV, ECH_CSR_CALL_SPMM,
                                          ECH_CSR_CALL_FROM_COO, ECH_CSR_CALL_TRANSPOSE };
    size_t bytes = 0;
    if (call < sizeof calls / sizeof *calls)
        CHECK_STATUS(ech_csr_workspace(ech_device_name(ctx), calls[call], &d->a.csr,
                                       calls[call] == ECH_CSR_CALL_SPMM ? 3 : ROWS * LENGTH, NULL,
                                       &bytes),
                     ECH_OK);
    return bytes;
}

static void *allocate_none(void *user, size_t bytes, void *stream)
{
    (void)bytes;
    (void)stream;
    ++*(int *)user;
    return NULL;
}

static void release_none(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

/* A workspace of the size that the query returns, then one byte less. */
static void short_workspace(ech_ctx *ctx, struct data *d, enum call call)
{
    ech_csr_options o = { .size = sizeof o, .work_bytes = workspace(ctx, d, call) };
    struct buffer work = { 0 };
    if (o.work_bytes == 0) { /* the call needs no workspace */
        CHECK_STATUS(run(ctx, d, call, NULL), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        return;
    }
    if (!CHECK(buffer_make(&work, sparse_place(ctx, 0, 0), o.work_bytes, 0))) return;
    o.work = work.data;
    CHECK_STATUS(run(ctx, d, call, &o), ECH_OK);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    buffer_check_guards(&work, "work");
    o.work_bytes--;
    CHECK_FAILS(ctx, run(ctx, d, call, &o), ECH_ERR_MEMORY, "work_bytes");
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    buffer_free(&work);
}

/* Host arrays and an allocator that always fails. Calls that allocate memory report the failure; on
 * a GPU these are all calls, because they copy their arrays. Later calls succeed. */
static void no_memory(ech_ctx *ctx, struct data *d, enum call call)
{
    int asked = 0;
    const ech_allocator none = { sizeof(ech_allocator), allocate_none, release_none, &asked };
    uint64_t before, after;
    ech_memory_usage(ctx, 0, &before, NULL);
    ech_trim(ctx);
    if (!CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK)) return;
    const ech_status status = run(ctx, d, call, NULL);
    CHECK_INT(status, asked ? ECH_ERR_MEMORY : ECH_OK);
    CHECK(asked || (test_is_cpu(ctx) && workspace(ctx, d, call) == 0));
    CHECK(!asked || strstr(ech_error(ctx), "memory"));
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    CHECK_STATUS(run(ctx, d, call, NULL), ECH_OK);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    ech_trim(ctx);
    ech_memory_usage(ctx, 0, &after, NULL);
    CHECK(after <= before);
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    ech_ctx *ctx;
    test_main(argc, argv);
    for (int i = 0; i < DEVICES && test_device(i, name, sizeof name); i++) {
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
            return 1;
        }
        for (int call = 0; call < CALLS; call++) {
            struct data d;
            if (test_begin("short(%s,%s)", names[call], name)) {
                if (make(&d, ctx)) short_workspace(ctx, &d, (enum call)call);
                drop(&d);
                test_end();
            }
            if (test_begin("none(%s,%s)", names[call], name)) {
                if (make(&d, NULL)) no_memory(ctx, &d, (enum call)call);
                drop(&d);
                test_end();
            }
        }
        ech_close(ctx);
    }
    return test_finish();
}
