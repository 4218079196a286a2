/*
 * echelon.h - bring data into order on an NVIDIA GPU or on the CPU.
 *
 * A first program:
 *
 *     ech_ctx *ctx;
 *     if (ech_open(&ctx, NULL)) { puts(ech_error(NULL)); return 1; }
 *     if (ech_sort(ctx, keys, keys, n, ECH_F32, NULL)) puts(ech_error(ctx));
 *     ech_close(ctx);
 *
 * Conventions that hold for every function below:
 *   - Units.    n counts elements; a size in bytes is named *_bytes, in bits *_bit.
 *   - Errors.   A function that can fail returns ech_status; ech_error() then says in a sentence
 *               which argument or which driver call was at fault.  The library never prints,
 *               never exits and never aborts.
 *   - Memory.   A data pointer is host memory or memory of the context's GPU; the library finds
 *               out.  Nothing the caller passes is kept after the call's work is done.
 *   - Streams.  On a GPU context, calls whose arrays are in GPU memory are queued on the context's
 *               stream and return at once; ech_sync() waits for them.  The stream is CUDA's legacy
 *               default stream unless ech_set_stream() or ech_set_private_stream() changes it.
 *               Calls with an array in host memory return when they have finished.
 *   - Structs.  A struct that begins with `size` must have size = sizeof of its type; set all
 *               fields that you do not use to zero.  A program and a library may then be of
 *               different versions: fields that the program's header lacks are zero, and fields
 *               that the library does not know must be zero.
 *   - Threads.  One context is used by one thread at a time; different contexts are independent.
 *   - Results.  They do not depend on the number of threads, on the device or on the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_H
#define ECHELON_H

#include <stddef.h>
#include <stdint.h>

#define ECH_VERSION_MAJOR  0
#define ECH_VERSION_MINOR  1
#define ECH_VERSION_PATCH  0
#define ECH_VERSION_NUMBER (10000 * ECH_VERSION_MAJOR + 100 * ECH_VERSION_MINOR + ECH_VERSION_PATCH)

#ifndef ECH_API
#if defined(_WIN32)
#define ECH_API __declspec(dllimport)
#else
#define ECH_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

typedef enum ech_status {
    ECH_OK = 0,
    ECH_ERR_ARG = 1,         /* an argument breaks its documented contract */
    ECH_ERR_UNSUPPORTED = 2, /* valid, but this device or this build cannot do it */
    ECH_ERR_MEMORY = 3,      /* out of memory, or the given workspace is too small */
    ECH_ERR_NO_DEVICE = 4,   /* the device asked for is not there or cannot be used */
    ECH_ERR_DEVICE = 5       /* the GPU driver reported an error; the context is not usable again */
} ech_status;

/* ech_status_name() gives the constant's name, "ECH_ERR_ARG"; "ECH_ERR_?" for an unknown value. */
ECH_API const char *ech_status_name(ech_status status);

/* ---- Types ----------------------------------------------------------------------------------- */

typedef enum ech_dtype {
    ECH_I8 = 0,
    ECH_I16 = 1,
    ECH_I32 = 2,
    ECH_I64 = 3,
    ECH_U8 = 4,
    ECH_U16 = 5,
    ECH_U32 = 6,
    ECH_U64 = 7,
    ECH_F16 = 8,  /* IEEE 754 binary16 */
    ECH_BF16 = 9, /* the upper half of an F32 */
    ECH_F32 = 10,
    ECH_F64 = 11
} ech_dtype;

/* Size of one element in bytes; 0 for an unknown dtype. */
ECH_API size_t ech_dtype_bytes(ech_dtype dtype);

/* "i8" ... "f64"; "?" for an unknown dtype. */
ECH_API const char *ech_dtype_name(ech_dtype dtype);

/* The reverse of ech_dtype_name(); -1 when no dtype has that name. */
ECH_API int ech_dtype_from_name(const char *name);

/* ---- Context --------------------------------------------------------------------------------- */

typedef struct ech_ctx ech_ctx;

/*
 * ech_open() opens a device.
 *
 *   ctx     [1] receives the context; NULL on failure
 *   device  "cpu", "cuda" (the first GPU), "cuda:1" (the second); "auto": the first usable GPU,
 *           where sorts of arrays in host memory are left to the CPU when it is sooner done with
 *           them, as ech_sort_explain() tells; without a GPU, the CPU.  "auto:cuda:1": the same
 *           with that GPU.  NULL: what the environment variable ECHELON_DEVICE names, else "auto".
 *           "simt", in builds that have it: the GPU's kernels run on the CPU, slowly, and checked
 *
 * Fails with ECH_ERR_ARG (no such name), ECH_ERR_NO_DEVICE (no driver, no such GPU, driver too old)
 * or ECH_ERR_MEMORY; the reason is then in ech_error(NULL).
 */
ECH_API ech_status ech_open(ech_ctx **ctx, const char *device);

/* ech_close() waits for the context's queued work and frees it.  NULL is allowed. */
ECH_API void ech_close(ech_ctx *ctx);

/* ech_sync() waits until all work queued on the context's stream has finished. */
ECH_API ech_status ech_sync(ech_ctx *ctx);

/* ech_poll() sets *done to 1 if all work queued on the context's stream has finished and to 0
 * otherwise.  It does not wait.  If the work has finished, the status is the one that ech_sync()
 * would return; an error of the device is returned as soon as the driver reports it. */
ECH_API ech_status ech_poll(ech_ctx *ctx, int *done);

/*
 * ech_error() is the message of the last failure in ctx, "" when there was none.  With ctx NULL it
 * is the last failure in this thread of a function that has no context, such as ech_open().  The
 * text lives until the next failing call.
 */
ECH_API const char *ech_error(const ech_ctx *ctx);

/* The name that opens the context's device again: "cpu", "cuda:0", "auto:cuda:0". */
ECH_API const char *ech_device_name(const ech_ctx *ctx);

/* Version of the library that runs, "0.1.0" and 100; the macros above give that of the header. */
ECH_API const char *ech_version(void);
ECH_API int ech_version_number(void);

/* ---- Sort ------------------------------------------------------------------------------------ */

/*
 * Order.  Integers by value.  Floats: -inf < ... < 0 < ... < +inf < NaN; every NaN is last whatever
 * its sign or payload, and -0 equals +0.  Descending is the exact reverse (NaN first).  No key's
 * bits are ever altered.
 *   - Sorts with values and argsorts are stable: equal keys (so also -0 and +0, and any two NaN)
 *     keep their input order, also descending.
 *   - A sort of keys alone orders equal keys by their bits (-0 before +0, positive NaN by rising
 *     payload, then negative NaN by falling payload), so that its result is one, whatever the
 *     input order was.
 *   - ECH_ORDER_TOTAL orders floats as IEEE 754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... <
 *     +inf < +NaN.  It changes nothing for integers.
 */
typedef enum ech_order {
    ECH_ORDER_NAN_LAST = 0, /* as above */
    ECH_ORDER_TOTAL = 1     /* IEEE 754 totalOrder */
} ech_order;

/*
 * Options of a sort.  Zero every field but the first for the defaults:
 *
 *     ech_sort_options options = { .size = sizeof options, .descending = 1 };
 *
 * begin_bit, end_bit: sort by the bits [begin_bit, end_bit) of the key alone, where bit 0 is the
 * lowest bit of the key's order-preserving unsigned form: the value itself for unsigned integers,
 * the value with its sign bit inverted for signed ones, the rank of the bit pattern for floats
 * (with values or indices, -0 takes that of +0, and every NaN that of the first).  Keys that agree
 * in those bits keep their input order.  end_bit 0 stands for the width of the key; a range that is
 * empty (begin_bit == end_bit > 0) makes the sort a copy.
 */
typedef struct ech_sort_options {
    size_t size;           /* sizeof(ech_sort_options) */
    int descending;        /* 0: least first; 1: greatest first */
    ech_order order;       /* of floats */
    int begin_bit;         /* first bit to sort by */
    int end_bit;           /* one past the last bit to sort by; 0: all */
    const char *algorithm; /* NULL: what ECHELON_ALGORITHM named when the context was opened,
                              else chosen; or one that ech_sort_explain() lists */
    void *work;            /* NULL: the context allocates; else work_bytes of the device's memory,
                              256-byte aligned, unused by anything else until the work is done */
    size_t work_bytes;     /* at least what ech_sort_workspace() says */
} ech_sort_options;

/*
 * ech_sort() sorts keys.
 *
 *   in       [n] of dtype, aligned to the size of one; not modified unless it is also out
 *   out      [n] of dtype; may be in (in place), must not overlap it otherwise
 *   options  NULL for the defaults
 *
 * n = 0 does nothing and allows NULL pointers.  Fails with ECH_ERR_ARG before anything is written;
 * with ECH_ERR_MEMORY before anything is written; with ECH_ERR_DEVICE, after which out is
 * undefined.
 *
 * Host memory on a GPU context is copied to the GPU and back.  What does not fit there, or not
 * under ech_set_memory_limit(), is sorted in runs that fit, which are then merged range by range:
 * that takes as much host memory again as the arrays have (of an argsort, keys and index), which
 * the context keeps until ech_trim(), and four copies over the link instead of two.  Its results
 * are the same.  After ECH_ERR_DEVICE there, arrays that were to be sorted in place still hold
 * their elements, in some order.
 */
ECH_API ech_status ech_sort(ech_ctx *ctx, const void *in, void *out, size_t n, ech_dtype dtype,
                            const ech_sort_options *options);

/*
 * ech_sort_pairs() is ech_sort() that moves a value along with each key, stably.
 *
 *   keys_in, keys_out      [n] of dtype, as in ech_sort()
 *   values_in, values_out  [n] of value_bytes (1 or more) each, opaque; values_out may be
 *                          values_in, must not overlap it or the keys otherwise.  GPU memory:
 *                          aligned to the largest power of two that divides value_bytes, 16 at most
 */
