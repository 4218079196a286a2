/*
 * strings/cuda/common.h - definitions that host code and kernels of sorts of strings share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_STRINGS_CUDA_COMMON_H
#define ECHI_STRINGS_CUDA_COMMON_H

#include "strings/key.h"

enum {
    STRINGS_THREADS = 256,
    STRINGS_WORDS_FIRST = 2,                  /* before the tile status descriptors */
    STRINGS_POSITIONS = 32 * STRINGS_THREADS, /* of a block of strings_ties: 32 bits per thread */
    STRINGS_TILE = 2 * STRINGS_THREADS,       /* records that a block sorts or merges at a time */
    STRINGS_BLOCKS = 8,                       /* per multiprocessor, at most */
    STRINGS_ROUNDS = 3,                       /* sorts of ties, at most */
    STRINGS_MOST_COMMON = 1 << 16 /* bytes by which a round moves the depth of a tie, at most */
};

/* Zero before the first kernel. */
struct strings_state {
    uint64_t shorter;                  /* the complement of the common prefix of all strings */
    uint64_t ties[STRINGS_ROUNDS + 1]; /* before each round, and before the merges */
    uint64_t members;                  /* strings in ties before the merges */
};

/* Strings in ties, which the merges sort, in one of two places. */
struct strings_records {
    uint64_t *keys;
    void *positions, *ties; /* of index_bytes; ties: the number of the tie */
};

/* The argument of all kernels. */
struct strings_args {
    struct echi_string_array array;
    uint64_t *keys;        /* [n], sorted */
    uint64_t *first_keys;  /* [n], in the order of the input */
    void *indices;         /* [n] */
    uint32_t *heads;       /* a bit per string: 1 if it is in no tie with the string before it */
    void *before;          /* for each word of heads: the ties that begin before it */
    void *begins, *ends;   /* of each tie */
    uint64_t *common;      /* of each tie: the bytes in which its strings agree */
    uint32_t *depths;      /* of each string in a tie: bytes in which the tie is known to agree */
    uint64_t *words;       /* tile status descriptors, for each launch that needs them */
    uint64_t launch_words; /* the number per launch */
    struct strings_state *state;
    struct strings_records records[2];
    void *slots; /* of each record before the merges: its place in indices */
    uint64_t *data_error;
    uint64_t n, head_words; /* words of heads, a multiple of STRINGS_THREADS */
    uint32_t index_bytes;
    uint32_t level; /* the round, or the number of a pass of merges */
};

#endif
