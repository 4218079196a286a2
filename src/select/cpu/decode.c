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

enum {
    RUNS = 4096,
    SHARE_BYTES = 1 << 18,
    WIDE_BYTES = 32 /* a multiple of all sizes of elements with a kernel */
};

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

/* Eight bytes with copies of an element of 1, 2, 4 or 8 bytes. */
static inline uint64_t copies_of(const char *element, size_t bytes)
{
    uint64_t u = 0;
    memcpy(&u, element, bytes); /* little-endian */
    return bytes == 1   ? u * 0x0101010101010101u
           : bytes == 2 ? u * 0x0001000100010001u
           : bytes == 4 ? u | u << 32
                        : u;
}

static inline void store_wide(char *to, uint64_t copies)
{
    for (size_t k = 0; k < WIDE_BYTES; k += 8) memcpy(to + k, &copies, 8);
}

/* Writes runs from `to` to `end`; the first one has `first` elements. A short run is one wide
 * store, which later runs overwrite in part. */
static inline __attribute__((always_inline)) void write_runs(char *to, const char *end,
                                                             const char *in,
                                                             const uint64_t *lengths,
                                                             uint64_t first, size_t bytes)
{
    for (uint64_t n = first;; n = *++lengths, in += bytes) {
        const size_t left = (size_t)(end - to), size = n > left / bytes ? left : (size_t)n * bytes;
        const uint64_t copies = copies_of(in, bytes);
        if (size <= WIDE_BYTES && left >= WIDE_BYTES) {
            store_wide(to, copies);
        } else if (size > WIDE_BYTES) {
            for (size_t k = 0; k + WIDE_BYTES < size; k += WIDE_BYTES) store_wide(to + k, copies);
            store_wide(to + size - WIDE_BYTES, copies);
        } else {
            for (size_t k = 0; k < size; k += bytes) memcpy(to + k, &copies, bytes);
        }
        to += size;
        if (to == end) return;
    }
}

/* The same for elements of other sizes. */
static void write_any(char *to, const char *end, const char *in, const uint64_t *lengths,
                      uint64_t first, size_t bytes)
{
    for (uint64_t n = first;; n = *++lengths, in += bytes) {
        for (; n && to < end; n--, to += bytes) memcpy(to, in, bytes);
        if (to == end) return;
    }
}

static void write_sized(char *to, const char *end, const char *in, const uint64_t *lengths,
                        uint64_t first, size_t bytes)
{
    switch (bytes) {
    case 1:
        write_runs(to, end, in, lengths, first, 1);
        break;
    case 2:
        write_runs(to, end, in, lengths, first, 2);
        break;
    case 4:
        write_runs(to, end, in, lengths, first, 4);
        break;
    case 8:
        write_runs(to, end, in, lengths, first, 8);
        break;
    default:
        write_any(to, end, in, lengths, first, bytes);
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
    size_t run = piece * RUNS;
    uint64_t at = d->before[piece];
    while (at + s->lengths_in[run] <= begin) at += s->lengths_in[run++];
    write_sized((char *)s->out + begin * bytes, (char *)s->out + end * bytes,
                (const char *)s->in + run * bytes, s->lengths_in + run,
                at + s->lengths_in[run] - begin, bytes);
}

bool echi_cpu_decode_at_once(const struct echi_select *s)
{
    if (s->n > RUNS || !s->n) return false;
    const uint64_t total = sum_of(s->lengths_in, s->n, (uint64_t)s->out_n + 1);
    const size_t bytes = s->element_bytes;
    if (total > s->out_n || total * bytes > SHARE_BYTES) return false;
    if (total)
        write_sized(s->out, (char *)s->out + total * bytes, s->in, s->lengths_in, s->lengths_in[0],
                    bytes);
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
