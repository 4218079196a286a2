/*
 * counters.c - the ladder of counters: an array is copied in eleven ways, each of which changes one
 * counter of the SIMT emulator by a known amount.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum { WARP = 32, STRIDED = 2, BARRIERS = 10, BLOCK = 256, STRIDE = 8 };

static void expect(struct trial *trial)
{
    memcpy(trial->expected, trial->host_in, trial->out_bytes);
}

/* ---- Rungs ---- */

/* One warp per block, so that counts per block are counts per warp; except for barriers. */
static void run(struct trial *trial)
{
    const int number = trial->rung->number;
    const unsigned threads = number == BARRIERS ? BLOCK : WARP;
    char kernel[16];
    snprintf(kernel, sizeof kernel, "counters_%d", number);
    LAUNCH(trial, kernel, ladder_ceil(trial->n, number == STRIDED ? STRIDE * threads : threads),
           threads, 0, &trial->in, &trial->n, &trial->out);
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "coalesced", .text = "adjacent words", .run = run },
    { .number = 2, .idea = "stride", .text = "words with a stride of 8", .run = run },
    { .number = 3, .idea = "misaligned", .text = "adjacent words, not aligned", .run = run },
    { .number = 4, .idea = "shared", .text = "through shared memory", .run = run },
    { .number = 5, .idea = "conflicts", .text = "... with a stride of 2", .run = run },
    { .number = 6, .idea = "halves", .text = "... half warps 32 words apart", .run = run },
    { .number = 7, .idea = "bytes", .text = "... as bytes", .run = run },
    { .number = 8, .idea = "atomics", .text = "atomics on one word", .run = run },
    { .number = 9, .idea = "divergent", .text = "half of the lanes", .run = run },
    { .number = 10, .idea = "barriers", .text = "a block with a barrier", .run = run },
    { .number = 11, .idea = "shuffle", .text = "a shuffle", .run = run },
};

/* ---- Claims: n is a multiple of 256 ---- */

struct row {
    const struct simt_counts *c;
    uint64_t warps;
};

static struct row row_of(const struct results *results, int number)
{
    const struct result *row = ladder_row(results, number, 0, 0);
    return (struct row){ &row->counts, row->n / WARP };
}

/* Whether a counter has a value per warp; adds the value to the evidence. */
static bool is_per_warp(struct row row, const char *name, uint64_t count, uint64_t wanted,
                        char *because, size_t bytes)
{
    const size_t length = strlen(because);
    snprintf(because + length, bytes - length, "%s%s %g", length ? ", " : "per warp: ", name,
             (double)count / (double)row.warps);
    return count == wanted * row.warps;
}

static bool sectors(struct row row, uint64_t requests, uint64_t each, char *because, size_t bytes)
{
    const struct simt_counts *c = row.c;
    because[0] = 0;
    bool loads = is_per_warp(row, "loads", c->load_requests, requests, because, bytes);
    bool of_loads =
        is_per_warp(row, "their sectors", c->load_sectors, requests * each, because, bytes);
    bool stores = is_per_warp(row, "stores", c->store_requests, requests, because, bytes);
    bool of_stores =
        is_per_warp(row, "their sectors", c->store_sectors, requests * each, because, bytes);
    return loads && of_loads && stores && of_stores;
}

static bool adjacent(const struct results *results, char *because, size_t bytes)
{
    return sectors(row_of(results, 1), 1, 4, because, bytes);
}

/* A warp copies eight times as many words. */
static bool strided(const struct results *results, char *because, size_t bytes)
{
    struct row row = row_of(results, STRIDED);
    row.warps /= STRIDE;
    return sectors(row, STRIDE, 32, because, bytes);
}

static bool misaligned(const struct results *results, char *because, size_t bytes)
{
    return sectors(row_of(results, 3), 1, 5, because, bytes);
}

/* Requests to shared memory, their wavefronts, and conflicts by both rules. */
static bool banks(struct row row, uint64_t requests, uint64_t wavefronts, uint64_t of_16,
                  char *because, size_t bytes)
{
    const struct simt_counts *c = row.c;
    because[0] = 0;
    bool asked =
        is_per_warp(row, "requests", c->shared_loads + c->shared_stores, requests, because, bytes);
    bool served =
        is_per_warp(row, "wavefronts", c->shared_load_wavefronts + c->shared_store_wavefronts,
                    wavefronts, because, bytes);
    bool today =
        is_per_warp(row, "conflicts", c->bank_conflicts, wavefronts - requests, because, bytes);
    bool then = is_per_warp(row, "with 16 banks", c->bank16_conflicts, of_16, because, bytes);
    return asked && served && today && then;
}

