/*
 * dist/shuffle.c - ech_dist_shuffle(): each rank computes from which positions its results come,
 * and requests them from the ranks that have them.
 *
 *     sources   of this rank's results, by the map of arrange/shuffle.h, grouped by owner
 *     requests  positions, sent to the owners
 *     elements  gathered by the owners, sent back in the order of the requests
 *     scatter   to the places of the results
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/arrange.h"
#include "arrange/cpu/shuffle.h"
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/arrange.h"
#include "echelon/dist.h"

#include <stdlib.h>

struct job {
    struct echi_dist d;
    const void *in;
    void *out;
    size_t n, n_out, bytes; /* bytes: of an element */
    uint64_t seed;
    /* in host memory, [n_out]: the source of each result, then grouped by owner, with the place of
     * the result */
    uint64_t *sources, *grouped, *places;
    uint64_t *counts;   /* [ranks][ranks]: how many elements rank r requests from rank s */
    uint64_t *requests; /* [wanted]: positions in the part of this rank */
    uint64_t wanted;    /* elements that this rank sends */
    void *sent, *got;   /* elements in memory of the device */
};

static ech_status out_of_memory(const struct job *job)
{
    return echi_fail(job->d.ctx, ECH_ERR_MEMORY, "out of memory for a shuffle of %zu elements",
                     job->n_out);
}

/* Groups the sources by owner; counts them in mine [ranks]. */
static void group_sources(struct job *job, uint64_t *mine)
{
    const struct echi_dist *d = &job->d;
    const struct echi_shuffle map = echi_shuffle_make(d->total, job->seed);
    uint64_t *next = d->out_first + d->ranks + 1; /* [ranks] more: see prepare() */
    for (size_t i = 0; i < job->n_out; i += ECHI_SHUFFLE_BATCH) {
        const size_t left = job->n_out - i;
        echi_shuffle_portable(&map, d->out_first[d->rank] + i,
                              left < ECHI_SHUFFLE_BATCH ? left : ECHI_SHUFFLE_BATCH,
                              job->sources + i);
    }
    for (size_t i = 0; i < job->n_out; i++)
        mine[echi_dist_owner(d, d->in_first, job->sources[i])]++;
    next[0] = 0;
    for (int r = 1; r < d->ranks; r++) next[r] = next[r - 1] + mine[r - 1];
    for (size_t i = 0; i < job->n_out; i++) {
        const int owner = echi_dist_owner(d, d->in_first, job->sources[i]);
        job->grouped[next[owner]] = job->sources[i] - d->in_first[owner];
        job->places[next[owner]++] = i;
    }
}

static ech_status prepare(struct job *job)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks;
    job->n_out = echi_dist_n_out(d);
    uint64_t *more = realloc(d->out_first, (2 * ranks + 1) * sizeof *more);
    if (!more) return out_of_memory(job);
    d->out_first = more;
    job->sources = malloc((job->n_out + 1) * sizeof *job->sources);
    job->grouped = malloc((job->n_out + 1) * sizeof *job->grouped);
    job->places = malloc((job->n_out + 1) * sizeof *job->places);
    job->counts = calloc((ranks + 1) * ranks, sizeof *job->counts);
    if (!job->sources || !job->grouped || !job->places || !job->counts) return out_of_memory(job);
    if (job->n_out && !job->out) return echi_fail(d->ctx, ECH_ERR_ARG, "out is NULL");
    return ECH_OK;
}

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

ech_status ech_dist_shuffle_workspace(const char *device, size_t n, size_t n_out,
                                      size_t element_bytes, size_t *bytes)
{
    struct echi_need need = echi_need_begin(device, 1, bytes);
    if (need.status == ECH_OK && element_bytes == 0)
        need.status = echi_fail(NULL, ECH_ERR_ARG, "element_bytes is 0");
    echi_part(&need.kept, n, element_bytes);
    echi_part(&need.kept, n_out, element_bytes);
    echi_need_step(&need, 0, echi_need_product(n > n_out ? n : n_out, sizeof(uint64_t)), 0);
    return echi_need_end(&need, bytes);
}

static ech_status run(struct job *job)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks, bytes = job->bytes;
    ech_status status = prepare(job);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    uint64_t *mine = job->counts + ranks * ranks;
    group_sources(job, mine);
    TRY(echi_comm_allgather(d->ctx, d->comm, mine, job->counts, ranks * sizeof *mine));
    for (size_t r = 0; r < ranks; r++) job->wanted += job->counts[r * ranks + (size_t)d->rank];
    job->requests = malloc((job->wanted + 1) * sizeof *job->requests);
    status = job->requests ? ECH_OK : out_of_memory(job);
    if (status == ECH_OK)
        status = echi_allocate(d->ctx, job->wanted * bytes, "a shuffle", &job->sent);
    if (status == ECH_OK)
        status = echi_allocate(d->ctx, job->n_out * bytes, "a shuffle", &job->got);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    status = exchange(job, job->grouped, job->requests, sizeof *job->requests, false);
    if (status == ECH_OK)
        status = ech_gather(d->ctx, job->in, job->requests, job->sent, job->wanted, job->n, ECH_U64,
                            bytes);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    status = exchange(job, job->sent, job->got, bytes, true);
    if (status == ECH_OK)
        status = ech_scatter(d->ctx, job->got, job->places, job->out, job->n_out, job->n_out,
                             ECH_U64, bytes);
    if (status == ECH_OK) status = ech_sync(d->ctx); /* before the memory is released */
done:
    echi_release(d->ctx, job->sent, job->wanted * bytes);
    echi_release(d->ctx, job->got, job->n_out * bytes);
    free(job->sources);
    free(job->grouped);
    free(job->places);
    free(job->counts);
    free(job->requests);
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
    return echi_dist_end(&job.d, run(&job));
}
