/*
 * dist/dist.h - a distributed call: the ranks, the positions of their inputs and outputs, and the
 * steps that several operations share.
 *
 *     echi_dist_begin()    checks that all ranks make the same call; computes positions
 *     ...                  local calls of the library on the context of the rank; exchanges
 *     echi_dist_end()      agrees on the status, releases memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_DIST_H
#define ECHI_DIST_DIST_H

#include "comm/comm.h"

struct echi_dist {
    ech_ctx *ctx;
    ech_comm *comm;
    int rank, ranks;
    uint64_t total;      /* elements on all ranks */
    uint64_t *in_first;  /* [ranks + 1]: the position of the first input of each rank, and total */
    uint64_t *out_first; /* the same for outputs, if the call has shares */
    ech_comm_message *messages; /* [2 * ranks], for one exchange */
    size_t work_bytes;          /* of work; 0: none was borrowed */
    void *work;                 /* the workspace of echi_dist_work() */
    bool borrowed;
    struct echi_arena arena; /* the workspace of the caller: echi_dist_lend() */
};

/* ---- A call: call.c ---- */

/* Begins a call.  On failure, which is the same on all ranks, echi_dist_end() must still be called,
 * without a further agreement.  shares: call->n_out is that of the caller, and is checked. */
ech_status echi_dist_begin(struct echi_dist *d, ech_ctx *ctx, ech_comm *comm,
                           struct echi_comm_call *call, const char *const *names,
                           ech_status checked, bool shares);

/* Ends a call that has begun: agrees on the status and releases memory. */
ech_status echi_dist_end(struct echi_dist *d, ech_status status);

/* Only releases memory, after a failure on which the ranks have agreed. */
void echi_dist_release(struct echi_dist *d);

/* The workspace of a call: that of the caller, if it is large enough, or borrowed memory. */
ech_status echi_dist_work(struct echi_dist *d, const char *what, size_t bytes, void *work,
                          size_t work_bytes);

/* Fails if the caller gives a workspace to a call that allocates its own. */
ech_status echi_dist_no_work(ech_ctx *ctx, const void *work);

/* The other way to use a workspace of the caller, for calls that make several calls of the library:
 * echi_dist_check_work() fails if it has fewer than `bytes` bytes; after echi_dist_lend() all
 * allocations are made in it, until the end of the call.  work_bytes 0: none is given. */
ech_status echi_dist_check_work(ech_ctx *ctx, const char *what, size_t bytes, size_t work_bytes);
void echi_dist_lend(struct echi_dist *d, void *work, size_t work_bytes);

/* The same for one call of the library, whose copies of arrays in host memory are then in `work`,
 * too, if there is room; work_bytes 0: allocations are made as before. */
struct echi_lent {
    ech_ctx *ctx;
    struct echi_arena arena, *outer;
};
static inline void echi_lend(struct echi_lent *lent, ech_ctx *ctx, void *work, size_t work_bytes)
{
    lent->ctx = ctx;
    lent->outer = ctx->arena;
    lent->arena = (struct echi_arena){ .base = work, .bytes = work_bytes };
    if (work_bytes) ctx->arena = &lent->arena;
}
static inline void echi_lent_end(const struct echi_lent *lent)
{
    lent->ctx->arena = lent->outer;
}

/* The size of such a workspace. */
struct echi_need {
    const char *device;
    bool copies;                /* calls of the library copy arrays in host memory */
    struct echi_layout kept;    /* arrays that live as long as the call */
    struct echi_layout largest; /* what a call of the library needs, at most */
    ech_status status;
};
/* Checks the arguments; *bytes receives 0. */
struct echi_need echi_need_begin(const char *device, int ranks, size_t *bytes);
/* A call of the library needs `work` bytes of workspace, and copies of two arrays with these
 * numbers of bytes, if these are in host memory. */
void echi_need_step(struct echi_need *need, size_t work, size_t copy, size_t second);
ech_status echi_need_end(struct echi_need *need, size_t *bytes);
/* count * bytes, or SIZE_MAX. */
size_t echi_need_product(size_t count, size_t bytes);

