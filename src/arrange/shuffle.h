/*
 * arrange/shuffle.h - a random permutation of 0 ... n - 1 as parameters: the source of each
 * position is computed only from that position, so that every thread of every device computes the
 * same permutation.
 *
 * A position i is a cell (i / a, i % a) of a table of b rows of a cells, with a b >= n. Each round
 * adds a random function of the row to the column, or of the column to the row. This can be undone,
 * so together the rounds are a bijection of the table (a Feistel network on two residues: Black and
 * Rogaway, "Ciphers with arbitrary finite domains", 2002). The rounds are repeated while the result
 * is past n; a b is so close to n that this is rare for large arrays.
 *
 *     function of x with key k, below m    h = (x ^ k) * MULTIPLY_1;  h = h ^ h >> 15;
 *                                          h = h * MULTIPLY_2;  h * m >> 32      modulo 2^32
 *
 * src/arrange/cuda/shuffle.cuh and src/arrange/cpu/shuffle_kernels.h are the same map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_SHUFFLE_H
#define ECHI_ARRANGE_SHUFFLE_H

#include <stdint.h>

#define ECHI_SHUFFLE_MULTIPLY_1 0x7FEB352Du
#define ECHI_SHUFFLE_MULTIPLY_2 0x846CA68Bu

enum {
    ECHI_SHUFFLE_ROUNDS = 8,
    ECHI_SHUFFLE_MIN = 8 /* minimum rows and columns: fewer make small orders uneven */
};

struct echi_shuffle {
    uint64_t n;
    uint64_t inverse; /* 2^64 / a, rounded down */
    uint32_t a, b;
    uint32_t keys[ECHI_SHUFFLE_ROUNDS];
};

#endif
