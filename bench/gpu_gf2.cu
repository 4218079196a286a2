/*
 * gpu_gf2.cu - measures products and echelon forms over GF(2) by the default algorithm, compared
 * with tables in shared memory ("m4r"), which every GPU can run; batches compared with elimination
 * pivot by pivot ("gauss").
 *
 *     gpu_gf2 [--quick] [--only TEXT] [--csv FILE]
 *
 * An echelon form is computed in place, so the call copies the matrix first.  Rates count each
 * matrix once.  A product of size n takes 2 n^3 bit operations; the last column of the text output
 * is their rate in 10^15 per second (Pbop/s).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_common.cuh"

static ech_gf2 matrix(size_t rows, size_t cols)
{
    ech_gf2 a = { sizeof(ech_gf2), NULL, rows, cols, ech_gf2_stride(cols) };
    CUDA(cudaMalloc(&a.words, rows * a.stride * 8));
    return a;
}

static size_t bytes_of(const ech_gf2 &a)
{
    return a.rows * a.stride * 8;
}

static bool same(const ech_gf2 &a, const ech_gf2 &b)
{
    return differences(a.words, b.words, bytes_of(a)) == 0;
}

static ech_gf2_options options_of(const char *name)
{
    ech_gf2_options options = {};
    options.size = sizeof options;
    options.algorithm = name;
    return options;
}

static ech_gf2_echelon_options form(ech_gf2_form form, const char *name)
{
    ech_gf2_echelon_options options = {};
    options.size = sizeof options;
    options.form = form;
    options.algorithm = name;
    return options;
}

/* The workspace of the default algorithm. */
static size_t workspace(ech_gf2_call call, size_t rows, size_t cols, size_t other,
                        ech_gf2_form kind)
{
    size_t bytes;
    const ech_gf2_echelon_options options = form(kind, NULL);
    ECH(ech_gf2_workspace("cuda", call, rows, cols, other, &options, &bytes));
    return bytes;
}

static void product(size_t m, size_t k, size_t n, const char *shape)
{
    const struct bench_name name = { "gf2_mul", "bit", m, shape, "random" };
    if (!bench_wanted(name)) return;
    ech_gf2 a = matrix(m, k), b = matrix(k, n), out[2] = { matrix(m, n), matrix(m, n) };
    const ech_gf2_options chosen = options_of(NULL), tables = options_of("m4r");
    ECH(ech_gf2_random(ctx, &a, 0.5, 1));
    ECH(ech_gf2_random(ctx, &b, 0.5, 2));
    bench_row(
        name, (double)(bytes_of(a) + bytes_of(b) + bytes_of(out[0])),
        workspace(ECH_GF2_CALL_MUL, m, k, n, ECH_GF2_FORM_REDUCED),
        [&] { ECH(ech_gf2_mul(ctx, &a, &b, &out[0], &chosen)); },
        [&] { ECH(ech_gf2_mul(ctx, &a, &b, &out[1], &tables)); },
        [&] { return same(out[0], out[1]); }, "m4r");
    const double ms = bench_time([&] { ECH(ech_gf2_mul(ctx, &a, &b, &out[0], &chosen)); }, 1);
    printf("    %.2f Pbop/s\n", 2.0 * m * k * n / ms * 1e-12);
    CUDA(cudaFree(a.words));
    CUDA(cudaFree(b.words));
    for (int i = 0; i < 2; i++) CUDA(cudaFree(out[i].words));
}

/* A matrix times several vectors, compared with a matrix product. */
static void vectors(size_t count, size_t n)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%zu vectors", count);
    const struct bench_name name = { "gf2_mul_vec", "bit", n, shape, "random" };
    if (!bench_wanted(name)) return;
    ech_gf2 a = matrix(n, n), x = matrix(count, n), out[2] = { matrix(count, n), matrix(count, n) };
    const ech_gf2_options chosen = options_of(NULL), block = options_of("block");
    ECH(ech_gf2_random(ctx, &a, 0.5, 1));
    ECH(ech_gf2_random(ctx, &x, 0.5, 2));
    bench_row(
        name, (double)(bytes_of(a) + bytes_of(x) + bytes_of(out[0])),
        workspace(ECH_GF2_CALL_MUL_VEC, n, n, count, ECH_GF2_FORM_REDUCED),
        [&] { ECH(ech_gf2_mul_vec(ctx, &a, &x, &out[0], &chosen)); },
        [&] { ECH(ech_gf2_mul_vec(ctx, &a, &x, &out[1], &block)); },
        [&] { return same(out[0], out[1]); }, "block");
    for (const ech_gf2 &m : { a, x, out[0], out[1] }) CUDA(cudaFree(m.words));
}

