/*
 * unique/cpu/operation.c - distinct elements and the mode on the CPU: a sort, then its runs.
 *
 *     sorted keys   | 2 2 2 5 | 5 7 7 7 | 7 7 9 9 |     parts, which threads process
 *     heads         | x . . x | . x . . | . . x . |     counted per part, then written
 *     ranks         | 0 0 0 1 | 1 2 2 2 | 2 2 3 3 |     to inverse, at the sorted positions
 *
 * If only values and counts are needed, the kernels of select/cpu find and pack the heads, and
 * input that is already in order is not sorted. A count is the distance of two heads.
 *
 * In order of appearance: bits mark the first position of each run.  The number of bits before a
 * position is the rank of its run in this order.
 *
 *     workspace     [ sorted keys | positions | workspace of the sort, or what follows it ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/cpu.h"
#include "select/cpu/common.h"
#include "sort/cpu/common.h"
#include "unique/unique.h"

#include <string.h>

enum { PART = 1 << 16 }; /* elements; a multiple of 64 */

struct unique_part {
    size_t runs; /* heads in the part; then in the parts before it */
    size_t last; /* the last head; then the last one before the part */
    size_t longest, longest_begin;
    size_t first;     /* the first head, if only values and counts are needed */
    size_t zero, nan; /* the first positions in the input; n: none */
};

struct unique_job {
    const struct echi_unique *u;
    const struct unique_width *width;
    const void *keys;                       /* sorted */
    void *positions;                        /* sorted; NULL: not needed */
    const struct echi_select_width *select; /* NULL: not only values and counts are needed */
    const struct echi_select_isa *isa;
    bool by_rank; /* the outputs are in ascending order */
    void *ranks;  /* by position: the output, or of position_bytes; NULL: not needed */
    int rank_bytes, position_bytes;
    void *lengths, *map; /* of position_bytes, for the order of appearance; NULL: not needed */
    _Atomic uint64_t *bits;
    struct unique_part *parts;
    void *sorted, *sort_work; /* sorted: for keys */
    size_t sort_bytes;
};

/* The loops for one key width. */
struct unique_width {
    size_t (*count)(const struct echi_order *order, const void *sorted, size_t from, size_t to,
                    size_t *last);
    void (*write)(const struct unique_job *job, struct unique_part *part, size_t from, size_t to);
    void (*find)(const struct echi_unique *u, size_t from, size_t to, size_t first[2]);
    bool (*places)(const struct echi_unique *u, size_t n, size_t places[2]);
};

static uint64_t number_at(const void *array, int bytes, size_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static void store_number(void *array, int bytes, size_t i, uint64_t number)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)number;
    else
        ((uint64_t *)array)[i] = number;
}

static void begin_run(const struct unique_job *job, size_t rank, size_t begin)
{
    const struct echi_unique *u = job->u;
    if (!job->positions) return;
    const size_t first = (size_t)number_at(job->positions, job->position_bytes, begin);
    if (job->by_rank && u->first) store_number(u->first, u->index_bytes, rank, first);
    if (job->bits)
        atomic_fetch_or_explicit(&job->bits[first / 64], (uint64_t)1 << first % 64,
                                 memory_order_relaxed);
}

static void end_run(const struct unique_job *job, struct unique_part *part, size_t rank,
                    size_t begin, size_t end)
{
    const struct echi_unique *u = job->u;
    if (job->lengths) store_number(job->lengths, job->position_bytes, rank, end - begin);
    if (job->by_rank && u->counts) u->counts[rank] = end - begin;
    if (end - begin <= part->longest) return;
    part->longest = end - begin;
    part->longest_begin = begin;
}

#define KEY     uint8_t
#define NAME(x) x##_u8
#include "unique/cpu/width.h"

#define KEY     uint16_t
#define NAME(x) x##_u16
#include "unique/cpu/width.h"

#define KEY     uint32_t
#define NAME(x) x##_u32
#include "unique/cpu/width.h"

#define KEY     uint64_t
#define NAME(x) x##_u64
#include "unique/cpu/width.h"

static const struct unique_width *const widths[] = { &width_u8, &width_u16, &width_u32,
                                                     &width_u64 };

