/*
 * dist/sort.c - ech_dist_sort(), ech_dist_sort_pairs() and ech_dist_argsort().
 *
 *     sort      each rank sorts its part: keys, and values or positions
 *     split     exact splitters (split.c): how many elements of each rank go to each rank
 *     exchange  the runs between splitters; received runs lie in the order of their ranks
 *     merge     the runs, stably: equal keys are in the order of ranks, then of positions
 *
 * Keys only are ordered by their bits (include/echelon/sort.h), which a merge does not do if NaN
 * have a sign: if the array has negative NaN, the received keys are sorted instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/sort.h"
#include "core/call.h"
#include "echelon/arrange.h"
#include "echelon/dist.h"
#include "echelon/merge.h"
#include "sort/divide.h"

#include <stdlib.h>
#include <string.h>

/* From this many keys on all ranks together on, or pairs on each rank, they are divided first, if
 * all ranks can do so.  H200, 2026-11-27. */
enum { PARTITION_LEAST = 1 << 24, PARTITION_LEAST_PAIRS = 1 << 30 };

/* ---- Workspace ---- */

static void raise(size_t *most, size_t bytes)
{
    if (bytes > *most) *most = bytes;
}

/* Whether -0 and NaN are ordered by bits and wrap. */
static bool may_wrap(const struct echi_dist_sort *s)
{
    return s->value_bytes == 0 && echi_dtype_is_float(s->dtype) && s->order == ECH_ORDER_NAN_LAST;
}

/* The workspace of the calls of the library, which are made one after another, and of the copies of
 * their arrays in host memory. */
static ech_status plan_inner(const struct echi_dist_sort *s, const char *device, int ranks,
                             size_t *bytes)
{
    const ech_sort_options options = { .size = sizeof options, .algorithm = s->algorithm };
    struct echi_need need = echi_need_begin(device, ranks, bytes);
    ech_status status = need.status;
    size_t work = 0;
    TRY(status);
    TRY(ech_sort_workspace(device, s->n, s->dtype, s->value_bytes, &options, &work));
    echi_need_step(&need, work, 0, 0);
    TRY(ech_sort_workspace(device, s->n_out, s->dtype, s->value_bytes, NULL, &work));
    echi_need_step(&need, work, 0, 0);
    TRY(ech_merge_many_workspace(device, s->n_out, (size_t)ranks, s->dtype, s->value_bytes, NULL,
                                 &work));
    echi_need_step(&need, work, ((size_t)ranks + 1) * sizeof(uint64_t), 0);
    TRY(ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, ECH_OP_COUNT, s->n, 0, s->dtype, NULL,
                             &work));
    if (may_wrap(s)) echi_need_step(&need, work, sizeof(uint64_t), 0);
    TRY(ech_is_sorted_workspace(device, s->n, s->dtype, NULL, &work));
    echi_need_step(&need, work, sizeof(uint64_t), 0);
    echi_need_split(&need, ranks, s->n, s->dtype);
    TRY(need.status);
    *bytes = need.largest.bytes;
done:
    return status;
}

static size_t element_bytes(const struct echi_dist_sort *s)
{
    return ech_dtype_bytes(s->dtype) + s->value_bytes;
}

/* What gather.c needs in addition. */
static ech_status plan_gather(struct echi_dist_sort *s, const char *device, int ranks)
{
    const ech_sort_options options = { .size = sizeof options, .algorithm = s->algorithm };
    const struct echi_backend *backend = NULL;
    size_t need = 0;
    ech_status status = echi_backend_ask(device, &backend);
    if (status != ECH_OK || ranks == 1) return status;
    size_t most = s->most ? s->most : echi_gather_most(backend, s->n);
    if (s->top) most = (size_t)echi_gather_room(backend, ranks, s->n, s->n_out, element_bytes(s));
    status = ech_sort_workspace(device, most, s->dtype, s->value_bytes, &options, &need);
    raise(&s->inner_bytes, need);
    s->most = most;
    return status;
}

