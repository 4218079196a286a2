/*
 * simt/launch.c - runs a grid: workers take clusters of blocks (usually of one block) in order and
 * run them to their end.
 *
 * A block in which all threads wait for memory that another block must write stays resident while
 * the worker begins the next block, up to a number given by an option. So a look-back makes
 * progress if the preceding blocks have begun, or begin soon, and a cooperative grid, which is
 * completely resident, can synchronise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* MAP_NORESERVE */
#include "core/poison.h"
#include "simt/emulator.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
enum { STACK_BYTES = 256 << 10 };
#else
enum { STACK_BYTES = 64 << 10 };
#endif

/* Stacks that all begin at the same offset within a page would share a few cache sets. Therefore
 * the stride includes an odd number of cache lines, so 64 neighbours use 64 different sets. */
enum { STACK_STRIDE = STACK_BYTES + 5 * 64 };

/* Otherwise a stack overflow could remain unnoticed until another fiber runs. */
#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(begin, end) ((void)0)
#endif

enum {
    IDLE_ROUNDS = 2000,       /* rounds without progress after which the launch is deadlocked */
    PATIENT_ROUNDS = 100,     /* before the next block begins: another worker may make progress */
    MOST_LONG_STEPS = 1 << 14 /* how often threads may run for long without an observable action */
};

/* The initial contents of __shared__ memory. */
enum { GARBAGE = 0xa5 };

/* ---- Slots: the memory of a block, reused for the next ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct simt_block *free_slots;
static uint32_t serials = 1;
static uint64_t launches; /* so far */

static void *reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void destroy_slot(struct simt_block *b)
{
    if (b->stacks) munmap(b->stacks, (size_t)SIMT_MOST_THREADS * STACK_STRIDE);
    if (b->saved) munmap(b->saved, b->capacity);
    if (b->written) munmap(b->written, b->capacity);
    if (b->cells) munmap(b->cells, b->capacity / 4 * sizeof *b->cells);
    for (int i = 0; b->threads && i < SIMT_MOST_THREADS; i++) {
        simt_vector_clock_free(&b->threads[i].acquired);
        simt_vector_clock_free(&b->threads[i].unacquired);
        simt_trace_free(b->threads[i].trace);
        free(b->threads[i].copies.of);
    }
    for (int i = 0; i < SIMT_MOST_WARPS; i++) {
        simt_vector_clock_free(&b->warps[i].acquired);
        free(b->warps[i].pair_met);
    }
    simt_vector_clock_free(&b->acquired);
    free(b->bulk.of);
    free(b->stores.of);
    if (b->threads) munmap(b->threads, SIMT_MOST_THREADS * sizeof *b->threads);
    free(b);
}

static struct simt_block *create_slot(size_t shared)
{
    struct simt_block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->capacity = (shared + 0xffff) & ~(size_t)0xffff;
    b->threads = reserve(SIMT_MOST_THREADS * sizeof *b->threads); /* aligned, and zero */
    b->stacks = reserve((size_t)SIMT_MOST_THREADS * STACK_STRIDE);
    b->saved = reserve(b->capacity);
    b->written = reserve(b->capacity);
    b->cells = reserve(b->capacity / 4 * sizeof *b->cells);
    if (!b->threads || !b->stacks || !b->saved || !b->written || !b->cells) {
        destroy_slot(b);
        return NULL;
    }
    for (int i = 0; i < SIMT_MOST_THREADS; i++) {
        b->threads[i].fiber.stack = b->stacks + (size_t)i * STACK_STRIDE;
        b->threads[i].fiber.bytes = STACK_BYTES;
        VALGRIND_STACK_REGISTER(b->threads[i].fiber.stack, b->threads[i].fiber.stack + STACK_BYTES);
    }
    return b;
}

static struct simt_block *take_slot(size_t shared)
{
    pthread_mutex_lock(&lock);
    struct simt_block *b = free_slots;
    if (b) free_slots = b->next;
    pthread_mutex_unlock(&lock);
    if (b && b->capacity < shared) {
        destroy_slot(b);
        b = NULL;
    }
    return b ? b : create_slot(shared);
}

static void give_slot(struct simt_block *b)
{
    pthread_mutex_lock(&lock);
    b->next = free_slots;
    free_slots = b;
    pthread_mutex_unlock(&lock);
}

void simt_launch_close(void)
{
    while (free_slots) {
        struct simt_block *b = free_slots;
        free_slots = b->next;
        destroy_slot(b);
    }
}

/* ---- Order ---- */

/* splitmix64 (Steele, Lea, Flood 2014), reduced to a range. */
uint32_t simt_draw(uint64_t *state, uint32_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(((z ^ z >> 31) >> 32) * below >> 32);
}

