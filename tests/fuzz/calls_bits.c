/*
 * calls_bits.c - one call of a transpose or of a product over GF(2), for fuzz_calls.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <string.h>

void call_transpose(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const size_t rows = take_size(in) % 60, cols = take_size(in) % 60, bytes = take(in) % 18;
    const void *from = array_in(&c, rows * cols, bytes, 1);
    const char *given = array_last(&c);
    void *out = array_out(&c, rows * cols, bytes, 1);
    const char *result = array_last(&c);
    if (call_check(&c, ech_transpose(ctx, from, out, rows, cols, bytes)))
        for (size_t i = 0; i < rows * cols; i++)
            FUZZ_CHECK(memcmp(result + (i % cols * rows + i / cols) * bytes, given + i * bytes,
                              bytes) == 0);
    call_end(&c);
}

void call_bits(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const size_t m = take(in) % 70, k = take(in) % 140, n = take(in) % 70;
    const size_t more = take(in) % 2, words = (k + 63) / 64 + more, wide = (n + 63) / 64;
    /* The last row ends with its last bit. */
    uint64_t *a_words = array_in(&c, m ? m * words - more * (k || m > 0) : 0, 8, 8);
    const unsigned char *a_at = array_last(&c);
    uint64_t *b_words = array_in(&c, k * wide, 8, 8);
    const unsigned char *b_at = array_last(&c);
    uint64_t *out_words = array_out(&c, m * wide, 8, 8);
    const unsigned char *out_at = array_last(&c);
    ech_gf2 a = { .size = sizeof a, .words = a_words, .rows = m, .cols = k, .stride = words };
    ech_gf2 b = { .size = sizeof b, .words = b_words, .rows = k, .cols = n, .stride = wide };
    ech_gf2 out = { .size = sizeof out, .words = out_words, .rows = m, .cols = n, .stride = wide };
    ech_gf2_options o = { .size = sizeof o };
    call_size(&c, &o.size);
    if (!m || !k || !n) c.array_spoiled = false;
    const ech_status s = ech_gf2_mul(ctx, &a, &b, &out, &o);
    if (call_check(&c, s))
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                unsigned sum = 0;
                for (size_t l = 0; l < k; l++)
                    sum ^= (unsigned)(a_at[i * words * 8 + l / 8] >> l % 8) &
                           (unsigned)(b_at[l * wide * 8 + j / 8] >> j % 8);
                FUZZ_CHECK(((sum ^ (unsigned)(out_at[i * wide * 8 + j / 8] >> j % 8)) & 1) == 0);
            }
    call_end(&c);
}
