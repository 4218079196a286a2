/*
 * cpu/parallel.c - the only file that starts threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "sort/cpu/common.h"

#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#endif

int echi_parallel_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

int echi_parallel_for_bytes(const ech_ctx *ctx, size_t bytes)
{
    const size_t each = (size_t)1 << 18; /* per thread; less is done before it is awake */
    size_t most = ctx->threads ? (size_t)ctx->threads : (size_t)echi_parallel_threads();
    size_t worth = bytes / each;
    return (int)(worth < 1 ? 1 : echi_min(worth, most));
}

void echi_parallel(int threads, size_t count, void (*run)(void *arg, size_t i, int thread),
                   void *arg)
{
#ifdef _OPENMP
    if (threads > 1 && count > 1) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (size_t i = 0; i < count; i++) run(arg, i, omp_get_thread_num());
        return;
    }
#else
    (void)threads;
#endif
    for (size_t i = 0; i < count; i++) run(arg, i, 0);
}

void echi_parallel_pause(int times)
{
    enum { SPINS = 4000 }; /* about 100 us; then the other thread may need this processor */
    if (times >= SPINS) sched_yield();
#ifdef __SSE2__
    __builtin_ia32_pause();
#endif
}

void echi_parallel_await(const atomic_size_t *counter, size_t value)
{
    for (int i = 0; atomic_load_explicit(counter, memory_order_acquire) != value; i++)
        echi_parallel_pause(i);
}

void echi_parallel_tasks(int threads, struct echi_task first)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#pragma omp single
#else
    (void)threads;
#endif
    first.run(first);
}

void echi_parallel_task(struct echi_task task)
{
#ifdef _OPENMP
#pragma omp task firstprivate(task)
#endif
    task.run(task);
}
