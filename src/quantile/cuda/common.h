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
    QUANTILE_BLOCKS = 4,      /* per multiprocessor, of kernels that stride over the input */
    QUANTILE_WORDS_FIRST = 2, /* before the tile status descriptors */
    QUANTILE_BATCH = 128,     /* ranks or quantiles in the argument of a kernel, at most */
    QUANTILE_SELECT = 16,     /* ... of the algorithm "select" */
    QUANTILE_TARGETS = 2 * QUANTILE_SELECT,    /* two elements of each quantile */
    QUANTILE_BOUNDS = 2 * QUANTILE_SELECT + 1, /* two of each, and NaN */
    QUANTILE_CLASSES = 2 * QUANTILE_BOUNDS + 1,
    QUANTILE_BUFFER = 2048, /* candidates that a block of quantile_filter collects */
    QUANTILE_SAMPLE_LEAST = 1 << 10,
    QUANTILE_SAMPLE = 1 << 18, /* keys, at most; one of 64 in between */
    QUANTILE_FINAL = 1 << 14,  /* a list of at most so many candidates is sorted */
    QUANTILE_LEVELS = 2
};

/* Elements of a thread. */
#define QUANTILE_EACH(key_bytes) ((key_bytes) == 8 ? 8 : 16)
#define QUANTILE_TILE(key_bytes) (QUANTILE_THREADS * QUANTILE_EACH(key_bytes))

/* The element of a rank: an element comes before it if its key is less, or if it is equal and its
 * position is lower. */
struct quantile_bound {
    uint64_t key, position;
};

enum quantile_state { QUANTILE_PENDING, QUANTILE_DONE, QUANTILE_FAILED };

/* An element that is searched for. */
struct quantile_target {
    uint64_t rank;  /* in the input */
    uint64_t local; /* in the list that is processed now */
    uint64_t key;
    uint64_t tie;   /* equal elements before it */
    uint32_t state; /* enum quantile_state */
};

/* A pass over the input or a list.  Class 2 i has the keys between bounds i - 1 and i, class
 * 2 i + 1 those that are equal to bound i. */
struct quantile_level {
    uint64_t counts[QUANTILE_CLASSES]; /* zero before, as listed */
    uint64_t listed;
    uint64_t bounds[QUANTILE_BOUNDS]; /* ascending, distinct */
    uint32_t n_bounds;
    uint32_t wanted[QUANTILE_BOUNDS + 1]; /* whether the keys of class 2 i are listed */
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
    uint64_t *words; /* tile status descriptors */
    uint64_t tiles;
    /* "select": */
    struct quantile_level *level, *before; /* of this pass; of the pass before it, or NULL */
    struct quantile_target *targets;
    uint32_t n_targets;
    const void *sample; /* sorted */
    uint64_t sample_n;
    const void *from; /* merged keys: the list before, or NULL: the input */
    uint64_t from_room;
    void *list; /* [room] */
    uint64_t room;
    uint64_t *ties; /* [targets][tiles] */
    union {
        uint64_t ranks[QUANTILE_BATCH];
        double q[QUANTILE_BATCH];
    } list_of;
};

#endif
