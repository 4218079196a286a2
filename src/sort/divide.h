/*
 * sort/divide.h - the first step of a distributed sort on a GPU: counts keys by ranges, and moves
 * them to buckets.
 *
 *     range    the range of a sample of the keys
 *     count    keys in each of ECHI_DIVIDE_BINS equal parts of a range, or of parts of these: one
 *              read
 *     move     keys by bins to buckets, at any position and in any order in a bucket: one read and
 *              one write
 *
 * Bins are ranges of encoded keys (core/order.h).  The first and the last bin include the keys
 * outside the range.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_DIVIDE_H
#define ECHI_SORT_DIVIDE_H

#include "core/internal.h"
#include "sort/divide_sizes.h"

struct echi_divide {
    const void *keys; /* [n], in memory of the device */
    size_t n;         /* less than 2^32 */
    int key_bytes;    /* 4 or 8 */
    struct echi_order order;
    uint64_t low;     /* the first key of the range, a multiple of 2^bits */
    uint32_t bits;    /* it has 2^bits keys; at least ECHI_DIVIDE_BIN_BITS */
    uint32_t lengths; /* 0, or bins by lengths: divide_sizes.h */
    uint32_t buckets; /* of a move */
    uint32_t near;    /* one in ECHI_DIVIDE_NEAR sampled keys is less than 2^near */
    uint32_t cut;     /* most sampled keys have zeros below this bit; 0: below no bit */
    bool ordered;     /* the sample is in order, or too small */
    void *work;       /* [echi_divide_ops.work_bytes] */
};

/* From bins to buckets.  An entry is a bucket, or ECHI_DIVIDE_IS_NODE + a node: a bin that is
 * divided further. */
struct echi_divide_table {
    uint32_t entries, nodes; /* numbers */
    uint16_t entry[ECHI_DIVIDE_SLOTS];
    struct echi_divide_node node[ECHI_DIVIDE_NODES];
};

struct echi_divide_ops {
    size_t work_bytes;
    /* Whether the context's device has the kernels and the memory that they need. */
    bool (*can)(ech_ctx *ctx);
    /* Sets low, bits, near, cut and ordered to those of a sample.  n is not 0. */
    ech_status (*range)(ech_ctx *ctx, struct echi_divide *d);
    /* counts [ECHI_DIVIDE_BINS], in host memory; outside: whether keys are outside the range */
    ech_status (*count)(ech_ctx *ctx, const struct echi_divide *d, uint32_t *counts, bool *outside);
    /* counts [ECHI_DIVIDE_BINS], in host memory: of the entries from `first` on, which are bins of
     * the nodes from `nodes` on; first 0: of the bins at first */
    ech_status (*count_more)(ech_ctx *ctx, const struct echi_divide *d,
                             const struct echi_divide_table *table, uint32_t nodes, uint32_t first,
                             uint32_t *counts);
    /* next [ECHI_DIVIDE_BUCKETS]: where the keys of each bucket go in out; outside: keys may be
     * outside the range.  Only queues the work; all may then be changed. */
    ech_status (*move)(ech_ctx *ctx, const struct echi_divide *d,
                       const struct echi_divide_table *table, bool outside, const uint32_t *next,
                       void *out);
    /* Queues copies of keys in the stream; or from the memory of other GPUs in lane 0 of
     * echi_backend.copy_beside(): while kernels use the memory, faster than that function. */
    ech_status (*pull)(ech_ctx *ctx, int key_bytes, const struct echi_copy *copies, size_t n,
                       bool in_lane);
};

#endif
