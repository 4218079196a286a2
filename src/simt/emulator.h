/*
 * simt/emulator.h - the structs of the SIMT emulator: a launch, its workers, blocks, warps,
 * threads.
 *
 *     launch                one grid; blocks are started in order, or in an order given by a seed
 *       worker              an OS thread: one block runs at a time, others that wait are resident
 *         block             a slot with a stack per thread
 *           warp            collective operations of 32 lanes
 *             thread        a fiber
 *
 * A block's __shared__ memory is thread-local memory of the OS thread that runs it. When a worker
 * switches between resident blocks, it saves and restores this memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_EMULATOR_H
#define SIMT_EMULATOR_H

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
    SIMT_DEFAULT_SHARED_BYTES = 48 << 10, /* dynamic, unless a kernel requests more */
    SIMT_STEPS = 1 << 16                  /* basic blocks after which a thread yields by itself */
};

/* ---- Options (options.c) ---- */

enum { SIMT_MOST_DEVICES = 16 };

extern struct simt_options {
    uint64_t threads, seed, resident, memory_mib, sm, yield, weak, late, devices;
    bool profile, keep, check;
} simt_options;

/* ---- Device memory (memory.c) ---- */

enum simt_memory_kind { SIMT_MEMORY_DEVICE, SIMT_MEMORY_PINNED };

uint64_t simt_memory_total(void);
uint64_t simt_memory_used(void);
void *simt_memory_allocate(size_t bytes, enum simt_memory_kind kind);

/* The device to which an allocation belongs, and the pool that made it, or NULL; false for other
 * memory. */
struct simt_owner {
    int device;
    struct CUmemPoolHandle_st *pool;
};
void simt_memory_set_owner(const void *pointer, struct simt_owner owner);
bool simt_memory_owner(const void *pointer, struct simt_owner *owner);
bool simt_memory_release(void *pointer, enum simt_memory_kind kind);
/* The allocation that contains `pointer`, with its kind, or false. */
bool simt_memory_find(const void *pointer, void **base, size_t *bytes, enum simt_memory_kind *kind);
/* The nearest allocation that begins at or below, and the nearest one that begins above, or false.
 * They have the kind SIMT_MEMORY_DEVICE. */
bool simt_memory_below(const void *pointer, void **base, size_t *bytes);
bool simt_memory_above(const void *pointer, void **base, size_t *bytes);
/* Whether the bytes are within one allocation; true for all memory that is not device memory. */
bool simt_memory_holds(const void *pointer, size_t bytes);
void simt_memory_written(void *pointer, size_t bytes); /* by the host: it is now initialised */

/* The arena of device memory; in addition, for each 4 bytes, a byte `meta` and two cells. */
enum { SIMT_META_LIVE = 0x0f, SIMT_META_WRITTEN = 0xf0 }; /* one bit per byte */
extern uintptr_t simt_arena;
extern size_t simt_arena_bytes;
extern uint8_t *simt_meta;            /* [simt_arena_bytes / 4] */
extern struct simt_cells *simt_cells; /* [simt_arena_bytes / 4] */

/* ---- The last accesses to four bytes (race.c) ---- */

/* A block's clock: it counts barriers of the block, __syncwarp() of its warps and fences of its
 * threads. An access happened before such an event if its time is less than the event's. */
typedef uint32_t simt_time;

struct simt_cell {
    uint32_t serial; /* of the block; 0: no access */
    uint16_t thread;
    uint8_t bytes; /* one bit per byte of the four */
    uint8_t kind;  /* enum simt_access */
    simt_time time;
    uint32_t pc; /* relative to the module's begin */
};
struct simt_cells {
    struct simt_cell write, read;
};

