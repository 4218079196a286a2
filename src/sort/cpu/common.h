/*
 * sort/cpu/common.h - declarations that the files of the CPU sort share: the kernels that have
 * instruction-set variants, and the description of a running sort.
 *
 * Kernels know two properties of keys: their width and the window, the bits of the encoded key
 * (core/order.h) that are compared.  They read raw keys and encode them in registers, so the input
 * is never modified.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_COMMON_H
#define ECHI_SORT_CPU_COMMON_H

#include "cpu/groups.h"
#include "sort/sort.h"

enum {
    ECHI_BUCKETS = 256,        /* of one scatter */
    ECHI_ENTRIES = 4096,       /* size of the table that maps a key to its bucket */
    ECHI_BLOCK_KEYS = 1 << 14, /* maximum number of elements of a block, which is sorted in the
                                  cache */
    ECHI_PACKED_KEYS = 512,    /* maximum number of elements for sort_packed() */
    ECHI_RANKED_KEYS = 24,     /* the same for sort_ranks() */
    ECHI_SCRATCH_BYTES = 16,   /* scratch per element of a block */
    /* Buffer of a bucket, for the wider of key and value; 64 and 128 are slower. */
    ECHI_LINE_BYTES = 256,
    ECHI_LINES_BYTES = 2 * ECHI_BUCKETS * ECHI_LINE_BYTES, /* buffers of keys and of values */
    ECHI_STACK_BYTES = 8192 /* sorts that need no more than this use the stack instead of a
                                  workspace */
};

/* A sort compares x(key) = (encode(key) >> begin) & mask. */
struct echi_window {
    struct echi_order order;
    int begin;
    uint64_t mask;
};

/* bucket[min((x - low) >> shift, ECHI_ENTRIES - 1)], where x - low is 0 for x < low: a monotone
 * map. */
struct echi_digits {
    struct echi_window window;
    uint64_t low;
    int shift;
    uint8_t bucket[ECHI_ENTRIES];
};

/* The distinct keys of an array that has few: x[i] ascend, and key x[i] has entry i, which is
 * entry[h], where h are the highest bits of x * multiplier in the keys' width. */
enum { ECHI_VALUES = 32, ECHI_HASH_BITS = 8 };
struct echi_values {
    struct echi_window window;
    int count;
    uint64_t x[ECHI_VALUES], multiplier;
    uint8_t entry[1 << ECHI_HASH_BITS];
};

/* Keys and their values. */
struct echi_sort_arrays {
    char *keys;
    char *values; /* NULL: none, or (as a source) the positions */
};

/* One part of a scatter: elements [first, first + n) of from go to to[at[bucket]++]. */
struct echi_scatter {
    const struct echi_digits *digits;
    struct echi_sort_arrays from, to;
    size_t first, n;
    size_t value_bytes;
    bool index;  /* the values are the positions */
    bool stream; /* too large to stay in the cache */
    size_t *at;  /* [ECHI_BUCKETS] */
    char *lines; /* ECHI_LINES_BYTES, aligned to 64 bytes; NULL: on the stack of the thread */
};

enum echi_run { ECHI_UNORDERED, ECHI_ASCENDING, ECHI_REVERSED };

/* Kernels for one width of keys. */
/* Short arrays of raw keys: the n[i] keys of keys[i] are sorted into out[i], which may be keys[i].
 * The arrays do not overlap others. */
enum { ECHI_SORT_MANY = 16 };
struct echi_sort_many {
    const void *keys[ECHI_SORT_MANY];
    void *out[ECHI_SORT_MANY];
    size_t n[ECHI_SORT_MANY];
};

