/*
 * arrange/cpu/shuffle_kernels.h - template: the map of shuffle.h for many positions at once, in the
 * instruction set that the including file is compiled for.
 *
 *   NAME(x)   x##_avx2 ...
 *
 * The rounds are applied to a batch one after another, so that each round is a loop that the
 * compiler vectorises. The few positions that map past n are processed again one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/shuffle.h"

/* A random number below m. */
static inline uint32_t NAME(below)(uint32_t x, uint32_t key, uint32_t m)
{
    uint32_t h = (x ^ key) * ECHI_SHUFFLE_MULTIPLY_1;
    h ^= h >> 15;
    h *= ECHI_SHUFFLE_MULTIPLY_2;
    return (uint32_t)((uint64_t)h * m >> 32);
}

static inline uint32_t NAME(add)(uint32_t x, uint32_t y, uint32_t m)
{
    const uint32_t sum = x + y; /* m is at most 2^31 */
    return sum >= m ? sum - m : sum;
}

static uint64_t NAME(again)(const struct echi_shuffle *map, uint64_t i)
{
    do {
        uint32_t row = (uint32_t)(i / map->a), column = (uint32_t)(i % map->a);
        for (int r = 0; r < ECHI_SHUFFLE_ROUNDS; r += 2) {
            column = NAME(add)(column, NAME(below)(row, map->keys[r], map->a), map->a);
            row = NAME(add)(row, NAME(below)(column, map->keys[r + 1], map->b), map->b);
        }
        i = (uint64_t)row * map->a + column;
    } while (i >= map->n);
    return i;
}

/* from[j], for j < count <= ECHI_SHUFFLE_BATCH, is the source of position first + j. */
static void NAME(positions)(const struct echi_shuffle *map, uint64_t first, size_t count,
                            uint64_t *from)
{
    uint32_t rows[ECHI_SHUFFLE_BATCH], columns[ECHI_SHUFFLE_BATCH];
    const uint32_t a = map->a, b = map->b;
    uint32_t row = (uint32_t)(first / a), column = (uint32_t)(first % a);
    for (size_t j = 0; j < count; j++) {
        rows[j] = row;
        columns[j] = column;
        if (++column == a) {
            column = 0;
            row++;
        }
    }
    for (int r = 0; r < ECHI_SHUFFLE_ROUNDS; r += 2) {
        const uint32_t key = map->keys[r], next = map->keys[r + 1];
        for (size_t j = 0; j < count; j++) {
            columns[j] = NAME(add)(columns[j], NAME(below)(rows[j], key, a), a);
            rows[j] = NAME(add)(rows[j], NAME(below)(columns[j], next, b), b);
        }
    }
    const uint64_t n = map->n;
    uint64_t most = 0;
    for (size_t j = 0; j < count; j++) {
        from[j] = (uint64_t)rows[j] * a + columns[j];
        most = from[j] > most ? from[j] : most;
    }
    if (most < n) return;
    for (size_t j = 0; j < count; j++)
        if (from[j] >= n) from[j] = NAME(again)(map, from[j]);
}
