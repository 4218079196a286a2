/*
 * lfsr.c - computes the state of a shift register from its output bits by solving a linear system.
 * If an output bit is wrong, it computes a certificate of inconsistency.   cc lfsr.c -lechelon
 *
 *     s[t + 128] = s[t] + s[t + 27] + s[t + 29] + s[t + 2]        the register, modulo 2
 *     out[t] = s[t] + s[t + 17] + s[t + 64] + s[t + 101]          the output, for every third t
 *
 * Every s[t], and thus every output bit, is a sum of some of s[0] ... s[127], stored as a row of
 * 128 bits. 160 output bits give 160 equations with 128 unknowns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>

#include <stdio.h>
#include <string.h>

enum { STATE = 128, SEEN = 160, STEPS = 3 * SEEN + STATE };

/* A sum of unknowns, with one bit per unknown. */
struct sum {
    uint64_t words[STATE / 64];
};

static struct sum add(struct sum a, struct sum b)
{
    for (int i = 0; i < STATE / 64; i++) a.words[i] ^= b.words[i];
    return a;
}

/* The equations: row i is the sum that equals output bit i. */
static void make_equations(struct sum rows[SEEN])
{
    static struct sum s[STEPS];
    for (int t = 0; t < STATE; t++) s[t].words[t / 64] = (uint64_t)1 << t % 64;
    for (int t = 0; t + STATE < STEPS; t++)
        s[t + STATE] = add(add(s[t], s[t + 27]), add(s[t + 29], s[t + 2]));
    for (int i = 0; i < SEEN; i++) {
        int t = 3 * i;
        rows[i] = add(add(s[t], s[t + 17]), add(s[t + 64], s[t + 101]));
    }
}

/* Runs the register from a known state. */
static void run_register(const uint64_t state[STATE / 64], uint64_t seen[SEEN])
{
    static uint8_t s[STEPS];
    for (int t = 0; t < STATE; t++) s[t] = state[t / 64] >> t % 64 & 1;
    for (int t = 0; t + STATE < STEPS; t++) s[t + STATE] = s[t] ^ s[t + 27] ^ s[t + 29] ^ s[t + 2];
    for (int i = 0; i < SEEN; i++) {
        int t = 3 * i;
        seen[i] = s[t] ^ s[t + 17] ^ s[t + 64] ^ s[t + 101];
    }
}

int main(void)
{
    static const uint64_t secret[STATE / 64] = { 0x0123456789abcdefu, 0xfedcba9876543210u };
    static struct sum rows[SEEN];
    uint64_t seen[SEEN], found[STATE] = { 0 }, state[STATE / 64] = { 0 }, why[3] = { 0 };
    uint8_t solvable;
    uint32_t rank = 0;
    ech_gf2 a = { sizeof(ech_gf2), rows[0].words, SEEN, STATE, STATE / 64 };
    ech_gf2 b = { sizeof(ech_gf2), seen, SEEN, 1, 1 }; /* a column with one word per bit */
    ech_gf2 x = { sizeof(ech_gf2), found, STATE, 1, 1 };
    ech_gf2 certificate = { sizeof(ech_gf2), why, 1, SEEN, 3 };
    ech_ctx *ctx;
    if (ech_open(&ctx, NULL) != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    make_equations(rows);
    run_register(secret, seen);
    ech_status status = ech_gf2_rank(ctx, &a, &rank, NULL);
    if (status == ECH_OK) status = ech_gf2_solve(ctx, &a, &b, &x, &solvable, NULL, NULL);
    if (status == ECH_OK) {
        for (int t = 0; t < STATE; t++) state[t / 64] |= found[t] << t % 64;
        printf("%d equations of rank %u: state %016llx %016llx (%s)\n", SEEN, (unsigned)rank,
               (unsigned long long)state[1], (unsigned long long)state[0],
               memcmp(state, secret, sizeof state) == 0 ? "correct" : "wrong");

        seen[100] ^= 1;
        status = ech_gf2_solve(ctx, &a, &b, &x, &solvable, &certificate, NULL);
    }
    if (status == ECH_OK) {
        /* The sum of these equations contains no unknowns: it is 0 = 1. */
        struct sum left = { { 0 } };
        uint64_t right = 0;
        int n = 0;
        for (int i = 0; i < SEEN; i++) {
            if (!(why[i / 64] >> i % 64 & 1)) continue;
            left = add(left, rows[i]);
            right ^= seen[i];
            n++;
        }
        printf("with a wrong bit: %s; the sum of %d equations is %s = %d\n",
               solvable ? "a state is found" : "there is no state", n,
               left.words[0] | left.words[1] ? "something" : "0", (int)right);
    } else {
        fprintf(stderr, "%s\n", ech_error(ctx));
    }
    ech_close(ctx);
    return status != ECH_OK;
}
