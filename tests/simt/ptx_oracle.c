/*
 * simt/ptx_oracle.c - the launches that test src/cuda/device/ptx*.cuh, and their results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"
#include "ptx.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 32 };

#define SLOT(name) #name,
static const char *const order_names[] = { PTX_ORDER_SLOTS(SLOT) };
static const char *const copy_names[] = { PTX_COPY_SLOTS(SLOT) };
static const char *const barrier_names[] = { PTX_BARRIER_SLOTS(SLOT) };
static const char *const cluster_names[] = { PTX_CLUSTER_SLOTS(SLOT) };
static const char *const mma_names[] = { PTX_MMA_SLOTS(SLOT) };
static const char *const tensor_names[] = { PTX_TENSOR_SLOTS(SLOT) };
static const char *const matrix_names[] = { PTX_MATRIX_SLOTS(SLOT) };
static const char *const wgmma_names[] = { PTX_WGMMA_SLOTS(SLOT) };
#undef SLOT

/* Input i of a thread. */
static uint64_t input(const uint64_t *in, uint32_t thread, int i)
{
    return in[(size_t)thread * INTRINSICS_INPUTS + (size_t)i];
}

#define PUT(slot, thread, word) (out[(size_t)(PTX_##slot) * n + (thread)] = (uint64_t)(word))

static void expect_order(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                         uint64_t *out)
{
    const uint32_t threads = c->block[0];
    uint32_t value = 0, word = 0;
    uint64_t value64 = 0, word64 = 0;
    for (uint32_t t = 0; t < n; t++) {
        if (t % threads == 0) {
            const uint64_t x = input(in, t, 0);
            value = 3 * value + (uint32_t)x;
            value64 = 3 * value64 + x;
            word = (3 * word + (uint32_t)x) | 1;
            word64 = (3 * word64 + x) | 1;
        }
        PUT(ORDER_CHAIN, t, value);
        PUT(ORDER_CHAIN_U64, t, value64);
        PUT(ORDER_WORD, t, word);
        PUT(ORDER_WORD_U64, t, word64);
        uint32_t same = 0;
        for (uint32_t i = 0; i < LANES; i++)
            if (!((input(in, t / LANES * LANES + i, 0) ^ input(in, t, 0)) & 4)) same |= 1u << i;
        PUT(ORDER_MATCH_BIT, t, same);
    }
}

static void expect_copy(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                        uint64_t *out)
{
    (void)c;
    for (uint32_t t = 0; t < n; t++) {
        const uint64_t both = input(in, t ^ 1, 0) ^ input(in, t ^ 1, 1);
        PUT(COPY_BYTES_16, t, both << 32 | both >> 32);
        PUT(COPY_BYTES_8, t, input(in, t ^ 1, 2));
        PUT(COPY_BYTES_4, t, (uint32_t)input(in, t ^ 1, 3));
    }
}

static void expect_barrier(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                           uint64_t *out)
{
    const uint32_t threads = c->block[0];
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t first = t / threads * threads, me = t % threads;
        const uint64_t *words = in + (size_t)first * INTRINSICS_INPUTS;
        uint64_t sum = 0;
        for (uint32_t round = 0; round < PTX_ROUNDS; round++)
            sum = 3 * sum + words[round * (PTX_ROUND_BYTES / 8) + me];
        PUT(BARRIER_BEFORE, t, 1);
        PUT(BARRIER_ROTATED, t, input(in, first + (me + PTX_ROUNDS) % threads, 0) + PTX_ROUNDS);
        PUT(BARRIER_BULK, t, sum);
    }
}

static void expect_cluster(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                           uint64_t *out)
{
    const uint32_t threads = c->block[0], all = threads * PTX_CLUSTER;
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t first = t / all * all, rank = (t - first) / threads, me = t % threads;
        const uint32_t next = first + (rank + 1) % PTX_CLUSTER * threads;
        uint32_t sum = 0;
        for (uint32_t r = 0; r < PTX_CLUSTER; r++)
            sum += (uint32_t)input(in, first + r * threads + me, 0);
        PUT(CLUSTER_RANK, t, rank);
        PUT(CLUSTER_BLOCKS, t, PTX_CLUSTER);
        PUT(CLUSTER_REMOTE, t, input(in, next + threads - 1 - me, 0));
        PUT(CLUSTER_REMOTE_ADD, t, rank == 0 ? sum : 0);
    }
}

/* The matrices of one warp, one element per entry. */
struct matrices {
    unsigned char a[16][256], b[256][8];
    int c[16][8];
};

static void collect(struct matrices *m, const uint64_t *in, uint32_t first)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t group = lane / 4, part = lane % 4;
        const uint64_t a01 = input(in, first + lane, 0), a23 = input(in, first + lane, 1);
        const uint64_t b01 = input(in, first + lane, 2), c = input(in, first + lane, 3);
        for (uint32_t i = 0; i < 32; i++) {
            const uint32_t k = 32 * part + i;
            m->a[group][k] = a01 >> i & 1;
            m->a[group + 8][k] = a01 >> (32 + i) & 1;
            m->a[group][k + 128] = a23 >> i & 1;
            m->a[group + 8][k + 128] = a23 >> (32 + i) & 1;
            m->b[k][group] = b01 >> i & 1;
            m->b[k + 128][group] = b01 >> (32 + i) & 1;
        }
        for (uint32_t i = 0; i < 4; i++)
            m->c[group + i / 2 * 8][2 * part + i % 2] = (int)(c >> 8 * i & 0xff) - 128;
    }
}

