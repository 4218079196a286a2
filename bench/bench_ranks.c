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
static ech_comm *outer[BENCH_MOST_RANKS]; /* over which NCCL is opened */
static int own_ranks;                     /* of this process */
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

static ech_ctx *open_device(int rank, int count)
{
    const bool cpu = strcmp(device, "cpu") == 0;
    ech_ctx *ctx = NULL;
    char name[32];
    snprintf(name, sizeof name, cpu ? "cpu" : "%s:%d", device, count > 0 ? rank % count : rank);
    bench_must(ech_open(&ctx, name), NULL);
    if (cpu) bench_must(ech_set_threads(ctx, 1), ctx);
    return ctx;
}

/* This process is one rank; a machine has fewer GPUs than there are ranks on all machines. */
static void open_process(const ech_comm_options *options)
{
    bench_must(ech_comm_open(&outer[0], NULL, options), NULL);
    const int rank = ech_comm_rank(outer[0]);
    own_ranks = 1;
    bench_ranks = ech_comm_size(outer[0]);
    ranks[0] = (struct bench_rank){ rank, open_device(rank, ech_device_count() - 1), outer[0] };
}

static void open_threads(const ech_comm_options *options)
{
    const bool cpu = strcmp(device, "cpu") == 0, simt = strcmp(device, "simt") == 0;
    ech_ctx *contexts[BENCH_MOST_RANKS];
    if (!bench_ranks) bench_ranks = cpu || simt ? 2 : ech_device_count() - 1; /* without the CPU */
    if (bench_ranks < 1) bench_stop("there is no GPU");
    if (simt) {
        char devices[32];
        snprintf(devices, sizeof devices, "devices=%d", bench_ranks);
        setenv("ECHELON_SIMT", devices, 0);
    }
    own_ranks = bench_ranks;
    for (int r = 0; r < own_ranks; r++) contexts[r] = open_device(r, 0);
    bench_must(ech_comm_threads(outer, cpu ? NULL : contexts, bench_ranks, options), NULL);
    for (int r = 0; r < own_ranks; r++) ranks[r] = (struct bench_rank){ r, contexts[r], outer[r] };
}

bool bench_open_ranks(void)
{
    static const char *const devices[] = { "cuda", "cpu", "simt" };
    static const char *const comms[] = { "threads", "nccl", "processes", "processes+nccl" };
    const ech_comm_options options = { .size = sizeof options, .time_limit_s = LIMIT_S };
    bool known = false;
    for (int i = 0; i < 3; i++) known |= strcmp(device, devices[i]) == 0;
    if (!known) bench_stop("--device needs cuda, cpu or simt");
    known = false;
    for (int i = 0; i < 4; i++) known |= strcmp(comm_name, comms[i]) == 0;
    if (!known) bench_stop("--comm needs threads, nccl, processes or processes+nccl");
    if (strncmp(comm_name, "processes", 9) == 0)
        open_process(&options);
    else
        open_threads(&options);
    return ranks[0].number == 0;
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
    ech_comm *over = rank->comm;
    const bool nccl = strstr(comm_name, "nccl") != NULL;
    if (nccl) bench_must(ech_comm_nccl_over(&rank->comm, rank->ctx, over, &options), NULL);
    work(rank);
    if (nccl) ech_comm_close(rank->comm);
    return NULL;
}

void bench_run_ranks(void (*run)(const struct bench_rank *rank))
{
    pthread_t threads[BENCH_MOST_RANKS];
    work = run;
    for (int r = 1; r < own_ranks; r++)
        if (pthread_create(&threads[r], NULL, run_rank, &ranks[r])) bench_stop("no thread");
    run_rank(&ranks[0]); /* a library of MPI may need the first thread */
    for (int r = 1; r < own_ranks; r++) pthread_join(threads[r], NULL);
    for (int r = 0; r < own_ranks; r++) {
        ech_comm_close(outer[r]);
        ech_close(ranks[r].ctx);
    }
}

double bench_slowest(const struct bench_rank *rank, double mine)
{
    double most = 0;
    bench_must(ech_dist_reduce(rank->ctx, rank->comm, ECH_OP_MAX, &mine, &most, 1, ECH_F64, NULL),
               rank->ctx);
    return most;
}

uint64_t bench_sum(const struct bench_rank *rank, uint64_t mine)
{
    uint64_t sum = 0;
    bench_must(ech_dist_reduce(rank->ctx, rank->comm, ECH_OP_SUM, &mine, &sum, 1, ECH_U64, NULL),
               rank->ctx);
    return sum;
}
