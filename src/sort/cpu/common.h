/*
 * sort/cpu/common.h - what the files of the CPU sort share: the kernels that have instruction-set
 * variants, and the description of a running sort.
 *
 * Kernels know two things about keys: their width, and the window - which bits of the encoded key
 * (core/order.h) count.  They work on raw keys and encode on the fly, so no key is ever altered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_COMMON_H
#define ECHI_SORT_CPU_COMMON_H

#include "cpu/cpu.h"
#include "sort/sort.h"

enum {
    ECHI_BUCKETS = 256,        /* of one scatter */
    ECHI_ENTRIES = 4096,       /* of the table that maps a key to its bucket */
    ECHI_BLOCK_KEYS = 1 << 14, /* most elements of a block, which is sorted in the cache */
    ECHI_SCRATCH_BYTES = 16,   /* of scratch an element of a block */
    ECHI_STACK_BYTES = 8192,   /* sorts that need no more than this take no workspace */
    ECHI_PARTS = 64            /* most threads of one sort */
};

/* x(key) = (encode(key) >> begin) & mask is what a sort compares. */
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

/* Keys and the values that belong to them. */
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
    bool stream; /* too much to stay in the cache */
    size_t *at;  /* [ECHI_BUCKETS] */
};

enum echi_run { ECHI_UNORDERED, ECHI_ASCENDING, ECHI_REVERSED };

/* Kernels for one width of keys. */
struct echi_sort_width {
    /* out[i] = x(keys[i]), in the keys' width; out may be keys. */
    void (*encode)(const struct echi_window *window, const void *keys, void *out, size_t n);
    /* Undoes an encode with a full window and an order that is a bijection; in place. */
    void (*decode)(const struct echi_order *order, void *keys, size_t n);
    /* Finds out whether keys are in order, or in the reverse order: with strict, no two equal. */
    enum echi_run (*run)(const struct echi_window *window, const void *keys, size_t n, bool strict);
    /* The bits in which any two x(key) differ. */
    uint64_t (*differ)(const struct echi_window *window, const void *keys, size_t n);
    /* out[i] = x(key) for count keys spread evenly over keys[n]. */
    void (*sample)(const struct echi_window *window, const void *keys, size_t n, uint64_t *out,
                   size_t count);
    /* counts[v] += how many keys have x(key) = x[v], for v < values. */
    void (*tally)(const struct echi_window *window, const void *keys, size_t n, const uint64_t *x,
                  int values, size_t *counts);
    /* Writes the key that x encodes, n times. */
    void (*fill)(const struct echi_order *order, uint64_t x, void *keys, size_t n);
    /* counts[bucket of key]++ for all keys. */
    void (*count)(const struct echi_digits *digits, const void *keys, size_t n, size_t *counts);
    void (*scatter)(const struct echi_scatter *scatter);
    /* out[i] = ((x(keys[i]) & keep) >> drop) << index_bits | i */
    void (*pack)(const struct echi_window *window, const void *keys, size_t n, uint64_t keep,
                 int drop, int index_bits, uint64_t *out);
    void (*pack_narrow)(const struct echi_window *window, const void *keys, size_t n, uint64_t keep,
                        int drop, int index_bits, uint32_t *out);
    /* Puts sorted packed integers that agree above the index into the order of their keys; false
     * when that is too much work for this way. */
    bool (*fix_ties)(const struct echi_window *window, const void *keys, uint32_t *packed, size_t n,
                     int index_bits);
    /* Sorts unsigned x[n] by bits [begin, end), the only ones in which they differ or, if stable,
     * the only ones to look at.  The keys are in y where in_y, else in x; the result is in x.
     * NULL for widths below 32 bits. */
    void (*sort)(void *x, void *y, size_t n, bool in_y, int begin, int end);
    /* Sorts raw keys[n] into out by an order that is a bijection.  work has room for n keys; out
     * may be keys, and work may be keys if out is not.  NULL for widths below 32 bits. */
    void (*sort_keys)(const struct echi_order *order, const void *keys, void *out, void *work,
                      size_t n);
    /* Quicksort for several threads, NULL where the ISA has none.  divide() puts keys[n], raw or
     * encoded ones in out, into out and encoded: first those less than *pivot, which it chooses and
     * whose number it returns.  If *pivot is low and the keys were not raw, first come those equal.
     * sort_part() sorts encoded keys that are at least low, and decodes them. */
    size_t (*divide)(const struct echi_order *order, const void *keys, void *out, size_t n,
                     bool raw, uint64_t low, uint64_t *pivot);
    void (*sort_part)(const struct echi_order *order, void *keys, void *work, size_t n,
                      uint64_t low);
};

