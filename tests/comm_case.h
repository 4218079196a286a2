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

/* The cases of NCCL. */
void comm_nccl(const char *device);

#endif
