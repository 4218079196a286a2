/*
 * files/internal.h - shared by the files of the external sort.
 *
 *     plan.c        the memory of each part
 *     memory.c      the budget; large allocations
 *     space.c       temporary files
 *     cuts.c        the sample and the bins
 *     partition.c   a block in memory by bins
 *     distribute.c  the first pass; reader.c reads its blocks
 *     spool.c       the first pass of a stream
 *     collect.c     the second pass
 *     resume.h      a sort that can be continued: manifest.c, resume.c, journal.c
 *     check.c       order and checksum
 *     emit.c        what is written: unique, the output; direct.c writes past the page cache
 *     sort.c        the levels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FILES_INTERNAL_H
#define ECHELON_FILES_INTERNAL_H

#include "files/files.h"
#include "files/transfer.h"

enum {
    FILES_MOST_BINS = 4096,
    FILES_MOST_DIRECTORIES = 16,
    FILES_MOST_THREADS = 64,
    FILES_MOST_WRITES = 2, /* of the output, at the same time */
    FILES_MOST_CARRY = 64 << 10,
    FILES_LEAST_SHIFTED = 32 << 10 /* smaller blocks have no room for a shift of a page */
};

/* ---- Ranks: numbers.c ---- */

struct files_rank files_make_rank(ech_dtype dtype, ech_order order, bool descending, bool merged,
                                  int begin_bit, int end_bit);

static inline uint64_t files_rank_of(const struct files_rank *r, uint64_t u)
{
    const uint64_t negative = (uint64_t)0 - (u >> (8 * r->bytes - 1) & 1);
    uint64_t e = u ^ (r->sign | (negative & r->float_mask));
    e = (e - r->shift) & r->ones;
    if (r->merged) {
        e += e == r->zero;
        e = e < r->last ? e : r->last;
    }
    return (e ^ r->flip) >> r->begin_bit & r->mask;
}

/* ---- Memory: memory.c ---- */

/* Memory of bytes bytes whose pages are not used yet; NULL if there is none. */
void *files_map(size_t bytes);
void files_unmap(void *memory, size_t bytes);
static inline uint64_t files_round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}
double files_seconds(void);

/* ---- Temporary files: space.c ---- */

/* Blocks of block_bytes, in turn in the files of all directories. */
struct files_space {
    int count;
    struct {
        const char *directory;
        int fd;       /* direct, if the space is */
        int plain_fd; /* not direct; may be fd */
    } files[FILES_MOST_DIRECTORIES];
    uint64_t block_bytes;
    bool direct;
};

/* Creates files without names, and reserves space for blocks; of a stream, blocks is 0.  With
 * resume, opens the files of an interrupted sort, or creates them. */
io_status files_space_open(struct files_space *space, const struct files_sort *sort,
                           uint64_t blocks, uint64_t block_bytes, bool direct,
                           struct files_resume *resume, struct io_error *error);
void files_space_close(struct files_space *space);
static inline int files_space_file(const struct files_space *space, uint64_t block)
{
    return (int)(block % (uint64_t)space->count);
}
static inline uint64_t files_space_offset(const struct files_space *space, uint64_t block)
{
    return block / (uint64_t)space->count * space->block_bytes;
}
/* Reserves space for the output, if it is a regular file. */
io_status files_reserve_output(const struct files_sort *sort, uint64_t bytes,
                               struct io_error *error);

struct files_run;
struct files_extents;
/* Measures the speed of the disk in reserved space and in the input: sets times.disk_... */
void files_measure(struct files_run *run, const struct files_space *space,
                   const struct files_plan *plan, const struct files_extents *extents);

/* ---- A run ---- */

/* A part of a file that contains whole records. */
struct files_extent {
    int fd;
    const char *name;
    uint64_t offset, bytes;
    bool open_end; /* the terminator of the last record is missing */
    int direct_fd; /* of the same file, for direct reads; 0: none */
};

/* What is sorted at one level. */
struct files_extents {
    struct files_extent *at;
    size_t count;
    uint64_t bytes; /* of all */
    bool extend;    /* the records must be extended by prepare() */
};

/* The number and the sum of the hashes of records, which do not depend on their order. */
struct files_sum {
    uint64_t count, sum;
};

