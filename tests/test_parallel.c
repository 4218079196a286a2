/*
 * test_parallel.c - the thread pool: every index runs once, thread numbers are not shared, loops of
 * several threads, nested loops, threads that cannot be created, idle workers, fork(), affinity,
 * the last close.
 *
 * The files under test are compiled into this program, with pthread_create() replaced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "cpu/cpu.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A macro of the build replaces the name, also in the header. */
#undef pthread_create
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *argument), void *argument);

enum { MOST = 20000, THREADS = 8 };

/* ---- Creation of threads ---- */

static atomic_int allowed = -1; /* threads that can be created; -1: any number */

int test_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*run)(void *argument), void *argument)
{
    if (atomic_load(&allowed) == 0) return EAGAIN;
    if (atomic_load(&allowed) > 0) atomic_fetch_sub(&allowed, 1);
    return pthread_create(thread, attributes, run, argument);
}

static int others = 1; /* threads that existed before: one, or two with the thread sanitizer */

/* The thread of the test, and those of the pool. */
static int count_threads(void)
{
    return test_count_threads(0) + 1 - others;
}

static int count_threads_until(int wanted)
{
    return test_count_threads(wanted + others - 1) + 1 - others;
}

/* ---- Loops ---- */

struct loop {
    int threads;
    atomic_int runs[MOST];      /* of each index */
    atomic_int inside[THREADS]; /* calls that run with each thread number */
    atomic_bool wrong;
    atomic_int numbers; /* a bit for each thread number that has been used */
    int spin, nested;
};

