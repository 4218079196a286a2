/*
 * topk/cpu/common.h - declarations that the files of the CPU's top-k selection share: bounds, the
 * kernels that have instruction-set variants, and the memory of a selection.
 *
 * A bound separates the selected elements from the others by their encoded keys (core/order.h).
 * Candidates are encoded keys with their positions, in the order of the input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CPU_COMMON_H
#define ECHI_TOPK_CPU_COMMON_H

#include "cpu/groups.h"
#include "topk/topk.h"

enum {
    ECHI_TOPK_BLOCK = 512,  /* elements that are encoded and compared at once */
    ECHI_TOPK_WHOLE = 4096, /* of groups with at most so many elements every key is stored */
    ECHI_TOPK_FEW = 64      /* candidates that are sorted by their ranks */
};

/* Keys less than limit pass, and the first `ties` keys that are equal to it. */
struct echi_bound {
    uint64_t limit;
    size_t ties;
};

#define ECHI_BOUND_NONE ((struct echi_bound){ UINT64_MAX, SIZE_MAX }) /* every key passes */

/* Kernels for one width of keys.  Encoded keys have the same width.  An array of them can be read
 * to a multiple of 64 keys. */
struct echi_topk_width {
    /* Encodes n > 0 keys with this distance; returns the minimum. */
    uint64_t (*encode)(const struct echi_order *order, const void *keys, size_t stride, size_t n,
                       void *e);
    /* Encodes `count` of n keys, evenly distributed and not at the same distance. */
    void (*sample)(const struct echi_order *order, const void *keys, size_t stride, size_t n,
                   void *e, size_t count);
    /* Writes the keys that pass, and their positions: positions[i], or first + i if it is NULL.
     * Counts ties down.  The outputs may be the inputs, or begin before them.  Returns how many
     * keys pass. */
    size_t (*collect)(struct echi_bound *bound, const void *e, const uint64_t *positions,
                      uint64_t first, size_t n, void *e_out, uint64_t *positions_out);
    /* Counts the keys that are less than low, at most low, less than high, and at most high. */
    void (*tally)(const void *e, size_t n, uint64_t low, uint64_t high, size_t counts[4]);
    /* Copies the keys from low to high, inclusive, to an array that may be their own; returns their
     * number. */
    size_t (*narrow)(const void *e, size_t n, uint64_t low, uint64_t high, void *to);
    /* A bound that k to `most` keys pass, 0 < k <= n, by bisection: for few keys. */
    struct echi_bound (*bisect)(const void *e, size_t n, size_t k, size_t most);
    /* The same for k < 32 and n >= 64, if the keys permit it; otherwise returns false. */
    bool (*guess)(const void *e, size_t n, size_t k, size_t most, struct echi_bound *bound);
    /* Writes the positions in the order of the keys, n <= ECHI_TOPK_FEW.  Stable. */
    void (*sort)(const void *e, const uint64_t *positions, size_t n, uint64_t *out);
};

struct echi_topk_isa {
    const char *name;
    const struct echi_topk_width *widths[4]; /* by log2 of the key's bytes */
};

extern const struct echi_topk_isa echi_topk_portable, echi_topk_avx2, echi_topk_avx512;

/* The variant that the dispatch uses on this machine: operation.c. */
const struct echi_topk_isa *echi_topk_isa_of_machine(void);

/* The workspace. */
struct echi_topk_memory {
    size_t candidates, scratch, sorted; /* elements */
    char *e;                            /* [candidates] */
    uint64_t *positions;
    char *scratch_e; /* [scratch] */
    /* For sorted results with more than ECHI_TOPK_FEW elements, otherwise NULL: */
    uint64_t *sorted_positions, *other_positions; /* [sorted] */
    char *sorted_e, *other_e;
    char *block, *counts, *lines; /* of the sort (sort/cpu/common.h), for each thread */
    size_t block_bytes, counts_bytes;
};

/* A selection that runs. */
struct echi_topk_job {
    const struct echi_topk *request;
    const struct echi_topk_width *width;
    struct echi_topk_memory memory;
    int threads;
    struct echi_groups groups;
};

/* One group, with its part of the workspace: all of it, if all threads process the group. */
struct echi_topk_group {
    const struct echi_topk_job *job;
    const char *in;      /* the first element */
    size_t n, k;         /* 0 < k <= n */
    int thread, threads; /* the number of the thread; 1, or all */
    size_t room;         /* capacity of the candidates: */
    char *e;
    uint64_t *positions;
    char *scratch; /* keys */
    size_t sorted; /* where its part of the sorted arrays begins */
};

/* ---- bound.c ---- */

/* The order of encoded keys, for kernels that encode their keys. */
extern const struct echi_order echi_topk_encoded;

/* The bound that exactly k of n encoded keys pass, 0 < k <= n.  The keys are moved, in the second
 * function only if *room keys at `spare` are not enough, which sets *room to 0. */
struct echi_bound echi_topk_bound(const struct echi_topk_width *width, void *e, size_t n, size_t k);
struct echi_bound echi_topk_bound_apart(const struct echi_topk_width *width, void *e, size_t n,
                                        size_t k, void *spare, size_t *room);

/* A bound that some more than k elements of a group pass, probably, if k is at most n / 8. */
struct echi_bound echi_topk_guess(const struct echi_topk_group *group);

/* ---- candidates.c ---- */

/* Finds candidates, in the order of the input, and returns their number: the k selected elements,
 * or at most ECHI_TOPK_FEW that contain these if the result is sorted. */
size_t echi_topk_find(const struct echi_topk_group *group);

/* The capacity of the candidates that one thread needs, and the maximum number of threads that find
 * the candidates of a group. */
size_t echi_topk_room(size_t k);
size_t echi_topk_pieces(size_t n, size_t k, size_t threads);

/* Whether all elements of a short group are sorted, because nearly all of them are selected. */
static inline bool echi_topk_sorts(const struct echi_topk_group *group)
{
    return group->job->request->sorted && group->n <= ECHI_TOPK_WHOLE && group->k > ECHI_TOPK_FEW &&
           group->k > group->n - group->n / 8;
}

/* ---- result.c ---- */

/* Measures the part of the workspace that sorts, or lays it out. */
void echi_topk_lay_out_sort(const struct echi_topk *t, size_t parts, struct echi_layout *layout,
                            struct echi_topk_memory *m);

/* Writes the elements at k positions of a group, and these positions, to row g of the output. */
void echi_topk_write_at(const struct echi_topk *t, const char *in, const uint64_t *positions,
                        size_t k, size_t g);

/* Sorts the candidates, if required, and writes k of them to row g of the output. */
void echi_topk_write(const struct echi_topk_group *group, size_t candidates, size_t g);

#endif
