/*
 * cuda/cuda.h - what the host half of the CUDA backend shares: the state of a context and its
 * calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_H
#define ECHI_CUDA_H

#include "core/backend.h"
#include "cuda/driver.h"
#include "cuda/pack.h"

enum {
    ECHI_KERNELS = 1024,        /* kernels that a context can hold looked up; a power of two */
    ECHI_SLOTS = 32,            /* streams whose kernels need no clearing: state.c */
    ECHI_SLOT_BYTES = 36 << 10, /* of one */
    ECHI_LINK_BUFFERS = 4,      /* of a pipeline: chunks of device memory, most */
    ECHI_LINK_SLOTS = 6         /* of staging, each way */
};

/* images.c: the rows of instances.txt, such as "sort_k32_v4", and what the library has of them. */
extern const char *const echi_images[];
extern const int echi_image_count;
extern const int echi_image_archs[];   /* of the machine code; 0 ends them */
extern const int echi_ptx_arch;        /* of kernels.pack; 0: there is none */
extern const char *const echi_ptx_id;  /* the build that kernels.pack must be of; NULL: none */
struct echi_pack echi_cuda_code(void); /* the machine code; data is NULL where there is none */

struct echi_cuda_kernel {
    const char *image, *name; /* NULL: an empty place */
    CUkernel kernel;
    unsigned shared_bytes; /* that it may have */
    bool cached;           /* echi_cuda_prefer_cache() was called */
    int architecture;      /* that its code is for, which may be older than the GPU: 80 for sm_80 */
};

/* Pinned memory, and when what it was last used for is over. */
struct echi_slot {
    void *at;
    size_t bytes;
    CUevent done;
};

struct echi_cuda {
    const struct echi_provider *provider;
    const struct echi_driver *driver;
    CUdevice device;
    CUcontext context;
    int entered; /* calls that have made the context current: it is pushed once */
    CUstream own_stream;
    CUmemoryPool pool; /* NULL where the device has none: allocation is then synchronous */
    int multiprocessors;
    int gpu_architecture;  /* 90 for sm_90 */
    int architecture;      /* that the kernels' code is for: it may be older than the GPU's */
    unsigned shared_bytes; /* that a block may ask for */
    CUlibrary *libraries;  /* [echi_image_count], loaded when first needed */
    struct echi_cuda_kernel kernels[ECHI_KERNELS];
    int kernel_count;
    void *state;             /* state.c */
    void *cublas, *cusolver; /* cublas.c, cusolver.c: handles, made when first needed; or NULL */
    unsigned long long slot_stream[ECHI_SLOTS];
    int slots_used;
    bool may_report_error; /* a kernel was queued that may have found its data wrong */
    struct echi_slot slots[2 * ECHI_LINK_SLOTS]; /* each made when first needed */
    CUevent link_events[3][ECHI_LINK_BUFFERS];   /* up, down, and the work between, likewise */
    /* sort/cuda/host.c: for copies up and down beside the stream; NULL: not yet */
    CUstream link[2];
    /* sort/cuda/host.c: host memory, mapped and kept for the next sort; NULL: none */
    void *runs;
    size_t runs_bytes;
};

/* The result of a driver call as a status, with a message that names the call. */
ech_status echi_cuda_check(ech_ctx *ctx, const struct echi_driver *driver, CUresult result,
                           const char *call);

/* CU calls a driver function of the table `driver` and leaves by `done` with a message on failure.
 */
