/*
 * core/backend.h - what a kind of device must offer: one struct, one line of contract a function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_BACKEND_H
#define ECHI_CORE_BACKEND_H

#include "core/explain.h"

enum echi_side { ECHI_HOST, ECHI_DEVICE };

enum echi_operation_id {
#define OPERATION(name, folder, call, command, tests, benchmark) ECHI_OP_##name,
#include "operations.def"
#undef OPERATION
    ECHI_OPERATIONS
};

enum { ECHI_PLAN_BYTES = 1024 }; /* the largest plan */

/* What a kind of device offers of an operation.  request points to that operation's struct
 * (reduce/reduce.h, scan/scan.h, ...), checked. */
struct echi_operation {
    /* Fills plan with what follows from the request without reading its pointers, and *work_bytes
     * with the workspace.  Called once per call; needs no device and no context. */
    ech_status (*plan)(const void *request, void *plan, size_t *work_bytes);
    size_t plan_bytes; /* at most ECHI_PLAN_BYTES; 0: plan is NULL */

    /* Describes what the request would do (core/explain.h), without the workspace.  Needs no device
     * and no context. */
    ech_status (*explain)(const void *request, struct echi_explain *e);

    /* Executes it, with all arrays on the device; work is NULL if plan() reported 0 bytes. */
    ech_status (*run)(ech_ctx *ctx, const void *request, const void *plan, void *work);

    /* (optional) Executes it with all arrays in host memory and without a workspace, instead of
     * staging whole arrays. */
    ech_status (*run_host)(ech_ctx *ctx, const void *request, const void *plan, size_t work_bytes);

    /* (optional) Changes the request so that it needs less workspace, when the workspace of its
     * plan cannot be allocated; false if it cannot. */
    bool (*economise)(void *request);

    /* (optional) Whether the CPU is estimated to be faster with arrays in host memory. */
    bool (*faster_on_cpu)(const ech_ctx *ctx, const void *request, bool pinned);
};

struct echi_backend {
    const char *name; /* "cpu"; with several devices a call names them "cuda:1" */

    /* The number of devices that ech_device_get() lists; never fails.  0 of a kind that is only
     * opened by name. */
    int (*count)(void);

    /* Describes device ordinal < count(). */
    ech_status (*describe)(int ordinal, ech_device *device);

    /* Fills ctx->state and ctx->name.  On failure leaves nothing behind and a message in ctx. */
    ech_status (*open)(ech_ctx *ctx, int ordinal);
    void (*close)(ech_ctx *ctx);

    /* Waits for the work queued on the context's stream.  A data error that its kernels reported
     * becomes the status. */
    ech_status (*sync)(ech_ctx *ctx);

    /* Sets *done if all work queued on the stream has ended; does not wait.  The status is that of
     * work that has ended, as sync() reports it. */
    ech_status (*poll)(ech_ctx *ctx, bool *done);

    /* Records an event on the stream; makes the stream wait for one.  NULL: no streams here. */
    ech_status (*record_event)(ech_ctx *ctx, void *event);
    ech_status (*wait_event)(ech_ctx *ctx, void *event);

    /* The stream that calls use now, as an allocator hook sees it. */
    void *(*stream)(ech_ctx *ctx);

    /* Device memory in the order of the stream, ECHI_ALIGN aligned; NULL when there is none. */
    void *(*allocate)(ech_ctx *ctx, size_t bytes);
    void (*release)(ech_ctx *ctx, void *pointer, size_t bytes);
    void (*trim)(ech_ctx *ctx);
    bool pooled; /* release() keeps memory for the next allocate(), and trim() drops it */

    /* Copies between any two places: waits for the copy, or only queues it. */
    ech_status (*copy)(ech_ctx *ctx, void *to, const void *from, size_t bytes);
    ech_status (*copy_async)(ech_ctx *ctx, void *to, const void *from, size_t bytes);

    /* Tells on which side pointer lies; the CPU's is always ECHI_DEVICE, for host is its device.
     * pinned, which may be NULL: whether it is host memory that the device can copy by itself. */
    ech_status (*side)(ech_ctx *ctx, const void *pointer, enum echi_side *side, bool *pinned);

    /* (optional) Around several of the functions here: what each would do and undo is done once. */
    ech_status (*enter)(ech_ctx *ctx);
    void (*leave)(ech_ctx *ctx);

    const struct echi_operation *operations[ECHI_OPERATIONS]; /* NULL: not offered */

    /* A vendor's factorization (direct/direct.h), and the name of that algorithm; may be NULL. */
    const struct echi_operation *direct_vendor;
    const char *direct_vendor_name;
};

extern const struct echi_backend echi_cpu, echi_cuda, echi_simt;

/* The kinds of device in this build, best first; NULL ends the list.  The CPU can always be opened:
 * what comes after it is only opened by name. */
extern const struct echi_backend *const echi_backends[];

/* The operations of the two kinds of backend. */
#define OPERATION(name, folder, call, command, tests, benchmark)                                   \
    extern const struct echi_operation echi_cpu_##name, echi_cuda_##name;
#include "operations.def"
#undef OPERATION

/* Finds the backend and the ordinal that a device's name means.  name NULL: ECHELON_DEVICE, else
 * *backend becomes NULL and the caller chooses. */
bool echi_backend_auto(const char *name); /* "auto", "auto:..." or none: the CPU may help */
ech_status echi_backend_find(const char *name, const struct echi_backend **backend, int *ordinal);

#endif
