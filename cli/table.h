/*
 * table.h - several columns of one text, each of numbers or of strings, and the order of strings.
 *
 *     table_load()  read the text -> find the columns and the header -> numbers or strings
 *     table_rank()  strings -> numbers with the same order, so that all operations apply to them
 *
 * A column without a given kind is text if neither of its first two values that are not empty is a
 * number.  Otherwise it is numbers, and a value that is not a number is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_TABLE_H
#define ECHELON_CLI_TABLE_H

#include "job.h"

enum { TABLE_COLUMNS = 64 };

/* The row of an option table for a bool. */
#define TABLE_STRING_OPTION(target)                                                                \
    {                                                                                              \
        0, "string", NULL, &(target),                                                              \
            "compare the lines, or the column, as text: by bytes, as\nLC_ALL=C"                    \
    }

enum table_kind { TABLE_GUESS = 0, TABLE_NUMBERS = 1, TABLE_STRINGS = 2 };

struct table_column {
    const char *word;     /* number, from 1, or name; NULL: the whole line */
    enum table_kind kind; /* TABLE_GUESS until it is loaded */
    int type;             /* of numbers; -1: automatic */
    struct io_cut cut;
    ech_dtype dtype;   /* of keys */
    void *keys;        /* [n] numbers, or, after table_rank(), the ranks of the strings */
    uint64_t *offsets; /* [n + 1], only of strings, as all following fields */
    char *bytes;       /* string i is bytes[offsets[i]] ... bytes[offsets[i + 1] - 1] */
    uint64_t distinct; /* after table_rank(): the ranks are 0 ... distinct - 1 */
};

struct table {
    struct table_column columns[TABLE_COLUMNS];
    int count;
    struct io_records records; /* the fields of a structured .npy array */
    char delimiter;            /* 0: blanks */
    bool has_string;           /* the subcommand has --string, which errors may recommend */
};

/* Adds a column, or finds the one with this word and kind.  Returns its position; -1 after a
 * message if there are too many. */
int table_add(struct table *table, const char *word, enum table_kind kind, int type);

/*
 * Reads job->input.  A text becomes job->column without keys, but with lines; the columns have the
 * keys.  For other formats, a column without a word is job->column, whose keys the first such
 * column receives; a structured .npy array has columns with the names of its fields.
 */
int table_load(struct job *job, const struct job_words *words, struct table *table);
void table_free(struct table *table);

/* Reads one column of numbers or strings to job->column; strings are ranked, and job->strings is
 * set.  string: the option --string. */
int table_load_one(struct job *job, const struct job_words *words, bool string,
                   struct table *table);

/* Writes the ranks of the n strings to keys, as u32 or u64: equal strings have equal ranks. */
int table_rank(struct job *job, struct table_column *column, uint64_t n);

/* The name of a column, from malloc(): in the header, empty without one, or of a field.  Returns
 * NULL if out of memory. */
char *table_title(const struct job *job, const struct table_column *column);

/* Writes a field of a table: quoted if it contains the delimiter, a quote or an end of line. */
io_status table_write_field(struct io_output *output, char delimiter, const char *at, size_t n,
                            struct io_error *error);

/* Writes the records at n positions of a structured array, in the byte order of the input. */
io_status table_write_records(const struct job *job, struct io_output *output, bool npy,
                              const uint64_t *positions, uint64_t n, struct io_error *error);

/* Fails if --string is given with options of numbers. */
int table_check_string(bool string, const struct job_words *words);

#endif