ECH_API ech_status ech_sort_pairs(ech_ctx *ctx, const void *keys_in, void *keys_out,
                                  const void *values_in, void *values_out, size_t value_bytes,
                                  size_t n, ech_dtype dtype, const ech_sort_options *options);

/*
 * ech_argsort() writes the order instead of the keys: index[i] is the position in keys of the i-th
 * key of the sorted sequence.  Stable.
 *
 *   keys         [n] of dtype, not modified
 *   index        [n] of index_dtype, ECH_U32 (n at most 2^32) or ECH_U64; must not overlap keys
 */
ECH_API ech_status ech_argsort(ech_ctx *ctx, const void *keys, void *index, ech_dtype index_dtype,
                               size_t n, ech_dtype dtype, const ech_sort_options *options);

/*
 * ech_sort_workspace() tells how many bytes of workspace a sort needs: the same on every GPU and
 * for in-place and out-of-place calls, and without a device being there.
 *
 *   device       as for ech_open(); the workspace depends on "cpu" or "cuda" alone
 *   value_bytes  0 for ech_sort(), else that of ech_sort_pairs()
 *   bytes        [1] receives the size
 *
 * On a GPU, the algorithm "lean" takes about a quarter of what the others do, and more time; given
 * more workspace than it needs, less.
 *
 * A sort on a GPU context whose arrays are all in host memory allocates what it needs by itself.
 * If a workspace is given, or only some of the arrays are in host memory, these are copied as a
 * whole.
 */
ECH_API ech_status ech_sort_workspace(const char *device, size_t n, ech_dtype dtype,
                                      size_t value_bytes, const ech_sort_options *options,
                                      size_t *bytes);

/* Like ech_sort_workspace(), for ech_argsort(). */
ECH_API ech_status ech_argsort_workspace(const char *device, size_t n, ech_dtype dtype,
                                         ech_dtype index_dtype, const ech_sort_options *options,
                                         size_t *bytes);

/*
 * ech_sort_explain() writes what such a sort would do, in lines of text: the algorithm and the
 * others that could be forced, the passes or kernels with their sizes, the workspace.  Needs no
 * device.
 *
 *   text           [capacity_bytes] receives the text, cut to fit and always terminated
 */
ECH_API ech_status ech_sort_explain(const char *device, size_t n, ech_dtype dtype,
                                    size_t value_bytes, const ech_sort_options *options, char *text,
                                    size_t capacity_bytes);

/* Like ech_sort_explain(), for ech_argsort(). */
ECH_API ech_status ech_argsort_explain(const char *device, size_t n, ech_dtype dtype,
                                       ech_dtype index_dtype, const ech_sort_options *options,
                                       char *text, size_t capacity_bytes);

/* ---- Is it sorted? --------------------------------------------------------------------------- */

/* Zero every field but the first for the defaults. */
typedef struct ech_is_sorted_options {
    size_t size;       /* sizeof(ech_is_sorted_options) */
    int descending;    /* 0: ascending; 1: descending */
    ech_order order;   /* of floats */
    int strict;        /* 1: equal neighbours are out of order, too */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_is_sorted_workspace() reports */
} ech_is_sorted_options;

/*
 * ech_is_sorted() finds the first element that is out of order.
 *
 *   in        [n] of dtype, aligned to the size of one; not modified
 *   position  [1] receives the minimum i > 0 for which in[i] must come before in[i - 1], or n if
 *             in is sorted.  strict: for which in[i] must come before in[i - 1] or equals it
 *   options   NULL for the defaults
 *
 * n = 0 and n = 1 are sorted; n = 0 allows in to be NULL.
 *
 * The order is that of sorts with values: -0 equals +0, and every NaN equals every NaN; only
 * ECH_ORDER_TOTAL distinguishes them.  Whatever ech_sort(), ech_sort_pairs() and ech_argsort()
 * produce by all bits of the key is therefore sorted by the same direction and order.
 *
 * in and position may each be in host memory or in memory of the context's GPU.  If both are on the
 * GPU, the call is queued, and can be captured in a CUDA graph if its workspace is given.  It fails
 * as ech_sort() does; after a failure position is undefined.
 */
ECH_API ech_status ech_is_sorted(ech_ctx *ctx, const void *in, uint64_t *position, size_t n,
                                 ech_dtype dtype, const ech_is_sorted_options *options);

/* ech_is_sorted_workspace() reports how many bytes of workspace such a call needs.  device as for
 * ech_sort_workspace(). */
ECH_API ech_status ech_is_sorted_workspace(const char *device, size_t n, ech_dtype dtype,
                                           const ech_is_sorted_options *options, size_t *bytes);

/* ---- Operators and tests of elements --------------------------------------------------------- */

/*
 * The calls below share these rules.
 *   - Each array may lie in host memory or in memory of the context's GPU, whatever the others do.
 *     When all lie on the GPU, the call is queued and can be captured in a CUDA graph, if its
 *     workspace is given; otherwise arrays are staged, and it returns when it is done.
 *   - Arrays are aligned to their elements, GPU memory of opaque elements to the largest power of
 *     two that divides their size, 16 at most.  Outputs overlap nothing else unless it is said.
 *   - n = 0 allows NULL pointers for what would have no elements.
 *   - What only the data shows to be wrong (offsets that decrease, an index out of range) fails
 *     with ECH_ERR_ARG: at once on the CPU and for staged calls; from ech_sync() for queued ones.
 *     No memory outside the arrays is touched; what the outputs then hold is undefined.
 *   - Floats: operators see NaN as ech_nan says.  "Equal" means equal in the order of ech_sort():
 *     -0 equals +0, and every NaN every NaN.
 */

typedef enum ech_op {
    ECH_SUM = 0,
    ECH_PRODUCT = 1,
    ECH_MIN = 2, /* -0 is less than +0 */
    ECH_MAX = 3,
    ECH_AND = 4, /* AND, OR, XOR: of the bits of integers */
    ECH_OR = 5,
    ECH_XOR = 6,
    /* of ech_reduce() and its kin alone: */
    ECH_ARGMIN = 7,    /* position of the first of the least */
    ECH_ARGMAX = 8,    /* position of the first of the greatest */
    ECH_MINMAX = 9,    /* both, one after the other */
    ECH_ANY = 10,      /* 1 if one element passes the test, else 0 */
    ECH_ALL = 11,      /* 1 if all do */
    ECH_COUNT = 12,    /* how many do */
    ECH_MEAN = 13,     /* the sum by n */
    ECH_VARIANCE = 14, /* the squares of the distances from the mean, their sum by n - ddof */
    ECH_NORM = 15      /* the square root of the sum of squares */
} ech_op;

typedef enum ech_nan {
    ECH_NAN_PROPAGATE = 0, /* one NaN makes the result NaN; it is the least and the greatest */
    ECH_NAN_IGNORE = 1     /* as if it were not there; positions still count it */
} ech_nan;

/* A test that an element x passes or not, against a value v of the same type.  Comparisons are
 * those of C: with a NaN all are false but ECH_NOT_EQUAL.  The last three are for integers. */
typedef enum ech_compare {
    ECH_NONZERO = 0, /* x != 0, also true of NaN; takes no v */
    ECH_LESS = 1,
    ECH_LESS_EQUAL = 2,
    ECH_EQUAL = 3,
    ECH_NOT_EQUAL = 4,
    ECH_GREATER_EQUAL = 5,
    ECH_GREATER = 6,
    ECH_IS_NAN = 7,  /* takes no v; of integers, false */
    ECH_HAS_ANY = 8, /* x & v is not 0 */
    ECH_HAS_ALL = 9, /* x & v is v */
    ECH_HAS_NONE = 10
} ech_compare;

/* ---- Reduce ---------------------------------------------------------------------------------- */

/*
 * Options of a reduction; zero every field but the first for the defaults.
 */
typedef struct ech_reduce_options {
    size_t size;         /* sizeof(ech_reduce_options) */
    ech_nan nan;         /* of floats */
    int wide;            /* 1: f16, bf16 and f32 are added and multiplied in f64 */
    ech_compare compare; /* ECH_ANY, ECH_ALL, ECH_COUNT: the test */
    const void *value;   /* [1] of dtype in host memory: what it compares with */
    int ddof;            /* ECH_VARIANCE: 0 or 1 */
    void *work;          /* as in ech_sort_options */
    size_t work_bytes;   /* at least what ech_reduce_workspace() says */
} ech_reduce_options;

/*
 * ech_reduce_dtype() is the type of a result, in which it is also computed; mean, variance and norm
 * are computed in f64, and rounded once:
 *   sum, product           i64 of signed, u64 of unsigned integers, both modulo 2^64; f32 of f16,
 *                          bf16 and f32 (wide: f64); f64 of f64
 *   min, max, min and max  dtype
 *   and, or, xor           dtype
 *   argmin, argmax, count  u64
 *   any, all               u8
 *   mean, variance, norm   f32 of f16, bf16 and f32 (wide: f64), else f64
 * -1 when there is no such reduction: bits of floats, an unknown op or dtype.
 */
ECH_API int ech_reduce_dtype(ech_op op, ech_dtype dtype, int wide);

/*
 * ech_reduce() makes one value of n.
 *
 *   in       [n] of dtype, not modified
 *   out      [1] of ech_reduce_dtype(); [2] for ECH_MINMAX
 *   options  NULL for the defaults
 *
 * Nothing (n = 0, or nothing but NaN that are ignored) gives: sum, norm, count, or, xor, any 0;
 * product, all 1; and all ones; min the greatest value of dtype and max the least (floats: +inf and
 * -inf); argmin and argmax UINT64_MAX; mean and variance NaN.
 *
 * A NaN that comes out is the positive quiet one without a payload, a sum that is zero +0.  The
 * variance of no more than ddof elements is NaN.  ech_dot() ignores a pair of which either is NaN.
 *
 * Sums of floats are added in an order that depends on n and dtype alone: that of docs/reduce.md,
 * in chunks, then pairwise.  They are the same on every device, with any number of threads, in
 * every run, and their error grows with the logarithm of n.
 */
