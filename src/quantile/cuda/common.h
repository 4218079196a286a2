/*
 * quantile/cuda/common.h - definitions that host code and kernels of selections by rank share:
 * sizes, the state on the device, arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_COMMON_H
#define ECHI_QUANTILE_CUDA_COMMON_H

#include "core/both.h"
#include "core/order.h"

enum {
    QUANTILE_THREADS = 512,
    QUANTILE_FEW_THREADS = 1024,
    QUANTILE_WHOLE = 1 << 24,     /* 16-bit keys that are searched without a sample, at most */
    QUANTILE_FEW_KEYS = 1 << 15,  /* of quantile_few, at most */
    QUANTILE_FEW_BYTES = 1 << 17, /* ... and at most so many bytes */
    QUANTILE_BLOCKS = 4,          /* per multiprocessor, of kernels that stride over the input */
    QUANTILE_SEARCH_BLOCKS = 2,   /* ... of quantile_search */
    QUANTILE_WORDS_FIRST = 2,     /* before the tile status descriptors */
    QUANTILE_BATCH = 128,         /* ranks or quantiles in the argument of a kernel, at most */
    QUANTILE_SELECT = 16,         /* ... of the algorithm "select" */
    QUANTILE_FEW = 4,             /* ranks; more take longer by "select" */
    QUANTILE_TARGETS = 2 * QUANTILE_SELECT, /* two elements of each quantile */
    QUANTILE_CLASSES = 4 * QUANTILE_SELECT + 1,
    QUANTILE_BUFFER = 64, /* candidates that a warp of quantile_filter collects */
    QUANTILE_SAMPLE_LEAST = 1 << 10,
    QUANTILE_SAMPLE = 1 << 18, /* keys, at most; one of 64 in between */
    QUANTILE_SIDE = 4,         /* standard deviations from a rank to the ends of its bracket */
    QUANTILE_DIGIT = 8,        /* bits, of quantile_search */
    QUANTILE_BINS = 1 << QUANTILE_DIGIT,
    QUANTILE_EQUAL = 64, /* positions of equal elements that are collected, at most */
    QUANTILE_TIES = 8,   /* tiles of a chunk of quantile_ties */
    QUANTILE_NO_GROUP = 255,
    QUANTILE_PARTS = 16, /* that quantile_place_parts moves; the last one is not written */
    QUANTILE_PLACE_RANKS = QUANTILE_PARTS - 2
};

/* Elements of a thread. */
#define QUANTILE_EACH(key_bytes) ((key_bytes) == 8 ? 8 : 16)
/* A tile of quantile_place. */
#define QUANTILE_PLACE_TILE(key_bytes)                                                             \
    (QUANTILE_THREADS * ((key_bytes) == 1 ? 32 : 64 / (key_bytes)))
/* The dynamic shared memory of quantile_place_parts: the tile by part, as keys or as positions,
 * with two vectors more for each part; a counter for each part and thread; the bounds and the
 * parts. */
#define QUANTILE_PLACE_ROOM(key_bytes)                                                             \
    (QUANTILE_PLACE_TILE(key_bytes) + 2 * QUANTILE_PARTS * 16 / (key_bytes))
#define QUANTILE_PARTS_SHARED_BYTES(key_bytes)                                                     \
    ((unsigned)QUANTILE_PLACE_ROOM(key_bytes) * ((key_bytes) == 1 ? 2u : (unsigned)(key_bytes)) +  \
     QUANTILE_PARTS * QUANTILE_THREADS * 2u + QUANTILE_PARTS * 48u)
#define QUANTILE_TILE(key_bytes) (QUANTILE_THREADS * QUANTILE_EACH(key_bytes))

/* The element of a rank: an element comes before it if its key is less, or if it is equal and its
 * position is lower. */
struct quantile_bound {
    uint64_t key, position;
};

/* PENDING: the key is in the list.  MISSED: it is not, and is searched for in the input.  FOUND:
 * the key is known.  PLACED: the position, too. */
enum quantile_progress { QUANTILE_PENDING, QUANTILE_MISSED, QUANTILE_FOUND, QUANTILE_PLACED };

/* An element that is searched for. */
struct quantile_target {
    uint64_t rank; /* in the input */
    uint64_t left; /* among the keys with the prefix, of the list or of the input */
    uint64_t key;  /* or its first digits */
    uint64_t tie;  /* equal elements before it */
    uint64_t position;
    uint32_t progress; /* enum quantile_progress */
    /* the targets with the same first digits; QUANTILE_NO_GROUP: not searched for */
    uint32_t group;
};

/* The state on the device; it is first in the workspace.
 *
 * A bracket is an interval of keys around one rank or several.  Its classes, in this order: the
 * keys below it and above the bracket before it; equal to low; between, which are listed; equal to
 * high.
 * If high is also its low key, or that of the next bracket, there are no keys of the last class. */
struct quantile_state {
    /* Zero before: */
    uint64_t missed;  /* ranks that were not in their bracket: all are searched for in the input */
    uint64_t pending; /* ranks that are searched for */
    uint64_t listed, nan;
    uint64_t equal[QUANTILE_TARGETS]; /* positions collected of a group */
    uint64_t counts[QUANTILE_CLASSES];
    uint64_t ticket;         /* parts of passes of quantile_search that have begun */
    uint32_t filtered;       /* blocks of quantile_filter that have ended */
    uint32_t counted, ready; /* parts of the search that have ended; passes that may begin */
    /* Not zero before: */
    uint32_t n_brackets, n_groups;
    uint64_t low[QUANTILE_SELECT], high[QUANTILE_SELECT]; /* brackets, ascending */
    uint64_t prefixes[QUANTILE_TARGETS];                  /* of groups, ascending */
    struct quantile_target targets[QUANTILE_TARGETS];
    uint64_t places[QUANTILE_TARGETS][QUANTILE_EQUAL]; /* these positions */
};

/* The argument of all kernels. */
struct quantile_args {
    const void *in;
    void *out, *index;
    uint64_t n;
    struct echi_order order;
    uint64_t nan; /* the bits of NaN of the input's type, of the results */
    uint64_t out_nan;
    uint32_t call, method, kind;   /* ech_quantile_call; method.h */
    uint32_t ignore_nan, discrete; /* the results are elements */
    uint32_t position_bytes, index_bytes;
    uint32_t count;                /* of the list, and of bounds */
    struct quantile_bound *bounds; /* of a partition or an element */
    const void *sorted;            /* positions or keys */
    uint8_t *ids;
    uint64_t *words; /* tile status descriptors; of several parts: [parts][tiles] */
    uint64_t tiles;
    /* "select": */
    struct quantile_state *state;
    uint64_t *bins; /* [n_targets][QUANTILE_BINS], zero before and between passes */
    uint32_t n_targets;
    uint32_t positions; /* the positions of the elements are needed */
    void *sample;       /* sorted; NULL: the input is searched, without a filter */
    uint64_t sample_n;
    void *list;           /* [room] merged keys */
    void *list_positions; /* [room] of position_bytes; NULL: not needed */
    uint64_t room;
    uint64_t chunks; /* of quantile_ties */
    uint64_t *ties;  /* [n_targets][chunks] */
    union {
        uint64_t ranks[QUANTILE_BATCH];
        double q[QUANTILE_BATCH];
    } list_of;
};

#endif
