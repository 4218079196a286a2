/*
 * simt/intrinsics_warp.c - expected results of warp operations, computed from the words of all
 * lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"

#define PUT(slot, word) (out[(size_t)WARP_##slot * n] = (uint64_t)(word))

enum { LANES = 32 };

/* The words of all lanes in one type. */
struct lanes {
    uint64_t word[LANES];
};

enum direction { IDX, UP, DOWN, XOR };

/* The source lane of a shuffle by `by` in segments of `width`: the lane itself if the source is
 * outside the segment; only "xor" may read from earlier segments. */
static int source(enum direction direction, int lane, int by, int width)
{
    const int first = lane / width * width, end = first + width;
    by = (by % LANES + LANES) % LANES;
    switch (direction) {
    case IDX:
        return first + by % width;
    case UP:
        return lane - by < first ? lane : lane - by;
    case DOWN:
        return lane + by >= end ? lane : lane + by;
    default:
        return (lane ^ by) >= end ? lane : lane ^ by;
    }
}

static void shuffles(const struct lanes *x, int lane, int by, uint32_t n, uint64_t *out)
{
    static const int first[] = { WARP_IDX_INT, WARP_UP_INT, WARP_DOWN_INT, WARP_XOR_INT };
    static const int first_segment[] = { WARP_IDX_W16, WARP_UP_W16, WARP_DOWN_W16, WARP_XOR_W16 };
    for (int d = 0; d < 4; d++) {
        /* int, unsigned, long, unsigned long, long long, unsigned long long, float, double */
        uint64_t got = x->word[source((enum direction)d, lane, by, LANES)];
        for (int type = 0; type < 8; type++)
            out[(size_t)(first[d] + type) * n] = type < 2 || type == 6 ? got & 0xffffffffu : got;
        for (int i = 0; i < 5; i++)
            out[(size_t)(first_segment[d] + i) * n] =
                x->word[source((enum direction)d, lane, by, 16 >> i)] & 0xffffffffu;
    }
}

/* The lanes of `among` whose masked word equals that of `lane`. */
static uint32_t peers(const struct lanes *x, uint64_t mask, int lane, uint32_t among)
{
    uint32_t lanes = 0;
    for (int i = 0; i < LANES; i++)
        if ((x->word[i] & mask) == (x->word[lane] & mask)) lanes |= 1u << i;
    return lanes & among;
}

static uint32_t lanes_with(const struct lanes *x, uint64_t mask, uint64_t value)
{
    uint32_t lanes = 0;
    for (int i = 0; i < LANES; i++)
        if ((x->word[i] & mask) == value) lanes |= 1u << i;
    return lanes;
}

static void partial(const struct lanes *x, int lane, int by, uint32_t n, uint64_t *out)
{
    const int near = (by % 16 + 16) % 16;
    PUT(HALVES, x->word[lane < 16 ? near : lane ^ near] & 0xffffffffu);
    if (!(WARP_SOME >> lane & 1)) return;
    uint32_t sum = 0;
    for (int i = 0; i < LANES; i++)
        if (WARP_SOME >> i & 1) sum += (uint32_t)x->word[i];
    PUT(SOME_BALLOT, lanes_with(x, 2, 2) & WARP_SOME);
    PUT(SOME_IDX, x->word[31] & 0xffffffffu);
    PUT(SOME_ADD, sum);
    PUT(SOME_MATCH, peers(x, 1, lane, WARP_SOME));
}

static void votes(const struct lanes *x, uint32_t n, uint64_t *out)
{
    const uint32_t sevens = lanes_with(x, 31, 7);
    PUT(BALLOT, lanes_with(x, 4, 4));
    PUT(ANY, sevens != 0);
    PUT(ALL, sevens == 0);
    PUT(ALL_TRUE, 1);
    PUT(ANY_FALSE, 0);
    PUT(ACTIVE, 1);
}

static void matches(const struct lanes *x, const struct lanes *same, int lane, uint32_t n,
                    uint64_t *out)
{
    const uint32_t all = 0xffffffffu, three = peers(x, 3, lane, all),
                   seven = peers(x, 7, lane, all);
    const uint32_t agree = peers(same, ~(uint64_t)0, 0, all) == all ? all : 0;
    PUT(ANY_UINT, three);
    PUT(ANY_INT, seven);
    PUT(ANY_LONG, three);
    PUT(ANY_ULONG, three);
    PUT(ANY_LL, three);
    PUT(ANY_ULL, three);
    PUT(ANY_FLOAT, three);
    PUT(ANY_DOUBLE, three);
    PUT(ALL_SAME, agree);
    PUT(ALL_SAME_PRED, agree != 0);
    PUT(ALL_NOT, seven == all ? all : 0);
    PUT(ALL_NOT_PRED, seven == all);
    PUT(ALL_ULL, agree);
    PUT(ALL_FLOAT, agree);
    PUT(ALL_DOUBLE, agree);
}

static void reductions(const struct lanes *x, uint32_t n, uint64_t *out)
{
    uint32_t sum = 0, least = ~0u, most = 0, all = ~0u, any = 0, odd = 0;
    uint32_t low = ~0u, high = 0; /* signed words with their top bit inverted */
    for (int i = 0; i < LANES; i++) {
        const uint32_t w = (uint32_t)x->word[i], flipped = w ^ 1u << 31;
        sum += w;
        if ((w | 1u << 20) < least) least = w | 1u << 20;
        if (w > most) most = w;
        if (flipped < low) low = flipped;
        if (flipped > high) high = flipped;
        all &= w | 0x0f0f0f0fu;
        any |= w & 0x11111111u;
        odd ^= w;
    }
    PUT(ADD_U, sum);
    PUT(ADD_I, sum);
    PUT(MIN_U, least);
    PUT(MIN_I, low ^ 1u << 31);
    PUT(MAX_U, most);
    PUT(MAX_I, high ^ 1u << 31);
    PUT(AND, all);
    PUT(OR, any);
    PUT(XOR, odd);
}

void intrinsics_expect_warp(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                            uint64_t *out)
{
    (void)c;
    for (uint32_t warp = 0; warp < n / LANES; warp++) {
        struct lanes x, same, to_reduce;
        for (int i = 0; i < LANES; i++) {
            const uint64_t *words = in + (size_t)i * INTRINSICS_INPUTS;
            x.word[i] = words[0];
            same.word[i] = warp & 1 ? 5 : words[2] & 1;
            to_reduce.word[i] = words[3];
        }
        for (int lane = 0; lane < LANES; lane++, in += INTRINSICS_INPUTS, out++) {
            int by = (int)(in[1] & 127) - 32;
            shuffles(&x, lane, by, n, out);
            partial(&x, lane, by, n, out);
            votes(&x, n, out);
            matches(&x, &same, lane, n, out);
            reductions(&to_reduce, n, out);
        }
    }
}
