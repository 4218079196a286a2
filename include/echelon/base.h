/*
 * echelon/base.h - contexts, errors, types, devices, memory and streams, shared by all operations.
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
#define ECH_VERSION_MINOR  2
#define ECH_VERSION_PATCH  0
#define ECH_VERSION_NUMBER (10000 * ECH_VERSION_MAJOR + 100 * ECH_VERSION_MINOR + ECH_VERSION_PATCH)

#ifndef ECH_API
#if defined(_WIN32)
#define ECH_API __declspec(dllimport)
#else
#define ECH_API __attribute__((visibility("default")))
#endif
#endif

/*
 * ECH_INIT(type) is a struct of this type with its size set and zero in all other fields:
 *
 *     ech_sort_options options = ECH_INIT(ech_sort_options);
 *     options.descending = 1;
 *
 * In C and in C++20, { .size = sizeof options, .descending = 1 } does the same.
 */
#ifdef __cplusplus
template <class T> static inline T ech_init_()
{
    T value = T();
    value.size = sizeof(T);
    return value;
}
#define ECH_INIT(type) ech_init_<type>()
#else
#define ECH_INIT(type) ((type){ .size = sizeof(type) })
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

typedef enum ech_status {
    ECH_OK = 0,
    ECH_ERR_ARG = 1,         /* an argument violates its documented contract */
    ECH_ERR_UNSUPPORTED = 2, /* valid, but not supported by this device or this build */
    ECH_ERR_MEMORY = 3,      /* out of memory, or the workspace of the caller is too small */
    ECH_ERR_NO_DEVICE = 4,   /* the requested device does not exist or cannot be used */
    ECH_ERR_DEVICE = 5,   /* the GPU driver reported an error; the context can no longer be used */
    ECH_ERR_CANCELED = 6, /* the progress function ended the call */
    ECH_ERR_COMM = 7      /* another rank of a communicator failed or did not answer */
} ech_status;

/* Enumerations are 32 bits wide. */
#ifdef __cplusplus
static_assert(sizeof(ech_status) == 4, "echelon.h does not support -fshort-enums");
#else
_Static_assert(sizeof(ech_status) == 4, "echelon.h does not support -fshort-enums");
#endif

/* ech_status_name() returns the name of the constant, such as "ECH_ERR_ARG", or "ECH_ERR_?" for an
 * unknown value. */
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
    ECH_BF16 = 9, /* bfloat16: the upper 16 bits of an F32 */
    ECH_F32 = 10,
    ECH_F64 = 11
} ech_dtype;

/* ech_dtype_bytes() returns the size of one element in bytes, or 0 for an unknown dtype. */
ECH_API size_t ech_dtype_bytes(ech_dtype dtype);

/* ech_dtype_name() returns the name of a dtype, "i8" ... "f64", or "?" for an unknown dtype. */
ECH_API const char *ech_dtype_name(ech_dtype dtype);

/* ech_dtype_from_name() returns the dtype that has this name, or -1 if there is none.  It is the
 * inverse of ech_dtype_name(). */
ECH_API int ech_dtype_from_name(const char *name);

/* The form in which the functions ech_..._explain() describe a call. */
typedef enum ech_format {
    ECH_FORMAT_TEXT = 0, /* lines of text for people, truncated to fit */
    ECH_FORMAT_JSON = 1  /* a JSON object; if it does not fit, the call fails with ECH_ERR_ARG */
} ech_format;

/* ---- Context --------------------------------------------------------------------------------- */

typedef struct ech_ctx ech_ctx;

/*
 * ech_open() opens a device.
 *
 *   ctx     [1] receives the context; NULL on failure.  The caller must pass it to ech_close()
 *   device  the name of the device, or NULL for the device that the environment variable
 *           ECHELON_DEVICE names; "auto" if that is not set:
 *             "cpu"          the CPU
 *             "cuda"         the first GPU
 *             "cuda:1"       the second GPU
 *             "auto"         the first usable GPU, or the CPU if there is none.  If all
 *                            arrays of a sort are in host memory, it runs on the CPU when that is
 *                            estimated to be faster, as ech_sort_explain() reports;
 *                            ech_is_sorted() then always runs on the CPU
 *             "auto:cuda:1"  the same as "auto", but with that GPU
 *             "simt"         only in builds that include it: the SIMT emulator, which runs the GPU
 *                            kernels on the CPU, slowly, and checks them for faults
 *
 * Fails with ECH_ERR_ARG (no such name), ECH_ERR_NO_DEVICE (no driver, no such GPU, or the driver
 * is too old) or ECH_ERR_MEMORY.  ech_error(NULL) then returns the message.
 */
ECH_API ech_status ech_open(ech_ctx **ctx, const char *device);

/* ech_close() waits until the context's queued work has finished, then frees the context.  NULL is
 * allowed. */
