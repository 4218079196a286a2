/*
 * io/threads.c - a loop by several threads.
 *
 * The threads of the first loops wait for later ones, because a sort of a block of text has about
 * ten short loops, each of which would create and end its threads.  A thread that has finished
 * looks for another loop for some microseconds and then sleeps.  A loop that begins while another
 * one runs has threads of its own, which live no longer than the loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "io/threads.h"

#include "cpu/processors.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    MOST_THREADS = 64,
    LOOKS = 2000 /* of a thread before it sleeps; about 20 microseconds */
};

struct loop {
    atomic_int next;
    int count;
    void (*run)(void *arg, int i);
    void *arg;
};

static void *run_some(void *argument)
{
    struct loop *loop = argument;
    for (;;) {
        const int i = atomic_fetch_add(&loop->next, 1);
        if (i >= loop->count) return NULL;
        loop->run(loop->arg, i);
    }
}

/* ---- Threads that wait for loops ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed, done; /* a loop has begun, or all end; the last thread left the loop */
    struct loop *loop;
    atomic_int seats; /* threads that may still join the loop */
    int inside;       /* threads that run the loop */
    bool busy;        /* a loop has the threads */
    bool ending;
    pthread_t threads[MOST_THREADS];
    int started;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER };

static void pause_thread(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (atomic_load(&pool.seats) <= 0 && !pool.ending)
            pthread_cond_wait(&pool.changed, &pool.lock);
        if (pool.ending) break;
        atomic_fetch_sub(&pool.seats, 1);
        pool.inside++;
        struct loop *loop = pool.loop;
        pthread_mutex_unlock(&pool.lock);
        run_some(loop);
        pthread_mutex_lock(&pool.lock);
        if (--pool.inside == 0) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
        for (int i = 0; i < LOOKS && atomic_load_explicit(&pool.seats, memory_order_relaxed) <= 0;
             i++)
            pause_thread();
        pthread_mutex_lock(&pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* Ends the threads, at the end of the process; not if it ends within a loop. */
static void end_pool(void)
{
    pthread_mutex_lock(&pool.lock);
    const int started = pool.busy ? 0 : pool.started;
    pool.ending = started > 0;
    pool.started = 0;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < started; i++) pthread_join(pool.threads[i], NULL);
}

/* Creates a thread that runs no handlers of signals. */
static bool create(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool created = pthread_create(thread, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return created;
}

/* Begins a loop with helpers from the pool.  Returns false if another loop has them, or there
 * are none. */
static bool begin(struct loop *loop, int helpers)
{
    pthread_mutex_lock(&pool.lock);
    const bool mine = !pool.busy && !pool.ending;
    if (mine) {
        if (!pool.started && atexit(end_pool) != 0) helpers = 0;
        while (pool.started < helpers && create(&pool.threads[pool.started], serve, NULL))
            pool.started++;
        pool.busy = true;
        pool.loop = loop;
        atomic_store(&pool.seats, helpers);
        pthread_cond_broadcast(&pool.changed);
    }
    pthread_mutex_unlock(&pool.lock);
    return mine;
}

/* A thread that has not joined by now is not waited for. */
static void end(void)
{
    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.seats, 0);
    while (pool.inside) pthread_cond_wait(&pool.done, &pool.lock);
    pool.busy = false;
    pthread_mutex_unlock(&pool.lock);
}

/* ---- Loops ---- */

int io_threads(void)
{
    return echi_processors();
}

void io_for_each(int count, void (*run)(void *arg, int i), void *arg)
{
    io_for_each_by(0, count, run, arg);
}

static void run_with_own_threads(struct loop *loop, int helpers)
{
    pthread_t threads[MOST_THREADS];
    int started = 0;
    while (started < helpers && create(&threads[started], run_some, loop)) started++;
    run_some(loop);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

void io_for_each_by(int limit, int count, void (*run)(void *arg, int i), void *arg)
{
    struct loop loop = { .count = count, .run = run, .arg = arg };
    int wanted = limit > 0 ? limit : io_threads();
    if (wanted > count) wanted = count;
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    if (wanted <= 1) {
        run_some(&loop);
    } else if (begin(&loop, wanted - 1)) {
        run_some(&loop);
        end();
    } else {
        run_with_own_threads(&loop, wanted - 1);
    }
}
