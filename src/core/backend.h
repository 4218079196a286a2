/*
 * core/backend.h - the interface of a backend: one struct, with the contract of each function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_BACKEND_H
#define ECHI_CORE_BACKEND_H

#include "core/explain.h"

struct echi_divide_ops;
struct echi_scan_ops;

enum echi_side { ECHI_HOST, ECHI_DEVICE };

enum echi_operation_id {
#define OPERATION(name, folder, call, command, tests, benchmark) ECHI_OP_##name,
#include "operations.def"
#undef OPERATION
    ECHI_OPERATIONS
};

enum { ECHI_PLAN_BYTES = 1024 }; /* the maximum size of a plan */

enum { ECHI_LANES = 8 }; /* of copies that do not wait for the stream */

struct echi_copy {
    void *to;
    const void *from;
    size_t bytes; /* not 0 */
};

/* The functions of one operation in a backend. request points to that operation's struct
 * (reduce/reduce.h, scan/scan.h, ...), already checked. */
struct echi_operation {
    /* Fills plan with everything that can be derived from the request without reading its pointers,
     * and *work_bytes with the size of the workspace. Called once per call; needs no device and no
     * context. */
    ech_status (*plan)(const void *request, void *plan, size_t *work_bytes);
    size_t plan_bytes; /* at most ECHI_PLAN_BYTES; 0: plan is NULL */

    /* Describes what the request would do (core/explain.h), without the workspace.  Needs no device
     * and no context. */
    ech_status (*explain)(const void *request, struct echi_explain *e);

    /* Executes the request, with all arrays on the device; work is NULL if plan() reported 0
     * bytes. */
    ech_status (*run)(ech_ctx *ctx, const void *request, const void *plan, void *work);

    /* (optional) Executes a request with few elements at once, without a plan, a workspace and
     * threads; false if it has too many, or fails: run() then executes it from the beginning. Its
     * arrays have been checked. Only the CPU's operations have this function. */
    bool (*quick)(const void *request);

    /* (optional) Executes the request with all arrays in host memory and without a workspace,
     * instead of staging whole arrays. */
    ech_status (*run_host)(ech_ctx *ctx, const void *request, const void *plan, size_t work_bytes);

    /* (optional) Changes the request so that it needs less workspace, after the planned workspace
     * could not be allocated; false if this is not possible. */
    bool (*economise)(void *request);

    /* (optional) Whether the CPU is estimated to be faster if all arrays are in host memory. */
    bool (*faster_on_cpu)(const ech_ctx *ctx, const void *request, bool pinned);
};

struct echi_backend {
    const char *name; /* "cpu"; if there are several devices, "cuda:1" selects one */

    /* The number of devices that ech_device_get() lists; never fails. 0 for a backend that is only
     * opened by name. */
    int (*count)(void);

    /* Describes device ordinal < count(). */
    ech_status (*describe)(int ordinal, ech_device *device);

    /* Fills ctx->state and ctx->name. On failure it releases everything and leaves a message in
     * ctx. */
    ech_status (*open)(ech_ctx *ctx, int ordinal);
    void (*close)(ech_ctx *ctx);

    /* Waits for the work queued on the context's stream.  A data error that its kernels reported
     * becomes the status. */
    ech_status (*sync)(ech_ctx *ctx);

    /* Sets *done if all work queued on the stream is complete; does not wait. The status is that of
     * the completed work, as sync() reports it. */
    ech_status (*poll)(ech_ctx *ctx, bool *done);

    /* Records an event on the stream; makes the stream wait for one. NULL: the backend has no
     * streams. */
    ech_status (*record_event)(ech_ctx *ctx, void *event);
    ech_status (*wait_event)(ech_ctx *ctx, void *event);

    /* (with streams) Makes an event; frees one, or NULL.  Replaces the context's own stream by one
     * whose kernels start before those of other streams. */
    ech_status (*make_event)(ech_ctx *ctx, void **event);
    void (*free_event)(ech_ctx *ctx, void *event);
    ech_status (*raise_priority)(ech_ctx *ctx);

    /* The stream that calls use now, as passed to an allocator hook. */
    void *(*stream)(ech_ctx *ctx);

