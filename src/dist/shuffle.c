/*
 * dist/shuffle.c - ech_dist_shuffle(): each rank computes from which positions its results come,
 * and requests them from the ranks that have them.
 *
 *     sources   of this rank's results, by the map of arrange/shuffle.h, sorted with their places
 *     requests  the sources, sent to the owners
 *     elements  gathered by the owners, sent back in the order of the requests
 *     scatter   to the places of the results
 *
 * All steps are calls of the library for the device of the rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/arrange.h"
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/arrange.h"
#include "echelon/dist.h"
#include "echelon/search.h"
#include "echelon/sort.h"

#include <stdlib.h>

enum { SEARCH_RANKS = 4096 }; /* that the size of the workspace allows for */

/* An array in memory of the device. */
struct array {
    void *pointer;
    size_t bytes;
};

struct job {
    struct echi_dist d;
    const void *in;
    void *out;
    size_t n, n_out, bytes; /* bytes: of an element */
    uint64_t seed;
    ech_dtype position;     /* ECH_U32 if it can represent total - 1, otherwise ECH_U64 */
    size_t position_bytes;  /* ... its size */
    uint64_t *counts;       /* in host memory, [ranks][ranks]: how many elements rank r requests
                                from rank s; then [ranks]: those of this rank */
    uint64_t *starts;       /* in host memory, [ranks + 1]: where requests to each rank begin */
    uint64_t wanted;        /* elements that this rank sends */
    struct array keys;      /* [n_out]: sources, sorted */
    struct array places;    /* [n_out]: the place of each result */
    struct array requests;  /* [wanted]: positions that this rank has */
    struct array copy;      /* [n] elements: in, if it is in host memory */
    struct array sent, got; /* [wanted], [n_out] elements */
};

static ech_status allocate(struct job *job, size_t n, size_t element_bytes, struct array *array)
{
    array->bytes = n * element_bytes;
    return echi_allocate(job->d.ctx, array->bytes, "a shuffle", &array->pointer);
}

static void release(struct job *job)
{
    struct array *const arrays[] = { &job->keys, &job->places, &job->requests,
                                     &job->copy, &job->sent,   &job->got };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        echi_release(job->d.ctx, arrays[i]->pointer, arrays[i]->bytes);
    free(job->counts);
    free(job->starts);
}

static ech_status prepare(struct job *job)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks;
    enum echi_side side = ECHI_DEVICE;
    ech_status status = ECH_OK;
    job->n_out = echi_dist_n_out(d);
    job->position = d->total > (uint64_t)1 << 32 ? ECH_U64 : ECH_U32;
    job->position_bytes = ech_dtype_bytes(job->position);
    if (job->n_out && !job->out) FAIL(d->ctx, ECH_ERR_ARG, "out is NULL");
    if (ranks == 1) return ECH_OK;
    job->counts = calloc((ranks + 1) * ranks, sizeof *job->counts);
    job->starts = calloc(ranks + 1, sizeof *job->starts);
    if (!job->counts || !job->starts)
        FAIL(d->ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    TRY(allocate(job, job->n_out, job->position_bytes, &job->keys));
    TRY(allocate(job, job->n_out, job->position_bytes, &job->places));
    TRY(allocate(job, job->n_out, job->bytes, &job->got));
    if (job->n) TRY(d->ctx->backend->side(d->ctx, job->in, &side, NULL));
    if (side == ECHI_DEVICE) return ECH_OK;
    TRY(allocate(job, job->n, job->bytes, &job->copy));
    TRY(ech_copy(d->ctx, job->copy.pointer, job->in, job->copy.bytes));
    job->in = job->copy.pointer;
done:
    return status;
}

/* ---- The sources of this rank's results ---- */

static int bits_of(uint64_t x)
{
    int bits = 1;
    while (bits < 64 && x >> bits) bits++;
    return bits;
}