ECH_API ech_status ech_reduce(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                              ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_reduce_rows() is ech_reduce() of each row.
 *
 *   in     [rows][columns] of dtype
 *   out    [rows] of ech_reduce_dtype(), [rows][2] for ECH_MINMAX; positions count within the row
 */
ECH_API ech_status ech_reduce_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                                   size_t columns, ech_dtype dtype,
                                   const ech_reduce_options *options);

/*
 * ech_reduce_segments() is ech_reduce() of each segment.
 *
 *   in       [n] of dtype
 *   offsets  [segments + 1]: segment s is in[offsets[s]] ... in[offsets[s + 1] - 1].  They must not
 *            decrease or pass n; the first need not be 0, nor the last n
 *   out      [segments], as in ech_reduce_rows()
 */
ECH_API ech_status ech_reduce_segments(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                       const uint64_t *offsets, size_t segments, size_t n,
                                       ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_reduce_by_key() is ech_reduce() of each run of equal keys.
 *
 *   keys      [n] of key_dtype
 *   in        [n] of dtype
 *   keys_out  [n], of which the first *count are written: the first key of each run
 *   out       [n], of which the first *count are written, as in ech_reduce_rows()
 *   count     [1] receives the number of runs
 */
ECH_API ech_status ech_reduce_by_key(ech_ctx *ctx, ech_op op, const void *keys, ech_dtype key_dtype,
                                     const void *in, void *keys_out, void *out, uint64_t *count,
                                     size_t n, ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_dot() is the sum of a[i] b[i], in the type and by the order of ech_reduce() with ECH_SUM.
 *
 *   a, b   [n] of dtype, which may be the same
 *   out    [1] of ech_reduce_dtype(ECH_SUM, ...)
 */
ECH_API ech_status ech_dot(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n,
                           ech_dtype dtype, const ech_reduce_options *options);

/* ech_reduce_workspace() tells how many bytes of workspace every reduction above takes of at most n
 * elements, rows * columns for rows; by_key: 1 for ech_reduce_by_key(), else 0.  device as for
 * ech_sort_workspace(). */
ECH_API ech_status ech_reduce_workspace(const char *device, ech_op op, size_t n, ech_dtype dtype,
                                        int by_key, const ech_reduce_options *options,
                                        size_t *bytes);

/* ---- Scan ------------------------------------------------------------------------------------ */

typedef struct ech_scan_options {
    size_t size;      /* sizeof(ech_scan_options) */
    int exclusive;    /* 1: out[i] is of the elements before i alone */
    int backward;     /* 1: from the last element to the first */
    int wide;         /* 1: sums and products are i64 of signed and u64 of unsigned integers, f64 of
                          floats, and so is out */
    ech_nan nan;      /* of floats */
    const void *init; /* NULL, or [1] of out's type in host memory, put before the first element (of
                          each row, segment or run) */
    void *work;       /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_scan_workspace() says */
} ech_scan_options;

/*
 * ech_scan() combines each element with all before it: out[i] = in[0] op ... op in[i].
 *
 *   op     ECH_SUM ... ECH_XOR
 *   in     [n] of dtype, not modified unless it is also out
 *   out    [n] of dtype (options->wide: see there); may be in when the types have one size
 *
 * Sums and products of integers are taken modulo 2^bits of out's type.  Those of f16 and bf16 are
 * kept in f32, and rounded when they are written.  Without init, an exclusive scan begins with the
 * operator's neutral value: see ech_reduce() on nothing.  As there, results of floats depend on n
 * and dtype alone, by the order of docs/scan.md; of sums and products, every NaN is one.  A NaN
 * that is ignored counts as neutral, also as init.
 */
ECH_API ech_status ech_scan(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                            ech_dtype dtype, const ech_scan_options *options);

/* ech_scan() of each row of [rows][columns], to the bit. */
ECH_API ech_status ech_scan_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                                 size_t columns, ech_dtype dtype, const ech_scan_options *options);

/* ech_scan() of each segment; offsets as in ech_reduce_segments().  What lies in no segment is not
 * written.  Sums and products of floats are taken in the order of a scan of the whole array, cut
 * where segments begin: it depends on n and the offsets alone, and rounds otherwise than ech_scan()
 * of the segment. */
ECH_API ech_status ech_scan_segments(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                     const uint64_t *offsets, size_t segments, size_t n,
                                     ech_dtype dtype, const ech_scan_options *options);

/* ech_scan() of each run of equal keys, [n] of key_dtype, as ech_scan_segments() of them. */
ECH_API ech_status ech_scan_by_key(ech_ctx *ctx, ech_op op, const void *keys, ech_dtype key_dtype,
                                   const void *in, void *out, size_t n, ech_dtype dtype,
                                   const ech_scan_options *options);

/* ech_scan_workspace() tells how many bytes of workspace every scan above takes of n elements. */
ECH_API ech_status ech_scan_workspace(const char *device, ech_op op, size_t n, ech_dtype dtype,
                                      const ech_scan_options *options, size_t *bytes);

/* ---- Histogram ------------------------------------------------------------------------------- */

/* What becomes of values that are in no bin.  A NaN is in no bin, and on no side. */
typedef enum ech_outside {
    ECH_OUTSIDE_DROP = 0,  /* they are not counted */
    ECH_OUTSIDE_CLAMP = 1, /* those below count in the first bin, those above in the last */
    ECH_OUTSIDE_COUNT = 2  /* three more counters follow the bins: below, above, NaN */
} ech_outside;

typedef struct ech_histogram_options {
    size_t size;             /* sizeof(ech_histogram_options) */
    int channels;            /* 0 or 1: one; c: in[i] belongs to channel i % c, and each channel has
                                counters of its own, one channel's after the other's */
    ech_outside outside;     /* see there */
    int closed;              /* 1: the last bin has its upper end too, as NumPy's */
    int add;                 /* 1: add to what counts holds; 0: start from 0 */
    const void *weights;     /* NULL, or [n] of weights_dtype: what each element counts for */
    ech_dtype weights_dtype; /* i32, u32, i64, u64, f32 or f64 */
    const char *algorithm;   /* NULL, or one that ech_histogram_explain() lists */
    void *work;              /* as in ech_sort_options */
    size_t work_bytes;       /* at least what ech_histogram_workspace() says */
} ech_histogram_options;

/*
 * ech_histogram() counts how many elements lie in each of bins ranges of one width.
 *
 *   in       [n] of dtype; n must be a multiple of the channels
 *   counts   [channels][bins] of u64, ECH_OUTSIDE_COUNT: [channels][bins + 3].  With weights: of
 *            i64 for signed, u64 for unsigned ones, both modulo 2^64, and f64 for floats: the
 *            exact sum, rounded once, of weights cut to multiples of 2^-147 of the power of two
 *            just above the largest
 *   bins     at least 1
 *   lower, upper  finite, lower < upper; what is below lower or from upper on is in no bin.
 *            Floats: bin b has the x with b <= (x - lower) * factor < b + 1, where factor = bins /
 *            (upper - lower), all of it in f64 (f16, bf16, f32: in f32, to which lower and upper
 *            are rounded) with one rounding a step; an x whose product is rounded up to bins is in
 *            the last bin.  Integers: whole numbers from -2^63 to 2^64, at most 2^64 apart; bin b
 *            has the x with b <= (x - lower) * bins / (upper - lower) < b + 1, exactly
 */
ECH_API ech_status ech_histogram(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                 ech_dtype dtype, size_t bins, double lower, double upper,
                                 const ech_histogram_options *options);

/*
 * ech_histogram_edges() is ech_histogram() whose bin b has the x with edges[b] <= x < edges[b + 1].
 *
 *   edges    [bins + 1] of dtype, each greater than the one before
 */
ECH_API ech_status ech_histogram_edges(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                       ech_dtype dtype, const void *edges, size_t bins,
                                       const ech_histogram_options *options);

/* ech_bincount() counts how often each of the integers 0 ... bins - 1 occurs: bytes, 16-bit values
 * (65536 bins), indices.  dtype must be of integers. */
ECH_API ech_status ech_bincount(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                ech_dtype dtype, size_t bins, const ech_histogram_options *options);

/* ech_histogram_2d() counts the pairs (x[i], y[i]) in [x_bins][y_bins] counters; a pair is outside
 * when x or y is: ECH_OUTSIDE_COUNT is for one dimension alone, and so are channels. */
ECH_API ech_status ech_histogram_2d(ech_ctx *ctx, const void *x, const void *y, void *counts,
                                    size_t n, ech_dtype dtype, size_t x_bins, double x_lower,
                                    double x_upper, size_t y_bins, double y_lower, double y_upper,
                                    const ech_histogram_options *options);

/* ech_histogram_workspace() tells how many bytes of workspace every histogram above takes of n
 * elements and, in all channels together, bins bins; of options, outside, weights (whether it is
 * NULL), weights_dtype, channels and algorithm matter. */
ECH_API ech_status ech_histogram_workspace(const char *device, size_t n, size_t bins,
                                           ech_dtype dtype, const ech_histogram_options *options,
                                           size_t *bytes);

/* Like ech_sort_explain(): the algorithm, the others that could be forced, the workspace. */
ECH_API ech_status ech_histogram_explain(const char *device, size_t n, size_t bins, ech_dtype dtype,
                                         const ech_histogram_options *options, char *text,
                                         size_t capacity_bytes);

/* ---- Select ---------------------------------------------------------------------------------- */

/*
 * Options of what follows, down to ech_select_workspace().  Every call keeps elements in their
 * input order and says in count, [1] of u64, how many it wrote; what lies in out beyond them is
 * unspecified.  out has room for [n].
 */
typedef struct ech_select_options {
    size_t size; /* sizeof(ech_select_options) */
    int invert;  /* 1: keep what would be dropped, and drop what would be kept; not where nothing is
                    dropped: ech_partition_three(), ech_encode_runs(), ech_decode_runs() */
    int index;   /* 1: ech_select_*: write the positions, u64, instead of the elements */
    int packed;  /* 1: flags are bits, flag i is bit i % 8 of byte i / 8; 0: bytes, not 0 is set */
    void *work;  /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_select_workspace() says */
} ech_select_options;

/*
 * ech_select_flags() keeps the elements whose flag is set.
 *
 *   in     [n] of element_bytes (1 or more) each, opaque; may be NULL with options->index
 *   flags  [n] bytes, or (n + 7) / 8 when packed
 *   out    [n], of which the first *count are written; overlaps nothing
 *   count  [1]
 */
ECH_API ech_status ech_select_flags(ech_ctx *ctx, const void *in, const uint8_t *flags, void *out,
                                    uint64_t *count, size_t n, size_t element_bytes,
                                    const ech_select_options *options);

/* ech_select_if() keeps the elements that pass a test; value is [1] of dtype in host memory. */
ECH_API ech_status ech_select_if(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                                 ech_dtype dtype, ech_compare compare, const void *value,
                                 const ech_select_options *options);

/* ech_partition_flags() and ech_partition_if() write first the *count elements that
 * ech_select_flags() and ech_select_if() would, then all others, also in their input order. */
ECH_API ech_status ech_partition_flags(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                       void *out, uint64_t *count, size_t n, size_t element_bytes,
                                       const ech_select_options *options);
ECH_API ech_status ech_partition_if(ech_ctx *ctx, const void *in, void *out, uint64_t *count,
                                    size_t n, ech_dtype dtype, ech_compare compare,
                                    const void *value, const ech_select_options *options);

/*
 * ech_partition_three() writes first the elements less than low, then those from low to high, both
 * included, then those greater than high and NaN; each in their input order.
 *
 *   low, high  [1] of dtype in host memory, low <= high
 *   counts     [2] receives how many came first and how many second
 */
ECH_API ech_status ech_partition_three(ech_ctx *ctx, const void *in, void *out, uint64_t *counts,
                                       size_t n, ech_dtype dtype, const void *low, const void *high,
                                       const ech_select_options *options);

/* ech_unique() keeps the first of each run of equal elements: of sorted input, one of each value.
 */
ECH_API ech_status ech_unique(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                              ech_dtype dtype, const ech_select_options *options);

/* ech_unique_by_key() keeps the first of each run of equal keys, and its value of value_bytes. */
ECH_API ech_status ech_unique_by_key(ech_ctx *ctx, const void *keys, const void *values,
                                     void *keys_out, void *values_out, uint64_t *count,
                                     size_t value_bytes, size_t n, ech_dtype dtype,
                                     const ech_select_options *options);

/* ech_encode_runs() is ech_unique() that also says how long each run is: lengths has room for [n]
 * and receives *count. */
ECH_API ech_status ech_encode_runs(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                                   uint64_t *count, size_t n, ech_dtype dtype,
                                   const ech_select_options *options);

/*
 * ech_decode_runs() writes each element as often as its length says.
 *
 *   in       [runs] of element_bytes each
 *   lengths  [runs]
 *   out      [n]; the lengths must not add up to more than n, and what lies beyond is not written
 */
ECH_API ech_status ech_decode_runs(ech_ctx *ctx, const void *in, const uint64_t *lengths, void *out,
                                   size_t runs, size_t n, size_t element_bytes,
                                   const ech_select_options *options);

/* ech_select_workspace() tells how many bytes of workspace every call above takes of n elements
 * (ech_decode_runs(): of runs). */
ECH_API ech_status ech_select_workspace(const char *device, size_t n, size_t element_bytes,
                                        const ech_select_options *options, size_t *bytes);

/* ---- Arrange --------------------------------------------------------------------------------- */

/*
 * Elements are opaque, of element_bytes (1 or more) each.  None of these takes a workspace, and out
 * overlaps nothing unless it is said.
 */

/* ech_gather() fetches by position: out[i] = in[index[i]], for i < n.  index is [n] of index_dtype,
 * u32 or u64, each less than n_in. */
ECH_API ech_status ech_gather(ech_ctx *ctx, const void *in, const void *index,
                              ech_dtype index_dtype, void *out, size_t n, size_t n_in,
                              size_t element_bytes);

/* ech_scatter() puts to positions: out[index[i]] = in[i], for i < n.  Each index is less than
 * n_out; what comes to lie where two indices agree is unspecified, of large elements also parts of
 * both; the rest of out is kept. */
ECH_API ech_status ech_scatter(ech_ctx *ctx, const void *in, const void *index,
                               ech_dtype index_dtype, void *out, size_t n, size_t n_out,
                               size_t element_bytes);

/* ech_reverse(): out[i] = in[n - 1 - i].  out may be in. */
ECH_API ech_status ech_reverse(ech_ctx *ctx, const void *in, void *out, size_t n,
                               size_t element_bytes);

/* ech_rotate(): out[i] = in[(i + by) % n], by of any size. */
ECH_API ech_status ech_rotate(ech_ctx *ctx, const void *in, void *out, size_t n, size_t by,
                              size_t element_bytes);

/* ech_transpose(): in is [rows][columns], out is [columns][rows]. */
ECH_API ech_status ech_transpose(ech_ctx *ctx, const void *in, void *out, size_t rows,
                                 size_t columns, size_t element_bytes);

/* ech_fill(): out[i] = *value, which lies in host memory. */
ECH_API ech_status ech_fill(ech_ctx *ctx, void *out, const void *value, size_t n,
                            size_t element_bytes);

/* ech_iota(): out[i] = start + i * step, in dtype; start and step are [1] of dtype in host memory,
 * NULL for 0 and 1.  Integers modulo 2^bits.  Floats with one rounding of i * step and one of the
 * sum; those of f16 and bf16 are f32's, rounded when they are written.  What is NaN is the positive
 * quiet one without a payload. */
ECH_API ech_status ech_iota(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype, const void *start,
                            const void *step);

/* ech_permutation() writes a random order of 0 ... n - 1, of dtype u32 or u64: the same for the
 * same n and seed on every device. */
ECH_API ech_status ech_permutation(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype,
                                   uint64_t seed);

/* ech_shuffle() puts the elements in the order of ech_permutation(): out[i] = in[p[i]]. */
ECH_API ech_status ech_shuffle(ech_ctx *ctx, const void *in, void *out, size_t n,
                               size_t element_bytes, uint64_t seed);

/* ech_sample() draws k of the n elements without putting any back: the first k of ech_shuffle(). */
ECH_API ech_status ech_sample(ech_ctx *ctx, const void *in, void *out, size_t n, size_t k,
                              size_t element_bytes, uint64_t seed);

/* ---- Matrices over GF(2) --------------------------------------------------------------------- */

/*
 * A matrix of bits, or a view of a part of one: bit j of row i is bit j % 64 of
 * words[i * stride + j / 64].  This is the layout of M4RI and, on little-endian machines, that of
 * packbits(bitorder="little") of NumPy.  Bits of a row's last word beyond cols, and words beyond
 * that, belong to somebody else: they are not looked at and never changed.  The words lie in host
 * memory or in the GPU's, like every array; the struct itself is read when the call is made.
 *
 * Rows and columns are at most 2^32 - 1; positions of either are u32.  Matrices that a call writes
 * overlap nothing else unless it is said; two views of one matrix do not overlap when they share no
 * word.
 */
typedef struct ech_gf2 {
    size_t size;     /* sizeof(ech_gf2) */
    uint64_t *words; /* aligned to 8 bytes; NULL is allowed when there are no bits */
    size_t rows, cols;
    size_t stride; /* words from a row to the next; at least ech_gf2_stride(cols) */
} ech_gf2;

/* The words that a row of so many bits takes: cols / 64, rounded up. */
ECH_API size_t ech_gf2_stride(size_t cols);

/* ech_gf2_view() makes *view the rows x cols part of *a whose first bit is (row, col); col is a
 * multiple of 64 (ech_gf2_copy() copies from anywhere).  No data is moved. */
ECH_API ech_status ech_gf2_view(const ech_gf2 *a, size_t row, size_t col, size_t rows, size_t cols,
                                ech_gf2 *view);

/* Options of every call on such matrices but those that eliminate. */
typedef struct ech_gf2_options {
    size_t size;           /* sizeof(ech_gf2_options) */
    const char *algorithm; /* NULL, or one that ech_gf2_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_gf2_workspace() says */
} ech_gf2_options;

/* ---- ... moved and made ---- */

/* ech_gf2_copy() copies rows x cols bits from (from_row, from_col) of *from to (to_row, to_col) of
 * *to, at any positions: what cuts a matrix out of another, and sets two side by side or one on top
 * of the other. */
ECH_API ech_status ech_gf2_copy(ech_ctx *ctx, const ech_gf2 *from, size_t from_row, size_t from_col,
                                const ech_gf2 *to, size_t to_row, size_t to_col, size_t rows,
                                size_t cols);

/* out = a + b, bit by bit modulo 2; out may be a or b. */
ECH_API ech_status ech_gf2_add(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b,
                               const ech_gf2 *out);

/* out = a^T: out is a->cols x a->rows. */
ECH_API ech_status ech_gf2_transpose(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *out);

/* Row i of out is row order[i] of a, column j of out is column order[j] of a; order has as many
 * positions as out has rows or columns, in any order, also repeated. */
ECH_API ech_status ech_gf2_gather_rows(ech_ctx *ctx, const ech_gf2 *a, const uint32_t *order,
                                       const ech_gf2 *out);
ECH_API ech_status ech_gf2_gather_columns(ech_ctx *ctx, const ech_gf2 *a, const uint32_t *order,
                                          const ech_gf2 *out);

/* Every bit 0; 1 where i == j and else 0; 0 or 1 by a generator that depends on seed, i and j
 * alone, 1 with the given probability (rounded to a multiple of 2^-32). */
ECH_API ech_status ech_gf2_zero(ech_ctx *ctx, const ech_gf2 *out);
ECH_API ech_status ech_gf2_identity(ech_ctx *ctx, const ech_gf2 *out);
ECH_API ech_status ech_gf2_random(ech_ctx *ctx, const ech_gf2 *out, double probability,
                                  uint64_t seed);

/* A byte for each bit, row after row: [rows * cols].  Packing takes bit 0 of each byte. */
ECH_API ech_status ech_gf2_pack(ech_ctx *ctx, const uint8_t *bytes, const ech_gf2 *out);
ECH_API ech_status ech_gf2_unpack(ech_ctx *ctx, const ech_gf2 *a, uint8_t *bytes);

/* *count, [1] of u64: the ones of a.  *equal, [1] of u8: whether a and b, of one shape, are the
 * same. */
ECH_API ech_status ech_gf2_count(ech_ctx *ctx, const ech_gf2 *a, uint64_t *count);
ECH_API ech_status ech_gf2_equal(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, uint8_t *equal);

/* ---- ... multiplied ---- */

/*
 * ech_gf2_mul() is out = a b, ech_gf2_addmul() out += a b: a is m x k, b is k x n, out is m x n.
 * ech_gf2_mul_vec() multiplies vectors that lie as rows: each row x of the p x k matrix becomes the
 * row a x of the p x m matrix out, for a of m x k; a single vector is p = 1.
 */
ECH_API ech_status ech_gf2_mul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, const ech_gf2 *out,
                               const ech_gf2_options *options);
