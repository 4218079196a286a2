/*
 * sort_files.h - shared by the files of "echelon sort" that use the external sort: sort_files.c
 * runs it, sort_kinds.c finds out what the input is, sort_text.c whether text is numbers,
 * sort_elements.c stores its numbers as elements, sort_text_rows.c sorts its rows, sort_records.c
 * finds the shape and the keys of records, sort_after.c writes what is not the sorted records,
 * sort_resume.c continues a sort.
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
    struct io_records fields;     /* of a structured .npy array */
    bool fixed_head;              /* the head of a .npy output does not depend on what is read */
    int text_type;                /* of numbers that may be written as text */
    struct sort_scratch spool;    /* the text of a pipe */
    struct sort_scratch elements; /* the numbers of a text, if its lines are not written */
    uint64_t text_records;        /* of a text of numbers */
    /* Writes the output from the sorted records, which are in a temporary file; NULL: they are the
     * output. */
    io_status (*after)(const struct sort_files *files, struct io_source *source,
                       struct io_output *output, struct io_error *error);
    int (*run)(struct sort_files *files, struct io_output *output); /* another sort; or NULL */
    uint64_t held_bytes; /* of the budget, by the look-ahead */
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
/* Whether the inputs are too large for a sort in memory: sort_need.c. */
bool sort_files_needed(const struct sort_files *files);
/* Whether a text can be sorted in memory. */
bool sort_text_fits(const struct sort_set *set, uint64_t bytes, uint64_t records);
/* The memory budget. */
uint64_t sort_files_memory(const struct sort_set *set);
/* The output of numbers, whose format is that of its extension, otherwise format: sort_kinds.c. */
int sort_plan_numbers(struct sort_files *files, io_format format, ech_dtype dtype);
/* Makes the header of a .npy output; keep: it is that of the input. */
int sort_make_header(struct sort_files *files, const struct io_npy *npy, bool keep,
                     ech_dtype dtype);
/* Text without an option for lines: numbers, a column of numbers, or lines. */
int sort_files_text(struct sort_files *files, const struct io_hints *hints, bool *usable);
/* Records of a fixed size, of a structured .npy array, or the rows of a matrix: sort_records.c. */
int sort_files_records(struct sort_files *files, const struct io_output *output);
/* ---- The text, block by block: sort_text.c ---- */

struct sort_reader {
    struct sort_files *files;
    struct files_input *input;
    char *block; /* [room + 1] */
    size_t room, have;
    uint64_t at; /* bytes that were read */
    bool ended;  /* all bytes were read; then the last line ends in a newline */
    bool copied; /* what is read is appended to the temporary file */
};

/* Opens the first input; room 0: a suitable one. */
int sort_reader_open(struct sort_files *files, struct sort_reader *reader, size_t room);
/* Removes the bytes before done, and fills the block. */
int sort_reader_fill(struct sort_reader *reader, size_t done);

/* ---- Numbers of a text: sort_elements.c.  The column of files is that of the numbers ---- */

/* Finds at most most whole records, their offsets and numbers; keys may be NULL.  Returns the
 * bytes of these records. */
size_t sort_parse_records(const struct sort_files *files, const char *text, size_t bytes,
                          size_t most, uint64_t *lines, char *keys, size_t *n);
/* The numbers become the input, as elements in a temporary file. */
int sort_files_elements(struct sort_files *files);
/* Sorts rows of lines: sort_text_rows.c; rows of elements, into another format or positions:
 * sort_rows.c. */
int sort_text_rows(struct sort_files *files, struct io_output *output);
int sort_element_rows(struct sort_files *files, struct io_output *output);

/* ---- Outputs that are not the sorted records: sort_after.c ---- */

/* Sorts into a temporary file, and calls after. */
io_status sort_files_after(struct sort_files *files, struct io_error *error);
io_status sort_after_text(const struct sort_files *files, struct io_source *source,
                          struct io_output *output, struct io_error *error);
io_status sort_after_array(const struct sort_files *files, struct io_source *source,
                           struct io_output *output, struct io_error *error);
io_status sort_after_debug(const struct sort_files *files, struct io_source *source,
                           struct io_output *output, struct io_error *error);
/* Sets after for numbers: text, or an array whose size is known at the end. */
void sort_plan_after(struct sort_files *files, bool unknown);

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