static void order_warps(struct simt_block *b)
{
    uint64_t state = simt_options.seed * 0x2545f4914f6cdd1d + b->number;
    for (uint32_t i = 0; i < b->warp_count; i++) b->warp_order[i] = i;
    if (simt_options.seed)
        for (uint32_t i = b->warp_count; i > 1; i--) {
            uint32_t j = simt_draw(&state, i), other = b->warp_order[j];
            b->warp_order[j] = b->warp_order[i - 1];
            b->warp_order[i - 1] = other;
        }
    for (uint32_t i = 0; i < b->warp_count; i++) b->order_of[b->warp_order[i]] = i;
    b->warp_descends = simt_options.seed ? simt_draw(&state, 1u << 16) * 0x10001u : 0;
}

static bool order_clusters(struct simt_launch *l)
{
    uint64_t count = l->block_count / l->cluster_blocks, state = simt_options.seed;
    if (simt_options.yield || simt_options.weak) return true; /* many waits: keep them short */
    if (!simt_options.seed || count < 2 || count > UINT32_MAX) return true;
    l->order = malloc(count * sizeof *l->order);
    if (!l->order) return false;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t j = simt_draw(&state, (uint32_t)i + 1);
        l->order[i] = l->order[j];
        l->order[j] = i;
    }
    return true;
}

/* ---- The blocks of a worker ---- */

static void place_block(struct simt_launch *l, struct simt_block *b, uint64_t cluster,
                        uint32_t rank)
{
    uint32_t across[3], inside[3];
    for (int d = 0; d < 3; d++) across[d] = l->grid[d] / l->cluster[d];
    inside[0] = rank % l->cluster[0];
    inside[1] = rank / l->cluster[0] % l->cluster[1];
    inside[2] = rank / l->cluster[0] / l->cluster[1];
    b->index[0] = (uint32_t)(cluster % across[0]) * l->cluster[0] + inside[0];
    b->index[1] = (uint32_t)(cluster / across[0] % across[1]) * l->cluster[1] + inside[1];
    b->index[2] = (uint32_t)(cluster / across[0] / across[1]) * l->cluster[2] + inside[2];
    b->number = ((uint64_t)b->index[2] * l->grid[1] + b->index[1]) * l->grid[0] + b->index[0];
    b->rank = rank;
}

/* Later than the times of all blocks that had the slot before. */
static void number_block(struct simt_launch *l, struct simt_block *b)
{
    uint32_t taken = (uint32_t)atomic_fetch_add(&l->serials_taken, 1);
    l->number_of[taken] = (uint32_t)b->number;
    b->serial = b->oldest = l->first_serial + taken;
}

/* The parts of the module's shared memory that a launch uses: the memory before the dynamic part,
 * as many bytes of that as the launch gives, and the memory after it. */
struct part {
    size_t offset, bytes;
};

static void list_parts(const struct simt_launch *l, struct part parts[3])
{
    const struct simt_loaded *m = l->function->module;
    size_t end = m->dynamic + SIMT_MOST_SHARED_BYTES;
    parts[0] = (struct part){ 0, m->dynamic };
    parts[1] = (struct part){ m->dynamic, l->shared_bytes };
    parts[2] = (struct part){ end, m->shared_bytes - end };
}

static struct simt_block *begin_block(struct simt_worker *w, uint64_t cluster, uint32_t rank)
{
    struct simt_launch *l = w->launch;
    struct simt_block *b = take_slot(l->function->module->shared_bytes);
    if (!b) return NULL;
    b->launch = l;
    b->worker = w;
    b->module = l->function->module;
    b->thread_count = l->thread_count;
    b->warp_count = (l->thread_count + SIMT_LANES - 1) / SIMT_LANES;
    b->cluster = NULL;
    place_block(l, b, cluster, rank);
    number_block(l, b);
    order_warps(b);
    struct part parts[3];
    list_parts(l, parts);
    for (int i = 0; i < 3; i++) {
        memset(b->saved + parts[i].offset, GARBAGE, parts[i].bytes);
        memset(b->written + parts[i].offset, 0, parts[i].bytes);
    }
    simt_block_begin(b);
    b->next = w->resident;
    w->resident = b;
    w->resident_count++;
    return b;
}

void simt_no_memory(struct simt_launch *l)
{
    atomic_store(&l->no_memory, true);
    atomic_store(&l->failed, true);
}

static bool out_of_memory(struct simt_launch *l)
{
    simt_no_memory(l);
    return false;
}

