/*
 * files/files.h - sorts files of any size within a memory budget.
 *
 *     files_sort()   plan -> fits: read, sort, write
 *                         -> larger: sample, distribute into bins, sort and write each bin
 *                         -> a pipe: sorted blocks, then bins of them
 *
 * What a record is, its order and the sort of a block in memory are those of a kind: numbers.c,
 * records.c, lines.c and column.c.  README.md describes the algorithm and the memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FILES_H
#define ECHELON_FILES_H

#include "io/io.h"
#include "lines/lines.h"

/* ---- Kinds of records ---- */

/* Maps a number to an unsigned integer whose order is that of the numbers; core/order.h. */
struct files_rank {
    size_t bytes; /* of a number */
    uint64_t ones, sign, float_mask, shift, zero, last, flip, mask;
    bool merged; /* -0 equals +0, and all NaN are equal */
    int begin_bit;
};

/* Whole records in memory, and where the sort writes them. */
struct files_block {
    const char *name;   /* of the first input, for messages */
    unsigned char *in;  /* [bytes] */
    unsigned char *out; /* [bytes]; receives the sorted records unless the kind sorts in place */
    size_t bytes, records;
    void *work; /* [work_bytes], 256-byte aligned */
    size_t work_bytes;
    int threads;
    size_t out_bytes;  /* set by the sort: bytes, or less if it drops equal records */
    ech_status status; /* set by the sort: the error of the library */
};

struct files_kind {
    const char *name;    /* for the plan: "u32" */
    size_t record_bytes; /* of every record; 0: they differ */
    size_t input_bytes;  /* of a record in the input; not record_bytes if prepare() extends it */
    size_t output_bytes; /* of a record in the output; 0: they differ */
    int terminator;      /* ends every record, and is added at the end of an input; -1: none */
    bool whole_prefix;   /* records with equal prefixes are equal */
    bool in_place;       /* sort() leaves its result in block->in */
    const void *state;
    /* The rank of numbers of 8 or 16 bits that are sorted by all bits, so that counts suffice;
     * otherwise NULL. */
    const struct files_rank *rank;

    /*
     * Reads up to most records from bytes[0 .. n-1], which are whole records.  Stores the length
     * of each in lengths, and its prefix in prefixes, unless NULL: a number whose order is that of
     * the records, as far as it differs.  Returns the number of records.
     */
    size_t (*scan)(const struct files_kind *kind, const unsigned char *bytes, size_t n, size_t most,
                   uint32_t *lengths, uint64_t *prefixes);
    /* < 0, 0, > 0: the order of two records with equal prefixes.  NULL if whole_prefix. */
    int (*compare)(const struct files_kind *kind, const unsigned char *a, size_t a_bytes,
                   const unsigned char *b, size_t b_bytes);
    /* Whether unique keeps only one of the two.  NULL: records that compare equal. */
    bool (*same)(const struct files_kind *kind, const unsigned char *a, size_t a_bytes,
                 const unsigned char *b, size_t b_bytes);
    /* For records that differ in length: the first begin of a record at or after at, given that one
     * begins at from; n if there is none.  The end of the last whole record in n bytes.  The number
     * of records. */
    size_t (*boundary)(const struct files_kind *kind, const unsigned char *bytes, size_t n,
                       size_t from, size_t at);
    size_t (*cut)(const struct files_kind *kind, const unsigned char *bytes, size_t n);
    uint64_t (*count)(const struct files_kind *kind, const unsigned char *bytes, size_t n);
    /* The offset of a quote of CSV in a wrong place; SIZE_MAX: none.  last: these are whole
     * records; otherwise cut() was called for them.  NULL: quotes have no meaning, or sort() checks
     * them. */
    size_t (*misplaced)(const struct files_kind *kind, const unsigned char *bytes, size_t n,
                        bool last);

    /* Memory that sort() needs besides in and out. */
    size_t (*work_bytes)(const struct files_kind *kind, size_t bytes, size_t records);
    io_status (*sort)(const struct files_kind *kind, ech_ctx *ctx, struct files_block *block,
                      struct io_error *error);

    /* Extends n records of the input, which begin at from, to records at to; from is not below
     * to, and ends where the records end.  first: the position of the first record.  NULL: the
     * input has the records. */
    void (*prepare)(const struct files_kind *kind, const unsigned char *from, unsigned char *to,
                    size_t n, uint64_t first);
    /* Turns n sorted records into what is written, in place.  NULL: they are written. */
    void (*finish)(const struct files_kind *kind, unsigned char *records, size_t n);
};

/* Numbers of a dtype.  argsort: the output is positions, as u64.  swap: the input is in big-endian
 * byte order, and the output, too. */
struct files_numbers {
    struct files_kind kind;
    ech_dtype dtype;
    ech_sort_options options;
    struct files_rank rank, same; /* of the sort; of unique */
    bool on_cpu;                  /* the workspace is in host memory */
};
void files_numbers_init(struct files_numbers *numbers, ech_dtype dtype,
                        const ech_sort_options *options, bool argsort, bool swap,
                        const char *device);

/* Records of a fixed size with keys. */
enum { FILES_MOST_KEYS = 16 };
struct files_records {
    struct files_kind kind;
    ech_record_key keys[FILES_MOST_KEYS];
    struct files_rank ranks[FILES_MOST_KEYS]; /* of keys of a dtype */
    size_t key_count;
    ech_columns_options options;
    bool on_cpu, argsort;
    size_t swap_bytes; /* of an element in the other byte order; 0: none */
};
void files_records_init(struct files_records *records, size_t record_bytes,
                        const ech_record_key *keys, size_t key_count,
                        const ech_columns_options *options, const char *device);

