/*
 * cpu/parallel.c - the one place that starts threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

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
