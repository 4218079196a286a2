/*
 * simt/planted_oracle.c - computes the output of the correct planted kernels, with one rule per
 * kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planted_oracle.h"

#include <string.h>

/* in, out, length of out, p of the kernel, and a parameter k of the rule. */
#define RULE const uint32_t *in, uint32_t *out, uint32_t n, uint32_t p, uint32_t k

/* ---- Rules of the twins ---- */

static void keep(RULE) /* out stays zero */
{
    (void)in, (void)out, (void)n, (void)p, (void)k;
}

static void exchange(RULE) /* the word whose index differs in the bits k */
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) out[i] = in[i ^ k];
}

static void exchange_some(RULE) /* as exchange() by 8 if bit k of the index is 0, otherwise 0 */
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) out[i] = i & k ? 0 : in[i ^ 8];
}

static void exchange_doubled(RULE)
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) out[i] = 2 * in[i ^ k];
}

static void turn(RULE) /* rotates by k */
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) out[i] = in[(i + k) % n];
}

static void reverse(RULE)
{
    (void)p, (void)k;
    for (uint32_t i = 0; i < n; i++) out[i] = in[n - 1 - i];
}

static void all_same(RULE)
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) out[i] = in[k];
}

static void first_lanes(RULE) /* 16 times word k, then zeros */
{
    (void)n, (void)p;
    for (uint32_t i = 0; i < 16; i++) out[i] = in[k];
}

static void total(RULE) /* the sum of k words, everywhere */
{
    (void)p;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < k; i++) sum += in[i];
    for (uint32_t i = 0; i < n; i++) out[i] = sum;
}

static void sums_before(RULE) /* the k low bits of the sum of all words before */
{
    (void)p;
    for (uint32_t i = 1; i < n; i++) out[i] = (out[i - 1] + in[i - 1]) & ((1u << k) - 1);
}

static void doubled(RULE) /* each word twice */
{
    (void)p, (void)k;
    for (uint32_t i = 0; i < n; i++) out[i] = in[i / 2];
}

static void sums_of_columns(RULE) /* of a matrix with n columns and k rows */
{
    (void)p;
    for (uint32_t i = 0; i < n * k; i++) out[i % n] += in[i];
}

static void total_and_xor(RULE)
{
    (void)n, (void)p;
    for (uint32_t i = 0; i < k; i++) out[0] += in[i], out[1] ^= in[i];
}

static void odd_lanes(RULE)
{
    (void)p, (void)k;
    uint32_t odd = 0;
    for (uint32_t i = 0; i < 32; i++) odd += (in[i] & 1) << i;
    for (uint32_t i = 0; i < n; i++) out[i] = odd;
}

static void odd_lanes_added(RULE) /* plus the words of exchange() */
{
    odd_lanes(in, out, n, p, k);
    for (uint32_t i = 0; i < n; i++) out[i] += in[i ^ k];
}

static void second_bytes(RULE) /* the second byte of the second of four words */
{
    (void)p, (void)k;
    for (uint32_t i = 0; i < n; i++) out[i] = in[4 * i + 1] >> 8 & 255;
}

static void bytes_of_neighbours(RULE)
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) out[i] = in[i ^ k] & 255;
}

static void parts_changed(RULE) /* elements with the bits k */
{
    for (uint32_t i = 0; i < n; i++) out[i % 32 * 2 + i / 32] = in[i] & k;
    for (uint32_t round = 0; round < p; round++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t *part = &out[(i % 32 * 2 + i / 32) ^ round];
            *part = (*part * 5 + in[i]) & k;
        }
}

static void doubling(RULE)
{
    (void)k;
    for (uint32_t i = 0; i < n; i++) out[i] = in[i];
    for (uint32_t round = 0; round < p; round++) {
        for (uint32_t i = 0; i < n / 2; i++) out[i] = out[i + n / 2] = out[i] + out[i + n / 2];
    }
}

static void quads(RULE) /* xor of 4 words; k quads in turn */
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *at = in + i % k * 4;
        out[i] = at[0] ^ at[1] ^ at[2] ^ at[3];
    }
}

