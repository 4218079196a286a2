/*
 * echelon/dist.h - operations on an array whose parts are on several ranks.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_DIST_H
#define ECHELON_DIST_H

#include <echelon/comm.h>
#include <echelon/histogram.h>
#include <echelon/quantile.h>
#include <echelon/reduce.h>
#include <echelon/scan.h>
#include <echelon/sort.h>
#include <echelon/topk.h>
#include <echelon/unique.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * These rules hold for all functions with the prefix ech_dist_.
 *   - The array.   Each rank supplies n elements, and n may be different on each rank and may be 0.
 *                  The array of the operation is the concatenation in the order of ranks, with
 *                  `total` elements.  Positions and indices count from its beginning.
 *   - Results.     Results have the same bits as those of the function without the prefix for the
 *                  concatenation on one device, for every number of ranks and every division.
 *   - Shares.      If the result is an array, each rank receives n_out consecutive elements of it,
 *                  in the order of ranks: either as many as it specifies, or, with
 *                  n_out = ECH_DIST_EVEN, the elements that ech_dist_share() reports.  All ranks
 *                  specify ECH_DIST_EVEN, or none.  The numbers must add up to the length of the
 *                  result; otherwise the call fails with ECH_ERR_ARG on every rank.
 *   - Memory.      As for other operations: arrays may be in host memory or in memory of the
 *                  context's GPU.  Outputs must not overlap inputs.  Every call returns when its
 *                  results have been written.
 *   - Workspace.   Calls with options accept a workspace of the caller in options->work, in memory
 *                  of the context's device.  With as many bytes as the function with the suffix
 *                  _workspace returns, the call allocates no memory of the device, except for
 *                  copies of arrays that are in host memory.  With fewer, it fails with
 *                  ECH_ERR_MEMORY on every rank.  These functions need no device and no
 *                  communicator, and are not collective; device is as for ech_open(), ranks the
 *                  number of ranks, n that of this rank, and bytes [1] receives the size.
 *                  ech_dist_rebalance() needs no workspace.
 *   - Calls.       All calls are collective (echelon/comm.h).  comm connects the ranks.  ctx is the
 *                  context of this rank.  If a call fails on one rank, it fails on every rank.
 *                  Exceptions are calls with ctx or comm NULL, which fail at once and only on this
 *                  rank.  After a failure the contents of outputs are undefined.
 *   - Options.     The options are those of the function without the prefix.  All ranks must use
 *                  the same values, except for work and work_bytes.
 */

/* As n_out: the share that ech_dist_share() reports. */
#define ECH_DIST_EVEN SIZE_MAX

/* ---- Shares ---------------------------------------------------------------------------------- */

/* ech_dist_even_share() returns how many elements of an array of `total` elements rank `rank` of
 * `ranks` ranks gets in even shares: the first total % ranks ranks get one more than the others.
 * It returns 0 if rank is not less than ranks.  Not collective. */
ECH_API uint64_t ech_dist_even_share(uint64_t total, int rank, int ranks);

/* The part of this rank in an array. */
typedef struct ech_dist_layout {
    size_t size;        /* sizeof(ech_dist_layout), set by the caller */
    uint64_t total;     /* the number of elements on all ranks together */
    uint64_t first;     /* the position of the first element of this rank's input */
    uint64_t n_out;     /* the number of elements of this rank's even share of total elements */
    uint64_t out_first; /* the position of its first element */
} ech_dist_layout;

/*
 * ech_dist_share() reports the part of this rank, before outputs are allocated.
 *
 *   n       the number of elements of this rank
 *   layout  [1] receives the result; the caller must set layout->size
 */
ECH_API ech_status ech_dist_share(ech_comm *comm, uint64_t n, ech_dist_layout *layout);

/*
 * ech_dist_rebalance() moves elements between ranks, in their order, so that each rank has as many
 * as it requests.
 *
 *   in   [n] of element_bytes (1 or more) each, opaque; not modified
 *   out  [n_out] of element_bytes each
 */
ECH_API ech_status ech_dist_rebalance(ech_ctx *ctx, ech_comm *comm, const void *in, void *out,
                                      size_t n, size_t n_out, size_t element_bytes);

/*
 * ech_dist_shuffle() writes elements in a random order, as ech_shuffle() does for the same total
 * number of elements and the same seed.
 *
 *   in    [n] of element_bytes (1 or more) each, opaque; not modified
 *   out   [n_out] of element_bytes each
 *   seed  the same on all ranks
 */
ECH_API ech_status ech_dist_shuffle(ech_ctx *ctx, ech_comm *comm, const void *in, void *out,
                                    size_t n, size_t n_out, size_t element_bytes, uint64_t seed);

/* ech_dist_shuffle_workspace() returns how many bytes ech_dist_shuffle() allocates at most.  The
 * allocator of ech_set_allocator() can supply them.  n_out is not ECH_DIST_EVEN. */
