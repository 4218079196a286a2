/*
 * reduce/cpu/operation.c - the CPU's reduction: divides arrays into chunks and rows into tasks, and
 * merges values.
 *
 *     row     |chunk|chunk|chunk|chunk|chunk|      chunk(): a kernel of kernels.h
 *                \ /         \ /        |
 *                 m           m         |          merged pairwise from the row's start: counter
 *                   \        /         /
 *                       m            /
 *                              m                   result(): the bits of out
 *
 * Many rows are distributed to threads as a whole; few long rows are divided into groups of 2^k
 * chunks, which are subtrees of the picture, so the result does not depend on the number of
 * threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/cpu/common.h"
#include "core/call.h"
#include "core/data_error.h"
#include "cpu/cpu.h"

#include <stdatomic.h>

enum {
    GROUPS = 256,                        /* maximum number of groups of a row */
    TASK_BYTES = 1 << 18,                /* approximate size of a task of complete rows */
    LONG_BYTES = 1 << 20,                /* longer segments are processed by all threads */
    GROUP_BYTES = 16 * ECHI_CHUNK_BYTES, /* of a row, at least */
    SEGMENTS_AT_A_TIME = 1 << 10,
    QUICK_BYTES = 1 << 17, /* that one thread reduces, without a job */
    BLOCKS = 256,          /* blocks of keys whose runs are counted separately */
    TREE_LEVEL = ECHI_TREE_LEVEL,
    TREE_CHUNKS = ECHI_TREE_CHUNKS /* chunks that are merged at once */
};

struct job {
    const struct echi_reduce *r;
    echi_chunk_function *chunk;
    const struct echi_reduce_isa *isa;
    size_t chunk_elements;
    int threads, spread; /* spread: enum echi_spread */
    /* for the groups of one row */
    size_t begin, n, group_chunks;
    struct echi_value *groups;
    /* for segments */
    bool split; /* long ones are left for all threads */
    _Atomic uint64_t data_error;
    /* for runs of keys */
    struct echi_order order;
    size_t block, *first_run;
};

/* ---- Values ---- */

static struct echi_value nothing(const struct job *job)
{
    return echi_reduce_nothing(job->r);
}

static inline struct echi_value merge(const struct job *job, struct echi_value a,
                                      struct echi_value b)
{
    if (job->r->kind == ECHI_REDUCE_ISUM) return (struct echi_value){ .u = a.u + b.u };
    if (job->r->kind == ECHI_REDUCE_SUM) return (struct echi_value){ .f = a.f + b.f };
    return echi_reduce_merge(job->r, job->spread, a, b);
}

static void result(const struct job *job, struct echi_value v, size_t n, size_t index)
{
    echi_reduce_result(job->r, &v, n, index);
}

/* ---- One range, by one thread ---- */

/* A binary counter whose digits are subtrees: level l has one of 2^l chunks, or none. */
struct counter {
    struct echi_value level[64];
    size_t count;
};

/* Counts a subtree of 2^level chunks; the chunks before it are a multiple of that. */
static void count_subtree(const struct job *job, struct counter *c, struct echi_value v, int level)
{
    int l = level;
    for (; c->count >> l & 1; l++) v = merge(job, c->level[l], v);
    c->level[l] = v;
    c->count += (size_t)1 << level;
}

static void count_up(const struct job *job, struct counter *c, struct echi_value v)
{
    count_subtree(job, c, v, 0);
}

static struct echi_value count_end(const struct job *job, const struct counter *c)
{
    struct echi_value v = nothing(job);
    bool some = false;
    for (size_t left = c->count; left; left &= left - 1) {
        const int l = __builtin_ctzll(left);
        v = some ? merge(job, c->level[l], v) : c->level[l];
        some = true;
    }
    return v;
}

/* Merges values 2 i and 2 i + 1 of n to value i; returns how many remain. */
static size_t merge_pairs(const struct job *job, struct echi_value *v, size_t n)
{
    switch (job->r->kind) {
    case ECHI_REDUCE_ISUM:
    case ECHI_REDUCE_IDOT:
    case ECHI_REDUCE_COUNT:
        for (size_t i = 0; i < n / 2; i++) v[i].u = v[2 * i].u + v[2 * i + 1].u;
        break;
    case ECHI_REDUCE_SUM:
    case ECHI_REDUCE_DOT:
        for (size_t i = 0; i < n / 2; i++) v[i].f = v[2 * i].f + v[2 * i + 1].f;
        break;
    case ECHI_REDUCE_SUM64:
    case ECHI_REDUCE_DOT64:
        for (size_t i = 0; i < n / 2; i++) {
            v[i].d.sum = v[2 * i].d.sum + v[2 * i + 1].d.sum;
            v[i].d.ignored = v[2 * i].d.ignored + v[2 * i + 1].d.ignored;
        }
        break;
    default:
        for (size_t i = 0; i < n / 2; i++) v[i] = merge(job, v[2 * i], v[2 * i + 1]);
    }
    if (n % 2) v[n / 2] = v[n - 1];
    return n - n / 2;
}

