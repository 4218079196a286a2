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

enum { LIMIT_S = 60 }; /* of a step: a rank that stops must not cost more */

int bench_ranks;

static const char *device = "cuda", *comm_name = "threads";
static struct bench_rank ranks[BENCH_MOST_RANKS];
static ech_comm *threads_comm[BENCH_MOST_RANKS]; /* over which NCCL is opened */
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
    else if (strcmp(option, "--comm") == 0 && value)
        comm_name = value;
    else
        return false;
    return true;
}

void bench_open_ranks(void)
{
    const ech_comm_options options = { .size = sizeof options, .time_limit_s = LIMIT_S };
    ech_ctx *contexts[BENCH_MOST_RANKS];
    const bool cpu = strcmp(device, "cpu") == 0, simt = strcmp(device, "simt") == 0;
    if (!cpu && !simt && strcmp(device, "cuda") != 0)
        bench_stop("--device needs cuda, cpu or simt");
    if (strcmp(comm_name, "threads") != 0 && strcmp(comm_name, "nccl") != 0)
        bench_stop("--comm needs threads or nccl");
    if (!bench_ranks) bench_ranks = cpu || simt ? 2 : ech_device_count() - 1; /* without the CPU */
    if (bench_ranks < 1) bench_stop("there is no GPU");
    if (simt) {
        char devices[32];
        snprintf(devices, sizeof devices, "devices=%d", bench_ranks);
        setenv("ECHELON_SIMT", devices, 0);
    }
    for (int r = 0; r < bench_ranks; r++) {
        char name[32];
        snprintf(name, sizeof name, cpu ? "cpu" : "%s:%d", device, r);
        bench_must(ech_open(&contexts[r], name), NULL);
        if (cpu) bench_must(ech_set_threads(contexts[r], 1), contexts[r]);
    }
    bench_must(ech_comm_threads(threads_comm, cpu ? NULL : contexts, bench_ranks, &options), NULL);
    for (int r = 0; r < bench_ranks; r++)
        ranks[r] = (struct bench_rank){ r, contexts[r], threads_comm[r] };
}

const char *bench_device_name(void)
{
    return ech_device_name(ranks[0].ctx);
}

const char *bench_comm_name(void)
{
    return comm_name;
}

static void *run_rank(void *argument)
{
    const ech_comm_options options = { .size = sizeof options, .time_limit_s = LIMIT_S };
    struct bench_rank *rank = argument;
    const bool nccl = strcmp(comm_name, "nccl") == 0;
    if (nccl)
        bench_must(ech_comm_nccl_over(&rank->comm, rank->ctx, threads_comm[rank->number], &options),
                   NULL);
    work(rank);
    if (nccl) ech_comm_close(rank->comm);
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
        ech_comm_close(threads_comm[r]);
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