enum simt_access {
    SIMT_READ = 0,
    SIMT_WRITE = 1,    /* bit */
    SIMT_STRONG = 2,   /* bit: atomic or volatile; two strong accesses never race */
    SIMT_CHANGE = 4,   /* bit: read-modify-write, such as atomicAdd() */
    SIMT_COUNTED = 64, /* bit: the profile has counted it before; not in cells */
    /* in a cell of reads that represents several readers: */
    SIMT_WARP_READ = 8,   /* lanes of one warp, at the time of the last */
    SIMT_BLOCK_READ = 16, /* threads of several warps since the block's last barrier */
    SIMT_GRID_READ = 32   /* threads of several blocks */
};

struct simt_vector_clock_entry { /* of a block: all that happened before a time */
    uint32_t serial;
    uint16_t thread;
    simt_time own, near;   /* ... by this thread; near: as seen by threads of its block */
    simt_time warp, block; /* ... by its warp, by all of the block */
};
struct simt_vector_clock {
    struct simt_vector_clock_entry *known;
    uint32_t count, capacity;
    bool all; /* too many entries to keep: everything counts as known */
};

/* ---- Threads and their synchronisation ---- */

struct simt_where {    /* a place in memory, for messages */
    const char *space; /* "global", "shared" */
    const char *name;  /* of the variable, or NULL */
    size_t offset; /* bytes from the beginning of the variable, the allocation or shared memory */
};

enum simt_wait { SIMT_RUNS, SIMT_AT_WARP, SIMT_AT_BARRIER, SIMT_AT_CLUSTER, SIMT_ENDED };

struct simt_copy { /* asynchronous, not yet performed (async.c) */
    void *to;
    const void *from;
    uint32_t bytes, group; /* group: of its thread; 0: none yet */
    uintptr_t pc;
    uint64_t *barrier; /* of a bulk copy, with the thread that began it */
    struct simt_thread *by;
    struct simt_vector_clock_entry released;
};
struct simt_copies {
    struct simt_copy *of;
    uint32_t count, capacity;
    uint32_t groups; /* begun so far */
};

/* Stores to global memory that other blocks do not see yet (weak.c), in program order. While the
 * block runs, memory contains them; while it is suspended, memory contains the previous bytes. */
enum { SIMT_MOST_STORES = 256 };
struct simt_stores {
    struct simt_store {
        char *at;
        uint8_t bytes; /* at most 16 */
        uint16_t thread;
        simt_time time;
        char other[16]; /* previous bytes, or those of the store while the block is suspended */
    } * of;             /* [SIMT_MOST_STORES] */
    uint32_t count;
    bool hidden; /* the block is suspended */
};

struct simt_thread { /* frequently used fields first */
    struct simt_fiber fiber;
    struct simt_block *block;
    struct simt_warp *warp;
    uint32_t number; /* in the block */
    uint32_t lane;
    uint32_t steps; /* basic blocks since it was last resumed; counted with a profile */
    enum simt_wait waits;
    const void *polled; /* the address of its last atomic or volatile access */
    const void *looked; /* ... by its last atomic or volatile read of global memory */
    bool overwrites;    /* see overwrite */
    bool waited;        /* for earlier launches, or need not */
    uintptr_t pc;       /* in the kernel, where it waits or last accessed memory */
    /* the collective operation in which it waits, or its last one, and the result */
    uint64_t value, result;
    uintptr_t warp_pc;
    enum simt_warp_op op;
    uint32_t mask;
    unsigned source, barrier;
    uint32_t index[3];
    uint64_t cluster_phase;
    bool cluster_arrived;
    simt_time wrote;                         /* time of its last write to global memory */
    struct simt_vector_clock_entry released; /* released by its flags: all before its last fence */
    const void *flag;      /* the last flag that it read, as an atomic or volatile */
    uint32_t flag_version; /* of the flag's releases at that time */
    uint64_t known[2];     /* the words (cells.h) of an access that is ordered before its actions */
    /* The next thread that uses this slot keeps the memory of what follows. */
    struct simt_vector_clock acquired, unacquired; /* unacquired: read from flags, no fence since */
    struct { /* a write over another thread's write: harmless if the value is the same */
        const void *at;
        char old[16];
        size_t bytes;
        uintptr_t pc;
        struct simt_cell other;
        struct simt_where where;
    } overwrite;
    struct simt_trace *trace; /* profile.c */
    struct simt_copies copies;
};