/* Whether reduce_few() reduces n elements. */
static inline bool is_few(const struct job *job, size_t n)
{
    return job->r->kind != ECHI_REDUCE_ARG && n <= TREE_CHUNKS * job->chunk_elements;
}

/* Sets v[0] to the value of at most TREE_CHUNKS chunks, of which the last may be short: the same
 * tree as that of the counter. */
static void reduce_few(const struct job *job, const char *in, const char *b, size_t n,
                       struct echi_value v[TREE_CHUNKS + 1])
{
    const struct echi_reduce *r = job->r;
    const size_t whole = n / job->chunk_elements, rest = n % job->chunk_elements;
    const size_t at = whole * job->chunk_elements * r->rule.bytes;
    size_t count = whole + (rest != 0);
    if (whole) job->chunk(&r->rule, in, b, job->chunk_elements, whole, v);
    if (rest) job->chunk(&r->rule, in + at, b ? b + at : NULL, rest, 1, v + whole);
    while (count > 1) count = merge_pairs(job, v, count);
}

/* Counts the whole chunks that n elements have, in subtrees of TREE_CHUNKS chunks as far as
 * possible; returns the number of their elements. */
static size_t count_chunks(const struct job *job, struct counter *counter, const char *in,
                           const char *b, size_t n)
{
    const struct echi_reduce *r = job->r;
    const size_t elements = TREE_CHUNKS * job->chunk_elements, bytes = r->rule.bytes;
    struct echi_value v[TREE_CHUNKS];
    size_t i = 0;
    for (; n - i >= elements; i += elements) {
        job->chunk(&r->rule, in + i * bytes, b ? b + i * bytes : NULL, job->chunk_elements,
                   TREE_CHUNKS, v);
        for (size_t count = TREE_CHUNKS; count > 1;) count = merge_pairs(job, v, count);
        count_subtree(job, counter, v[0], TREE_LEVEL);
    }
    const size_t rest = (n - i) / job->chunk_elements;
    if (!rest) return i;
    job->chunk(&r->rule, in + i * bytes, b ? b + i * bytes : NULL, job->chunk_elements, rest, v);
    for (size_t c = 0; c < rest; c++) count_up(job, counter, v[c]);
    return i + rest * job->chunk_elements;
}

/* Elements [from, to) of a row that begins at `begin`. */
static struct echi_value reduce_range(const struct job *job, size_t begin, size_t from, size_t to)
{
    const struct echi_reduce *r = job->r;
    const char *in = (const char *)r->in + begin * r->rule.bytes;
    const char *b = r->b ? (const char *)r->b + begin * r->rule.bytes : NULL;
    bool arg = r->kind == ECHI_REDUCE_ARG;
    if (from < to && is_few(job, to - from)) {
        struct echi_value v[TREE_CHUNKS + 1];
        reduce_few(job, in + from * r->rule.bytes, b ? b + from * r->rule.bytes : NULL, to - from,
                   v);
        return v[0];
    }
    struct counter counter;
    counter.count = 0;
    struct echi_value v = nothing(job);
    if (!arg && to - from >= 2 * job->chunk_elements)
        from += count_chunks(job, &counter, in + from * r->rule.bytes,
                             b ? b + from * r->rule.bytes : NULL, to - from);
    for (size_t i = from; i < to; i += job->chunk_elements) {
        size_t here = echi_min(job->chunk_elements, to - i);
        uint64_t before = v.best.at;
        if (arg) v.best.at = before == UINT64_MAX ? UINT64_MAX : UINT64_MAX - 1;
        job->chunk(&r->rule, in + i * r->rule.bytes, b ? b + i * r->rule.bytes : NULL, here, 1, &v);
        if (arg) /* the best element so far */
            v.best.at = v.best.at < here ? v.best.at + i : before;
        else if (counter.count == 0 && to - i <= job->chunk_elements)
            return v;
        else
            count_up(job, &counter, v);
    }
    return arg ? v : count_end(job, &counter);
}

/* ---- One row, by all threads ---- */

static void run_group(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    size_t elements = job->group_chunks * job->chunk_elements, from = i * elements;
    (void)thread;
    job->groups[i] = reduce_range(job, job->begin, from, echi_min(job->n, from + elements));
}