static bool free_of_conflicts(const struct results *results, char *because, size_t bytes)
{
    return banks(row_of(results, 4), 2, 2, 0, because, bytes);
}

static bool conflicts(const struct results *results, char *because, size_t bytes)
{
    return banks(row_of(results, 5), 2, 4, 4, because, bytes);
}

static bool halves(const struct results *results, char *because, size_t bytes)
{
    return banks(row_of(results, 6), 2, 4, 0, because, bytes);
}

static bool of_bytes(const struct results *results, char *because, size_t bytes)
{
    return banks(row_of(results, 7), 8, 8, 48, because, bytes);
}

static bool atomics(const struct results *results, char *because, size_t bytes)
{
    struct row row = row_of(results, 8);
    const struct simt_counts *c = row.c;
    because[0] = 0;
    bool asked = is_per_warp(row, "atomics", c->shared_atomics, 1, because, bytes);
    bool served =
        is_per_warp(row, "their wavefronts", c->shared_atomic_wavefronts, 32, because, bytes);
    bool none = is_per_warp(row, "conflicts", c->bank_conflicts, 0, because, bytes);
    return asked && served && none;
}

static bool divergent(const struct results *results, char *because, size_t bytes)
{
    struct row row = row_of(results, 9);
    because[0] = 0;
    bool once = is_per_warp(row, "divergent branches", row.c->divergent, 1, because, bytes);
    bool loads = is_per_warp(row, "loads", row.c->load_requests, 2, because, bytes);
    bool stores = is_per_warp(row, "stores", row.c->store_requests, 2, because, bytes);
    return once && loads && stores;
}

static bool barriers(const struct results *results, char *because, size_t bytes)
{
    struct row row = row_of(results, BARRIERS);
    because[0] = 0;
    return is_per_warp(row, "barriers", row.c->barriers, 1, because, bytes);
}

static bool shuffles(const struct results *results, char *because, size_t bytes)
{
    struct row row = row_of(results, 11);
    because[0] = 0;
    bool once = is_per_warp(row, "warp operations", row.c->warp_operations, 1, because, bytes);
    bool none = is_per_warp(row, "requests to shared memory",
                            row.c->shared_loads + row.c->shared_stores, 0, because, bytes);
    return once && none;
}

static const struct claim claims[] = {
    { .text = "A request for 32 adjacent words has 4 sectors", .holds = adjacent },
    { .text = "With a stride of 8 words it has 32 sectors", .holds = strided },
    { .text = "32 adjacent words that are not aligned have 5 sectors", .holds = misaligned },
    { .text = "Without bank conflicts a request to shared memory takes one wavefront",
      .holds = free_of_conflicts },
    { .text = "With a stride of 2 words it takes two, and two per half warp with 16 banks",
      .holds = conflicts },
    { .text = "Half warps that are 32 words apart conflict with 32 banks, but not with 16",
      .holds = halves },
    { .text = "Adjacent bytes conflict 4-way with 16 banks, but not with 32", .holds = of_bytes },
    { .text = "An atomic of 32 lanes on one word takes 32 wavefronts, without a bank conflict",
      .holds = atomics },
    { .text = "A branch by odd and even lanes diverges once per warp", .holds = divergent },
    { .text = "A barrier is counted once per warp", .holds = barriers },
    { .text = "A shuffle is one warp operation, without shared memory", .holds = shuffles },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4099, LADDER_END };
static const uint64_t counted[] = { 1 << 10, LADDER_END };
static const uint64_t timed[] = { 1 << 26, LADDER_END };

const struct ladder counters_ladder = { .name = "counters",
                                        .summary = "an array copied in ways that change one "
                                                   "counter each",
                                        .types = "u32",
                                        .unit = "words",
                                        .takes_input = true,
                                        .out_type = LADDER_SAME,
                                        .ceiling = CEILING_MEMORY,
                                        .rungs = rungs,
                                        .rung_count = sizeof rungs / sizeof *rungs,
                                        .claims = claims,
                                        .claim_count = sizeof claims / sizeof *claims,
                                        .checked = checked,
                                        .counted = counted,
                                        .timed = timed,
                                        .shape = ladder_shape_keys,
                                        .make = ladder_make_keys,
                                        .expect = expect };
