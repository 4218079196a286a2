/*
 * dist/reduce.c - ech_dist_reduce().
 *
 * Results that do not depend on the order (integers, minima, positions, counts) are reduced on each
 * rank and then across ranks, with the same library calls.
 *
 * The order of other sums is that of docs/reduce.md, for the concatenation: chunks of 4 KiB, which
 * are added in adjacent pairs.  A rank reduces the largest aligned subtrees of its chunks, and the
 * chunk that continues on later ranks.  Every rank gathers these few values and merges them:
 *
 *     ranks     |      0       |    1     |       2        |
 *     chunks    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |      3 begins on rank 0, 6 on rank 1
 *     subtrees  |   01  | 2 | 3 |   45  | 6 | 7 |   89  |      by rank 0, 1, 2: 01 2 3, 45 6, 7 89
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "core/call.h"
#include "cpu/cpu.h"
#include "echelon/dist.h"
#include "reduce/cpu/common.h"

#include <stdlib.h>
#include <string.h>

enum {
    SUBTREES = 128,        /* at most two per level, and the tail */
    GROUP_CHUNKS = 16,     /* of a task of a thread */
    PART_CHUNKS = 1 << 12, /* that threads process together */
    RESULT_BYTES = 16
};

struct subtree {
    uint64_t chunk; /* the first one */
    int64_t level;  /* of 2^level chunks */
    struct echi_value value;
};

struct subtrees {
    uint64_t count;
    struct subtree tree[SUBTREES];
};

struct job {
    struct echi_dist *d;
    struct echi_reduce r;
    ech_op op;
    ech_dtype dtype, out_dtype;
    ech_reduce_options *options; /* without the workspace */
    size_t n, element_bytes, chunk_elements;
    const char *in;
    echi_chunk_function *chunk;
    int spread;
    const char *host; /* the chunks of reduce_group() */
    struct echi_value *groups;
    struct subtrees *mine, *all; /* of this rank, of all ranks */
    char result[RESULT_BYTES];
};

/* ---- Values ---- */

/* a precedes b. */
static struct echi_value merge(const struct job *job, struct echi_value a, struct echi_value b)
{
    return echi_reduce_merge(&job->r, job->spread, a, b);
}

/* ---- Subtrees of this rank ---- */

static void reduce_group(void *arg, size_t i, int thread)
{
    const struct job *job = arg;
    struct echi_value v[GROUP_CHUNKS];
    (void)thread;
    job->chunk(&job->r.rule, job->host + i * GROUP_CHUNKS * ECHI_CHUNK_BYTES, NULL,
               job->chunk_elements, GROUP_CHUNKS, v);
    for (size_t count = GROUP_CHUNKS; count > 1; count /= 2)
        for (size_t j = 0; j < count / 2; j++) v[j] = merge(job, v[2 * j], v[2 * j + 1]);
    job->groups[i] = v[0];
}

/* A subtree of 2^level complete chunks in host memory, at most PART_CHUNKS. */
static struct echi_value host_subtree(struct job *job, const char *in, int level)
{
    struct echi_value v[GROUP_CHUNKS];
    size_t count = (size_t)1 << level;
    if (count < GROUP_CHUNKS) {
        job->chunk(&job->r.rule, in, NULL, job->chunk_elements, count, v);
        for (; count > 1; count /= 2)
            for (size_t j = 0; j < count / 2; j++) v[j] = merge(job, v[2 * j], v[2 * j + 1]);
        return v[0];
    }
    job->host = in;
    count /= GROUP_CHUNKS;
    echi_parallel(echi_parallel_for_bytes(job->d->ctx, count * GROUP_CHUNKS * ECHI_CHUNK_BYTES),
                  count, reduce_group, job);
    for (; count > 1; count /= 2)
        for (size_t j = 0; j < count / 2; j++)
            job->groups[j] = merge(job, job->groups[2 * j], job->groups[2 * j + 1]);
    return job->groups[0];
}

/* Whether a library call gives the value of a subtree: sums and products in their own type. */
static bool is_plain(const struct job *job)
{
    return job->op == ECH_OP_SUM || job->op == ECH_OP_PRODUCT;
}

static ech_status plain_subtree(struct job *job, const char *in, size_t n, struct echi_value *v)
{
    uint64_t bits = 0;
    const ech_status status =
        ech_reduce(job->d->ctx, job->op, in, &bits, n, job->dtype, job->options);
    memset(v, 0, sizeof *v);
    if (job->r.kind == ECHI_REDUCE_SUM || job->r.kind == ECHI_REDUCE_PRODUCT)
        memcpy(&v->f, &bits, sizeof v->f);
    else
        memcpy(&v->d.sum, &bits, sizeof v->d.sum);
    return status;
}

