/*
 * histogram/cpu/operation.c - the CPU's histogram: each thread counts in its own tables, which are
 * added at the end; or, with very many bins, all threads count in one table by atomic additions.
 *
 *     elements --map, a block at a time--> counters --++--> tables[part][copy] --sum--> counts
 *
 * A counter that was just written is not available for some cycles. If they fit in the cache,
 * several copies of a table are used in turn, so that runs of equal elements do not stall. Bytes
 * are first counted by their value, and the map is applied to the 256 counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/cpu/common.h"
#include "core/call.h"
#include "core/data_error.h"

#define INLINE static inline
#include "core/exact.h"

#include <string.h>

enum {
    PARTS = 64,             /* maximum, which is also the maximum number of threads */
    PART_N = 1 << 16,       /* minimum number of elements of a part */
    EDGES = 2048,           /* that are merged once; more are merged at every comparison */
    BYTE_COPIES = 8,        /* of the table of bytes */
    BYTES_N = 8192,         /* minimum number of bytes for which these are worth it */
    FEW_COUNTERS = 512,     /* that few elements are counted in on the stack */
    NARROW_N = 2048,        /* minimum for 32-bit counters, which take time to add up */
    FOUR_COUNTERS = 8192,   /* with up to this many counters, four copies are used in turn */
    TWO_COUNTERS = 65536,   /* ... two */
    MANY_SLOTS = 1 << 30,   /* from this many on, slots have 64 bits */
    ATOMIC_BYTES = 1 << 20, /* minimum for which colliding threads are worth it */
    /* ... and threads: an atomic addition takes 4 to 20 times as long as a plain one.  One thread
     * without them takes 0.05 to 0.8 times as long as two with.  AMD EPYC (Zen 4), 2026-11-27; more
     * than two threads are not measured. */
    ATOMIC_THREADS = 8
};

/* ---- Counting one block ---- */

/* Tables of `each` counters, of 64 or 32 bits: the copies take the elements in turn. */
#define COUNT_IN_TURN(NAME, COUNTER)                                                               \
    static void NAME(size_t copies, COUNTER *tables, size_t each, const uint32_t *slots, size_t n) \
    {                                                                                              \
        size_t i = 0;                                                                              \
        if (copies == 4) {                                                                         \
            COUNTER *t1 = tables + each, *t2 = t1 + each, *t3 = t2 + each;                         \
            for (; i + 3 < n; i += 4) {                                                            \
                tables[slots[i]]++;                                                                \
                t1[slots[i + 1]]++;                                                                \
                t2[slots[i + 2]]++;                                                                \
                t3[slots[i + 3]]++;                                                                \
            }                                                                                      \
        } else if (copies == 2) {                                                                  \
            COUNTER *t1 = tables + each;                                                           \
            for (; i + 1 < n; i += 2) {                                                            \
                tables[slots[i]]++;                                                                \
                t1[slots[i + 1]]++;                                                                \
            }                                                                                      \
        }                                                                                          \
        for (; i < n; i++) tables[slots[i]]++;                                                     \
    }

COUNT_IN_TURN(count_wide, uint64_t)
COUNT_IN_TURN(count_narrow, uint32_t)

/* Whether a part counts in 32-bit counters. */
static bool is_narrow(const struct echi_histogram_job *job)
{
    return job->copies > 1 && job->part_n >= NARROW_N && job->part_n <= UINT32_MAX;
}

static int64_t signed_weight(const struct echi_histogram *h, size_t i)
{
    switch (h->weights_dtype) {
    case ECH_I32:
        return ((const int32_t *)h->weights)[i];
    case ECH_U32:
        return ((const uint32_t *)h->weights)[i];
    default:
        return ((const int64_t *)h->weights)[i];
    }
}

static double float_weight(const struct echi_histogram *h, size_t i)
{
    return h->weights_dtype == ECH_F32 ? (double)((const float *)h->weights)[i]
                                       : ((const double *)h->weights)[i];
}

