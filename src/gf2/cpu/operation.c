/*
 * gf2/cpu/operation.c - element-wise operations on bit matrices on the CPU: copies, generation,
 * counts and comparisons.
 *
 * Threads divide the rows. columns.c has the operations on columns, answer.c those that extract
 * results from an eliminated matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/data_error.h"
#include "gf2/random.h"
#include "gf2/cpu/small.h"

/* ---- Rows ---- */

/* 64 bits of row from `bit` on; words at or beyond end are read as zero. */
static uint64_t bits_at(const uint64_t *row, size_t bit, size_t end)
{
    const size_t w = bit / 64, shift = bit % 64;
    uint64_t low = row[w] >> shift;
    return shift && w + 1 < end ? low | row[w + 1] << (64 - shift) : low;
}

static void copy_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t words = echi_gf2_words(g->out.cols), a_end = echi_gf2_words(g->a.cols);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *from = gf2_row(&g->a, i);
        uint64_t *to = gf2_row(&g->out, i);
        if (g->a_bit == 0 && g->out_bit == 0) {
            gf2_copy_row(to, from, g->out.cols);
            continue;
        }
        /* The first word of out gets the bits before a's second full word. */
        uint64_t first = bits_at(from, g->a_bit, a_end) << g->out_bit;
        gf2_put(&to[0], first, gf2_mask(0, g->out.cols) & ~(uint64_t)0 << g->out_bit);
        for (size_t w = 1; w < words; w++)
            gf2_put(&to[w], bits_at(from, w * 64 - g->out_bit + g->a_bit, a_end),
                    gf2_mask(w, g->out.cols));
    }
}

static void add_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t words = echi_gf2_words(g->out.cols);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *a = gf2_row(&g->a, i), *b = gf2_row(&g->b, i);
        uint64_t *out = gf2_row(&g->out, i);
        for (size_t w = 0; w + 1 < words; w++) out[w] = a[w] ^ b[w];
        gf2_put(&out[words - 1], a[words - 1] ^ b[words - 1], echi_gf2_last_mask(g->out.cols));
    }
}

static void gather_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    (void)thread;
    for (size_t i = begin; i < end; i++)
        if (gf2_in_limit(job, i))
            gf2_copy_row(gf2_row(&g->out, i), gf2_row(&g->a, g->order[i]), g->out.cols);
}

static void zero_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    (void)thread;
    gf2_clear(&job->request->out, begin, end);
}

static void identity_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const ech_gf2 *out = &job->request->out;
    (void)thread;
    gf2_clear(out, begin, end);
    for (size_t i = begin; i < echi_min(end, out->cols); i++) gf2_set(out, i, i);
}

static void random_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t words = echi_gf2_words(g->out.cols);
    (void)thread;
    for (size_t i = begin; i < end; i++)
        for (size_t w = 0; w < words; w++)
            gf2_put(&gf2_row(&g->out, i)[w], echi_gf2_random_word(g->seed, g->threshold, i, w),
                    gf2_mask(w, g->out.cols));
}

/* ---- Bytes ---- */

/* Bit 0 of eight bytes, the first lowest: a product puts the bit of byte k at bit 56 + k. */
static uint64_t pack_8(const uint8_t *bytes)
{
    uint64_t eight = 0;
    for (int k = 0; k < 8; k++) eight |= (uint64_t)(bytes[k] & 1) << 8 * k;
    return eight * 0x0102040810204080u >> 56;
}

static void pack_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t cols = g->out.cols, words = echi_gf2_words(cols);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint8_t *bytes = g->bytes + i * cols;
        for (size_t w = 0; w < words; w++) {
            const size_t from = w * 64, n = echi_min(64, cols - from);
            uint64_t word = 0;
            for (size_t k = 0; k + 8 <= n; k += 8) word |= pack_8(bytes + from + k) << k;
            for (size_t k = n / 8 * 8; k < n; k++) word |= (uint64_t)(bytes[from + k] & 1) << k;
            gf2_put(&gf2_row(&g->out, i)[w], word, gf2_mask(w, cols));
        }
    }
}

static void unpack_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t cols = g->a.cols;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *row = gf2_row(&g->a, i);
        for (size_t j = 0; j < cols; j++) g->bytes[i * cols + j] = row[j / 64] >> j % 64 & 1;
    }
}

/* ---- Counts and comparisons ---- */

static void count_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const ech_gf2 *a = &job->request->a;
    const size_t words = echi_gf2_words(a->cols);
    uint64_t ones = 0;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *row = gf2_row(a, i);
        for (size_t w = 0; w + 1 < words; w++) ones += (uint64_t)__builtin_popcountll(row[w]);
        uint64_t last = row[words - 1] & echi_gf2_last_mask(a->cols);
        ones += (uint64_t)__builtin_popcountll(last);
    }
    atomic_fetch_add(&job->total, ones);
}

static void compare_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const ech_gf2 *a = &job->request->a, *b = &job->request->b;
    const size_t words = echi_gf2_words(a->cols);
    uint64_t differ = 0;
    (void)thread;
    for (size_t i = begin; i < end && !differ; i++) {
        const uint64_t *x = gf2_row(a, i), *y = gf2_row(b, i);
        for (size_t w = 0; w + 1 < words; w++) differ |= x[w] ^ y[w];
        differ |= (x[words - 1] ^ y[words - 1]) & echi_gf2_last_mask(a->cols);
    }
    if (differ) atomic_store(&job->total, 1);
}

