/*
 * simt/executor.h - the executor's own structures: a launch, its workers, blocks, warps, threads.
 *
 *     launch                one grid; blocks are handed out in order, or in the order of a seed
 *       worker              an OS thread: one block runs at a time, others that wait are resident
 *         block             a slot with a stack for each thread
 *           warp            where 32 lanes meet
 *             thread        a fiber
 *
 * A block's __shared__ memory is thread-local memory of the OS thread that runs it.  When a worker
 * changes from one resident block to another, it saves and restores it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_EXECUTOR_H
#define SIMT_EXECUTOR_H

#include "simt/fiber.h"
#include "simt/modules.h"
#include "simt/runtime.h"
#include "simt/simt.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIMT_LANES = 32,
    SIMT_MOST_THREADS = 1024,
    SIMT_MOST_WARPS = SIMT_MOST_THREADS / SIMT_LANES,
    SIMT_BARRIERS = 16,
    SIMT_DEFAULT_SHARED_BYTES = 48 << 10, /* dynamic, unless a kernel asks for more */
    SIMT_STEPS = 1 << 16 /* basic blocks after which a thread gives way by itself */
};

/* ---- Options (options.c) ---- */

extern struct simt_options {
    uint64_t threads, seed, resident, memory_mib, sm;
    bool profile, keep, check;
} simt_options;

/* ---- Device memory (memory.c) ---- */

enum simt_memory_kind { SIMT_MEMORY_DEVICE, SIMT_MEMORY_PINNED };

uint64_t simt_memory_total(void);
uint64_t simt_memory_used(void);
void *simt_memory_allocate(size_t bytes, enum simt_memory_kind kind);
bool simt_memory_release(void *pointer, enum simt_memory_kind kind);
/* The allocation that holds `pointer`, with its kind, or false. */
bool simt_memory_find(const void *pointer, void **base, size_t *bytes, enum simt_memory_kind *kind);
/* The allocation that begins nearest below, or false. */
bool simt_memory_below(const void *pointer, void **base, size_t *bytes);
/* Whether the bytes lie within one allocation; true of all that is not device memory. */
bool simt_memory_holds(const void *pointer, size_t bytes);
void simt_memory_written(void *pointer, size_t bytes); /* by the host: it is initialised now */

/* The arena of device memory; beside it, for each 4 bytes: a byte `meta`, and two cells. */
enum { SIMT_META_LIVE = 0x0f, SIMT_META_WRITTEN = 0xf0 }; /* a bit for each byte of the four */
extern uintptr_t simt_arena;
extern size_t simt_arena_bytes;
extern uint8_t *simt_meta;            /* [simt_arena_bytes / 4] */
extern struct simt_cells *simt_cells; /* [simt_arena_bytes / 4] */

/* ---- Who accessed four bytes last (race.c) ---- */

/* A block's clock: it counts barriers of the block, __syncwarp() of its warps and fences of its
 * threads, so that an access is before such an event if its time is less than the event's. */
typedef uint32_t simt_time;

struct simt_cell {
    uint32_t serial; /* of the block; 0: nobody */
    uint16_t thread;
    uint8_t bytes; /* a bit for each of the four */
    uint8_t kind;  /* enum simt_access */
    simt_time time;
    uint32_t pc; /* from the module's begin */
};
struct simt_cells {
    struct simt_cell write, read;
};

enum simt_access {
    SIMT_READ = 0,
    SIMT_WRITE = 1,  /* bit */
    SIMT_STRONG = 2, /* bit: atomic or volatile; two such never race */
    SIMT_CHANGE = 4, /* bit: reads and writes at once, as atomicAdd() does */
    /* in a cell of reads, which stands for several readers: */
    SIMT_WARP_READ = 8,   /* lanes of one warp, at the time of the last */
    SIMT_BLOCK_READ = 16, /* threads of several warps since the block's last barrier */
    SIMT_GRID_READ = 32   /* threads of several blocks */
};

struct simt_vector_clock_entry { /* of a block: all that happened before a time */
    uint32_t serial;
    uint16_t thread;
    simt_time own, near;   /* ... by this thread; near: as threads of its block may know it */
    simt_time warp, block; /* ... by its warp, by all of the block */
};
struct simt_vector_clock {
    struct simt_vector_clock_entry *known;
    uint32_t count, capacity;
    bool all; /* too many to keep: everything counts as known */
};

/* ---- A thread and those it meets ---- */

struct simt_where {    /* a place in memory, for messages */
    const char *space; /* "global", "shared" */
    const char *name;  /* of the variable, or NULL */
    size_t offset; /* bytes from its begin, or from that of the allocation or of shared memory */
};

enum simt_wait { SIMT_RUNS, SIMT_AT_WARP, SIMT_AT_BARRIER, SIMT_AT_CLUSTER, SIMT_ENDED };