static void add_weight(const struct echi_histogram_job *job, uint64_t *tables, size_t slot,
                       size_t i)
{
    uint64_t word[ECHI_EXACT_WORDS];
    if (echi_dtype_is_float(job->h->weights_dtype)) {
        exact_split(float_weight(job->h, i), job->largest, word);
        exact_add(tables + slot * ECHI_EXACT_WORDS, word);
    } else {
        tables[slot] += (uint64_t)signed_weight(job->h, i);
    }
}

/* ---- Parts ---- */

static int width_of(const struct echi_histogram *h)
{
    return echi_bit_length((uint64_t)h->key_bytes) - 1;
}

static const struct echi_histogram_isa *isa(void)
{
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512) return &echi_histogram_avx512;
    if (echi_cpu_isa() == ECHI_AVX2) return &echi_histogram_avx2;
#endif
    return &echi_histogram_portable;
}

static size_t part_end(const struct echi_histogram_job *job, size_t part)
{
    return echi_min((part + 1) * job->part_n, job->h->n);
}

static bool many(const struct echi_histogram *h)
{
    return h->counters >= MANY_SLOTS;
}

/* The counters of the elements from i on, in the type in use. */
static void find_slots(const struct echi_histogram_job *job, size_t i, size_t n, uint32_t *slots,
                       uint64_t *wide)
{
    if (many(job->h))
        echi_histogram_slots_u64[width_of(job->h)](job, i, n, wide);
    else
        isa()->slots[width_of(job->h)](job, i, n, slots);
}

/* Counts a part in 32-bit counters, in the upper half of its tables, and adds the copies to the
 * first table: fewer of them are outside of the L1 cache. */
static void count_part_narrow(const struct echi_histogram_job *job, size_t part)
{
    const size_t each = job->table_words / job->copies;
    uint64_t *restrict sums = job->tables + part * job->table_words;
    uint32_t *restrict tables = (uint32_t *)(void *)(sums + job->table_words / 2);
    uint32_t slots[ECHI_SLOTS];
    memset(tables, 0, job->table_words / 2 * sizeof *sums);
    for (size_t i = part * job->part_n, end = part_end(job, part), n; i < end; i += n) {
        n = echi_min(ECHI_SLOTS, end - i);
        isa()->slots[width_of(job->h)](job, i, n, slots);
        count_narrow(job->copies, tables, each, slots, n);
    }
    const uint32_t *restrict t1 = tables + each, *restrict t2 = t1 + each, *restrict t3 = t2 + each;
    for (size_t k = 0; k < each && job->copies == 2; k++) sums[k] = (uint64_t)tables[k] + t1[k];
    for (size_t k = 0; k < each && job->copies == 4; k++)
        sums[k] = ((uint64_t)tables[k] + t1[k]) + ((uint64_t)t2[k] + t3[k]);
}

static void count_part(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct echi_histogram_job *job = arg;
    const struct echi_histogram *h = job->h;
    uint64_t *tables = job->tables + part * job->table_words;
    const size_t each = job->table_words / job->copies;
    uint32_t slots[ECHI_SLOTS];
    uint64_t wide[ECHI_SLOTS];
    if (is_narrow(job)) {
        count_part_narrow(job, part);
        return;
    }
    memset(tables, 0, job->table_words * sizeof *tables);
    for (size_t i = part * job->part_n, end = part_end(job, part), n; i < end; i += n) {
        n = echi_min(ECHI_SLOTS, end - i);
        find_slots(job, i, n, slots, wide);
        if (h->weighted)
            for (size_t k = 0; k < n; k++)
                add_weight(job, tables, many(h) ? wide[k] : slots[k], i + k);
        else if (many(h))
            for (size_t k = 0; k < n; k++) tables[wide[k]]++;
        else
            count_wide(job->copies, tables, each, slots, n);
    }
    for (size_t copy = 1; copy < job->copies; copy++)
        for (size_t k = 0; k < each; k++) tables[k] += tables[copy * each + k];
}

