/*
 * dist/linear/renumber.c - the columns of a rank's rows as positions in its x: own elements first,
 * then those of other ranks, by ascending column.
 *
 * Threads process blocks of rows twice: the first pass collects the columns of other ranks, which
 * are then sorted; the second one numbers all columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/cpu.h"
#include "dist/linear/linear.h"

#include <stdlib.h>

struct job {
    ech_dist_csr *a;
    const struct echi_linear_columns *in;
    size_t index_bytes, out_bytes;
    uint64_t own, end; /* columns of this rank */
    uint64_t *outside; /* the columns of other ranks, by block */
    uint64_t *before;  /* [blocks + 1] those before each block */
    const uint64_t *ids;
    void *out;
    unsigned char *remote;
    _Atomic uint64_t bad; /* the first entry whose column is not in the matrix */
};

static uint64_t column_of(const struct job *job, uint64_t i)
{
    return job->index_bytes == 4 ? ((const uint32_t *)job->in->columns)[i]
                                 : ((const uint64_t *)job->in->columns)[i];
}

static bool is_outside(const struct job *job, uint64_t column)
{
    return column < job->own || column >= job->end;
}

static void block_rows(const struct job *job, size_t block, size_t *from, size_t *to)
{
    *from = block * ECHI_LINEAR_BLOCK_ROWS;
    *to = *from + ECHI_LINEAR_BLOCK_ROWS;
    if (*to > job->a->n) *to = job->a->n;
}

static void note_bad(struct job *job, uint64_t entry)
{
    uint64_t before = atomic_load(&job->bad);
    while (entry < before && !atomic_compare_exchange_weak(&job->bad, &before, entry)) {
    }
}

static void count_block(void *arg, size_t block, int thread)
{
    struct job *job = arg;
    size_t from, to;
    uint64_t count = 0;
    (void)thread;
    block_rows(job, block, &from, &to);
    for (uint64_t i = job->in->offsets[from]; i < job->in->offsets[to]; i++) {
        const uint64_t column = column_of(job, i);
        if (column >= job->a->total) note_bad(job, i);
        count += is_outside(job, column);
    }
    job->before[block + 1] = count;
}

static void collect_block(void *arg, size_t block, int thread)
{
    const struct job *job = arg;
    size_t from, to;
    uint64_t at = job->before[block];
    (void)thread;
    block_rows(job, block, &from, &to);
    for (uint64_t i = job->in->offsets[from]; i < job->in->offsets[to]; i++) {
        const uint64_t column = column_of(job, i);
        if (is_outside(job, column)) job->outside[at++] = column;
    }
}

/* The position of a column of another rank in the halo. */
static uint64_t find(const struct job *job, uint64_t column)
{
    size_t low = 0, high = job->a->halo; /* ids[low] <= column < ids[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (job->ids[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void number_block(void *arg, size_t block, int thread)
{
    const struct job *job = arg;
    size_t from, to;
    (void)thread;
    block_rows(job, block, &from, &to);
    for (size_t row = from; row < to; row++)
        for (uint64_t i = job->in->offsets[row]; i < job->in->offsets[row + 1]; i++) {
            const uint64_t column = column_of(job, i);
            uint64_t number = column - job->own;
            if (is_outside(job, column)) {
                number = job->a->n + find(job, column);
                job->remote[row] = 1;
            }
            if (job->out_bytes == 4)
                ((uint32_t *)job->out)[i] = (uint32_t)number;
            else
                ((uint64_t *)job->out)[i] = number;
        }
}

static void run(const struct job *job, size_t blocks, void (*function)(void *, size_t, int),
                void *arg)
{
    const size_t bytes = (size_t)job->in->offsets[job->a->n] * job->index_bytes;
    echi_parallel(echi_parallel_for_bytes(job->a->ctx, bytes), blocks, function, arg);
}

/* Sorts the collected columns and removes duplicates; *ids then contains them. */
static ech_status sort_outside(struct job *job, size_t n, uint64_t **ids)
{
    ech_dist_csr *a = job->a;
    size_t distinct = 0;
    const ech_status status = ech_sort(a->ctx, job->outside, job->outside, n, ECH_U64, NULL);
    if (status != ECH_OK) return status;
    uint64_t *v = job->outside;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || v[i] != v[i - 1]) v[distinct++] = v[i];
    a->halo = distinct;
    job->ids = *ids = v;
    job->outside = NULL;
    for (size_t r = 0, i = 0; r < (size_t)a->ranks; r++) {
        while (i < distinct && v[i] < a->first[r + 1]) i++;
        a->halo_first[r + 1] = i;
    }
    return ECH_OK;
}

/* The array of numbers: that of the matrix on the CPU, otherwise a copy in host memory. */
static ech_status make_numbers(struct job *job, size_t nnz)
{
    ech_dist_csr *a = job->a;
    const bool narrow = a->n + a->halo <= INT32_MAX && nnz <= INT32_MAX;
    a->csr.size = sizeof a->csr;
    a->csr.rows = a->n;
    a->csr.cols = a->n + a->halo;
    a->csr.dtype = a->dtype;
    a->csr.index_dtype = narrow ? ECH_I32 : ECH_I64;
    job->out_bytes = narrow ? 4 : 8;
    if (a->ctx->backend == &echi_cpu) {
        const ech_status status = echi_linear_allocate(
            a, nnz * job->out_bytes, "the columns of a distributed matrix", &a->csr.col_indices);
        job->out = a->csr.col_indices;
        return status;
    }
    job->out = malloc((nnz + 1) * job->out_bytes);
    return job->out ? ECH_OK : echi_fail(a->ctx, ECH_ERR_MEMORY, "out of memory: %zu columns", nnz);
}

ech_status echi_linear_renumber(ech_dist_csr *a, const struct echi_linear_columns *in,
                                void **columns, uint64_t **ids, unsigned char *remote)
{
    const size_t blocks = (a->n + ECHI_LINEAR_BLOCK_ROWS - 1) / ECHI_LINEAR_BLOCK_ROWS;
    struct job job = { .a = a,
                       .in = in,
                       .index_bytes = ech_dtype_bytes(in->index_dtype),
                       .own = a->first[a->rank],
                       .end = a->first[a->rank + 1],
                       .before = calloc(blocks + 1, sizeof *job.before),
                       .remote = remote,
                       .bad = UINT64_MAX };
    ech_status status = ECH_OK;
    if (!job.before) FAIL(a->ctx, ECH_ERR_MEMORY, "out of memory: %zu rows", a->n);
    run(&job, blocks, count_block, &job);
    if (job.bad != UINT64_MAX)
        FAIL(a->ctx, ECH_ERR_ARG,
             "rows->col_indices has column %llu: not less than rows->cols, %llu",
             (unsigned long long)column_of(&job, job.bad), (unsigned long long)a->total);
    for (size_t b = 0; b < blocks; b++) job.before[b + 1] += job.before[b];
    job.outside = malloc((size_t)(job.before[blocks] + 1) * sizeof *job.outside);
    if (!job.outside)
        FAIL(a->ctx, ECH_ERR_MEMORY, "out of memory: %llu columns of other ranks",
             (unsigned long long)job.before[blocks]);
    run(&job, blocks, collect_block, &job);
    TRY(sort_outside(&job, (size_t)job.before[blocks], ids));
    TRY(make_numbers(&job, (size_t)in->offsets[a->n]));
    *columns = job.out;
    run(&job, blocks, number_block, &job);
done:
    free(job.outside);
    free(job.before);
    return status;
}
