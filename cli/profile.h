/*
 * profile.h - what the two halves of "echelon profile" agree on: profile.c runs the kernels,
 * profile_call.c calls what is no sort, profile_table.c prints what was counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_PROFILE_H
#define ECHELON_CLI_PROFILE_H

#include "simt/client.h"
#include "sort.h"

struct profile {
    const struct sort_job *job;
    const char *what; /* "sort", "argsort", "scan" */
    const char *plan; /* lines of what runs; may be "" */
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

/* ---- Operations that are no sorts: profile_call.c ---- */

struct profile_call_words {
    const char *op, *bins, *where, *algorithm;
};

int profile_find_call(const char *name); /* -1 when there is none of that name */
/* Each: EXIT_DONE, or an exit code after its message. */
int profile_check_call(int which, const struct profile_call_words *words);
/* Runs it on the job's column, and writes what ran into plan. */
int profile_call(int which, const struct profile_call_words *words, struct job *job, char *plan,
                 size_t plan_bytes);

/* ---- Output: profile_table.c ---- */

void profile_text(const struct profile *profile, FILE *to);
void profile_json(const struct profile *profile, FILE *to);
void profile_csv(const struct profile *profile, FILE *to); /* the counts alone */
void profile_faults(const struct profile *profile, FILE *to);

#endif
