/*
 * cuda/cuda.h - declarations that the host code of the CUDA backend shares: the state of a context
 * and its functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_H
#define ECHI_CUDA_H

#include "core/backend.h"
#include "cuda/driver.h"
#include "cuda/pack.h"

enum {
    ECHI_KERNELS = 1024,        /* capacity of a context's table of kernels; a power of two */
    ECHI_SLOTS = 32,            /* streams with memory that kernels leave zeroed: state.c */
    ECHI_SLOT_BYTES = 36 << 10, /* bytes per such stream */
    /* The first of these streams also have memory for small workspaces.  All of this is less than
     * 2 MiB, which the driver would allocate anyway. */
    ECHI_SCRATCH_SLOTS = 3,
    ECHI_SCRATCH_BYTES = 256 << 10,
    ECHI_LINK_BUFFERS = 4, /* chunks of device memory of a pipeline, maximum */
    ECHI_LINK_SLOTS = 6    /* staging buffers per direction */
};

/* images.c: the rows of instances.txt, such as "sort_k32_v4", and the code that the library has of
 * them. */
extern const char *const echi_images[];
extern const int echi_image_count;
extern const int echi_image_archs[];   /* of the machine code; 0 ends them */
extern const int echi_ptx_arch;        /* of kernels.pack; 0: there is no such file */
extern const char *const echi_ptx_id;  /* the build that kernels.pack must match; NULL: none */
struct echi_pack echi_cuda_code(void); /* the machine code; data is NULL if there is none */

struct echi_cuda_kernel {
    const char *image, *name; /* NULL: an empty entry */
    CUkernel kernel;
    unsigned shared_bytes; /* maximum of a launch */
    bool cached;           /* echi_cuda_prefer_cache() was called */
    int architecture;      /* of its code, which may be older than the GPU: 80 for sm_80 */
};

/* Pinned memory, and the event after its last use. */
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
    int entered; /* nested calls of echi_cuda_enter(): only the first pushes the context */
    CUstream own_stream;
    CUmemoryPool pool; /* NULL if the device has none: allocation is then synchronous */
    uint64_t readers;  /* a bit per other device that may read memory of this one */
    int multiprocessors;
    int gpu_architecture;  /* 90 for sm_90 */
    int architecture;      /* of the kernels' code: may be older than the GPU's */
    unsigned shared_bytes; /* maximum per block */
    unsigned l2_bytes;
    CUlibrary *libraries; /* [echi_image_count], loaded on first use */
    struct echi_cuda_kernel kernels[ECHI_KERNELS];
    int kernel_count;
    void *state;             /* state.c */
    void *cublas, *cusolver; /* cublas.c, cusolver.c: handles, created on first use; or NULL */
    unsigned long long slot_stream[ECHI_SLOTS];
    int slots_used;
    uint32_t slots_to_clear; /* a launch has failed since they were zero; one bit per slot */
    bool may_report_error;   /* a queued kernel may have reported a data error */
    struct echi_slot slots[2 * ECHI_LINK_SLOTS]; /* each created on first use */
    CUevent link_events[3][ECHI_LINK_BUFFERS];   /* up, down, work; created on first use */
    /* sort/cuda/host.c: for copies up and down that overlap with the stream; NULL: not yet
     * created */
    CUstream link[2];
    /* Copies from other devices, created on first use; and whether some are not waited for. */
    CUstream lanes[ECHI_LANES];
    CUevent lane_events[ECHI_LANES];
    bool lane_used[ECHI_LANES];
    /* sort/cuda/host.c: host memory, mapped and kept for the next sort; NULL: none */
    void *runs;
    size_t runs_bytes;
};

/* Converts the result of a driver call to a status, with a message that names the call. */
ech_status echi_cuda_check(ech_ctx *ctx, const struct echi_driver *driver, CUresult result,
                           const char *call);

/* CU calls a driver function of the table `driver` and leaves by `done` with a message on failure.
 */
