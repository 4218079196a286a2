/*
 * mpi_faults.c - failures of MPI processes: calls that differ, a rank without memory, a rank that
 * aborts, is slow, or dies in an iteration of a solver.  tests/mpi.sh runs it with the beginning of
 * the names of result files, and counts the lines that end in "ok".
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

enum { N = 1000, ROWS = 20000 };

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

/* Another process stops this one during an iteration, and kills it later: at once, the launcher
 * would end all ranks. */
static void die_soon(void)
{
    const pid_t self = getpid();
    if (fork() != 0) return;
    sleep_s(0.2);
    kill(self, SIGSTOP);
    sleep_s(1.0);
    kill(self, SIGKILL);
    _exit(0);
}

/* Solves a system that needs many iterations; `dies`: this rank does. */
static ech_status solve(int dies)
{
    static int32_t offsets[ROWS + 1], columns[3 * ROWS];
    static double values[3 * ROWS], b[ROWS], x[ROWS];
    const int ranks = ech_comm_size(comm), all = ranks * ROWS;
    const ech_solve_options options = {
        .size = sizeof options, .method = ECH_METHOD_CG, .rtol = 1e-12, .max_iterations = 1000000
    };
    ech_solve_report done = { .size = sizeof done };
    ech_dist_csr *a = NULL;
    int32_t nnz = 0;
    for (int i = 0; i < ROWS; i++) {
        b[i] = i % 7 - 3;
        for (int column = rank * ROWS + i - 1; column <= rank * ROWS + i + 1; column++) {
            if (column < 0 || column >= all) continue;
            columns[nnz] = column;
            values[nnz++] = column == rank * ROWS + i ? 2 : -1;
        }
        offsets[i + 1] = nnz;
    }
    const ech_csr rows = { .size = sizeof rows,
                           .rows = ROWS,
                           .cols = (size_t)all,
                           .nnz = (size_t)nnz,
                           .row_offsets = offsets,
                           .col_indices = columns,
                           .values = values,
                           .index_dtype = ECH_I32,
                           .dtype = ECH_F64 };
    ech_status status = ech_dist_csr_create(ctx, comm, &rows, &a);
    if (dies) die_soon();
    if (status == ECH_OK) status = ech_dist_solve(ctx, comm, a, b, x, &options, &done);
    ech_dist_csr_free(a);
    return status;
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

    reopen(0.3);
    report("a dead rank", solve(rank == 1), ECH_ERR_COMM, "waited 0.3 s");
    fflush(results);
    sleep_s(0.3); /* the launcher may end all ranks after the first one */
    _Exit(0);     /* without MPI_Finalize(), which would wait */
}