/* Other kinds that need an order: the device returns values before their conversion to results. */
static ech_status raw_subtree(struct job *job, const char *in, size_t n, struct echi_value *v)
{
    ech_ctx *ctx = job->d->ctx;
    uint64_t raw[ECHI_RAW_WORDS] = { 0 };
    struct echi_reduce r = job->r;
    struct echi_call call;
    r.rule.raw = 1;
    r.in = in;
    r.out = raw;
    r.n = r.columns = n;
    r.rows = 1;
    echi_call_begin(&call, "a reduction", ctx->backend->operations[ECHI_OP_reduce], &r, NULL, 0);
    echi_call_add(&call, "in", &r.in, n * job->element_bytes, job->element_bytes, ECHI_IN);
    echi_call_add(&call, "out", &r.out, sizeof raw, sizeof *raw, ECHI_OUT);
    const ech_status status = echi_call_run(ctx, &call);
    *v = echi_reduce_value(&r, raw);
    return status;
}

/* A subtree of any size in host memory: parts of at most PART_CHUNKS chunks are merged in pairs. */
static struct echi_value host_tree(struct job *job, const char *in, size_t n, int level)
{
    struct echi_value v;
    if (level == 0) {
        job->chunk(&job->r.rule, in, NULL, n, 1, &v);
        return v;
    }
    if ((size_t)1 << level <= PART_CHUNKS) return host_subtree(job, in, level);
    v = host_tree(job, in, n / 2, level - 1);
    return merge(job, v, host_tree(job, in + n / 2 * job->element_bytes, n / 2, level - 1));
}

/* 2^level complete chunks, or an incomplete one if level is 0. */
static ech_status subtree(struct job *job, const char *in, size_t n, int level,
                          struct echi_value *v)
{
    if (is_plain(job)) return plain_subtree(job, in, n, v);
    if (job->d->ctx->backend != &echi_cpu) return raw_subtree(job, in, n, v);
    *v = host_tree(job, in, n, level);
    return ECH_OK;
}

static int floor_log2(uint64_t x)
{
    return 63 - __builtin_clzll(x);
}

/* The chunks [from, to) of this rank, as positions; the last one of the array may be incomplete. */
static ech_status reduce_chunks(struct job *job, uint64_t from, uint64_t to, const char *in)
{
    struct subtrees *mine = job->mine;
    ech_status status = ECH_OK;
    while (from < to && status == ECH_OK) {
        const uint64_t chunk = from / job->chunk_elements;
        const uint64_t complete = (to - from) / job->chunk_elements;
        int level = complete ? floor_log2(complete) : 0;
        if (chunk && __builtin_ctzll(chunk) < level) level = __builtin_ctzll(chunk);
        const uint64_t n = complete ? (uint64_t)job->chunk_elements << level : to - from;
        struct subtree *tree = &mine->tree[mine->count++];
        tree->chunk = chunk;
        tree->level = level;
        status = subtree(job, in, (size_t)n, level, &tree->value);
        in += n * job->element_bytes;
        from += n;
    }
    return status;
}

/* ---- All subtrees ---- */

/* Merges subtrees that are complete neighbours, as a binary counter. */
static struct echi_value merge_all(const struct job *job)
{
    struct subtree stack[2 * SUBTREES];
    size_t count = 0;
    for (int r = 0; r < job->d->ranks; r++)
        for (uint64_t i = 0; i < job->all[r].count; i++) {
            struct subtree top = job->all[r].tree[i];
            for (; count && stack[count - 1].level == top.level; count--) {
                top.value = merge(job, stack[count - 1].value, top.value);
                top.chunk = stack[count - 1].chunk;
                top.level++;
            }
            stack[count++] = top;
        }
    struct echi_value v = stack[count - 1].value;
    while (--count > 0) v = merge(job, stack[count - 1].value, v);
    return v;
}

/* The tail of this rank, collected from later ranks; NULL if there is none. */
static ech_status collect_tail(struct job *job, struct echi_granules g, void **tail)
{
    struct echi_dist *d = job->d;
    const size_t bytes = (size_t)(g.tail_to - g.tail_from) * job->element_bytes;
    ech_status status = echi_allocate(d->ctx, bytes, "a chunk", tail);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_dist_tails(d, (void *)(uintptr_t)job->in, *tail, job->chunk_elements, 0,
                        job->element_bytes, false));
done:
    return status;
}