/* Counts few elements in four tables, so that equal neighbours do not wait for each other. */
static __attribute__((noinline)) void count_few(const struct echi_histogram_job *job)
{
    const struct echi_histogram *h = job->h;
    const size_t n = h->n, each = h->counters + 1;
    uint16_t tables[4 * (FEW_COUNTERS + 1)];
    uint32_t slots[ECHI_SLOTS];
    uint64_t *restrict counts = h->counts;
    memset(tables, 0, 4 * each * sizeof *tables);
    isa()->slots[width_of(h)](job, 0, n, slots);
    uint16_t *t1 = tables + each, *t2 = t1 + each, *t3 = t2 + each;
    size_t i = 0;
    for (; i + 3 < n; i += 4) {
        tables[slots[i]]++;
        t1[slots[i + 1]]++;
        t2[slots[i + 2]]++;
        t3[slots[i + 3]]++;
    }
    for (; i < n; i++) tables[slots[i]]++;
    if (!h->add) memset(counts, 0, (each - 1) * sizeof *counts);
    for (size_t k = 0; k + 1 < each; k++)
        counts[k] += (uint16_t)((tables[k] + t1[k]) + (t2[k] + t3[k]));
}

/* Counts in the output itself, in one part. */
static void count_directly(const struct echi_histogram_job *job)
{
    const struct echi_histogram *h = job->h;
    uint64_t *counts = h->counts;
    const uint32_t end = (uint32_t)h->counters; /* the slot of elements in no bin */
    uint32_t slots[ECHI_SLOTS];
    const echi_slots_u32 find = isa()->slots[width_of(h)];
    if (h->n <= ECHI_SLOTS && h->n >= 2 * h->counters && h->counters <= FEW_COUNTERS) {
        count_few(job);
        return;
    }
    if (!h->add) memset(counts, 0, h->counters * sizeof *counts);
    for (size_t i = 0, n; i < h->n; i += n) {
        n = echi_min(ECHI_SLOTS, h->n - i);
        if (find(job, i, n, slots))
            for (size_t k = 0; k < n; k++) {
                if (slots[k] < end) counts[slots[k]]++;
            }
        else
            for (size_t k = 0; k < n; k++) counts[slots[k]]++;
    }
}

/* The bytes at distance step; 32-bit counters, for at most 2^31 bytes. */
static void count_apart(const uint8_t *in, size_t n, size_t step, uint32_t (*t)[256])
{
    size_t i = 0;
    for (; i + 3 * step < n; i += 4 * step) {
        t[0][in[i]]++;
        t[1][in[i + step]]++;
        t[2][in[i + 2 * step]]++;
        t[3][in[i + 3 * step]]++;
    }
    for (; i < n; i += step) t[0][in[i]]++;
}

static void count_bytes_of(const uint8_t *in, size_t n, uint32_t (*t)[256])
{
    size_t i = 0;
    for (; i + 7 < n; i += 8) {
        uint64_t x;
        memcpy(&x, in + i, 8);
        t[0][x & 255]++;
        t[1][x >> 8 & 255]++;
        t[2][x >> 16 & 255]++;
        t[3][x >> 24 & 255]++;
        t[4][x >> 32 & 255]++;
        t[5][x >> 40 & 255]++;
        t[6][x >> 48 & 255]++;
        t[7][x >> 56]++;
    }
    for (; i < n; i++) t[0][in[i]]++;
}

static void count_bytes(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct echi_histogram_job *job = arg;
    const struct echi_histogram *h = job->h;
    uint64_t *tables = job->tables + part * job->table_words;
    const uint8_t *in = h->in;
    uint32_t t[BYTE_COPIES][256];
    uint8_t all[256];
    uint32_t slots[256];
    struct echi_histogram one = *h; /* all bytes as one channel */
    struct echi_histogram_job values = *job;
    for (int v = 0; v < 256; v++) all[v] = (uint8_t)v;
    one.in = all;
    one.channels = 1;
    values.h = &one;
    isa()->slots[0](&values, 0, 256, slots);
    memset(tables, 0, job->table_words * sizeof *tables);
    const size_t step = h->channels == 1 ? (size_t)1 << 30 : h->channels << 16;
    for (size_t i = part * job->part_n, end = part_end(job, part), n; i < end; i += n) {
        n = echi_min(step, end - i);
        for (size_t channel = 0; channel < h->channels; channel++) {
            memset(t, 0, sizeof t);
            if (h->channels == 1)
                count_bytes_of(in + i, n, t);
            else
                count_apart(in + i + channel, n - channel, h->channels, t);
            for (int copy = 0; copy < BYTE_COPIES; copy++)
                for (int v = 0; v < 256; v++)
                    if (slots[v] != h->counters)
                        tables[channel * h->stride + slots[v]] += t[copy][v];
        }
    }
}