/* Begins the blocks of the next cluster; false if there is none. */
static bool begin_cluster(struct simt_worker *w)
{
    struct simt_launch *l = w->launch;
    uint64_t cluster = atomic_fetch_add(&l->next, 1);
    if (cluster >= l->block_count / l->cluster_blocks) return false;
    if (l->order) cluster = l->order[cluster];
    if (l->cluster_blocks == 1) return begin_block(w, cluster, 0) ? true : out_of_memory(l);
    struct simt_cluster *c = calloc(1, sizeof *c);
    struct simt_block **blocks = calloc(l->cluster_blocks, sizeof *blocks);
    if (!c || !blocks) {
        free(c);
        free(blocks);
        return out_of_memory(l);
    }
    *c = (struct simt_cluster){ .blocks = blocks, .alive = l->cluster_blocks * l->thread_count };
    for (; c->count < l->cluster_blocks; c->count++) {
        struct simt_block *b = begin_block(w, cluster, c->count);
        if (!b) break;
        b->cluster = c;
        c->blocks[c->count] = b;
        c->slots_left++;
    }
    if (c->count == 0) { /* no block will free it when it leaves */
        free(blocks);
        free(c);
        return out_of_memory(l);
    }
    for (uint32_t i = 0; i < c->count; i++) { /* all have their slots now */
        number_block(l, c->blocks[i]);
        c->blocks[i]->oldest = c->blocks[0]->serial;
    }
    return c->count == l->cluster_blocks ? true : out_of_memory(l);
}

/* A block leaves the worker. Blocks of a cluster leave together, so that an access to one that has
 * ended is reported as such. */
static void retire(struct simt_worker *w)
{
    for (struct simt_block **at = &w->resident; *at;) {
        struct simt_block *b = *at;
        bool leaves = (b->over && !b->stores.count) || atomic_load(&w->launch->failed);
        if (leaves && b->cluster && !atomic_load(&w->launch->failed))
            for (uint32_t i = 0; i < b->cluster->count; i++) leaves &= b->cluster->blocks[i]->over;
        if (leaves) simt_weak_flush(b);
        if (leaves && simt_options.profile) /* of a block that has been abandoned */
            for (uint32_t i = 0; i < b->warp_count; i++) simt_trace_flush(&b->warps[i]);
        if (!leaves) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        w->resident_count--;
        if (w->current == b) w->current = NULL;
        if (b->cluster && --b->cluster->slots_left == 0) {
            free(b->cluster->blocks);
            free(b->cluster);
        }
        give_slot(b);
        if (b->cluster) at = &w->resident; /* the other blocks may leave now */
    }
}

static void swap_in(struct simt_worker *w, struct simt_block *b)
{
    struct simt_block *was = w->current;
    struct part parts[3];
    if (was == b) return;
    list_parts(w->launch, parts);
    for (int i = 0; i < 3; i++) {
        size_t at = parts[i].offset, bytes = parts[i].bytes;
        if (was) memcpy(was->saved + at, w->shared + at, bytes);
        memcpy(w->shared + at, b->saved + at, bytes);
    }
    w->current = b;
}

/* Runs each resident block until it waits or gives way; true if one ended. With the option yield, a
 * round omits some blocks, so their order varies, unless `all` must run. */
static bool run_round(struct simt_worker *w, bool all)
{
    bool ended = false;
    for (struct simt_block *b = w->resident; b; b = b->next) {
        if (simt_options.weak && b->stores.count) simt_weak_drain(b);
        ended |= b->over && !b->stores.count;
        if (b->over || !b->ready_warps) continue;
        if (simt_options.yield && !all && simt_draw(&w->random, 8) < (b->polls ? 6 : 2)) continue;
        b->polls = false;
        swap_in(w, b);
        simt_weak_show(b);
        simt_block_run(b);
        simt_weak_hide(b);
        w->gave_way |= b->over && b->stores.count;
        ended |= b->over && !b->stores.count;
        if (atomic_load(&w->launch->failed)) break;
    }
    return ended;
}

static bool any_is_ready(const struct simt_worker *w)
{
    for (const struct simt_block *b = w->resident; b; b = b->next)
        if (!b->over && b->ready_warps) return true;
    return false;
}

/* Called after a round without progress, if no block can be begun. True if there can be no more
 * progress. */
static bool is_stuck(struct simt_worker *w, unsigned rounds, bool *counted)
{
    struct simt_launch *l = w->launch;
    bool ready = any_is_ready(w);
    if (ready && rounds < IDLE_ROUNDS && w->long_steps < MOST_LONG_STEPS) return false;
    if (!*counted) atomic_fetch_add(&l->idle_workers, 1);
    *counted = true;
    if (atomic_load(&l->idle_workers) < l->workers) {
        sched_yield();
        return false;
    }
    return true;
}

