/*
 * sort_files.h - shared by the files of "echelon sort" that use the external sort: sort_files.c
 * runs it, sort_kinds.c finds out what the records are, sort_resume.c continues it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_FILES_H
#define ECHELON_CLI_SORT_FILES_H

#include "files/files.h"
#include "files/resume.h"
#include "sort.h"

/* The begin of an input. */
struct sort_begin {
    char expects[128];   /* what the header of a .npy input specifies */
    size_t header_bytes; /* of a .npy input */
    char *bytes;         /* the look-ahead, if it was not enough for the header of a text */
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
    struct lines_order *numeric; /* of text whose lines are numbers; owned */
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
int sort_files_open(struct sort_files *files, bool *usable);
/* Leaves a single stream, of which some bytes were read, to the sort in memory. */
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