/* All threads count in one table, which is counts itself. */
static void count_atomic(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct echi_histogram_job *job = arg;
    const struct echi_histogram *h = job->h;
    uint64_t *counts = h->counts;
    uint32_t slots[ECHI_SLOTS];
    uint64_t wide[ECHI_SLOTS];
    for (size_t i = part * job->part_n, end = part_end(job, part), n; i < end; i += n) {
        n = echi_min(ECHI_SLOTS, end - i);
        find_slots(job, i, n, slots, wide);
        for (size_t k = 0; k < n; k++) {
            size_t slot = many(h) ? (size_t)wide[k] : slots[k];
            uint64_t by = h->weighted ? (uint64_t)signed_weight(h, i + k) : 1;
            if (slot < h->counters) __atomic_fetch_add(&counts[slot], by, __ATOMIC_RELAXED);
        }
    }
}

/* ---- Sums ---- */

enum { SUM_COUNTERS = 4096 };

static void sum_counters(void *arg, size_t piece, int thread)
{
    (void)thread;
    const struct echi_histogram_job *job = arg;
    const struct echi_histogram *h = job->h;
    const size_t first = piece * SUM_COUNTERS, end = echi_min(first + SUM_COUNTERS, h->counters);
    const size_t tables = job->parts, each = job->table_words; /* the first copy has all counts */
    if (h->weighted && echi_dtype_is_float(h->weights_dtype)) {
        double *sums = h->counts;
        for (size_t i = first; i < end; i++) {
            uint64_t sum[ECHI_EXACT_WORDS] = { 0 };
            for (size_t t = 0; t < tables; t++)
                exact_add(sum, job->tables + t * each + i * ECHI_EXACT_WORDS);
            double x = exact_round(sum, job->largest);
            sums[i] = h->add ? exact_plus(sums[i], x) : x;
        }
        return;
    }
    uint64_t *restrict counts = h->counts;
    size_t t = 0;
    if (!h->add) memcpy(counts + first, job->tables + first, (end - first) * sizeof *counts), t++;
    for (; t < tables; t++) {
        const uint64_t *restrict more = job->tables + t * each;
        for (size_t i = first; i < end; i++) counts[i] += more[i];
    }
}

/* ---- Plan ---- */

struct algorithm {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*applicable)(const struct echi_histogram *h);
    bool (*chosen)(const struct echi_histogram *h);
};

static bool float_weights(const struct echi_histogram *h)
{
    return h->weighted && echi_dtype_is_float(h->weights_dtype);
}

static bool can_be_bytes(const struct echi_histogram *h)
{
    return h->key_bytes == 1 && !h->pairs && !h->weighted && !many(h);
}

static bool is_bytes(const struct echi_histogram *h)
{
    return can_be_bytes(h) && h->n >= BYTES_N;
}

static bool always(const struct echi_histogram *h)
{
    (void)h;
    return true;
}

static bool can_be_atomic(const struct echi_histogram *h)
{
    return !float_weights(h);
}

/* Tables of two threads would be larger than the elements. */
static bool is_atomic(const struct echi_histogram *h)
{
    return can_be_atomic(h) && h->counters > h->n / 16 && h->n * 8 > ATOMIC_BYTES;
}

/* The first row that is chosen runs, unless one is named. */
enum { BYTES, ATOMIC, PRIVATE, ALGORITHMS };
static const struct algorithm algorithms[ALGORITHMS] = {
    [BYTES] = {
        .name = "bytes",
        .what = "counts the 256 byte values, then maps these counts to bins",
        .when = "from 8,192 8-bit elements on, no weights, one dimension",
        .applicable = can_be_bytes,
        .chosen = is_bytes,
    },
    [ATOMIC] = {
        .name = "atomic",
        .what = "one table, which all threads update atomically, or one thread if there are fewer "
                "than 8",
        .when = "more than n / 16 counters, large arrays, no float weights",
        .applicable = can_be_atomic,
        .chosen = is_atomic,
    },
    [PRIVATE] = {
        .name = "privatized",
        .what = "a table per thread; the tables are added at the end",
        .when = "all other histograms",
        .applicable = always,
        .chosen = always,
    },
};

