/*
 * simt/runtime.h - what a kernel that was compiled for the CPU calls in the executor.
 *
 * device.h turns CUDA's names into these calls; kernels do not use them directly.  Beside them, the
 * compiler inserts calls of its own before each memory access and basic block, which access.c
 * answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A thread's place never changes, so the compiler may keep what these return. */
#define SIMT_CONST __attribute__((const))
/* What lanes or threads do together must stay where the source has it, and be there once. */
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

/* What the lanes of a mask do together; each lane of it must call the same one with the same mask.
 * The meaning of value and the result: */
enum simt_warp_op {
    SIMT_WARP_SYNC,      /* nothing */
    SIMT_WARP_SHUFFLE,   /* the value of lane `source`, which device.h derives from the shuffle */
    SIMT_WARP_BALLOT,    /* the lanes whose value is not 0 */
    SIMT_WARP_MATCH_ANY, /* the lanes whose value is mine */
    SIMT_WARP_MATCH_ALL, /* mask if all values are the same, else 0 */
    SIMT_WARP_ADD,       /* sum, modulo 2^32; so for signed values too */
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

/* Barriers of a block.  Barrier 0 with threads 0 is __syncthreads(); a named one may be met by
 * fewer threads, a multiple of 32.  arrive does not wait. */
void simt_barrier(unsigned barrier, unsigned threads) SIMT_TOGETHER;
void simt_barrier_arrive(unsigned barrier, unsigned threads) SIMT_TOGETHER;
enum simt_vote { SIMT_VOTE_COUNT, SIMT_VOTE_AND, SIMT_VOTE_OR };
int simt_barrier_vote(enum simt_vote vote, int predicate) SIMT_TOGETHER;

/* Barrier of a cluster, in its two halves, and the address in another block's shared memory of what
 * `pointer` is in mine. */
void simt_cluster_arrive(void) SIMT_TOGETHER;
void simt_cluster_wait(void) SIMT_TOGETHER;
void *simt_cluster_map(const void *pointer, unsigned rank);

enum simt_scope { SIMT_BLOCK, SIMT_DEVICE, SIMT_SYSTEM };
void simt_fence(enum simt_scope scope);

/* Lets others run; also what a thread does that waits for memory to change. */
void simt_yield(void);
/* Waits until all earlier launches have ended, as they have; then memory may be accessed in one
 * that may begin early. */
void simt_wait_earlier(void);
uint64_t simt_clock(void); /* grows with each call, and says nothing of time */

/* Atomic read, change, write of 2, 4, 8 or 16 bytes (16: exchange and compare only); returns what
 * was there before.  Values and results are the low bytes of the words, floats by their bits. */
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
    SIMT_ATOMIC_COMPARE,  /* stores value where `compare` was */
    SIMT_ATOMIC_ADD_FLOAT /* 4 or 8 bytes: float, double */
};
uint64_t simt_atomic(enum simt_atomic_op op, void *at, unsigned bytes, uint64_t value,
                     uint64_t compare);

/* Ends the kernel with a message; `what` is such as "__trap()" or "assertion n > 0 failed". */
void simt_trap(const char *what) __attribute__((noreturn));

/* The shared memory whose size the launch gives.  A kernel declares it under this very name:
 * extern __shared__ unsigned char shared_bytes[]; of whatever type. */
enum { SIMT_MOST_SHARED_BYTES = 227 << 10 };

/* ---- What a module, one compiled image, exports: the symbol simt_image ---- */

/* Also tells modules apart that were compiled against other structures. */
#define SIMT_IMAGE_VERSION (1u << 16 | sizeof(struct simt_image) << 8 | sizeof(struct simt_kernel))

struct simt_kernel {
    const char *name;
    void (*call)(
        void *const *parameters);    /* one thread of the kernel, from pointers to its arguments */
    const uint32_t *parameter_bytes; /* [parameter_count] */
    uint32_t parameter_count;
    uint32_t most_threads; /* of __launch_bounds__(); 0 without */
};

struct simt_image {
    uint32_t version; /* SIMT_IMAGE_VERSION */
    uint32_t kernel_count;
    const struct simt_kernel *kernels;
    int reports_accesses; /* 0: the address sanitizer judges them */
    void *(*shared)(
        void); /* shared_bytes, in the module's thread-local memory, as all __shared__ is */
};

#ifdef __cplusplus
}
#endif

#endif
