/*
 * io/threads.c - a loop by several threads, which live no longer than the loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"

#include "cpu/processors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { MOST_THREADS = 64 };

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
    struct loop loop = { .count = count, .run = run, .arg = arg };
    pthread_t threads[MOST_THREADS];
    int started = 0, wanted = limit > 0 ? limit : io_threads();
    if (wanted > count) wanted = count;
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    while (started < wanted - 1 && pthread_create(&threads[started], NULL, run_some, &loop) == 0)
        started++;
    run_some(&loop);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