/* ---- Workspace ---- */

static size_t parts_of(const struct echi_unique *u)
{
    return u->n / PART + (u->n % PART != 0);
}

static ech_status lay_out(const struct echi_unique *u, struct echi_layout *layout,
                          struct unique_job *job)
{
    const size_t position = (size_t)echi_unique_position_bytes(u), n = u->n;
    const bool ranks = u->appearance && (u->has_counts || u->has_inverse);
    const struct echi_sort sort = echi_unique_sort(u);
    const ech_status status = echi_operation_workspace(&echi_cpu_sort, &sort, &job->sort_bytes);
    if (status != ECH_OK) return status;
    job->parts = echi_part(layout, parts_of(u), sizeof *job->parts);
    job->sorted = echi_part(layout, n, (size_t)u->key_bytes);
    if (echi_unique_pairs(u)) job->positions = echi_part(layout, n, position);
    struct echi_layout after = *layout; /* the sort is done before these are used */
    job->sort_work = echi_part(&after, job->sort_bytes, 1);
    if (u->appearance) job->bits = echi_part(layout, n / 64 + 1, sizeof *job->bits);
    if (ranks) job->ranks = echi_part(layout, n, position);
    if (ranks && u->has_counts) job->lengths = echi_part(layout, n, position);
    if (ranks && u->has_inverse) job->map = echi_part(layout, n, position);
    if (after.bytes > layout->bytes) layout->bytes = after.bytes;
    layout->overflow |= after.overflow;
    return ECH_OK;
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_unique *u = request;
    struct echi_layout layout = { 0 };
    struct unique_job job;
    ech_status status = ECH_OK;
    (void)no_plan;
    *work_bytes = 0;
    if (u->n == 0) goto done;
    TRY(lay_out(u, &layout, &job));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", u->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Only values and counts ---- */

static const char *key_at(const struct unique_job *job, size_t i)
{
    return (const char *)job->keys + i * (size_t)job->u->key_bytes;
}

/* The number of heads in a part. */
static size_t count_heads(const struct unique_job *job, size_t from, size_t to)
{
    size_t heads = from == 0; /* always a head */
    uint64_t bits[ECHI_SELECT_WORDS];
    for (size_t at = from + heads; at < to; at += ECHI_SELECT_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_SELECT_BLOCK);
        job->select->starts(&job->u->order, key_at(job, at), n, false, bits);
        heads += job->isa->count(bits, n);
    }
    return heads;
}

/* Writes the values and counts of the runs that begin in a part, from rank part->runs on. The last
 * count is the position of its head: end_counts() replaces it. Returns the rank after the last. */
static size_t pack_heads(const struct unique_job *job, struct unique_part *part, size_t from,
                         size_t to)
{
    const struct echi_unique *u = job->u;
    const size_t bytes = (size_t)u->key_bytes, begin = part->runs;
    size_t rank = begin, done = begin; /* done: counts that are complete */
    char *values = u->values;
    uint64_t bits[ECHI_SELECT_WORDS];
    part->first = 0;
    if (from == 0) {
        if (values) memcpy(values, job->keys, bytes);
        if (u->counts) u->counts[0] = 0;
        from++;
        rank++;
    }
    for (size_t at = from; at < to; at += ECHI_SELECT_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_SELECT_BLOCK), before = rank;
        job->select->starts(&u->order, key_at(job, at), n, false, bits);
        if (values) job->select->keep(values + rank * bytes, key_at(job, at), bits, n);
        if (u->counts) job->isa->keep_positions(u->counts + rank, at, bits, n);
        rank += job->isa->count(bits, n);
        if (!u->counts) continue;
        if (before == begin && rank > begin) part->first = u->counts[begin];
        for (; done + 1 < rank; done++) u->counts[done] = u->counts[done + 1] - u->counts[done];
    }
    return rank;
}

/* Replaces the last head of each part by its count. */
static void end_counts(const struct unique_job *job, size_t parts)
{
    uint64_t next = job->u->n; /* the first head after the part */
    size_t end = (size_t)*job->u->count;
    for (size_t i = parts; i-- > 0;) {
        const size_t begin = job->parts[i].runs;
        if (end > begin) {
            job->u->counts[end - 1] = next - job->u->counts[end - 1];
            next = job->parts[i].first;
        }
        end = begin;
    }
}