static void reduce_row(struct job *job, size_t begin, size_t n, size_t index)
{
    if (job->threads <= 1) {
        result(job, reduce_range(job, begin, 0, n), n, index);
        return;
    }
    struct echi_value groups[GROUPS];
    struct counter counter;
    counter.count = 0;
    size_t chunks = (n + job->chunk_elements - 1) / job->chunk_elements;
    job->begin = begin;
    job->n = n;
    job->group_chunks = GROUP_BYTES / (job->chunk_elements * job->r->rule.bytes);
    while ((chunks + job->group_chunks - 1) / job->group_chunks > GROUPS) job->group_chunks *= 2;
    size_t count = (chunks + job->group_chunks - 1) / job->group_chunks;
    job->groups = groups;
    echi_parallel(job->threads, count, run_group, job);
    job->groups = NULL;
    for (size_t i = 0; i < count; i++) count_up(job, &counter, groups[i]);
    result(job, count_end(job, &counter), n, index);
}

/* ---- Rows ---- */

/* Rows of one chunk, a few at a time: `value` gets the unfinished results. */
static void run_short_rows(const struct job *job, size_t from, size_t to)
{
    enum { SOME = 64 };
    const struct echi_reduce *r = job->r;
    struct echi_value value[SOME];
    for (size_t row = from; row < to; row += SOME) {
        size_t here = echi_min(SOME, to - row);
        const char *in = (const char *)r->in + row * r->columns * r->rule.bytes;
        if (r->kind == ECHI_REDUCE_ARG)
            for (size_t j = 0; j < here; j++) value[j] = nothing(job);
        job->chunk(&r->rule, in, NULL, r->columns, here, value);
        echi_reduce_store(r, value, here, row);
    }
}

static void run_rows(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_reduce *r = job->r;
    size_t from = i * job->block, to = echi_min(r->rows, from + job->block);
    (void)thread;
    const bool some = r->columns && !r->b;
    if (some && r->columns <= ECHI_SHORT_SEGMENT && echi_reduce_has_sums(r, job->isa)) {
        echi_reduce_add_rows(r, job->isa, from, to);
        return;
    }
    if (some && r->columns <= job->chunk_elements) {
        run_short_rows(job, from, to);
        return;
    }
    if (some && echi_reduce_add_long_rows(r, job->isa, from, to)) return;
    if (some && is_few(job, r->columns)) {
        const char *in = (const char *)r->in;
        for (size_t row = from; row < to; row++) {
            struct echi_value v[TREE_CHUNKS + 1];
            reduce_few(job, in + row * r->columns * r->rule.bytes, NULL, r->columns, v);
            echi_reduce_store_one(r, v, r->columns, row);
        }
        return;
    }
    for (size_t row = from; row < to; row++)
        result(job, reduce_range(job, row * r->columns, 0, r->columns), r->columns, row);
}

static void reduce_rows(struct job *job)
{
    const struct echi_reduce *r = job->r;
    size_t row_bytes = r->columns * r->rule.bytes;
    if (row_bytes > TASK_BYTES && r->rows < 16 * (size_t)job->threads) {
        for (size_t row = 0; row < r->rows; row++)
            reduce_row(job, row * r->columns, r->columns, row);
        return;
    }
    job->block = TASK_BYTES / (row_bytes + 64) + 1;
    echi_parallel(job->threads, (r->rows + job->block - 1) / job->block, run_rows, job);
}

/* ---- Segments ---- */

static uint64_t offset(const struct job *job, size_t i)
{
    return echi_index_at(job->r->offsets, job->r->offsets_index, i);
}

/* Notes errors of segment s, which ends at end; the first one also checks the start of the
 * offsets. */
static void check_segment(struct job *job, size_t s, uint64_t begin, uint64_t end)
{
    const uint64_t n = job->r->n;
    if (s == 0 && begin > n) echi_note_error(&job->data_error, ECHI_OFFSETS_PAST_END, 0);
    if (end > n)
        echi_note_error(&job->data_error, ECHI_OFFSETS_PAST_END, s + 1);
    else if (end < begin)
        echi_note_error(&job->data_error, ECHI_OFFSETS_DECREASE, s + 1);
}

static bool is_long(const struct job *job, size_t s)
{
    const uint64_t n = offset(job, s + 1) - offset(job, s);
    return job->split && n > LONG_BYTES / job->r->rule.bytes;
}