ECH_API ech_status ech_gf2_addmul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b,
                                  const ech_gf2 *out, const ech_gf2_options *options);
ECH_API ech_status ech_gf2_mul_vec(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *x,
                                   const ech_gf2 *out, const ech_gf2_options *options);

/* ---- ... eliminated ---- */

/*
 * Elimination goes through columns in order.  In each it takes the first row, among those that are
 * not pivot rows yet, that has a one there, swaps it with the first of them, and adds it to those
 * below that have a one there (and, for the reduced form, to those above).  Whatever the algorithm,
 * the device and the number of threads, everything below is what this gives, to the bit.  (The
 * reduced form, the rank and the pivots do not depend on which row is taken; the rest does.)
 */
typedef enum ech_gf2_form {
    ECH_GF2_REDUCED = 0, /* a pivot is the only one of its column */
    ECH_GF2_ECHELON = 1  /* below a pivot are zeros alone */
} ech_gf2_form;

typedef struct ech_gf2_echelon_options {
    size_t size; /* sizeof(ech_gf2_echelon_options) */
    ech_gf2_form form;
    const uint32_t *order; /* NULL, or [columns]: pivots are sought in these different columns, in
                                 this order; no column is moved */
    size_t columns;        /* seek pivots in the first so many columns (of order) alone; 0: all */
    size_t max_rank;       /* stop once there are so many pivots; 0: do not */
    const ech_gf2 *transform; /* NULL, or rows x rows: receives T with T a = the result */
    uint32_t *rows_from;      /* NULL, or [rows]: row i of the result was row rows_from[i] of a,
                                 before rows were added to it */
    const char *algorithm;    /* NULL, or one that ech_gf2_explain() lists */
    void *work;               /* as in ech_sort_options */
    size_t work_bytes;        /* at least what ech_gf2_workspace() says */
} ech_gf2_echelon_options;

