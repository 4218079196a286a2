/*
 * mpi_faults.c - failures of MPI processes: calls that differ, a rank without memory, a rank that
 * aborts, is slow, or is dead.  tests/mpi.sh runs it with the
 * beginning of the names of result files, and counts the lines that end in "ok".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <echelon.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000 };

static ech_ctx *ctx;
static ech_comm *comm;
static int rank;
static FILE *results; /* of this rank: launchers mix the lines of ranks */

static void report(const char *id, ech_status status, ech_status wanted, const char *part)
{
    const char *message = status == ECH_OK ? "" : ech_error(ctx);
    const int good = status == wanted && strstr(message, part);
    fprintf(results, "%s on rank %d: %s \"%s\" %s\n", id, rank, ech_status_name(status), message,
            good ? "ok" : "FAIL");
    fflush(results);
}

static ech_status sort(void)
{
    static float keys[N], out[N];
    for (int i = 0; i < N; i++) keys[i] = (float)((i * 7919 + rank) % 1000);
    return ech_dist_sort(ctx, comm, keys, out, N, N, ECH_F32, NULL);
}

/* Opens another communicator; the previous one may have failed. */
static void reopen(double limit_s)
{
    const ech_comm_options options = { .size = sizeof options, .time_limit_s = limit_s };
    ech_comm_close(comm);
    if (ech_comm_open(&comm, NULL, &options) == ECH_OK) return;
    fprintf(stderr, "ech_comm_open: %s\n", ech_error(NULL));
    exit(1);
}

static void sleep_s(double s)
{
    nanosleep(&(struct timespec){ .tv_sec = (time_t)s, .tv_nsec = (long)((s - (int)s) * 1e9) },
              NULL);
}

/* Stops this process, which another one then kills: at once, the launcher would end all ranks. */
static void die_later(void)
{
    const pid_t self = getpid();
    if (fork() == 0) {
        sleep_s(0.7);
        kill(self, SIGKILL);
        _exit(0);
    }
    raise(SIGSTOP);
}

int main(int argc, char **argv)
{
    char name[512];
    if (argc != 2 || ech_open(&ctx, "cpu") != ECH_OK) return 1;
    reopen(0);
    rank = ech_comm_rank(comm);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    results = fopen(name, "w");
    if (!results) return 1;

    double sum, in = 1;
    report("another call",
           rank == 1 ? ech_dist_reduce(ctx, comm, ECH_OP_SUM, &in, &sum, 1, ECH_F64, NULL) : sort(),
           ECH_ERR_ARG, "rank 1 is ech_dist_reduce()");
    report("the next call", sort(), ECH_OK, "");

    if (rank == 1) ech_set_memory_limit(ctx, 100);
    report("no memory", sort(), ECH_ERR_MEMORY, "rank 1: out of memory");
    ech_set_memory_limit(ctx, 0);

    ech_comm_barrier(comm); /* an abort may end a call of a rank that has not yet returned */
    if (rank == 1) ech_comm_abort(comm, "a test");
    report("an abort", sort(), ECH_ERR_COMM, "rank 1 has aborted it: a test");

    reopen(0.2);
    if (rank == 1) sleep_s(0.4);
    report("a slow rank", sort(), ECH_ERR_COMM, rank == 1 ? "" : "waited 0.2 s");

    reopen(0.2);
    if (rank == 1) die_later();
    report("a dead rank", sort(), ECH_ERR_COMM, "waited 0.2 s");
    fflush(results);
    sleep_s(0.2); /* the launcher may end all ranks after the first one */
    _Exit(0);     /* without MPI_Finalize(), which would wait */
}