static ech_status choose(const struct echi_histogram *h, int *choice)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        if (h->algorithm && strcmp(h->algorithm, algorithms[i].name) != 0) continue;
        if (h->algorithm ? algorithms[i].applicable(h) : algorithms[i].chosen(h)) {
            *choice = i;
            return ECH_OK;
        }
        if (h->algorithm)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "the algorithm \"%s\" (%s) does not support this histogram",
                             algorithms[i].name, algorithms[i].what);
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "options->algorithm is \"%s\": the CPU has \"bytes\", \"atomic\" and "
                     "\"privatized\"",
                     h->algorithm);
}

/* Computes the layout of the workspace for a request and an algorithm. */
static ech_status lay_out(const struct echi_histogram *h, int algorithm, void *work,
                          struct echi_histogram_job *job, size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    *job = (struct echi_histogram_job){ .h = h, .copies = 1 };
    size_t words = float_weights(h) ? ECHI_EXACT_WORDS : 1, counters = h->counters + 1;
    if (!h->weighted) /* also for bytes: all kinds of histogram have the same workspace */
        job->copies = counters <= FOUR_COUNTERS ? 4 : counters <= TWO_COUNTERS ? 2 : 1;
    if (h->n / 4 < counters) job->copies = 1; /* more would take longer to clear than to fill */
    size_t most = algorithm == ATOMIC ? h->n : h->n / (8 * words * job->copies) / counters;
    job->parts = echi_min(echi_min(most, h->n / PART_N), PARTS);
    if (job->parts == 0) job->parts = 1;
    size_t groups = h->n / h->channels;
    job->part_n = (groups + job->parts - 1) / job->parts * h->channels;
    job->direct = algorithm == PRIVATE && job->parts == 1 && !h->weighted && !many(h) &&
                  (job->copies == 1 || h->n <= ECHI_SLOTS);
    if (algorithm != ATOMIC && !job->direct) {
        size_t all = 0;
        /* An odd number of cache lines per copy: the counters of one bin are in different sets. */
        if (job->copies > 1) counters = (counters + 7) / 8 * 8 | 8;
        layout.overflow =
            __builtin_mul_overflow(counters, words * job->copies, &job->table_words) ||
            __builtin_mul_overflow(job->table_words, job->parts, &all);
        job->tables = echi_part(&layout, all, sizeof *job->tables);
    }
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "bins is %zu: the workspace size overflows size_t",
                         h->x.bins);
    *bytes = layout.bytes;
    return ECH_OK;
}

static ech_status histogram_plan(const void *request, void *plan, size_t *bytes)
{
    struct echi_histogram_job job;
    int *algorithm = plan;
    ech_status status = choose(request, algorithm);
    return status == ECH_OK ? lay_out(request, *algorithm, NULL, &job, bytes) : status;
}

static ech_status histogram_explain(const void *request, struct echi_explain *e)
{
    const struct echi_histogram *h = request;
    struct echi_histogram_job job;
    int algorithm;
    size_t bytes;
    ech_status status = choose(h, &algorithm);
    if (status == ECH_OK) status = lay_out(h, algorithm, NULL, &job, &bytes);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithms[algorithm].name, "%s", algorithms[algorithm].what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (i != algorithm && algorithms[i].applicable(h))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_line(e, "threads", "at most %zu", job.parts);
    if (job.direct)
        echi_explain_line(e, "tables", "none: elements are counted in the output");
    else if (algorithm != ATOMIC)
        echi_explain_line(e, "tables", "%zu per thread, of %zu counters", job.copies, h->counters);
    return ECH_OK;
}

/* ---- Run ---- */

static uint64_t merged(const struct echi_histogram *h, size_t i)
{
    uint64_t u = 0;
    memcpy(&u, (const char *)h->edges + i * (size_t)h->key_bytes, (size_t)h->key_bytes);
    return echi_order_encode(&h->x.order, h->key_bytes, u);
}

