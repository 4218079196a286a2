/*
 * operations.c - runs one call of the library twice, for faults.py, which lets one call of the C
 * library fail meanwhile.
 *
 *     fault_operations DEVICE CALL    or --list
 *
 * Each attempt must succeed, or report a lack of memory with a message; the next attempt on the
 * same context must then succeed. Prints a checksum of the result. Exit status: 0 as described, 1
 * not, 3 if glibc cannot load a library a second time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 48, N = 1 << 16, LARGE = 1 << 18, ATTEMPTS = 3, LOADER = 3 };

static uint32_t in[LARGE], values[LARGE], index_in[N];
static uint64_t out[LARGE], more[LARGE], offsets[9], count;
static double matrix[SIDE * SIDE], system_in[SIDE * SIDE], vector_in[SIDE];
static ech_ctx *ctx;
static size_t n; /* fewer on the emulator */

static void make_inputs(void)
{
    uint32_t state = 1;
    for (size_t i = 0; i < LARGE; i++) {
        in[i] = state = state * 1664525 + 1013904223;
        values[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < N; i++) index_in[i] = in[i] % (uint32_t)n;
    for (size_t i = 0; i < 9; i++) offsets[i] = i * n / 8;
    for (size_t i = 0; i < SIDE * SIDE; i++) matrix[i] = (double)(in[i] >> 8) * 0x1p-24 - 0.5;
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++)
            system_in[i * SIDE + j] = i == j ? 4 : i == j + 1 || j == i + 1 ? -1 : 0;
    for (size_t i = 0; i < SIDE; i++) vector_in[i] = (double)i;
}

/* ---- Calls ---- */

static ech_status sort(void)
{
    return ech_sort(ctx, in, out, n, ECH_U32, NULL);
}

static ech_status sort_bytes(void)
{
    return ech_sort(ctx, in, out, 4 * n, ECH_U8, NULL);
}

static ech_status sort_pairs(void)
{
    return ech_sort_pairs(ctx, in, values, out, more, n, ECH_F32, 4, NULL);
}

static ech_status argsort(void)
{
    return ech_argsort(ctx, in, out, n, ECH_U32, ECH_U64, NULL);
}

static ech_status is_sorted(void)
{
    return ech_is_sorted(ctx, in, out, n, ECH_U32, NULL);
}

static ech_status reduce(void)
{
    return ech_reduce(ctx, ECH_OP_SUM, in, out, n, ECH_U32, NULL);
}

static ech_status reduce_segments(void)
{
    return ech_reduce_segments(ctx, ECH_OP_MAX, in, offsets, out, n, 8, ECH_U32, ECH_U64, NULL);
}

static ech_status reduce_by_key(void)
{
    return ech_reduce_by_key(ctx, ECH_OP_SUM, in, values, out, more, &count, n, ECH_U8, ECH_U32,
                             NULL);
}

static ech_status scan(void)
{
    return ech_scan(ctx, ECH_OP_SUM, in, out, n, ECH_U32, NULL);
}

static ech_status scan_segments(void)
{
    return ech_scan_segments(ctx, ECH_OP_SUM, in, offsets, out, n, 8, ECH_U32, ECH_U64, NULL);
}

static ech_status bincount(void)
{
    return ech_bincount(ctx, in, out, 4 * n, ECH_U8, 256, NULL);
}

static ech_status histogram_weights(void)
{
    ech_histogram_options o = { .size = sizeof o, .weights = values, .weights_dtype = ECH_F32 };
    return ech_histogram(ctx, in, out, n, ECH_U32, 1000, 0, 4294967296.0, &o);
}

static ech_status unique(void)
{
    return ech_unique(ctx, in, out, &count, 4 * n, ECH_U8, NULL);
}

static ech_status select_if(void)
{
    const uint32_t half = 1u << 31;
    return ech_select_if(ctx, ECH_COMPARE_LESS, in, out, &count, n, ECH_U32, &half, NULL);
}

static ech_status gather(void)
{
    return ech_gather(ctx, in, index_in, out, n < N ? n : N, n, ECH_U32, 4);
}

static ech_status shuffle(void)
{
    return ech_shuffle(ctx, in, out, n, 4, 1);
}

static ech_status transpose(void)
{
    return ech_transpose(ctx, matrix, out, SIDE, SIDE, 8);
}

static ech_status matmul(void)
{
    return ech_matmul(ctx, SIDE, SIDE, SIDE, 1, matrix, SIDE, system_in, SIDE, 0, out, SIDE,
                      ECH_F64, NULL);
}

static ech_status matvec(void)
{
    return ech_matvec(ctx, SIDE, SIDE, 1, matrix, SIDE, vector_in, 0, out, ECH_F64, NULL);
}

static ech_status from_coo(void)
{
    ech_csr csr = { .size = sizeof csr,
                    .rows = SIDE,
                    .cols = SIDE,
                    .nnz = N,
                    .row_offsets = more,
                    .col_indices = more + 2 * SIDE,
                    .values = out,
                    .index_dtype = ECH_U32,
                    .dtype = ECH_F32 };
    static uint32_t rows[N], cols[N];
    for (size_t i = 0; i < 999; i++) {
        rows[i] = in[i] % SIDE;
        cols[i] = in[i] / 1000 % SIDE;
    }
    return ech_csr_from_coo(ctx, rows, cols, values, &csr, &count, 999, NULL);
}