ECH_API ech_status ech_dist_shuffle_workspace(const char *device, size_t n, size_t n_out,
                                              size_t element_bytes, size_t *bytes);

/* ---- Sort ------------------------------------------------------------------------------------ */

/*
 * ech_dist_sort() sorts keys as ech_sort() does, ech_dist_sort_pairs() as ech_sort_pairs(), and
 * ech_dist_argsort() as ech_argsort().
 *
 *   in, keys_in, keys        [n] of dtype, not modified
 *   values_in                [n] of value_bytes (1 or more) each, opaque
 *   out, keys_out            [n_out] of dtype
 *   values_out               [n_out] of value_bytes each
 *   index                    [n_out] of index_dtype, positions in the concatenation; the type must
 *                            be able to represent total - 1
 *   options                  NULL for the defaults; begin_bit, end_bit and strides must be 0.
 *                            algorithm is "partition", "runs" or "gather" (see below), or that of
 *                            the sort of each rank's part
 *
 * The ranks are balanced exactly, also if many keys are equal: equal keys are divided by rank and
 * position.  The library chooses one of three methods, which have the same result:
 *
 *   partition  on GPUs, many keys or pairs: the ranks count the keys of ranges, divide their
 *              elements by these ranges, exchange them, and sort what they receive.  Elements that
 *              are in order on all ranks are only moved.  Pairs of which very many keys are close
 *              together are sorted as by runs
 *   runs       each rank sorts its part; the ranks find the exact splitters by histograms of key
 *              digits, exchange the elements, and merge what they receive
 *   gather     few elements: each rank receives and sorts all of them
 */
ECH_API ech_status ech_dist_sort(ech_ctx *ctx, ech_comm *comm, const void *in, void *out, size_t n,
                                 size_t n_out, ech_dtype dtype, const ech_sort_options *options);
ECH_API ech_status ech_dist_sort_pairs(ech_ctx *ctx, ech_comm *comm, const void *keys_in,
                                       const void *values_in, void *keys_out, void *values_out,
                                       size_t n, size_t n_out, ech_dtype dtype, size_t value_bytes,
                                       const ech_sort_options *options);
ECH_API ech_status ech_dist_argsort(ech_ctx *ctx, ech_comm *comm, const void *keys, void *index,
                                    size_t n, size_t n_out, ech_dtype dtype, ech_dtype index_dtype,
                                    const ech_sort_options *options);

/*
 * ech_dist_sort_workspace() returns how many bytes of workspace such a sort needs on this rank, in
 * memory of its device.  It needs no device and no communicator.  Not collective.
 *
 *   device       as for ech_open()
 *   ranks        the number of ranks
 *   n, n_out     those of this rank; n_out is a number of elements, not ECH_DIST_EVEN
 *   value_bytes  0 for ech_dist_sort(), otherwise that of ech_dist_sort_pairs(), or the size of
 *                index_dtype for ech_dist_argsort()
 *   argsort      1: of ech_dist_argsort(); otherwise 0
 *   bytes        [1] receives the size
 */
ECH_API ech_status ech_dist_sort_workspace(const char *device, int ranks, size_t n, size_t n_out,
                                           ech_dtype dtype, size_t value_bytes, int argsort,
                                           const ech_sort_options *options, size_t *bytes);

/* ---- Reductions and scans -------------------------------------------------------------------- */

/*
 * ech_dist_reduce() reduces the array as ech_reduce() does.  Every rank receives the result.
 *
 *   op   any ech_op
 *   in   [n] of dtype, not modified
 *   out  [1] of ech_reduce_dtype(); [2] for ECH_OP_MINMAX
 *
 * The order of floating-point operations is that of ech_reduce() for the concatenation.
 */
ECH_API ech_status ech_dist_reduce(ech_ctx *ctx, ech_comm *comm, ech_op op, const void *in,
                                   void *out, size_t n, ech_dtype dtype,
                                   const ech_reduce_options *options);
ECH_API ech_status ech_dist_reduce_workspace(const char *device, int ranks, ech_op op, size_t n,
                                             ech_dtype dtype, const ech_reduce_options *options,
                                             size_t *bytes);

/*
 * ech_dist_scan() scans the array as ech_scan() does.
 *
 *   op   ECH_OP_SUM ... ECH_OP_XOR
 *   in   [n] of dtype, not modified
 *   out  [n] of dtype (with options->accumulate_wide, as in ech_scan())
 *
 * options->init precedes the first element of the concatenation, or, with options->reverse, follows
 * its last one.
 */
ECH_API ech_status ech_dist_scan(ech_ctx *ctx, ech_comm *comm, ech_op op, const void *in, void *out,
                                 size_t n, ech_dtype dtype, const ech_scan_options *options);
ECH_API ech_status ech_dist_scan_workspace(const char *device, int ranks, ech_op op, size_t n,
                                           ech_dtype dtype, const ech_scan_options *options,
                                           size_t *bytes);