/* The input consists of big-endian elements; back: the output, too. */
void files_records_swap(struct files_records *records, size_t element_bytes, bool back);
/* The output is the positions of the records, as u64.  After files_records_swap(). */
void files_records_positions(struct files_records *records);

/* Lines of text.  quoted: a newline between quotes does not end a record (CSV). */
struct files_lines {
    struct files_kind kind;
    const struct lines_order *order;
    bool quoted;
    int threads;
    size_t misplaced, *fault; /* of the last cut(); fault points to it */
};
void files_lines_init(struct files_lines *lines, const struct lines_order *order, bool quoted,
                      int threads);

/* Records of text by the number of a column, which is in every record.  delimiter: records are
 * those of CSV with it; 0: every line is a record. */
struct files_column {
    struct files_kind kind;
    struct io_cut cut;
    char delimiter;
    ech_dtype dtype;
    ech_sort_options options;
    struct files_rank rank;
    bool on_cpu;
};
void files_column_init(struct files_column *column, const struct io_cut *cut_at, char delimiter,
                       ech_dtype dtype, const ech_sort_options *options, const char *device);

/* ---- Inputs ---- */

/* Bytes of a file, or a stream that is read to its end. */
struct files_input {
    const char *name;         /* for messages */
    int fd;                   /* of a regular file; -1: a stream */
    uint64_t offset, bytes;   /* of the records in the file */
    struct io_source *stream; /* only without fd */
    uint64_t expected;        /* bytes of a stream, if expects is not NULL */
    const char *expects;      /* for a message: "the header specifies 3 elements" */
};

/* ---- The plan ---- */

struct files_plan {
    uint64_t budget_bytes; /* all memory below */
    uint64_t input_bytes;  /* of all records; 0 of a stream */
    bool stream;
    bool inner;           /* of a bin that is distributed again */
    bool direct_output;   /* the output, too */
    bool counted;         /* numbers of 8 or 16 bits are counted: one read and one write */
    bool fits;            /* one read and one write */
    bool direct;          /* temporary files bypass the page cache */
    uint64_t fixed_bytes; /* buffer of the output, queues */
    uint64_t index_bytes; /* limit of the positions of the pieces of bins in blocks */
    uint64_t block_bytes; /* of a block of the first pass */
    uint64_t blocks;
    uint64_t ids_bytes;                 /* numbers of the bins of a block's records */
    uint64_t bin_bytes;                 /* limit of what the second pass sorts at once */
    uint64_t work_bytes;                /* of that sort */
    uint64_t first_bytes, second_bytes; /* memory of each pass */
    uint32_t bins;
    int levels;               /* passes that distribute, if the sample is good */
    uint64_t temporary_bytes; /* temporary space at the same time */
    double record_bytes;      /* mean length of a record */
};

/* ---- The sort ---- */

struct files_times {
    double sample, read, partition, spool, collect, sort, write, check, sync;
    /* Bytes per second of a short measurement, of temporary files and of the input; 0: not
     * measured. */
    double disk_read, disk_write, disk_input;
    double measure;                       /* seconds that it took, which are not part of the sort */
    uint64_t read_bytes, temporary_bytes; /* read; written to and read from temporary files */
};

struct files_sort {
    const struct files_kind *kind;
    const struct files_input *inputs;
    int input_count;
    const char *const *directories; /* for temporary files; at least one */
    int directory_count;
    uint64_t memory_bytes; /* the budget */
    int threads;           /* 0: all */
    const char *transfers; /* "io_uring", "threads" or "none"; NULL: the best that works */
    bool unique, verify;
    bool measure;              /* measure the speed of the disk */
    bool direct, buffered;     /* force or forbid direct transfers of temporary files */
    const unsigned char *head; /* [head_bytes] that precede the output */
    size_t head_bytes;
    /* Patches the head of a regular file when the number of records is known; NULL: nothing. */
    void (*patch)(void *user, uint64_t records, unsigned char *head);
    void *user;
    void (*stage)(void *user, const char *what); /* for the progress; may be NULL */
    const struct io_progress *progress;          /* may be NULL */
    ech_ctx *ctx;
    const char *device;
    struct io_output *output;
    bool
        output_is_file; /* the bytes are written to the same places of a file, which commit names */
    struct files_resume *resume; /* continue, or can be continued: resume.h; NULL: neither */
    const char *options;         /* with resume: what determines the order, as text */
    /* Results */
    struct files_plan plan;
    struct files_times times;
    const char *used_transfers;
    uint64_t records, written, bins, deep; /* deep: bins that had to be distributed again */
    ech_status library;                    /* the error of the library, if it failed */
    uint64_t checksum;                     /* with verify: the sum of the hashes of all records */
    uint64_t output_bytes;                 /* reserved for the output */
};

/* The budget that the machine, the cgroup and the limits of the process leave. */
uint64_t files_memory(void);

/* Creates a temporary file without a name. */
io_status files_temporary(const char *directory, int *fd, struct io_error *error);

/* Plans a sort without starting it.  Fails if the budget is too small. */
io_status files_plan(struct files_sort *sort, struct io_error *error);
/* Writes the plan as lines of text. */
void files_plan_text(const struct files_sort *sort, char *text, size_t bytes);

/* Sorts the inputs and writes the output, which the caller commits. */
io_status files_sort(struct files_sort *sort, struct io_error *error);

#endif