/* Elements of shared bins, in the part of the workspace that the buckets use later. */
static void lay_out_shared(struct echi_dist_sort *s, struct echi_layout *layout)
{
    const size_t in = echi_partition_shared(s->n), out = echi_partition_shared(s->n_out);
    const size_t key_bytes = ech_dtype_bytes(s->dtype);
    s->shared_in = echi_part(layout, s->value_bytes ? in : 0, key_bytes);
    s->shared_values_in = echi_part(layout, in, s->value_bytes);
    s->shared_out = echi_part(layout, out, key_bytes);
    s->shared_values_out = echi_part(layout, out, s->value_bytes);
    s->shared_work = echi_part(layout, s->shared_bytes, 1);
}

/* What partition.c needs in addition. */
static ech_status plan_partition(struct echi_dist_sort *s, const char *device, int ranks)
{
    const struct echi_backend *backend = NULL;
    struct echi_layout layout = { .base = NULL };
    struct echi_dist_sort shared = { .dtype = s->dtype,
                                     .value_bytes = s->value_bytes,
                                     .n = echi_partition_shared(s->n),
                                     .n_out = echi_partition_shared(s->n_out),
                                     .gathers = true };
    size_t need = 0;
    ech_status status = echi_backend_ask(device, &backend);
    if (status != ECH_OK || ranks == 1 || !echi_partition_can(s, backend)) return status;
    if (!backend->divide && s->method != ECHI_DIST_PARTITION) return status;
    status = echi_partition_work(s, device, backend, &need);
    raise(&s->inner_bytes, need);
    if (status == ECH_OK) status = echi_dist_sort_plan(&shared, device, ranks, &layout);
    s->shared_bytes = layout.bytes;
    layout = (struct echi_layout){ .base = NULL };
    lay_out_shared(s, &layout);
    raise(&s->inner_bytes, layout.bytes);
    s->divide_bytes = backend->divide ? backend->divide->work_bytes : 0;
    s->divides = true;
    return status;
}

ech_status echi_dist_sort_plan(struct echi_dist_sort *s, const char *device, int ranks,
                               struct echi_layout *layout)
{
    const size_t key_bytes = ech_dtype_bytes(s->dtype);
    if (!layout->base && device) {
        ech_status status = plan_inner(s, device, ranks, &s->inner_bytes);
        if (status == ECH_OK && (s->top || s->gathers)) status = plan_gather(s, device, ranks);
        if (status == ECH_OK && s->top) status = plan_partition(s, device, ranks);
        if (status != ECH_OK) return status;
    }
    s->got_keys = echi_part(layout, s->n_out, key_bytes); /* before keys: partition.c */
    const size_t gaps = s->divides && s->value_bytes == 0 ? ECHI_PARTITION_GAPS : 0;
    s->keys = echi_part(layout, s->n + gaps * (size_t)ranks, key_bytes);
    s->values = echi_part(layout, s->n, s->value_bytes);
    s->got_values = echi_part(layout, s->n_out, s->value_bytes);
    s->numbers = echi_part(layout, s->positions ? s->n : 0, s->value_bytes);
    s->merged = echi_part(layout, s->positions ? s->n_out : 0, key_bytes);
    s->inner = echi_part(layout, s->inner_bytes, 1);
    if (s->inner_bytes == 0) s->inner = NULL;
    s->all_keys = echi_part(layout, s->most, key_bytes);
    s->sorted_keys = echi_part(layout, s->most, key_bytes);
    s->all_values = echi_part(layout, s->most, s->value_bytes);
    s->sorted_values = echi_part(layout, s->most, s->value_bytes);
    if (s->divides) {
        struct echi_layout inner = { .base = s->inner };
        s->divide = echi_part(layout, s->divide_bytes, 1);
        s->segments = echi_part(layout, 1, sizeof *s->segments);
        if (layout->base) lay_out_shared(s, &inner);
    }
    if (layout->overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY,
                         "the workspace of a distributed sort overflows "
                         "size_t");
    return ECH_OK;
}

/* ---- Local steps ---- */

