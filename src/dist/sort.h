/*
 * dist/sort.h - the steps of a distributed sort, which unique elements also use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_SORT_H
#define ECHI_DIST_SORT_H

#include "dist/dist.h"
#include "echelon/sort.h"
#include "sort/divide_sizes.h"

/* How a sort proceeds: the fastest, or one by name. */
enum echi_dist_method {
    ECHI_DIST_AUTO,
    ECHI_DIST_MERGE,
    ECHI_DIST_PARTITION,
    ECHI_DIST_GATHER,
    ECHI_DIST_METHODS
};

struct echi_dist_sort {
    ech_dtype dtype;
    size_t n, n_out;    /* of this rank */
    size_t value_bytes; /* 0: keys only */
    bool pairs;         /* value_bytes must not be 0 */
    bool positions;     /* values_in is ignored: the values are the positions of keys, of
                           index_dtype */
    ech_dtype index_dtype;
    int descending;
    ech_order order;
    const char *algorithm;
    const void *keys_in, *values_in;
    void *keys_out, *values_out; /* keys_out NULL: not needed */
    /* parts of the workspace */
    void *keys, *values, *numbers, *got_keys, *got_values, *merged, *inner;
    size_t inner_bytes;
    bool gathers; /* the sort of shared bins within another one, which may use gather.c */
    bool top;     /* not that sort */
    enum echi_dist_method method;
    void *all_keys, *all_values, *sorted_keys, *sorted_values; /* of gather.c */
    size_t most;  /* elements for which there is room in these; 0: not yet known */
    void *divide; /* of partition.c */
    struct echi_partition_segments *segments; /* the same, in memory of the device */
    void *shared_in, *shared_values_in, *shared_out, *shared_values_out, *shared_work;
    size_t divide_bytes, shared_bytes; /* of divide and of shared_work */
    bool divides;                      /* there is room for these */
};

/* Lays out the workspace; if layout->base is NULL, only its size. */
ech_status echi_dist_sort_plan(struct echi_dist_sort *s, const char *device, int ranks,
                               struct echi_layout *layout);

/* Sorts from parts at d->in_first to parts at d->out_first.  status: that of this rank so far.
 * Returns the status of this rank. */
ech_status echi_dist_sort_run(struct echi_dist *d, struct echi_dist_sort *s, ech_status status);

/* The same with arrays in host memory, which are copied to the GPU and back: host.c. */
ech_status echi_dist_sort_host(struct echi_dist *d, struct echi_dist_sort *s, ech_status status);

/* The same by sorting the part of each rank first. */
ech_status echi_dist_sort_merge(struct echi_dist *d, struct echi_dist_sort *s, ech_status status);

/* Writes the positions of this rank's keys to s->numbers. */
ech_status echi_dist_sort_positions(struct echi_dist *d, const struct echi_dist_sort *s);

/* ---- gather.c ---- */

/* For how many elements on all ranks together a rank with this backend has room, if they are those
 * of shared bins, of which it has room for n, or of a call. */
size_t echi_gather_most(const struct echi_backend *backend, size_t n);
uint64_t echi_gather_room(const struct echi_backend *backend, int ranks, size_t n, size_t n_out,
                          size_t element_bytes);

/* Whether all ranks have room for all elements. */
bool echi_dist_can_gather(const struct echi_dist *d);

/* The same for few elements: each rank sorts all. */
ech_status echi_dist_sort_gather(struct echi_dist *d, const struct echi_dist_sort *s,
                                 ech_status status);

/* ---- partition.c ---- */

enum {
    ECHI_PARTITION_GROUPS = 12,
    ECHI_PARTITION_ALIGN = 16, /* bytes: where messages begin */
    /* Elements, at most, between what a rank sends of different groups to one rank. */
    ECHI_PARTITION_GAPS = ECHI_PARTITION_GROUPS * ECHI_PARTITION_ALIGN / 4,
    ECHI_PARTITION_OFFSETS = ECHI_DIVIDE_BUCKETS + ECHI_PARTITION_GROUPS
};

/* The buckets of a rank, for sort/segments.h. */
struct echi_partition_segments {
    uint64_t offsets[ECHI_PARTITION_OFFSETS]; /* of each group, one more than it has buckets */
    uint32_t tops[ECHI_DIVIDE_BUCKETS];       /* echi_sort_segments.tops */
};

/* Whether a backend can divide the keys of this rank. */
bool echi_partition_can(const struct echi_dist_sort *s, const struct echi_backend *backend);

/* How many keys of shared bins a rank with n keys can have. */
size_t echi_partition_shared(size_t n);

/* The workspace of the sorts of windows and of buckets. */
ech_status echi_partition_work(const struct echi_dist_sort *s, const char *device,
                               const struct echi_backend *backend, size_t *bytes);

/* The same by dividing the keys first; *done: whether it was possible, which is the same on all
 * ranks. */
ech_status echi_dist_sort_partition(struct echi_dist *d, struct echi_dist_sort *s,
                                    ech_status status, bool *done);

#endif
