/*
 * mpi_existing.c - communicators from existing MPI communicators: MPI_COMM_WORLD and a part of it
 * with ranks in another order, used in turn.  tests/mpi.sh runs it with three processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>
#include <echelon/mpi.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 5000, TAG = 1 };

static int world_rank;

static void expect(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "rank %d: %s: %s\n", world_rank, what, ech_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Sorts the numbers 0 ... ranks * N - 1: each rank of the communicator receives N of them. */
static void sort(ech_ctx *ctx, ech_comm *comm)
{
    static uint32_t keys[N], out[N];
    const uint32_t ranks = (uint32_t)ech_comm_size(comm), rank = (uint32_t)ech_comm_rank(comm);
    for (uint32_t i = 0; i < N; i++) keys[i] = (i * 7919 % N) * ranks + (ranks - 1 - rank);
    expect(ech_dist_sort(ctx, comm, keys, out, N, N, ECH_U32, NULL) == ECH_OK, ech_error(ctx));
    for (uint32_t i = 0; i < N; i++) expect(out[i] == rank * N + i, "not sorted");
}

/* A message on the communicator of the caller, which no call of the library may receive. */
static void send_own(MPI_Comm comm, int ranks, int *value, MPI_Request *request)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    *value = 1000 + rank;
    MPI_Isend(value, 1, MPI_INT, (rank + 1) % ranks, TAG, comm, request);
}

static void receive_own(MPI_Comm comm, int ranks, MPI_Request *request)
{
    int rank, got = 0;
    MPI_Comm_rank(comm, &rank);
    const int from = (rank + ranks - 1) % ranks;
    MPI_Recv(&got, 1, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    expect(got == 1000 + from, "the message of the caller");
}

int main(int argc, char **argv)
{
    MPI_Comm part, whole = MPI_COMM_WORLD;
    MPI_Request request;
    ech_comm *comm = NULL, *all = NULL;
    ech_ctx *ctx = NULL;
    int level, size, part_rank, part_size, value;
    expect(ech_comm_mpi(&comm, &whole, NULL) == ECH_ERR_ARG, "before MPI_Init()");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 1, -world_rank, &part);
    MPI_Comm_rank(part, &part_rank);
    MPI_Comm_size(part, &part_size);
    expect(size == 3 && part_size == (world_rank == 1 ? 1 : 2), "three processes");
    expect(ech_open(&ctx, "cpu") == ECH_OK, "ech_open()");

    expect(ech_comm_mpi(NULL, &part, NULL) == ECH_ERR_ARG, "comm is NULL");
    expect(ech_comm_mpi(&comm, NULL, NULL) == ECH_ERR_ARG && !comm, "mpi_comm is NULL");
    const ech_comm_options bad = { .size = sizeof bad, .time_limit_s = -1 };
    expect(ech_comm_mpi(&comm, &part, &bad) == ECH_ERR_ARG && !comm, "a bad time limit");
    expect(ech_comm_mpi(&comm, &part, NULL) == ECH_OK, "ech_comm_mpi() of a part");
    expect(ech_comm_mpi(&all, &whole, NULL) == ECH_OK, "ech_comm_mpi() of all processes");
    expect(ech_comm_rank(comm) == part_rank && ech_comm_size(comm) == part_size, "the part");
    expect(ech_comm_rank(all) == world_rank && ech_comm_size(all) == size, "all processes");

    send_own(part, part_size, &value, &request);
    for (int i = 0; i < 5; i++) {
        sort(ctx, comm);
        sort(ctx, all);
    }
    receive_own(part, part_size, &request);

    /* A failure of the part does not affect all processes, nor the communicator of the caller. */
    if (world_rank == 0) ech_comm_abort(comm, "a test");
    expect(world_rank == 1 || ech_comm_barrier(comm) == ECH_ERR_COMM, "an abort");
    sort(ctx, all);
    ech_comm_close(comm);
    ech_comm_close(all);
    send_own(part, part_size, &value, &request);
    receive_own(part, part_size, &request);
    MPI_Comm_free(&part);
    ech_close(ctx);
    MPI_Finalize();
    return 0;
}