struct files_run {
    struct files_sort *sort;
    const struct files_kind *kind;
    struct files_queue *queue;
    struct io_error *error;
    int threads;
    char *arena; /* [arena_bytes] */
    size_t arena_bytes;
    struct files_sum read, written;
    uint64_t position;             /* of the next record of the input */
    int depth;                     /* of the level */
    struct files_journal *journal; /* of a sort that can be continued; otherwise NULL */
    uint64_t done_bytes, total_bytes;
    /* The output: emit.c */
    unsigned char *last; /* the last record that was written */
    size_t last_bytes, last_room;
    bool has_last;
    uint64_t emitted_bytes;
    struct files_batch writing[FILES_MOST_WRITES]; /* in turn */
    uint64_t writes_begun, writes_ended;
    int most_writes; /* at the same time; 0: one */
    const unsigned char *writing_at;
    size_t writing_bytes;
    struct io_error writing_error;
    struct files_direct {
        int fd;              /* of the output, for direct writes; -1: none */
        unsigned char *page; /* [FILES_ALIGN]; the first kept bytes are not written yet */
        size_t kept;
        uint64_t offset, plain_offset; /* of the page in the file; of a write that is not direct */
    } direct;
};

/* Bytes that the sort of a block needs. */
static inline size_t files_work_bytes(const struct files_run *run, size_t bytes, size_t records)
{
    return run->kind->work_bytes(run->kind, bytes, records);
}

/* Turns the error of a batch into a message. */
io_status files_failed(struct io_error *error, const char *name, int why, bool writing);
/* Adds to the bytes that were moved, for the progress. */
void files_progress(struct files_run *run, uint64_t bytes);

/* ---- The plan: plan.c ---- */

/* Fills the plan for records of input_bytes bytes in all, with a mean length of record_bytes. */
io_status files_plan_level(const struct files_sort *sort, uint64_t budget_bytes,
                           uint64_t input_bytes, double record_bytes, bool stream, bool inner,
                           struct files_plan *plan, struct io_error *error);
/* The memory of a sort in memory; whether the budget suffices. */
uint64_t files_need(const struct files_sort *sort, uint64_t bytes, uint64_t records);
bool files_fits(const struct files_sort *sort, uint64_t budget_bytes, uint64_t bytes,
                uint64_t records);

/* ---- Bins: cuts.c ---- */

/*
 * Cut i lies before its record, or after it if it is inclusive; bin i has the records between
 * cuts i - 1 and i.  A bin between the two cuts of a record has only equal records.
 */
struct files_cuts {
    uint32_t count;
    uint64_t *bounds; /* [count + padding]: a record is after a cut if its prefix is larger */
    const unsigned char **at; /* [count] the record; NULL if whole_prefix */
    uint32_t *bytes;
    uint8_t *inclusive, *equal; /* equal: bin i has only equal records */
    uint64_t lowest;            /* the table of the first step of the search */
    int shift, steps;
    uint16_t *table; /* [TABLE + 1] */
    char *memory;    /* of all arrays and records */
    size_t memory_bytes;
};

struct files_sample_record {
    uint64_t prefix;
    const unsigned char *at;
    uint32_t bytes;
};

/* Both arrays are in the arena; the second one is for the sort. */
struct files_sample {
    size_t count, room;
    struct files_sample_record *records, *other;
};

/* Reads a sample of the extents into the arena. */
io_status files_take_sample(struct files_run *run, const struct files_extents *extents,
                            uint32_t bins, size_t arena_bytes, struct files_sample *sample);
/* Chooses cuts for about this many bins from a sample, which it sorts. */
io_status files_make_cuts(struct files_run *run, struct files_sample *sample, uint32_t bins,
                          struct files_cuts *cuts);
void files_free_cuts(struct files_cuts *cuts);
/* ids[i]: the bin of record i.  lengths may be NULL if all records have the same. */
void files_classify(const struct files_kind *kind, const struct files_cuts *cuts,
                    const unsigned char *records, const uint32_t *lengths, const uint64_t *prefixes,
                    size_t n, uint16_t *ids);

/* ---- The first pass: reader.c, partition.c, distribute.c, spool.c ---- */

/* Where the bins of each block begin. */
struct files_index {
    uint32_t bins;
    uint64_t blocks, room;
    uint32_t *starts;  /* [blocks][bins + 1] */
    uint64_t *bytes;   /* [bins] */
    uint64_t *records; /* [bins] */
    uint64_t deep_bytes;
    uint64_t *hashes, *pieces; /* [bins] with a journal: of the bins, of the last block */
};
io_status files_index_open(struct files_index *index, uint32_t bins, uint64_t blocks,
                           struct files_run *run);