static ech_status sort_sources(struct job *job)
{
    struct echi_dist *d = &job->d;
    void *keys = job->keys.pointer, *places = job->places.pointer;
    const struct echi_arrange sources = { .what = ECHI_PERMUTATION,
                                          .out = keys,
                                          .n = job->n_out,
                                          .element_bytes = job->position_bytes,
                                          .map = echi_shuffle_make(d->total, job->seed),
                                          .first = d->out_first[d->rank] };
    const ech_sort_options options = { .size = sizeof options, .end_bit = bits_of(d->total - 1) };
    ech_status status = ECH_OK;
    TRY(echi_operation_run(d->ctx, d->ctx->backend->operations[ECHI_OP_arrange], &sources, NULL));
    TRY(ech_iota(d->ctx, places, job->n_out, job->position, NULL, NULL));
    TRY(ech_sort_pairs(d->ctx, keys, places, keys, places, job->n_out, job->position,
                       job->position_bytes, &options));
done:
    return status;
}

/* Where the requests to each rank begin: by a search for its first position. */
static ech_status find_starts(struct job *job)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks;
    uint64_t *first = job->counts; /* not yet in use: needles */
    ech_status status = ECH_OK;
    for (size_t r = 0; r < ranks; r++) {
        const uint64_t position = d->in_first[r] < d->total ? d->in_first[r] : d->total - 1;
        if (job->position == ECH_U32)
            ((uint32_t *)first)[r] = (uint32_t)position;
        else
            first[r] = position;
    }
    TRY(ech_lower_bound(d->ctx, job->keys.pointer, first, job->starts, job->n_out, ranks,
                        job->position, ECH_U64, NULL));
    for (size_t r = 0; r <= ranks; r++)
        if (d->in_first[r] >= d->total) job->starts[r] = job->n_out;
done:
    return status;
}

/* Sorts the sources of the results, and counts those of each rank in mine [ranks]. */
static ech_status find_sources(struct job *job, uint64_t *mine)
{
    const struct echi_dist *d = &job->d;
    ech_status status = ECH_OK;
    if (job->n_out == 0) return ECH_OK;
    TRY(sort_sources(job));
    TRY(find_starts(job));
    for (int r = 0; r < d->ranks; r++) mine[r] = job->starts[r + 1] - job->starts[r];
done:
    return status;
}

/* ---- Elements ---- */
/* One exchange between what this rank requests and what it gives. */
static ech_status exchange(struct job *job, const void *out, void *in, size_t bytes, bool back)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks, me = (size_t)d->rank;
    ech_comm_message *mine = d->messages, *theirs = d->messages + ranks;
    char *of_mine = back ? in : (char *)(uintptr_t)out;
    char *of_theirs = back ? (char *)(uintptr_t)out : in;
    for (size_t r = 0; r < ranks; r++) {
        const uint64_t takes = job->counts[me * ranks + r] * bytes;
        const uint64_t gives = job->counts[r * ranks + me] * bytes;
        mine[r] = (ech_comm_message){ takes ? of_mine : NULL, takes, (int64_t)r };
        theirs[r] = (ech_comm_message){ gives ? of_theirs : NULL, gives, (int64_t)r };
        if (takes) of_mine += takes;
        if (gives) of_theirs += gives;
    }
    return back ? echi_comm_exchange(d->ctx, d->comm, theirs, ranks, mine, ranks)
                : echi_comm_exchange(d->ctx, d->comm, mine, ranks, theirs, ranks);
}

/* The elements that other ranks want.  Requests are positions of all ranks together, so the array
 * begins that many elements before its first. */
static ech_status gather(struct job *job)
{
    struct echi_dist *d = &job->d;
    const uint64_t first = d->in_first[d->rank];
    const struct echi_arrange a = { .what = ECHI_GATHER,
                                    .in = (const void *)((uintptr_t)job->in -
                                                         (uintptr_t)first * job->bytes),
                                    .out = job->sent.pointer,
                                    .n = job->wanted,
                                    .element_bytes = job->bytes,
                                    .index = job->requests.pointer,
                                    .index_bytes = (int)job->position_bytes,
                                    .limit = (size_t)first + job->n };
    if (job->wanted == 0) return ECH_OK;
    return echi_operation_run(d->ctx, d->ctx->backend->operations[ECHI_OP_arrange], &a, NULL);
}

static ech_status sort_need(const char *device, size_t n, ech_dtype dtype, struct echi_need *need)
{
    size_t bytes = 0;
    const ech_status status =
        ech_sort_workspace(device, n, dtype, ech_dtype_bytes(dtype), NULL, &bytes);
    echi_need_step(need, bytes, 0, 0);
    return status;
}