struct simt_meet { /* lanes of a warp that have arrived at one operation */
    uint32_t mask, arrived;
    enum simt_warp_op op;
    bool apart; /* from different instructions */
    uintptr_t pc;
};

struct simt_warp {
    struct simt_block *block;
    struct simt_thread *threads; /* [lanes] */
    uint32_t number, lanes;      /* lanes: fewer than 32 in the last warp */
    uint32_t ready, ended, exists;
    struct simt_meet meets[SIMT_LANES];
    uint32_t meet_count;
    uint32_t last;                     /* the lane that ran last */
    bool descends;                     /* its lanes run from the last one to the first */
    simt_time met;                     /* when all its lanes last synchronised */
    simt_time (*pair_met)[SIMT_LANES]; /* [32][32], after only some of them have synchronised */
    struct simt_vector_clock acquired;
};

struct simt_barrier {
    uint32_t arrived, expected; /* threads; expected 0: all of the block */
    int count;                  /* of votes that are not 0 */
    uintptr_t pc;               /* of the first arrival */
    uint32_t first;
    uint32_t warps; /* that arrived */
};

struct simt_cluster {
    struct simt_block **blocks; /* [count], by rank */
    uint32_t count;
    uint32_t alive; /* threads of the cluster that have not ended */
    uint32_t arrived;
    uint64_t phase;
    uint32_t slots_left; /* blocks that are not over */
};

struct simt_block {
    struct simt_launch *launch;
    struct simt_worker *worker;
    const struct simt_loaded *module; /* of the launch */
    uint32_t index[3];
    uint64_t number; /* in the grid */
    uint32_t serial; /* unique among all blocks ever started, ascending; not 0 */
    uint32_t oldest; /* the minimum serial of its cluster */
    /* quick_access() in access.c does all that plain accesses need; profiled: they are counted. */
    bool quick_shared, quick_global, profiled;
    struct simt_thread *threads;
    struct simt_warp warps[SIMT_MOST_WARPS];
    uint32_t thread_count, warp_count;
    uint32_t ready_warps; /* one bit per warp */
    uint32_t warp_order[SIMT_MOST_WARPS], order_of[SIMT_MOST_WARPS];
    uint32_t warp_descends;          /* one bit per warp: its lanes run in descending order */
    struct simt_thread *next_thread; /* to run next; NULL: any */
    struct simt_warp *last_warp;     /* that ran before the worker took over */
    uint32_t alive;
    uint32_t idle_yields; /* consecutive yields without any other action of a thread */
    struct simt_barrier barriers[SIMT_BARRIERS];
    int vote;             /* the result of the last voting barrier: the number of votes */
    bool vote_all;        /* ... and whether it was unanimous: threads may have ended since */
    simt_time clock, met; /* met: at the last barrier of all threads */
    uint32_t fences;      /* of the device, since then */
    struct simt_vector_clock acquired;
    struct simt_cluster *cluster;
    uint32_t rank;          /* in the cluster */
    uint32_t ended_checked; /* threads that had ended at the last check, for a barrier at ... */
    uintptr_t ended_pc;
    uint32_t looks; /* repeated reads of flags in global memory */
    bool polls;     /* all its threads polled when it ran last */
    bool over;
    /* shared memory: all of the module's */
    char *saved;              /* while another block runs on the worker */
    struct simt_cells *cells; /* per 4 bytes */
    uint8_t *written;         /* per byte */
    size_t capacity;          /* bytes of saved and written */
    struct simt_copies bulk;
    struct simt_stores stores;
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
    uint64_t random;      /* state of simt_draw() */
    uint32_t until_yield; /* global stores and atomics before the block gives way */
    bool gave_way;        /* ... since the last round */
    uint64_t clock;       /* for clock64() */
    uint64_t long_steps;  /* how often threads yielded because they ran for long */
    uint64_t events;      /* all actions of its threads other than yielding */
};

