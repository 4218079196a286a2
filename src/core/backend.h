/*
 * core/backend.h - what a kind of device must offer: one struct, one line of contract a function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_BACKEND_H
#define ECHI_CORE_BACKEND_H

#include "core/internal.h"

enum echi_side { ECHI_HOST, ECHI_DEVICE };

/* What a kind of device offers of an operation.  request points to that operation's struct
 * (reduce/reduce.h, scan/scan.h, ...), checked. */
struct echi_operation {
    /* Workspace of a request whose pointers are not set.  Needs no device and no context. */
    ech_status (*workspace)(const void *request, size_t *bytes);

    /* (optional) Lines about what the request would do.  Needs no device and no context. */
    ech_status (*explain)(const void *request, struct echi_text *text);

    /* Does it, with all arrays on the device; work is NULL where workspace() says 0. */
    ech_status (*run)(ech_ctx *ctx, const void *request, void *work);
};

struct echi_backend {
    const char *name; /* "cpu"; with several devices a call names them "cuda:1" */

    /* The number of devices that ech_device_get() lists; never fails.  0 of a kind that is only
     * opened by name. */
    int (*count)(void);

    /* Describes device ordinal < count(). */
    ech_status (*describe)(int ordinal, ech_device *device);

    /* Fills ctx->state and ctx->ordinal.  On failure leaves nothing behind and a message in ctx. */
    ech_status (*open)(ech_ctx *ctx, int ordinal);
    void (*close)(ech_ctx *ctx);

    /* Waits for the work queued on the context's stream, and fails with what its kernels complained
     * of. */
    ech_status (*sync)(ech_ctx *ctx);

    /* The stream that calls use now, as an allocator hook sees it. */
    void *(*stream)(ech_ctx *ctx);

    /* Device memory in the order of the stream, ECHI_ALIGN aligned; NULL when there is none. */
    void *(*allocate)(ech_ctx *ctx, size_t bytes);
    void (*release)(ech_ctx *ctx, void *pointer, size_t bytes);
    void (*trim)(ech_ctx *ctx);
    bool pooled; /* release() keeps memory for the next allocate(), and trim() drops it */

    /* Copies between any two places and waits. */
    ech_status (*copy)(ech_ctx *ctx, void *to, const void *from, size_t bytes);

    /* Tells on which side pointer lies; the CPU's is always ECHI_DEVICE, for host is its device.
     * pinned, which may be NULL: whether it is host memory that the device can copy by itself. */
    ech_status (*side)(ech_ctx *ctx, const void *pointer, enum echi_side *side, bool *pinned);

    /* (optional) Around several of the functions here: what each would do and undo is done once. */
    ech_status (*enter)(ech_ctx *ctx);
    void (*leave)(ech_ctx *ctx);

    /* Runs an operation of this backend's. */
    ech_status (*run)(ech_ctx *ctx, const struct echi_operation *operation, const void *request,
                      void *work);
    const struct echi_operation *reduce, *scan, *histogram, *select, *arrange;
    const struct echi_operation *sparse;          /* see sparse/sparse.h */
    const struct echi_operation *matmul, *matvec; /* see matmul/matmul.h */
    const struct echi_operation *solve;           /* struct echi_solve_step, without a workspace */
    /* see direct/direct.h; the second may be NULL */
    const struct echi_operation *direct, *direct_vendor;
    const char *direct_vendor_name;                                       /* the algorithm's */
    const struct echi_operation *gf2, *gf2_mul, *gf2_echelon, *gf2_batch; /* see gf2/gf2.h */

    /* Workspace of a sort whose pointers are not set.  Needs no device and no context. */
    ech_status (*sort_workspace)(const struct echi_sort *sort, size_t *bytes);

    /* Lines about what sort would do.  Needs no device and no context. */
    ech_status (*sort_explain)(const struct echi_sort *sort, struct echi_text *text);

    /* Sorts data that lies on the device, with the workspace given. */
    ech_status (*sort)(ech_ctx *ctx, const struct echi_sort *sort);

    const char *sort_lean; /* (optional) the algorithm that needs the least workspace */

    /* (optional) Sorts data that lies in host memory on a device elsewhere; work is not set. */
    ech_status (*sort_host)(ech_ctx *ctx, const struct echi_sort *sort);
};

extern const struct echi_backend echi_cpu, echi_cuda, echi_simt;

/* The kinds of device in this build, best first; NULL ends the list.  The CPU can always be opened:
 * what comes after it is only opened by name. */
extern const struct echi_backend *const echi_backends[];

/* Finds the backend and the ordinal that a device's name means.  name NULL: ECHELON_DEVICE, else
 * *backend becomes NULL and the caller chooses. */
bool echi_backend_auto(const char *name); /* "auto", "auto:..." or none: the CPU may help */
ech_status echi_backend_find(const char *name, const struct echi_backend **backend, int *ordinal);

#endif
