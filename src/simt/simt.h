/*
 * simt/simt.h - the interface of the SIMT emulator for tests and commands: its options, findings in
 * kernels, and counters.
 *
 * libechelon_simt.so is opened like a driver, by cuGetProcAddress_v2(); these functions are
 * additional exports. None of them may be called while a kernel runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_SIMT_H
#define SIMT_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMT_API __attribute__((visibility("default")))

/* ---- Options ---- */

/* Sets options from words separated by commas, as the environment variable ECHELON_SIMT does at the
 * start:
 *
 *     threads=N     OS threads that run blocks; 1 (the default) makes every run identical, 0 means
 *                   one per processor
 *     seed=N        permutes the order of blocks and warps, and reverses the lanes of some warps; 0
 *                   (the default): in order
 *     yield=N       a block gives way to another one before every N-th store or atomic operation on
 *                   global memory, on average; atomic and volatile stores count as 16; 0 (the
 *                   default): only if it waits
 *     weak=1        other blocks see a store to global memory late, unless a fence orders it, and
 *                   blocks run on one OS thread; weak=0 (the default): at once
 *     late=1        work stays in its stream until a call waits for it, before the first use;
 *                   late=0 (the default): it is complete when the call that queues it returns
 *     profile       counts accesses, conflicts and branches from here on; noprofile stops it
 *     keep          a fault that the kernel can survive (a race, an uninitialised read) is
 *                   recorded, but the launch succeeds; strict (the default): it fails
 *     nocheck       does not check for races and uninitialised reads; check: does again
 *     resident=N    blocks that may wait on one OS thread (16)
 *     memory=N      MiB of device memory, before the first use (4096)
 *     sm=N          the compute capability to report, before the first use (90)
 *
 * False, with a message, if a word is none of these. */
SIMT_API bool simt_set_options(const char *text, char *message, size_t message_bytes);

/* ---- Faults ---- */

enum simt_fault {
    SIMT_RACE,              /* two threads, at least one of them writing, with unordered accesses */
    SIMT_UNWRITTEN,         /* a read of uninitialised memory */
    SIMT_BOUNDS,            /* an access outside of allocated memory */
    SIMT_MISALIGNED,        /* a vector access whose address is not a multiple of its size */
    SIMT_DIVERGENT_BARRIER, /* a barrier at which not all threads arrive, or at different lines */
    SIMT_MASK,              /* a mask without the caller, a shuffle from an inactive lane */
    SIMT_DEADLOCK,          /* no thread can continue */
    SIMT_LIMIT,             /* a launch that exceeds the limits of the device */
    SIMT_TRAP,              /* __trap(), assert() */
    SIMT_STACK,             /* local variables larger than a thread's stack */
    SIMT_FAULTS
};

SIMT_API const char *simt_fault_name(enum simt_fault fault); /* "race" */

struct simt_finding {
    enum simt_fault fault;
    uint64_t count;  /* number of occurrences at this line */
    char kernel[64]; /* its name */
    char place[128]; /* "reduce.cu:17"; "": the launch as a whole */
    char text[640];  /* of the first occurrence: the threads, the place, the details */
};

/* The findings since simt_forget(); valid until the next launch. */
SIMT_API size_t simt_findings(const struct simt_finding **findings);
SIMT_API void simt_forget(void); /* findings and counts */

/* ---- Counts, by kernel and line ---- */

struct simt_counts {
    uint64_t load_requests, load_sectors, load_bytes; /* global: of a warp; of 32 bytes */
    uint64_t store_requests, store_sectors, store_bytes;
    uint64_t atomic_requests, atomic_sectors; /* global: a sector for each lane that uses a word */
    uint64_t shared_loads, shared_load_wavefronts; /* requests; wavefronts */
    uint64_t shared_stores, shared_store_wavefronts;
    uint64_t shared_atomics, shared_atomic_wavefronts;
    uint64_t bank_conflicts;   /* wavefronts beyond the minimum for the bytes */
    uint64_t bank16_conflicts; /* the same on the first GPUs: 16 banks, half a warp at a time */
    uint64_t barriers;         /* of a warp */
    uint64_t warp_operations;  /* shuffles, ballots, ... of a warp */
    uint64_t branches;         /* basic blocks that a warp entered */
    uint64_t divergent;        /* ... and left in more than one direction */
};

struct simt_line_counts {
    char place[128]; /* "onesweep.cuh:110" */
    struct simt_counts counts;
};

struct simt_kernel_counts {
    char kernel[64];
    uint64_t launches, blocks, threads;
    uint64_t nanoseconds; /* on this machine, with all checks: does not predict a GPU's time */
    struct simt_counts counts;
    struct simt_line_counts *lines; /* [line_count], in the order of their first execution */
    size_t line_count;
};

SIMT_API size_t simt_profile(const struct simt_kernel_counts **kernels);

/* ---- A record of one block, step by step ---- */

enum simt_event_kind {
    SIMT_EVENT_READ,
    SIMT_EVENT_WRITE,
    SIMT_EVENT_ATOMIC,
    SIMT_EVENT_DIVERGENT, /* a branch that the lanes leave by several paths */
    SIMT_EVENT_WARP,      /* a collective operation of a warp */
    SIMT_EVENT_BARRIER    /* of the block */
};

/* What some lanes of a warp do at the same time. */
struct simt_event {
    enum simt_event_kind kind;
    uint32_t warp, lanes; /* lanes: one bit per lane */
    bool shared;          /* of accesses: shared memory; otherwise global memory */
    uint32_t bytes;       /* per lane */
    uint32_t cost;        /* sectors, or wavefronts */
    uint64_t at[32];      /* per lane: address, or offset in the block's shared memory; of a branch:
                             a number that differs between paths */
    uint64_t base;        /* offset of the variable in shared memory */
    char name[64];        /* of the variable, "": dynamic shared memory; of a warp operation */
    char place[128];
};

/* Discards the events, and records at most `most` events of the block with this number in its grid,
 * in launches with the option profile. 0 events end the recording. False: out of memory. */
SIMT_API bool simt_record(uint64_t block, size_t most);
/* The events; *truncated: there were more. */
SIMT_API size_t simt_recorded(const struct simt_event **events, bool *truncated);

#endif
