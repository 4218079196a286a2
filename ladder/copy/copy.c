/*
 * copy.c - the first ladder: copying an array, to show threads, warps, blocks and memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 256, VECTOR_BYTES = 16, CHUNK = 32 };

static void expect(struct trial *trial)
{
    memcpy(trial->expected, trial->host_in, trial->out_bytes);
}

/* ---- Rungs ---- */

static void run_1(struct trial *trial)
{
    LAUNCH(trial, "copy_1", 1, 1, 0, &trial->in, &trial->n, &trial->out);
}

static void run_2(struct trial *trial)
{
    LAUNCH(trial, "copy_2", 1, 1024, 0, &trial->in, &trial->n, &trial->out);
}

static void run_3(struct trial *trial)
{
    LAUNCH(trial, "copy_3", ladder_ceil(trial->n, THREADS * CHUNK), THREADS, 0, &trial->in,
           &trial->n, &trial->out);
}

static void run_4(struct trial *trial)
{
    LAUNCH(trial, "copy_4", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->out);
}

static void run_5(struct trial *trial)
{
    uint64_t vectors = trial->in_bytes / VECTOR_BYTES;
    uint64_t first = vectors * VECTOR_BYTES / trial->element_bytes;
    LAUNCH(trial, "copy_5", ladder_ceil(vectors, 2 * THREADS), THREADS, 0, &trial->in, &vectors,
           &trial->out);
    LAUNCH(trial, "copy_5_rest", first < trial->n, VECTOR_BYTES, 0, &trial->in, &trial->n, &first,
           &trial->out);
}

static void run_production(struct trial *trial)
{
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
}

static const struct rung rungs[] = {
    { .number = 1,
      .idea = "one_thread",
      .text = "one thread",
      .most = 1 << 20, /* about 50 ns per element */
      .run = run_1 },
    { .number = 2, .idea = "one_block", .text = "one block", .run = run_2 },
    { .number = 3, .idea = "chunks", .text = "32 contiguous elements per thread", .run = run_3 },
    { .number = 4, .idea = "coalesced", .text = "one thread per element", .run = run_4 },
    { .number = 5, .idea = "vectors", .text = "vectors of 16 bytes", .run = run_5 },
    { .number = 6, .idea = "production", .text = "the driver's copy", .run = run_production },
};

/* ---- Claims ---- */

static double sectors_a_load(const struct results *results, int number)
{
    const struct simt_counts *c = &ladder_row(results, number, 0, 0)->counts;
    return c->load_requests ? (double)c->load_sectors / (double)c->load_requests : 0;
}

static bool sectors(const struct results *results, char *because, size_t bytes)
{
    double a = sectors_a_load(results, 3), b = sectors_a_load(results, 4);
    double c = sectors_a_load(results, 5);
    snprintf(because, bytes, "%g, %g and %g sectors per load", a, b, c);
    return a == 32 && b == 4 && c == 16;
}

static bool chunks_lose(const struct results *results, char *because, size_t bytes)
{
    double chunks = ladder_row(results, 3, 0, 0)->ms, coalesced = ladder_row(results, 4, 0, 0)->ms;
    snprintf(because, bytes, "%.4g ms against %.4g ms", chunks, coalesced);
    return chunks > 4 * coalesced;
}

static bool vectors_reach(const struct results *results, char *because, size_t bytes)
{
    const struct result *row = ladder_row(results, 5, 0, 0), *driver = ladder_row(results, 6, 0, 0);
    double rate = row->bytes / (row->ms * 1e-3), of_driver = driver->bytes / (driver->ms * 1e-3);
    snprintf(because, bytes, "%.0f GB/s; the driver's copy: %.0f", rate * 1e-9, of_driver * 1e-9);
    return rate > 0.9 * of_driver;
}

static const struct claim claims[] = {
    { .text = "A load of a warp takes 32 sectors for chunks, 4 for adjacent words, 16 for vectors",
      .holds = sectors },
    { .text = "One contiguous chunk per thread is several times slower than adjacent elements",
      .of_gpu = true,
      .holds = chunks_lose },
    { .text = "A short kernel copies as fast as the driver",
      .of_gpu = true,
      .holds = vectors_reach },
};

static const uint64_t checked[] = { 0, 1, 2, 3, 31, 33, 255, 1000, 4099, 10007, LADDER_END };
static const uint64_t counted[] = { 1 << 14, LADDER_END };
static const uint64_t timed[] = { 1 << 28, LADDER_END };

const struct ladder copy_ladder = { .name = "copy",
                                    .summary = "an array copied: threads, warps, blocks, memory",
                                    .types = "u32",
                                    .unit = "elements",
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
