/*
 * distributions.h - test keys, each a function of only the seed and the position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_DISTRIBUTIONS_H
#define ECHELON_CLI_DISTRIBUTIONS_H

#include "echelon.h"

#include <stdbool.h>
#include <stdint.h>

enum { ZIPF_MOST = 65536 };

struct keys {
    ech_dtype dtype;
    int bits; /* per key */
    uint64_t n, seed;
    uint64_t values; /* number of distinct values of "few" */
    double *zipf;    /* [zipf_values] partial sums of 1/1 + 1/2 + ... */
    uint64_t zipf_values;
};

struct distribution {
    const char *name;
    bool floats_only;
    uint64_t (*key)(const struct keys *keys, uint64_t i); /* returns the bits of key i */
};

extern const struct distribution distributions[]; /* ends with a NULL name */

/* Initialises keys and allocates the tables.  Returns false if out of memory. */
bool keys_init(struct keys *keys, ech_dtype dtype, uint64_t n, uint64_t seed, uint64_t values);
void keys_free(struct keys *keys);
/* Writes keys first .. first + n - 1 to out. */
void keys_fill(const struct keys *keys, const struct distribution *distribution, uint64_t first,
               uint64_t n, void *out);

#endif
