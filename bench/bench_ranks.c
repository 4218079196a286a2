/*
 * bench_ranks.c - the ranks of a benchmark, its options for them, and its clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "bench_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int bench_ranks;

static const char *device = "cuda";
static struct bench_rank ranks[BENCH_MOST_RANKS];
static double times[BENCH_MOST_RANKS];
static void (*work)(const struct bench_rank *rank);

_Noreturn void bench_stop(const char *message)
{
    fprintf(stderr, "%s: %s\n", bench_program, message);
    exit(1);
}

void bench_must(ech_status status, const ech_ctx *ctx)
{
    if (status != ECH_OK) bench_stop(ech_error(ctx)[0] ? ech_error(ctx) : ech_error(NULL));
}

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int bench_number(const char *option, const char *text, int low, int high)
{
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : 0;
    if (text && end != text && !*end && value >= low && value <= high) return (int)value;
    fprintf(stderr, "%s: %s needs a number of %d to %d\n", bench_program, option, low, high);
    exit(2);
}

bool bench_rank_option(const char *option, const char *value)
{
    if (strcmp(option, "--device") == 0 && value)
        device = value;
    else if (strcmp(option, "--ranks") == 0)
        bench_ranks = bench_number(option, value, 1, BENCH_MOST_RANKS);
    else
        return false;
    return true;
}

void bench_open_ranks(void)
{
    ech_ctx *contexts[BENCH_MOST_RANKS];
    ech_comm *comms[BENCH_MOST_RANKS];
    const bool cpu = strcmp(device, "cpu") == 0;
    if (!cpu && strcmp(device, "cuda") != 0) bench_stop("--device needs cuda or cpu");
    if (!bench_ranks) bench_ranks = cpu ? 2 : ech_device_count() - 1; /* the last one is the CPU */
    if (bench_ranks < 1) bench_stop("there is no GPU");
    for (int r = 0; r < bench_ranks; r++) {
        char name[32];
        snprintf(name, sizeof name, cpu ? "cpu" : "cuda:%d", r);
        bench_must(ech_open(&contexts[r], name), NULL);
        if (cpu) bench_must(ech_set_threads(contexts[r], 1), contexts[r]);
    }
    bench_must(ech_comm_threads(comms, cpu ? NULL : contexts, bench_ranks, NULL), NULL);
    for (int r = 0; r < bench_ranks; r++)
        ranks[r] = (struct bench_rank){ r, contexts[r], comms[r] };
}

const char *bench_device_name(void)
{
    return ech_device_name(ranks[0].ctx);
}

static void *run_rank(void *rank)
{
    work(rank);
    return NULL;
}

void bench_run_ranks(void (*run)(const struct bench_rank *rank))
{
    pthread_t threads[BENCH_MOST_RANKS];
    work = run;
    for (int r = 0; r < bench_ranks; r++)
        if (pthread_create(&threads[r], NULL, run_rank, &ranks[r])) bench_stop("no thread");
    for (int r = 0; r < bench_ranks; r++) pthread_join(threads[r], NULL);
    for (int r = 0; r < bench_ranks; r++) {
        ech_comm_close(ranks[r].comm);
        ech_close(ranks[r].ctx);
    }
}

double bench_slowest(const struct bench_rank *rank, double mine)
{
    double most = 0;
    times[rank->number] = mine;
    bench_must(ech_comm_barrier(rank->comm), rank->ctx);
    for (int r = 0; r < bench_ranks; r++) most = times[r] > most ? times[r] : most;
    bench_must(ech_comm_barrier(rank->comm), rank->ctx); /* times may be written again */
    return most;
}
