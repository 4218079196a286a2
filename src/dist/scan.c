/*
 * dist/scan.c - ech_dist_scan().
 *
 * Integers, minima and maxima: each rank combines its elements, and scans with the combination of
 * the ranks before it as the initial value.
 *
 * Sums and products of floats have the order of docs/scan.md for the concatenation.  Its groups of
 * 32,768 vectors are processed as a whole: a group belongs to the rank that has its first element,
 * which collects the elements that other ranks have.
 *
 *     totals    of every group, in the order of a group; every rank gathers all of them
 *     P[g]      the initial value of group g: the totals before it, from left to right
 *     scan      the groups of a rank, with P of the first one; results go back to where the
 *               elements came from
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/totals.h"
#include "core/call.h"
#include "echelon/dist.h"

#include <stdlib.h>
#include <string.h>

struct job {
    struct echi_dist *d;
    struct echi_scan s;
    ech_op op;
    ech_dtype dtype, out_dtype;
    const ech_scan_options *options;
    ech_scan_options local; /* of the scans of this rank */
    size_t n, in_bytes, out_bytes;
    const char *in;
    char *out;
};

/* Whether no rank needs what this rank has combined. */
static bool is_last(const struct job *job)
{
    const struct echi_dist *d = job->d;
    if (job->options->reverse) return d->in_first[d->rank] == 0;
    return d->in_first[d->rank + 1] == d->total;
}

/* ---- Operators whose result does not depend on the order ---- */

/* The combination of this rank's elements; n is not 0. */
static ech_status own_value(struct job *job, void *value)
{
    struct echi_dist *d = job->d;
    const ech_reduce_options reduce = { .size = sizeof reduce };
    uint64_t wide = 0;
    ech_status status;
    if (!echi_dtype_is_float(job->dtype)) { /* sums and products are modulo 2^64 */
        status = ech_reduce(d->ctx, job->op, job->in, &wide, job->n, job->dtype, &reduce);
        memcpy(value, &wide, job->out_bytes);
        return status;
    }
    ech_scan_options options = job->local; /* a reduction would change the bits of NaN */
    options.exclusive = 0;
    options.init = NULL;
    status = ech_scan(d->ctx, job->op, job->in, job->out, job->n, job->dtype, &options);
    if (status != ECH_OK) return status;
    const size_t last = job->options->reverse ? 0 : job->n - 1;
    return ech_copy(d->ctx, value, job->out + last * job->out_bytes, job->out_bytes);
}

/* Combines values in host memory, in place: the result is the last one. */
static ech_status combine(struct job *job, void *values, size_t count)
{
    const ech_scan_options options = { .size = sizeof options, .nan = job->options->nan };
    return ech_scan(job->d->ctx, job->op, values, values, count, job->out_dtype, &options);
}

static ech_status scan_any_order(struct job *job)
{
    struct echi_dist *d = job->d;
    uint64_t value = 0;
    size_t count = 0;
    ech_status status = ECH_OK;
    char *values = malloc(8 * ((size_t)d->ranks + 1));
    if (!values) status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    if (status == ECH_OK && job->n && !is_last(job)) status = own_value(job, &value);
    TRY(echi_comm_agree(d->ctx, d->comm, status, &value, sizeof value));
    if (job->options->init) memcpy(values, job->options->init, job->out_bytes);
    count = job->options->init != NULL;
    for (int r = 0; r < d->ranks; r++) {
        const bool before = job->options->reverse ? r > d->rank : r < d->rank;
        if (!before || d->in_first[r] == d->in_first[r + 1]) continue;
        memcpy(values + count++ * job->out_bytes, d->comm->notes[r].note, job->out_bytes);
    }
    if (count > 1) TRY(combine(job, values, count));
    if (count) job->local.init = values + (count - 1) * job->out_bytes;
    TRY(ech_scan(d->ctx, job->op, job->in, job->out, job->n, job->dtype, &job->local));
done:
    free(values);
    return status;
}

/* ---- Sums and products of floats ---- */

/* The groups of one rank: where they begin, and how many they are. */
struct range {
    uint64_t from, to;
};

static struct range groups_of(const struct job *job, int rank, uint64_t granule, uint64_t phase)
{
    const struct echi_granules g = echi_dist_granules(job->d, rank, granule, phase);
    return (struct range){ g.whole_from, g.tail_to };
}

/* The number of a group in the order of the scan, from a position in it. */
static uint64_t group_number(const struct job *job, uint64_t position, uint64_t granule)
{
    return (job->options->reverse ? job->d->total - 1 - position : position) / granule;
}

