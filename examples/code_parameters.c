/*
 * code_parameters.c - builds two published codes from their definitions and computes their
 * parameters: the number of bits or qubits that they protect.   cc code_parameters.c -lechelon
 *
 * The quantum code is the bivariate bicycle code [[144,12,12]] of Bravyi and others (2024). x and
 * y are the cyclic shifts of 12 and of 6 elements. With A = x^3 + y + y^2 and B = y^3 + x + x^2,
 * its check matrices are HX = [A|B] and HZ = [B^T|A^T]. They must commute, HX HZ^T = 0, and the
 * code protects n - rank HX - rank HZ qubits.
 *
 * The classical code is the code of 802.11n with 648 bits and rate 1/2. Each entry of a table of
 * 12 x 24 stands for a 27 x 27 block: the identity matrix, shifted to the right by the entry, or
 * zeros for -1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>

#include <stdio.h>
#include <stdlib.h>

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

static void flip(ech_gf2 *m, size_t row, size_t col)
{
    m->words[row * m->stride + col / 64] ^= (uint64_t)1 << col % 64;
}

/* ---- The quantum code ---- */

enum { L = 12, M = 6, HALF = L * M };

/* Adds x^i y^j. */
static void add_monomial(ech_gf2 *m, int i, int j)
{
    for (int a = 0; a < L; a++)
        for (int b = 0; b < M; b++)
            flip(m, (size_t)(a * M + b), (size_t)((a + i) % L * M + (b + j) % M));
}

static ech_status bicycle(ech_ctx *ctx)
{
    ech_gf2 a = zeros(HALF, HALF), b = zeros(HALF, HALF), at = zeros(HALF, HALF);
    ech_gf2 bt = zeros(HALF, HALF), hx = zeros(HALF, 2 * HALF), hz = zeros(HALF, 2 * HALF);
    ech_gf2 hzt = zeros(2 * HALF, HALF), product = zeros(HALF, HALF);
    uint32_t x_rank, z_rank;
    uint64_t ones;
    ech_status status;
    add_monomial(&a, 3, 0);
    add_monomial(&a, 0, 1);
    add_monomial(&a, 0, 2);
    add_monomial(&b, 0, 3);
    add_monomial(&b, 1, 0);
    add_monomial(&b, 2, 0);
    TRY(ech_gf2_transpose(ctx, &a, &at));
    TRY(ech_gf2_transpose(ctx, &b, &bt));
    TRY(ech_gf2_copy(ctx, &a, 0, 0, &hx, 0, 0, HALF, HALF)); /* side by side */
    TRY(ech_gf2_copy(ctx, &b, 0, 0, &hx, 0, HALF, HALF, HALF));
    TRY(ech_gf2_copy(ctx, &bt, 0, 0, &hz, 0, 0, HALF, HALF));
    TRY(ech_gf2_copy(ctx, &at, 0, 0, &hz, 0, HALF, HALF, HALF));

    TRY(ech_gf2_transpose(ctx, &hz, &hzt));
    TRY(ech_gf2_mul(ctx, &hx, &hzt, &product, NULL));
    TRY(ech_gf2_count(ctx, &product, &ones));
    TRY(ech_gf2_rank(ctx, &hx, &x_rank, NULL));
    TRY(ech_gf2_rank(ctx, &hz, &z_rank, NULL));
    printf("bivariate bicycle: n = %d, HX HZ^T has %d ones, ranks %u and %u, k = %d\n", 2 * HALF,
           (int)ones, (unsigned)x_rank, (unsigned)z_rank, 2 * HALF - (int)x_rank - (int)z_rank);
done:
    free(a.words);
    free(b.words);
    free(at.words);
    free(bt.words);
    free(hx.words);
    free(hz.words);
    free(hzt.words);
    free(product.words);
    return status;
}

/* ---- The classical code ---- */

enum { Z = 27, ROWS = 12, COLS = 24 };

static const signed char shifts[ROWS][COLS] = {
    { 0, -1, -1, -1, 0, 0, -1, -1, 0, -1, -1, 0, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { 22, 0, -1, -1, 17, -1, 0, 0, 12, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { 6, -1, 0, -1, 10, -1, -1, -1, 24, -1, 0, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1 },
    { 2, -1, -1, 0, 20, -1, -1, -1, 25, 0, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1 },
    { 23, -1, -1, -1, 3, -1, -1, -1, 0, -1, 9, 11, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1 },
    { 24, -1, 23, 1, 17, -1, 3, -1, 10, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1 },
    { 25, -1, -1, -1, 8, -1, -1, -1, 7, 18, -1, -1, 0, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1 },
    { 13, 24, -1, -1, 0, -1, 8, -1, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1 },
    { 7, 20, -1, 16, 22, 10, -1, -1, 23, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1 },
    { 11, -1, -1, -1, 19, -1, -1, -1, 13, -1, 3, 17, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1 },
    { 25, -1, 8, -1, 23, 18, -1, 14, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0 },
    { 3, -1, -1, -1, 16, -1, -1, 2, 25, 5, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0 },
};

static ech_status wifi(ech_ctx *ctx)
{
    ech_gf2 h = zeros(ROWS * Z, COLS * Z);
    uint32_t rank;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            for (int k = 0; shifts[i][j] >= 0 && k < Z; k++)
                flip(&h, (size_t)(i * Z + k), (size_t)(j * Z + (k + shifts[i][j]) % Z));
    ech_status status = ech_gf2_rank(ctx, &h, &rank, NULL);
    if (status == ECH_OK)
        printf("802.11n: n = %d, rank %u, k = %d\n", COLS * Z, (unsigned)rank,
               COLS * Z - (int)rank);
    free(h.words);
    return status;
}

int main(void)
{
    ech_ctx *ctx;
    if (ech_open(&ctx, NULL) != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    int failed = bicycle(ctx) != ECH_OK || wifi(ctx) != ECH_OK;
    if (failed) fprintf(stderr, "%s\n", ech_error(ctx));
    ech_close(ctx);
    return failed;
}