ECH_API void ech_close(ech_ctx *ctx);

/* ech_sync() waits until all work queued on the context's stream has finished.  It returns the
 * errors that queued calls found in their data, and errors of the device. */
ECH_API ech_status ech_sync(ech_ctx *ctx);

/* ech_poll() sets *done to 1 if all work queued on the context's stream has finished, and to 0
 * otherwise.  It does not wait.  If the work has finished, ech_poll() returns the status that
 * ech_sync() would return.  It returns an error of the device as soon as the driver reports it. */
ECH_API ech_status ech_poll(ech_ctx *ctx, int *done);

/*
 * ech_error() returns the message of the last failure in ctx, or "" if there was none.  If ctx is
 * NULL, it returns the message of the last failure, in the calling thread, of a function that has
 * no context, such as ech_open().  The library owns the text; it is valid until the next failing
 * call.
 */
ECH_API const char *ech_error(const ech_ctx *ctx);

/* ech_device_name() returns the name with which ech_open() opens the context's device again, such
 * as "cpu", "cuda:0" or "auto:cuda:0". */
ECH_API const char *ech_device_name(const ech_ctx *ctx);

/* ech_version() and ech_version_number() return the version of the library that is running, such as
 * "0.2.0" and 200.  The macros ECH_VERSION_* are the version of the header. */
ECH_API const char *ech_version(void);
ECH_API int ech_version_number(void);

/* ---- Devices --------------------------------------------------------------------------------- */

typedef struct ech_device {
    size_t size;           /* sizeof(ech_device), set by the caller */
    char name[32];         /* for ech_open(): "cpu", "cuda:0" */
    char description[128]; /* the GPU, "NVIDIA H200", or the model name of the CPU */
    char features[256];    /* CPU: the instruction sets in use; GPU: "sm_90" */
    uint64_t memory_bytes; /* total size of the device's memory */
    uint64_t free_bytes;   /* free at the time of the call */
    int multiprocessors;   /* GPU: multiprocessors; CPU: hardware threads */
    int driver;            /* GPU: CUDA version that the driver supports, 13000 for 13.0; CPU: 0 */
} ech_device;

/* ech_device_count() returns the number of devices that ech_device_get() describes: the GPUs, then
 * the CPU.  It is at least 1.  The SIMT emulator is not counted. */
ECH_API int ech_device_count(void);

/*
 * ech_device_get() describes a device.
 *
 *   i       0 <= i < ech_device_count(); the last one is the CPU
 *   device  [1] receives the description; the caller must set device->size
 *
 * Fails with ECH_ERR_ARG if there is no device i.
 */
ECH_API ech_status ech_device_get(int i, ech_device *device);

/* ---- Memory ---------------------------------------------------------------------------------- */

/*
 * ech_malloc() allocates device memory from the context's allocator, in stream order.  ech_free()
 * releases it, also in stream order.
 *
 *   pointer  ech_malloc(): [1] receives the address, aligned to at least 256 bytes; NULL if bytes
 *            is 0, and on failure.  ech_free(): the address; NULL is allowed
 *   bytes    the size; ech_free() needs the size with which the memory was allocated
 *
 * ech_malloc() fails with ECH_ERR_MEMORY if the device or the memory limit does not permit it.
 */
ECH_API ech_status ech_malloc(ech_ctx *ctx, void **pointer, size_t bytes);
ECH_API void ech_free(ech_ctx *ctx, void *pointer, size_t bytes);

/* ech_copy() copies bytes from host or device memory to host or device memory.  The copy begins
 * after the work queued on the context's stream.  The call returns when the copy has finished. */
ECH_API ech_status ech_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes);

/* ech_copy_async() queues such a copy on the context's stream.  Both ranges must remain valid and
 * unchanged until it has finished.  Only copies of pinned host memory (cudaMallocHost,
 * cudaHostRegister) overlap with other work; with other host memory the call may wait.  On the CPU
 * it is ech_copy(). */
ECH_API ech_status ech_copy_async(ech_ctx *ctx, void *to, const void *from, size_t bytes);

/*
 * ech_memory_usage() reports the device memory that the context holds.
 *
 *   reset       1: after the report, the peak restarts from the present value; 0: it does not
 *   now_bytes   NULL, or [1] receives the bytes held now
 *   peak_bytes  NULL, or [1] receives the maximum held at once since ech_open() or the last reset
 */
ECH_API void ech_memory_usage(ech_ctx *ctx, int reset, uint64_t *now_bytes, uint64_t *peak_bytes);

/* ech_trim() returns to the system the memory that the context keeps for later calls: the memory
 * pool of the GPU, the last workspace on the CPU, and the host memory of out-of-core sorts.
 * ech_memory_usage() does not count such memory. */
