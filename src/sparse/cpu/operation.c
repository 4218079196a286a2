/*
 * sparse/cpu/operation.c - sparse matrices on the CPU: threads divide rows and entries, so that
 * neither one long row nor many empty rows delay a thread.
 *
 *     items   | row 0 | row 1 | row 2                            | row 3 |   entries, ends of rows
 *     tasks   |            0            |          1         |       2      |
 *
 * Each task adds up full groups of a row that tasks share; the groups are combined at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/cpu/common.h"
#include "core/backend.h"

#include <string.h>

enum { TASK_GROUPS = 4, MIN_GROUP = 1 << 12, TASKS = ECHI_SPARSE_GROUPS / TASK_GROUPS + 2 };

/* Measured on a Zen 4, 2026-11-27. */
enum {
    LEARNED_ROWS = 1 << 14, /* branch predictors learn the lengths of up to 20,000 rows */
    WIDE_BYTES = 1 << 20,   /* of x: the L2 cache */
    FAR_BYTES = 1 << 14     /* half of the L1 cache */
};

struct job {
    struct echi_sparse_product product;
    void (*rows)(const struct echi_sparse_product *p, struct echi_sparse_place from,
                 struct echi_sparse_place to);
    struct echi_sparse_place places[TASKS + 1];
};

static const struct echi_sparse_isa *isa_of_machine(void)
{
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512) return &echi_sparse_avx512;
    if (echi_cpu_isa() == ECHI_AVX2) return &echi_sparse_avx2;
#endif
    return &echi_sparse_portable;
}

/* ---- Products ---- */

static void run_task(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    (void)thread;
    job->rows(&job->product, job->places[i], job->places[i + 1]);
}

static size_t bytes_read(const struct echi_sparse *s)
{
    const size_t index = ech_dtype_bytes(s->a.index_dtype), value = ech_dtype_bytes(s->a.dtype);
    return s->a.nnz * (index + value * s->n) + s->a.rows * (index + 2 * value * s->n);
}

static size_t column(const ech_csr *a, size_t entry)
{
    return a->index_dtype == ECH_I64 ? ((const uint64_t *)a->col_indices)[entry]
                                     : ((const uint32_t *)a->col_indices)[entry];
}

static size_t offset(const ech_csr *a, size_t row)
{
    return a->index_dtype == ECH_I64 ? ((const uint64_t *)a->row_offsets)[row]
                                     : ((const uint32_t *)a->row_offsets)[row];
}

enum { PLACES = 16, SAMPLES = 16 }; /* of a matrix: the rows or entries that are read */

/* Whether a product misses the L2 cache at most entries, judging by 256 of them. */
static bool is_scattered(const ech_csr *a)
{
    const size_t bytes = ech_dtype_bytes(a->dtype), too_far = FAR_BYTES / bytes;
    size_t far = 0;
    if (a->cols < WIDE_BYTES / bytes || a->nnz < a->cols) return false;
    for (size_t i = 0; i < PLACES; i++)
        for (size_t j = 1; j <= SAMPLES; j++) {
            const size_t entry = a->nnz / (PLACES + 1) * i + j;
            const size_t left = column(a, entry - 1), right = column(a, entry);
            far += (left < right ? right - left : left - right) > too_far;
        }
    return far > PLACES * SAMPLES / 2;
}

/* Whether nearly all rows have as many entries as the row before, judging by 256 of them. */
static bool is_regular(const ech_csr *a)
{
    size_t equal = 0;
    for (size_t i = 0; i < PLACES; i++)
        for (size_t j = 1; j <= SAMPLES; j++) {
            const size_t row = a->rows / (PLACES + 1) * i + j, middle = offset(a, row);
            equal += middle - offset(a, row - 1) == offset(a, row + 1) - middle;
        }
    return equal > PLACES * SAMPLES * 15 / 16;
}

/* Whether short rows are summed one by one: the processor predicts the ends of their loops, or the
 * misses of x take longer. */
