/*
 * arrange/shuffle.h - a random order of 0 ... n - 1 as parameters: where each position's element
 * comes from is computed from the position alone, so that every thread of every device finds the
 * same.
 *
 * A position i is a place (i / a, i % a) in a table of b rows of a, with a b >= n.  Each round adds
 * a random function of the row to the column, or of the column to the row, which can be undone, so
 * that together they are a bijection of the table (a Feistel network on two residues: Black and
 * Rogaway, "Ciphers with arbitrary finite domains", 2002).  A place past n goes round again, as
 * often as needed; a b is so close to n that large arrays hardly ever do.
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
    ECHI_SHUFFLE_LEAST = 8 /* rows and columns: with fewer, orders of few elements come unevenly */
};

struct echi_shuffle {
    uint64_t n;
    uint64_t inverse; /* 2^64 / a, rounded down */
    uint32_t a, b;
    uint32_t keys[ECHI_SHUFFLE_ROUNDS];
};

#endif
