/*
 * strings/cpu/common.h - declarations that the files of the CPU's sort of strings share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_STRINGS_CPU_COMMON_H
#define ECHI_STRINGS_CPU_COMMON_H

#include "cpu/groups.h"
#include "strings/strings.h"

enum { STRINGS_SHORT = 1 << 13 /* strings of a tie that one thread sorts, at most */ };

/* A running sort. */
struct echi_strings_job {
    ech_ctx *ctx;
    const struct echi_strings *request;
    int threads;
    uint64_t *keys;               /* [n], sorted */
    uint64_t *first_keys;         /* [n], in the order of the input */
    void *first_work, *sort_work; /* of the first sort; of the others */
    size_t room;                  /* the strings of a short tie, at most STRINGS_SHORT */
    char *own;                    /* own_bytes per thread */
    size_t own_bytes;
};

/* Some strings that are equal before the depth: those at positions [n] of the request's
 * index_bytes; NULL: 0, 1, 2, ... */
struct echi_strings_tie {
    const void *positions;
    size_t n;
    uint64_t depth;
};

static inline uint64_t echi_strings_position(const struct echi_strings *s, const void *positions,
                                             size_t i)
{
    return s->index_bytes == 8 ? ((const uint64_t *)positions)[i]
                               : ((const uint32_t *)positions)[i];
}

/* ---- keys.c ---- */

/* The key of one string that is not null, of at least `depth` bytes. */
uint64_t echi_strings_key(const struct echi_string_array *a, struct echi_string s, uint64_t depth);

/* The number of bytes, at least depth, in which two strings agree that agree in the first depth
 * bytes; at most `most`. */
uint64_t echi_strings_common(const struct echi_string_array *a, struct echi_string x,
                             struct echi_string y, uint64_t depth, uint64_t most);

/* Writes the keys of a tie.  If all of them are equal and open, the depth is increased to the
 * common prefix of the strings first. */
void echi_strings_keys(const struct echi_strings *s, struct echi_strings_tie *tie, uint64_t *keys,
                       int threads);

/* ---- refine.c ---- */

/* Sorts strings [begin, begin + n), which are sorted by their keys at the depth, by what
 * follows these. Changes keys. */
ech_status echi_strings_refine(const struct echi_strings_job *job, size_t begin, size_t n,
                               uint64_t depth, uint64_t *keys);

/* ---- operation.c ---- */

/* Sorts strings [begin, begin + n), which agree before the depth, by their keys, in place, stably,
 * and writes the sorted keys. The depth becomes that of the keys. */
ech_status echi_strings_pass(const struct echi_strings_job *job, size_t begin, size_t n,
                             uint64_t *depth, uint64_t *keys, void *sort_work, int threads);

#endif
