/*
 * check.h - shared by the files of "echelon check": check.c, and check_input.c, which reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_CHECK_H
#define ECHELON_CLI_CHECK_H

#include "check_summary.h"

/* A file of records. */
struct check_input {
    struct io_source source;
    bool open;
    bool direct;         /* a regular file, whose blocks are read at their offsets */
    uint64_t size, next; /* of a direct file: bytes, and the offset of the next block */
};

struct check_failure {
    io_status status;
    struct io_error error;
};

struct check_job {
    struct record_layout layout;
    size_t block_bytes;
    struct crc32 crc;
    const char *const *names;
    int count, at;              /* files, and the one that is read */
    struct check_input *inputs; /* [count] */
    struct check_failure taking, giving;
    struct summary all;
    unsigned char *first, *last; /* records of all */
    uint64_t done_bytes, total_bytes;
    struct cli_progress progress;
    /* The first unordered record. */
    bool located;
    int bad_input;
    u128 bad_in_file;
    unsigned char *bad_keys; /* the key of the record before, and its key */
};

/* A block of records of one thread. */
struct check_slot {
    int input;
    uint64_t offset;
    size_t n; /* records */
    struct check_failure failure;
    struct summary summary;
    unsigned char records[];
};

/* The take() of a pipeline: takes the next block of the files.  On failure sets job->taking. */
bool check_take(void *job, void *slot, uint64_t block);
/* Reads the block if its file is direct.  On failure sets slot->failure. */
void check_read(const struct check_job *job, struct check_slot *slot);

#endif