struct simt_thread { /* what is used most first */
    struct simt_fiber fiber;
    struct simt_block *block;
    struct simt_warp *warp;
    uint32_t number; /* in the block */
    uint32_t lane;
    uint32_t steps; /* basic blocks since it was last switched to; counted with a profile */
    enum simt_wait waits;
    const void *polled; /* the address it last read or changed as an atomic or volatile */
    bool overwrites;    /* see overwrite */
    bool waited;        /* for earlier launches */
    uintptr_t pc;       /* in the kernel, where it waits or last accessed memory */
    /* the collective operation it waits in, or did last, and the outcome */
    uint64_t value, result;
    uintptr_t warp_pc;
    enum simt_warp_op op;
    uint32_t mask;
    unsigned source, barrier;
    uint32_t index[3];
    uint64_t cluster_phase;
    bool cluster_arrived;
    simt_time wrote;                         /* global memory, last */
    struct simt_vector_clock_entry released; /* what its flags release: all before its last fence */
    const void *flag;                        /* the last that it read, as an atomic or volatile */
    uint32_t flag_version;                   /* of what it released then */
    struct simt_vector_clock acquired, unacquired; /* unacquired: read from flags, no fence since */
    struct { /* a write over another thread's: harmless when the value is the same */
        const void *at;
        char old[16];
        size_t bytes;
        uintptr_t pc;
        struct simt_cell other;
        struct simt_where where;
    } overwrite;
    struct simt_trace *trace; /* profile.c */
};

struct simt_meet { /* lanes of a warp that have come to one operation */
    uint32_t mask, arrived;
    enum simt_warp_op op;
    bool apart; /* from different instructions */
    uintptr_t pc;
};

struct simt_warp {
    struct simt_block *block;
    struct simt_thread *threads; /* [lanes] */
    uint32_t number, lanes;      /* lanes: fewer than 32 in a last warp */
    uint32_t ready, ended, exists;
    struct simt_meet meets[SIMT_LANES];
    uint32_t meet_count;
    uint32_t last;                     /* the lane that ran last */
    simt_time met;                     /* when all its lanes did last */
    simt_time (*pair_met)[SIMT_LANES]; /* [32][32], once only some of them have */
    struct simt_vector_clock acquired;
};

struct simt_barrier {
    uint32_t arrived, expected; /* threads; expected 0: all of the block */
    int count;                  /* of votes that are not 0 */
    uintptr_t pc;               /* where the first arrived */
    uint32_t first;
    uint32_t warps; /* that arrived */
};

struct simt_cluster {
    struct simt_block **blocks; /* [count] by rank */
    uint32_t count;
    uint32_t alive; /* threads of the cluster that have not ended */
    uint32_t arrived;
    uint64_t phase;
    uint32_t slots_left; /* blocks not yet over */
};

struct simt_block {
    struct simt_launch *launch;
    struct simt_worker *worker;
    const struct simt_loaded *module; /* the launch's */
    uint32_t index[3];
    uint64_t number; /* in the grid */
    uint32_t serial; /* of all blocks ever, as they began; not 0 */
    uint32_t oldest; /* the least of its cluster's */
    struct simt_thread *threads;
    struct simt_warp warps[SIMT_MOST_WARPS];
    uint32_t thread_count, warp_count;
    uint32_t ready_warps; /* a bit each */
    uint32_t warp_order[SIMT_MOST_WARPS], order_of[SIMT_MOST_WARPS];
    struct simt_warp *last_warp; /* that ran when the worker took over */
    uint32_t alive;
    uint32_t idle_yields; /* in a row, in which no thread did anything else */
    struct simt_barrier barriers[SIMT_BARRIERS];
    int vote;             /* the outcome of the last voting barrier: how many voted for it */
    bool vote_all;        /* ... and whether all that met there did: some may have ended since */
    simt_time clock, met; /* met: at the last barrier of all */
    uint32_t fences;      /* of the device, since then */
    struct simt_vector_clock acquired;
    struct simt_cluster *cluster;
    uint32_t rank;          /* in the cluster */
    uint32_t ended_checked; /* threads, for a barrier at ... */
    uintptr_t ended_pc;
    bool over;
    /* shared memory, all that the module has */
    char *saved;              /* while another block runs on the worker */
    struct simt_cells *cells; /* for each 4 bytes */
    uint8_t *written;         /* for each byte */
    size_t capacity;          /* bytes of saved and written */
    char *stacks;
    struct simt_block *next; /* resident on the worker */
};

struct simt_worker {
    struct simt_launch *launch;
    struct simt_fiber fiber;
    struct simt_block *resident, *current;
    uint32_t resident_count;
    char *shared; /* this OS thread's copy of the module's shared memory */
    struct simt_profile_table *profile;
    uint64_t clock;      /* for clock64() */
    uint64_t long_steps; /* threads that gave way because they ran for long */
    uint64_t events;     /* whatever its threads did, other than giving way */
};

struct simt_launch {
    const struct simt_function *function;
    void *const *parameters;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t thread_count, cluster_blocks;
    uint64_t block_count;
    uint32_t shared_bytes;
    bool cooperative;
    bool early;            /* threads must wait for earlier launches before they access memory */
    uint32_t first_serial; /* of this launch's blocks, as they begin */
    atomic_uint_fast32_t serials_taken;
    uint32_t *number_of;       /* [2 * block_count]: the block that has first_serial + i */
    uint64_t *order;           /* a permutation of the clusters, or NULL */
    atomic_uint_fast64_t next; /* cluster to start */
    atomic_int idle_workers;   /* that can only wait for others */
    atomic_bool failed;        /* blocks are abandoned */
    atomic_bool faulted;       /* at the end, the launch has not succeeded */
    const struct simt_finding *first_finding;
    int workers;
    uint32_t most_resident;
    uint64_t nanoseconds;
};