    /* Device memory in stream order, aligned to ECHI_ALIGN. ECH_ERR_MEMORY, without a message, if
     * there is too little; another status with a message. *pointer is then NULL. */
    ech_status (*allocate)(ech_ctx *ctx, size_t bytes, void **pointer);
    void (*release)(ech_ctx *ctx, void *pointer, size_t bytes);
    void (*trim)(ech_ctx *ctx);
    bool pooled; /* release() keeps memory for the next allocate(), and trim() frees it */
    /* May be NULL.  Memory of the context for the workspace of one call at a time, or NULL: the
     * stream's calls use it one after the other, so that a small call allocates nothing. */
    void *(*scratch)(ech_ctx *ctx, size_t bytes);

    /* Copies between any two memories: waits for the copy, or only queues it. */
    ech_status (*copy)(ech_ctx *ctx, void *to, const void *from, size_t bytes);
    ech_status (*copy_async)(ech_ctx *ctx, void *to, const void *from, size_t bytes);

    /* (optional) Sets *can to whether copies by ctx can read the memory of another context of this
     * backend, and permits them. */
    ech_status (*reach)(ech_ctx *ctx, ech_ctx *other, bool *can);
    /* (optional) Permits the contexts that can reach this one to read the memory at `pointer`,
     * which another owner of memory of the device may have allocated. */
    ech_status (*share)(ech_ctx *ctx, const void *pointer);

    /* (optional) Queues copies between memories of devices that do not wait for the work of the
     * stream, and makes the stream wait for all such copies so far.  Copies with the same lane, a
     * number below ECHI_LANES, are made one after another; those of several lanes may overlap. */
    ech_status (*copy_beside)(ech_ctx *ctx, unsigned lane, const struct echi_copy *copies,
                              size_t n);
    ech_status (*wait_beside)(ech_ctx *ctx);
    /* The stream of a lane, for other work that wait_beside() waits for. */
    ech_status (*lane)(ech_ctx *ctx, unsigned lane, void **stream);

    /* Reports in which memory pointer lies; always ECHI_DEVICE on the CPU, whose device memory is
     * host memory. pinned, which may be NULL, reports whether it is host memory that the device can
     * copy without a buffer. */
    ech_status (*side)(ech_ctx *ctx, const void *pointer, enum echi_side *side, bool *pinned);

    /* (optional) Called around several of these functions, so that common setup is done only
     * once. */
    ech_status (*enter)(ech_ctx *ctx);
    void (*leave)(ech_ctx *ctx);

    const struct echi_operation *operations[ECHI_OPERATIONS]; /* NULL: not supported */

    /* A vendor's factorization (direct/direct.h), and the name of that algorithm; may be NULL. */
    const struct echi_operation *direct_vendor;
    const char *direct_vendor_name;

    /* The division of keys among ranks (sort/divide.h); NULL: none. */
    const struct echi_divide_ops *divide;

    /* Totals of a scan (scan/scan.h); NULL: none. */
    const struct echi_scan_ops *scan_ops;

    /* Runs a struct echi_direct whose `small` is set; NULL: none is. */
    const struct echi_operation *direct_small;
};

extern const struct echi_backend echi_cpu, echi_cuda, echi_simt;

/* The backends of this build, in order of preference; NULL ends the list. The CPU can always be
 * opened, so backends after it are only opened by name. */
extern const struct echi_backend *const echi_backends[];

/* The operations of the CPU and the CUDA backend. */
#define OPERATION(name, folder, call, command, tests, benchmark)                                   \
    extern const struct echi_operation echi_cpu_##name, echi_cuda_##name;
#include "operations.def"
#undef OPERATION

/* Finds the backend and the ordinal of a device name. If name is NULL, ECHELON_DEVICE is used; if
 * that is not set, *backend becomes NULL and the caller chooses. */
bool echi_backend_auto(const char *name); /* "auto", "auto:..." or none: the CPU may help */
ech_status echi_backend_find(const char *name, const struct echi_backend **backend, int *ordinal);

/* Permits the contexts that can reach this one to read memory that it did not allocate. */
static inline ech_status echi_share(ech_ctx *ctx, const void *pointer)
{
    return ctx->backend->share ? ctx->backend->share(ctx, pointer) : ECH_OK;
}

#endif