static ech_status reduce_floats(struct job *job)
{
    struct echi_dist *d = job->d;
    const struct echi_granules g = echi_dist_granules(d, d->rank, job->chunk_elements, 0);
    void *tail = NULL;
    ech_status status = ECH_OK;
    job->mine = calloc(1, sizeof *job->mine);
    job->all = calloc((size_t)d->ranks, sizeof *job->all);
    job->groups = calloc(PART_CHUNKS / GROUP_CHUNKS, sizeof *job->groups);
    if (!job->mine || !job->all || !job->groups)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for partial sums");
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(collect_tail(job, g, &tail));
    status = reduce_chunks(job, g.whole_from, g.tail_from,
                           echi_after(job->in, (g.whole_from - g.first) * job->element_bytes));
    if (status == ECH_OK) status = reduce_chunks(job, g.tail_from, g.tail_to, tail);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_comm_allgather(d->ctx, d->comm, job->mine, job->all, sizeof *job->mine));
    job->r.out = job->result;
    const struct echi_value all = merge_all(job);
    echi_reduce_result(&job->r, &all, (size_t)d->total, 0);
done:
    echi_release(d->ctx, tail, (size_t)(g.tail_to - g.tail_from) * job->element_bytes);
    free(job->mine);
    free(job->all);
    free(job->groups);
    return status;
}

/* ---- Results that do not depend on the order ---- */

/* The operation that combines the results of ranks. */
static ech_op combining(ech_op op)
{
    switch (op) {
    case ECH_OP_ANY:
        return ECH_OP_MAX;
    case ECH_OP_ALL:
        return ECH_OP_MIN;
    case ECH_OP_COUNT:
        return ECH_OP_SUM;
    default:
        return op;
    }
}

/* Combines [count] values in host memory; out must not overlap them.  Few are combined on the CPU,
 * with the same bits, because a GPU needs longer to receive them. */
static ech_status combine(struct job *job, ech_op op, const void *values, size_t count,
                          ech_dtype dtype, void *out)
{
    const ech_reduce_options options = { .size = sizeof options, .nan = job->options->nan };
    struct echi_reduce r;
    const ech_status status = echi_reduce_request(job->d->ctx, &r, op, dtype, &options);
    if (status != ECH_OK) return status;
    r.in = values;
    r.out = out;
    r.n = r.columns = count;
    r.rows = 1;
    if (echi_cpu.operations[ECHI_OP_reduce]->quick(&r)) return ECH_OK;
    return ech_reduce(job->d->ctx, op, values, out, count, dtype, &options);
}

/* argmin, argmax: of the best element of each rank. */
static ech_status combine_positions(struct job *job, ech_status status)
{
    struct echi_dist *d = job->d;
    const size_t bytes = job->element_bytes;
    uint64_t position, note[2] = { UINT64_MAX, 0 }, best = UINT64_MAX;
    memcpy(&position, job->result, sizeof position);
    char *values = malloc((size_t)d->ranks * bytes);
    uint64_t *positions = malloc((size_t)d->ranks * sizeof *positions);
    size_t count = 0;
    if (status == ECH_OK && (!values || !positions))
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory");
    if (status == ECH_OK && position != UINT64_MAX) {
        note[0] = d->in_first[d->rank] + position;
        status = ech_copy(d->ctx, &note[1], job->in + position * bytes, bytes);
    }
    TRY(echi_comm_agree(d->ctx, d->comm, status, note, sizeof note));
    for (int r = 0; r < d->ranks; r++) {
        memcpy(note, d->comm->notes[r].note, sizeof note);
        if (note[0] == UINT64_MAX) continue;
        positions[count] = note[0];
        memcpy(values + count++ * bytes, &note[1], bytes);
    }
    TRY(combine(job, job->op, values, count, job->dtype, &best));
    if (best != UINT64_MAX) best = positions[best];
    memcpy(job->result, &best, sizeof best);
done:
    free(values);
    free(positions);
    return status;
}

static ech_status combine_results(struct job *job, ech_status status)
{
    struct echi_dist *d = job->d;
    const bool both = job->op == ECH_OP_MINMAX;
    const size_t bytes = ech_dtype_bytes(job->out_dtype);
    const ech_op op = both ? ECH_OP_MIN : combining(job->op);
    char *values = malloc(2 * (size_t)d->ranks * bytes), *second = NULL;
    if (status == ECH_OK && !values)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    TRY(echi_comm_agree(d->ctx, d->comm, status, job->result, sizeof job->result));
    second = values + (size_t)d->ranks * bytes;
    for (int r = 0; r < d->ranks; r++) {
        memcpy(values + (size_t)r * bytes, d->comm->notes[r].note, bytes);
        memcpy(second + (size_t)r * bytes, d->comm->notes[r].note + bytes, bytes);
    }
    status = combine(job, op, values, (size_t)d->ranks, job->out_dtype, job->result);
    if (status == ECH_OK && both)
        status =
            combine(job, ECH_OP_MAX, second, (size_t)d->ranks, job->out_dtype, job->result + bytes);
done:
    free(values);
    return status;
}

static ech_status reduce_any_order(struct job *job)
{
    const ech_status status =
        ech_reduce(job->d->ctx, job->op, job->in, job->result, job->n, job->dtype, job->options);
    return job->op == ECH_OP_ARGMIN || job->op == ECH_OP_ARGMAX ? combine_positions(job, status)
                                                                : combine_results(job, status);
}