/*
 * ech_gf2_echelon() brings a to echelon form in place.
 *
 *   rank     [1] receives the number of pivots
 *   pivots   NULL, or [min(rows, cols)]: pivots[i] is the column of the pivot of row i, for
 *            i < *rank; the rest is unspecified
 */
ECH_API ech_status ech_gf2_echelon(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank, uint32_t *pivots,
                                   const ech_gf2_echelon_options *options);

/* ech_gf2_rank() tells the rank and leaves a as it is; of options, transform is not for it. */
ECH_API ech_status ech_gf2_rank(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank,
                                const ech_gf2_echelon_options *options);

/*
 * ech_gf2_pluq() writes a as L U with its rows and columns permuted: a(p[i], q[j]) = (L U)(i, j).
 * L, rows x rank with ones on its diagonal and zeros above, and U, rank x cols with ones on its
 * diagonal and zeros below, take a's place: L below the diagonal, U on and above it, zeros after
 * both.  The first rank columns of q are the pivots', the others follow in their order.
 *
 *   rank  [1]      p  [rows]      q  [cols]
 */
ECH_API ech_status ech_gf2_pluq(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank, uint32_t *p,
                                uint32_t *q, const ech_gf2_echelon_options *options);

/*
 * ech_gf2_solve() finds x with a x = b, column by column of b.
 *
 *   a           m x n; not changed
 *   b           m x k; not changed
 *   x           n x k: a column that has solutions receives the one whose bits are 0 but at pivots;
 *               one that has none receives 0
 *   solvable    NULL, or [k] of u8: 1 where there is a solution, else 0
 *   certificate NULL, or k x m: row j shows why column j has none: a combination y of rows with
 *               y a = 0 and y b_j = 1; zero where there is a solution
 *   options     order and columns: the columns of a that may be pivots; max_rank and transform are
 *               not for it
 */
ECH_API ech_status ech_gf2_solve(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, const ech_gf2 *x,
                                 uint8_t *solvable, const ech_gf2 *certificate,
                                 const ech_gf2_echelon_options *options);

/*
 * ech_gf2_kernel() writes a basis of the x with a x = 0, ech_gf2_left_kernel() one of the y with
 * y a = 0, a vector a row.  Row i of a kernel belongs to the i-th column that has no pivot: it has
 * a one there, and zeros in every other such column.  The left kernel is that of a^T.
 *
 *   basis    as many columns as a has (left: as a has rows); and as many rows, or as few as it is
 *            known to need: too few fail with ECH_ERR_ARG.  Rows beyond the dimension become 0
 *   dim      [1] receives the dimension
 */
ECH_API ech_status ech_gf2_kernel(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *basis,
                                  uint32_t *dim, const ech_gf2_echelon_options *options);
ECH_API ech_status ech_gf2_left_kernel(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *basis,
                                       uint32_t *dim, const ech_gf2_echelon_options *options);

/* ech_gf2_inverse() writes the inverse of a square matrix; *rank, [1], is less than its rows when
 * there is none, and inverse then unspecified. */
ECH_API ech_status ech_gf2_inverse(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *inverse,
                                   uint32_t *rank, const ech_gf2_echelon_options *options);

/* ---- ... many small ones ---- */

/*
 * count matrices of one shape, matrix i at words + i * step; step 0 of an input makes all the same.
 */
typedef struct ech_gf2_batch {
    size_t size; /* sizeof(ech_gf2_batch) */
    uint64_t *words;
    size_t count, rows, cols;
    size_t stride, step; /* in words */
} ech_gf2_batch;

/*
 * ech_gf2_echelon_batched() is ech_gf2_echelon() for each matrix of a batch, in place.
 *
 *   rank     [count]
 *   pivots   NULL, or [count][min(rows, cols)]
 *   options  order is [count][columns], an order for each matrix; transform and rows_from are not
 *            for it
 *
 * ech_gf2_rank_batched() leaves the matrices as they are.
 */
ECH_API ech_status ech_gf2_echelon_batched(ech_ctx *ctx, const ech_gf2_batch *a, uint32_t *rank,
                                           uint32_t *pivots,
                                           const ech_gf2_echelon_options *options);
ECH_API ech_status ech_gf2_rank_batched(ech_ctx *ctx, const ech_gf2_batch *a, uint32_t *rank,
                                        const ech_gf2_echelon_options *options);

/*
 * ech_gf2_solve_batched() is ech_gf2_solve() of one right-hand side for each matrix.
 *
 *   b         [count][ech_gf2_stride(rows)] words: a vector of rows bits for each
 *   x         [count][ech_gf2_stride(cols)] words: the solutions, zero where there is none; spare
 *             bits are written as 0
 *   solvable  [count] of u8
 */
ECH_API ech_status ech_gf2_solve_batched(ech_ctx *ctx, const ech_gf2_batch *a, const uint64_t *b,
                                         uint64_t *x, uint8_t *solvable,
                                         const ech_gf2_echelon_options *options);

/* ---- ... and planned ---- */

typedef enum ech_gf2_call {
    ECH_GF2_CALL_MUL = 0,     /* mul, addmul: a is rows x cols, b is cols x other */
    ECH_GF2_CALL_MUL_VEC = 1, /* other: rows of x */
    ECH_GF2_CALL_ECHELON = 2, /* echelon, rank */
    ECH_GF2_CALL_PLUQ = 3,
    ECH_GF2_CALL_SOLVE = 4,  /* other: columns of b */
    ECH_GF2_CALL_KERNEL = 5, /* kernel, left_kernel */
    ECH_GF2_CALL_INVERSE = 6,
    ECH_GF2_CALL_BATCHED = 7 /* all that end in _batched; other: the number of matrices */
} ech_gf2_call;

/*
 * ech_gf2_workspace() tells how many bytes of workspace such calls take for an a of rows x cols;
 * of options, NULL allowed, form, algorithm, and whether order and transform are NULL matter; a
 * certificate of ECH_GF2_CALL_SOLVE counts as a transform.  ech_gf2_explain() is like
 * ech_sort_explain().
 */
