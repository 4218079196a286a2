/*
 * sort_files.h - shared by the files of "echelon sort" that use the external sort: sort_files.c
 * runs it, sort_kinds.c finds out what the input is, sort_text.c whether text is numbers,
 * sort_records.c the shape and the keys of records, sort_resume.c continues it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_FILES_H
#define ECHELON_CLI_SORT_FILES_H

#include "files/files.h"
#include "files/resume.h"
#include "sort_scratch.h"

/* The begin of an input. */
struct sort_begin {
    char expects[128];   /* what the header of a .npy input specifies */
    size_t header_bytes; /* of a .npy input */
    char *bytes;         /* the look-ahead, if that of the source was not enough */
};

/* An external sort, from the options to the end. */
struct sort_files {
    const struct sort_set *set;
    struct sort_job *job;
    struct sort_text *text;
    bool lines;   /* an option requires lines */
    bool is_file; /* the output is a regular file */
    int count;    /* of inputs */
    struct io_source *sources;
    struct files_input *inputs;
    struct files_numbers numbers;
    struct files_records records;
    struct files_lines text_lines;
    struct files_column column;
    struct io_records fields;  /* of a structured .npy array */
    bool fixed_head;           /* the head of a .npy output does not depend on what is read */
    int text_type;             /* of numbers that may be written as text */
    struct sort_scratch spool; /* the text of a pipe */
    uint64_t held_bytes;       /* of the budget, by the look-ahead */
    struct files_sort sort;
    char *head; /* of the output: a .npy header, the head of a text */
    size_t head_bytes;
    struct sort_begin *begins; /* [count] */
    char descr[16];            /* of a .npy output */
    const char *what;          /* a note for the report */
    struct io_progress progress;
    const char *stage; /* that the progress shows */
    double stage_began;
    uint64_t stage_bytes, done_bytes; /* when it began; now */
    char shown[64];
    const char *default_directory[1];
    struct files_resume resume;                 /* if sort.resume is set */
    char *options;                              /* for it */
    uint64_t continued_blocks, continued_bytes; /* that an interrupted sort had written */
};

/* Opens the inputs, and determines the kind of their records.  *usable: whether the external sort
 * can do what the options require. */
int sort_files_open(struct sort_files *files, const struct io_output *output, bool *usable);
/* The memory budget. */
uint64_t sort_files_memory(const struct sort_set *set);
/* Text without an option for lines: numbers, a column of numbers, or lines. */
int sort_files_text(struct sort_files *files, const struct io_hints *hints, bool *usable);
/* Records of a fixed size, of a structured .npy array, or the rows of a matrix: sort_records.c. */
int sort_files_records(struct sort_files *files, const struct io_output *output);
/* Sorts numbers whose output is text, one per line: sort_numbers_text.c. */
io_status sort_files_as_text(struct sort_files *files, struct io_error *error);
/* Leaves out the first bytes of an input. */
void sort_files_skip(struct sort_files *files, int i, size_t bytes);
/* Reads from a place behind the look-ahead, of which nothing is left. */
int sort_files_read(struct sort_files *files, int i, char *to, size_t from, size_t want,
                    size_t *got);
/* Sorts lines by an order. */
int sort_files_lines(struct sort_files *files, const struct lines_order *order);
/* The first bytes of the first input are the head of the output, and end in the character end. */
int sort_files_head(struct sort_files *files, const char *head, size_t bytes, char end);
/* Leaves a single input, of which some bytes were read, to the sort in memory. */
void sort_files_hand_over(struct sort_files *files);
void sort_files_close(struct sort_files *files);

/* ---- --resume: sort_resume.c.  Without this option, these functions do nothing ---- */

/* Finds the manifest.  *ended: nothing is to be sorted. */
int sort_resume_open(struct sort_files *files, const struct io_output *output, bool *ended);
int sort_resume_prepare(struct sort_files *files);
io_status sort_resume_commit(struct sort_files *files, struct io_output *output,
                             struct io_error *error);
/* Prints how an interrupted sort is continued. */
void sort_resume_failed(const struct sort_files *files);
void sort_resume_report(const struct sort_files *files, char *text, size_t bytes);
void sort_resume_close(struct sort_files *files);

#endif