static ech_sort_options local_options(const struct echi_dist_sort *s)
{
    return (ech_sort_options){ .size = sizeof(ech_sort_options),
                               .descending = s->descending,
                               .order = s->order,
                               .algorithm = s->algorithm,
                               .work = s->inner,
                               .work_bytes = s->inner_bytes };
}

ech_status echi_dist_sort_positions(struct echi_dist *d, const struct echi_dist_sort *s)
{
    const uint64_t first = d->in_first[d->rank];
    uint64_t start = 0;
    memcpy(&start, &first, s->value_bytes); /* little-endian, modulo 2^bits */
    return ech_iota(d->ctx, s->numbers, s->n, s->index_dtype, &start, NULL);
}

static ech_status sort_part(struct echi_dist *d, const struct echi_dist_sort *s)
{
    const ech_sort_options options = local_options(s);
    const void *values = s->values_in;
    if (s->value_bytes == 0) return ech_sort(d->ctx, s->keys_in, s->keys, s->n, s->dtype, &options);
    if (s->positions) {
        const ech_status status = echi_dist_sort_positions(d, s);
        if (status != ECH_OK) return status;
        values = s->numbers;
    }
    return ech_sort_pairs(d->ctx, s->keys_in, values, s->keys, s->values, s->n, s->dtype,
                          s->value_bytes, &options);
}

/* The number of negative NaN of this rank: as unsigned integers, they exceed -inf. */
static ech_status count_wrapped(struct echi_dist *d, const struct echi_dist_sort *s,
                                size_t *wrapped)
{
    static const ech_dtype unsigned_of[] = { [2] = ECH_U16, [4] = ECH_U32, [8] = ECH_U64 };
    const size_t bytes = ech_dtype_bytes(s->dtype);
    const uint64_t infinity = echi_dtype_infinity(s->dtype) | (uint64_t)1 << (8 * bytes - 1);
    const ech_reduce_options options = { .size = sizeof options,
                                         .compare = ECH_COMPARE_GREATER,
                                         .value = &infinity };
    uint64_t count = 0;
    struct echi_lent lent;
    echi_lend(&lent, d->ctx, s->inner, s->inner_bytes);
    const ech_status status =
        ech_reduce(d->ctx, ECH_OP_COUNT, s->keys, &count, s->n, unsigned_of[bytes], &options);
    echi_lent_end(&lent);
    *wrapped = (size_t)count;
    return status;
}

/* One rank sorts directly. */
static ech_status sort_without_exchange(struct echi_dist *d, const struct echi_dist_sort *s)
{
    struct echi_dist_sort direct = *s;
    direct.keys = s->keys_out ? s->keys_out : s->merged;
    direct.values = s->values_out;
    return sort_part(d, &direct);
}

/* ---- Exchange ---- */

/* offsets [ranks + 1] receives where the run of each rank begins in the received elements. */
static void count_runs(const struct echi_dist *d, const uint64_t *cuts, uint64_t *sends,
                       uint64_t *offsets)
{
    const size_t ranks = (size_t)d->ranks, me = (size_t)d->rank;
    offsets[0] = 0;
    for (size_t r = 0; r < ranks; r++) {
        sends[r] = cuts[r * ranks + me];
        offsets[r + 1] = offsets[r] + cuts[(me + 1) * ranks + r] - cuts[me * ranks + r];
    }
    sends[ranks] = cuts[ranks * ranks + me];
}

static ech_status exchange(struct echi_dist *d, const uint64_t *sends, const uint64_t *offsets,
                           const void *from, void *to, size_t bytes)
{
    const size_t ranks = (size_t)d->ranks;
    char *out = (char *)(uintptr_t)from, *in = to;
    for (size_t r = 0; r < ranks; r++) {
        const uint64_t sent = (sends[r + 1] - sends[r]) * bytes;
        const uint64_t got = (offsets[r + 1] - offsets[r]) * bytes;
        d->messages[r] =
            (ech_comm_message){ sent ? out + sends[r] * bytes : NULL, sent, (int64_t)r };
        d->messages[ranks + r] =
            (ech_comm_message){ got ? in + offsets[r] * bytes : NULL, got, (int64_t)r };
    }
    return echi_comm_exchange_device(d->ctx, d->comm, d->messages, ranks, d->messages + ranks,
                                     ranks);
}