/* ---- The parts ---- */

static void count_part(void *arg, size_t i, int thread)
{
    struct unique_job *job = arg;
    const struct echi_unique *u = job->u;
    struct unique_part *part = &job->parts[i];
    const size_t from = i * PART, to = echi_min(u->n, from + PART);
    (void)thread;
    *part = (struct unique_part){ .last = 0 };
    if (job->select)
        part->runs = count_heads(job, from, to);
    else
        part->runs = job->width->count(&u->order, job->keys, from, to, &part->last);
    if (!job->bits) return;
    for (size_t w = from / 64; w * 64 < to; w++) atomic_init(&job->bits[w], 0);
}

static void write_part(void *arg, size_t i, int thread)
{
    struct unique_job *job = arg;
    const size_t from = i * PART;
    const size_t to = echi_min(job->u->n, from + PART);
    (void)thread;
    if (job->select)
        pack_heads(job, &job->parts[i], from, to);
    else
        job->width->write(job, &job->parts[i], from, to);
}

/* Replaces the fields of each part by those of the parts before it; returns the number of runs. */
static size_t sum_parts(const struct unique_job *job)
{
    const size_t parts = parts_of(job->u);
    size_t sum = 0, last = 0;
    for (size_t i = 0; i < parts; i++) {
        struct unique_part *part = &job->parts[i];
        const size_t runs = part->runs, own = part->last;
        part->runs = sum;
        part->last = last;
        sum += runs;
        if (runs) last = own;
    }
    return sum;
}

/* ---- Order of appearance ---- */

static void count_bits(void *arg, size_t i, int thread)
{
    struct unique_job *job = arg;
    const size_t from = i * PART, to = echi_min(job->u->n, from + PART);
    (void)thread;
    job->parts[i].runs = 0;
    for (size_t w = from / 64; w * 64 < to; w++)
        job->parts[i].runs += (size_t)__builtin_popcountll(atomic_load(&job->bits[w]));
}

/* Writes the distinct elements whose first positions are in the part. */
static void emit_part(void *arg, size_t i, int thread)
{
    const struct unique_job *job = arg;
    const struct echi_unique *u = job->u;
    const size_t from = i * PART, to = echi_min(u->n, from + PART), bytes = (size_t)u->key_bytes;
    size_t at = job->parts[i].runs;
    (void)thread;
    for (size_t w = from / 64; w * 64 < to; w++)
        for (uint64_t bits = atomic_load(&job->bits[w]); bits; bits &= bits - 1, at++) {
            const size_t p = w * 64 + (size_t)__builtin_ctzll(bits);
            if (u->values)
                memcpy((char *)u->values + at * bytes, (const char *)u->in + p * bytes, bytes);
            if (u->first) store_number(u->first, u->index_bytes, at, p);
            if (!job->ranks) continue;
            const size_t rank = (size_t)number_at(job->ranks, job->position_bytes, p);
            if (u->counts) u->counts[at] = number_at(job->lengths, job->position_bytes, rank);
            if (job->map) store_number(job->map, job->position_bytes, rank, at);
        }
}

static void invert_part(void *arg, size_t i, int thread)
{
    const struct unique_job *job = arg;
    const struct echi_unique *u = job->u;
    const size_t from = i * PART, to = echi_min(u->n, from + PART);
    const int bytes = job->position_bytes;
    (void)thread;
    for (size_t p = from; p < to; p++)
        store_number(u->inverse, u->index_bytes, p,
                     number_at(job->map, bytes, (size_t)number_at(job->ranks, bytes, p)));
}

static void by_appearance(struct unique_job *job, int threads)
{
    const size_t parts = parts_of(job->u);
    echi_parallel(threads, parts, count_bits, job);
    sum_parts(job);
    echi_parallel(threads, parts, emit_part, job);
    if (job->map) echi_parallel(threads, parts, invert_part, job);
}

/* ---- The operation ---- */