void files_index_close(struct files_index *index);
/* Makes room for another block. */
io_status files_index_room(struct files_index *index, struct files_run *run);
static inline uint32_t *files_index_row(const struct files_index *index, uint64_t block)
{
    return index->starts + block * (index->bins + 1);
}

/* Memory of a partition. */
struct files_scratch {
    uint16_t *ids; /* [ids_room] */
    size_t ids_room;
    uint32_t *counts; /* [2][threads][bins] */
};

/* Moves the records of in to out by bins, stores where each bin begins, and adds the numbers of
 * records that differ in length. */
void files_partition(struct files_run *run, const struct files_cuts *cuts, const unsigned char *in,
                     size_t bytes, unsigned char *out, const struct files_scratch *scratch,
                     uint32_t *starts, uint64_t *records);

/* Bytes before the input of a block, for the begin of a record that the block before it cut. */
static inline size_t files_carry(const struct files_kind *kind, uint64_t block_bytes)
{
    const size_t part = (size_t)(block_bytes / 16);
    return kind->record_bytes ? 0 : part < FILES_MOST_CARRY ? part : (size_t)FILES_MOST_CARRY;
}
/* A place in extents: in this one, at this offset. */
struct files_place {
    size_t extent;
    uint64_t offset;
};
/* Reads extents, one block after the other. */
struct files_reader {
    struct files_run *run;
    const struct files_extents *extents;
    struct files_place at; /* the next bytes to be requested */
};
/* Opens the files of extents for direct reads, as far as that works, and closes them. */
void files_reader_use_direct(struct files_run *run, struct files_extents *extents);
void files_reader_close_direct(const struct files_extents *extents);
/* A block that is being read. */
struct files_fill {
    struct files_place from; /* where the reader was */
    struct files_batch batch;
    unsigned char *buffer;
    size_t have, room; /* what is there or requested */
    size_t kept;       /* what was there before */
    size_t input_at;   /* where the input begins, of records that are extended */
    bool at_end;       /* nothing is left to be read after it */
    const char *name;  /* of what is read */
};
void files_reader_open(struct files_reader *reader, struct files_run *run,
                       const struct files_extents *extents);
/* Begins to fill buffer, which already contains have bytes. */
void files_reader_begin(struct files_reader *reader, struct files_fill *fill, unsigned char *buffer,
                        size_t room, size_t have);
/* Checks the quotes of CSV in a block, which begins at or before the fill and ends with it.  last:
 * it has whole records; otherwise cut() was called for it. */
io_status files_reader_quotes(const struct files_reader *reader, const struct files_fill *fill,
                              const unsigned char *block, size_t bytes, bool last);
/* Where to begin in a buffer, so that the pages of the input are pages in memory. */
size_t files_reader_shift(const struct files_reader *reader, const unsigned char *buffer,
                          size_t room);
/* Begins behind the first bytes, which are whole records. */
void files_reader_skip(struct files_reader *reader, uint64_t bytes);
/* Waits.  *bytes receives the bytes in the buffer; 0: the end. */
io_status files_reader_end(struct files_reader *reader, struct files_fill *fill, size_t *bytes);

io_status files_distribute(struct files_run *run, const struct files_plan *plan,
                           const struct files_extents *extents, const struct files_cuts *cuts,
                           struct files_space *space, struct files_index *index);
/* Sorts inputs of which one is a stream: spool.c */
io_status files_sort_stream(struct files_run *run);
/* Reads the inputs one after the other: stream.c.  The buffer to already contains have bytes.  *got
 * receives the bytes in to, which are less than want only at the end. */
