/*
 * sort_distributed.h - shared by the files of a sort on several ranks: sort_distributed.c connects
 * the ranks, sort_ranks.c contains what they agree on, sort_part.c what each rank does with
 * numbers, sort_part_blocks.c with records and lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_DISTRIBUTED_H
#define ECHELON_CLI_SORT_DISTRIBUTED_H

#include "sort_files.h"

/* A file of rank 0 for the other ranks. */
struct part_offer {
    bool given;
    char path[4096];
    uint64_t device, inode;
};

/* What rank 0 finds out, for all ranks. */
struct part_plan {
    int code;                        /* other than EXIT_DONE: rank 0 has printed a message */
    struct part_offer output, input; /* input: a copy of a stream that rank 0 has read */
    uint64_t n, offset;              /* the number of records, and where they begin in the input */
    uint64_t head_bytes;             /* that precede the records in the output */
    uint64_t row_bytes, out_bytes;   /* of a record of the input, and of the output */
    ech_dtype dtype;                 /* of numbers */
    int begin_bit, end_bit;          /* of --bits; end_bit 0: all bits */
    size_t key_count;                /* of records; 0: numbers */
    ech_record_key keys[FILES_MOST_KEYS];
    size_t swap_bytes; /* the size of an element of the input in the other byte order; 0: none */
    bool swap_back;    /* the output has that order, too */
    bool argsort;      /* the output is positions, as u64 */
    bool blocks;       /* sort_part_blocks.c; n counts bytes of lines */
    bool packed;       /* the output is compressed */
    /* Set at the end: the number of records that were read and written, and of bytes of the output
     * without its head and before it is compressed, and of the file. */
    uint64_t lines, n_out, out_total, file_bytes;
};

enum part_stage { PART_READ, PART_SORT, PART_WRITE, PART_STAGES };

/* Records in memory. */
struct block {
    unsigned char *at;
    uint64_t bytes, records;
};

/* A rank: a process, or a thread. */
struct part {
    const struct sort_set *set;
    const struct sort_job *job;
    const char *input;
    const char *device;  /* of a thread */
    ech_ctx *ctx, *host; /* of the device; of the CPU, for agreements */
    ech_comm *comm;
    int rank, ranks, threads;
    int local_rank, local_ranks; /* of a process: on its machine */
    uint64_t budget_bytes;       /* of memory */
    bool own_process;            /* the only rank of its process, which may report a lost rank */
    struct part_plan plan;
    int in, out;       /* descriptors; -1: none */
    uint64_t first, n; /* the records of this rank, in the input and in the output */
    unsigned char *data, *sorted;
    const struct lines_order *order; /* of lines of text; NULL: numbers or records */
    struct sort_files *files;        /* on rank 0: the head of the output; otherwise NULL */
    const struct files_kind *kind;   /* of sort_part_blocks.c: one of the next three */
    struct files_numbers numbers;
    struct files_records records;
    struct files_lines text_lines;
    int code; /* the first failure of this rank, and its message */
    char text[1024];
    double seconds[PART_STAGES], total_seconds;
};

/* ---- Agreements: sort_ranks.c.  All ranks return the same exit code ---- */

