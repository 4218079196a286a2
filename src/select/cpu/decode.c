/*
 * select/cpu/decode.c - run-length decoding: writes each element as often as its length specifies.
 *
 *     sums     the lengths of each piece of 4096 runs are added, then exclusive prefix sums over
 *              the pieces are computed
 *     write    the output is divided into equal shares, whatever the lengths are: each finds its
 *              first piece in the prefix sums and continues from there
 *
 * Sums saturate at n + 1, so that they cannot overflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cpu/decode.h"
#include "core/call.h"
#include "core/data_error.h"

#include <string.h>

enum { RUNS = 4096, SHARE_BYTES = 1 << 18 };

struct decode {
    const struct echi_select *s;
    uint64_t *before; /* [pieces + 1]: exclusive prefix sums of the pieces' lengths */
    size_t share;     /* outputs per share */
    uint64_t total;
};

static size_t pieces_of(size_t runs)
{
    return runs / RUNS + (runs % RUNS != 0);
}

size_t echi_cpu_decode_words(size_t runs)
{
    return pieces_of(runs) + 1;
}

/* A saturating sum. */
static uint64_t add_to(uint64_t a, uint64_t b, uint64_t most)
{
    return a >= most || b >= most - a ? most : a + b;
}

static void sum_piece(void *arg, size_t piece, int thread)
{
    (void)thread;
    const struct decode *d = arg;
    const size_t end = echi_min(d->s->n, (piece + 1) * RUNS);
    uint64_t sum = 0;
    for (size_t r = piece * RUNS; r < end; r++)
        sum = add_to(sum, d->s->lengths_in[r], (uint64_t)d->s->out_n + 1);
    d->before[piece + 1] = sum;
}

/* The last piece that begins at or before output `at`. */
static size_t find_piece(const struct decode *d, uint64_t at)
{
    size_t low = 0, high = pieces_of(d->s->n);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (d->before[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* to[0 ... n) = *from, for elements of any size. */
static void repeat(char *to, const char *from, size_t n, size_t bytes)
{
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
    switch (bytes) {
    case 1:
        memset(to, *from, n);
        break;
    case 2:
        memcpy(&u2, from, 2);
        for (size_t i = 0; i < n; i++) memcpy(to + 2 * i, &u2, 2);
        break;
    case 4:
        memcpy(&u4, from, 4);
        for (size_t i = 0; i < n; i++) memcpy(to + 4 * i, &u4, 4);
        break;
    case 8:
        memcpy(&u8, from, 8);
        for (size_t i = 0; i < n; i++) memcpy(to + 8 * i, &u8, 8);
        break;
    default:
        for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from, bytes);
    }
}

static void write_share(void *arg, size_t share, int thread)
{
    (void)thread;
    const struct decode *d = arg;
    const struct echi_select *s = d->s;
    const size_t bytes = s->element_bytes;
    const uint64_t begin = (uint64_t)share * d->share;
    const uint64_t end = d->total - begin < d->share ? d->total : begin + d->share;
    const size_t piece = find_piece(d, begin);
    const char *in = s->in;
    char *out = s->out;
    size_t run = piece * RUNS;
    uint64_t at = d->before[piece];
    while (at + s->lengths_in[run] <= begin) at += s->lengths_in[run++];
    for (; at < end; run++) {
        uint64_t through = at + s->lengths_in[run], first = at < begin ? begin : at;
        if (through > end) through = end;
        repeat(out + first * bytes, in + run * bytes, (size_t)(through - first), bytes);
        at = through;
    }
}

static ech_status report_error(ech_ctx *ctx, const struct decode *d)
{
    uint64_t sum = 0, n = d->s->out_n;
    size_t run = 0;
    while (d->s->lengths_in[run] <= n - sum) sum += d->s->lengths_in[run++];
    return echi_report_error(ctx, ECHI_LENGTHS_TOO_LARGE, run);
}

ech_status echi_cpu_decode(ech_ctx *ctx, const struct echi_select *s, uint64_t *work)
{
    struct decode d = { .s = s, .before = work };
    const size_t pieces = pieces_of(s->n);
    const uint64_t most = (uint64_t)s->out_n + 1;
    if (s->n == 0) return ECH_OK;
    echi_parallel(echi_parallel_for_bytes(ctx, s->n * sizeof *s->lengths_in), pieces, sum_piece,
                  &d);
    d.before[0] = 0;
    for (size_t piece = 1; piece <= pieces; piece++)
        d.before[piece] = add_to(d.before[piece - 1], d.before[piece], most);
    d.total = d.before[pieces];
    if (d.total > s->out_n) return report_error(ctx, &d);
    d.share = SHARE_BYTES / s->element_bytes + 1;
    size_t shares = (size_t)(d.total / d.share) + (d.total % d.share != 0);
    echi_parallel(echi_parallel_for_bytes(ctx, (size_t)d.total * s->element_bytes), shares,
                  write_share, &d);
    return ECH_OK;
}