static uint64_t count_groups(const struct job *job, struct range range, uint64_t granule)
{
    if (range.from == range.to) return 0;
    const uint64_t a = group_number(job, range.from, granule);
    const uint64_t b = group_number(job, range.to - 1, granule);
    return (a > b ? a - b : b - a) + 1;
}

/* The identity element in the type of the computation. */
static uint64_t identity(const struct job *job)
{
    const bool wide = job->s.wide || job->dtype == ECH_F64,
               product = job->s.op == ECHI_SCAN_PRODUCT;
    const float one = product ? 1 : -0.0f;
    const double wide_one = product ? 1 : -0.0;
    uint64_t bits = 0;
    if (wide)
        memcpy(&bits, &wide_one, sizeof wide_one);
    else
        memcpy(&bits, &one, sizeof one);
    return bits;
}

/* The totals of groups in memory of a GPU, from those of tiles, which a scan computes; out is
 * overwritten. */
static ech_status device_groups(struct job *job, const void *in, void *out, uint64_t groups,
                                uint64_t granule, uint64_t *totals)
{
    ech_ctx *ctx = job->d->ctx;
    const struct echi_scan_ops *ops = ctx->backend->scan_ops;
    const uint64_t each = granule * job->in_bytes / ops->tile_bytes;
    uint64_t *tiles = malloc((size_t)(groups * each) * sizeof *tiles);
    struct echi_scan s = job->s;
    if (!tiles) return echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for the totals of a scan");
    s.in = in;
    s.out = out;
    s.n = s.columns = (size_t)(groups * granule);
    s.first = identity(job);
    const ech_status status = ops->tile_totals(ctx, &s, tiles);
    for (uint64_t i = 0; i < groups && status == ECH_OK; i++) {
        uint64_t *total = &totals[job->options->reverse ? groups - 1 - i : i];
        *total = tiles[i * each];
        for (uint64_t j = 1; j < each; j++)
            *total = echi_scan_add(&job->s, *total, tiles[i * each + j]);
    }
    free(tiles);
    return status;
}

/* The totals of the complete groups among n elements, which begin and end at groups. */
static ech_status total_groups(struct job *job, const char *in, void *out, uint64_t n,
                               uint64_t granule, uint64_t *totals)
{
    const uint64_t groups = n / granule;
    ech_ctx *ctx = job->d->ctx;
    enum echi_side side = ECHI_HOST, out_side = ECHI_HOST;
    ech_status status = ECH_OK;
    void *owned = NULL;
    size_t owned_bytes = 0;
    if (groups == 0) return ECH_OK;
    /* an incomplete group is the last one in the order of the scan */
    if (job->options->reverse) {
        in = echi_after(in, n % granule * job->in_bytes);
        out = echi_after(out, n % granule * job->out_bytes);
    }
    if (ctx->backend->scan_ops) {
        TRY(ctx->backend->side(ctx, in, &side, NULL));
        TRY(ctx->backend->side(ctx, out, &out_side, NULL));
    }
    if (side != ECHI_DEVICE) {
        echi_scan_totals(ctx, &job->s, in, groups, totals);
        goto done;
    }
    if (out_side != ECHI_DEVICE) {
        owned_bytes = (size_t)(groups * granule) * job->out_bytes;
        TRY(echi_allocate(ctx, owned_bytes, "a scan", &owned));
    }
    status = device_groups(job, in, owned ? owned : out, groups, granule, totals);
done:
    echi_release(ctx, owned, owned_bytes);
    return status;
}

/* all [ranks][most]: totals of the groups of each rank in the order of positions.  Returns P of the
 * first group of this rank in the order of the scan. */
static uint64_t first_of_rank(const struct job *job, const uint64_t *all, uint64_t most,
                              uint64_t granule, uint64_t phase)
{
    const struct echi_dist *d = job->d;
    const bool reverse = job->options->reverse;
    uint64_t first = job->s.first;
    for (int i = 0; i < d->ranks; i++) {
        const int r = reverse ? d->ranks - 1 - i : i;
        if (r == d->rank) break;
        const uint64_t count = count_groups(job, groups_of(job, r, granule, phase), granule);
        for (uint64_t j = 0; j < count; j++)
            first = echi_scan_add(&job->s, first,
                                  all[(uint64_t)r * most + (reverse ? count - 1 - j : j)]);
    }
    return first;
}

/* P after the groups of a range, in the order of the scan. */
static uint64_t add_groups(const struct job *job, uint64_t first, const uint64_t *totals,
                           uint64_t count)
{
    const bool reverse = job->options->reverse;
    for (uint64_t j = 0; j < count; j++)
        first = echi_scan_add(&job->s, first, totals[reverse ? count - 1 - j : j]);
    return first;
}

