/*
 * test_openmp.c - calls in a parallel region of an OpenMP program share the processors.
 *
 * ECHELON_THREADS is 8: a call outside a region may use 8 threads, each call of a team of four 2,
 * and each call of a team of eight only its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "test.h"

#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 20, TEAM_MOST = 8, TIMES = 6 };

/* The threads of this process that have the name of the library's pool. */
static int count_workers(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder) abort();
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (!file) continue; /* "." and "..", or the thread has ended */
        if (fgets(name, sizeof name, file) && strcmp(name, "echelon\n") == 0) count++;
        fclose(file);
    }
    closedir(folder);
    return count;
}

static bool sort_once(ech_ctx *ctx, const uint32_t *keys, uint32_t *out)
{
    bool sorted = ech_sort(ctx, keys, out, N, ECH_U32, NULL) == ECH_OK;
    for (size_t i = 1; sorted && i < N; i++) sorted = out[i - 1] <= out[i];
    return sorted;
}

/* Sorts on each thread of a team, with contexts of their own; the maximum number of workers. */
static int workers_of_team(int team, const uint32_t *keys)
{
    ech_ctx *contexts[TEAM_MOST] = { NULL };
    uint32_t *out = malloc((size_t)team * N * sizeof *out);
    int most = 0, failed = 0;
    for (int i = 0; i < team; i++) CHECK_INT(ech_open(&contexts[i], "cpu"), ECH_OK);
    if (!CHECK(out != NULL)) return -1;
#pragma omp parallel num_threads(team) reduction(max : most) reduction(+ : failed)
    for (int i = 0; i < TIMES; i++) {
        const int me = omp_get_thread_num();
        failed += omp_get_num_threads() != team;
#pragma omp barrier
        failed += !sort_once(contexts[me], keys, out + (size_t)me * N);
        const int count = count_workers();
        most = count > most ? count : most;
    }
    CHECK_INT(failed, 0);
    for (int i = 0; i < team; i++) ech_close(contexts[i]);
    free(out);
    return most;
}

static void teams(void)
{
    uint32_t *keys = malloc(N * sizeof *keys), state = 1;
    if (!test_begin("calls in parallel regions")) return;
    if (!keys) abort();
    for (size_t i = 0; i < N; i++) keys[i] = state = state * 1664525 + 1013904223;
    CHECK_INT(workers_of_team(8, keys), 0);
    const int four = workers_of_team(4, keys), two = workers_of_team(2, keys);
    CHECK(four >= 1 && four <= 4);
    CHECK(two >= 3 && two <= 6);
    CHECK_INT(workers_of_team(1, keys), 7); /* a sort of this size may use 16 threads */
    free(keys);
    test_end();
}

int main(int argc, char **argv)
{
    setenv("ECHELON_THREADS", "8", 1);
    test_main(argc, argv);
    teams();
    return test_finish();
}
