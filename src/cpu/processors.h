/*
 * cpu/processors.h - how many processors this process may use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_PROCESSORS_H
#define ECHI_CPU_PROCESSORS_H

/* The default number of threads of the process: ECHELON_THREADS or, if it is not set,
 * OMP_NUM_THREADS; otherwise the processors in the affinity mask of the calling thread, or fewer if
 * the control groups of the process have quotas. Quotas and variables are read once. */
int echi_processors(void);

/* The same for the main thread at the time of the first call: constant, for sizes of workspaces. */
int echi_processors_at_start(void);

/* The number of processors for an affinity mask of this many and a quota; 0: no quota. */
int echi_processors_choose(int affinity, int quota);

/* ECHELON_THREADS, or 0 if it is not set. */
int echi_processors_limit(void);

/* The value of ECHELON_THREADS if it is set and not a number of threads; otherwise NULL. */
const char *echi_processors_wrong(void);

/* The number of threads of the OpenMP teams that the calling thread belongs to; 1: it is not in a
 * parallel region, or the process had no OpenMP runtime at the first call. */
int echi_processors_team(void);

/* Gives the calling thread the affinity mask that echi_processors() has found last, unless it has
 * it: *number is the number of the mask that it has, at first 0. */
void echi_processors_follow(unsigned *number);

/* The processors that the quotas allow, rounded up; 0: there is no quota. groups is
 * "/proc/self/cgroup", mount "/sys/fs/cgroup". */
int echi_processors_quota(const char *groups, const char *mount);

#endif
