/*
 * cpu/parallel.c - the only file that starts threads: a pool of workers for parallel loops.
 *
 *     worker    a thread that waits in the pool: it spins for SPIN_NS, or for LONG_SPIN_NS while
 *               the program waits for a call, then it sleeps
 *     team      the caller of a loop, which is number 0, and the workers that it took from the pool
 *
 * A loop takes idle workers, up to the number of threads that it may use, and starts new ones if
 * the pool has never had so many. Each member of the team takes the next i until none is left. A
 * loop that runs in several threads of the program at once shares the workers with the other loops,
 * and runs only on the calling thread if there are none: a loop never waits for a worker to be free
 * or to wake up, so a worker that has not begun when the caller has finished is taken back.
 *
 * Sleeping workers are woken as a tree: number i wakes 2 i + 1 and 2 i + 2.
 *
 * The first context that opens starts nothing; the last one that closes ends all workers. A child
 * process that fork() creates has an empty pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* syscall, pthread_setname_np */
#include "cpu/cpu.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_WORKERS = 511,
    STACK_BYTES = 1 << 20,
    SPIN_NS = 50000,        /* then the thread sleeps; waking it takes 5 to 50 us */
    LONG_SPIN_NS = 1 << 20, /* the same during a call, which may have further loops */
    SPINS_A_READ = 16,      /* between two reads of the clock */
    CALLS_A_RETRY = 1000,   /* loops after which threads are started again if none could be */
};

/* ---- Waiting ---- */