struct echi_sort_width {
    /* out[i] = x(keys[i]), in the keys' width; out may be keys. */
    void (*encode)(const struct echi_window *window, const void *keys, void *out, size_t n);
    /* Inverts encode() for a full window and an order that is a bijection; in place. */
    void (*decode)(const struct echi_order *order, void *keys, size_t n);
    /* Detects whether keys are in order, or in reverse order; strict: without equal keys. */
    enum echi_run (*run)(const struct echi_window *window, const void *keys, size_t n, bool strict);
    /* The bits in which any two x(key) differ. */
    uint64_t (*differ)(const struct echi_window *window, const void *keys, size_t n);
    /* The minimum x(key) of n > 0 keys, and the difference of the maximum. */
    uint64_t (*range)(const struct echi_window *window, const void *keys, size_t n, uint64_t *low);
    /* out[i] = x(key) for `count` evenly spaced keys of keys[n]. */
    void (*sample)(const struct echi_window *window, const void *keys, size_t n, uint64_t *out,
                   size_t count);
    /* counts[v] += the number of keys that x[v] encodes, for v < values.  As decode(). */
    void (*tally)(const struct echi_order *order, const void *keys, size_t n, const uint64_t *x,
                  int values, size_t *counts);
    /* Writes the key that x encodes n times. */
    void (*fill)(const struct echi_order *order, uint64_t x, void *keys, size_t n);
    /* counts[bucket of key]++ for all keys. */
    void (*count)(const struct echi_digits *digits, const void *keys, size_t n, size_t *counts);
    void (*scatter)(const struct echi_scatter *scatter);
    /* The same by entry, without a bucket: counts[entry of key]++, and out[at[entry]++] = value, of
     * 4 or 8 bytes, or the position if values is NULL.  Entries are those of digits, or of `few`
     * keys if it is not NULL: then counting fails if there is a key with no entry. */
    bool (*count_entries)(const struct echi_digits *digits, const struct echi_values *few,
                          const void *keys, size_t n, uint32_t *counts);
    void (*place)(const struct echi_digits *digits, const struct echi_values *few, const void *keys,
                  size_t n, const char *values, size_t value_bytes, uint32_t *at, char *out);
    /* out[i] = ((x(keys[i]) & keep) >> drop) << index_bits | i */
    void (*pack)(const struct echi_window *window, const void *keys, size_t n, uint64_t keep,
                 int drop, int index_bits, uint64_t *out);
    /* The same for n packed integers, whose positions remain. */
    void (*pack_again)(const struct echi_window *window, const void *keys, size_t n, uint64_t keep,
                       int drop, int index_bits, uint64_t *packed);
    void (*pack_narrow)(const struct echi_window *window, const void *keys, size_t n, uint64_t keep,
                        int drop, int index_bits, uint32_t *out);
    /* Sorts n <= ECHI_PACKED_KEYS keys with values, or with their positions of 4 or 8 bytes if
     * values is NULL, stably, as 64-bit integers.  keys_out may be NULL or keys; values_out may not
     * be values.  NULL for keys of 64 bits, and without vectors. */
    void (*sort_packed)(const struct echi_window *window, const void *keys, const void *values,
                        size_t n, size_t value_bytes, void *keys_out, void *values_out);
    /* The same for n <= ECHI_RANKED_KEYS keys of all widths; values_out may not be values. NULL if
     * the instruction set has no such function. */
    void (*sort_ranks)(const struct echi_window *window, const void *keys, const void *values,
                       size_t n, size_t value_bytes, void *keys_out, void *values_out);
    /* Moves sorted packed integers that agree above the index into the order of their keys; false
     * if there are too many of them for this method. */
    bool (*fix_ties)(const struct echi_window *window, const void *keys, uint32_t *packed, size_t n,
                     int index_bits);
    /* Sorts unsigned x[n] by bits [begin, end): the only bits in which they differ or, if stable,
     * the only bits to compare.  The keys are in y if in_y, otherwise in x; the result is in x.
     * NULL for widths below 32 bits. */
    void (*sort)(void *x, void *y, size_t n, bool in_y, int begin, int end);
    /* Sorts raw keys[n] into out by an order that is a bijection.  work has room for n keys; out
     * may be keys, and work may be keys if out is not.  NULL for 8 and 16 bits if the instruction
     * set has no vectors for them; otherwise their sort needs no work. */
    void (*sort_keys)(const struct echi_order *order, const void *keys, void *out, void *work,
                      size_t n);
    size_t leaf_keys; /* maximum number of keys for one sort() or sort_keys(); 0: there are none */
    /* Sorts `many` arrays of at most `many_keys` keys, which is 0 if there is no such function. */
    void (*sort_many)(const struct echi_order *order, const struct echi_sort_many *arrays);
    size_t many, many_keys;
    /* Quicksort for several threads, NULL if the instruction set has none. divide() encodes
     * keys[n], which are raw or are encoded ones in out, and partitions them into out: first the
     * keys less than *pivot, which it chooses, and whose number it returns.  If *pivot is low and
     * the keys were not raw, the keys equal to it come first. sort_part() sorts encoded keys and
     * decodes them. */
    size_t (*divide)(const struct echi_order *order, const void *keys, void *out, size_t n,
                     bool raw, uint64_t low, uint64_t *pivot);
    void (*sort_part)(const struct echi_order *order, void *keys, void *work, size_t n);
};

struct echi_sort_isa {
    const char *name;
    bool (*supported)(void);
    int window_bits;   /* maximum number of key bits that sort_u64 should compare at once in a
                            block */
    bool vectors;      /* sorts compare all bits: keys that differ in few bits take as long */
    size_t check_keys; /* fewer keys are sorted in less time than a check for order takes */
    const struct echi_sort_width *widths[4]; /* by log2 of the key's bytes */
};