static void twice(RULE) /* copies, then copies with indices that differ by k */
{
    (void)p;
    for (uint32_t i = 0; i < n / 2; i++) out[i] = in[i], out[n / 2 + i] = in[i ^ k];
}

static void one_more(RULE)
{
    (void)n, (void)p, (void)k;
    out[0] = in[0], out[1] = in[0] + 1;
}

static void without_low_bit(RULE)
{
    (void)n, (void)p, (void)k;
    out[0] = in[0] - in[0] % 2;
}

static void grid(RULE)
{
    (void)p, (void)k;
    for (uint32_t i = 0; i < n / 2; i++) out[i] = in[i], out[n / 2 + i] = in[(i + 1) % (n / 2)];
}

/* ---- Rules of the patterns ---- */

static uint32_t pattern_place(uint32_t p, uint32_t lane)
{
    uint32_t divide = p % 256, modulo = p / 256 % 256, stride = p / 65536 % 256;
    return lane / divide % modulo * stride + p / 16777216;
}

static void pattern_read(RULE) /* elements of k % 16 words; k / 16 elements per warp */
{
    uint32_t words = k % 16;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *at = in + (i / 32 * (k / 16) + pattern_place(p, i % 32)) * words;
        for (uint32_t j = 0; j < words; j++) out[i] ^= at[j];
    }
}

static void pattern_pairs(RULE) /* elements of k words; the index is the lane without bit p */
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t unit = 1u << p, element = i % 32 / (2 * unit) * unit + i % unit;
        for (uint32_t j = 0; j < k; j++) out[i] ^= in[element * k + j];
    }
}

static void pattern_half_pairs(RULE) /* lane / 2 in the first half, then the lane */
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t element = i % 32 < 16 ? i % 32 / 2 : i % 32;
        for (uint32_t j = 0; j < k; j++) out[i] ^= in[element * k + j];
    }
}

static void pattern_active(RULE) /* the lanes in p get consecutive elements */
{
    for (uint32_t i = 0, element = 0; i < n; i++) {
        if (i % 32 == 0) element = 0;
        if ((p >> i % 32 & 1) == 0) continue;
        for (uint32_t j = 0; j < k; j++) out[i] ^= in[element * k + j];
        element++;
    }
}

static void pattern_write(RULE) /* 4 warps with 1024 elements of k words each */
{
    (void)n;
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t *at = out + (i / 32 * 1024 + pattern_place(p, i % 32)) * k;
        const uint32_t x = in[i], values[4] = { x, ~x, x + 1, x + 2 };
        for (uint32_t j = 0; j < k; j++) at[j] = values[j];
    }
}

static void pattern_pass_on(RULE) /* to the next lane, in elements of k words */
{
    (void)p;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = in[i ^ 1];
        out[i] = k == 1 ? x : k == 2 ? x * 3 + ~x : x * 3 + ~x * 5 + (x + 1) * 7 + x + 2;
    }
}

static void gather(RULE) /* the indices begin at word k and are taken modulo p */
{
    for (uint32_t i = 0; i < n; i++) out[i] = in[in[k + i] % p];
}

static void transposed(RULE)
{
    (void)p, (void)k;
    for (uint32_t i = 0; i < n; i++) out[i] = in[i / 1024 * 1024 + i % 32 * 32 + i / 32 % 32];
}

static void totals(RULE) /* sums of k words */
{
    (void)p;
    for (uint32_t i = 0; i < n * k; i++) out[i / k] += in[i];
}

static void atomics_in_blocks(RULE) /* blocks of 64 */
{
    (void)k;
    for (uint32_t i = 0; i < n; i++) out[i / 64 * 64 + pattern_place(p, i % 32)] += in[i];
}

static void atomics_of_grid(RULE) /* 128 threads; k: 0 add, 1 or, with the low bit set */
{
    (void)n;
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t *at = &out[pattern_place(p, i % 32)];
        *at = k ? *at | in[i] | 1 : *at + in[i];
    }
}

static uint32_t mixed(uint32_t x, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) x = 5 * (x ^ (x / 128)) + i;
    return x;
}

