/*
 * sort/cpu/tasks.c - units of work that may start further ones, for the quicksort by several
 * threads.
 *
 * Tasks wait in a queue, the oldest and so the largest first. Each thread takes one after another
 * until no task waits or runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <pthread.h>

enum { CAPACITY = 256, SPINS = 6000 }; /* the last 2000 let other threads run: about 1 ms */

struct echi_task_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t first, count;     /* tasks that wait */
    size_t left;             /* tasks that wait or run */
    atomic_size_t has_tasks; /* count > 0 or left == 0, for threads that do not hold the lock */
    struct echi_task tasks[CAPACITY];
};

/* Takes a task; false: there will be no further one. */
static bool take(struct echi_task_queue *q, struct echi_task *task)
{
    for (int i = 0; i < SPINS && !atomic_load_explicit(&q->has_tasks, memory_order_relaxed); i++)
        echi_parallel_pause(i);
    pthread_mutex_lock(&q->lock);
    while (!q->count && q->left) pthread_cond_wait(&q->changed, &q->lock);
    const bool taken = q->count > 0;
    if (taken) {
        *task = q->tasks[q->first];
        q->first = (q->first + 1) % CAPACITY;
        q->count--;
        atomic_store_explicit(&q->has_tasks, q->count, memory_order_relaxed);
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

static void end(struct echi_task_queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (--q->left == 0) {
        atomic_store_explicit(&q->has_tasks, 1, memory_order_relaxed);
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
}

static void run_tasks(void *arg, size_t i, int thread)
{
    struct echi_task_queue *q = arg;
    struct echi_task task;
    (void)i;
    (void)thread;
    while (take(q, &task)) {
        task.run(task);
        end(q);
    }
}

void echi_task_run(int threads, struct echi_task first)
{
    struct echi_task_queue q = { .count = 1, .left = 1 };
    atomic_init(&q.has_tasks, 1);
    pthread_mutex_init(&q.lock, NULL); /* neither fails on Linux */
    pthread_cond_init(&q.changed, NULL);
    first.queue = &q;
    q.tasks[0] = first;
    echi_parallel(threads, (size_t)threads, run_tasks, &q);
    pthread_cond_destroy(&q.changed);
    pthread_mutex_destroy(&q.lock);
}

void echi_task_add(struct echi_task task)
{
    struct echi_task_queue *q = task.queue;
    pthread_mutex_lock(&q->lock);
    const bool added = q->count < CAPACITY;
    if (added) {
        q->tasks[(q->first + q->count++) % CAPACITY] = task;
        q->left++;
        atomic_store_explicit(&q->has_tasks, q->count, memory_order_relaxed);
        pthread_cond_signal(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    if (!added) task.run(task);
}
