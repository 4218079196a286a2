/*
 * io/threads.c - a loop by several threads, which are those of cpu/parallel.c: a second copy of the
 * pool that the library has, because its functions are not exported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"

#include "cpu/cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct loop {
    void (*run)(void *arg, int i);
    void *arg;
};

static atomic_int running; /* loops */

static void run_one(void *argument, size_t i, int thread)
{
    const struct loop *loop = argument;
    (void)thread;
    loop->run(loop->arg, (int)i);
}

/* At the end of the process, but not if it ends within a loop, whose thread would be waited for. */
static void close_pool(void)
{
    if (!atomic_load(&running)) echi_parallel_close();
}

static void open_pool(void)
{
    echi_parallel_open();
    atexit(close_pool);
}

int io_threads(void)
{
    return echi_processors();
}

void io_for_each(int count, void (*run)(void *arg, int i), void *arg)
{
    io_for_each_by(0, count, run, arg);
}

void io_for_each_by(int limit, int count, void (*run)(void *arg, int i), void *arg)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct loop loop = { run, arg };
    pthread_once(&once, open_pool);
    atomic_fetch_add(&running, 1);
    echi_parallel(limit > 0 ? limit : io_threads(), count > 0 ? (size_t)count : 0, run_one, &loop);
    atomic_fetch_sub(&running, 1);
}
