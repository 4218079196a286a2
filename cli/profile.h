/*
 * profile.h - what the two halves of "echelon profile" agree on: profile.c runs the kernels,
 * profile_table.c prints what was counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_PROFILE_H
#define ECHELON_CLI_PROFILE_H

#include "executor.h"
#include "sort.h"

struct profile {
    const struct sort_job *job;
    const struct executor *executor;
    bool lines;   /* those of each kernel too, costliest first */
    bool counted; /* else only looked for faults */
    struct simt_kernel_counts *kernels;
    size_t kernel_count;
    struct simt_kernel_counts total; /* of kernels, without lines */
    const struct simt_finding *findings;
    size_t finding_count;
};

/* Takes what the executor has counted of the kernels with part in their names (NULL: of all), and
 * what it found.  EXIT_DONE, or an exit code after its message. */
int profile_take(struct profile *profile, const char *part);
void profile_free(struct profile *profile);

void profile_text(const struct profile *profile, FILE *to);
void profile_json(const struct profile *profile, FILE *to);
void profile_csv(const struct profile *profile, FILE *to); /* the counts alone */
void profile_faults(const struct profile *profile, FILE *to);

#endif