/* Checks that the edges are ascending, and merges them if there is room; stored in the elements'
 * type. */
static ech_status take_edges(ech_ctx *ctx, struct echi_histogram_job *job, uint64_t *room)
{
    const struct echi_histogram *h = job->h;
    const size_t count = h->x.bins + 1, bytes = (size_t)h->key_bytes;
    job->edges = h->edges;
    job->raw = (size_t)2 << h->x.top > EDGES;
    for (size_t i = 0; i < count; i++) {
        uint64_t e = merged(h, i);
        bool is_nan = h->x.order.float_mask && e == h->x.order.last;
        if (i && (e <= merged(h, i - 1) || is_nan))
            return echi_report_error(ctx, ECHI_EDGES_NOT_RISING, i);
        if (!job->raw) memcpy((char *)room + i * bytes, &e, bytes); /* little-endian */
    }
    if (job->raw) return ECH_OK;
    memset((char *)room + count * bytes, 0xff, EDGES * sizeof *room - count * bytes);
    job->edges = room;
    return ECH_OK;
}

static ech_status histogram_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_histogram *h = request;
    const int algorithm = *(const int *)plan;
    struct echi_histogram_job job;
    uint64_t edges[EDGES];
    size_t bytes;
    ech_status status = lay_out(h, algorithm, work, &job, &bytes);
    if (status != ECH_OK) return echi_fail(ctx, status, "%s", ech_error(NULL));
    if (h->edges) TRY(take_edges(ctx, &job, edges));
    for (size_t i = 0; float_weights(h) && i < h->n; i++) {
        uint64_t magnitude = exact_magnitude(float_weight(h, i));
        if (magnitude > job.largest) job.largest = magnitude;
    }
    size_t each = (size_t)h->key_bytes + (h->weighted ? 8 : 0);
    int threads = echi_parallel_for_bytes(ctx, h->n * each * 2);
    const bool alone = algorithm == ATOMIC && !h->algorithm && !h->weighted && !many(h);
    if (job.direct || (alone && threads < ATOMIC_THREADS)) {
        count_directly(&job);
        goto done;
    }
    if (algorithm == ATOMIC) {
        if (!h->add) memset(h->counts, 0, h->counters * sizeof(uint64_t));
        echi_parallel(threads, job.parts, count_atomic, &job);
        return ECH_OK;
    }
    if (threads == 1 && h->n <= UINT32_MAX) { /* one table is enough */
        job.parts = 1;
        job.part_n = h->n;
    }
    echi_parallel(threads, job.parts, algorithm == BYTES ? count_bytes : count_part, &job);
    size_t pieces = (h->counters + SUM_COUNTERS - 1) / SUM_COUNTERS;
    echi_parallel(h->counters * job.parts > 1 << 18 ? threads : 1, pieces, sum_counters, &job);
done:
    return status;
}

static bool histogram_at_once(const void *request)
{
    const struct echi_histogram *h = request;
    const struct echi_histogram_job job = { .h = h };
    if (h->n > ECHI_SLOTS || h->weighted || h->edges || h->algorithm || many(h)) return false;
    count_directly(&job);
    return true;
}

const struct echi_operation echi_cpu_histogram = { .plan = histogram_plan,
                                                   .plan_bytes = sizeof(int),
                                                   .explain = histogram_explain,
                                                   .run = histogram_run,
                                                   .quick = histogram_at_once };

/* ---- Short calls ---- */

static const struct echi_histogram_calls no_calls;

const struct echi_histogram_calls *const echi_histogram_calls[ECHI_LEVELS] = {
    [ECHI_LEVEL_NONE] = &no_calls,
    [ECHI_LEVEL_PORTABLE] = &echi_histogram_portable.calls,
#ifdef ECHI_CPU_X86
    [ECHI_LEVEL_AVX2] = &echi_histogram_avx2.calls,
    [ECHI_LEVEL_AVX512] = &echi_histogram_avx512.calls,
    [ECHI_LEVEL_VBMI2] = &echi_histogram_avx512.calls,
#endif
};
