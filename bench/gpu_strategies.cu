/*
 * gpu_strategies.cu - measures the algorithms of an operation on the same data, each by its name.
 *
 *     gpu_strategies [--quick] [--only TEXT] [--csv FILE]
 *
 * It decides whether a strategy is worth its code (docs/lab/strategies.md), and at which size it
 * begins. "chosen" is the library's choice. Calls of all algorithms alternate. The workspace is
 * allocated by the context. Times are medians in ms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_common.cuh"

enum { NAMES = 6, RUNS = 9 };

static void *in, *out, *values, *values_out;

/* Uniform bits; the AND of three; 16 values; Zipf-like (a value v has frequency about 1 / v). */
static __global__ void fill(uint64_t *a, size_t words, int dist, int bits)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) {
        uint64_t x = random_at(i);
        if (dist == 1) x &= random_at(i + 3 * words) & random_at(i + 7 * words);
        if (dist == 2 || dist == 3) {
            uint64_t result = 0;
            for (int at = 0; at < 64; at += bits) {
                const uint64_t r = random_at(i * 8 + at / bits);
                const uint64_t v =
                    dist == 2 ? mix(r & 15) : (uint64_t)exp(1e-9 * (double)(r % 1000000007) * 16);
                result |= (bits == 64 ? v : v & ((1ull << bits) - 1)) << at;
            }
            x = result;
        }
        a[i] = x;
    }
}

static __global__ void fill_floats(float *a, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        a[i] = (float)(int32_t)random_at(i) * 1e-3f;
}

/* Measures call(name) for each of the names, which end with NULL, and for the choice. */
template <class Call>
static void compare(const struct bench_name &row, double bytes, const Call &call,
                    const char *const *names)
{
    const char *who[NAMES + 1] = { NULL };
    double ms[NAMES + 1][RUNS];
    int count = 1;
    const int runs = quick ? 3 : RUNS;
    ECH(call(NULL));
    for (int i = 0; names[i] && count <= NAMES; i++) {
        ech_status status = call(names[i]);
        if (status == ECH_OK)
            who[count++] = names[i];
        else if (status != ECH_ERR_ARG && status != ECH_ERR_UNSUPPORTED)
            ECH(status);
    }
    CUDA(cudaStreamSynchronize(stream));
    const int calls = bytes < 2e6 ? 30 : bytes < 200e6 ? 5 : 1;
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < count; i++) {
            const int c = (i + r) % count;
            ECH(call(who[c])); /* what differs between two algorithms is in no cache */
            ms[c][r] = bench_time([&] { ECH(call(who[c])); }, calls);
        }
    printf("%s(%s,n=%zu,%s,dist=%s)", row.op, row.dtype, row.n, row.shape, row.dist);
    for (int c = 0; c < count; c++) {
        qsort(ms[c], (size_t)runs, sizeof(double), bench_by_value);
        printf("  %s %.4f", who[c] ? who[c] : "chosen", ms[c][runs / 2]);
        if (csv)
            fprintf(csv, "%s,%s,%zu,%s,%s,%s,%.6f,%.6f,%.6f\n", row.op, row.dtype, row.n, row.shape,
                    row.dist, who[c] ? who[c] : "chosen", ms[c][runs / 2], ms[c][0],
                    ms[c][runs - 1]);
    }
    printf("\n");
    fflush(stdout);
}

static const char *const dists[] = { "uniform", "and3", "few16", "zipf" };

static void sorts(void)
{
    static const char *const names[] = { "samplesort", "msd", "onesweep", "buckets", NULL };
    static const size_t sizes[] = { 1 << 14, 1 << 16, 1 << 17, 3 << 16, 1 << 18, 3 << 17 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int d = 0; d < 4; d++)
            for (int k = 0; k < 3; k++) {
                const size_t n = sizes[s], key = k == 1 ? 8 : 4;
                const ech_dtype dtype = k == 1 ? ECH_U64 : ECH_U32;
                const struct bench_name row = { k == 2 ? "sort-pairs" : "sort",
                                                ech_dtype_name(dtype), n, "whole", dists[d] };
                if (!bench_wanted(row)) continue;
                fill<<<1024, 256, 0, stream>>>((uint64_t *)in, n * key / 8, d, (int)key * 8);
                compare(
                    row, (double)n * (double)key * 2,
                    [&](const char *name) {
                        ech_sort_options o = {};
                        o.size = sizeof o;
                        o.algorithm = name;
                        return k == 2 ? ech_sort_pairs(ctx, in, values, out, values_out, n, dtype,
                                                       4, &o)
                                      : ech_sort(ctx, in, out, n, dtype, &o);
                    },
                    names);
            }
}

