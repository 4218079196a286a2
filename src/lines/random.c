/*
 * lines/random.c - a keyed hash of 128 bits: SipHash-2-4 of J.-P. Aumasson and D. J. Bernstein.
 *
 * Equal keys have equal hashes, so that they are adjacent in the random order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

struct state {
    uint64_t v[4];
};

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(struct state *s, int rounds)
{
    uint64_t *v = s->v;
    while (rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void absorb(struct state *s, uint64_t word)
{
    s->v[3] ^= word;
    mix(s, 2);
    s->v[0] ^= word;
}

static void put_word(struct sink *sink, uint64_t word)
{
    for (int i = 8; i--;) sink_put(sink, (unsigned char)(word >> 8 * i));
}

void lines_put_random(struct sink *sink, struct reader reader, const uint64_t seed[2])
{
    struct state s = { { seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d ^ 0xee,
                         seed[0] ^ 0x6c7967656e657261, seed[1] ^ 0x7465646279746573 } };
    uint64_t word = 0, n = 0;
    for (int c; (c = lines_read(&reader)) >= 0;) {
        word |= (uint64_t)c << 8 * (n % 8);
        if (++n % 8) continue;
        absorb(&s, word);
        word = 0;
    }
    absorb(&s, word | n << 56);
    s.v[2] ^= 0xee;
    mix(&s, 4);
    put_word(sink, s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3]);
    s.v[1] ^= 0xdd;
    mix(&s, 4);
    put_word(sink, s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3]);
}