struct simt_launch {
    struct simt_function *function;
    void *const *parameters;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t thread_count, cluster_blocks;
    uint64_t block_count;
    uint32_t shared_bytes;
    bool cooperative;
    bool early;            /* threads must wait for earlier launches before they access memory */
    uint32_t first_serial; /* of this launch's blocks */
    atomic_uint_fast32_t serials_taken;
    uint32_t *number_of;       /* [2 * block_count]: the block with serial first_serial + i */
    uint64_t *order;           /* a permutation of the clusters, or NULL */
    atomic_uint_fast64_t next; /* the next cluster to start */
    atomic_int idle_workers;   /* that can only wait for others */
    atomic_bool failed;        /* blocks are abandoned */
    atomic_bool no_memory;     /* this machine has no memory for a block or another record */
    atomic_bool faulted;       /* the launch fails at its end */
    const struct simt_finding *first_finding;
    int workers;
    uint32_t most_resident;
    uint64_t nanoseconds;
};

extern _Thread_local struct simt_thread *simt_self __attribute__((tls_model("initial-exec")));
/* Basic blocks that the thread may still run before it yields by itself. */
extern _Thread_local int32_t simt_steps_left __attribute__((tls_model("initial-exec")));

/* ---- schedule.c: suspending a thread ---- */

/* Runs the block until it is over, or no thread in it can continue by itself. */
void simt_block_run(struct simt_block *block);
void simt_wait(struct simt_thread *thread, enum simt_wait why, uintptr_t pc);
void simt_give_way(struct simt_thread *thread, uintptr_t pc);
void simt_wake(struct simt_thread *thread);
/* Other blocks run if threads of this one read the same flags again, with warp operations in
 * between: it is waiting for other blocks. */
void simt_look_again(struct simt_thread *thread, const void *at, uintptr_t pc);
/* Another resident block runs; called before a global store or atomic with the option yield. */
void simt_let_others_see(struct simt_thread *thread, bool strong, uintptr_t pc);
/* Records an action in the block other than yielding. */
static inline void simt_event(struct simt_block *block)
{
    block->idle_yields = 0;
    block->worker->events++;
}
/* The thread has ended: first other threads stop waiting for it, then it is suspended forever. */
void simt_stop(struct simt_thread *thread);
void simt_leave_for_good(struct simt_thread *thread) __attribute__((noreturn));
/* Ends the launch, called by a thread. */
void simt_abandon(struct simt_thread *thread) __attribute__((noreturn));

/* ---- block.c, warp.c, cluster.c ---- */

void simt_block_begin(struct simt_block *block);
void simt_warp_ended(struct simt_warp *warp);                 /* one more of its lanes has ended */
uint32_t simt_warp_arrived(const struct simt_thread *thread); /* at its operation */
void simt_cluster_ended(struct simt_block *block);
/* Reports which threads wait at which place, for a block in which no thread can continue. */
void simt_block_explain(struct simt_block *block);

/* ---- launch.c ---- */

bool simt_launch_run(struct simt_launch *launch);
/* This machine has no memory for a record of the launch: it fails, and reports no findings from now
 * on, because synchronisation without a record would look like a race. */
void simt_no_memory(struct simt_launch *launch);
/* A pseudorandom number less than `below`. */
uint32_t simt_draw(uint64_t *state, uint32_t below);
void simt_launch_close(void);

/* ---- fault.c: findings ---- */

/* Records a finding at a place in the kernel; the first of each line and kind is stored as text. A
 * thread that cannot continue then calls simt_abandon(). */
void simt_found(enum simt_fault kind, struct simt_launch *launch, const struct simt_thread *thread,
                uintptr_t pc, const char *format, ...) __attribute__((format(printf, 5, 6)));
void simt_thread_name(const struct simt_thread *thread, char *text, size_t bytes);
void simt_other_name(const struct simt_thread *thread, const struct simt_cell *other, char *text,
                     size_t bytes);