static ech_status scan_from(struct job *job, const void *in, void *out, uint64_t n, uint64_t first)
{
    if (n == 0) return ECH_OK;
    return echi_scan_from(job->d->ctx, job->op, in, out, (size_t)n, job->dtype, &job->local, first);
}

/* Scans the whole groups, then the tail, or the other way round. */
static ech_status scan_groups(struct job *job, struct echi_granules g, const void *tail,
                              void *tail_out, uint64_t first, const uint64_t *totals,
                              uint64_t whole)
{
    const uint64_t n_whole = g.tail_from - g.whole_from, n_tail = g.tail_to - g.tail_from;
    const uint64_t skip = g.whole_from - g.first;
    const bool reverse = job->options->reverse;
    uint64_t tail_first = first, whole_first = first;
    if (!reverse) tail_first = add_groups(job, first, totals, whole);
    if (reverse && n_tail) whole_first = add_groups(job, first, totals + whole, 1);
    ech_status status =
        scan_from(job, echi_after(job->in, skip * job->in_bytes),
                  echi_after(job->out, skip * job->out_bytes), n_whole, whole_first);
    if (status == ECH_OK) status = scan_from(job, tail, tail_out, n_tail, tail_first);
    return status;
}

/* Memory of a scan of floats. */
struct buffers {
    void *tail, *tail_out; /* of the device */
    size_t tail_bytes, tail_out_bytes;
    uint64_t *mine, *all;
};

static ech_status allocate(struct job *job, struct buffers *b, uint64_t n_tail, uint64_t most)
{
    struct echi_dist *d = job->d;
    ech_status status;
    b->tail_bytes = (size_t)n_tail * job->in_bytes;
    b->tail_out_bytes = (size_t)n_tail * job->out_bytes;
    TRY(echi_allocate(d->ctx, b->tail_bytes, "a group of a scan", &b->tail));
    TRY(echi_allocate(d->ctx, b->tail_out_bytes, "a group of a scan", &b->tail_out));
    b->mine = calloc((size_t)most + 1, sizeof *b->mine);
    b->all = calloc((size_t)d->ranks * most + 1, sizeof *b->all);
    if (!b->mine || !b->all) FAIL(d->ctx, ECH_ERR_MEMORY, "out of memory for the totals of a scan");
done:
    return status;
}

static void release(struct job *job, struct buffers *b)
{
    echi_release(job->d->ctx, b->tail, b->tail_bytes);
    echi_release(job->d->ctx, b->tail_out, b->tail_out_bytes);
    free(b->mine);
    free(b->all);
}

static ech_status scan_floats(struct job *job)
{
    struct echi_dist *d = job->d;
    const uint64_t granule = echi_scan_group(job->in_bytes);
    const uint64_t phase = job->options->reverse ? d->total % granule : 0;
    const struct echi_granules g = echi_dist_granules(d, d->rank, granule, phase);
    const uint64_t n_tail = g.tail_to - g.tail_from;
    struct buffers b = { .tail = NULL };
    uint64_t most = 0, whole = 0;
    for (int r = 0; r < d->ranks; r++) {
        const uint64_t count = count_groups(job, groups_of(job, r, granule, phase), granule);
        if (count > most) most = count;
    }
    ech_status status = allocate(job, &b, n_tail, most);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    status = echi_dist_tails(d, (void *)(uintptr_t)job->in, b.tail, granule, phase, job->in_bytes,
                             false);
    whole = count_groups(job, (struct range){ g.whole_from, g.tail_from }, granule);
    /* the incomplete group of the array, which has no total, is the last one of the scan */
    const uint64_t skipped =
        job->options->reverse && whole && (g.tail_from - g.whole_from) % granule;
    if (status == ECH_OK && !is_last(job))
        status = total_groups(job, echi_after(job->in, (g.whole_from - g.first) * job->in_bytes),
                              echi_after(job->out, (g.whole_from - g.first) * job->out_bytes),
                              g.tail_from - g.whole_from, granule, b.mine + skipped);
    if (status == ECH_OK)
        status = total_groups(job, b.tail, b.tail_out, n_tail, granule, b.mine + whole);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_comm_allgather(d->ctx, d->comm, b.mine, b.all, most * sizeof *b.mine));
    status = scan_groups(job, g, b.tail, b.tail_out,
                         first_of_rank(job, b.all, most, granule, phase), b.mine, whole);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_dist_tails(d, job->out, b.tail_out, granule, phase, job->out_bytes, true));
    status = ech_sync(d->ctx);
done:
    release(job, &b);
    return status;
}

/* ---- The call ---- */

