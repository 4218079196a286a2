/*
 * quantile/cpu/operation.c - elements of given ranks, partitions and quantiles on the CPU: chooses
 * an algorithm, lays out the workspace, writes the result.
 *
 *     select   a few ranks: finds the elements from a sample and one pass (select.c)
 *     sort     sorts keys
 *
 * Input that is already in order is only read, unless an algorithm is forced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"
#include "quantile/method.h"
#include "sort/cpu/common.h"

#include <stddef.h>
#include <string.h>

enum {
    SELECT_RANKS = 8, /* the sort is faster for more ranks, and for fewer elements: */
    SELECT_LEAST = 1024,
    SELECT_EACH = 512 /* per rank, if there are several */
};

enum algorithm { SELECT, SORT, ALGORITHMS };

static const struct {
    const char *name, *what;
} algorithms[ALGORITHMS] = {
    { "select", "finds the elements from a sample and one pass over the input" },
    { "sort", "sorts keys" },
};

static enum algorithm choose(const struct echi_quantile *s)
{
    if (s->algorithm) return strcmp(s->algorithm, "sort") == 0 ? SORT : SELECT;
    const size_t least = s->count == 1 ? SELECT_LEAST : SELECT_EACH * s->count;
    return s->count <= SELECT_RANKS && s->n >= least ? SELECT : SORT;
}

/* Whether there are no elements to read, or a partition is a copy. */
static bool is_plain(const struct echi_quantile *s)
{
    return s->n == 0 || s->count == 0;
}

/* ---- Workspace ---- */

/* The sort of the algorithm "sort", without pointers: of keys. */
static struct echi_sort sort_of(const struct echi_quantile *s)
{
    struct echi_sort sort = echi_quantile_sort(s);
    sort.value_bytes = 0;
    sort.index_bytes = 0;
    sort.stable = false;
    sort.order = echi_order_ascending(s->dtype, false);
    return sort;
}

