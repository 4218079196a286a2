/*
 * comm_case.h - what the tests of communicators share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMM_CASE_H
#define COMM_CASE_H

#include "dist_case.h"

enum { N = 100, RANKS = 4 };
#define LIMIT_S 0.15

/* Sets the problem of a rank unless the call failed as expected. */
void comm_expect(struct dist_rank *r, ech_status status, ech_status wanted, const char *part);

/* Sorts N keys per rank, so that the communicator must still work. */
ech_status comm_sort(struct dist_rank *r, ech_comm *comm);

/* An allocator of rank 1 whose allocation number `left` fails. memory: another context of the
 * device; NULL: it returns host memory.  begin() installs it, while the context holds no memory. */
struct comm_failing {
    int left;
    ech_ctx *memory;
};
void comm_failing_begin(struct dist_rank *r, struct comm_failing *failing);
void comm_failing_end(struct dist_rank *r, struct comm_failing *failing);

/* Every allocation of rank 1 fails once: all ranks report it, no rank waits for another one, and
 * the communicator still works.  calls: bits of the calls that are made; allocate: of those that
 * must allocate memory. */
enum {
    COMM_REDUCE = 3,
    COMM_SCAN = 5,
    COMM_SHUFFLE = 9,
    COMM_REBALANCE,
    COMM_HISTOGRAM, /* each rank adds a share of its counters */
    COMM_CALLS
};
enum { COMM_BINS = 140000 };
ech_status comm_failing_calls(struct dist_rank *r, ech_comm *comm, struct comm_failing *failing,
                              unsigned calls, unsigned allocate);

/* The cases of tables of the caller, and of NCCL. */
void comm_tables(void);
void comm_nccl(const char *device);

#endif