static uint32_t stirred(uint32_t x, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) x = (x ^ (x * 512)) + ((x / 8) | i);
    return x;
}

enum { NONE, WARPS, HALF, NESTED, LOOP, RETURN };

static void ways(RULE)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = i % 32, x = in[i];
        if (k == NONE) out[i] = mixed(x, p);
        if (k == WARPS) out[i] = i % 64 < 32 ? mixed(x, p) : stirred(x, p);
        if (k == HALF) out[i] = lane < 16 ? mixed(x, p) : stirred(x, p);
        if (k == LOOP) out[i] = mixed(x, lane);
        if (k == RETURN) out[i] = lane < 16 ? mixed(x, p) : 0;
        if (k != NESTED) continue;
        out[i] = lane < 16 ? mixed(x, p) : stirred(x, p);
        if (lane < 8 || lane >= 24)
            out[i] = mixed(out[i], p + 1 + lane / 16);
        else
            out[i] = stirred(out[i], p + 1 + lane / 16);
    }
}

/* ---- The rules of the kernels ---- */

static const struct rule {
    const char *kernel;
    void (*fill)(RULE);
    uint32_t k;
} rules[] = {
    { "race_raw_across_ok", exchange, 32 },
    { "race_raw_warp_ok", exchange, 1 },
    { "race_war_ok", exchange, 0 },
    { "race_waw_ok", all_same, 0 },
    { "race_waw_same", all_same, 0 },
    { "race_waw_lanes_ok", all_same, 0 },
    { "race_overlap_ok", second_bytes, 0 },
    { "race_bytes_ok", bytes_of_neighbours, 1 },
    { "race_loop_ok", doubling, 0 },
    { "lost_shared_ok", total, 128 },
    { "lost_global_ok", total, 128 },
    { "mixed_shared_ok", total, 32 },
    { "mixed_global_ok", total, 32 },
    { "barrier_some_ok", exchange, 0 },
    { "barrier_returned", exchange_some, 32 },
    { "barrier_returned_warp", exchange_some, 16 },
    { "barrier_returned_ok", exchange, 8 },
    { "barrier_two_lines_ok", exchange, 1 },
    { "barrier_counts_ok", exchange, 0 },
    { "bounds_shared_read_ok", turn, 1 },
    { "bounds_shared_write_ok", turn, 63 },
    { "bounds_read_ok", turn, 1 },
    { "bounds_write_ok", turn, 63 },
    { "bounds_atomic_ok", turn, 63 },
    { "bounds_before_ok", turn, 63 },
    { "bounds_vector_ok", quads, 16 },
    { "misaligned_global_ok", quads, 32 },
    { "misaligned_shared_ok", quads, 32 },
    { "uninitialized_shared_ok", exchange, 1 },
    { "uninitialized_global_ok", exchange, 1 },
    { "uninitialized_atomic_ok", total, 64 },
    { "uninitialized_atomic_global_ok", total, 64 },
    { "mask_lacks_self_ok", all_same, 1 },
    { "mask_ballot_ok", odd_lanes, 0 },
    { "mask_half_ok", first_lanes, 4 },
    { "mask_exited_ok", first_lanes, 4 },
    { "mask_two_lines_ok", exchange, 16 },
    { "mask_differs_ok", exchange, 1 },
    { "race_global_ok", twice, 32 },
    { "race_blocks_ok", twice, 0 },
    { "race_blocks_write_ok", exchange, 0 },
    { "race_blocks_same", exchange, 0 },
    { "lookback_ok", one_more, 0 },
    { "lookback_atomic_ok", one_more, 0 },
    { "lookback_packed_ok", without_low_bit, 0 },
    { "lookback_all_ok", twice, 32 },
    { "lock_ok", total_and_xor, 128 },
    { "mixed_strength_ok", exchange, 0 },
    { "race_waw_same_then_other_ok", all_same, 1 },
    { "parts_bytes_shared_ok", parts_changed, 0xff },
    { "parts_bytes_global_ok", parts_changed, 0xff },
    { "parts_halves_shared_ok", parts_changed, 0xffff },
    { "parts_halves_global_ok", parts_changed, 0xffff },
    { "race_shuffle_ok", exchange_doubled, 1 },
    { "race_ballot_ok", odd_lanes_added, 1 },
    { "lookback_half_hears_ok", all_same, 0 },
    { "lookback_half_tells_ok", twice, 0 },
    { "lookback_block_fence_ok", one_more, 0 },
    { "block_fence_shared_ok", exchange, 0 },
    { "block_fence_global_ok", exchange, 0 },
    { "block_fence_mixed_ok", exchange, 0 },
    { "lookback_other_tells_ok", one_more, 0 },
    { "lookback_other_fences_ok", one_more, 0 },
    { "copy_ok", exchange, 32 },
    { "copy_group_ok", exchange, 0 },
    { "copy_ring_ok", sums_of_columns, 4 },
    { "bulk_ok", exchange, 32 },
    { "lookback_value", sums_before, 30 },
    { "last_replaces_ok", exchange, 0 },
    { "lookback_value_ok", sums_before, 30 },
    { "weak_no_fence", doubled, 0 },
    { "weak_block_fence", doubled, 0 },
    { "weak_fence_ok", doubled, 0 },
    { "weak_gather", twice, 32 },
    { "weak_gather_ok", twice, 32 },
    { "deadlock_spin_ok", exchange, 0 },
    { "deadlock_grid_ok", grid, 0 },
    { "deadlock_barrier_ok", exchange, 0 },
    { "launch_bounds_ok", reverse, 0 },
    { "launch_threads_ok", reverse, 0 },
    { "launch_shared_ok", reverse, 0 },

    { "nothing", keep, 0 },
    { "global_read_4", pattern_read, 1024 * 16 + 1 },
    { "global_read_8", pattern_read, 1024 * 16 + 2 },
    { "global_read_16", pattern_read, 1024 * 16 + 4 },
    { "global_write_4", pattern_write, 1 },
    { "global_write_8", pattern_write, 2 },
    { "global_write_16", pattern_write, 4 },
    { "global_reverse", exchange, 31 },
    { "global_gather", gather, 0 },
    { "shared_read_4", pattern_read, 1 },
    { "shared_read_8", pattern_read, 2 },
    { "shared_read_16", pattern_read, 4 },
    { "shared_pairs_8", pattern_pairs, 2 },
    { "shared_pairs_16", pattern_pairs, 4 },
    { "shared_half_pairs_8", pattern_half_pairs, 2 },
    { "shared_half_pairs_16", pattern_half_pairs, 4 },
    { "shared_active_8", pattern_active, 2 },
    { "shared_active_16", pattern_active, 4 },
    { "shared_write_4", pattern_pass_on, 1 },
    { "shared_write_8", pattern_pass_on, 2 },
    { "shared_write_16", pattern_pass_on, 4 },
    { "shared_gather", gather, 1024 },
    { "transpose", transposed, 0 },
    { "reduce_modulo", totals, 256 },
    { "reduce_interleaved", totals, 256 },
    { "reduce_sequential", totals, 256 },
    { "atomics_shared", atomics_in_blocks, 0 },
    { "atomics_global", atomics_of_grid, 0 },
    { "atomics_global_result", atomics_of_grid, 1 },
    { "diverge_none", ways, NONE },
    { "diverge_warps", ways, WARPS },
    { "diverge_half", ways, HALF },
    { "diverge_nested", ways, NESTED },
    { "diverge_loop", ways, LOOP },
    { "diverge_return", ways, RETURN },
    { "barriers", exchange, 0 },
};

int planted_expected(const char *kernel, uint32_t p, const uint32_t *in, uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(kernel, rules[i].kernel) != 0) continue;
        memset(out, 0, n * sizeof *out);
        rules[i].fill(in, out, n, p, rules[i].k);
        return 1;
    }
    return 0;
}

uint64_t planted_checksum(const uint32_t *words, uint32_t n)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t i = 0; i < 4 * n; i++) {
        hash = (hash ^ (words[i / 4] >> i % 4 * 8 & 255)) * 1099511628211u;
    }
    return hash;
}