extern _Thread_local struct simt_thread *simt_self __attribute__((tls_model("initial-exec")));
/* Basic blocks that it may still run before it gives way by itself. */
extern _Thread_local int32_t simt_steps_left __attribute__((tls_model("initial-exec")));

/* ---- schedule.c: a thread leaves the processor ---- */

/* Runs the block until it is over, or nobody in it can go on by himself. */
void simt_block_run(struct simt_block *block);
void simt_wait(struct simt_thread *thread, enum simt_wait why, uintptr_t pc);
void simt_give_way(struct simt_thread *thread, uintptr_t pc);
void simt_wake(struct simt_thread *thread);
/* Something happened in the block other than giving way. */
void simt_event(struct simt_block *block);
/* The thread has ended: first nobody waits for it any more, then it leaves. */
void simt_stop(struct simt_thread *thread);
void simt_leave_for_good(struct simt_thread *thread) __attribute__((noreturn));
/* Ends the launch from inside a thread. */
void simt_abandon(struct simt_thread *thread) __attribute__((noreturn));

/* ---- block.c, warp.c, cluster.c ---- */

void simt_block_begin(struct simt_block *block);
void simt_warp_ended(struct simt_warp *warp);                 /* one more of its lanes */
uint32_t simt_warp_arrived(const struct simt_thread *thread); /* where it waits */
void simt_cluster_ended(struct simt_block *block);
/* Names who waits where, for a block in which nobody can go on. */
void simt_block_explain(struct simt_block *block);

/* ---- launch.c ---- */

bool simt_launch_run(struct simt_launch *launch);
void simt_launch_close(void);

/* ---- fault.c: what was found ---- */

/* Notes a finding at a place in the kernel; the first of each line and kind is kept as text.  Then
 * a thread that cannot go on calls simt_abandon(). */
void simt_found(enum simt_fault kind, struct simt_launch *launch, const struct simt_thread *thread,
                uintptr_t pc, const char *format, ...) __attribute__((format(printf, 5, 6)));
void simt_thread_name(const struct simt_thread *thread, char *text, size_t bytes);
void simt_other_name(const struct simt_thread *thread, const struct simt_cell *other, char *text,
                     size_t bytes);
void simt_findings_clear(void);

/* ---- where.c ---- */

/* The place of an access to global or shared memory. */
void simt_locate(const struct simt_thread *t, const void *at, struct simt_where *where);

/* ---- access.c, race.c, profile.c ---- */

/* Every access of a kernel to memory; returns when it may be done. */
void simt_access(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc);

/* cells: of the 4 bytes that `at` lies in.  What blocks before the serial number `oldest` did is of
 * no concern: they are of another launch, or had the shared memory before. */
void simt_race_check(struct simt_thread *t, struct simt_cells *cells, const void *at, size_t bytes,
                     unsigned kind, uintptr_t pc, uint32_t oldest);
void simt_overwrite_settle(struct simt_thread *t);
void simt_race_fence(struct simt_thread *t, enum simt_scope scope);
void simt_race_publish(struct simt_thread *t, const void *at, bool replaces);
void simt_race_read_flag(struct simt_thread *t, const void *at, bool acquires);
void simt_race_met_lanes(struct simt_warp *warp, uint32_t lanes);
void simt_race_met_block(struct simt_block *block);
void simt_race_met_warps(struct simt_block *block, uint32_t came, uint32_t waited);
void simt_race_met_cluster(struct simt_cluster *cluster);
void simt_race_reset(void);

/* vector_clock.c.  covers: whether the access that a cell stands for is known; reader: the block of
 * who asks. */
void simt_vector_clock_add(struct simt_vector_clock *clock,
                           const struct simt_vector_clock_entry *what);
void simt_vector_clock_merge(struct simt_vector_clock *clock, const struct simt_vector_clock *from);
void simt_vector_clock_clear(struct simt_vector_clock *clock);
bool simt_vector_clock_covers(const struct simt_vector_clock *clock, const struct simt_cell *cell,
                              uint32_t reader);
void simt_vector_clock_free(struct simt_vector_clock *clock);

enum simt_space { SIMT_GLOBAL, SIMT_SHARED, SIMT_BRANCH };
void simt_trace_add(struct simt_thread *t, enum simt_space space, unsigned kind, uintptr_t at,
                    size_t bytes, uintptr_t pc);
void simt_trace_flush(struct simt_warp *warp);
void simt_trace_free(struct simt_trace *trace);
/* A barrier or another meeting, once for the whole warp. */
void simt_trace_meeting(struct simt_warp *warp, bool barrier, uintptr_t pc);
void simt_profile_merge(struct simt_launch *launch, struct simt_worker *workers, int count);
void simt_profile_clear(void);

#endif
