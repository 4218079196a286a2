/*
 * echelon/base.h - contexts, errors, types, devices, memory, streams; what all operations share.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_BASE_H
#define ECHELON_BASE_H

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

/* ---- Devices --------------------------------------------------------------------------------- */

typedef struct ech_device {
    size_t size;           /* sizeof(ech_device), set by the caller */
    char name[32];         /* opens it: "cpu", "cuda:0" */
    char description[128]; /* "NVIDIA H200", or the processor's own name */
    char features[256];    /* CPU: the instruction sets in use; GPU: "sm_90" */
    uint64_t memory_bytes; /* total */
    uint64_t free_bytes;   /* free now */
    int multiprocessors;   /* hardware threads, or multiprocessors */
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
ECH_API void ech_memory_usage(ech_ctx *ctx, int reset, uint64_t *now_bytes, uint64_t *peak_bytes);

/* ech_trim() gives memory that the context keeps for later calls back to the system: the GPU's
 * pool, the CPU's last workspace, the host memory of sorts in parts.  Such memory does not count in
 * ech_memory_usage(). */
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
 *           uses.  cudaStreamLegacy and cudaStreamPerThread are allowed.  The stream must live
 *           until the next call of ech_set_stream(), ech_set_private_stream() or ech_close()
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
 * ech_memory_usage() counts it; 0, the default: to what there is.  What would need more fails with
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
    ECH_OP_SUM = 0,
    ECH_OP_PRODUCT = 1,
    ECH_OP_MIN = 2, /* -0 is less than +0 */
    ECH_OP_MAX = 3,
    ECH_OP_AND = 4, /* AND, OR, XOR: of the bits of integers */
    ECH_OP_OR = 5,
    ECH_OP_XOR = 6,
    /* of ech_reduce() and its kin alone: */
    ECH_OP_ARGMIN = 7,    /* position of the first of the least */
    ECH_OP_ARGMAX = 8,    /* position of the first of the greatest */
    ECH_OP_MINMAX = 9,    /* both, one after the other */
    ECH_OP_ANY = 10,      /* 1 if one element passes the test, else 0 */
    ECH_OP_ALL = 11,      /* 1 if all do */
    ECH_OP_COUNT = 12,    /* how many do */
    ECH_OP_MEAN = 13,     /* the sum by n */
    ECH_OP_VARIANCE = 14, /* the squares of the distances from the mean, their sum by n - ddof */
    ECH_OP_NORM = 15      /* the square root of the sum of squares */
} ech_op;

typedef enum ech_nan {
    ECH_NAN_PROPAGATE = 0, /* one NaN makes the result NaN; it is the least and the greatest */
    ECH_NAN_IGNORE = 1     /* as if it were not there; positions still count it */
} ech_nan;

/* A test that an element x passes or not, against a value v of the same type.  Comparisons are
 * those of C: with a NaN all are false but ECH_COMPARE_NOT_EQUAL.  The last three are for integers. */
typedef enum ech_compare {
    ECH_COMPARE_NONZERO = 0, /* x != 0, also true of NaN; takes no v */
    ECH_COMPARE_LESS = 1,
    ECH_COMPARE_LESS_EQUAL = 2,
    ECH_COMPARE_EQUAL = 3,
    ECH_COMPARE_NOT_EQUAL = 4,
    ECH_COMPARE_GREATER_EQUAL = 5,
    ECH_COMPARE_GREATER = 6,
    ECH_COMPARE_IS_NAN = 7,  /* takes no v; of integers, false */
    ECH_COMPARE_HAS_ANY = 8, /* x & v is not 0 */
    ECH_COMPARE_HAS_ALL = 9, /* x & v is v */
    ECH_COMPARE_HAS_NONE = 10
} ech_compare;

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_BASE_H */