static ech_status lay_out(const struct echi_quantile *s, struct echi_layout *layout,
                          struct echi_quantile_job *job)
{
    const struct echi_sort sort = sort_of(s);
    size_t sort_bytes = 0;
    if (s->n == 0 || (s->count == 0 && s->call == ECH_QUANTILE_CALL_QUANTILES)) return ECH_OK;
    job->part = s->n / ECHI_QUANTILE_PARTS + 1;
    if (job->part < ECHI_QUANTILE_PART) job->part = ECHI_QUANTILE_PART;
    job->parts = s->n / job->part + (s->n % job->part != 0);
    job->state = s->call == ECH_QUANTILE_CALL_PARTITION ? 4 * s->count + 2 : 1;
    job->counts = echi_part(layout, job->parts * job->state, sizeof *job->counts);
    if (is_plain(s)) return ECH_OK;
    if (choose(s) == SELECT) {
        echi_quantile_lay_out(s, layout, job);
        return ECH_OK;
    }
    const ech_status status = echi_operation_workspace(&echi_cpu_sort, &sort, &sort_bytes);
    job->keys_out = echi_part(layout, s->n, (size_t)s->key_bytes);
    job->sort_work = echi_part(layout, sort_bytes, 1);
    return status;
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_quantile *s = request;
    struct echi_layout layout = { 0 };
    struct echi_quantile_job job;
    ech_status status;
    (void)no_plan;
    *work_bytes = 0;
    if (s->algorithm && strcmp(s->algorithm, "sort") != 0 && strcmp(s->algorithm, "select") != 0)
        FAIL(NULL, ECH_ERR_ARG,
             "unknown algorithm \"%s\" for elements of given ranks on the CPU; available: select, "
             "sort",
             s->algorithm);
    TRY(lay_out(s, &layout, &job));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", s->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Ranks ---- */

static ech_status sort(ech_ctx *ctx, struct echi_quantile_job *job)
{
    struct echi_sort sort = sort_of(job->request);
    sort.keys_in = job->request->in;
    sort.keys_out = job->keys_out;
    job->sorted = job->keys_out;
    return echi_operation_run(ctx, &echi_cpu_sort, &sort, job->sort_work);
}

/* The number of sorted keys that are less than one. */
static uint64_t count_less(const struct echi_quantile_job *job, uint64_t key)
{
    const struct echi_quantile *s = job->request;
    size_t low = 0;
    for (size_t count = s->n; count > 0;) {
        const size_t half = count / 2;
        const bool less = job->width->key(&s->order, job->sorted, low + half) < key;
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    return low;
}

/* A number as a key, modulo 2^w. */
static uint64_t as_key(const struct echi_quantile *s, uint64_t number)
{
    return number & ~(uint64_t)0 >> (64 - 8 * s->key_bytes);
}

/* Whether elements of this key may have different bits. */
static bool is_ambiguous(const struct echi_quantile *s, uint64_t key)
{
    return s->order.float_mask &&
           (key == as_key(s, s->order.zero + 1) || key == as_key(s, s->order.last));
}

static void find_bounds(struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    for (size_t j = 0; j < s->count; j++) {
        struct echi_quantile_bound *b = &job->bounds[j];
        if (job->sorted) {
            b->key = job->width->key(&s->order, job->sorted, (size_t)s->ranks[j]);
            b->tie = s->ranks[j] - count_less(job, b->key);
            continue;
        }
        const size_t k = j % ECHI_QUANTILE_TARGETS;
        if (k == 0)
            echi_quantile_select(job, s->ranks + j, echi_min(s->count - j, ECHI_QUANTILE_TARGETS));
        b->key = job->targets[k].found.key;
        b->tie = s->ranks[j] - job->targets[k].found.less;
    }
}

static uint64_t bits_of(const struct echi_quantile *s, uint64_t key)
{
    const uint64_t nan = s->order.float_mask ? echi_dtype_nan(s->dtype) : 0;
    return quantile_bits_of_key(&s->order, s->key_bytes, nan, key);
}

/* Writes a number of 1, 2, 4 or 8 bytes. */
static void write_bits(void *to, size_t bytes, uint64_t u)
{
    const uint8_t u8 = (uint8_t)u;
    const uint16_t u16 = (uint16_t)u;
    const uint32_t u32 = (uint32_t)u;
    switch (bytes) {
    case 1:
        memcpy(to, &u8, sizeof u8);
        break;
    case 2:
        memcpy(to, &u16, sizeof u16);
        break;
    case 4:
        memcpy(to, &u32, sizeof u32);
        break;
    default:
        memcpy(to, &u, sizeof u);
    }
}

static void write_element(struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    const struct echi_quantile_bound *b = job->bounds;
    const size_t bytes = (size_t)s->key_bytes;
    const bool find = s->index || is_ambiguous(s, b->key);
    uint64_t position = s->ranks[0];
    if (find && !job->ordered) position = echi_quantile_position(job, b->key, b->tie);
    if (s->out && find)
        memcpy(s->out, (const char *)s->in + (size_t)position * bytes, bytes);
    else if (s->out)
        write_bits(s->out, bytes, bits_of(s, b->key));
    if (s->index) write_bits(s->index, (size_t)s->index_bytes, position);
}

/* ---- Quantiles ---- */

static int kind_of(ech_dtype dtype)
{
    if (dtype == ECH_BF16) return QUANTILE_BF16;
    if (echi_dtype_is_float(dtype)) return QUANTILE_FLOAT;
    return echi_dtype_is_signed(dtype) ? QUANTILE_SIGNED : QUANTILE_UNSIGNED;
}

/* Selects the elements of quantiles i ... to - 1, at most ECHI_QUANTILE_TARGETS, of n numbers. */
static void select_places(struct echi_quantile_job *job, size_t from, size_t to, uint64_t n)
{
    const struct echi_quantile *s = job->request;
    uint64_t ranks[ECHI_QUANTILE_TARGETS];
    for (size_t i = from; i < to; i++)
        ranks[i - from] = quantile_place_of((int)s->method, s->q[i], n).rank;
    echi_quantile_select(job, ranks, to - from);
}

/* The number of NaN.  The pass that counts them also searches for the elements of the first
 * quantiles as if there were none. */
static uint64_t count_nan(struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    const uint64_t nan = as_key(s, s->order.last);
    if (s->n == 0) return 0;
    if (job->sorted) return s->order.float_mask ? s->n - count_less(job, nan) : 0;
    job->count_nan = s->order.float_mask != 0;
    select_places(job, 0, echi_min(s->count, ECHI_QUANTILE_TARGETS), s->n);
    return atomic_load(&job->nans);
}

/* The key of a rank; found is that of the same or of the previous rank. */
static uint64_t key_of(struct echi_quantile_job *job, const struct echi_quantile_found *found,
                       uint64_t rank)
{
    if (job->sorted) return job->width->key(&job->request->order, job->sorted, (size_t)rank);
    if (rank < found->less + found->equal) return found->key;
    if (found->has_next) return found->next;
    echi_quantile_select(job, &rank, 1);
    return job->targets[0].found.key;
}

/* The quantile q of n numbers. */
static uint64_t quantile_bits(struct echi_quantile_job *job,
                              const struct echi_quantile_found *found, double q, uint64_t n)
{
    const struct echi_quantile *s = job->request;
    const struct quantile_place at = quantile_place_of((int)s->method, q, n);
    const int kind = kind_of(s->dtype), bytes = s->key_bytes;
    const uint64_t a = bits_of(s, key_of(job, found, at.rank));
    if (ech_quantile_dtype(s->method, ECH_U8) != ECH_F64) return a;
    const uint64_t b = at.weight == 0 ? a : bits_of(s, key_of(job, found, at.next));
    return quantile_bits_of_f64(quantile_between(quantile_number(kind, bytes, a),
                                                 quantile_number(kind, bytes, b), at.weight));
}

static void write_quantiles(struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    const uint64_t nans = count_nan(job), n = s->n - nans;
    const size_t bytes = echi_dtype_bytes(s->out_dtype);
    const bool is_nan = n == 0 || (nans && !s->ignore_nan);
    struct echi_quantile_found found[ECHI_QUANTILE_TARGETS];
    for (size_t i = 0; i < s->count; i++) {
        const size_t k = i % ECHI_QUANTILE_TARGETS;
        uint64_t result = is_nan ? echi_dtype_nan(s->out_dtype) : 0;
        if (k == 0 && !is_nan && !job->sorted) {
            const size_t to = echi_min(s->count, i + ECHI_QUANTILE_TARGETS);
            if (i > 0 || nans) select_places(job, i, to, n);
            for (size_t j = 0; j < to - i; j++) found[j] = job->targets[j].found;
        }
        if (!is_nan) result = quantile_bits(job, &found[k], s->q[i], n);
        write_bits((char *)s->out + i * bytes, bytes, result);
    }
}

/* ---- The operation ---- */

static const struct echi_quantile_isa *isa_of_machine(void)
{
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512) return &echi_quantile_avx512;
    if (echi_cpu_isa() == ECHI_AVX2) return &echi_quantile_avx2;
#endif
    return &echi_quantile_portable;
}

static const struct echi_quantile_width *width_of_machine(int width, bool moves)
{
#ifdef ECHI_CPU_X86
    if (moves && width < 2 && echi_cpu_isa() == ECHI_AVX512 && echi_cpu_has_vbmi2())
        return echi_quantile_vbmi2.widths[width];
#endif
    return isa_of_machine()->widths[width];
}

/* The kernels for keys of 2^width bytes. */
static struct echi_quantile_width kernels_of_machine(int width)
{
    struct echi_quantile_width kernels = *width_of_machine(width, false);
    kernels.sift = width_of_machine(width, true)->sift;
    kernels.move = width_of_machine(width, true)->move;
    return kernels;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_quantile *s = request;
    struct echi_layout layout = { .base = work };
    struct echi_quantile_job job;
    memset(&job, 0, offsetof(struct echi_quantile_job, bounds));
    job.request = s;
    const int width = echi_bit_length((uint64_t)s->key_bytes) - 1;
    ech_status status;
    (void)no_plan;
    TRY(lay_out(s, &layout, &job));
    const struct echi_quantile_width kernels = kernels_of_machine(width);
    job.width = &kernels;
    job.keys = echi_topk_isa_of_machine()->widths[width];
    job.threads = echi_parallel_for_bytes(ctx, s->n * (size_t)s->key_bytes);
    job.ordered = !is_plain(s) && !s->algorithm &&
                  echi_sort_is_ascending(&s->order, s->in, s->n, (size_t)s->key_bytes, job.threads);
    if (job.ordered)
        job.sorted = s->in;
    else if (!is_plain(s) && choose(s) == SORT)
        TRY(sort(ctx, &job));
    if (s->call == ECH_QUANTILE_CALL_QUANTILES) {
        write_quantiles(&job);
        goto done;
    }
    find_bounds(&job);
    if (s->call == ECH_QUANTILE_CALL_NTH)
        write_element(&job);
    else
        echi_quantile_partition(&job);
done:
    return status;
}

enum {
    FEW = 512,           /* elements */
    SAMPLED_BYTES = 1280 /* so many bytes are sorted in less time than a sample takes */
};

/* Finds the encoded key of a rank of few elements: one pass lists the keys between two keys of a
 * sample, and the list is sorted.  false: the element is not between them. */
static bool find_few(const struct echi_order *order, const void *in, size_t n, size_t rank,
                     size_t bytes, uint64_t *key)
{
    enum { SAMPLE = 32, SIDE = 6 };
    const int w = echi_bit_length(bytes) - 1;
    const struct echi_order *plain = &echi_topk_encoded;
    _Alignas(64) uint64_t sample[SAMPLE], list[FEW + 64];
    uint64_t counts[4] = { 0 };
    echi_topk_isa_of_machine()->widths[w]->sample(order, in, 1, n, sample, SAMPLE);
    if (!echi_cpu_sort_few(plain, sample, sample, SAMPLE, bytes)) return false;
    const size_t middle = rank * SAMPLE / n, low = middle < SIDE ? 0 : middle - SIDE;
    const size_t high = echi_min(middle + SIDE, SAMPLE - 1);
    const char *keys = (const char *)sample;
    const struct echi_quantile_pivots pivots = { echi_load_number(keys + low * bytes, bytes),
                                                 echi_load_number(keys + high * bytes, bytes),
                                                 true };
    const size_t listed = width_of_machine(w, true)->sift(order, in, n, &pivots, list, counts);
    if (rank >= counts[1] && rank < counts[2]) {
        if (!echi_cpu_sort_few(plain, list, list, listed, bytes)) return false;
        *key = echi_load_number((const char *)list + (rank - counts[1]) * bytes, bytes);
        return true;
    }
    const bool is_low = rank >= counts[0] && rank < counts[1];
    *key = is_low ? pivots.low : pivots.high;
    return is_low || (rank >= counts[2] && rank < counts[3]);
}

bool echi_cpu_element_few(const void *in, void *value, size_t n, size_t rank, ech_dtype dtype)
{
    const struct echi_order *apart = &echi_orders[0][dtype], *merged = &echi_orders[1][dtype];
    const size_t bytes = echi_dtype_bytes(dtype);
    _Alignas(64) char sorted[8 * FEW];
    uint64_t u, e;
    if (n > FEW) return false;
    if (n * bytes >= SAMPLED_BYTES && find_few(merged, in, n, rank, bytes, &e)) {
        u = quantile_bits_of_key(merged, (int)bytes, 0, e);
    } else {
        if (!echi_cpu_sort_few(apart, in, sorted, n, bytes)) return false;
        u = echi_load_number(sorted + rank * bytes, bytes);
        e = merged->float_mask ? echi_order_encode(merged, (int)bytes, u) : u;
    }
    if (merged->float_mask && (e == merged->zero + 1 || e == merged->last))
        return false; /* equal elements of 0 or NaN may have different bits */
    write_bits(value, bytes, u);
    return true;
}

/* An element or quantiles of few elements, which are sorted. */
static bool quantile_at_once(const void *request)
{
    const struct echi_quantile *s = request;
    _Alignas(64) char sorted[8 * SELECT_LEAST];
    struct echi_quantile_job job;
    if (!s->n || s->n > SELECT_LEAST || !s->count || s->algorithm || s->index ||
        s->call == ECH_QUANTILE_CALL_PARTITION)
        return false;
    const struct echi_sort sort = { .keys_in = s->in,
                                    .keys_out = sorted,
                                    .n = s->n,
                                    .dtype = s->dtype,
                                    .key_bytes = s->key_bytes,
                                    .order = echi_order_ascending(s->dtype, false),
                                    .end_bit = 8 * s->key_bytes };
    if (!echi_cpu_sort.quick(&sort)) return false;
    job.request = s; /* the other fields are for input that is not sorted */
    job.width = isa_of_machine()->widths[echi_bit_length((uint64_t)s->key_bytes) - 1];
    job.sorted = sorted;
    if (s->call == ECH_QUANTILE_CALL_QUANTILES) {
        write_quantiles(&job);
        return true;
    }
    const uint64_t key = job.width->key(&s->order, sorted, (size_t)s->ranks[0]);
    if (is_ambiguous(s, key)) return false;
    if (s->out) write_bits(s->out, (size_t)s->key_bytes, bits_of(s, key));
    return true;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_quantile *s = request;
    const enum algorithm chosen = choose(s);
    size_t bytes;
    const ech_status status = plan(s, NULL, &bytes);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithms[chosen].name, "%s", algorithms[chosen].what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (i != (int)chosen)
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    return ECH_OK;
}

const struct echi_operation echi_cpu_quantile = {
    .plan = plan, .explain = explain, .run = run, .quick = quantile_at_once
};
