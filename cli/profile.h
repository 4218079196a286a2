/*
 * profile.h - shared by the files of "echelon profile": profile.c runs the kernels, profile_call.c
 * calls the operations other than sorts, profile_table.c prints the counts.
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
    const char *plan; /* lines of text; may be "" */
    const struct emulator *emulator;
    bool lines;   /* print the source lines of each kernel, most expensive first */
    bool counted; /* false: only faults were searched */
    struct simt_kernel_counts *kernels;
    size_t kernel_count;
    struct simt_kernel_counts total; /* of kernels, without lines */
    const struct simt_finding *findings;
    size_t finding_count;
};

/* Copies the counts of the kernels whose names contain part (NULL: all), and the faults, from the
 * SIMT emulator.  Returns EXIT_DONE, or an exit code after a message. */
int profile_take(struct profile *profile, const char *part);
void profile_free(struct profile *profile);

/* ---- Operations other than sorts: profile_call.c ---- */

struct profile_call_words {
    const char *op, *bins, *where, *algorithm;
};

int profile_find_call(const char *name); /* -1: unknown */
/* Both return EXIT_DONE, or an exit code after a message. */
int profile_check_call(int which, const struct profile_call_words *words);
/* Runs the operation on the job's column and writes the plan. */
int profile_call(int which, const struct profile_call_words *words, struct job *job, char *plan,
                 size_t plan_bytes);

/* ---- Output: profile_table.c ---- */

void profile_text(const struct profile *profile, FILE *to);
void profile_json(const struct profile *profile, FILE *to);
void profile_csv(const struct profile *profile, FILE *to); /* only the counts */
void profile_faults(const struct profile *profile, FILE *to);

#endif