ech_status ech_dist_scan_workspace(const char *device, int ranks, ech_op op, size_t n,
                                   ech_dtype dtype, const ech_scan_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_scan_options, options);
    struct echi_need need = echi_need_begin(device, ranks, bytes);
    const size_t many = ranks > 0 ? (size_t)ranks + 1 : 0, sizes[] = { n, 0, many };
    ech_scan_options plain = *options;
    size_t work = 0;
    struct echi_scan s = { .n = n };
    plain.work = NULL;
    plain.work_bytes = 0;
    if (need.status == ECH_OK) need.status = echi_scan_request(NULL, &s, op, dtype, &plain);
    if (need.status != ECH_OK) return need.status;
    const uint64_t group = echi_scan_group(ech_dtype_bytes(dtype));
    if (s.is_float) { /* a group that several ranks have, and its results */
        echi_part(&need.kept, (size_t)group, ech_dtype_bytes(dtype));
        echi_part(&need.kept, (size_t)group, echi_scan_out_bytes(&s));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && need.status == ECH_OK; i++) {
        const size_t count = i == 1 ? (size_t)group : sizes[i];
        need.status =
            ech_scan_workspace(device, ECH_SCAN_CALL_ROWS, op, count, 0, dtype, &plain, &work);
        echi_need_step(&need, work, i == 2 ? echi_need_product(count, 8) : 0, 0);
    }
    if (need.status == ECH_OK && !echi_dtype_is_float(dtype)) { /* the sum of a part */
        need.status =
            ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, op, n, 0, dtype, NULL, &work);
        echi_need_step(&need, work, 8, 0);
    }
    return echi_need_end(&need, bytes);
}

static ech_status check(ech_ctx *ctx, const ech_comm *comm, struct job *job)
{
    size_t bytes = 0;
    ech_status status;
    TRY(echi_scan_request(ctx, &job->s, job->op, job->dtype, job->options));
    TRY(echi_check_count(ctx, "n", job->n, 8));
    if (job->options->work_bytes && comm) {
        TRY(ech_dist_scan_workspace(ech_device_name(ctx), ech_comm_size(comm), job->op, job->n,
                                    job->dtype, job->options, &bytes));
        TRY(echi_dist_check_work(ctx, "a distributed scan", bytes, job->options->work_bytes));
    }
    if (job->n && !job->in) FAIL(ctx, ECH_ERR_ARG, "in is NULL");
    if (job->n && !job->out) FAIL(ctx, ECH_ERR_ARG, "out is NULL");
    job->in_bytes = ech_dtype_bytes(job->dtype);
    job->out_bytes = echi_scan_out_bytes(&job->s);
    job->out_dtype = job->dtype;
    if (job->s.wide)
        job->out_dtype = echi_dtype_is_float(job->dtype)    ? ECH_F64
                         : echi_dtype_is_signed(job->dtype) ? ECH_I64
                                                            : ECH_U64;
    job->local = *job->options;
    job->local.work = NULL;
    job->local.work_bytes = 0;
done:
    return status;
}

ech_status ech_dist_scan(ech_ctx *ctx, ech_comm *comm, ech_op op, const void *in, void *out,
                         size_t n, ech_dtype dtype, const ech_scan_options *given)
{
    static const char *const names[] = { "op",
                                         "dtype",
                                         "options->exclusive",
                                         "options->reverse",
                                         "options->accumulate_wide",
                                         "options->nan",
                                         "whether options->init is given",
                                         "options->init",
                                         NULL };
    ech_scan_options options = { .size = sizeof options };
    struct echi_dist d;
    struct job job = {
        .d = &d, .op = op, .dtype = dtype, .options = &options, .n = n, .in = in, .out = out
    };
    uint64_t init = 0;
    ech_status status = echi_read_options(ctx, "ech_scan_options", given, &options, sizeof options,
                                          offsetof(ech_scan_options, work));
    if (status == ECH_OK) status = check(ctx, comm, &job);
    if (status == ECH_OK && options.init) memcpy(&init, options.init, job.out_bytes);
    struct echi_comm_call call = {
        .name = "ech_dist_scan",
        .option = { (uint64_t)op, (uint64_t)dtype, (uint64_t)options.exclusive,
                    (uint64_t)options.reverse, (uint64_t)options.accumulate_wide,
                    (uint64_t)options.nan, options.init != NULL, init },
        .n = n
    };
    status = echi_dist_begin(&d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    echi_dist_lend(&d, options.work, options.work_bytes);
    if (d.total > 0) status = job.s.is_float ? scan_floats(&job) : scan_any_order(&job);
    return echi_dist_end(&d, status);
}
