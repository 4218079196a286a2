/*
 * systematic.c - transforms the generator matrix of a random code, such as a McEliece key, to
 * systematic form. A random order of the columns selects the information set.
 *
 *     G, k x n  ->  [I | R], with the columns in the order of the pivots, then the others
 *
 * The parity checks of this form are [R^T | I].   cc systematic.c -lechelon
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>

#include <stdio.h>
#include <stdlib.h>

enum { K = 524, N = 1024 };

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((status = (call)) != ECH_OK) goto done;                                                \
    } while (0)

static ech_gf2 zeros(size_t rows, size_t cols)
{
    ech_gf2 m = { sizeof(ech_gf2), NULL, rows, cols, ech_gf2_stride(cols) };
    m.words = calloc(rows * m.stride, sizeof *m.words);
    if (!m.words) exit(1);
    return m;
}

/* The pivots, then the other columns in the given order. */
static void complete(uint32_t *order, const uint32_t *wanted, const uint32_t *pivots, uint32_t rank)
{
    char taken[N] = { 0 };
    uint32_t n = 0;
    for (; n < rank; n++) taken[order[n] = pivots[n]] = 1;
    for (int i = 0; i < N; i++)
        if (!taken[wanted[i]]) order[n++] = wanted[i];
}

int main(void)
{
    ech_gf2 g = zeros(K, N), form = zeros(K, N), left = zeros(K, K), unit = zeros(K, K);
    ech_gf2 ht = zeros(N, N - K), zero = zeros(K, N - K);
    static uint32_t columns[N], wanted[N], pivots[N], order[N];
    uint32_t rank;
    uint64_t ones;
    uint8_t equal;
    ech_gf2_echelon_options options = { .size = sizeof options, .column_order = wanted };
    ech_status status;
    ech_ctx *ctx = NULL;
    TRY(ech_open(&ctx, NULL));
    TRY(ech_gf2_random(ctx, &g, 0.5, 2026));

    for (uint32_t i = 0; i < N; i++) columns[i] = i;
    TRY(ech_shuffle(ctx, columns, wanted, N, sizeof *wanted, 7));
    TRY(ech_gf2_echelon(ctx, &g, &rank, pivots, &options));
    complete(order, wanted, pivots, rank);
    TRY(ech_gf2_gather_cols(ctx, &g, order, &form, ECH_U32));

    TRY(ech_gf2_identity(ctx, &unit));
    TRY(ech_gf2_copy(ctx, &form, 0, 0, &left, 0, 0, K, K));
    TRY(ech_gf2_equal(ctx, &left, &unit, &equal));
    printf("a code of length %d and rank %u; its first %d columns are %s\n", N, (unsigned)rank, K,
           equal ? "the identity" : "something else");

    /* H^T is R above the identity, and G H^T = R + R = 0. */
    TRY(ech_gf2_copy(ctx, &form, 0, K, &ht, 0, 0, K, N - K));
    ech_gf2 below = { sizeof(ech_gf2), ht.words + K * ht.stride, N - K, N - K, ht.stride };
    TRY(ech_gf2_identity(ctx, &below));
    TRY(ech_gf2_mul(ctx, &form, &ht, &zero, NULL));
    TRY(ech_gf2_count(ctx, &zero, &ones));
    printf("%d parity checks; the rows of G violate %d of them\n", N - K, (int)ones);
done:
    if (status != ECH_OK) fprintf(stderr, "%s\n", ech_error(ctx));
    ech_close(ctx);
    free(g.words);
    free(form.words);
    free(left.words);
    free(unit.words);
    free(ht.words);
    free(zero.words);
    return status != ECH_OK;
}