static void write_mode(const struct unique_job *job)
{
    const struct echi_unique *u = job->u;
    const struct unique_part *best = job->parts;
    const size_t bytes = (size_t)u->key_bytes;
    for (size_t i = 1; i < parts_of(u); i++)
        if (job->parts[i].longest > best->longest) best = &job->parts[i];
    *u->count = best->longest;
    if (u->values) memcpy(u->values, (const char *)job->keys + best->longest_begin * bytes, bytes);
}

static void find_part(void *arg, size_t i, int thread)
{
    const struct unique_job *job = arg;
    const struct echi_unique *u = job->u;
    const size_t from = i * PART, to = echi_min(u->n, from + PART);
    size_t first[2] = { u->n, u->n };
    (void)thread;
    job->width->find(u, from, to, first);
    job->parts[i].zero = first[0];
    job->parts[i].nan = first[1];
}

/* Replaces zero and NaN, if they are among the ascending values, by the first ones of the input. */
static void repair(struct unique_job *job, int threads, size_t values)
{
    const struct echi_unique *u = job->u;
    const size_t bytes = (size_t)u->key_bytes;
    size_t places[2], first[2] = { u->n, u->n };
    if (!echi_unique_repairs(u) || !job->width->places(u, values, places)) return;
    echi_parallel(threads, parts_of(u), find_part, job);
    for (size_t i = parts_of(u); i-- > 0;) {
        if (job->parts[i].zero < u->n) first[0] = job->parts[i].zero;
        if (job->parts[i].nan < u->n) first[1] = job->parts[i].nan;
    }
    for (int k = 0; k < 2; k++)
        if (places[k] < values)
            memcpy((char *)u->values + places[k] * bytes, (const char *)u->in + first[k] * bytes,
                   bytes);
}

static ech_status sort_keys(ech_ctx *ctx, struct unique_job *job, int threads)
{
    const struct echi_unique *u = job->u;
    const size_t bytes = (size_t)u->key_bytes;
    struct echi_sort sort = echi_unique_sort(u);
    if (!u->mode && !echi_unique_pairs(u)) {
        job->isa = echi_select_isa_of_machine();
        job->select = echi_select_width_of_machine(bytes);
        job->keys = u->in;
        if (echi_sort_is_ascending(&u->order, u->in, u->n, bytes, threads)) return ECH_OK;
    }
    sort.keys_in = u->in;
    sort.keys_out = job->sorted;
    sort.values_out = job->positions;
    job->keys = job->sorted;
    return echi_operation_run(ctx, &echi_cpu_sort, &sort, job->sort_work);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_unique *u = request;
    struct echi_layout layout = { .base = work };
    struct unique_job job = { .u = u,
                              .by_rank = !u->appearance && !u->mode,
                              .position_bytes = echi_unique_position_bytes(u) };
    const int threads = echi_parallel_for_bytes(ctx, u->n * (size_t)u->key_bytes);
    ech_status status = ECH_OK;
    (void)no_plan;
    *u->count = 0;
    if (u->n == 0) goto done;
    TRY(lay_out(u, &layout, &job));
    TRY(sort_keys(ctx, &job, threads));
    job.width = widths[__builtin_ctz((unsigned)u->key_bytes)];
    job.rank_bytes = job.position_bytes;
    if (!u->appearance) {
        job.ranks = u->inverse;
        job.rank_bytes = u->index_bytes;
    }
    const size_t parts = parts_of(u);
    echi_parallel(threads, parts, count_part, &job);
    *u->count = sum_parts(&job);
    echi_parallel(threads, parts, write_part, &job);
    if (job.select && u->counts) end_counts(&job, parts);
    if (u->appearance) by_appearance(&job, threads);
    const size_t values = u->mode ? 1 : (size_t)*u->count;
    if (u->mode) write_mode(&job);
    repair(&job, threads, values);
done:
    return status;
}

