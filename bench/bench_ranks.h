/*
 * bench_ranks.h - what the benchmarks of several ranks share: a thread per rank, each with a GPU or
 * with one thread of the CPU, and options for them.
 *
 *     --device cuda|cpu|simt  rank r uses GPU r; simt: the emulator, for tests
 *     --ranks R               the number of ranks; without it, all GPUs
 *     --comm NAME             threads: GPUs copy directly from each other
 *                             nccl: by NCCL
 *                             processes, processes+nccl: this process is one rank of the
 *                             communicator that ECHELON_COMM names, such as that of MPI
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_RANKS_H
#define BENCH_RANKS_H

#include <echelon.h>

#include <stdbool.h>

enum { BENCH_MOST_RANKS = 64 };

/* A rank, as its thread receives it. */
struct bench_rank {
    int number; /* rank 0 prints */
    ech_ctx *ctx;
    ech_comm *comm;
};

extern const char *bench_program; /* for messages */
extern int bench_ranks;           /* all; 0 until bench_open_ranks(): all GPUs, or two of the CPU */

_Noreturn void bench_stop(const char *message);

/* Stops with the message of the context if status is an error. */
void bench_must(ech_status status, const ech_ctx *ctx);

/* Milliseconds. */
double bench_now(void);

/* The value of an option, which must be a number from low to high. */
int bench_number(const char *option, const char *text, int low, int high);

/* Reads --device, --ranks and --comm; returns false if it is another option, or lacks a value. */
bool bench_rank_option(const char *option, const char *value);

/* Opens a context and a communicator for each rank of this process; whether rank 0 is one. */
bool bench_open_ranks(void);

/* The name of the device of rank 0, and of the communicator. */
const char *bench_device_name(void);
const char *bench_comm_name(void);

/* Calls run in a thread for each rank of this process; closes what bench_open_ranks() opened. */
void bench_run_ranks(void (*run)(const struct bench_rank *rank));

/* The largest of the times of all ranks. */
double bench_slowest(const struct bench_rank *rank, double mine);

/* The sum of a number of each rank. */
uint64_t bench_sum(const struct bench_rank *rank, uint64_t mine);

#endif