static void explain_first(struct simt_worker *w)
{
    struct simt_block *b = w->resident;
    while (b && b->over) b = b->next;
    if (b) simt_block_explain(b);
    atomic_store(&w->launch->failed, true);
}

static void run_blocks(struct simt_worker *w)
{
    struct simt_launch *l = w->launch;
    uint64_t events = 0;
    unsigned rounds = 0;
    bool more = begin_cluster(w), counted = false, sure = false;
    while (w->resident && !atomic_load(&l->failed)) {
        bool ended = run_round(w, sure);
        if (ended || w->events != events) {
            events = w->events;
            rounds = 0;
            w->long_steps = 0;
            if (counted) atomic_fetch_sub(&l->idle_workers, 1);
            counted = sure = false;
        }
        if (ended) {
            retire(w);
            if (!w->resident && more) more = begin_cluster(w);
            continue;
        }
        if (w->gave_way) { /* blocks that run alternately see each other's intermediate states */
            w->gave_way = false;
            if (more && w->resident_count < l->most_resident) more = begin_cluster(w);
            continue;
        }
        rounds++;
        if (l->workers > 1) sched_yield();
        if (l->workers > 1 && rounds < PATIENT_ROUNDS) continue;
        if (rounds > 1 && more && w->resident_count < l->most_resident) {
            more = begin_cluster(w);
            rounds = 0;
        } else {
            bool stuck = is_stuck(w, rounds, &counted);
            if (stuck && sure) explain_first(w);
            sure = stuck; /* another worker may have made progress since this round, which each
                             block can see in the next one */
        }
    }
    if (!counted) atomic_fetch_add(&l->idle_workers, 1); /* it waits for no other worker */
    retire(w);
}

static void *run_worker(void *argument)
{
    struct simt_worker *w = argument;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a launch has a function */
    const struct simt_loaded *module = w->launch->function->module;
    w->shared = simt_module_shared(module);
    char *unused = w->shared + module->dynamic + w->launch->shared_bytes;
    size_t bytes = SIMT_MOST_SHARED_BYTES - w->launch->shared_bytes;
    simt_fiber_here(&w->fiber);
    ASAN_POISON_MEMORY_REGION(unused, bytes);
    run_blocks(w);
    ASAN_UNPOISON_MEMORY_REGION(unused, bytes);
    return NULL;
}

/* ---- The launch ---- */

static int count_workers(const struct simt_launch *l)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t workers =
        simt_options.threads ? simt_options.threads : (uint64_t)(processors > 0 ? processors : 1);
    uint64_t clusters = l->block_count / l->cluster_blocks;
    if (simt_options.weak) workers = 1; /* a suspended block's stores are taken back: see weak.c */
    return (int)(workers < clusters ? workers : clusters);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* False if this machine lacks memory; findings in the kernel set l->faulted. */
bool simt_launch_run(struct simt_launch *l)
{
    l->workers = count_workers(l);
    struct simt_worker *workers = calloc((size_t)l->workers, sizeof *workers);
    pthread_t *threads = calloc((size_t)l->workers, sizeof *threads);
    l->number_of = calloc(2 * l->block_count, sizeof *l->number_of); /* twice, for clusters */
    bool done = workers && threads && l->number_of && order_clusters(l);
    if (done) {
        if (2 * l->block_count > UINT32_MAX - serials) serials = 1; /* old cells look new: rare */
        l->first_serial = serials;
        serials += 2 * (uint32_t)l->block_count;
        l->most_resident = (uint32_t)(l->cooperative ? l->block_count : simt_options.resident);
        launches++;
        uint64_t begin = now();
        int started = 1;
        for (int i = 0; i < l->workers; i++) {
            workers[i].launch = l;
            workers[i].random =
                (simt_options.seed << 32 | launches) * 0x2545f4914f6cdd1d + (uint64_t)i;
        }
        for (; started < l->workers; started++)
            if (pthread_create(&threads[started], NULL, run_worker, &workers[started]) != 0) break;
        atomic_fetch_add(&l->idle_workers, l->workers - started); /* workers that did not start */
        run_worker(&workers[0]);
        for (int i = 1; i < started; i++) pthread_join(threads[i], NULL);
        l->nanoseconds = now() - begin;
        done = !atomic_load(&l->no_memory);
        simt_profile_merge(l, workers, l->workers);
        simt_race_reset();
        simt_tally_launch(l->function, l->block_count);
    }
    free(l->order);
    free(l->number_of);
    free(threads);
    free(workers);
    return done;
}
