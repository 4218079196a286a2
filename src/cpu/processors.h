/*
 * cpu/processors.h - how many processors this process may use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_PROCESSORS_H
#define ECHI_CPU_PROCESSORS_H

/* The default number of threads of a call: OMP_NUM_THREADS if it is set; otherwise the processors
 * in the affinity mask of the calling thread, or fewer if the control groups of the process have
 * quotas. Quotas and the variable are read once. */
int echi_processors(void);

/* The same for the main thread at the time of the first call: constant, for sizes of workspaces. */
int echi_processors_at_start(void);

/* Gives the calling thread the affinity mask that echi_processors() has found last, unless it has
 * it: *number is the number of the mask that it has, at first 0. */
void echi_processors_follow(unsigned *number);

/* The processors that the quotas allow, rounded up; 0: there is no quota. groups is
 * "/proc/self/cgroup", mount "/sys/fs/cgroup". */
int echi_processors_quota(const char *groups, const char *mount);

#endif
