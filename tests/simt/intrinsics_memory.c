/*
 * simt/intrinsics_memory.c - expected results of atomic operations, and of loads and stores with
 * cache hints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"

#include <string.h>

#define PUT(slot, word) (out[(size_t)MEMORY_##slot * n] = (uint64_t)(word))

static uint64_t fold(uint64_t sum, uint64_t word)
{
    return sum * 0x9e3779b97f4a7c15u + word;
}

enum operation { ADD, SUB, EXCHANGE, MIN, MAX, AND, OR, EXOR, INC, DEC };
enum type { I, U, LL, ULL, F, D };

static const struct change {
    int slot;
    enum operation operation;
    enum type type;
} changes[] = {
    { MEMORY_ADD_I, ADD, I },       { MEMORY_ADD_U, ADD, U },
    { MEMORY_ADD_ULL, ADD, ULL },   { MEMORY_ADD_F, ADD, F },
    { MEMORY_ADD_D, ADD, D },       { MEMORY_SUB_I, SUB, I },
    { MEMORY_SUB_U, SUB, U },       { MEMORY_EXCH_I, EXCHANGE, I },
    { MEMORY_EXCH_U, EXCHANGE, U }, { MEMORY_EXCH_ULL, EXCHANGE, ULL },
    { MEMORY_EXCH_F, EXCHANGE, F }, { MEMORY_MIN_I, MIN, I },
    { MEMORY_MIN_U, MIN, U },       { MEMORY_MIN_LL, MIN, LL },
    { MEMORY_MIN_ULL, MIN, ULL },   { MEMORY_MAX_I, MAX, I },
    { MEMORY_MAX_U, MAX, U },       { MEMORY_MAX_LL, MAX, LL },
    { MEMORY_MAX_ULL, MAX, ULL },   { MEMORY_AND_I, AND, I },
    { MEMORY_AND_U, AND, U },       { MEMORY_AND_ULL, AND, ULL },
    { MEMORY_OR_I, OR, I },         { MEMORY_OR_U, OR, U },
    { MEMORY_OR_ULL, OR, ULL },     { MEMORY_XOR_I, EXOR, I },
    { MEMORY_XOR_U, EXOR, U },      { MEMORY_XOR_ULL, EXOR, ULL },
    { MEMORY_INC, INC, U },         { MEMORY_DEC, DEC, U },
};

/* A word of a type, as an unsigned word with the same order. */
static uint64_t ordered(enum type type, uint64_t x)
{
    return type == I ? x ^ 1u << 31 : type == LL ? x ^ (uint64_t)1 << 63 : x;
}

/* All floats are integers here. */
static uint64_t changed(const struct change *c, uint64_t old, uint64_t by)
{
    const int by_less = ordered(c->type, by) < ordered(c->type, old);
    switch (c->operation) {
    case ADD:
        return old + by;
    case SUB:
        return old - by;
    case EXCHANGE:
        return by;
    case MIN:
        return by_less ? by : old;
    case MAX:
        return by_less ? old : by;
    case AND:
        return old & by;
    case OR:
        return old | by;
    case EXOR:
        return old ^ by;
    case INC:
        return old >= by ? 0 : old + 1;
    default:
        return old == 0 || old > by ? by : old - 1;
    }
}

static uint64_t cut(enum type type, uint64_t x)
{
    return type == F || type == D ? x & 0xffff : type == I || type == U ? x & 0xffffffffu : x;
}

/* The bits of an integer in its type. */
static uint64_t bits_of(enum type type, uint64_t x)
{
    float f = (float)x;
    double d = (double)x;
    uint32_t word;
    if (type == F) {
        memcpy(&word, &f, sizeof word);
        return word;
    }
    if (type == D) memcpy(&x, &d, sizeof x);
    return x;
}

static void own_cells(const uint64_t *in, uint32_t n, uint64_t *out)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct change *c = &changes[i];
        const int is_float = c->type == F || c->type == D;
        uint64_t cell = cut(c->type, in[0]), sum = 0;
        for (int step = 1; step <= 3; step++) {
            sum = fold(sum, bits_of(c->type, cell));
            cell = changed(c, cell, cut(c->type, in[step]));
            if (!is_float) cell = cut(c->type, cell);
        }
        out[(size_t)c->slot * n] = fold(sum, bits_of(c->type, cell));
    }
}

static uint64_t compared(const uint64_t *in, uint64_t mask)
{
    uint64_t cell = in[0] & mask, sum = cell;
    if (cell == (in[1] & mask)) cell = in[2] & mask;
    sum = fold(sum, cell);
    cell = in[3] & mask;
    sum = fold(sum, cell);
    return fold(sum, in[1] & mask);
}