/* Whether sorted floats contain 0 or NaN: equal ones may differ in bits. */
static bool may_be_ambiguous(const struct echi_order *merged, const void *sorted, size_t n,
                             size_t bytes)
{
    uint64_t last = 0;
    bool zero = false;
    memcpy(&last, (const char *)sorted + (n - 1) * bytes, bytes); /* little-endian */
    if (bytes == 8)
        for (size_t i = 0; i < n; i++) zero |= (uint64_t)(((const uint64_t *)sorted)[i] << 1) == 0;
    else if (bytes == 4)
        for (size_t i = 0; i < n; i++) zero |= (uint32_t)(((const uint32_t *)sorted)[i] << 1) == 0;
    else
        for (size_t i = 0; i < n; i++) zero |= (uint16_t)(((const uint16_t *)sorted)[i] << 1) == 0;
    return zero || echi_order_encode(merged, (int)bytes, last) == merged->last;
}

/* Replaces the values 0 and NaN by the first ones of the input. */
NOINLINE static void repair_few(const void *in, void *values, size_t count, size_t n,
                                ech_dtype dtype)
{
    const size_t bytes = echi_dtype_bytes(dtype);
    const struct echi_unique u = { .in = in,
                                   .values = values,
                                   .n = n,
                                   .dtype = dtype,
                                   .key_bytes = (int)bytes,
                                   .order = echi_order_ascending(dtype, true),
                                   .has_values = true };
    struct unique_part part = { .runs = 0 };
    struct unique_job job = { .u = &u, .parts = &part };
    job.width = widths[__builtin_ctz((unsigned)bytes)];
    repair(&job, 1, count);
}

bool echi_cpu_values_few(const void *in, void *values, uint64_t *count, size_t n, ech_dtype dtype)
{
    enum { FEW = 64 };
    const struct echi_order *merged = &echi_orders[1][dtype];
    const size_t bytes = echi_dtype_bytes(dtype);
    _Alignas(64) uint64_t sorted[FEW];
    if (n > FEW || !echi_cpu_sort_few(&echi_orders[0][dtype], in, sorted, n, bytes)) return false;
    struct echi_select s; /* the other fields are not used */
    s.what = ECHI_KEEP;
    s.by = ECHI_BY_STARTS;
    s.in = sorted;
    s.out = values;
    s.count = count;
    s.lengths = NULL;
    s.n = n;
    s.element_bytes = bytes;
    s.invert = false;
    s.test[0].order = *merged;
    echi_select_width_of_machine(bytes)->few(&s);
    if (merged->float_mask && may_be_ambiguous(merged, sorted, n, bytes))
        repair_few(in, values, (size_t)*count, n, dtype);
    return true;
}

/* Values and counts of few elements. */
static bool unique_at_once(const void *request)
{
    enum { AT_ONCE_BYTES = 4096, FEW = 64 /* are sorted in less time than the test takes */ };
    const struct echi_unique *u = request;
    const size_t bytes = (size_t)u->key_bytes;
    _Alignas(64) char sorted[AT_ONCE_BYTES];
    struct unique_part part = { .runs = 0 };
    struct unique_job job = {
        .u = u, .parts = &part, .keys = u->in, .isa = echi_select_isa_of_machine()
    };
    if (u->mode || echi_unique_pairs(u) || !u->n || u->n > AT_ONCE_BYTES / bytes) return false;
    job.select = echi_select_width_of_machine(bytes);
    if (u->n <= FEW || !echi_sort_is_ascending(&u->order, u->in, u->n, bytes, 1)) {
        struct echi_sort sort = echi_unique_sort(u);
        sort.keys_in = u->in;
        sort.keys_out = sorted;
        job.keys = sorted;
        if (!echi_cpu_sort_few(&sort.order, u->in, sorted, u->n, bytes) &&
            !echi_cpu_sort.quick(&sort))
            return false;
    }
    *u->count = pack_heads(&job, &part, 0, u->n);
    if (u->counts) end_counts(&job, 1);
    if (echi_unique_repairs(u)) {
        job.width = widths[echi_bit_length(bytes) - 1];
        repair(&job, 1, (size_t)*u->count);
    }
    return true;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_unique *u = request;
    echi_explain_algorithm(e, true, "sort", "sorts %s, then finds the runs of equal keys",
                           echi_unique_pairs(u) ? "keys with their positions" : "keys only");
    return ECH_OK;
}

const struct echi_operation echi_cpu_unique = {
    .plan = plan, .explain = explain, .run = run, .quick = unique_at_once
};