struct echi_sort_isa {
    const char *name;
    bool (*supported)(void);
    int window_bits;     /* most key bits that sort_u64 should compare at once in a block */
    size_t leaf_keys[2]; /* most keys of 4 and of 8 bytes that one sort() should get */
    const struct echi_sort_width *widths[4]; /* by log2 of the key's bytes */
};

extern const struct echi_sort_isa echi_sort_portable, echi_sort_avx2, echi_sort_avx512;

/* A running sort. */
struct echi_sort_job {
    const struct echi_sort *sort;
    const struct echi_sort_isa *isa;
    const struct echi_sort_width *width;
    struct echi_window window;
    size_t key_bytes, value_bytes;   /* value_bytes of the sort, the index's included */
    struct echi_sort_arrays in, out; /* out.keys is memory of the workspace for an argsort */
    struct echi_sort_arrays other;   /* of the workspace; as large as in */
    bool keep_keys;                  /* the caller wants the keys */
    char *scratch;                   /* of every thread: scratch_bytes */
    size_t scratch_bytes;
    size_t *counts; /* [parts][ECHI_BUCKETS] */
    int threads;
};

/* ---- block.c: blocks that fit the cache, by one thread ---- */

/* Sorts n <= ECHI_BLOCK_KEYS elements of from stably into job->out at offset; from may not be out.
 * scratch holds ECHI_SCRATCH_BYTES an element. */
void echi_sort_block(const struct echi_sort_job *job, struct echi_sort_arrays from, size_t offset,
                     size_t n, void *scratch);

/* ---- msd.c: any number of elements, by several threads ---- */

void echi_sort_msd(const struct echi_sort_job *job);

/* ---- digits.c ---- */

/* Chooses a map of the n keys to buckets that splits them.  false: they are all equal.  exact: look
 * at every key, so that each bucket's keys agree in 8 bits more. */
bool echi_sort_digits(const struct echi_sort_job *job, const char *keys, size_t n, bool exact,
                      struct echi_digits *digits);

/* ---- ordered.c: what is in order already ---- */

/* Sorts a whole input that is in order or in reverse order, and returns whether it was. */
bool echi_sort_ordered(const struct echi_sort_job *job);

/* Copies bytes, unless to is from. */
void echi_copy(char *to, const char *from, size_t bytes);

/* ---- distinct.c ---- */

/* Sorts keys alone that have few different values, and returns whether they had. */
bool echi_sort_distinct(const struct echi_sort_job *job);

/* ---- parallel.c: what sorts alone use ---- */

/* Work that may start more of its kind. */
struct echi_task {
    void (*run)(struct echi_task task);
    const struct echi_sort_job *job;
    size_t at, n;
    uint64_t low;
    bool raw;
};

/* The most threads that a sort of n elements uses: operation.c. */
size_t echi_cpu_sort_parts(size_t n);

/* Runs a task and all that it starts by echi_parallel_task(), in one go: every start of threads can
 * cost a tick of the scheduler. */
void echi_parallel_tasks(int threads, struct echi_task first);
void echi_parallel_task(struct echi_task task);

#endif