ECH_API void ech_trim(ech_ctx *ctx);

/* ---- Advanced -------------------------------------------------------------------------------- */

/*
 * An allocator that the caller provides.  It allocates all device memory that calls on the context
 * need.
 *   allocate  returns bytes of device memory, 256-byte aligned, which work queued on stream from
 *             now on may use; NULL if there is none
 *   release   takes the memory back; work queued on stream before this call may still use it
 *   user      is passed to both functions
 * stream is the CUstream of the call; NULL on the CPU.
 */
typedef struct ech_allocator {
    size_t size; /* sizeof(ech_allocator) */
    void *(*allocate)(void *user, size_t bytes, void *stream);
    void (*release)(void *user, void *pointer, size_t bytes, void *stream);
    void *user;
} ech_allocator;

/* ech_set_allocator() installs a copy of *allocator.  NULL restores the context's own allocator.
 * Fails with ECH_ERR_ARG while the context holds memory of the previous allocator. */
ECH_API ech_status ech_set_allocator(ech_ctx *ctx, const ech_allocator *allocator);

/*
 * ech_set_stream() selects the stream of the context's GPU that later calls use.
 *
 *   stream  a CUstream or cudaStream_t; NULL: CUDA's legacy default stream, which a new context
 *           uses.  cudaStreamLegacy and cudaStreamPerThread are allowed.  The caller owns the
 *           stream.  It must live until the next call of ech_set_stream(),
 *           ech_set_private_stream() or ech_close()
 *
 * The call does not wait for work queued before.  Work on the legacy default stream is ordered with
 * all blocking streams of the process, and cannot be captured in a CUDA graph: capture needs
 * another stream.  Calls whose arrays are all in host memory use a separate stream if no workspace
 * is given.  Fails with ECH_ERR_UNSUPPORTED on the CPU if stream is not NULL.
 */
ECH_API ech_status ech_set_stream(ech_ctx *ctx, void *stream);

/* ech_set_private_stream() selects, for later calls, a non-blocking stream that the context owns.
 * It is not ordered with the legacy default stream.  Fails with ECH_ERR_UNSUPPORTED on the CPU. */
ECH_API ech_status ech_set_private_stream(ech_ctx *ctx);

/* ech_get_stream() sets *stream to the CUstream that calls use now; NULL means the legacy default
 * stream, or that the device is the CPU. */
ECH_API ech_status ech_get_stream(ech_ctx *ctx, void **stream);

/*
 * ech_record_event() records an event on the context's stream.  ech_wait_event() makes later work
 * on the context's stream wait for an event.  Neither waits on the host.  With both, work of the
 * context is ordered with work of other libraries without ech_sync().
 *
 *   event  a CUevent or cudaEvent_t of the context's GPU, owned by the caller
 *
 * Both fail with ECH_ERR_UNSUPPORTED on the CPU.
 */
ECH_API ech_status ech_record_event(ech_ctx *ctx, void *event);
ECH_API ech_status ech_wait_event(ech_ctx *ctx, void *event);

/* ech_set_threads() limits the number of CPU threads that a call may use.  0, the default: the
 * environment variable ECHELON_THREADS; if it is not set, OMP_NUM_THREADS; otherwise the processors
 * that the process may use (affinity mask, CPU quota).  Calls that run at the same time, and
 * threads of an OpenMP team, share this default (docs/guide/threads.md).  Fails with ECH_ERR_ARG if
 * threads is negative. */
ECH_API ech_status ech_set_threads(ech_ctx *ctx, int threads);

/* ech_set_memory_limit() limits the device memory that the context may hold at once, as
 * ech_memory_usage() counts it.  0, the default: only the size of the memory limits it.  A call
 * that would need more fails with ECH_ERR_MEMORY.  Exceptions are sorts on a GPU: arrays in host
 * memory are sorted out of core, and large arrays in device memory with less workspace. */
ECH_API ech_status ech_set_memory_limit(ech_ctx *ctx, uint64_t bytes);

typedef enum ech_log_level {
    ECH_LOG_NONE = 0,
    ECH_LOG_ERROR = 1, /* every failure */
    ECH_LOG_INFO = 2,  /* opened devices, chosen algorithms */
    ECH_LOG_TRACE = 3  /* every allocation, copy and launch */
} ech_log_level;

/* A function that receives a message: one line without a line end, valid only during the call. */
typedef void (*ech_log_function)(void *user, ech_log_level level, const char *message);

/* ech_set_log() passes every message of level or below to function, together with user.  If
 * function is NULL, logging stops. */
ECH_API ech_status ech_set_log(ech_ctx *ctx, ech_log_level level, ech_log_function function,
                               void *user);

/* A function that receives the progress of the current call: done is the estimated fraction
 * completed, from 0 to 1.  A result other than 0 cancels the call. */