/* The bytes of the cache lines of a mean segment, unless kernels prefetch such segments. */
static size_t bytes_ahead(const struct echi_reduce *r)
{
    const size_t bytes = (r->n / r->segments * r->rule.bytes / 64 + 1) * 64;
    return bytes < ECHI_LINE_BYTES ? bytes : 0;
}

static void run_some_segments(struct job *job, size_t from, size_t to)
{
    const struct echi_reduce *r = job->r;
    const bool one_chunk = r->kind != ECHI_REDUCE_ARG;
    const size_t ahead = bytes_ahead(r); /* constant, so that the loop is predicted */
    const bool far = echi_reduce_is_far(r);
    uint64_t begin, end = offset(job, from);
    for (size_t s = from; s < to; s++) {
        begin = end;
        end = offset(job, s + 1);
        if (end > r->n || end < begin) {
            check_segment(job, s, begin, end);
            continue;
        }
        if (job->split && is_long(job, s)) continue;
        const size_t n = (size_t)(end - begin);
        const char *in = (const char *)r->in + begin * r->rule.bytes;
        struct echi_value v[TREE_CHUNKS + 1];
        if (n - 1 >= job->chunk_elements || !one_chunk) {
            if (n && is_few(job, n)) {
                reduce_few(job, in, NULL, n, v);
                echi_reduce_store_one(r, v, n, s);
            } else {
                result(job, reduce_range(job, (size_t)begin, 0, n), n, s);
            }
            continue;
        }
        echi_reduce_prefetch(in, far ? n * r->rule.bytes : ahead, far);
        job->chunk(&r->rule, in, NULL, n, 1, v);
        echi_reduce_store_one(r, v, n, s);
    }
}

static void run_segments(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_reduce *r = job->r;
    const size_t end = echi_min(r->segments, (i + 1) * job->block);
    const bool add = echi_reduce_has_sums(r, job->isa);
    (void)thread;
    for (size_t from = i * job->block, to; from < end; from = to) {
        to = add ? echi_min(end, from + ECHI_SOME_SEGMENTS) : end;
        if (!add || !echi_reduce_add_segments(r, job->isa, from, to))
            run_some_segments(job, from, to);
    }
}

static ech_status reduce_segments(ech_ctx *ctx, struct job *job)
{
    const struct echi_reduce *r = job->r;
    size_t mean_bytes = r->n / r->segments * r->rule.bytes;
    job->split = job->threads > 1;
    job->block = echi_min(TASK_BYTES / (mean_bytes + 64) + 1, SEGMENTS_AT_A_TIME);
    echi_parallel(job->threads, (r->segments + job->block - 1) / job->block, run_segments, job);
    ech_status status = echi_noted_error(ctx, job->data_error);
    if (status != ECH_OK) return status;
    for (size_t s = 0; job->split && s < r->segments; s++)
        if (is_long(job, s))
            reduce_row(job, offset(job, s), offset(job, s + 1) - offset(job, s), s);
    return ECH_OK;
}

/* ---- Runs of equal keys ---- */

static void count_runs(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_reduce *r = job->r;
    size_t bytes = echi_dtype_bytes(r->key_dtype), from = i * job->block;
    (void)thread;
    job->first_run[i + 1] =
        (from == 0) + job->isa->run_starts[bytes](&job->order, r->keys, from ? from : 1,
                                                  echi_min(r->n, from + job->block));
}

/* The runs that begin in a block of keys, even if they end in another. */
static void run_runs(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_reduce *r = job->r;
    size_t bytes = echi_dtype_bytes(r->key_dtype), run = job->first_run[i];
    size_t at = i * job->block, to = echi_min(r->n, at + job->block);
    size_t (*end_of)(const struct echi_order *, const void *, size_t, size_t) =
        job->isa->run_end[bytes];
    (void)thread;
    if (run == job->first_run[i + 1]) return;
    if (at) at = end_of(&job->order, r->keys, at - 1, r->n);
    while (at < to) {
        size_t end = end_of(&job->order, r->keys, at, r->n);
        memcpy((char *)r->keys_out + run * bytes, (const char *)r->keys + at * bytes, bytes);
        result(job, reduce_range(job, at, 0, end - at), end - at, run);
        run++;
        at = end;
    }
}

static void reduce_by_key(struct job *job)
{
    const struct echi_reduce *r = job->r;
    size_t first_run[BLOCKS + 1] = { 0 };
    job->order = echi_order_ascending(r->key_dtype, true);
    job->first_run = first_run;
    job->block = r->n / (job->threads > 1 ? BLOCKS : 1) + 1;
    size_t blocks = (r->n + job->block - 1) / job->block;
    echi_parallel(job->threads, blocks, count_runs, job);
    for (size_t i = 0; i < blocks; i++) first_run[i + 1] += first_run[i];
    echi_parallel(job->threads, blocks, run_runs, job);
    *r->count = first_run[blocks];
    job->first_run = NULL;
}