/* ---- The call ---- */

static bool needs_order(const struct job *job)
{
    switch (job->r.kind) {
    case ECHI_REDUCE_SUM:
    case ECHI_REDUCE_PRODUCT:
    case ECHI_REDUCE_SUM64:
    case ECHI_REDUCE_PRODUCT64:
    case ECHI_REDUCE_VARIANCE:
        return true;
    default:
        return false;
    }
}

ech_status ech_dist_reduce_workspace(const char *device, int ranks, ech_op op, size_t n,
                                     ech_dtype dtype, const ech_reduce_options *options,
                                     size_t *bytes)
{
    enum { RAW_BYTES = ECHI_RAW_WORDS * 8 };
    struct echi_need need = echi_need_begin(device, ranks, bytes);
    size_t work = 0, few = 0;
    if (need.status == ECH_OK)
        need.status =
            ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, op, n, 0, dtype, options, &work);
    if (need.status == ECH_OK) /* of the results of the ranks, which have 8 bytes at most */
        need.status = ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, ECH_OP_SUM, (size_t)ranks,
                                           0, ECH_U64, NULL, &few);
    echi_part(&need.kept, ECHI_CHUNK_BYTES, 1); /* a chunk of several ranks */
    echi_need_step(&need, work, RAW_BYTES, 0);
    if (ranks > 0) echi_need_step(&need, few, 8 * (size_t)ranks, RESULT_BYTES);
    return echi_need_end(&need, bytes);
}

static ech_status check(ech_ctx *ctx, const ech_comm *comm, struct job *job, const void *out)
{
    size_t bytes = 0;
    ech_status status;
    TRY(echi_reduce_request(ctx, &job->r, job->op, job->dtype, job->options));
    TRY(echi_check_count(ctx, "n", job->n, ech_dtype_bytes(job->dtype)));
    if (job->options->work_bytes && comm) {
        TRY(ech_dist_reduce_workspace(ech_device_name(ctx), ech_comm_size(comm), job->op, job->n,
                                      job->dtype, job->options, &bytes));
        TRY(echi_dist_check_work(ctx, "a distributed reduction", bytes, job->options->work_bytes));
    }
    if (job->n && !job->in) FAIL(ctx, ECH_ERR_ARG, "in is NULL");
    if (!out) FAIL(ctx, ECH_ERR_ARG, "out is NULL");
    job->out_dtype =
        (ech_dtype)ech_reduce_dtype(job->op, job->dtype, job->options->accumulate_wide);
    job->element_bytes = ech_dtype_bytes(job->dtype);
    job->chunk_elements = ECHI_CHUNK_BYTES / job->element_bytes;
    job->chunk = echi_reduce_isa_of_machine()->chunk[job->r.kind][job->dtype];
    job->spread = echi_reduce_spread(job->dtype);
done:
    return status;
}

ech_status ech_dist_reduce(ech_ctx *ctx, ech_comm *comm, ech_op op, const void *in, void *out,
                           size_t n, ech_dtype dtype, const ech_reduce_options *given)
{
    static const char *const names[] = { "op",
                                         "dtype",
                                         "options->nan",
                                         "options->accumulate_wide",
                                         "options->compare",
                                         "options->ddof",
                                         "options->value",
                                         NULL };
    ech_reduce_options options = { .size = sizeof options };
    struct echi_dist d;
    struct job job = { .d = &d, .op = op, .dtype = dtype, .options = &options, .n = n, .in = in };
    uint64_t value = 0;
    ech_status status = echi_read_options(ctx, "ech_reduce_options", given, &options,
                                          sizeof options, offsetof(ech_reduce_options, work));
    if (status == ECH_OK) status = check(ctx, comm, &job, out);
    if (status == ECH_OK && options.value) memcpy(&value, options.value, ech_dtype_bytes(dtype));
    struct echi_comm_call call = { .name = "ech_dist_reduce",
                                   .option = { (uint64_t)op, (uint64_t)dtype, (uint64_t)options.nan,
                                               (uint64_t)options.accumulate_wide,
                                               (uint64_t)options.compare, (uint64_t)options.ddof,
                                               value },
                                   .n = n };
    status = echi_dist_begin(&d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    echi_dist_lend(&d, options.work, options.work_bytes);
    options.work = NULL;
    options.work_bytes = 0;
    if (!needs_order(&job))
        status = reduce_any_order(&job);
    else if (d.total == 0) /* as without ranks */
        status = ech_reduce(ctx, op, NULL, job.result, 0, dtype, &options);
    else
        status = reduce_floats(&job);
    if (status == ECH_OK) status = ech_copy(ctx, out, job.result, job.r.rule.out_bytes);
    return echi_dist_end(&d, status);
}
