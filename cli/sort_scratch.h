/*
 * sort_scratch.h - a temporary file without a name for "echelon sort".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_SCRATCH_H
#define ECHELON_CLI_SORT_SCRATCH_H

#include "sort.h"

struct sort_scratch {
    const char *directory; /* of --temporary-directory, $TMPDIR or /tmp */
    int fd;                /* -1: not open */
    uint64_t bytes;        /* that were appended, or the end of what was put */
};

/* These functions return EXIT_DONE, or an exit code after a message. */
int sort_scratch_open(const struct sort_set *set, struct sort_scratch *scratch);
int sort_scratch_append(struct sort_scratch *scratch, const void *bytes, size_t n);
int sort_scratch_put(struct sort_scratch *scratch, uint64_t offset, const void *bytes, size_t n);
int sort_scratch_get(const struct sort_scratch *scratch, uint64_t offset, void *to, size_t n);
/* Reserves space; fails if there is not enough. */
int sort_scratch_reserve(struct sort_scratch *scratch, uint64_t bytes);
/* Gives the space of a range back, if the file system can do that. */
void sort_scratch_release(const struct sort_scratch *scratch, uint64_t offset, uint64_t bytes);
/* Harmless if it is not open; its fd is -1 then. */
void sort_scratch_close(struct sort_scratch *scratch);

#endif