/* ---- The operation ---- */

int echi_reduce_spread(ech_dtype dtype)
{
    if (dtype == ECH_F64) return ECHI_SPREAD_F64;
    return dtype == ECH_I64 || dtype == ECH_U64 ? ECHI_SPREAD_INTEGER : ECHI_SPREAD_PLAIN;
}

const struct echi_reduce_isa *echi_reduce_isa_of_machine(void)
{
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512) return &echi_reduce_avx512;
    if (echi_cpu_isa() == ECHI_AVX2) return &echi_reduce_avx2;
#endif
    return &echi_reduce_portable;
}

/* The bytes of a chunk: results of integers, and those without arithmetic, do not depend on it, and
 * a large one needs fewer merges.  The sum of ECHI_EXACT_BYTES fits in SHORT of integers.h. */
static size_t chunk_bytes_of(const struct echi_reduce *r, int threads)
{
    enum { EXTREME_BYTES = 1 << 18 };
    if (r->kind == ECHI_REDUCE_MAX && threads <= 1)
        return echi_reduce_is_far(r) ? 4 * EXTREME_BYTES : EXTREME_BYTES;
    const bool exact =
        (r->kind <= ECHI_REDUCE_IDOT || r->kind == ECHI_REDUCE_BITS || r->kind == ECHI_REDUCE_MAX ||
         r->kind == ECHI_REDUCE_MINMAX || r->kind == ECHI_REDUCE_COUNT);
    return exact ? ECHI_EXACT_BYTES : ECHI_CHUNK_BYTES;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_reduce *r = request;
    struct job job = { .r = r,
                       .isa = echi_reduce_isa_of_machine(),
                       .threads = echi_parallel_for_bytes(ctx, r->n * r->rule.bytes),
                       .spread = echi_reduce_spread(r->dtype) };
    (void)work;
    job.chunk_elements = chunk_bytes_of(r, job.threads) / r->rule.bytes;
    job.chunk = echi_reduce_is_far(r) ? job.isa->far[r->kind][r->dtype] : NULL;
    if (!job.chunk) job.chunk = job.isa->chunk[r->kind][r->dtype];
    if (r->shape == ECHI_REDUCE_BY_KEY)
        reduce_by_key(&job);
    else if (r->shape == ECHI_REDUCE_ROWS)
        reduce_rows(&job);
    else if (r->segments)
        return reduce_segments(ctx, &job);
    return ECH_OK;
}

static bool reduce_few_chunks(const struct echi_reduce *r, echi_chunk_function *chunk,
                              const void *in, void *out, size_t n)
{
    const struct job job = { .r = r,
                             .chunk = chunk,
                             .chunk_elements = chunk_bytes_of(r, 1) / r->rule.bytes,
                             .spread = echi_reduce_spread(r->dtype) };
    struct echi_value v[TREE_CHUNKS + 1];
    if (!is_few(&job, n) || n * r->rule.bytes > QUICK_BYTES) return false;
    reduce_few(&job, in, NULL, n, v);
    echi_reduce_result_to(r, out, v, n, 0);
    return true;
}

bool echi_cpu_reduce_few(const struct echi_reduce *r, const void *in, void *out, size_t n)
{
    echi_chunk_function *chunk = echi_reduce_isa_of_machine()->chunk[r->kind][r->dtype];
    if (n * r->rule.bytes > chunk_bytes_of(r, 1)) return reduce_few_chunks(r, chunk, in, out, n);
    struct echi_value value;
    if (r->kind == ECHI_REDUCE_ARG) value = echi_reduce_nothing(r);
    chunk(&r->rule, in, NULL, n, 1, &value);
    echi_reduce_result_to(r, out, &value, n, 0);
    return true;
}

static bool reduce_at_once(const void *request)
{
    const struct echi_reduce *r = request;
    if (r->shape != ECHI_REDUCE_ROWS || r->rows != 1 || r->b || !r->n) return false;
    return echi_cpu_reduce_few(r, r->in, r->out, r->n);
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_reduce *r = request;
    echi_explain_algorithm(e, true, "chunks",
                           "sums of chunks of %u elements, which are added pairwise; threads take "
                           "parts of the array, rows or segments",
                           (unsigned)(ECHI_CHUNK_BYTES / r->rule.bytes));
    return ECH_OK;
}

const struct echi_operation echi_cpu_reduce = {
    .plan = workspace, .explain = explain, .run = run, .quick = reduce_at_once
};