#define CU(function, ...)                                                                          \
    TRY(echi_cuda_check(ctx, driver, driver->function(__VA_ARGS__), #function))

/* Makes the context's CUDA context current in this thread; every public entry does, and undoes it.
 * Calls may lie within each other. */
ech_status echi_cuda_enter(ech_ctx *ctx);
void echi_cuda_leave(ech_ctx *ctx);

CUstream echi_cuda_stream(const ech_ctx *ctx);

/* The one place that asks the driver about a device.  A property it does not know is 0. */
int echi_cuda_attribute(const struct echi_driver *driver, CUdevice device, int which);
int echi_cuda_architecture(const struct echi_driver *driver, CUdevice device);

/* A kind of device that is used through the driver's table: all in which the kinds differ. */
struct echi_provider {
    const char *device;        /* "cuda" */
    bool numbered;             /* there may be several: "cuda:1" */
    const char *unit;          /* in messages: "there are 4 <unit>s" */
    const char *unusable;      /* in messages: "no GPU can be used" */
    bool by_name;              /* cuLibraryLoadData() takes an image's name, not its code */
    int (*code_for)(int arch); /* the architecture of the code for a device of this one */
    const char *ptx_file;      /* where no machine code fits; NULL: none */
    struct echi_driver_file *file;
};

/* "cuda:1", or "simt". */
void echi_cuda_name(const struct echi_provider *provider, int ordinal, char *name, size_t bytes);

ech_status echi_cuda_open(const struct echi_provider *provider, ech_ctx *ctx, int ordinal);
void echi_cuda_close(ech_ctx *ctx);

/* The lesser of two, one of which is a size that a grid can have. */
static inline unsigned echi_cuda_least(uint64_t a, uint64_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* Gives memory of the device back that nobody holds. */
void echi_cuda_trim_pool(ech_ctx *ctx);

/* launch.c: the architecture of the code that a GPU takes; the GPU's own where there is none. */
int echi_cuda_code_for(int gpu_architecture);

/* launch.c: is there such a kernel in the code that this GPU takes from an image?  Some are for one
 * architecture alone, and code of an older one runs on a GPU too. */
bool echi_cuda_has(ech_ctx *ctx, const char *image, const char *kernel);

/* launch.c: finds a kernel, loading its image if need be, and launches it.  shared_bytes is dynamic
 * shared memory; args points to the kernel's one argument, a struct. */
ech_status echi_cuda_launch(ech_ctx *ctx, const char *image, const char *kernel, unsigned blocks,
                            unsigned threads, unsigned shared_bytes, const void *args);

/* The same of a kernel each of whose threads begins with wait_for_earlier() (cuda/device/ptx.cuh):
 * its blocks may be set up while what was launched before still ends. */
ech_status echi_cuda_launch_pdl(ech_ctx *ctx, const char *image, const char *kernel,
                                unsigned blocks, unsigned threads, unsigned shared_bytes,
                                const void *args);

/* The same of a kernel whose blocks wait for each other: all are on the GPU at once, or the launch
 * fails. */
ech_status echi_cuda_launch_cooperative(ech_ctx *ctx, const char *image, const char *kernel,
                                        unsigned blocks, unsigned threads, unsigned shared_bytes,
                                        const void *args);

/* The architecture that a kernel's code is for, as in `architecture` below: what its text chose by
 * __CUDA_ARCH__, and the host has to know. */
ech_status echi_cuda_compiled_for(ech_ctx *ctx, const char *image, const char *kernel,
                                  int *architecture);

/* Asks that so much percent of a multiprocessor's fast memory be shared memory for a kernel, and
 * the rest cache: else a GPU may give it more than its blocks fill. */
ech_status echi_cuda_prefer_cache(ech_ctx *ctx, const char *image, const char *kernel,
                                  int shared_percent);

/* copy.c: queues a copy between any two places; host memory may be changed as soon as it returns,
 * and holds the result when it returns. */
ech_status echi_cuda_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes);
ech_status echi_cuda_side(ech_ctx *ctx, const void *pointer, bool *on_device, bool *pinned);

/* exchange.c */
void echi_cuda_close_slots(struct echi_cuda *cuda);

/* ---- state.c ---- */

ech_status echi_cuda_state_open(ech_ctx *ctx);
void echi_cuda_state_close(ech_ctx *ctx);

/* Device memory that is zero when the next kernel of the stream begins, and which the kernels that
 * use it must leave zero at their end: part, bytes of the workspace, cleared by a memset; or memory
 * of the context's own, where bytes <= ECHI_SLOT_BYTES and nothing forbids it. */
ech_status echi_cuda_zeros(ech_ctx *ctx, void *part, size_t bytes, void **zeros);

/* Where kernels leave a data error (cuda/device/data_error.cuh); that error, as a status. */
uint64_t *echi_cuda_error_word(ech_ctx *ctx);
ech_status echi_cuda_poll_error(ech_ctx *ctx);

/* sort/cuda/host.c: gives back the host memory that sorts keep for the next one. */
void echi_cuda_drop_runs(struct echi_cuda *cuda);

#endif