/* The workspace also has the copy of the offsets. */
static ech_status merge_runs(struct echi_dist *d, const struct echi_dist_sort *s,
                             const uint64_t *offsets)
{
    const ech_merge_options options = { .size = sizeof options,
                                        .descending = s->descending,
                                        .order = s->value_bytes ? s->order : ECH_ORDER_TOTAL };
    const size_t runs = (size_t)d->ranks;
    struct echi_lent lent;
    ech_status status;
    echi_lend(&lent, d->ctx, s->inner, s->inner_bytes);
    if (s->value_bytes)
        status = ech_merge_many_pairs(d->ctx, s->got_keys, s->got_values, offsets,
                                      s->keys_out ? s->keys_out : s->merged, s->values_out,
                                      s->n_out, runs, s->dtype, s->value_bytes, ECH_U64, &options);
    else
        status = ech_merge_many(d->ctx, s->got_keys, offsets, s->keys_out, s->n_out, runs, s->dtype,
                                ECH_U64, &options);
    echi_lent_end(&lent);
    return status;
}

static ech_status merge(struct echi_dist *d, const struct echi_dist_sort *s,
                        const uint64_t *offsets, bool wrapped)
{
    ech_sort_options sort = local_options(s);
    if (!wrapped) return merge_runs(d, s, offsets);
    sort.algorithm = NULL;
    return ech_sort(d->ctx, s->got_keys, s->keys_out, s->n_out, s->dtype, &sort);
}

ech_status echi_dist_sort_merge(struct echi_dist *d, struct echi_dist_sort *s, ech_status status)
{
    const size_t ranks = (size_t)d->ranks;
    uint64_t *cuts = calloc((ranks + 1) * ranks + 2 * (ranks + 1), sizeof *cuts);
    uint64_t *sends = cuts ? cuts + (ranks + 1) * ranks : NULL;
    uint64_t *offsets = cuts ? sends + ranks + 1 : NULL;
    struct echi_sorted sorted = { .keys = s->keys,
                                  .n = s->n,
                                  .dtype = s->dtype,
                                  .order = s->order,
                                  .descending = s->descending,
                                  .by_bits = s->value_bytes == 0,
                                  .work = s->inner,
                                  .work_bytes = s->inner_bytes };
    if (status == ECH_OK && !cuts)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %zu ranks", ranks);
    if (status == ECH_OK) status = sort_part(d, s);
    if (status == ECH_OK && may_wrap(s)) status = count_wrapped(d, s, &sorted.wrapped);
    uint64_t wrapped = sorted.wrapped;
    TRY(echi_comm_sum(d->ctx, d->comm, status, &wrapped, 1));
    TRY(echi_dist_split(d, ECH_OK, &sorted, d->out_first + 1, ranks, cuts + ranks, NULL));
    count_runs(d, cuts, sends, offsets);
    status = exchange(d, sends, offsets, s->keys, s->got_keys, ech_dtype_bytes(s->dtype));
    if (s->value_bytes) {
        const ech_status second =
            exchange(d, sends, offsets, s->values, s->got_values, s->value_bytes);
        if (status == ECH_OK) status = second;
    }
    if (status == ECH_OK) status = merge(d, s, offsets, wrapped != 0);
done:
    free(cuts);
    return status;
}

ech_status echi_dist_sort_run(struct echi_dist *d, struct echi_dist_sort *s, ech_status status)
{
    const bool chosen = s->method == ECHI_DIST_AUTO;
    const uint64_t each = d->total / (uint64_t)d->ranks;
    const bool many = s->value_bytes == 0
                          ? d->total >= PARTITION_LEAST
                          : ech_dtype_bytes(s->dtype) >= 4 && /* in several passes */
                                each >= PARTITION_LEAST_PAIRS;
    const bool divide = s->method == ECHI_DIST_PARTITION || (chosen && many);
    bool done = false;
    if (d->ranks == 1) return status == ECH_OK ? sort_without_exchange(d, s) : status;
    if (s->top && (chosen || s->method == ECHI_DIST_GATHER) && echi_dist_can_gather(d))
        return echi_dist_sort_gather(d, s, status);
    /* Without direct copies or queued exchanges, a message per bucket costs more than a merge. */
    const bool overlaps =
        echi_comm_direct(d->comm) || (echi_comm_queues(d->comm) && s->value_bytes == 0);
    if (divide && s->top && d->total && (!chosen || overlaps)) {
        status = echi_dist_sort_partition(d, s, status, &done);
        if (done || status != ECH_OK) return status;
    }
    return echi_dist_sort_merge(d, s, status);
}