static void partitions(void)
{
    static const char *const names[] = { "select", "sort", "select_ids", "sort_ids", NULL };
    static const size_t ranks[] = { 7, 12, 14, 15, 16, 17, 20, 32 };
    for (size_t n = (size_t)1 << 20; n <= (size_t)1 << 28; n <<= 4)
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            const size_t count = ranks[r];
            char shape[40];
            uint64_t at[32];
            snprintf(shape, sizeof shape, "%zu ranks", count);
            const struct bench_name row = { "partition", "f32", n, shape, "uniform" };
            if (!bench_wanted(row)) continue;
            for (size_t i = 0; i < count; i++) at[i] = n / (count + 1) * (i + 1);
            fill_floats<<<1024, 256, 0, stream>>>((float *)in, n);
            compare(
                row, (double)n * 12,
                [&](const char *name) {
                    ech_quantile_options o = {};
                    o.size = sizeof o;
                    o.algorithm = name;
                    return ech_partition_at(ctx, in, out, values_out, n, at, count, ECH_F32,
                                            ECH_U32, &o);
                },
                names);
        }
}

static void largest(void)
{
    static const char *const names[] = { "sort", "select", "sample", "threshold", NULL };
    static const int permille[] = { 1, 3, 10, 30, 60, 90, 120, 200, 500 };
    for (size_t n = (size_t)1 << 20; n <= (size_t)1 << 28; n <<= 2)
        for (size_t p = 0; p < sizeof permille / sizeof *permille; p++) {
            const size_t k = n / 1000 * (size_t)permille[p];
            char shape[40];
            snprintf(shape, sizeof shape, "k %.1f %%", 0.1 * permille[p]);
            const struct bench_name row = { "topk", "f32", n, shape, "uniform" };
            if (!bench_wanted(row)) continue;
            fill_floats<<<1024, 256, 0, stream>>>((float *)in, n);
            compare(
                row, (double)n * 12,
                [&](const char *name) {
                    ech_topk_options o = {};
                    o.size = sizeof o;
                    o.algorithm = name;
                    return ech_topk(ctx, in, out, values_out, n, k, ECH_F32, ECH_U32, &o);
                },
                names);
        }
}

static void searches(void)
{
    static const char *const names[] = { "warp", "binary", "tree", "table", "sorted", NULL };
    for (size_t n = (size_t)1 << 16; n <= (size_t)1 << 28; n <<= 4)
        for (size_t m = 256; m <= (size_t)1 << 26; m <<= 2)
            for (int k = 0; k < 4; k++) {
                const bool in_order = k & 1, wide = k & 2;
                char shape[40];
                snprintf(shape, sizeof shape, "in %zu", n);
                const ech_dtype dtype = wide ? ECH_U64 : ECH_U32;
                const struct bench_name row = { "search", ech_dtype_name(dtype), m, shape,
                                                in_order ? "sorted" : "random" };
                if (!bench_wanted(row) || (in_order && m < (1 << 12))) continue;
                fill<<<1024, 256, 0, stream>>>((uint64_t *)in, n / (wide ? 1 : 2), 0, 32);
                ECH(ech_sort(ctx, in, in, n, dtype, NULL));
                fill<<<1024, 256, 0, stream>>>((uint64_t *)values, m / (wide ? 1 : 2), 0, 32);
                if (in_order) ECH(ech_sort(ctx, values, values, m, dtype, NULL));
                compare(
                    row, (double)m * 12,
                    [&](const char *name) {
                        ech_search_options o = {};
                        o.size = sizeof o;
                        o.needles_sorted = in_order;
                        o.algorithm = name;
                        return ech_lower_bound(ctx, in, values, out, n, m, dtype, ECH_U32, &o);
                    },
                    names);
            }
}

static void products(void)
{
    static const char *const names[] = { "block", "strassen", "strassen2", NULL };
    for (size_t n = 32768; n <= 131072; n *= 2) {
        const struct bench_name row = { "gf2-mul", "bit", n, "square", "uniform" };
        if (!bench_wanted(row)) continue;
        ech_gf2 m[3];
        for (int i = 0; i < 3; i++) {
            m[i] = (ech_gf2){ sizeof(ech_gf2), NULL, n, n, ech_gf2_stride(n) };
            CUDA(cudaMalloc(&m[i].words, n * n / 8));
            fill<<<1024, 256, 0, stream>>>(m[i].words, n * n / 64, 0, 64);
        }
        compare(
            row, (double)n * (double)n,
            [&](const char *name) {
                ech_gf2_options o = {};
                o.size = sizeof o;
                o.algorithm = name;
                return ech_gf2_mul(ctx, &m[0], &m[1], &m[2], &o);
            },
            names);
        for (int i = 0; i < 3; i++) CUDA(cudaFree(m[i].words));
    }
}

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)1 << 31;
    bench_open(argc, argv, "strategies",
               "arrays in device memory, workspace of the context; every algorithm by its name",
               "op,dtype,n,shape,dist,algorithm,ms,ms_min,ms_max");
    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, bytes));
    CUDA(cudaMalloc(&values, bytes));
    CUDA(cudaMalloc(&values_out, bytes));
    sorts();
    partitions();
    largest();
    searches();
    products();
    return bench_close();
}