static void comparisons(const uint64_t *in, uint32_t n, uint64_t *out)
{
    PUT(CAS_I, compared(in, 0xffffffffu));
    PUT(CAS_U, compared(in, 0xffffffffu));
    PUT(CAS_ULL, compared(in, ~(uint64_t)0));
    uint64_t half = in[0] >> 16 & 0xffff, sum = half;
    if (half == (in[1] & 0xffff)) half = in[2] & 0xffff;
    sum = fold(sum, half);
    PUT(CAS_US, fold(sum, (in[0] & ~(uint64_t)0xffff0000u) | (in[3] & 0xffff) << 16));
}

static void shared(uint32_t threads, const uint64_t *in, uint32_t n, uint64_t *out)
{
    uint32_t counts[32] = { 0 };
    uint64_t most = 0;
    for (uint32_t t = 0; t < threads; t++) {
        uint64_t x = in[(size_t)t * INTRINSICS_INPUTS];
        counts[x & 31]++;
        if (x > most) most = x;
    }
    for (uint32_t t = 0; t < threads; t++, out++) {
        PUT(SHARED_ADD, counts[t & 31]);
        PUT(SHARED_CAS, most);
    }
}

static void totals(const uint64_t *in, uint32_t n, uint64_t *out)
{
    uint32_t sum = 0, any = 0, least = 1u << 31; /* 0 with the top bit inverted */
    uint64_t sum64 = 0, small = 0, most = 0, odd = 0;
    for (uint32_t t = 0; t < n; t++) {
        const uint64_t x = in[(size_t)t * INTRINSICS_INPUTS];
        const uint32_t flipped = (uint32_t)x ^ 1u << 31;
        sum += (uint32_t)x;
        sum64 += x;
        small += x & 15;
        if (flipped < least) least = flipped;
        if (x > most) most = x;
        any |= 1u << (x & 15);
        odd ^= x;
    }
    PUT(TOTAL_ADD, sum);
    PUT(TOTAL_ADD_ULL, sum64);
    PUT(TOTAL_FLOAT, bits_of(F, small));
    PUT(TOTAL_INC, n % 101);
    PUT(TOTAL_DEC, (101 - n % 101) % 101);
    PUT(TOTAL_MIN, least ^ 1u << 31);
    PUT(TOTAL_MAX, most);
    PUT(TOTAL_OR, any);
    PUT(TOTAL_XOR, odd);
    PUT(TOTAL_CAS, n);
}

static void loads(const uint64_t *in, uint32_t n, uint64_t *out)
{
    uint32_t w[2 * INTRINSICS_INPUTS];
    for (int i = 0; i < 2 * INTRINSICS_INPUTS; i++) w[i] = (uint32_t)(in[i / 2] >> 32 * (i % 2));
    PUT(LDG, w[0]);
    PUT(LDCA, w[1]);
    PUT(LDCG, w[2]);
    PUT(LDCS, w[3]);
    PUT(LDLU, w[4]);
    PUT(LDCV, w[5]);
    PUT(LDG_U8, w[1] >> 8 & 0xff);
    const uint64_t half = w[1] >> 16;
    PUT(LDG_S16, half >> 15 ? half - 65536 : half);
    PUT(LDG_U64, in[2]);
    PUT(LDG_F, w[3]);
    PUT(LDG_D, in[3]);
    PUT(LDG_UINT2, fold(w[2], w[3]));
    PUT(LDG_UINT4, fold(fold(fold(w[4], w[5]), w[6]), w[7]));
    PUT(LDG_USHORT4, fold(fold(fold(w[2] & 0xffff, w[2] >> 16), w[3] & 0xffff), w[3] >> 16));
    PUT(LDG_UCHAR4, fold(fold(fold(w[1] & 0xff, w[1] >> 8 & 0xff), w[1] >> 16 & 0xff), w[1] >> 24));
    PUT(LDG_ULL2, fold(in[2], in[3]));
    PUT(LDG_DOUBLE2, fold(in[2], in[3]));
}

static void stores(const uint64_t *in, uint32_t n, uint64_t *out)
{
    PUT(STWB, (uint32_t)in[0]);
    PUT(STCG, (uint32_t)in[1]);
    PUT(STCS, (uint32_t)in[2]);
    PUT(STWT, (uint32_t)in[3]);
    PUT(STCS_UINT4, fold(fold(fold(1, 2), 3), (uint32_t)in[0]));
    PUT(STCG_ULL2, fold(in[1], in[2]));
}

void intrinsics_expect_memory(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                              uint64_t *out)
{
    const uint32_t threads = c->block[0];
    for (uint32_t t = 0; t < n; t += threads)
        shared(threads, in + (size_t)t * INTRINSICS_INPUTS, n, out + t);
    totals(in, n, out);
    for (uint32_t t = 0; t < n; t++, in += INTRINSICS_INPUTS, out++) {
        own_cells(in, n, out);
        comparisons(in, n, out);
        loads(in, n, out);
        stores(in, n, out);
    }
}