ECH_API ech_status ech_gf2_workspace(const char *device, ech_gf2_call call, size_t rows,
                                     size_t cols, size_t other,
                                     const ech_gf2_echelon_options *options, size_t *bytes);
ECH_API ech_status ech_gf2_explain(const char *device, ech_gf2_call call, size_t rows, size_t cols,
                                   size_t other, const ech_gf2_echelon_options *options, char *text,
                                   size_t capacity_bytes);

/* ---- Matrix product -------------------------------------------------------------------------- */

/*
 * A matrix of numbers lies row by row: element (i, j) of one with rows x cols is at i * stride + j,
 * where stride >= cols counts elements.  What lies between rows is not touched.
 */
typedef struct ech_matmul_options {
    size_t size;     /* sizeof(ech_matmul_options) */
    int transpose_a; /* 1: a is given as [k][m] */
    int transpose_b; /* 1: b is given as [n][k] */
    int wide;        /* 1, of f16 and bf16: c is f32 */
    size_t count;    /* 0 or 1: one product; else so many, whose matrices lie ... */
    size_t a_step;   /* ... so many elements apart; 0 for a and b: all have the same, and */
    size_t b_step;
    size_t c_step;         /* of c at least m * c_stride */
    const char *algorithm; /* NULL, or one that ech_matmul_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_matmul_workspace() says */
} ech_matmul_options;

/*
 * ech_matmul() is c = alpha op(a) op(b) + beta c.
 *
 *   m, n, k   op(a) is m x k, op(b) is k x n, c is m x n; any may be 0
 *   a, b      of dtype; not modified, may be the same
 *   c         of dtype (wide: f32).  With beta 0 what it holds is not read, so that NaN there do no
 *             harm; with alpha 0 a and b are not read
 *   dtype     ECH_F32 or ECH_F64; ECH_F16 or ECH_BF16, whose products are added in f32
 *
 * Done by the vendor's library where there is one, opened when it is first needed: cuBLAS on a GPU;
 * on the CPU OpenBLAS, MKL, BLIS or what ECHELON_BLAS names, unless it has no kernels for this
 * machine.  The order of its sums is its own.  The algorithm "tiled" adds up every element of c in
 * the order of k, by fused operations of one rounding, and gives the same bits on every device;
 * docs/matmul.md has both.  c must not overlap a or b.
 */
ECH_API ech_status ech_matmul(ech_ctx *ctx, size_t m, size_t n, size_t k, double alpha,
                              const void *a, size_t a_stride, const void *b, size_t b_stride,
                              double beta, void *c, size_t c_stride, ech_dtype dtype,
                              const ech_matmul_options *options);

/* ech_matmul_list() is ech_matmul() of count triples that lie anywhere: a[i], b[i], c[i] of the
 * arrays [count].  Lists in a GPU's memory are of matrices there, and are not looked at; lists in
 * host memory may be of matrices anywhere.  options->count and the steps must be 0. */
ECH_API ech_status ech_matmul_list(ech_ctx *ctx, size_t count, size_t m, size_t n, size_t k,
                                   double alpha, const void *const *a, size_t a_stride,
                                   const void *const *b, size_t b_stride, double beta,
                                   void *const *c, size_t c_stride, ech_dtype dtype,
                                   const ech_matmul_options *options);

/* ech_matmul_workspace() tells how many bytes of workspace a product takes; of options, the
 * transposes, wide, count (of a list too) and algorithm matter.  ech_matmul_explain() writes lines
 * about how it would be done, and the algorithms there are, into text, as ech_sort_explain()
 * does. */
ECH_API ech_status ech_matmul_workspace(const char *device, size_t m, size_t n, size_t k,
                                        ech_dtype dtype, const ech_matmul_options *options,
                                        size_t *bytes);
ECH_API ech_status ech_matmul_explain(const char *device, size_t m, size_t n, size_t k,
                                      ech_dtype dtype, const ech_matmul_options *options,
                                      char *text, size_t capacity_bytes);

/*
 * ech_matvec() is y = alpha op(a) x + beta y, to the bit the same everywhere (docs/matmul.md).
 *
 *   rows, cols  of a as it is given; transpose: op(a) is its transpose
 *   x           [cols], transpose: [rows]
 *   y           [rows], transpose: [cols]; not read with beta 0
 *   dtype       ECH_F32 or ECH_F64
 */
ECH_API ech_status ech_matvec(ech_ctx *ctx, int transpose, size_t rows, size_t cols, double alpha,
                              const void *a, size_t a_stride, const void *x, double beta, void *y,
                              ech_dtype dtype);

/* ---- Sparse matrices ------------------------------------------------------------------------- */

/*
 * Compressed sparse rows, as SciPy and cuSPARSE have them: row i has the entries offsets[i] ...
 * offsets[i + 1] - 1, and entry e lies in column columns[e].  Where a function says "in order", the
 * columns of each row rise, so that none is there twice.
 *
 * Functions that only read a matrix do not look whether it is one, but neither read nor write
 * outside of its arrays.
 */
typedef struct ech_csr {
    size_t size; /* sizeof(ech_csr) */
    size_t rows, cols;
    size_t entries;  /* offsets[rows]; where a matrix is made: the room in columns and values */
    void *offsets;   /* [rows + 1] of index, the first 0 */
    void *columns;   /* [entries] of index */
    void *values;    /* [entries] of dtype */
    ech_dtype index; /* ECH_I32 or ECH_I64 */
    ech_dtype dtype; /* ECH_F32 or ECH_F64 */
} ech_csr;

typedef struct ech_csr_options {
    size_t size;       /* sizeof(ech_csr_options) */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_csr_workspace() says */
} ech_csr_options;

/*
 * ech_csr_from_coo() makes a matrix, in order, of entries in any order.
 *
 *   n        how many are given
 *   rows, columns  [n] of out->index, not modified: the first that is out of range is reported
 *   values   [n] of out->dtype, not modified; those of one place are added up in the order they
 *            come
 *   out      its rows, cols, index and dtype say what is made; entries is the room, n at least
 *   entries  [1] of u64, receives how many there are, which is the caller's to put into
 *            out->entries
 *
 * Fails with ECH_ERR_UNSUPPORTED where a row's number and one of n, or of a column if those are
 * fewer, together take more than 64 bits.
 */
ECH_API ech_status ech_csr_from_coo(ech_ctx *ctx, size_t n, const void *rows, const void *columns,
                                    const void *values, const ech_csr *out, uint64_t *entries,
                                    const ech_csr_options *options);

/* ech_csr_transpose() makes out = a^T, in order where a has no entry twice; rows, cols, entries and
 * types must fit.  Fails with ECH_ERR_UNSUPPORTED where a row's and a column's number together take
 * more than 64 bits: of offsets alone these are 64 GiB. */
ECH_API ech_status ech_csr_transpose(ech_ctx *ctx, const ech_csr *a, const ech_csr *out,
                                     const ech_csr_options *options);

/* ech_csr_diagonal() copies what lies on the diagonal into diagonal [min(a->rows, a->cols)] of
 * a->dtype: of several entries the first, and 0 where there is none. */
ECH_API ech_status ech_csr_diagonal(ech_ctx *ctx, const ech_csr *a, void *diagonal);

/* ech_csr_check() fails where offsets do not begin with 0, decrease, or do not end with a->entries;
 * else where columns are out of range or, with in_order 1, do not rise.  The first row that is
 * wrong is named, by ech_sync() if the matrix lies on a GPU. */
ECH_API ech_status ech_csr_check(ech_ctx *ctx, const ech_csr *a, int in_order);

/*
 * ech_spmv() is y = alpha a x + beta y.
 *
 *   x          [a->cols] of a->dtype
 *   y          [a->rows] of a->dtype, not in x; with beta 0 what it holds is not read, so that NaN
 *              there do no harm
 *   alpha      with 0 neither the entries of a nor x are looked at
 *
 * Each row is added up in an order that follows from its length alone (docs/sparse.md), and gives
 * the same bits on every device.  Rows may be of any lengths: one may have all entries.
 */
ECH_API ech_status ech_spmv(ech_ctx *ctx, double alpha, const ech_csr *a, const void *x,
                            double beta, void *y, const ech_csr_options *options);

/* ech_spmm() is c = alpha a b + beta c: b [a->cols][n] and c [a->rows][n], whose rows lie so many
 * elements apart; c's bits are those of ech_spmv() with each column. */
ECH_API ech_status ech_spmm(ech_ctx *ctx, double alpha, const ech_csr *a, size_t n, const void *b,
                            size_t b_stride, double beta, void *c, size_t c_stride,
                            const ech_csr_options *options);

typedef enum ech_csr_call {
    ECH_CSR_FROM_COO = 0, /* of n = a->entries entries */
    ECH_CSR_TRANSPOSE = 1,
    ECH_CSR_SPMV = 2,
    ECH_CSR_SPMM = 3
} ech_csr_call;

/* ech_csr_workspace() tells how many bytes of workspace a call takes; a's pointers do not
 * matter. */
ECH_API ech_status ech_csr_workspace(const char *device, ech_csr_call call, const ech_csr *a,
                                     size_t *bytes);

/* ---- Linear systems -------------------------------------------------------------------------- */

/*
 * The matrix A of a system A x = b, n x n: exactly one of csr, dense and apply is set.  Its arrays
 * lie in host or device memory, as everywhere.
 */