/* The matrix is the product of two random matrices, so it has the given rank. */
static void echelon(size_t rows, size_t cols, size_t rank, ech_gf2_form kind, const char *shape)
{
    const struct bench_name name = { "gf2_echelon", "bit", rows, shape,
                                     kind == ECH_GF2_FORM_REDUCED ? "reduced" : "echelon" };
    if (!bench_wanted(name)) return;
    ech_gf2 in = matrix(rows, cols), out[2] = { matrix(rows, cols), matrix(rows, cols) };
    const ech_gf2_echelon_options chosen = form(kind, NULL), tables = form(kind, "m4r");
    uint32_t *ranks;
    CUDA(cudaMalloc(&ranks, sizeof *ranks));
    if (rank < rows && rank < cols) {
        ech_gf2 left = matrix(rows, rank), right = matrix(rank, cols);
        ECH(ech_gf2_random(ctx, &left, 0.5, 3));
        ECH(ech_gf2_random(ctx, &right, 0.5, 4));
        ECH(ech_gf2_mul(ctx, &left, &right, &in, NULL));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaFree(left.words));
        CUDA(cudaFree(right.words));
    } else {
        ECH(ech_gf2_random(ctx, &in, 0.5, 5));
    }
    const auto call = [&](int which, const ech_gf2_echelon_options &options) {
        CUDA(cudaMemcpyAsync(out[which].words, in.words, bytes_of(in), cudaMemcpyDeviceToDevice,
                             stream));
        ECH(ech_gf2_echelon(ctx, &out[which], ranks, NULL, &options));
    };
    bench_row(
        name, 4.0 * bytes_of(in), workspace(ECH_GF2_CALL_ECHELON, rows, cols, 0, kind),
        [&] { call(0, chosen); }, [&] { call(1, tables); }, [&] { return same(out[0], out[1]); },
        "m4r");
    CUDA(cudaFree(in.words));
    CUDA(cudaFree(ranks));
    for (int i = 0; i < 2; i++) CUDA(cudaFree(out[i].words));
}

/* ---- Batches: compared with elimination pivot by pivot ---- */

/* A column order for each matrix; the number of columns is a power of two. */
static __global__ void make_orders(uint32_t *order, size_t n, uint32_t cols)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, matrix = i / cols;
    if (i < n) order[i] = (uint32_t)(i * (2 * matrix + 1) + 7 * matrix) & (cols - 1);
}

/* Eliminates all matrices, or with column orders solves one right-hand side each. */
static void batch(size_t count, size_t rows, size_t cols, bool solves)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%zux%zu%s", rows, cols, solves ? " solve" : "");
    const struct bench_name name = { "gf2_batch", "bit", count, shape, "random" };
    if (!bench_wanted(name)) return;
    ech_gf2 a = matrix(count * rows, cols), b = matrix(count, rows);
    const ech_gf2 out[2] = { matrix(count * rows, cols), matrix(count * rows, cols) };
    const ech_gf2 x[2] = { matrix(count, cols), matrix(count, cols) };
    uint32_t *order, *rank;
    uint8_t *solvable;
    CUDA(cudaMalloc(&order, count * cols * sizeof *order));
    CUDA(cudaMalloc(&rank, count * sizeof *rank));
    CUDA(cudaMalloc(&solvable, count));
    make_orders<<<(unsigned)(count * cols / 256 + 1), 256, 0, stream>>>(order, count * cols,
                                                                        (uint32_t)cols);
    ECH(ech_gf2_random(ctx, &a, 0.5, 1));
    ECH(ech_gf2_random(ctx, &b, 0.5, 2));
    auto run = [&](int i) {
        ech_gf2_echelon_options options = form(ECH_GF2_FORM_REDUCED, i ? "gauss" : NULL);
        ech_gf2_batch all = { sizeof(ech_gf2_batch), out[i].words, count, rows, cols, a.stride,
                              rows * a.stride };
        if (solves) {
            all.words = a.words;
            options.column_order = order;
            ECH(ech_gf2_solve_batched(ctx, &all, b.words, x[i].words, solvable, &options));
            return;
        }
        CUDA(cudaMemcpyAsync(out[i].words, a.words, bytes_of(a), cudaMemcpyDeviceToDevice, stream));
        ECH(ech_gf2_echelon_batched(ctx, &all, rank, NULL, &options));
    };
    bench_row(
        name, (solves ? 1 : 2) * (double)bytes_of(a),
        workspace(ECH_GF2_CALL_BATCHED, rows, cols, count, ECH_GF2_FORM_REDUCED), [&] { run(0); },
        [&] { run(1); }, [&] { return solves ? same(x[0], x[1]) : same(out[0], out[1]); }, "gauss");
    for (const ech_gf2 &m : { a, b, out[0], out[1], x[0], x[1] }) CUDA(cudaFree(m.words));
    CUDA(cudaFree(order));
    CUDA(cudaFree(rank));
    CUDA(cudaFree(solvable));
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072 };
    bench_open(argc, argv, "gf2",
               "matrices in device memory, random bits; rates count each matrix once");
    for (size_t n : sizes) {
        if (n > 65536 || (quick && n > 32768)) break;
        product(n, n, n, "square");
    }
    product(65536, 1024, 65536, "k=1024");
    product(1024, 65536, 1024, "k=65536");
    for (size_t n : { 1024, 8192, 65536 })
        for (size_t count : { 1, 8, 16, 32 }) vectors(count, n);
    for (size_t n : sizes) {
        if (quick && n > 65536) break;
        echelon(n, n, n / 2, ECH_GF2_FORM_REDUCED, "half");
        if (n > 65536) break;
        echelon(n, n, n, ECH_GF2_FORM_REDUCED, "full");
        echelon(n, n, n / 2, ECH_GF2_FORM_ECHELON, "half");
    }
    echelon(4096, 65536, 4096, ECH_GF2_FORM_REDUCED, "wide");
    echelon(65536, 4096, 4096, ECH_GF2_FORM_REDUCED, "tall");
    batch(1 << 22, 8, 8, false);
    batch(1 << 20, 32, 64, false);
    batch(1 << 18, 64, 128, false);
    batch(1 << 15, 256, 512, true);
    batch(1 << 13, 512, 1024, false);
    batch(1 << 13, 512, 1024, true);
    batch(1 << 8, 2000, 4000, false);
    return bench_close();
}
