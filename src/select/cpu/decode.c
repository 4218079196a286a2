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
#include "select/cpu/common.h"
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

/* The sum of at most RUNS lengths, or `most` if it is larger. */
static uint64_t sum_of(const uint64_t *lengths, size_t n, uint64_t most)
{
    uint64_t sum = 0, all = 0;
    for (size_t r = 0; r < n; r++) {
        sum += lengths[r];
        all |= lengths[r];
    }
    if (all >> 48 == 0) return echi_min(sum, most); /* it did not overflow */
    sum = 0;
    for (size_t r = 0; r < n; r++) sum = add_to(sum, lengths[r], most);
    return sum;
}

static void sum_piece(void *arg, size_t piece, int thread)
{
    (void)thread;
    const struct decode *d = arg;
    const size_t begin = piece * RUNS, n = echi_min(d->s->n - begin, RUNS);
    d->before[piece + 1] = sum_of(d->s->lengths_in + begin, n, (uint64_t)d->s->out_n + 1);
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

/* Writes runs of elements of a size without a kernel from `to` to `end`; the first has `first`
 * elements. */
static void write_any(char *to, const char *end, const char *in, const uint64_t *lengths,
                      uint64_t first, size_t bytes)
{
    for (uint64_t n = first;; n = *++lengths, in += bytes) {
        for (; n && to < end; n--, to += bytes) memcpy(to, in, bytes);
        if (to == end) return;
    }
}

/* Writes runs from `run` on. */
static void write_some(const struct echi_select *s, size_t run, uint64_t first, char *to,
                       const char *end)
{
    const struct echi_select_width *width = echi_select_width_of_machine(s->element_bytes);
    const char *in = (const char *)s->in + run * s->element_bytes;
    if (width)
        width->decode(to, end, in, s->lengths_in + run, s->n - run, first);
    else
        write_any(to, end, in, s->lengths_in + run, first, s->element_bytes);
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
    size_t run = piece * RUNS;
    uint64_t at = d->before[piece];
    while (at + s->lengths_in[run] <= begin) at += s->lengths_in[run++];
    write_some(s, run, at + s->lengths_in[run] - begin, (char *)s->out + begin * bytes,
               (char *)s->out + end * bytes);
}

bool echi_cpu_decode_at_once(const struct echi_select *s)
{
    if (s->n > RUNS || !s->n) return false;
    const uint64_t total = sum_of(s->lengths_in, s->n, (uint64_t)s->out_n + 1);
    const size_t bytes = s->element_bytes;
    if (total > s->out_n || total * bytes > SHARE_BYTES) return false;
    if (total) write_some(s, 0, s->lengths_in[0], s->out, (char *)s->out + total * bytes);
    return true;
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