/* Positions of even shares: first [ranks + 1]. */
void echi_dist_even(uint64_t total, int ranks, uint64_t *first);

/* The rank whose part contains this position. */
int echi_dist_owner(const struct echi_dist *d, const uint64_t *first, uint64_t position);

/* The address after some bytes; NULL for an array without elements. */
static inline void *echi_after(const void *array, uint64_t bytes)
{
    return array ? (char *)(uintptr_t)array + bytes : NULL;
}

static inline size_t echi_dist_n(const struct echi_dist *d)
{
    return (size_t)(d->in_first[d->rank + 1] - d->in_first[d->rank]);
}

static inline size_t echi_dist_n_out(const struct echi_dist *d)
{
    return (size_t)(d->out_first[d->rank + 1] - d->out_first[d->rank]);
}

/* ---- Moves: move.c ---- */

/* Moves elements from parts that begin at in_first to parts that begin at out_first. */
ech_status echi_dist_move(struct echi_dist *d, const void *in, const uint64_t *in_first, void *out,
                          const uint64_t *out_first, size_t element_bytes);

/*
 * Granules are groups of `granule` consecutive elements, whose boundaries are at `phase` and at
 * multiples of granule from there; the first and the last one may be shorter.  A granule belongs to
 * the rank that has its first element:
 *
 *     rank r    | head |  whole granules  | tail |      head: belongs to an earlier rank
 *               first  whole_from  tail_from   end      tail: continues on later ranks to tail_to
 */
struct echi_granules {
    uint64_t first, whole_from, tail_from, end, tail_to;
};
struct echi_granules echi_dist_granules(const struct echi_dist *d, int rank, uint64_t granule,
                                        uint64_t phase);

/* Collects the tail of each rank in tail, [tail_to - tail_from] elements, or, if back is true,
 * returns the elements of tail to the ranks that have them. array: the elements of this rank. */
ech_status echi_dist_tails(struct echi_dist *d, void *array, void *tail, uint64_t granule,
                           uint64_t phase, size_t element_bytes, bool back);

/* ---- Splitters: split.c ---- */

/* A sorted array of this rank, and the order of its keys. */
struct echi_sorted {
    const void *keys;
    size_t n, wrapped; /* wrapped: the number of negative NaN, which by_bits places after the others
                          (before them if descending) */
    ech_dtype dtype;
    ech_order order;
    bool descending;
    bool by_bits; /* as ech_sort(): different bits differ; otherwise as ech_sort_pairs() */
    void *work;   /* of searches */
    size_t work_bytes;
};

/* The number of needles of one search. */
enum { ECHI_SPLIT_NEEDLES = 64 * 256 };

/* Adds what echi_dist_split() and echi_dist_count_below() need for n keys of a rank and a splitter,
 * or 256 needles, per rank. */
void echi_need_split(struct echi_need *need, int ranks, size_t n, ech_dtype dtype);

/* The order in which echi_dist_split() encodes keys. */
struct echi_order echi_sorted_order(const struct echi_sorted *sorted);

/* Sets below[i] to the number of keys whose encoded form is less than e[i]; [m] both.  The keys
 * need only be in order with regard to these. */
ech_status echi_dist_count_below(struct echi_dist *d, const struct echi_sorted *sorted,
                                 const uint64_t *e, size_t m, uint64_t *below);

/*
 * Divides the sorted concatenation at positions.
 *
 *   status     that of this rank so far
 *   positions  [count], each at most total
 *   cuts       [count][ranks] receives how many elements of each rank precede the position; NULL:
 *              not needed
 *   keys       [count] receives the encoded key at each position, 0 for total; NULL: not needed
 */
ech_status echi_dist_split(struct echi_dist *d, ech_status status, const struct echi_sorted *sorted,
                           const uint64_t *positions, size_t count, uint64_t *cuts, uint64_t *keys);

#endif