/* ---- The calls ---- */

static ech_status check(ech_ctx *ctx, const struct echi_dist_sort *s,
                        const ech_sort_options *options)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", s->dtype));
    TRY(echi_check_count(ctx, "n", s->n, ech_dtype_bytes(s->dtype)));
    if (s->pairs && s->value_bytes == 0) FAIL(ctx, ECH_ERR_ARG, "value_bytes is 0");
    TRY(echi_check_count(ctx, "n", s->n, s->value_bytes));
    if (options->begin_bit || options->end_bit)
        FAIL(
            ctx, ECH_ERR_UNSUPPORTED,
            "options->begin_bit and end_bit are not supported by distributed sorts; set them to 0");
    if (options->row_stride || options->element_stride || options->out_row_stride ||
        options->out_element_stride)
        FAIL(ctx, ECH_ERR_ARG, "options has strides, but this call has no rows");
    if (options->descending != 0 && options->descending != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1", options->descending);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        FAIL(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order", (int)options->order);
    if (s->n && (!s->keys_in || (s->value_bytes && !s->positions && !s->values_in)))
        FAIL(ctx, ECH_ERR_ARG, "%s is NULL",
             s->keys_in       ? "values_in"
             : s->positions   ? "keys"
             : s->value_bytes ? "keys_in"
                              : "in");
done:
    return status;
}

/* Plans with the context's device, and provides the workspace. */
static ech_status prepare(struct echi_dist *d, struct echi_dist_sort *s,
                          const ech_sort_options *options)
{
    struct echi_layout layout = { .base = NULL };
    s->n_out = echi_dist_n_out(d);
    if (s->n_out && (!s->values_out && s->value_bytes))
        return echi_fail(d->ctx, ECH_ERR_ARG, "%s is NULL", s->positions ? "index" : "values_out");
    if (s->n_out && !s->keys_out && !s->positions)
        return echi_fail(d->ctx, ECH_ERR_ARG, "%s is NULL", s->value_bytes ? "keys_out" : "out");
    ech_status status = echi_dist_sort_plan(s, ech_device_name(d->ctx), d->ranks, &layout);
    if (status != ECH_OK) return echi_fail(d->ctx, status, "%s", ech_error(NULL));
    status =
        echi_dist_work(d, "a distributed sort", layout.bytes, options->work, options->work_bytes);
    if (status != ECH_OK) return status;
    layout = (struct echi_layout){ .base = d->work };
    return echi_dist_sort_plan(s, NULL, d->ranks, &layout);
}

/* Names of options->algorithm that are not algorithms of the sort of a part. */
static void set_method(struct echi_dist_sort *s)
{
    static const char *const names[] = {
        [ECHI_DIST_MERGE] = "runs",
        [ECHI_DIST_PARTITION] = "partition",
        [ECHI_DIST_GATHER] = "gather",
    };
    for (int i = ECHI_DIST_MERGE; s->algorithm && i < ECHI_DIST_METHODS; i++)
        if (strcmp(s->algorithm, names[i]) == 0) {
            s->method = (enum echi_dist_method)i;
            s->algorithm = NULL;
        }
}

