/*
 * sort_distributed.h - shared by the files of a sort on several ranks: sort_distributed.c connects
 * the ranks, sort_ranks.c contains what they agree on, and
 * sort_part.c and sort_part_lines.c what each rank does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_DISTRIBUTED_H
#define ECHELON_CLI_SORT_DISTRIBUTED_H

#include "sort_files.h"

/* What rank 0 finds out, for all ranks. */
struct part_plan {
    int code;                      /* other than EXIT_DONE: rank 0 has printed a message */
    char output[4096];             /* the temporary file */
    uint64_t n, offset;            /* the number of records, and where they begin in the input */
    uint64_t head_bytes;           /* that precede the records in the output */
    uint64_t row_bytes, out_bytes; /* of a record of the input, and of the output */
    ech_dtype dtype;               /* of numbers */
    size_t key_count;              /* of records; 0: numbers */
    ech_record_key keys[FILES_MOST_KEYS];
    size_t swap_bytes; /* the size of an element of the input in the other byte order; 0: none */
    bool swap_back;    /* the output has that order, too */
    bool argsort;      /* the output is positions, as u64 */
    /* Lines of text: n counts bytes, of which row_bytes is 1. */
    uint64_t lines,
        text_bytes; /* the number of lines, and of bytes of the output; set at the end */
};

enum part_stage { PART_READ, PART_SORT, PART_WRITE, PART_STAGES };

/* A rank: a process, or a thread. */
struct part {
    const struct sort_set *set;
    const struct sort_job *job;
    const char *input;
    const char *device;  /* of a thread */
    ech_ctx *ctx, *host; /* of the device; of the CPU, for agreements */
    ech_comm *comm;
    int rank, ranks, threads;
    uint64_t budget_bytes; /* of memory */
    bool own_process;      /* the only rank of its process, which may report a lost rank */
    struct part_plan plan;
    int in, out;       /* descriptors; -1: none */
    uint64_t first, n; /* the records of this rank, in the input and in the output */
    unsigned char *data, *sorted;
    uint64_t *keys, *sorted_keys;    /* of records: 8 bytes of their keys */
    const struct lines_order *order; /* of lines of text; NULL: numbers or records */
    uint64_t lines;                  /* of this rank */
    int code;                        /* the first failure of this rank, and its message */
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

/* Opens the input, and fills the plan. */
int part_make_plan(struct sort_files *files, const struct io_output *output,
                   struct part_plan *plan);
/* Gives the output its size and its head, and its temporary file a name if it is named. */
int part_prepare_output(const struct sort_files *files, struct io_output *output,
                        struct part_plan *plan, bool named);
/* Prints what --timing and --json require. */
void part_report(const struct part *p, const struct sort_job *job, const char *devices);

/* ---- The work of a rank: sort_part.c ---- */

/* Reads the records of this rank, sorts, and writes its share to p->out. */
int part_run(struct part *p);
/* The same for lines of text: sort_part_lines.c. */
int part_run_lines(struct part *p);
/* Transfers bytes of the input or the output with all threads of this rank. */
void part_read(struct part *p, unsigned char *to, uint64_t bytes, uint64_t offset);
void part_write(struct part *p, const unsigned char *from, uint64_t bytes, uint64_t offset);
/* Releases the memory of a rank. */
void part_close(struct part *p);

#endif