/* ---- Histograms ------------------------------------------------------------------------------ */

/*
 * ech_dist_histogram(), ech_dist_histogram_edges() and ech_dist_bincount() count the elements of
 * the array as the functions without the prefix do.  Every rank receives all counters.
 *
 *   in      [n] of dtype, not modified; n is a multiple of the number of channels
 *   counts  as in ech_histogram()
 *   edges   [bins + 1] of dtype, the same on all ranks
 *   options->weights  [n] of an integer type; weights of floats fail with ECH_ERR_UNSUPPORTED
 *
 * With options->accumulate, the counts are added to the contents of counts on this rank.
 */
ECH_API ech_status ech_dist_histogram(ech_ctx *ctx, ech_comm *comm, const void *in, void *counts,
                                      size_t n, ech_dtype dtype, size_t bins, double lower,
                                      double upper, const ech_histogram_options *options);
ECH_API ech_status ech_dist_histogram_edges(ech_ctx *ctx, ech_comm *comm, const void *in,
                                            const void *edges, void *counts, size_t n,
                                            ech_dtype dtype, size_t bins,
                                            const ech_histogram_options *options);
ECH_API ech_status ech_dist_bincount(ech_ctx *ctx, ech_comm *comm, const void *in, void *counts,
                                     size_t n, ech_dtype dtype, size_t bins,
                                     const ech_histogram_options *options);

/* One size is enough for all three.  bins: as for these calls, of one channel. */
ECH_API ech_status ech_dist_histogram_workspace(const char *device, size_t n, ech_dtype dtype,
                                                size_t bins, const ech_histogram_options *options,
                                                size_t *bytes);

/* ---- Selection ------------------------------------------------------------------------------- */

/*
 * ech_dist_topk() selects the k best elements of the array as ech_topk() does.  Every rank receives
 * all of them.
 *
 *   in       [n] of dtype, not modified
 *   values   [k] of dtype; NULL: not needed
 *   indices  [k] of index_dtype, positions in the concatenation; NULL: not needed
 *   k        the same on all ranks, at most the total number of elements
 *   options  counts and strides must be 0
 *
 * values is NULL on all ranks or on none; the same holds for indices.
 */
ECH_API ech_status ech_dist_topk(ech_ctx *ctx, ech_comm *comm, const void *in, void *values,
                                 void *indices, size_t n, size_t k, ech_dtype dtype,
                                 ech_dtype index_dtype, const ech_topk_options *options);
ECH_API ech_status ech_dist_topk_workspace(const char *device, int ranks, size_t n, size_t k,
                                           ech_dtype dtype, const ech_topk_options *options,
                                           size_t *bytes);

/*
 * ech_dist_unique() finds the distinct elements of the array as ech_unique_all() does, in ascending
 * order.  Each rank receives an even share of them.
 *
 *   in      [n] of dtype, not modified
 *   values  [capacity] of dtype, receives the distinct elements
 *   first   [capacity] of u64, receives the position of the first occurrence of each; NULL: not
 *           needed, on all ranks
 *   counts  [capacity] receives the number of occurrences of each; NULL: not needed, on all ranks
 *   capacity  at least this rank's even share of total elements, which always suffices; or less if
 *           fewer distinct elements are expected: the call fails with ECH_ERR_ARG if their share
 *           does not fit
 *   layout  [1] receives in total the number of distinct elements, in n_out and out_first the share
 *           of this rank; the caller must set layout->size
 *   options  appearance must be 0
 */
ECH_API ech_status ech_dist_unique(ech_ctx *ctx, ech_comm *comm, const void *in, void *values,
                                   uint64_t *first, uint64_t *counts, size_t n, size_t capacity,
                                   ech_dtype dtype, const ech_unique_options *options,
                                   ech_dist_layout *layout);

/* n_out: the even share of this rank in all elements, as ech_dist_share() reports it.  first: 1 if
 * first is given, otherwise 0. */
ECH_API ech_status ech_dist_unique_workspace(const char *device, int ranks, size_t n, size_t n_out,
                                             ech_dtype dtype, int first, size_t *bytes);

/*
 * ech_dist_quantiles() computes quantiles of the array as ech_quantiles() does.  Every rank
 * receives all of them.
 *
 *   in   [n] of dtype, not modified
 *   out  [n_q] of ech_quantile_dtype()
 *   q    [n_q] in host memory, the same on all ranks
 */
ECH_API ech_status ech_dist_quantiles(ech_ctx *ctx, ech_comm *comm, const void *in, void *out,
                                      const double *q, size_t n, size_t n_q, ech_dtype dtype,
                                      ech_quantile_method method,
                                      const ech_quantile_options *options);
ECH_API ech_status ech_dist_quantiles_workspace(const char *device, size_t n, size_t n_q,
                                                ech_dtype dtype,
                                                const ech_quantile_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_DIST_H */
