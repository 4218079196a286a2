/*
 * simt/intrinsics_place.c - expected positions of threads in the grid, and results of block
 * operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"

#include <string.h>

#define PUT(slot, word) (out[(size_t)PLACE_##slot * n] = (uint64_t)(word))

static uint64_t fold(uint64_t sum, uint64_t word)
{
    return sum * 0x9e3779b97f4a7c15u + word;
}

static uint64_t packed(const uint32_t *place, int bits)
{
    return place[0] | (uint64_t)place[1] << bits | (uint64_t)place[2] << 2 * bits;
}

static void places(const struct intrinsics_case *c, const uint32_t *thread, const uint32_t *block,
                   uint32_t n, uint64_t *out)
{
    PUT(THREAD, packed(thread, 10));
    PUT(BLOCK, packed(block, 10));
    PUT(BLOCK_DIM, packed(c->block, 10));
    PUT(GRID_DIM, packed(c->grid, 10));
    PUT(WARP_SIZE, 32 + 4);
    PUT(COPIES, packed(thread, 16) + packed(block, 16) + (c->block[0] ^ c->block[1] ^ c->block[2]) +
                    thread[2]);
    PUT(DIM3, fold(fold(fold(3, 511), 561), 567));
}

/* The CUDA Programming Guide's table of built-in vector types; two kinds of each size. */
static void types(uint32_t n, uint64_t *out)
{
    static const unsigned char bytes[] = { 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 4, 8 };
    static const unsigned char alignments[9][4] = {
        [1] = { 1, 2, 1, 4 }, [2] = { 2, 4, 2, 8 }, [4] = { 4, 8, 4, 16 }, [8] = { 8, 16, 8, 16 }
    };
    uint64_t size = 12, alignment = 32;
    for (size_t i = 0; i < sizeof bytes; i++)
        for (unsigned k = 0; k < 4; k++) {
            size = fold(size, bytes[i] * (k + 1));
            alignment = fold(alignment, alignments[bytes[i]][k]);
        }
    PUT(SIZES, size);
    PUT(ALIGNMENTS, alignment);
}

static void vectors(uint64_t x, uint32_t n, uint64_t *out)
{
    const uint64_t i = x & 63;
    PUT(MAKE_BYTES, fold(fold(fold(i - 1, i), 0 - i), i + 4));
    PUT(MAKE_WORDS, fold(fold(fold(0 - i, i), 0 - i), x));
    const float f = 3;
    const double d = (double)i;
    uint32_t float_bits;
    uint64_t double_bits;
    memcpy(&float_bits, &f, sizeof f);
    memcpy(&double_bits, &d, sizeof d);
    PUT(MAKE_FLOATS, fold(float_bits, double_bits));
}

/* x: the words of the block, one per INTRINSICS_INPUTS words. */
static void block_words(const uint64_t *x, uint32_t threads, uint32_t block, uint32_t me,
                        uint32_t n, uint64_t *out)
{
    static const uint32_t table[] = { 2, 3, 5, 7 }, words[] = { 11, 13 };
    uint32_t count = 0;
    for (uint32_t t = 0; t < threads; t++) count += x[(size_t)t * INTRINSICS_INPUTS] >> 1 & 1;
    PUT(COUNT, count);
    PUT(AND, block % 3 != 0);
    PUT(OR, block % 2 != 0);
    PUT(AND_LAST, 0);
    const uint32_t at = (me + 33) % threads;
    PUT(STATIC, x[(size_t)at * INTRINSICS_INPUTS]);
    PUT(DYNAMIC, x[(size_t)(threads - 1 - at) * INTRINSICS_INPUTS]);
    const uint64_t other = x[(size_t)(me ^ 1) * INTRINSICS_INPUTS];
    PUT(TEMPLATE, other << 32 | other >> 32);
    PUT(CONSTANT, table[me % 4] + words[me % 2]);
}

void intrinsics_expect_place(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                             uint64_t *out)
{
    const uint32_t threads = c->block[0] * c->block[1] * c->block[2];
    for (uint32_t t = 0; t < n; t++, out++) {
        const uint32_t b = t / threads, me = t % threads;
        const uint32_t thread[] = { me % c->block[0], me / c->block[0] % c->block[1],
                                    me / c->block[0] / c->block[1] };
        const uint32_t block[] = { b % c->grid[0], b / c->grid[0] % c->grid[1],
                                   b / c->grid[0] / c->grid[1] };
        places(c, thread, block, n, out);
        types(n, out);
        vectors(in[(size_t)t * INTRINSICS_INPUTS], n, out);
        block_words(in + (size_t)b * threads * INTRINSICS_INPUTS, threads, b, me, n, out);
        PUT(CLOCK, 1);
    }
}