/* Sleeps while *word is value; may return early. */
static void sleep_while(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline void relax(void)
{
#ifdef __SSE2__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static atomic_int calls;   /* calls in progress that use several threads */
static atomic_int callers; /* threads of the program that run calls which may use several threads */
static _Thread_local int depth; /* such calls on this thread: callbacks may call the library */

/* Reads *word until it differs from value or the time to spin has passed. */
static unsigned spin_while(const atomic_uint *word, unsigned value)
{
    const uint64_t begin = now_ns();
    uint64_t spent;
    do {
        for (int i = 0; i < SPINS_A_READ; i++) {
            unsigned found = atomic_load_explicit(word, memory_order_acquire);
            if (found != value) return found;
            relax();
        }
        spent = now_ns() - begin;
    } while (spent < SPIN_NS ||
             (spent < LONG_SPIN_NS && atomic_load_explicit(&calls, memory_order_relaxed) > 0));
    return value;
}

/* ---- Workers ---- */

/* The states of a worker, its futex. The caller of a loop moves it from IDLE or ASLEEP to GIVEN,
 * and back if the worker is late; all other steps are the worker's. */
enum { IDLE, ASLEEP, GIVEN, TAKEN, STOP };

struct team;

struct worker {
    _Alignas(64) atomic_uint state;
    /* In the first worker of a team: the members that have not finished, and WAITED. */
    atomic_uint left;
    struct team *team;
    int number; /* in the team */
    pthread_t thread;
    struct worker *next; /* in the pool */
    unsigned mask;       /* number of the affinity mask that this thread has */
};

#define WAITED 0x80000000u /* the caller sleeps until the members have finished */

struct team {
    void (*run)(void *arg, size_t i, int thread);
    void *arg;
    size_t count;
    int workers;
    bool asleep[MOST_WORKERS];
    struct worker *worker[MOST_WORKERS];
    _Alignas(64) atomic_size_t next;
};

static struct {
    pthread_mutex_t lock;
    int contexts, count, pause; /* contexts open, workers, loops until threads are started again */
    struct worker *idle;
    struct worker workers[MOST_WORKERS];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void wake_number(struct team *t, int number)
{
    if (number <= t->workers && t->asleep[number - 1]) wake(&t->worker[number - 1]->state);
}

static void run_some(struct team *t, int number)
{
    wake_number(t, 2 * number + 1);
    wake_number(t, 2 * number + 2);
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i >= t->count) return;
        t->run(t->arg, i, number);
    }
}

static void finish(struct worker *first)
{
    if (atomic_fetch_sub_explicit(&first->left, 1, memory_order_acq_rel) == (1 | WAITED))
        wake(&first->left);
}

static void work(struct worker *w)
{
    struct team *t = w->team;
    struct worker *first = t->worker[0];
    echi_processors_follow(&w->mask);
    run_some(t, w->number);
    atomic_store_explicit(&w->state, IDLE, memory_order_release);
    finish(first); /* the team may no longer exist now */
}

static void *live(void *argument)
{
    struct worker *w = argument;
    pthread_setname_np(pthread_self(), "echelon");
    for (;;) {
        unsigned state = spin_while(&w->state, IDLE);
        if (state == IDLE && atomic_compare_exchange_strong(&w->state, &state, ASLEEP))
            state = ASLEEP;
        while (state == ASLEEP) {
            sleep_while(&w->state, ASLEEP);
            state = atomic_load_explicit(&w->state, memory_order_acquire);
        }
        if (state == STOP) return NULL;
        if (state == GIVEN && atomic_compare_exchange_strong(&w->state, &state, TAKEN)) work(w);
    }
}

/* Starts a worker. The signals of the program are for the program's threads, except those that an
 * instruction of the worker causes. */
static bool start(struct worker *w)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    atomic_store(&w->state, IDLE);
    w->mask = 0;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&w->thread, &attributes, live, w);
    if (error == EINVAL) /* the thread-local data of the program needs more */
        error = pthread_create(&w->thread, NULL, live, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* Whether the pool may start a further worker for a team of this many. All teams together have no
 * more threads than there are processors, unless a team needs more. */
static bool may_start(int wanted)
{
    if (pool.pause || pool.count == MOST_WORKERS) return false;
    return pool.count < wanted ||
           pool.count + atomic_load_explicit(&callers, memory_order_relaxed) <
               echi_processors_at_start();
}

/* Moves up to `wanted` workers from the pool to the team. */
static void gather(struct team *t, int wanted)
{
    pthread_mutex_lock(&pool.lock);
    while (t->workers < wanted && pool.idle) {
        t->worker[t->workers++] = pool.idle;
        pool.idle = pool.idle->next;
    }
    if (pool.pause) pool.pause--;
    while (t->workers < wanted && may_start(wanted)) {
        struct worker *w = &pool.workers[pool.count];
        if (!start(w)) {
            pool.pause = CALLS_A_RETRY;
            break;
        }
        pool.count++;
        t->worker[t->workers++] = w;
    }
    pthread_mutex_unlock(&pool.lock);
}

static void give(struct team *t)
{
    atomic_store_explicit(&t->worker[0]->left, (unsigned)t->workers, memory_order_relaxed);
    for (int i = 0; i < t->workers; i++) {
        struct worker *w = t->worker[i];
        w->team = t;
        w->number = i + 1;
    }
    for (int i = t->workers; i-- > 0;) /* a worker that has begun reads the flags of later ones */
        t->asleep[i] = atomic_exchange(&t->worker[i]->state, GIVEN) == ASLEEP;
}

/* Takes back the workers that have not begun, waits for the others, and returns all to the pool. */
static void disband(struct team *t)
{
    struct worker *first = t->worker[0];
    for (int i = 0; i < t->workers; i++) {
        unsigned state = GIVEN;
        if (atomic_compare_exchange_strong(&t->worker[i]->state, &state,
                                           t->asleep[i] ? ASLEEP : IDLE))
            atomic_fetch_sub_explicit(&first->left, 1, memory_order_relaxed);
    }
    for (;;) {
        unsigned left = atomic_load_explicit(&first->left, memory_order_acquire);
        if (!left || left == WAITED) break;
        if (!(left & WAITED)) {
            if (spin_while(&first->left, left) != left) continue;
            if (!atomic_compare_exchange_strong(&first->left, &left, left | WAITED)) continue;
            left |= WAITED;
        }
        sleep_while(&first->left, left);
    }
    pthread_mutex_lock(&pool.lock);
    for (int i = t->workers; i-- > 0;) {
        t->worker[i]->next = pool.idle;
        pool.idle = t->worker[i];
    }
    pthread_mutex_unlock(&pool.lock);
}

void echi_parallel_team(int threads, size_t count, void (*run)(void *arg, size_t i, int thread),
                        void *arg)
{
    struct team t;
    const size_t wanted = echi_min((size_t)threads, count);
    t.workers = 0;
    gather(&t, (int)echi_min(wanted - 1, MOST_WORKERS));
    if (!t.workers) {
        for (size_t i = 0; i < count; i++) run(arg, i, 0);
        return;
    }
    t.run = run;
    t.arg = arg;
    t.count = count;
    atomic_init(&t.next, 0);
    give(&t);
    run_some(&t, 0);
    disband(&t);
}

/* ---- Life of the pool ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The thread that called fork() is the only one in the child. */
static void in_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pool.idle = NULL;
    pool.count = pool.pause = 0;
    atomic_store(&calls, 0);
    atomic_store(&callers, depth > 0);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

void echi_parallel_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&pool.lock);
    pool.contexts++;
    pthread_mutex_unlock(&pool.lock);
}

