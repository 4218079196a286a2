/*
 * simt/runtime.h - the functions of the SIMT emulator that a kernel compiled for the CPU calls.
 *
 * device.h maps CUDA's names to these functions; kernels do not call them directly. In addition,
 * the compiler inserts calls before each memory access and basic block, which access.c defines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The indices of a thread never change, so the compiler may reuse these results. */
#define SIMT_CONST __attribute__((const))
/* Collective operations must stay in their place in the source, and must not be duplicated. */
#ifdef __clang__
#define SIMT_TOGETHER __attribute__((convergent, noduplicate))
#else
#define SIMT_TOGETHER
#endif
enum simt_axis { SIMT_X, SIMT_Y, SIMT_Z };
unsigned simt_thread_index(enum simt_axis axis) SIMT_CONST;
unsigned simt_block_index(enum simt_axis axis) SIMT_CONST;
unsigned simt_block_size(enum simt_axis axis) SIMT_CONST;
unsigned simt_grid_size(enum simt_axis axis) SIMT_CONST;
unsigned simt_lane(void) SIMT_CONST;
unsigned simt_cluster_rank(void) SIMT_CONST;   /* of this block in its cluster, x fastest */
unsigned simt_cluster_blocks(void) SIMT_CONST; /* in a cluster; 1 without clusters */
unsigned simt_dynamic_shared_bytes(void) SIMT_CONST;

/* Collective operations of the lanes in a mask; each of these lanes must call the same operation
 * with the same mask. The meaning of value, and the result: */
enum simt_warp_op {
    SIMT_WARP_SYNC,      /* nothing */
    SIMT_WARP_SHUFFLE,   /* the value of lane `source`, which device.h computes */
    SIMT_WARP_BALLOT,    /* the lanes whose value is not 0 */
    SIMT_WARP_MATCH_ANY, /* the lanes whose value equals that of the caller */
    SIMT_WARP_MATCH_ALL, /* mask if all values are equal, otherwise 0 */
    SIMT_WARP_ADD,       /* sum, modulo 2^32; also for signed values */
    SIMT_WARP_MIN_U32,
    SIMT_WARP_MAX_U32,
    SIMT_WARP_MIN_S32,
    SIMT_WARP_MAX_S32,
    SIMT_WARP_AND,
    SIMT_WARP_OR,
    SIMT_WARP_XOR,
    SIMT_WARP_OPS
};
uint64_t simt_warp(enum simt_warp_op op, uint32_t mask, uint64_t value,
                   unsigned source) SIMT_TOGETHER;
uint32_t simt_active_mask(void) SIMT_TOGETHER;

/* Barriers of a block. Barrier 0 with threads 0 is __syncthreads(); a named barrier may have fewer
 * threads, a multiple of 32. arrive does not wait. */
void simt_barrier(unsigned barrier, unsigned threads) SIMT_TOGETHER;
void simt_barrier_arrive(unsigned barrier, unsigned threads) SIMT_TOGETHER;
enum simt_vote { SIMT_VOTE_COUNT, SIMT_VOTE_AND, SIMT_VOTE_OR };
int simt_barrier_vote(enum simt_vote vote, int predicate) SIMT_TOGETHER;

/* The barrier of a cluster, in two halves, and the address in another block's shared memory that
 * corresponds to `pointer` in the caller's. */
void simt_cluster_arrive(void) SIMT_TOGETHER;
void simt_cluster_wait(void) SIMT_TOGETHER;
void *simt_cluster_map(const void *pointer, unsigned rank);

enum simt_scope { SIMT_BLOCK, SIMT_DEVICE, SIMT_SYSTEM };
void simt_fence(enum simt_scope scope);

/* Lets other threads run; also called by a thread that waits for memory to change. */
void simt_yield(void);
/* Waits until all earlier launches have ended, which is always true here. In a launch that may
 * begin early, memory must not be accessed before. */
void simt_wait_earlier(void);
uint64_t simt_clock(void); /* increases with each call; it does not measure time */

/* Atomic read-modify-write of 2, 4, 8 or 16 bytes (16: only exchange and compare-and-swap); returns
 * the previous value. Values and results are the low bytes of the words, floats as their bits. */
enum simt_atomic_op {
    SIMT_ATOMIC_ADD,
    SIMT_ATOMIC_EXCHANGE,
    SIMT_ATOMIC_MIN_UNSIGNED,
    SIMT_ATOMIC_MAX_UNSIGNED,
    SIMT_ATOMIC_MIN_SIGNED,
    SIMT_ATOMIC_MAX_SIGNED,
    SIMT_ATOMIC_AND,
    SIMT_ATOMIC_OR,
    SIMT_ATOMIC_XOR,
    SIMT_ATOMIC_INC,      /* old >= value ? 0 : old + 1 */
    SIMT_ATOMIC_DEC,      /* old == 0 || old > value ? value : old - 1 */
    SIMT_ATOMIC_COMPARE,  /* stores value if the previous value equals `compare` */
    SIMT_ATOMIC_ADD_FLOAT /* 4 or 8 bytes: float, double */
};
uint64_t simt_atomic(enum simt_atomic_op op, void *at, unsigned bytes, uint64_t value,
                     uint64_t compare);

/* ---- Asynchronous copies from global to shared memory (async.c) ----
 *
 * A copy is performed as late as CUDA allows: a copy of a thread when the thread waits for its
 * group, a bulk copy when a thread waits for its barrier. Until then its destination counts as
 * uninitialised. */

void simt_copy_async(void *to, const void *from, unsigned bytes); /* 4, 8 or 16 */
void simt_copy_commit(void);
void simt_copy_wait(unsigned groups); /* until at most this many groups are pending */
/* bytes: a multiple of 16. The copy completes these bytes of the barrier's phase. */
void simt_copy_bulk(void *to, const void *from, uint32_t bytes, uint64_t *barrier);

/* Barriers in shared memory: a phase is complete when `count` threads have arrived and all expected
 * bytes have been copied. done: whether the phase of this parity is complete. */
void simt_mbarrier_init(uint64_t *barrier, uint32_t count);
void simt_mbarrier_arrive(uint64_t *barrier, uint32_t expected_bytes);
int simt_mbarrier_done(uint64_t *barrier, uint32_t parity);

/* Ends the kernel; `what` is the message, for example "calls __trap()". */
void simt_trap(const char *what) __attribute__((noreturn));

/* Dynamic shared memory. A kernel must declare it by this name, with any type: extern __shared__
 * unsigned char shared_bytes[]; */
enum { SIMT_MOST_SHARED_BYTES = 227 << 10 };

/* ---- The export of a compiled module: the symbol simt_image ---- */

/* Also distinguishes modules that were compiled with other definitions of these structs. */
#define SIMT_IMAGE_VERSION (1u << 16 | sizeof(struct simt_image) << 8 | sizeof(struct simt_kernel))

struct simt_kernel {
    const char *name;
    void (*call)(
        void *const *parameters);    /* one thread of the kernel, with pointers to its arguments */
    const uint32_t *parameter_bytes; /* [parameter_count] */
    uint32_t parameter_count;
    uint32_t most_threads; /* of __launch_bounds__(); 0: none */
};

struct simt_image {
    uint32_t version; /* SIMT_IMAGE_VERSION */
    uint32_t kernel_count;
    const struct simt_kernel *kernels;
    int reports_accesses; /* 0: the address sanitizer checks them */
    void *(*shared)(
        void); /* shared_bytes, in the module's thread-local memory like all __shared__ data */
};

#ifdef __cplusplus
}
#endif

#endif