typedef int (*ech_progress_function)(void *user, double done);

/*
 * ech_set_progress() makes the thread that runs a call report its progress to function from time to
 * time.  Only eliminations and products of matrices over GF(2) on the CPU, which may take minutes,
 * report it.  function is not called for work queued on a GPU.  If function is NULL, the reports
 * stop.
 *
 * A call that function cancels returns ECH_ERR_CANCELED.  The contents of its outputs are then
 * undefined, and those of matrices that it changes in place.
 */
ECH_API ech_status ech_set_progress(ech_ctx *ctx, ech_progress_function function, void *user);

/* ---- Operators and tests of elements --------------------------------------------------------- */

/*
 * These rules hold for all operations on arrays, unless the comment of a function states otherwise.
 *   - Memory.     Each array may be in host memory or in memory of the context's GPU, independently
 *                 of the others.  If all arrays are in GPU memory, the call is queued, and can be
 *                 captured in a CUDA graph if its workspace is given.  Otherwise the arrays in host
 *                 memory are staged, and the call returns when it is done.
 *   - Alignment.  Arrays are aligned to the size of their elements.  Opaque elements in GPU memory
 *                 are aligned to the largest power of two that divides their size, at most 16; in
 *                 host memory they need no alignment.
 *   - Overlap.    An output must not overlap any other array.
 *   - Empty.      If n is 0, pointers to arrays without elements may be NULL.
 *   - Errors.     Invalid data (offsets that decrease, an index out of range) fails with
 *                 ECH_ERR_ARG: in the call on the CPU and for staged arrays, in ech_sync() for
 *                 queued calls.  Memory outside the arrays is not accessed.  The contents of the
 *                 outputs are then undefined.
 *   - Indices.    Indices, positions and offsets are i32, u32, i64 or u64, as a parameter ..._dtype
 *                 or a field states.  A negative index is out of range.
 *   - Floats.     ech_nan selects how operators treat NaN.  "Equal" means equal in the order of
 *                 sorts with values: -0 equals +0, and all NaN are equal.
 */

/* The operators of reductions; the first seven are also those of scans. */
typedef enum ech_op {
    ECH_OP_SUM = 0,
    ECH_OP_PRODUCT = 1,
    ECH_OP_MIN = 2, /* -0 is less than +0 */
    ECH_OP_MAX = 3,
    ECH_OP_AND = 4, /* AND, OR, XOR: bitwise, only of integers */
    ECH_OP_OR = 5,
    ECH_OP_XOR = 6,
    /* only for ech_reduce() and related functions: */
    ECH_OP_ARGMIN = 7,    /* position of the first minimum; -0 equals +0 */
    ECH_OP_ARGMAX = 8,    /* position of the first maximum */
    ECH_OP_MINMAX = 9,    /* the minimum, then the maximum */
    ECH_OP_ANY = 10,      /* 1 if at least one element passes the test, otherwise 0 */
    ECH_OP_ALL = 11,      /* 1 if all elements pass the test, otherwise 0 */
    ECH_OP_COUNT = 12,    /* the number of elements that pass the test */
    ECH_OP_MEAN = 13,     /* the sum divided by n */
    ECH_OP_VARIANCE = 14, /* the sum of the squared deviations from the mean, divided by n - ddof */
    ECH_OP_NORM = 15,     /* the square root of the sum of squares */
    ECH_OP_STDDEV = 16    /* the square root of the variance */
} ech_op;

typedef enum ech_nan {
    ECH_NAN_PROPAGATE = 0, /* a NaN makes the result NaN; it counts as minimum and as maximum */
    ECH_NAN_IGNORE = 1     /* NaN are skipped; positions still count them */
} ech_nan;

/* A test of an element x, for most tests against a value v of the same type.  Comparisons are those
 * of C: with a NaN, all are false except ECH_COMPARE_NOT_EQUAL.  The last three tests are only for
 * integers. */
typedef enum ech_compare {
    ECH_COMPARE_NONZERO = 0, /* x != 0, also true for NaN; ignores v */
    ECH_COMPARE_LESS = 1,
    ECH_COMPARE_LESS_EQUAL = 2,
    ECH_COMPARE_EQUAL = 3,
    ECH_COMPARE_NOT_EQUAL = 4,
    ECH_COMPARE_GREATER_EQUAL = 5,
    ECH_COMPARE_GREATER = 6,
    ECH_COMPARE_IS_NAN = 7,   /* ignores v; false for integers */
    ECH_COMPARE_HAS_ANY = 8,  /* (x & v) != 0 */
    ECH_COMPARE_HAS_ALL = 9,  /* (x & v) == v */
    ECH_COMPARE_HAS_NONE = 10 /* (x & v) == 0 */
} ech_compare;

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_BASE_H */