static void expect_mma(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                       uint64_t *out)
{
    static struct matrices m;
    (void)c;
    for (uint32_t t = 0; t < n; t++) {
        if (t % LANES == 0) collect(&m, in, t);
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t row = t % LANES / 4 + i / 2 * 8, column = 2 * (t % 4) + i % 2;
            int both = m.c[row][column], one = both;
            for (int k = 0; k < 256; k++) {
                both += m.a[row][k] & m.b[k][column];
                one += m.a[row][k] ^ m.b[k][column];
            }
            PUT(MMA_AND_0 + i, t, (uint32_t)both);
            PUT(MMA_XOR_0 + i, t, (uint32_t)one);
        }
    }
}

static double tensor_value(const uint64_t *in, uint32_t thread, uint32_t i)
{
    const uint64_t *mine = in + (size_t)thread * INTRINSICS_INPUTS;
    return PTX_TENSOR_VALUE(mine, i);
}

static void expect_tensor(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                          uint64_t *out)
{
    (void)c;
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t first = t / LANES * LANES, lane = t % LANES;
        for (uint32_t slot = 0; slot < 12; slot++) {
            const uint32_t i = slot % 4;
            const uint32_t row = first + lane / 4 * 4, column = first + (lane % 4 * 2 + i % 2) * 4;
            double sum = tensor_value(in, t, 12 + i);
            for (uint32_t k = 0; k < 4U << slot / 4; k++)
                sum = fma(tensor_value(in, row + k % 4, k / 4 * 2 + i / 2),
                          tensor_value(in, column + k % 4, 8 + k / 4), sum);
            uint64_t bits;
            memcpy(&bits, &sum, sizeof bits);
            out[(size_t)slot * n + t] = bits;
        }
    }
}

static uint32_t half_of(uint64_t low, uint64_t high, uint32_t word)
{
    return (uint32_t)((word / 2 ? high : low) >> word % 2 * 32);
}

static void expect_matrix(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                          uint64_t *out)
{
    (void)c;
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t lane = t % LANES;
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t from = t - lane + PTX_MATRIX_ROW(8 * i + lane / 4);
            PUT(MATRIX_0 + i, t, half_of(input(in, from, 0), input(in, from, 1), lane % 4));
        }
    }
}

/* Word q of a vector of an operand. The inputs of the operand begin with `first`. It consists of
 * pieces of 16 bytes: for 8 vectors first their first halves, then their second halves. right:
 * rotated, and beginning with piece `piece`. */
static uint32_t word_of(const uint64_t *in, uint32_t first, bool right, uint32_t piece,
                        uint32_t vector, uint32_t q)
{
    const uint32_t at = piece + vector / 8 * 16 + q / 4 * 8 + vector % 8;
    uint64_t words[2];
    for (int k = 0; k < 2; k++) {
        const uint64_t word = input(in, first + at % 128, right ? 2 + k : k);
        words[k] = right ? PTX_WGMMA_TURN(word, at) : word;
    }
    return half_of(words[0], words[1], q % 4);
}

static void expect_wgmma(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                         uint64_t *out)
{
    (void)c;
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t first = t / 128 * 128, g = t % LANES / 4;
        uint64_t one = 0, both = 0;
        for (uint32_t i = 0; i < 128; i++) {
            const uint32_t row = t % 128 / LANES * 16 + i % 4 / 2 * 8 + g;
            const uint32_t column = i / 4 * 8 + t % 4 * 2 + i % 2;
            uint32_t sum = 0, more = 0;
            for (uint32_t q = 0; q < 8; q++) {
                const uint32_t other = word_of(in, first, true, 0, column, q);
                uint32_t x = word_of(in, first, false, 0, row, q) & other;
                uint32_t y = word_of(in, first, true, 256, row, q) & other;
                for (; x; x &= x - 1) sum++;
                for (; y; y &= y - 1) more++;
            }
            one = 31 * one + sum;
            both = 31 * both + sum + more;
        }
        PUT(WGMMA_FIRST, t, one);
        PUT(WGMMA_BOTH, t, both);
    }
}

/* clang-format off */
#define GROUP(name, NAME) PTX_##NAME##_SLOT_COUNT, name##_names, expect_##name
const struct intrinsics_case ptx_cases[] = {
    { "ptx_order",   { 12, 1, 1 }, { 64, 1, 1 },                  0, 1, GROUP(order, ORDER) },
    { "ptx_copy",    { 4, 1, 1 },  { 64, 1, 1 },                  0, 1, GROUP(copy, COPY) },
    { "ptx_barrier", { 4, 1, 1 },  { PTX_BARRIER_THREADS, 1, 1 }, 0, 1, GROUP(barrier, BARRIER) },
    { "ptx_cluster", { 8, 1, 1 },  { 64, 1, 1 },        0, PTX_CLUSTER, GROUP(cluster, CLUSTER) },
    { "ptx_mma",     { 5, 1, 1 },  { 96, 1, 1 },                  0, 1, GROUP(mma, MMA) },
    { "ptx_tensor",  { 2, 1, 1 },  { 96, 1, 1 },                  0, 1, GROUP(tensor, TENSOR) },
    { "ptx_matrix",  { 3, 1, 1 },  { 64, 1, 1 },                  0, 1, GROUP(matrix, MATRIX) },
    { "ptx_wgmma",   { 2, 1, 1 },  { 128, 1, 1 },                 0, 1, GROUP(wgmma, WGMMA) },
};
/* clang-format on */
const int ptx_case_count = (int)(sizeof ptx_cases / sizeof *ptx_cases);