static bool goes_by_row(const ech_csr *a)
{
    return a->rows <= LEARNED_ROWS || is_scattered(a) || (a->dtype == ECH_F64 && is_regular(a));
}

/* One strip of columns, or the vector. */
static void multiply(const struct echi_sparse_isa *isa, struct job *job, int threads, bool wide)
{
    const struct echi_sparse_product *p = &job->product;
    const ech_csr *a = &p->s->a;
    const bool index = a->index_dtype == ECH_I64, f64 = a->dtype == ECH_F64;
    const uint64_t items = echi_sparse_items(a);
    size_t tasks = 1;
    job->rows = wide ? isa->rows_wide[index][f64] : isa->rows[index][f64];
    job->places[0] = (struct echi_sparse_place){ 0, 0, false };
    job->product.group = MIN_GROUP;
    job->product.by_row = !wide && goes_by_row(a);
    if (threads > 1) {
        while (items / p->group >= ECHI_SPARSE_GROUPS) job->product.group *= 2;
        tasks = (size_t)(items / (TASK_GROUPS * p->group)) + 1;
    }
    for (size_t i = 1; i < tasks; i++)
        job->places[i] = isa->place[index][f64](p, i * TASK_GROUPS * p->group);
    job->places[tasks] = (struct echi_sparse_place){ a->rows, a->nnz, false };
    echi_parallel(threads, tasks, run_task, job);
    size_t joined = a->rows;
    for (size_t i = 1; i < tasks; i++) {
        const size_t row = job->places[i].row;
        if (row == joined || row == a->rows || !job->places[i].inside) continue;
        (wide ? isa->join_wide : isa->join)[index][f64](p, row);
        joined = row;
    }
}

/* Matrices of one column without gaps are vectors. */
static bool is_vector(const struct echi_sparse *s)
{
    return s->n == 1 && s->x_stride == 1 && s->y_stride == 1;
}

static void run_multiply(ech_ctx *ctx, const struct echi_sparse *s, void *work)
{
    const struct echi_sparse_isa *isa = isa_of_machine();
    struct job job; /* multiply() sets the other fields */
    job.product = (struct echi_sparse_product){ .s = s, .width = 1 };
    double partials[ECHI_SPARSE_SLOTS];
    const int threads = echi_parallel_for_bytes(ctx, bytes_read(s));
    if (is_vector(s)) {
        job.product.partials = partials;
        multiply(isa, &job, threads, false);
        return;
    }
    job.product.partials = work;
    for (size_t at = 0; at < s->n; at += ECHI_SPARSE_STRIP) {
        job.product.at = at;
        job.product.width = echi_min(ECHI_SPARSE_STRIP, s->n - at);
        multiply(isa, &job, threads, true);
    }
}

/* ---- The operation ---- */

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_sparse *s = request;
    *bytes = 0;
    if (s->what != ECHI_SPARSE_MULTIPLY) return echi_cpu_sparse_make_workspace(s, bytes);
    if (!is_vector(s)) *bytes = ECHI_SPARSE_SLOTS * ECHI_SPARSE_STRIP * sizeof(double);
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_sparse *s = request;
    if (s->what != ECHI_SPARSE_MULTIPLY) return echi_cpu_sparse_make(ctx, s, work);
    run_multiply(ctx, s, work);
    return ECH_OK;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_sparse *s = request;
    if (s->what == ECHI_SPARSE_FROM_COO)
        echi_explain_algorithm(e, true, "sort",
                               "a stable sort by row and column; equal positions are then added");
    else if (s->what == ECHI_SPARSE_TRANSPOSE)
        echi_explain_algorithm(e, true, "count",
                               "threads count and then place the entries of parts of the columns");
    else
        echi_explain_algorithm(e, true, is_vector(s) ? "vector" : "strips",
                               "threads take equal numbers of rows and entries%s",
                               is_vector(s) ? "" : ", for some columns at a time");
    return ECH_OK;
}

const struct echi_operation echi_cpu_sparse = { .plan = workspace, .explain = explain, .run = run };