/* All three calls.  options: those of the caller, as given. */
static ech_status run(ech_ctx *ctx, ech_comm *comm, const char *name, struct echi_dist_sort *s,
                      size_t n_out, const ech_sort_options *given)
{
    static const char *const names[] = {
        "dtype",          "value_bytes",        "index_dtype", "positions", "options->descending",
        "options->order", "options->algorithm", NULL
    };
    ech_sort_options options = { .size = sizeof options };
    ech_status status = echi_read_options(ctx, "ech_sort_options", given, &options, sizeof options,
                                          offsetof(ech_sort_options, work));
    if (status == ECH_OK) status = check(ctx, s, &options);
    s->descending = options.descending;
    s->order = options.order;
    s->algorithm = options.algorithm;
    s->top = true;
    set_method(s);
    struct echi_comm_call call = { .option = { (uint64_t)s->dtype, s->value_bytes,
                                               s->positions ? (uint64_t)s->index_dtype : 0,
                                               s->positions, (uint64_t)s->descending,
                                               (uint64_t)s->order, (uint64_t)s->method },
                                   .n = s->n,
                                   .n_out = n_out,
                                   .room = ctx ? echi_gather_room(ctx->backend, ech_comm_size(comm),
                                                                  s->n, n_out, element_bytes(s))
                                               : 0 };
    memcpy(call.name, name, strlen(name));
    struct echi_dist d;
    status = echi_dist_begin(&d, ctx, comm, &call, names, status, true);
    if (status != ECH_OK) return status;
    if (s->positions)
        status = echi_check_index(ctx, "index_dtype", s->index_dtype, "the total n", d.total);
    if (status == ECH_OK) status = prepare(&d, s, &options);
    return echi_dist_end(&d, echi_dist_sort_host(&d, s, status));
}

ech_status ech_dist_sort(ech_ctx *ctx, ech_comm *comm, const void *in, void *out, size_t n,
                         size_t n_out, ech_dtype dtype, const ech_sort_options *options)
{
    struct echi_dist_sort s = { .dtype = dtype, .n = n, .keys_in = in, .keys_out = out };
    return run(ctx, comm, "ech_dist_sort", &s, n_out, options);
}

ech_status ech_dist_sort_pairs(ech_ctx *ctx, ech_comm *comm, const void *keys_in,
                               const void *values_in, void *keys_out, void *values_out, size_t n,
                               size_t n_out, ech_dtype dtype, size_t value_bytes,
                               const ech_sort_options *options)
{
    struct echi_dist_sort s = { .dtype = dtype,
                                .n = n,
                                .value_bytes = value_bytes,
                                .pairs = true,
                                .keys_in = keys_in,
                                .values_in = values_in,
                                .keys_out = keys_out,
                                .values_out = values_out };
    return run(ctx, comm, "ech_dist_sort_pairs", &s, n_out, options);
}

ech_status ech_dist_argsort(ech_ctx *ctx, ech_comm *comm, const void *keys, void *index, size_t n,
                            size_t n_out, ech_dtype dtype, ech_dtype index_dtype,
                            const ech_sort_options *options)
{
    struct echi_dist_sort s = { .dtype = dtype,
                                .n = n,
                                .value_bytes = ech_dtype_bytes(index_dtype),
                                .positions = true,
                                .index_dtype = index_dtype,
                                .keys_in = keys,
                                .values_out = index };
    return run(ctx, comm, "ech_dist_argsort", &s, n_out, options);
}

ech_status ech_dist_sort_workspace(const char *device, int ranks, size_t n, size_t n_out,
                                   ech_dtype dtype, size_t value_bytes, int argsort,
                                   const ech_sort_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    struct echi_dist_sort s = { .dtype = dtype,
                                .n = n,
                                .n_out = n_out,
                                .value_bytes = value_bytes,
                                .positions = argsort,
                                .algorithm = options->algorithm,
                                .top = true };
    set_method(&s);
    struct echi_layout layout = { .base = NULL };
    ech_status status;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    if (ranks < 1) FAIL(NULL, ECH_ERR_ARG, "ranks is %d, less than 1", ranks);
    if (argsort != 0 && argsort != 1) FAIL(NULL, ECH_ERR_ARG, "argsort is %d, not 0 or 1", argsort);
    TRY(echi_check_dtype(NULL, "dtype", dtype));
    TRY(echi_dist_sort_plan(&s, device, ranks, &layout));
    *bytes = layout.bytes;
done:
    return status;
}