typedef struct ech_operator {
    size_t size;        /* sizeof(ech_operator) */
    size_t n;           /* rows and columns */
    ech_dtype dtype;    /* ECH_F32 or ECH_F64: of A, b and x */
    const ech_csr *csr; /* n x n, of dtype */
    const void *dense;  /* [n][n], row i at i * stride */
    size_t stride;      /* n at least */
    /* Writes A x into y, [n] each, not one memory: device memory where ctx has a GPU, and queued on
     * its stream, as calls on ctx are.  Anything but ECH_OK ends the solver with it. */
    ech_status (*apply)(void *user, ech_ctx *ctx, const void *x, void *y);
    void *user;
    const void *diagonal; /* with apply: NULL, or [n], A's diagonal, for what divides by it */
} ech_operator;

typedef enum ech_method {
    ECH_METHOD_AUTO = 0, /* CG, MINRES or GMRES, by what A turns out to be: docs/solve.md */
    ECH_RICHARDSON = 1,  /* x += omega M^-1 (b - A x) */
    ECH_JACOBI = 2,      /* the same, with the diagonal for M */
    ECH_CHEBYSHEV = 3,   /* A symmetric positive definite, as for CG */
    ECH_CG = 4,
    ECH_MINRES = 5, /* A symmetric */
    ECH_BICGSTAB = 6,
    ECH_GMRES = 7,
    ECH_GAUSS_SEIDEL = 8, /* these two in the order of the rows, as by one thread */
    ECH_SOR = 9
} ech_method;

/* M, with which systems M z = r are solved on the way. */
typedef enum ech_precond {
    ECH_PRECOND_NONE = 0,
    ECH_PRECOND_JACOBI = 1, /* the diagonal; of MINRES, its absolute values */
    ECH_PRECOND_SSOR = 2,   /* (D / omega + L) (D / omega)^-1 (D / omega + U); this and the next
                               two of a->csr alone */
    ECH_PRECOND_ILU0 = 3,   /* L U where A has entries */
    ECH_PRECOND_IC0 = 4,    /* the same of a symmetric A, whose pivots must be positive */
    ECH_PRECOND_BLOCK_JACOBI = 5 /* squares along the diagonal of a->csr or a->dense, inverted */
} ech_precond;

/* Why a solver ended: above 0 with a solution. */
typedef enum ech_reason {
    ECH_CONVERGED_RTOL = 1, /* |b - A x| <= rtol |b| */
    ECH_CONVERGED_ATOL = 2, /* |b - A x| <= atol */
    ECH_STOPPED_ITERATIONS = -1,
    ECH_STOPPED_DIVERGED = -2,   /* the residual grew beyond dtol */
    ECH_STOPPED_BREAKDOWN = -3,  /* the method divides by zero, and starting again does not help */
    ECH_STOPPED_STAGNATED = -4,  /* the residual does not fall any more */
    ECH_STOPPED_INDEFINITE = -5, /* A or M is not positive definite, or not symmetric; IC(0): row
                                    `where` */
    ECH_STOPPED_NAN = -6,        /* A, b or x holds NaN or infinity, or numbers ran over */
    ECH_STOPPED_MONITOR = -7,
    ECH_STOPPED_SINGULAR = -8 /* a zero on the diagonal, or for a pivot: row `where` */
} ech_reason;

typedef struct ech_solve_options {
    size_t size; /* sizeof(ech_solve_options) */
    ech_method method;
    ech_precond precond;     /* of ECH_METHOD_AUTO: not looked at */
    double rtol;             /* stop at |r| <= rtol |b|; 0: 1e-8 in f64, 1e-5 in f32 */
    double atol;             /* ... or at |r| <= atol */
    double dtol;             /* diverged at |r| > dtol max(|b|, first |r|); 0: 1e5 */
    uint64_t max_iterations; /* 0: 10 n, but 1000 at least and 100000 at most */
    int guess;               /* 1: x holds a first guess; 0: it begins as 0 */
    int restart;             /* GMRES: iterations between restarts, 1000 at most; 0: 30 */
    int block;               /* block Jacobi: rows of a square, 32 at most; 0: 8 */
    double omega;        /* Richardson's and Jacobi's step, or that of SOR and SSOR; 0: Richardson's
                             2 / (lower + upper), else 1 */
    double lower, upper; /* Richardson, Chebyshev: bounds of M^-1 A's eigenvalues; 0: estimated */
    unsigned check_every; /* iterations between looks at the residual, 256 at most; 0: chosen */
    double *history;      /* NULL, or [count][history_capacity] in host memory: the residual at
                                the start and after each iteration, as the method knows it */
    size_t history_capacity;
    /* NULL, or called after each iteration, at the next look: right-hand side, iteration, residual.
     * Other than 0 ends the solver. */
    int (*monitor)(void *user, size_t which, uint64_t iteration, double residual);
    void *monitor_user;
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_solve_workspace() says */
} ech_solve_options;

typedef struct ech_solve_report {
    size_t size; /* sizeof(ech_solve_report), set by the caller */
    ech_reason reason;
    ech_method method; /* what was used, also of ECH_METHOD_AUTO */
    ech_precond precond;
    uint64_t iterations;
    uint64_t applications; /* products with A */
    uint64_t restarts;     /* because the true residual was larger than the method believed */
    double residual;       /* |b - A x|, computed anew from the x that is returned */
    double b_norm;         /* |b| */
    uint64_t where;        /* the row of ECH_STOPPED_SINGULAR and, of IC(0), _INDEFINITE */
    double lower, upper;   /* Richardson, Chebyshev: the bounds that were used */
    size_t history_count;  /* how many there were, also beyond history_capacity */
} ech_solve_report;

/*
 * ech_solve() solves A x = b for count right-hand sides, one after the other.
 *
 *   b        [count][n], b_step elements apart; not modified
 *   x        [count][n], x_step apart (both of n at least; of count 1 not looked at); unless
 *            options->guess, only written
 *   reports  [count] in host memory, all of the same size
 *
 * Returns when it is done, ECH_OK also when it found no solution: reports[i].reason says how each
 * ended, and what x then holds is the last iterate.  Success is claimed of the true residual alone;
 * where it turns out larger than the method's own, the method starts again from there.  Norms are
 * Euclidean, computed in f64.  b of zeros gives x of zeros without an iteration.
 *
 * x, iterations and residuals are the same to the bit on every device, and for every check_every.
 */
ECH_API ech_status ech_solve(ech_ctx *ctx, const ech_operator *a, size_t count, const void *b,
                             size_t b_step, void *x, size_t x_step,
                             const ech_solve_options *options, ech_solve_report *reports);

/* ech_solve_workspace() tells how many bytes of workspace that takes; a's arrays do not matter.
 * ech_solve_explain() writes lines about how it would be done, as ech_sort_explain() does. */
ECH_API ech_status ech_solve_workspace(const char *device, const ech_operator *a,
                                       const ech_solve_options *options, size_t *bytes);
ECH_API ech_status ech_solve_explain(const char *device, const ech_operator *a,
                                     const ech_solve_options *options, char *text,
                                     size_t capacity_bytes);

/* A sentence about a reason. */
ECH_API const char *ech_reason_text(ech_reason reason);

/* "auto" ... "gmres", "none" ... ; "?" for an unknown value.  And the reverse: -1 when there is no
 * such name. */
ECH_API const char *ech_method_name(ech_method method);
ECH_API int ech_method_from_name(const char *name);
ECH_API const char *ech_precond_name(ech_precond precond);
ECH_API int ech_precond_from_name(const char *name);

/* ---- Dense systems, directly ----------------------------------------------------------------- */

typedef enum ech_factor {
    ECH_FACTOR_AUTO = 0, /* m > n: QR; symmetric with a positive diagonal: Cholesky, and LU where
                            that meets a pivot that is not positive; else LU */
    ECH_LU = 1,          /* with partial pivoting; m = n */
    ECH_CHOLESKY = 2,    /* symmetric positive definite: what lies above the diagonal is not read */
    ECH_QR = 3           /* Householder's: |b - A x| is the least, m >= n */
} ech_factor;

/* How it ended.  Other than ECH_SOLVED, what the answer holds is undefined. */
typedef enum ech_direct_end {
    ECH_SOLVED = 0,
    ECH_SINGULAR = 1,   /* LU: the pivot of column `where` is zero; QR: that column depends on those
                           before it, as far as rounding lets one see */
    ECH_INDEFINITE = 2, /* Cholesky: the pivot of row `where` is not positive */
    ECH_NOT_FINITE = 3, /* row `where` of A has NaN or infinity; column: sums run over */
    ECH_NOT_FINITE_B = 4 /* column `where` of b has */
} ech_direct_end;

typedef struct ech_direct_options {
    size_t size; /* sizeof(ech_direct_options) */
    ech_factor kind;
    int refine;            /* steps of refinement, most; 0: 10, of an inverse none; -1: none */
    const char *algorithm; /* NULL, or one that ech_direct_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_direct_workspace() says */
} ech_direct_options;

typedef struct ech_direct_report {
    size_t size; /* sizeof(ech_direct_report), set by the caller */
    ech_direct_end end;
    ech_factor kind; /* what was used, also of ECH_FACTOR_AUTO */
    uint64_t where;
    int sign;              /* of the determinant, m = n; 0: it is zero, or not known */
    double log_abs;        /* log |determinant|, -infinity if it is zero; NaN: not known */
    double rcond;          /* estimate of 1 / (|A| |A^-1|) in the 1-norm, of QR R's; 0: not known */
    int refinements;       /* steps that were taken */
    double backward_error; /* largest |b - A x| / (|A| |x| + |b|) of a column, in the maximum norm;
                              m > n: |A^T r| / (|A^T| (|A| |x| + |b|)) */
} ech_direct_report;

