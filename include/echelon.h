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
 *   - Streams.  On a GPU context, calls whose data is on the GPU are queued on the context's
 *               stream and return at once; ech_sync() waits for them.  Calls whose data is in host
 *               memory return when they are done.
 *   - Threads.  One context is used by one thread at a time; different contexts are independent.
 *   - Results.  They do not depend on the number of threads, on the device or on the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_H
#define ECHELON_H

#include <stddef.h>
#include <stdint.h>

#define ECH_VERSION_MAJOR 0
#define ECH_VERSION_MINOR 1
#define ECH_VERSION_PATCH 0

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
 *   device  "cpu", "cuda" (the first GPU), "cuda:1" (the second), or NULL: what the environment
 *           variable ECHELON_DEVICE names, else the first usable GPU, else the CPU; or "simt", in
 *           builds that have it: the GPU's kernels run on the CPU, slowly, and are checked
 *
 * Fails with ECH_ERR_ARG (no such name), ECH_ERR_NO_DEVICE (no driver, no such GPU, driver too old)
 * or ECH_ERR_MEMORY; the reason is then in ech_error(NULL).
 */
ECH_API ech_status ech_open(ech_ctx **ctx, const char *device);

/* ech_close() waits for the context's queued work and frees it.  NULL is allowed. */
ECH_API void ech_close(ech_ctx *ctx);

/* ech_sync() waits until everything queued on the context's stream is done. */
ECH_API ech_status ech_sync(ech_ctx *ctx);

/*
 * ech_error() is the message of the last failure in ctx, "" when there was none.  With ctx NULL it
 * is the last failure in this thread of a function that has no context, such as ech_open().  The
 * text lives until the next failing call.
 */
ECH_API const char *ech_error(const ech_ctx *ctx);

/* The name that opens the context's device again: "cpu", "cuda:0". */
ECH_API const char *ech_device_name(const ech_ctx *ctx);

/* Version of the library that runs, "0.1.0"; the macros above give that of the header. */
ECH_API const char *ech_version(void);

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
 * A sort of host memory on a GPU context stages through memory of the context's own and takes no
 * workspace.
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

/* ech_copy() copies bytes between any two of host and device memory and returns when it is done. */
ECH_API ech_status ech_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes);

/* Bytes of the device's memory that the context holds now, and the most it ever held since it was
 * opened or since the last call with reset = 1. */
ECH_API void ech_memory(ech_ctx *ctx, int reset, uint64_t *now_bytes, uint64_t *peak_bytes);

/* ech_trim() gives memory that the context keeps for later calls back to the system: the GPU's
 * pool, the CPU's last workspace.  Such memory does not count in ech_memory(). */
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
    void *(*allocate)(void *user, size_t bytes, void *stream);
    void (*release)(void *user, void *pointer, size_t bytes, void *stream);
    void *user;
} ech_allocator;

/* ech_set_allocator() installs a copy of *allocator; NULL: the context's own again.  Fails with
 * ECH_ERR_ARG while the context holds memory of the allocator before. */
ECH_API ech_status ech_set_allocator(ech_ctx *ctx, const ech_allocator *allocator);

/* ech_set_stream() makes later calls use stream, a CUstream or cudaStream_t of the context's GPU
 * (cudaStreamLegacy for the default stream), which must live until the next ech_set_stream() or
 * ech_close(); NULL: the context's own again.  Work queued before is not waited for.  Fails with
 * ECH_ERR_UNSUPPORTED on the CPU. */
ECH_API ech_status ech_set_stream(ech_ctx *ctx, void *stream);

/* ech_set_threads() limits the CPU threads that a call may use; 0: all that OpenMP would. */
ECH_API ech_status ech_set_threads(ech_ctx *ctx, int threads);

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

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_H */