/* A running sort. */
struct echi_sort_job {
    const struct echi_sort *sort;
    const struct echi_sort_isa *isa;
    const struct echi_sort_width *width;
    struct echi_window window;
    size_t key_bytes, value_bytes;   /* value_bytes of the sort, including the index */
    struct echi_sort_arrays in, out; /* for an argsort, out.keys is in the workspace */
    struct echi_sort_arrays other;   /* in the workspace; as large as in */
    bool keep_keys;                  /* the caller needs the keys */
    char *scratch;                   /* scratch_bytes for every thread */
    size_t scratch_bytes;
    size_t *counts; /* [parts][ECHI_BUCKETS] */
    char *lines;    /* of the calling thread, whose stack may be small; as in echi_scatter */
    int threads;
};

/* ---- block.c: blocks that fit the cache, by one thread ---- */

/* Sorts n <= ECHI_BLOCK_KEYS elements of from stably into job->out at offset; from may not be out.
 * scratch holds ECHI_SCRATCH_BYTES per element. */
void echi_sort_block(const struct echi_sort_job *job, struct echi_sort_arrays from, size_t offset,
                     size_t n, void *scratch);

/* few.c: the same if few keys are those of most elements; otherwise returns false. from begins with
 * the block. */
bool echi_sort_few(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                   size_t offset, size_t n, void *scratch);

/* entries.c: sorts n elements of from stably into job->out at offset, if their keys are in a small
 * range, or few distinct ones; otherwise returns false.  from begins with these elements, and may
 * not be out; its values are NULL for positions. */
bool echi_sort_entries(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                       size_t offset, size_t n);
bool echi_sort_values(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                      size_t offset, size_t n);

/* ---- msd.c: any number of elements, by several threads ---- */

void echi_sort_msd(const struct echi_sort_job *job);

/* ---- digits.c ---- */

/* Chooses a map of the n keys to several buckets. false: all keys are equal. exact: reads every
 * key, so that the keys of each bucket agree in 8 more bits. */
bool echi_sort_digits(const struct echi_sort_job *job, const char *keys, size_t n, bool exact,
                      struct echi_digits *digits);

/* ---- ordered.c: input that is already in order ---- */

/* Sorts an input that is entirely in order or in reverse order; otherwise returns false. */
bool echi_sort_ordered(const struct echi_sort_job *job);

/* Whether no key is greater than the next one, in an order that need not be a bijection. */
bool echi_sort_is_ascending(const struct echi_order *order, const void *keys, size_t n,
                            size_t key_bytes, int threads);

/* Copies bytes, unless to == from. */
void echi_copy(char *to, const char *from, size_t bytes);

/* Copies n elements of these bytes in reverse order; to may be from. */
void echi_reverse(char *to, const char *from, size_t n, size_t bytes);

/* ---- distinct.c ---- */

/* Writes to x the distinct encoded keys of a sample of at most `most` of n keys, in
 * ascending order; returns their number, or 0 if there are more than ECHI_VALUES. */
int echi_sort_sample_values(const struct echi_sort_job *job, const char *keys, size_t n,
                            size_t most, uint64_t *x);

/* Sorts keys without values that have few distinct values; otherwise returns false. */
bool echi_sort_distinct(const struct echi_sort_job *job);

/* Sorts more than check_keys keys by sort_keys(), unless they are in order or have few distinct
 * values. */
void echi_sort_keys(const struct echi_sort_width *width, const struct echi_window *window,
                    const void *keys, void *out, void *work, size_t n, size_t key_bytes);

/* ---- tasks.c ---- */

struct echi_task_queue;

/* A unit of work that may start further tasks. */
struct echi_task {
    void (*run)(struct echi_task task);
    const struct echi_sort_job *job;
    size_t at, n;
    uint64_t low;
    bool raw;
    struct echi_task_queue *queue; /* set by echi_task_run() */
};

/* Runs a task and all tasks that it starts with echi_task_add() in a single start of the
 * threads. */
void echi_task_run(int threads, struct echi_task first);
void echi_task_add(struct echi_task task);

/* ---- operation.c ---- */

/* Keys without values of fewer than 32 bits have no unsigned sort: they use the stable one. */
bool echi_sort_as_stable(const struct echi_sort *s);

/* operation.c: the maximum number of threads of a sort of n elements. */
size_t echi_sort_parts(size_t n);

struct echi_window echi_sort_window(const struct echi_sort *s);

#endif