#define CU(function, ...)                                                                          \
    TRY(echi_cuda_check(ctx, driver, driver->function(__VA_ARGS__), #function))

/* Makes the context's CUDA context current in this thread, and restores the previous one; every
 * public function does this. Calls may be nested. */
ech_status echi_cuda_enter(ech_ctx *ctx);
void echi_cuda_leave(ech_ctx *ctx);

CUstream echi_cuda_stream(const ech_ctx *ctx);

/* backend.c: the stream of a lane, for work that echi_backend.wait_beside() waits for. */
ech_status echi_cuda_lane(ech_ctx *ctx, unsigned lane, CUstream *stream);

/* The only function that queries attributes of a device. An unknown attribute is 0. */
int echi_cuda_attribute(const struct echi_driver *driver, CUdevice device, int which);
int echi_cuda_architecture(const struct echi_driver *driver, CUdevice device);

/* A kind of device that is used through the driver's table: all differences between the kinds. */
struct echi_provider {
    const char *device;        /* "cuda" */
    bool numbered;             /* there may be several: "cuda:1" */
    const char *unit;          /* in messages: "there are 4 <unit>s" */
    const char *unusable;      /* in messages: "no GPU can be used" */
    const char *layout;        /* not NULL: cuLibraryLoadData() takes not a module's code, but its
                                  name, '?', and this text */
    int (*code_for)(int arch); /* the architecture of the code for a device of architecture arch */
    const char *ptx_file;      /* used if no machine code fits; NULL: none */
    struct echi_driver_file *file;
};

/* "cuda:1", or "simt". */
void echi_cuda_name(const struct echi_provider *provider, int ordinal, char *name, size_t bytes);

ech_status echi_cuda_open(const struct echi_provider *provider, ech_ctx *ctx, int ordinal);
void echi_cuda_close(ech_ctx *ctx);

/* The minimum of two numbers, one of which is a valid grid size. */
static inline unsigned echi_cuda_least(uint64_t a, uint64_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* Returns cached device memory to the system. */
void echi_cuda_trim_pool(ech_ctx *ctx);

/* launch.c: the architecture of the code that a GPU uses; the GPU's own if there is none. */
int echi_cuda_code_for(int gpu_architecture);

/* launch.c: whether the code that this GPU uses contains this kernel. Some kernels exist for one
 * architecture only, and a GPU can also run code of an older one. */
bool echi_cuda_has(ech_ctx *ctx, const char *image, const char *kernel);

/* launch.c: finds a kernel, loads its module if needed, and launches it. shared_bytes is dynamic
 * shared memory; args points to the kernel's only argument, a struct. */
ech_status echi_cuda_launch(ech_ctx *ctx, const char *image, const char *kernel, unsigned blocks,
                            unsigned threads, unsigned shared_bytes, const void *args);

/* The same for a kernel in which each thread begins with wait_for_earlier() (cuda/device/ptx.cuh):
 * its blocks may be set up while earlier launches still end. */
ech_status echi_cuda_launch_pdl(ech_ctx *ctx, const char *image, const char *kernel,
                                unsigned blocks, unsigned threads, unsigned shared_bytes,
                                const void *args);

/* The same for a kernel whose blocks wait for each other: all are resident at once, or the launch
 * fails. */
ech_status echi_cuda_launch_cooperative(ech_ctx *ctx, const char *image, const char *kernel,
                                        unsigned blocks, unsigned threads, unsigned shared_bytes,
                                        const void *args);

/* The architecture of a kernel's code, as in `architecture` below, for host code that must match
 * the kernel's choices by __CUDA_ARCH__. */
ech_status echi_cuda_compiled_for(ech_ctx *ctx, const char *image, const char *kernel,
                                  int *architecture);

/* Requests this percentage of a multiprocessor's L1 memory as shared memory for a kernel, and the
 * rest as cache. By default a GPU may reserve more shared memory than the kernel's blocks use. */
ech_status echi_cuda_prefer_cache(ech_ctx *ctx, const char *image, const char *kernel,
                                  int shared_percent);

/* copy.c: queues a copy between any two memories. When it returns, host memory that was read may be
 * changed, and host memory that was written contains the result. */
ech_status echi_cuda_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes);
ech_status echi_cuda_reach(ech_ctx *ctx, ech_ctx *other, bool *can);
ech_status echi_cuda_share(ech_ctx *ctx, const void *pointer);
ech_status echi_cuda_side(ech_ctx *ctx, const void *pointer, bool *on_device, bool *pinned);

/* exchange.c */
void echi_cuda_close_slots(struct echi_cuda *cuda);

/* ---- state.c ---- */

ech_status echi_cuda_state_open(ech_ctx *ctx);
void echi_cuda_state_close(ech_ctx *ctx);

/* Device memory that is zero when the next kernel of the stream begins, and that the kernels must
 * leave zeroed at their end: either part, `bytes` of the workspace, cleared by a memset; or the
 * context's own memory, if bytes <= ECHI_SLOT_BYTES and it can be used. */
ech_status echi_cuda_zeros(ech_ctx *ctx, void *part, size_t bytes, void **zeros);

/* Memory for the workspace of one call at a time on the context's stream; NULL: too many bytes, or
 * too many streams, or the stream is being captured. */
void *echi_cuda_scratch(ech_ctx *ctx, size_t bytes);

/* The word in which kernels report a data error (cuda/device/data_error.cuh); that error as a
 * status. */
uint64_t *echi_cuda_error_word(ech_ctx *ctx);
ech_status echi_cuda_poll_error(ech_ctx *ctx);

/* sort/cuda/host.c: frees the host memory that sorts keep for the next one. */
void echi_cuda_drop_runs(struct echi_cuda *cuda);

#endif