struct files_stream {
    struct files_run *run;
    int input;          /* the current one */
    uint64_t done;      /* bytes of it */
    unsigned char last; /* its last byte */
    unsigned char *to;  /* being filled */
    size_t have, want, got;
    size_t begin; /* of the input, or of a record in it, in to */
    struct files_batch batch;
    struct io_error error;
};
void files_stream_begin(struct files_stream *stream, unsigned char *to, size_t have, size_t want);
io_status files_stream_end(struct files_stream *stream, size_t *got);
/* The boundaries of the bins in sorted blocks: fences.c */
struct files_fences {
    uint64_t *prefixes; /* [room] */
    uint32_t *offsets;  /* [room] of the record in its block */
    uint32_t *numbers;  /* [room] of the record in its block, from 0 */
    size_t room, step;  /* step: bytes between two fences */
    uint64_t *first;    /* [blocks + 1] the first fence of each block */
    uint32_t *bytes;    /* [blocks] */
    uint32_t *records;  /* [blocks] */
    uint64_t blocks, blocks_room;
};
io_status files_fences_open(struct files_fences *fences, struct files_run *run, size_t bytes);
void files_fences_close(struct files_fences *fences);
io_status files_fences_add(struct files_fences *fences, struct files_run *run,
                           const unsigned char *block, size_t bytes);
io_status files_fences_find(const struct files_fences *fences, struct files_run *run,
                            const struct files_cuts *cuts, const struct files_space *space,
                            struct files_index *index);

/* ---- The second pass: collect.c ---- */

io_status files_collect(struct files_run *run, const struct files_plan *plan,
                        const struct files_cuts *cuts, const struct files_space *space,
                        const struct files_index *index, int depth);
/* Sorts records that fit in the budget: single.c */
io_status files_sort_single(struct files_run *run, const struct files_extents *extents,
                            uint64_t budget_bytes, bool *done);
/* The same for records that are at the begin of the arena. */
io_status files_sort_arena(struct files_run *run, size_t bytes, size_t records);
/* Sorts a block; the result is in block->in or block->out. */
io_status files_sort_block(struct files_run *run, struct files_block *block);
/* The number of records of a block. */
static inline uint64_t files_count(const struct files_run *run, const unsigned char *bytes,
                                   size_t n)
{
    return run->kind->record_bytes ? n / run->kind->record_bytes
                                   : run->kind->count(run->kind, bytes, n);
}
/* Sorts numbers of 8 or 16 bits by counting them, with this much memory: count.c */
io_status files_sort_counted(struct files_run *run, const struct files_extents *extents);
uint64_t files_count_bytes(void);
/* Sorts extents of any size: sort.c */
io_status files_sort_level(struct files_run *run, const struct files_extents *extents,
                           uint64_t budget_bytes, uint64_t records, int depth);

/* ---- The check of order and contents: check.c ---- */

struct files_checked {
    struct files_sum sum;
    bool sorted; /* also with the last record that was written before */
    const unsigned char *last;
    size_t last_bytes;
};
void files_check(struct files_run *run, const unsigned char *bytes, size_t n, bool order,
                 struct files_checked *checked);

/* ---- The output: emit.c ---- */

/* Adds the records to a sum. */
void files_add_sum(struct files_run *run, struct files_sum *sum, const unsigned char *bytes,
                   size_t n);
/* Writes sorted records while the caller goes on; the memory may change and is in use until
 * files_emit_wait(), or, unless most_writes is larger, until files_emit() returns again. */
io_status files_emit(struct files_run *run, unsigned char *bytes, size_t n);
io_status files_emit_wait(struct files_run *run);
/* Waits for the oldest write. */
io_status files_emit_wait_one(struct files_run *run);
/* Keeps a copy of the last record. */
io_status files_keep_last(struct files_run *run, const unsigned char *last, size_t bytes);

/* ---- Writes past the page cache: direct.c ---- */

void files_direct_open(struct files_run *run);
void files_direct_close(struct files_run *run);
/* Where records should begin in a buffer that is aligned to FILES_ALIGN. */
static inline size_t files_direct_shift(const struct files_run *run)
{
    return run->direct.fd >= 0 ? run->direct.kept : 0;
}
/* The batch of the next write. */
static inline struct files_batch *files_emit_begin(struct files_run *run)
{
    return &run->writing[run->writes_begun++ % FILES_MOST_WRITES];
}
/* Begins to write records; files_emit_wait() waits. */
io_status files_direct_write(struct files_run *run, unsigned char *bytes, size_t n);
io_status files_direct_end(struct files_run *run);
/* Also without direct writes: writes what was emitted but is still in a buffer.  The next write
 * writes it again.  Returns an errno, or 0. */
int files_write_tail(struct files_run *run);
/* The output has this many bytes already.  Returns an errno, or 0. */
int files_seek_output(struct files_run *run, uint64_t bytes);

#endif