/*
 * ech_solve_direct() solves A x = b for all right-hand sides at once.
 *
 *   m, n      rows and columns of A, m >= n
 *   a         [m][n] row by row, a_stride >= n elements apart; not modified
 *   count     right-hand sides; 0: A is looked at, as the report says
 *   b         [m][count], b_stride >= count; not modified
 *   x         [n][count], x_stride >= count; none of the arrays overlap
 *   dtype     ECH_F32 or ECH_F64
 *   report    [1] in host memory
 *
 * Returns when it is done, ECH_OK also where there is no solution: report->end says so.  Refinement
 * computes b - A x in twice the precision, and goes on while each correction is at most half the
 * one before: the error of x then is as small as if A had been well conditioned, if its condition
 * is not beyond what the dtype can hold.
 *
 * A is factored by the vendor's library where one is found: on the CPU "lapack" (OpenBLAS, MKL, or
 * what ECHELON_LAPACK names; "none": none), on a GPU "cusolver" (ECHELON_CUSOLVER; a version that
 * wants more memory than the workspace has gets it from the context); and else by the algorithm
 * "blocked", whose bits are the same on every device and with any number of threads.
 */
ECH_API ech_status ech_solve_direct(ech_ctx *ctx, size_t m, size_t n, const void *a,
                                    size_t a_stride, size_t count, const void *b, size_t b_stride,
                                    void *x, size_t x_stride, ech_dtype dtype,
                                    const ech_direct_options *options, ech_direct_report *report);

/* ech_inverse() is the same with the identity for b: out [n][n], out_stride >= n. */
ECH_API ech_status ech_inverse(ech_ctx *ctx, size_t n, const void *a, size_t a_stride, void *out,
                               size_t out_stride, ech_dtype dtype,
                               const ech_direct_options *options, ech_direct_report *report);

/* ech_determinant() fills in the sign and the logarithm of the size of a's determinant, [1] each in
 * host memory, which are those of ech_direct_report; of no rows it is 1. */
ECH_API ech_status ech_determinant(ech_ctx *ctx, size_t n, const void *a, size_t a_stride,
                                   ech_dtype dtype, const ech_direct_options *options, int *sign,
                                   double *log_abs);

typedef enum ech_direct_call {
    ECH_DIRECT_SOLVE = 0,
    ECH_DIRECT_INVERSE = 1,    /* m = count = n */
    ECH_DIRECT_DETERMINANT = 2 /* m = n, count = 0 */
} ech_direct_call;

/* ech_direct_workspace() tells how many bytes of workspace a call takes; of options, all but the
 * workspace matter.  ech_direct_explain() writes lines about how it would be done, and the
 * algorithms there are, into text, as ech_sort_explain() does. */
ECH_API ech_status ech_direct_workspace(const char *device, ech_direct_call call, size_t m,
                                        size_t n, size_t count, ech_dtype dtype,
                                        const ech_direct_options *options, size_t *bytes);
ECH_API ech_status ech_direct_explain(const char *device, ech_direct_call call, size_t m, size_t n,
                                      size_t count, ech_dtype dtype,
                                      const ech_direct_options *options, char *text,
                                      size_t capacity_bytes);

/* A sentence about an end; "auto", "lu", "cholesky" or "qr" and "?" for an unknown value. */
ECH_API const char *ech_direct_end_text(ech_direct_end end);
ECH_API const char *ech_factor_name(ech_factor kind);

/* ---- Devices --------------------------------------------------------------------------------- */

typedef struct ech_device {
    size_t size;           /* sizeof(ech_device), set by the caller */
    char name[32];         /* opens it: "cpu", "cuda:0" */
    char description[128]; /* "NVIDIA H200", or the processor's own name */
    char features[256];    /* CPU: the instruction sets in use; GPU: "sm_90" */
    uint64_t memory_bytes; /* total */
    uint64_t free_bytes;   /* free now */
    int units;             /* hardware threads, or multiprocessors */
    int driver;            /* GPU: version of the driver's interface, 13000 for 13.0; CPU: 0 */
} ech_device;

/* The number of devices that ech_open() could open; at least 1, the CPU, which is the last. */
ECH_API int ech_device_count(void);

/* ech_device_get() describes device i of ech_device_count(). */
ECH_API ech_status ech_device_get(int i, ech_device *device);

/* ---- Memory ---------------------------------------------------------------------------------- */

/*
 * ech_malloc() allocates bytes of the device's memory, at least 256-byte aligned, from the
 * context's allocator, in the order of its stream.  ech_free() gives it back likewise; NULL is
 * allowed.
 */
ECH_API ech_status ech_malloc(ech_ctx *ctx, void **pointer, size_t bytes);
ECH_API void ech_free(ech_ctx *ctx, void *pointer, size_t bytes);

/* ech_copy() copies bytes between any two of host and device memory, after the work queued on the
 * context's stream, and returns when the copy has finished. */
ECH_API ech_status ech_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes);

/* ech_copy_async() queues the copy on the context's stream.  Both ranges must remain valid and
 * unchanged until it has finished.  Only copies of pinned host memory (cudaMallocHost,
 * cudaHostRegister) overlap with other work; with other host memory the call may wait.  On the CPU
 * it is ech_copy(). */
ECH_API ech_status ech_copy_async(ech_ctx *ctx, void *to, const void *from, size_t bytes);

/* Bytes of the device's memory that the context holds now, and the most it ever held since it was
 * opened or since the last call with reset = 1. */
ECH_API void ech_memory(ech_ctx *ctx, int reset, uint64_t *now_bytes, uint64_t *peak_bytes);

/* ech_trim() gives memory that the context keeps for later calls back to the system: the GPU's
 * pool, the CPU's last workspace, the host memory of sorts in parts.  Such memory does not count in
 * ech_memory(). */
ECH_API void ech_trim(ech_ctx *ctx);

/* ---- Advanced -------------------------------------------------------------------------------- */

/*
 * An allocator of the caller's, for all memory that calls on the context need on its device.
 *   allocate  returns bytes of device memory, 256-byte aligned, usable by work queued on stream
 *             from now on; NULL when there is none
 *   release   takes it back; work queued on stream before may still use it
 * stream is the CUstream of the call, NULL on the CPU.
 */
typedef struct ech_allocator {
    size_t size; /* sizeof(ech_allocator) */
    void *(*allocate)(void *user, size_t bytes, void *stream);
    void (*release)(void *user, void *pointer, size_t bytes, void *stream);
    void *user;
} ech_allocator;

/* ech_set_allocator() installs a copy of *allocator; NULL: the context's own again.  Fails with
 * ECH_ERR_ARG while the context holds memory of the allocator before. */
ECH_API ech_status ech_set_allocator(ech_ctx *ctx, const ech_allocator *allocator);

/*
 * ech_set_stream() makes later calls use a stream of the context's GPU.
 *
 *   stream  a CUstream or cudaStream_t; NULL: CUDA's legacy default stream, which a new context
 *           uses.  cudaStreamLegacy and cudaStreamPerThread are allowed.  The stream must live until
 *           the next call of ech_set_stream(), ech_set_private_stream() or ech_close()
 *
 * Work queued before is not waited for.  Work on the legacy default stream is ordered with all
 * blocking streams of the process, and cannot be captured in a CUDA graph: capture needs another
 * stream.  Calls whose arrays are all in host memory use a stream of their own if no workspace is
 * given.  Fails with ECH_ERR_UNSUPPORTED on the CPU if stream is not NULL.
 */
ECH_API ech_status ech_set_stream(ech_ctx *ctx, void *stream);

/* ech_set_private_stream() makes later calls use a non-blocking stream that the context owns, which
 * is not ordered with the legacy default stream.  Fails with ECH_ERR_UNSUPPORTED on the CPU. */
ECH_API ech_status ech_set_private_stream(ech_ctx *ctx);

/* ech_get_stream() sets *stream to the CUstream that calls use now; NULL: the legacy default
 * stream, or the CPU. */
ECH_API ech_status ech_get_stream(ech_ctx *ctx, void **stream);

/*
 * ech_record_event() records a CUevent or cudaEvent_t of the context's GPU on the context's stream.
 * ech_wait_event() makes later work on the context's stream wait for such an event.  Neither waits
 * on the host.  Both order work of the context with work of other libraries without ech_sync().
 * They fail with ECH_ERR_UNSUPPORTED on the CPU.
 */
ECH_API ech_status ech_record_event(ech_ctx *ctx, void *event);
ECH_API ech_status ech_wait_event(ech_ctx *ctx, void *event);

/* ech_set_threads() limits the CPU threads that a call may use; 0: all that OpenMP would. */
ECH_API ech_status ech_set_threads(ech_ctx *ctx, int threads);

/* ech_set_memory_limit() limits the device memory that the context may hold at once, as
 * ech_memory() counts it; 0, the default: to what there is.  What would need more fails with
 * ECH_ERR_MEMORY, but for sorts on a GPU: those of host memory go on in parts, and large ones of
 * device memory take less workspace. */
ECH_API ech_status ech_set_memory_limit(ech_ctx *ctx, uint64_t bytes);

typedef enum ech_log_level {
    ECH_LOG_NONE = 0,
    ECH_LOG_ERROR = 1, /* every failure */
    ECH_LOG_INFO = 2,  /* devices opened, what was chosen */
    ECH_LOG_TRACE = 3  /* every allocation, copy and launch */
} ech_log_level;

/* message is one line without its end, valid during the call. */
typedef void (*ech_log_function)(void *user, ech_log_level level, const char *message);

/* ech_set_log() has every message up to level given to function; NULL stops it. */
ECH_API ech_status ech_set_log(ech_ctx *ctx, ech_log_level level, ech_log_function function,
                               void *user);

/* done is the share, from 0 to 1, of what keeps the present call busy that is behind it. */
typedef void (*ech_progress_function)(void *user, double done);

/* ech_set_progress() has function called now and then, by the calling thread, during eliminations
 * and products of matrices over GF(2) on the CPU, which may take minutes; NULL stops it.  Nobody is
 * told of work that is queued on a GPU. */
ECH_API ech_status ech_set_progress(ech_ctx *ctx, ech_progress_function function, void *user);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_H */
