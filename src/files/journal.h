/*
 * files/journal.h - what a sort that can be continued records in its manifest, and reads again.
 *
 *     first pass    hash of the cuts; then for each block: where its bins begin, the hash of each
 *                   piece, the numbers of records
 *     second pass   what is written: the next bin, hashes of the output, the last record
 *
 * A thread writes the records when what they describe is on the disk, while the sort goes on.  If
 * run->journal is NULL, nothing is recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FILES_JOURNAL_H
#define ECHELON_FILES_JOURNAL_H

#include "files/internal.h"
#include "files/resume.h"

/* Where the second pass goes on. */
struct files_position {
    uint32_t bin;
    uint64_t block;  /* of a bin of equal records that several units copy */
    uint64_t copied; /* the hash of what these units have copied */
};

struct files_journal {
    struct files_resume *resume;
    uint64_t interval; /* bytes after which records are written */
    uint64_t since;    /* bytes since then */
    struct files_batch batch;
    bool running;   /* a thread writes records */
    bool to_output; /* of the second pass */
    int fds[FILES_MOST_DIRECTORIES], fd_count;
    const char *failed;          /* the name of a file that cannot be written */
    struct files_bytes held[2];  /* records of blocks that are being written */
    struct files_bytes state;    /* a record of the output, without its hashes */
    struct files_bytes chunks;   /* hashes of what was written since the last record */
    struct files_bytes contents; /* of a record, while it is made */
    uint64_t state_bytes;        /* of the output, in that state */
    bool has_state;
};

/* Without sort->resume, these functions do nothing. */
io_status files_journal_open(struct files_run *run);
void files_journal_close(struct files_run *run);

/* Records the cuts, or fails if they are not those of the interrupted sort. */
io_status files_journal_cuts(struct files_run *run, const struct files_cuts *cuts);
/* Reads the blocks that were written before into the index. */
io_status files_journal_load_blocks(struct files_run *run, const struct files_plan *plan,
                                    const struct files_space *space, struct files_index *index);
/* A block was partitioned; its number has the parity which.  And a block of this parity, the last
 * but one, was written. */
io_status files_journal_block(struct files_run *run, const struct files_index *index,
                              uint64_t block, const unsigned char *bytes);
io_status files_journal_written(struct files_run *run, int which);
/* Writes all records of blocks. */
io_status files_journal_end_blocks(struct files_run *run);

/* Checks the output that was written before, and prepares to write behind it. */
io_status files_journal_load_output(struct files_run *run, struct files_position *position);
/* All units before the position were emitted; the last one may not be written yet. */
void files_journal_unit(struct files_run *run, const struct files_position *position);
/* Everything that was emitted is written. */
io_status files_journal_checkpoint(struct files_run *run, bool at_end);
/* The error would occur again: adds how to begin again to the message.  Returns IO_FAIL. */
io_status files_journal_hopeless(struct files_run *run);
/* Temporary data of this folder is not what was written. */
io_status files_journal_damaged(struct files_run *run, const char *directory);
/* Now this is emitted. */
void files_journal_emit(struct files_run *run, uint64_t hash, size_t n);

/* ---- Hashes: pieces.c ---- */

/* Sets the hashes of the pieces of a block, and adds them to those of the bins. */
void files_hash_block(const struct files_run *run, const struct files_index *index, uint64_t block,
                      const unsigned char *bytes);
/* The sum of the hashes of bins first .. last - 1 in blocks begin .. end - 1. */
uint64_t files_hash_bins(const struct files_run *run, const struct files_index *index,
                         uint32_t first, uint32_t last, uint64_t begin, uint64_t end,
                         const unsigned char *bytes);
uint64_t files_hash_output(const struct files_run *run, const unsigned char *bytes, size_t n);

#endif