ech_status ech_dist_shuffle_workspace(const char *device, size_t n, size_t n_out,
                                      size_t element_bytes, size_t *bytes)
{
    struct echi_need need = echi_need_begin(device, 1, bytes);
    size_t search = 0;
    if (need.status == ECH_OK && element_bytes == 0)
        need.status = echi_fail(NULL, ECH_ERR_ARG, "element_bytes is 0");
    for (int i = 0; i < 2; i++) echi_part(&need.kept, n_out, sizeof(uint64_t));
    echi_part(&need.kept, n, sizeof(uint64_t));
    echi_part(&need.kept, n, element_bytes);
    echi_part(&need.kept, n_out, element_bytes);
    if (need.copies) echi_part(&need.kept, n, element_bytes);
    if (need.status == ECH_OK) need.status = sort_need(device, n_out, ECH_U32, &need);
    if (need.status == ECH_OK) need.status = sort_need(device, n_out, ECH_U64, &need);
    if (need.status == ECH_OK)
        need.status = ech_search_workspace(device, ECH_SEARCH_CALL_LOWER, n_out, SEARCH_RANKS,
                                           ECH_U64, NULL, &search);
    echi_need_step(&need, search, SEARCH_RANKS * sizeof(uint64_t), SEARCH_RANKS * sizeof(uint64_t));
    echi_need_step(&need, 0, echi_need_product(n_out, element_bytes), 0);
    return echi_need_end(&need, bytes);
}

/* The ranks agree after each step that may fail on one of them only. */
static ech_status run(struct job *job)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks;
    uint64_t *mine = job->counts + ranks * ranks;
    ech_status status = ECH_OK;
    TRY(echi_comm_allgather(d->ctx, d->comm, mine, job->counts, ranks * sizeof *mine));
    for (size_t r = 0; r < ranks; r++) job->wanted += job->counts[r * ranks + (size_t)d->rank];
    status = allocate(job, job->wanted, job->position_bytes, &job->requests);
    if (status == ECH_OK) status = allocate(job, job->wanted, job->bytes, &job->sent);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    status = exchange(job, job->keys.pointer, job->requests.pointer, job->position_bytes, false);
    if (status == ECH_OK) status = gather(job);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(exchange(job, job->sent.pointer, job->got.pointer, job->bytes, true));
    TRY(ech_scatter(d->ctx, job->got.pointer, job->places.pointer, job->out, job->n_out, job->n_out,
                    job->position, job->bytes));
    TRY(ech_sync(d->ctx)); /* before the memory is released */
done:
    return status;
}

static ech_status shuffle(struct job *job)
{
    struct echi_dist *d = &job->d;
    ech_status status = prepare(job);
    if (d->ranks == 1) {
        if (status != ECH_OK) return status;
        return ech_shuffle(d->ctx, job->in, job->out, job->n, job->bytes, job->seed);
    }
    if (status == ECH_OK)
        status = find_sources(job, job->counts + (size_t)d->ranks * (size_t)d->ranks);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(run(job));
done:
    release(job);
    return status;
}

ech_status ech_dist_shuffle(ech_ctx *ctx, ech_comm *comm, const void *in, void *out, size_t n,
                            size_t n_out, size_t element_bytes, uint64_t seed)
{
    static const char *const names[] = { "element_bytes", "seed", NULL };
    struct job job = { .in = in, .out = out, .n = n, .bytes = element_bytes, .seed = seed };
    struct echi_comm_call call = {
        .name = "ech_dist_shuffle", .option = { element_bytes, seed }, .n = n, .n_out = n_out
    };
    ech_status status = ECH_OK;
    if (element_bytes == 0) status = echi_fail(ctx, ECH_ERR_ARG, "element_bytes is 0");
    if (status == ECH_OK) status = echi_check_count(ctx, "n", n, element_bytes);
    if (status == ECH_OK && n && !in) status = echi_fail(ctx, ECH_ERR_ARG, "in is NULL");
    status = echi_dist_begin(&job.d, ctx, comm, &call, names, status, true);
    if (status != ECH_OK) return status;
    return echi_dist_end(&job.d, shuffle(&job));
}
