/*
 * cpu/places.c - the places of the set bits of a byte, for packing eight elements by a permutation.
 *
 * AVX2 has no compress instruction; a permutation packs smaller and other keys in one vector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/places.h"

/* The number of set bits of m below j, and the byte of place j: set bits precede the others. */
#define BELOW(m, j) __builtin_popcount((unsigned)((m) & ((1 << (j)) - 1)))
#define BYTE(m, j)                                                                                 \
    ((m) >> (j)&1 ? BELOW(m, j) : __builtin_popcount((unsigned)(m)) + (j)-BELOW(m, j))
#define PLACE(m, j) ((uint64_t)(j) << 8 * BYTE(m, j))
#define ENTRY(m)                                                                                   \
    PLACE(m, 0) | PLACE(m, 1) | PLACE(m, 2) | PLACE(m, 3) | PLACE(m, 4) | PLACE(m, 5) |            \
        PLACE(m, 6) | PLACE(m, 7)
#define ENTRIES_4(m)  ENTRY(m), ENTRY(m + 1), ENTRY(m + 2), ENTRY(m + 3)
#define ENTRIES_16(m) ENTRIES_4(m), ENTRIES_4(m + 4), ENTRIES_4(m + 8), ENTRIES_4(m + 12)
#define ENTRIES_64(m) ENTRIES_16(m), ENTRIES_16(m + 16), ENTRIES_16(m + 32), ENTRIES_16(m + 48)

const uint64_t echi_cpu_places[256] = { ENTRIES_64(0), ENTRIES_64(64), ENTRIES_64(128),
                                        ENTRIES_64(192) };
