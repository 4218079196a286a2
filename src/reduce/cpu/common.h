/*
 * reduce/cpu/common.h - declarations that the files of the CPU's reduction share: the value of a
 * chunk, and the kernels that compute it, by instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CPU_COMMON_H
#define ECHI_REDUCE_CPU_COMMON_H

#include "cpu/cpu.h"
#include "reduce/reduce.h"

enum { ECHI_DTYPES = 12 };

/* The value of one or several chunks: one member, by enum echi_reduce_kind. */
struct echi_value {
    union {
        uint64_t u; /* sums and products of integers, bits, the maximum e, a count */
        float f;
        struct {
            double sum;
            uint64_t ignored; /* number of NaN that were ignored */
        } d;
        struct echi_moments moments;
        struct {
            uint64_t least, most;
        } ends;
        struct {
            uint64_t rank, at; /* initially both UINT64_MAX */
        } best;
    };
};

/* Sets a value of n elements, at most a chunk; then of the next n elements, and so on for `rows`
 * values.  For ARG the value on entry is the best so far; its `at` counts from the chunk's start,
 * and is kept unless the chunk has a better one. */
typedef void echi_chunk_function(const struct echi_reduce_rule *rule, const void *in, const void *b,
                                 size_t n, size_t rows, struct echi_value *value);

/* Sets the sums of `count` segments, of u64, f32 or f64 as their kind: segment s has the elements
 * [ends[s], ends[s + 1]) of in, at most `most`, which is at most ECHI_SHORT_SEGMENT. */
enum { ECHI_SHORT_SEGMENT = 64, ECHI_SOME_SEGMENTS = 16 };
typedef void echi_segments_function(const void *in, const uint64_t *ends, size_t count, size_t most,
                                    void *sums);
/* The same for up to ECHI_TREE_CHUNKS chunks of ECHI_CHUNK_BYTES per segment.  far: they are
 * probably not in the L3 cache. */
enum { ECHI_TREE_LEVEL = 4, ECHI_TREE_CHUNKS = 1 << ECHI_TREE_LEVEL, ECHI_EXACT_BYTES = 1 << 15 };
typedef void echi_long_segments_function(const void *in, const uint64_t *ends, size_t count,
                                         bool far, void *sums);
/* The same for rows of n elements, one after another. */
typedef void echi_rows_function(const void *in, size_t n, size_t count, void *sums);

struct echi_reduce_isa {
    echi_reduce_function *calls[ECH_OP_STDDEV + 1][ECHI_DTYPES]; /* NULL: there is none */
    echi_chunk_function *chunk[ECHI_REDUCE_KINDS][ECHI_DTYPES];
    echi_chunk_function *far[ECHI_REDUCE_KINDS][ECHI_DTYPES]; /* for memory; NULL: there is none */
    echi_segments_function *segments[ECHI_REDUCE_KINDS][ECHI_DTYPES]; /* sums; NULL: none */
    echi_long_segments_function *long_segments[ECHI_REDUCE_KINDS][ECHI_DTYPES];
    echi_rows_function *rows[ECHI_REDUCE_KINDS][ECHI_DTYPES];
    /* By key width, 1, 2, 4, 8: the number of keys in keys[from ... to - 1] that differ from their
     * predecessor, and the end of the run that contains keys[at]. */
    size_t (*run_starts[9])(const struct echi_order *order, const void *keys, size_t from,
                            size_t to);
    size_t (*run_end[9])(const struct echi_order *order, const void *keys, size_t at, size_t n);
};

extern const struct echi_reduce_isa echi_reduce_portable, echi_reduce_avx2, echi_reduce_avx512;

/* The kernels that a call uses, and the enum echi_spread of a type: also for src/dist. */
const struct echi_reduce_isa *echi_reduce_isa_of_machine(void);

int echi_reduce_spread(ech_dtype dtype); /* enum echi_spread */

/* Whether the array is probably not in the L3 cache. */
static inline bool echi_reduce_is_far(const struct echi_reduce *r)
{
    return r->n * r->rule.bytes > ECHI_FAR_BYTES;
}

/* Prefetches what follows the `bytes` bytes that are read next: masked loads do not start
 * prefetchers. */
static inline void echi_reduce_prefetch(const char *in, size_t bytes, bool far)
{
    enum { AHEAD_BYTES = 1 << 12 };
    for (size_t at = 0; far && at < bytes; at += ECHI_PAGE_BYTES / 2) echi_prefetch_page(in + at);
    for (size_t at = 0; !far && at < bytes; at += 64) __builtin_prefetch(in + AHEAD_BYTES + at);
}

/* ---- sums.c ---- */

/* Whether there are kernels for sums of short rows and segments. */
bool echi_reduce_has_sums(const struct echi_reduce *r, const struct echi_reduce_isa *isa);

/* Rows [from, to) of at most ECHI_SHORT_SEGMENT elements, if there are kernels. */
void echi_reduce_add_rows(const struct echi_reduce *r, const struct echi_reduce_isa *isa,
                          size_t from, size_t to);

/* Longer rows; false, if there is no kernel. */
bool echi_reduce_add_long_rows(const struct echi_reduce *r, const struct echi_reduce_isa *isa,
                               size_t from, size_t to);

/* At most ECHI_SOME_SEGMENTS segments, if there are kernels; false, if they are too long or not
 * valid. */
bool echi_reduce_add_segments(const struct echi_reduce *r, const struct echi_reduce_isa *isa,
                              size_t from, size_t to);

/* ---- values.c ---- */

/* The value of no elements. */
struct echi_value echi_reduce_nothing(const struct echi_reduce *r);

/* Merges the values of adjacent ranges; a precedes b. */
struct echi_value echi_reduce_merge(const struct echi_reduce *r, int spread, struct echi_value a,
                                    struct echi_value b);

/* Writes result number `index` to r->out, of n elements.  The value is not copied, because loads of
 * a whole struct wait for the stores of its fields. */
void echi_reduce_result(const struct echi_reduce *r, const struct echi_value *v, size_t n,
                        size_t index);
void echi_reduce_result_to(const struct echi_reduce *r, void *out, const struct echi_value *v,
                           size_t n, size_t index); /* r->out is not used */

/* Writes `count` results from number `first` on, each of a row. */
void echi_reduce_store(const struct echi_reduce *r, const struct echi_value *value, size_t count,
                       size_t first);
/* The same for the sums of an echi_segments_function. */
void echi_reduce_store_sums(const struct echi_reduce *r, const void *sums, const uint64_t *ends,
                            size_t count, size_t first);

/* Whether results are sums in f64 without a further operation. */
static inline bool echi_reduce_is_plain(const struct echi_reduce *r)
{
    return r->kind == ECHI_REDUCE_SUM64 && r->rule.finish == ECHI_FINISH_SUM && r->rule.in_f64 &&
           !r->rule.raw;
}

/* Writes one result, of n elements. */
static inline void echi_reduce_store_one(const struct echi_reduce *r,
                                         const struct echi_value *value, size_t n, size_t index)
{
    if (echi_reduce_is_plain(r))
        ((uint64_t *)r->out)[index] = f64_result(value->d.sum + 0.0);
    else if (r->kind == ECHI_REDUCE_ISUM)
        ((uint64_t *)r->out)[index] = value->u;
    else
        echi_reduce_result(r, value, n, index);
}

/* The value of a result with rule.raw. */
struct echi_value echi_reduce_value(const struct echi_reduce *r, const uint64_t *raw);

#endif