void simt_findings_clear(void);

/* ---- where.c ---- */

/* The description of an address in global or shared memory. */
void simt_locate(const struct simt_thread *t, const void *at, struct simt_where *where);

/* ---- access.c, race.c, profile.c ---- */

/* Called for every memory access of a kernel; returns when the access may be executed. */
void simt_access(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc);

/* A read of a flag by an atomic or volatile access; a repeated one gives way first. */
void simt_flag_read(const void *at, size_t bytes, bool acquires, uintptr_t pc);
/* Records an atomic operation on global memory again, after simt_access(), and excludes other
 * workers from these bytes until it has been executed. */
atomic_flag *simt_flag_hold(struct simt_thread *t, const void *at, size_t bytes, unsigned kind,
                            uintptr_t pc);
void simt_flag_release(atomic_flag *held);
/* Shared memory of the block becomes uninitialised, or initialised. */
void simt_shared_forget(struct simt_thread *t, const void *at, size_t bytes);
void simt_shared_written(struct simt_thread *t, const void *at, size_t bytes);

/* ---- weak.c: stores that become visible to other blocks late ---- */

void simt_weak_store(struct simt_thread *t, void *at, size_t bytes);  /* is about to be executed */
void simt_weak_change(struct simt_thread *t, void *at, size_t bytes); /* before an atomic */
void simt_weak_fence(struct simt_thread *t); /* makes stores visible that are ordered before */
void simt_weak_hide(struct simt_block *block);
void simt_weak_show(struct simt_block *block);
void simt_weak_flush(struct simt_block *block);
/* Makes some stores visible, at random. */
void simt_weak_drain(struct simt_block *block);

/* cells: of the 4 bytes that contain `at`. Accesses of blocks before the serial number `oldest` are
 * ignored: these blocks belong to another launch, or used the shared memory before. */
void simt_race_check(struct simt_thread *t, struct simt_cells *cells, const void *at, size_t bytes,
                     unsigned kind, uintptr_t pc, uint32_t oldest);
/* Whether the access of a cell is ordered before what the thread does now. */
bool simt_race_ordered(const struct simt_cell *cell, const struct simt_thread *t);
void simt_overwrite_settle(struct simt_thread *t);
void simt_race_fence(struct simt_thread *t, enum simt_scope scope);
void simt_race_publish(struct simt_thread *t, const void *at, bool replaces);
void simt_race_read_flag(struct simt_thread *t, const void *at, bool acquires);
void simt_race_met_lanes(struct simt_warp *warp, uint32_t lanes);
void simt_race_met_block(struct simt_block *block);
void simt_race_met_warps(struct simt_block *block, uint32_t came, uint32_t waited);
void simt_race_met_cluster(struct simt_cluster *cluster);
void simt_race_reset(void);

/* vector_clock.c. covers: whether the access of a cell is known; reader: the serial of the querying
 * block. */
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
/* A barrier or another synchronisation, recorded once for the whole warp. */
void simt_trace_meeting(struct simt_warp *warp, bool barrier, uintptr_t pc);
/* ---- record.c: what the warps of one block do ---- */

bool simt_records(const struct simt_block *block); /* whether it is the recorded block */
/* A new event, whose other fields are 0; NULL: not recorded. */
struct simt_event *simt_record_add(const struct simt_warp *warp, enum simt_event_kind kind,
                                   uint32_t lanes, uintptr_t pc);
void simt_record_shared(struct simt_event *event, const struct simt_block *block, uint64_t offset);
void simt_record_operation(const struct simt_warp *warp, enum simt_warp_op op, uint32_t lanes,
                           uintptr_t pc);
void simt_record_barrier(const struct simt_block *block, uint32_t warps, uintptr_t pc);

/* ---- profile.c: all launches ---- */

void simt_profile_merge(struct simt_launch *launch, struct simt_worker *workers, int count);
void simt_profile_clear(void);

#endif