static ech_status solve(void)
{
    const ech_operator a = {
        .size = sizeof a, .n = SIDE, .dtype = ECH_F64, .dense = system_in, .stride = SIDE
    };
    const ech_solve_options o = { .size = sizeof o, .precond = ECH_PRECOND_BLOCK_JACOBI };
    ech_solve_report report = { .size = sizeof report };
    return ech_solve(ctx, &a, 1, vector_in, SIDE, out, SIDE, &o, &report);
}

static ech_status solve_direct(void)
{
    ech_direct_report report = { .size = sizeof report };
    return ech_solve_direct(ctx, SIDE, SIDE, matrix, SIDE, 1, vector_in, 1, out, 1, ECH_F64, NULL,
                            &report);
}

static ech_gf2 bits(uint64_t *words)
{
    return (
        ech_gf2){ .size = sizeof(ech_gf2), .words = words, .rows = 100, .cols = 100, .stride = 2 };
}

static ech_gf2 input_bits(void)
{
    static uint64_t words[200];
    memcpy(words, in, sizeof words);
    for (size_t i = 1; i < 200; i += 2) words[i] &= ((uint64_t)1 << 36) - 1;
    return bits(words);
}

static ech_status gf2_mul(void)
{
    const ech_gf2 a = input_bits();
    ech_gf2 product = bits(out);
    return ech_gf2_mul(ctx, &a, &a, &product, NULL);
}

static ech_status gf2_echelon(void)
{
    ech_gf2 a = input_bits();
    uint32_t rank;
    const ech_status status = ech_gf2_echelon(ctx, &a, &rank, NULL, NULL);
    memcpy(out, a.words, 200 * sizeof *out);
    return status;
}

static ech_status gf2_solve(void)
{
    const ech_gf2 a = input_bits();
    ech_gf2 x = bits(out);
    uint8_t solvable[100];
    return ech_gf2_solve(ctx, &a, &a, &x, solvable, NULL, NULL);
}

static ech_status gf2_rank_batched(void)
{
    ech_gf2 a = input_bits();
    ech_gf2_batch batch = { .size = sizeof batch,
                            .words = a.words,
                            .count = 9,
                            .rows = 100,
                            .cols = 100,
                            .stride = 2,
                            .batch_stride = 0 };
    return ech_gf2_rank_batched(ctx, &batch, (uint32_t *)(void *)out, NULL);
}

#define CALL(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

static const struct {
    const char *name;
    ech_status (*run)(void);
} calls[] = {
    CALL(sort),      CALL(sort_bytes),       CALL(sort_pairs),      CALL(argsort),
    CALL(is_sorted), CALL(reduce),           CALL(reduce_segments), CALL(reduce_by_key),
    CALL(scan),      CALL(scan_segments),    CALL(bincount),        CALL(histogram_weights),
    CALL(unique),    CALL(select_if),        CALL(gather),          CALL(shuffle),
    CALL(transpose), CALL(matmul),           CALL(matvec),          CALL(from_coo),
    CALL(solve),     CALL(solve_direct),     CALL(gf2_mul),         CALL(gf2_echelon),
    CALL(gf2_solve), CALL(gf2_rank_batched),
};

enum { CALLS = sizeof calls / sizeof *calls };

/* ---- Attempts ---- */

static int wrong(const char *what, ech_status status, const char *message)
{
    printf("%s: status %d, \"%s\"\n", what, (int)status, message);
    return 1;
}

static bool is_lack(ech_status status, const char *message)
{
    return (status == ECH_ERR_MEMORY || status == ECH_ERR_NO_DEVICE) && *message;
}

/* glibc can leave a library half loaded if it had no memory for the list of its dependencies; such
 * a library cannot be loaded later in this process. */
static bool is_half_loaded(const char *device, ech_status before, const char *message)
{
    return strcmp(device, "simt") == 0 && before == ECH_ERR_MEMORY &&
           strstr(message, "cuLibraryLoadData") && strstr(message, "_INVALID_IMAGE");
}

static int run(const char *device, ech_status (*call)(void))
{
    uint64_t first = 0;
    int good = 0;
    ech_status status = ech_open(&ctx, device), before = ECH_OK;
    if (status != ECH_OK) {
        if (!is_lack(status, ech_error(NULL))) return wrong("open", status, ech_error(NULL));
        status = ech_open(&ctx, device);
        if (status != ECH_OK) return wrong("open again", status, ech_error(NULL));
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        memset(out, 0xA5, sizeof out);
        memset(more, 0xA5, sizeof more);
        count = 0;
        status = call();
        if (status != ECH_OK) {
            const bool half = i == 1 && is_half_loaded(device, before, ech_error(ctx));
            if (half) return LOADER;
            if (i > good || !is_lack(status, ech_error(ctx)))
                return wrong("call", status, ech_error(ctx));
            before = status;
            continue;
        }
        uint64_t hash = count;
        for (size_t j = 0; j < LARGE; j++)
            hash = (hash ^ out[j] ^ more[j] << 1) * 0x9E3779B97F4A7C15u;
        if (good++ && hash != first) return wrong("another result", status, "");
        first = hash;
    }
    ech_close(ctx);
    if (good < ATTEMPTS - 1) return wrong("attempts", status, "more than one has failed");
    printf("%llx\n", (unsigned long long)first);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < CALLS; i++) puts(calls[i].name);
        return 0;
    }
    if (argc != 3) return 1;
    n = strcmp(argv[1], "cpu") == 0 ? LARGE / 4 : 3000;
    make_inputs();
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(argv[2], calls[i].name) == 0) return run(argv[1], calls[i].run);
    printf("unknown call %s\n", argv[2]);
    return 1;
}