/* No loop runs now: each needs an open context. */
void echi_parallel_close(void)
{
    pthread_mutex_lock(&pool.lock);
    if (--pool.contexts == 0) {
        for (int i = 0; i < pool.count; i++)
            if (atomic_exchange(&pool.workers[i].state, STOP) == ASLEEP)
                wake(&pool.workers[i].state);
        for (int i = 0; i < pool.count; i++) pthread_join(pool.workers[i].thread, NULL);
        pool.count = pool.pause = 0;
        pool.idle = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
}

/* ---- Within loops ---- */

void echi_parallel_pause(int times)
{
    enum { SPINS = 4000 }; /* about 100 us; then the other thread may need this processor */
    if (times >= SPINS) sched_yield();
    relax();
}

void echi_parallel_await(const atomic_size_t *counter, size_t value)
{
    for (int i = 0; atomic_load_explicit(counter, memory_order_acquire) != value; i++)
        echi_parallel_pause(i);
}

int echi_parallel_for_bytes(const ech_ctx *ctx, size_t bytes)
{
    const size_t each = (size_t)1 << 18; /* per thread; less is done before it is awake */
    const size_t worth = bytes / each;
    return worth <= 1 ? 1 : (int)echi_min(worth, (size_t)echi_threads(ctx));
}

/* The threads of a call without a limit: its share of the processors, which it divides with the
 * other threads of an OpenMP team, and with the other calls in progress. */
static int share(int now)
{
    const int team = echi_processors_team(), among = team > now ? team : now;
    const int each = echi_processors() / among;
    return each > 1 ? each : 1;
}

int echi_threads(const ech_ctx *ctx)
{
    if (*ctx->processors) return *ctx->processors;
    const int first = depth++ == 0;
    const int now = atomic_fetch_add_explicit(&callers, first, memory_order_relaxed) + first;
    *ctx->processors = ctx->threads ? ctx->threads : share(now);
    if (*ctx->processors > 1) atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return *ctx->processors;
}

void echi_threads_end(const ech_ctx *ctx)
{
    if (!*ctx->processors) return;
    if (*ctx->processors > 1) atomic_fetch_sub_explicit(&calls, 1, memory_order_relaxed);
    if (--depth == 0) atomic_fetch_sub_explicit(&callers, 1, memory_order_relaxed);
    *ctx->processors = 0;
}

int echi_vendor_threads(const ech_ctx *ctx)
{
    if (ctx->threads) return ctx->threads;
    if (echi_processors_limit() || echi_processors_team() > 1) return echi_threads(ctx);
    return 0;
}
