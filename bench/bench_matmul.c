/*
 * bench_matmul.c - measures matrix products on the CPU by the library's kernels and by OpenBLAS.
 *
 *     [OPENBLAS_CORETYPE=SkylakeX] bench_matmul [THREADS [LARGEST]]
 *
 * This program also opens OpenBLAS itself, to print the name of the kernels that it selected; in a
 * virtual machine OPENBLAS_CORETYPE may be needed for a good selection.  Results are the best of
 * several runs, in GFLOP/s; for matrix-vector products in GB/s of the matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <echelon.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static ech_ctx *ctx;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(ech_status status)
{
    if (status == ECH_OK) return;
    fprintf(stderr, "bench_matmul: %s\n", ech_error(ctx));
    exit(1);
}

static void *numbers(size_t n, ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    void *to = aligned_alloc(4096, (n * bytes + 4095) / 4096 * 4096);
    if (!to) exit(1);
    for (size_t i = 0; i < n; i++) {
        const double x = (double)(i * 2654435761U % 65536) / 32768 - 1;
        const float narrow = (float)x;
        if (dtype == ECH_F64)
            memcpy((char *)to + i * bytes, &x, bytes);
        else if (dtype == ECH_F32)
            memcpy((char *)to + i * bytes, &narrow, bytes);
        else
            memset((char *)to + i * bytes, 0x3b, bytes);
    }
    return to;
}

/* Seconds of the best of several runs; negative if the algorithm is not available. */
static double product(size_t n, ech_dtype dtype, int turned, const char *algorithm)
{
    const ech_matmul_options options = { .size = sizeof options,
                                         .transpose_b = turned,
                                         .algorithm = algorithm };
    void *a = numbers(n * n, dtype), *b = numbers(n * n, dtype), *c = numbers(n * n, dtype);
    double best = 1e9;
    const int runs = n > 1024 ? 4 : 12;
    for (int i = 0; i < runs; i++) {
        const double begin = now();
        const ech_status status = ech_matmul(ctx, n, n, n, 1, a, n, b, n, 0, c, n, dtype, &options);
        const double time = now() - begin;
        if (status == ECH_ERR_UNSUPPORTED) {
            best = -1;
            break;
        }
        check(status);
        if (time < best) best = time;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

static void product_row(size_t n, ech_dtype dtype, int turned)
{
    const double work = 2.0 * (double)n * (double)n * (double)n * 1e-9;
    const double tiled = product(n, dtype, turned, "tiled");
    const double blas = dtype < ECH_F32 ? -1 : product(n, dtype, turned, "blas");
    printf("matmul %-4s n=%-5zu%-8s tiled %7.1f GFLOP/s", ech_dtype_name(dtype), n,
           turned ? " B^T" : "", work / tiled);
    if (blas > 0) printf("   blas %7.1f GFLOP/s   ratio %.2f", work / blas, blas / tiled);
    puts("");
}

static void vector_row(size_t rows, size_t cols, ech_dtype dtype, int turned)
{
    const double bytes = (double)rows * (double)cols * (double)ech_dtype_bytes(dtype) * 1e-9;
    const size_t most = rows > cols ? rows : cols;
    void *a = numbers(rows * cols, dtype), *x = numbers(most, dtype), *y = numbers(most, dtype);
    const ech_matvec_options options = { .size = sizeof options, .transpose = turned };
    double best = 1e9;
    for (int i = 0; i < 8; i++) {
        const double begin = now();
        check(ech_matvec(ctx, rows, cols, 1, a, cols, x, 0, y, dtype, &options));
        const double time = now() - begin;
        if (time < best) best = time;
    }
    printf("matvec %-4s %zu x %zu%s %.1f GB/s\n", ech_dtype_name(dtype), rows, cols,
           turned ? " transposed" : "", bytes / best);
    free(a);
    free(x);
    free(y);
}

static void name_blas(void)
{
    static char text[2048];
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "openblas_get_corename") : NULL;
    const char *(*corename)(void) = NULL;
    const char *asked = getenv("OPENBLAS_CORETYPE");
    if (symbol) memcpy(&corename, &symbol, sizeof symbol);
    printf("OpenBLAS: %s; OPENBLAS_CORETYPE is %s\n", corename ? corename() : "none",
           asked ? asked : "not set");
    check(ech_matmul_explain("cpu", 2048, 2048, 2048, ECH_F32, NULL, ECH_FORMAT_TEXT, text,
                             sizeof text));
    fputs(text, stdout);
}

int main(int argc, char **argv)
{
    static const ech_dtype dtypes[] = { ECH_F32, ECH_F64, ECH_F16 };
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    const size_t largest = argc > 2 ? strtoull(argv[2], NULL, 10) : 2048;
    if (ech_open(&ctx, "cpu") != ECH_OK) return fprintf(stderr, "%s\n", ech_error(NULL)), 1;
    check(ech_set_threads(ctx, threads));
    name_blas();
    for (int d = 0; d < 3; d++)
        for (size_t n = 64; n <= largest; n *= 2) {
            product_row(n, dtypes[d], 0);
            if (n == largest) product_row(n, dtypes[d], 1);
        }
    for (int d = 0; d < 2; d++)
        for (int turned = 0; turned < 2; turned++) {
            vector_row(4096, 4096, dtypes[d], turned);
            vector_row(2000000, 8, dtypes[d], turned);
        }
    ech_close(ctx);
    return 0;
}