static void run_nested(void *arg, size_t i, int thread)
{
    (void)i;
    (void)thread;
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void run_index(void *arg, size_t i, int thread)
{
    struct loop *l = arg;
    if (thread < 0 || thread >= l->threads || atomic_fetch_add(&l->inside[thread], 1) != 0)
        atomic_store(&l->wrong, true);
    atomic_fetch_or(&l->numbers, 1 << thread);
    for (int k = 0; k < l->spin; k++) echi_parallel_pause(k);
    if (l->nested && i % 100 == 0) {
        atomic_int sum = 0;
        echi_parallel(3, (size_t)l->nested, run_nested, &sum);
        if (atomic_load(&sum) != l->nested) atomic_store(&l->wrong, true);
    }
    atomic_fetch_add(&l->runs[i], 1);
    atomic_fetch_sub(&l->inside[thread], 1);
}

/* Whether a loop is right; *numbers: how many thread numbers it has used. */
static bool loop_is_right(int threads, size_t count, int spin, int nested, int *numbers)
{
    struct loop *l = calloc(1, sizeof *l);
    if (!l) abort();
    l->threads = threads < 1 ? 1 : threads;
    l->spin = spin;
    l->nested = nested;
    echi_parallel(threads, count, run_index, l);
    bool right = !atomic_load(&l->wrong);
    for (size_t i = 0; i < MOST; i++) right = right && atomic_load(&l->runs[i]) == (i < count);
    if (numbers) *numbers = __builtin_popcount((unsigned)atomic_load(&l->numbers));
    free(l);
    return right;
}

static void loops(void)
{
    static const size_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 100, 1999, MOST };
    if (!test_begin("loops")) return;
    echi_parallel_open();
    for (int threads = -1; threads <= THREADS; threads++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            if (!loop_is_right(threads, counts[c], c % 2 ? 20 : 0, 0, NULL))
                test_fail(__FILE__, __LINE__, "%d threads, %zu indices", threads, counts[c]);
    CHECK(count_threads() > 1);
    CHECK(loop_is_right(4, 500, 0, 10, NULL)); /* nested */
    echi_parallel_close();
    CHECK_INT(count_threads_until(1), 1);
    test_end();
}

static void all_numbers(void)
{
    int numbers = 0;
    if (!test_begin("long loops use every thread")) return;
    echi_parallel_open();
    for (int i = 0; i < 50 && numbers < THREADS; i++)
        CHECK(loop_is_right(THREADS, 2000, 5000, 0, &numbers));
    CHECK_INT(numbers, THREADS);
    echi_parallel_close();
    test_end();
}

/* Loops after pauses of different lengths: workers that spin, that fall asleep, and that sleep. */
static void pauses(void)
{
    if (!test_begin("loops after pauses")) return;
    echi_parallel_open();
    for (int i = 0; i < 300; i++) {
        const struct timespec pause = { 0, i % 10 * 20000 };
        nanosleep(&pause, NULL);
        if (!loop_is_right(1 + i % THREADS, 1 + (size_t)i % 17, i % 3 * 50, 0, NULL))
            test_fail(__FILE__, __LINE__, "loop %d", i);
    }
    echi_parallel_close();
    test_end();
}

static void *run_loops(void *argument)
{
    for (int i = 0; i < 200; i++) {
        echi_parallel_open();
        if (!loop_is_right(1 + i % 5, (size_t)i * 7 % 300, i % 7, 0, NULL))
            atomic_store((atomic_bool *)argument, true);
        echi_parallel_close();
    }
    return NULL;
}

static void callers(void)
{
    enum { CALLERS = 6 };
    pthread_t threads[CALLERS];
    atomic_bool wrong = false;
    if (!test_begin("loops of several threads, and closes between them")) return;
    for (int i = 0; i < CALLERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_loops, &wrong), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
    CHECK(!atomic_load(&wrong));
    CHECK_INT(count_threads_until(1), 1);
    test_end();
}

static void few_threads(void)
{
    if (!test_begin("threads that cannot be created")) return;
    for (int most = 0; most < 4; most++) {
        int numbers = 0;
        atomic_store(&allowed, most);
        echi_parallel_open();
        for (int i = 0; i < 10; i++)
            CHECK(loop_is_right(THREADS, 1000, 100, 0, &numbers) && numbers <= most + 1);
        CHECK_INT(count_threads(), most + 1);
        atomic_store(&allowed, -1);
        for (int i = 0; i < 2000; i++) {
            atomic_int number = 0;
            echi_parallel(THREADS, THREADS, run_nested, &number);
        }
        CHECK_INT(count_threads(), THREADS); /* it has tried again */
        echi_parallel_close();
    }
    test_end();
}

/* Idle workers sleep: the process needs no processor time between calls. */
static void idle_workers(void)
{
    const struct timespec settle = { 0, 20000000 }, idle = { 0, 150000000 };
    struct timespec before, after;
    if (!test_begin("idle workers do not spin")) return;
    echi_parallel_open();
    CHECK(loop_is_right(THREADS, 2000, 100, 0, NULL));
    CHECK(count_threads() > 1);
    nanosleep(&settle, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&idle, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const int64_t ns =
        (after.tv_sec - before.tv_sec) * 1000000000ll + after.tv_nsec - before.tv_nsec;
    if (ns > 15000000) test_fail(__FILE__, __LINE__, "%lld ns of 150 ms", (long long)ns);
    echi_parallel_close();
    test_end();
}

/* ---- fork() ---- */

#ifndef TEST_THREAD_SANITIZER /* it supports no threads in a child process */
static void children(void)
{
    if (!test_begin("a child process starts its own threads")) return;
    echi_parallel_open();
    CHECK(loop_is_right(THREADS, 1000, 10, 0, NULL));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(30); /* a child that waits for its parent's threads ends by a signal */
        bool right = count_threads() == 1;
        for (int i = 0; i < 100; i++) right = loop_is_right(THREADS, 100, 10, 0, NULL) && right;
        right = right && count_threads() > 1;
        echi_parallel_close();
        _exit(right && count_threads_until(1) == 1 ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK(loop_is_right(THREADS, 1000, 10, 0, NULL));
    echi_parallel_close();
    test_end();
}
#endif

/* ---- Affinity ---- */

static void note_processors(void *arg, size_t i, int thread)
{
    cpu_set_t set;
    (void)i;
    (void)thread;
    for (int k = 0; k < 5000; k++) echi_parallel_pause(k);
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1)
        atomic_store((atomic_bool *)arg, true);
}

static void affinity(void)
{
    cpu_set_t all, one;
    atomic_bool wrong = false;
    if (!test_begin("affinity of the calling thread")) return;
    const bool given = getenv("ECHELON_THREADS") || getenv("OMP_NUM_THREADS");
    CHECK_INT(sched_getaffinity(0, sizeof all, &all), 0);
    CHECK(given || (echi_processors() <= CPU_COUNT(&all) && echi_processors() >= 1));
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && !CPU_COUNT(&one)) CPU_SET(i, &one);
    echi_parallel_open();
    CHECK(loop_is_right(THREADS, 1000, 10, 0, NULL)); /* workers with the old mask */
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    const int number = echi_processors(); /* also notes the mask for the workers */
    CHECK(given || number == 1);
    echi_parallel(4, 100, note_processors, &wrong);
    CHECK(!atomic_load(&wrong));
    CHECK_INT(sched_setaffinity(0, sizeof all, &all), 0);
    echi_parallel_close();
    test_end();
}

/* The thread sanitizer starts its own thread with the first one of the program. */
static void *do_nothing(void *argument)
{
    return argument;
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    pthread_t first;
    if (pthread_create(&first, NULL, do_nothing, NULL) == 0) pthread_join(first, NULL);
    others = count_threads_until(1);
    loops();
    all_numbers();
    pauses();
    callers();
    few_threads();
    idle_workers();
#ifndef TEST_THREAD_SANITIZER
    children();
#endif
    affinity();
    return test_finish();
}