/* Keeps the first failure of this rank, for the next agreement. */
void part_fail(struct part *p, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails on all ranks if a rank has failed; the lowest such rank prints its message. */
int part_agree(struct part *p);
/* Fails if a distributed call has failed; rank 0 prints the message, which is in p->ctx. */
int part_check(struct part *p, ech_status status);
/* The same for a call with p->host, or without a context. */
int part_check_host(struct part *p, ech_status status);
/* The exit code of a status. */
int part_code(ech_status status);

/* Copies the plan of rank 0 to all ranks, and returns its code. */
int part_broadcast_plan(struct part *p);
/* Sets the seconds to the maximum of all ranks. */
int part_gather_seconds(struct part *p);

/* ---- Before and after, on one rank: sort_ranks.c ---- */

/* Opens the input, and fills the plan.  Returns EXIT_DONE, an exit code after a message, or
 * PART_REFUSED if several ranks cannot sort it, with a reason of at most PART_REASON bytes.  copy
 * becomes a copy of a stream that all ranks can read; NULL: streams are refused. */
enum { PART_REASON = 1024, PART_REFUSED = -1 };
int part_make_plan(struct sort_files *files, struct io_output *copy, struct part_plan *plan,
                   char *reason);
/* Gives the output its size. */
int part_prepare_output(struct io_output *output, struct part_plan *plan);
/* Prints what --timing and --json require. */
void part_report(const struct part *p, const struct sort_job *job, const char *devices);

bool part_is_reported(const struct sort_set *set);
/* Sets the size of the output, which may not have been known before. */
int part_trim(const struct part *p, const struct io_output *output);
/* Releases a rank. */
void part_end(struct part *p);

/* ---- Processes: sort_processes.c ---- */

int part_run_process(struct sort_files *files, double started);
/* The options of the communicator: --time-limit.  A rank may read for hours before the next step.
 * Most launchers detect processes that end. */
int part_comm_options(const struct sort_set *set, ech_comm_options *options);

/* ---- The work of a rank: sort_part.c ---- */

/* Reads the records of this rank, sorts, and writes its share to p->out. */
int part_run(struct part *p);
/* The memory of a rank with n numbers. */
uint64_t part_needed_bytes(const struct part *p, uint64_t n);
/* NULL: this rank has failed. */
void *part_allocate(struct part *p, uint64_t bytes);
/* Fails because the budget of memory is less. */
void part_no_room(struct part *p, uint64_t need);
/* Transfers bytes of the input or the output with all threads of this rank. */
void part_read(struct part *p, unsigned char *to, uint64_t bytes, uint64_t offset);
void part_write(struct part *p, const unsigned char *from, uint64_t bytes, uint64_t offset);
/* Releases the memory of a rank. */
void part_close(struct part *p);

/* ---- Records and lines ---- */

/* The same as part_run(): sort_part_blocks.c. */
int part_run_blocks(struct part *p);
/* Reads the lines that begin in the part of this rank: sort_part_read.c. */
int part_read_lines(struct part *p, struct block *block);
/* A cut between the shares of two ranks: sort_part_cuts.c. */
enum { PART_CUT_KEY = 224 };
struct part_cut {
    uint64_t prefix, bytes, rank, at; /* bytes: of the key, which may be truncated */
    unsigned char key[PART_CUT_KEY];
};

/* Finds the cuts, [ranks - 1]. */
int part_find_cuts(struct part *p, const struct block *block, struct part_cut *cuts);
/* Whether a record, which is at a place of the part of this rank, is below a cut. */
bool part_is_below(const struct part *p, const unsigned char *record, size_t bytes, uint64_t at,
                   const struct part_cut *cut);
/* As the function of a kind: the lengths of up to most records, and, unless it is NULL, prefixes of
 * their keys, which decide if they differ. */
size_t part_scan(const struct part *p, const unsigned char *records, size_t bytes, size_t most,
                 uint32_t *lengths, uint64_t *prefixes);
/* Where the first record is that begins at or after a place; a record begins at from. */
uint64_t part_record_at(const struct part *p, const struct block *block, uint64_t from,
                        uint64_t place);
/* Moves the records of each rank together, in their order: sort_part_divide.c.  begins receives
 * where they begin, in bytes, [ranks + 1]. */
void part_divide(struct part *p, struct block *block, const struct part_cut *cuts,
                 uint64_t *begins);
/* Writes the first bytes of the key of a record, which memcmp() compares correctly (a prefix is
 * smaller), and returns its whole length: that of records and numbers is at most PART_KEY. */
enum { PART_KEY = 520 };
size_t part_key(const struct part *p, const unsigned char *record, size_t bytes, unsigned char *to);
/* The order of numbers; with --unique, that in which numbers are equal. */
struct io_order part_order(const struct part *p);
/* Writes a share behind those of lower ranks: sort_part_write.c. */
int part_write_share(struct part *p, const struct block *block);

#endif