/* ---- As an operation ---- */

typedef void rows_function(struct gf2_job *job, size_t begin, size_t end, int thread);

static rows_function *const by_rows[] = {
    [ECHI_GF2_COPY] = copy_rows,
    [ECHI_GF2_ADD] = add_rows,
    [ECHI_GF2_TRANSPOSE] = echi_cpu_gf2_transpose_rows,
    [ECHI_GF2_GATHER_ROWS] = gather_rows,
    [ECHI_GF2_GATHER_COLUMNS] = echi_cpu_gf2_gather_columns_rows,
    [ECHI_GF2_ZERO] = zero_rows,
    [ECHI_GF2_IDENTITY] = identity_rows,
    [ECHI_GF2_RANDOM] = random_rows,
    [ECHI_GF2_PACK] = pack_rows,
    [ECHI_GF2_UNPACK] = unpack_rows,
    [ECHI_GF2_COUNT] = count_rows,
    [ECHI_GF2_EQUAL] = compare_rows,
    [ECHI_GF2_CLEAR] = echi_cpu_gf2_clear_rows,
    [ECHI_GF2_UNIT] = echi_cpu_gf2_unit_rows,
    [ECHI_GF2_LU] = echi_cpu_gf2_lu_rows,
};

/* Operations that only read a are divided by a's rows, those that write out by out's rows. */
static const ech_gf2 *whose_rows(const struct echi_gf2 *g)
{
    const enum echi_gf2_what what = g->what;
    return what == ECHI_GF2_UNPACK || what == ECHI_GF2_COUNT || what == ECHI_GF2_EQUAL ? &g->a
                                                                                       : &g->out;
}

static ech_status small_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_gf2 *g = request;
    size_t threads;
    *bytes = 0;
    switch (g->what) {
    case ECHI_GF2_GATHER_COLUMNS: /* per thread: the columns of 64 rows */
        threads = echi_min(GF2_MOST_THREADS, g->a.rows / 64 + 1);
        *bytes = threads * g->a.cols * sizeof(uint64_t);
        break;
    case ECHI_GF2_ORDER:
        *bytes = g->limit;
        break;
    case ECHI_GF2_SOLVABLE:
    case ECHI_GF2_CLEAR:
    case ECHI_GF2_CERTIFICATE: /* one row */
        *bytes = echi_gf2_words(g->a.cols) * sizeof(uint64_t);
        break;
    default:
        break;
    }
    return ECH_OK;
}

static void run_part(void *arg, size_t i, int thread)
{
    struct gf2_job *job = arg;
    size_t begin = i * job->each;
    job->run(job, begin, echi_min(begin + job->each, job->rows), thread);
}

static ech_status run_rows(ech_ctx *ctx, const struct echi_gf2 *g, void *work)
{
    const ech_gf2 *m = whose_rows(g);
    _Atomic(uint64_t) data_error = UINT64_MAX;
    struct gf2_job job = { .request = g,
                           .run = by_rows[g->what],
                           .rows = m->rows,
                           .work = work,
                           .data_error = &data_error };
    const size_t row_bytes = echi_gf2_words(m->cols) * sizeof(uint64_t);
    int threads = echi_parallel_for_bytes(ctx, m->rows * row_bytes);
    if (m->rows && m->cols) {
        if (g->what == ECHI_GF2_CLEAR) echi_cpu_gf2_any_of_rows(&g->a, *g->rank, work);
        if (threads > GF2_MOST_THREADS) threads = GF2_MOST_THREADS;
        if ((size_t)threads > m->rows / 64 + 1) threads = (int)(m->rows / 64 + 1);
        job.each = ((((size_t)1 << 18) / row_bytes + 1) + 63) / 64 * 64; /* multiples of 64 */
        echi_parallel(threads, (m->rows + job.each - 1) / job.each, run_part, &job);
    }
    if (g->what == ECHI_GF2_COUNT) *g->count = job.total;
    if (g->what == ECHI_GF2_EQUAL) *g->bytes = job.total == 0;
    return data_error == UINT64_MAX ? ECH_OK
                                    : echi_report_error(ctx, ECHI_INDEX_TOO_LARGE, data_error);
}

static ech_status small_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_gf2 *g = request;
    switch (g->what) {
    case ECHI_GF2_ORDER:
        return echi_cpu_gf2_order(ctx, g, work);
    case ECHI_GF2_MAP:
        return echi_cpu_gf2_map(g);
    case ECHI_GF2_SPREAD_ROWS:
    case ECHI_GF2_PUT_ROWS:
        return echi_cpu_gf2_spread(g);
    case ECHI_GF2_KERNEL:
        return echi_cpu_gf2_kernel(ctx, g);
    case ECHI_GF2_SOLVABLE:
        return echi_cpu_gf2_solvable(g, work);
    case ECHI_GF2_CERTIFICATE:
        return echi_cpu_gf2_certificate(g, work);
    default:
        return run_rows(ctx, g, work);
    }
}

const struct echi_operation echi_cpu_gf2 = { .plan = small_workspace, .run = small_run };
