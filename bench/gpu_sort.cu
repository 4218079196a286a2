/*
 * gpu_sort.cu - measures sorts on the GPU, compared with CUB on the same data in one run.
 *
 *     gpu_sort [--quick] [--only TEXT] [--csv FILE]
 *
 * Data is in device memory, sorts are out of place, except those whose name ends with _in_place,
 * and workspaces are provided.  CUB's sorts are always out of place.  Both are measured
 * alternately; times are medians of several measurements between two events of the stream; sorts of
 * small arrays are repeated between the events.  The outputs are compared element by element before
 * any measurement.
 *
 * The algorithm is the library's default, or that of ECHELON_ALGORITHM.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_radix_sort.cuh>

#include "gpu_common.cuh"

/* ---- Data: hashes of the positions, in several distributions ---- */

enum dist { UNIFORM, SORTED, REVERSED, EQUAL, FEW16, AND3, HOT, ZIPF, HEAVY, UNIT, NORMAL };
static const char *const dist_names[] = { "uniform", "sorted", "reversed", "equal", "few16", "and3",
                                          "hot",     "zipf",   "heavy",    "unit",  "normal" };

template <class K> __global__ void fill(K *keys, size_t n, int dist)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    const int bits = 8 * sizeof(K);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t r = random_at(i), x = r;
        uint64_t ramp = (uint64_t)((double)i / (double)n * ldexp(1.0, bits));
        switch (dist) {
        case SORTED:
            x = ramp;
            break;
        case REVERSED:
            x = ~ramp;
            break;
        case EQUAL:
            x = 0x0123456789abcdefull;
            break;
        case FEW16:
            x = mix(r % 16);
            break;
        case AND3:
            x = r & mix(3 * i + 1) & mix(3 * i + 2);
            break;
        case HOT:
            x = i + 4096 < n ? r : r | 0xff;
            break;
        case ZIPF: /* rank r has probability 1 / (r (r + 1)); ranks are scrambled */
            x = mix((uint64_t)fmin(0x1p53 / (double)((r >> 11) + 1), 1e9));
            break;
        case HEAVY: /* nine of ten keys are equal */
            x = r % 10 ? 0x1234567812345678ull : mix(r);
            break;
        default:
            break;
        }
        K key;
        memcpy(&key, &x, sizeof key);
        const double unit = (double)(r >> 11) * 0x1p-53;
        if (dist == UNIT) key = (K)unit; /* floats in [0, 1) */
        if (dist == NORMAL)              /* floats, by the Box-Muller transform */
            key = (K)(sqrt(-2 * log(1 - unit)) * cospi((double)(mix(3 * i + 1) >> 11) * 0x1p-52));
        keys[i] = key;
    }
}

template <class V> __global__ void iota(V *values, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        values[i] = (V)i;
}

/* ---- Contenders ---- */

template <class K> static ech_dtype dtype_of();
template <> ech_dtype dtype_of<uint8_t>()
{
    return ECH_U8;
}
template <> ech_dtype dtype_of<uint16_t>()
{
    return ECH_U16;
}
template <> ech_dtype dtype_of<uint32_t>()
{
    return ECH_U32;
}
template <> ech_dtype dtype_of<int32_t>()
{
    return ECH_I32;
}
template <> ech_dtype dtype_of<uint64_t>()
{
    return ECH_U64;
}
template <> ech_dtype dtype_of<float>()
{
    return ECH_F32;
}
template <> ech_dtype dtype_of<double>()
{
    return ECH_F64;
}
template <> ech_dtype dtype_of<int64_t>()
{
    return ECH_I64;
}

enum what { KEYS, PAIRS, ARGSORT, KEYS_IN_PLACE, PAIRS_IN_PLACE };

template <class K, class V> struct job {
    enum what what; /* KEYS, PAIRS or ARGSORT */
    bool in_place;
    size_t n;
    K *in, *out[2];
    V *values_in, *values_out[2];
    void *work[2];
    size_t work_bytes[2];
};

template <class K, class V> static void run_echelon(struct job<K, V> &j)
{
    ech_sort_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    o.work = j.work[0];
    o.work_bytes = j.work_bytes[0];
    ech_dtype index = sizeof(V) == 4 ? ECH_U32 : ECH_U64;
    const K *in = j.in_place ? j.out[0] : j.in;
    const V *values_in = j.in_place ? j.values_out[0] : j.values_in;
    if (j.what == KEYS)
        ECH(ech_sort(ctx, in, j.out[0], j.n, dtype_of<K>(), &o));
    else if (j.what == PAIRS)
        ECH(ech_sort_pairs(ctx, in, values_in, j.out[0], j.values_out[0], j.n, dtype_of<K>(),
                           sizeof(V), &o));
    else
        ECH(ech_argsort(ctx, j.in, j.values_out[0], j.n, dtype_of<K>(), index, &o));
}

template <class K, class V> static void run_cub(struct job<K, V> &j)
{
    if (j.what == KEYS) {
        CUDA(cub::DeviceRadixSort::SortKeys(j.work[1], j.work_bytes[1], j.in, j.out[1], j.n, 0,
                                            8 * (int)sizeof(K), stream));
        return;
    }
    if (j.what == ARGSORT) iota<<<1024, 256, 0, stream>>>(j.values_in, j.n); /* for CUB */
    CUDA(cub::DeviceRadixSort::SortPairs(j.work[1], j.work_bytes[1], j.in, j.out[1], j.values_in,
                                         j.values_out[1], j.n, 0, 8 * (int)sizeof(K), stream));
}

/* The input of a sort in place. */
template <class K, class V> static void refill(const struct job<K, V> &j)
{
    CUDA(cudaMemcpyAsync(j.out[0], j.in, j.n * sizeof(K), cudaMemcpyDeviceToDevice, stream));
    if (j.what == PAIRS)
        CUDA(cudaMemcpyAsync(j.values_out[0], j.values_in, j.n * sizeof(V),
                             cudaMemcpyDeviceToDevice, stream));
}

template <class K, class V> static double time_once(struct job<K, V> &j, int contender, int calls)
{
    if (j.in_place && !contender) {
        refill(j);
        calls = 1; /* a second call would sort sorted keys */
    }
    return bench_time([&] { contender ? run_cub(j) : run_echelon(j); }, calls);
}

template <class K, class V>
static void bench(const char *type, enum what what, size_t n, enum dist dist, size_t value_bytes)
{
    static const char *const what_names[] = { "keys", "pairs", "argsort", "keys_in_place",
                                              "pairs_in_place" };
    static const char *const contenders[] = { "echelon", "cub" };
    char name[128];
    const char *op = algorithm ? algorithm : what_names[what];
    snprintf(name, sizeof name, "%s(%s,n=%zu,v=%zu,dist=%s)", op, type, n, value_bytes,
             dist_names[dist]);
    if (only && !strstr(name, only)) return;

    struct job<K, V> j = {
    };
    j.in_place = what >= KEYS_IN_PLACE;
    if (j.in_place) what = what == KEYS_IN_PLACE ? KEYS : PAIRS;
    j.what = what;
    j.n = n;
    CUDA(cudaMalloc(&j.in, n * sizeof(K)));
    fill<K><<<1024, 256, 0, stream>>>(j.in, n, dist);
    if (what != KEYS) CUDA(cudaMalloc(&j.values_in, n * sizeof(V)));
    if (what != KEYS) iota<<<1024, 256, 0, stream>>>(j.values_in, n);
    for (int c = 0; c < 2; c++) {
        CUDA(cudaMalloc(&j.out[c], n * sizeof(K)));
        CUDA(cudaMemsetAsync(j.out[c], 0xa5 + c, n * sizeof(K), stream));
        if (what == KEYS) continue;
        CUDA(cudaMalloc(&j.values_out[c], n * sizeof(V)));
        CUDA(cudaMemsetAsync(j.values_out[c], 0xa5 + c, n * sizeof(V), stream));
    }
    ech_sort_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    if (what == ARGSORT)
        ECH(ech_argsort_workspace("cuda", n, dtype_of<K>(), sizeof(V) == 4 ? ECH_U32 : ECH_U64, &o,
                                  &j.work_bytes[0]));
    else
        ECH(ech_sort_workspace("cuda", n, dtype_of<K>(), what == KEYS ? 0 : sizeof(V), &o,
                               &j.work_bytes[0]));
    run_cub(j); /* queries its workspace */
    for (int c = 0; c < 2; c++) CUDA(cudaMalloc(&j.work[c], j.work_bytes[c]));

    if (j.in_place) refill(j);
    run_echelon(j);
    run_cub(j);
    unsigned long long bad = what == ARGSORT ? 0 : differences(j.out[0], j.out[1], n * sizeof(K));
    if (what != KEYS) bad += differences(j.values_out[0], j.values_out[1], n * sizeof(V));
    if (bad) wrong++;

    enum { RUNS = 11 };
    double ms[2][RUNS];
    int calls = n < 100000 ? 50 : n < 4000000 ? 10 : 1, runs = quick ? 5 : RUNS;
    for (int r = 0; r < runs; r++)
        for (int c = 0; c < 2; c++) ms[(c + r) % 2][r] = time_once(j, (c + r) % 2, calls);
    for (int c = 0; c < 2; c++) qsort(ms[c], runs, sizeof(double), bench_by_value);
    double mine = ms[0][runs / 2], other = ms[1][runs / 2];
    printf(
        "%-48s echelon %9.4f ms %7.2f G/s   cub %9.4f ms %7.2f G/s   ratio %5.2f  work %.2f n%s\n",
        name, mine, n / mine * 1e-6, other, n / other * 1e-6, other / mine,
        (double)j.work_bytes[0] / (n * (double)(sizeof(K) + (what == KEYS ? 0 : sizeof(V)))),
        bad ? "  WRONG" : "");
    fflush(stdout);
    for (int c = 0; csv && c < 2; c++)
        fprintf(csv, "%s,%s,%zu,%zu,%s,%s,%.6f,%.6f,%.6f,%.4f,%zu,%s\n", op, type, n, value_bytes,
                dist_names[dist], contenders[c], ms[c][runs / 2], ms[c][0], ms[c][runs - 1],
                n / ms[c][runs / 2] * 1e-6, j.work_bytes[c], bad ? "wrong" : "equal");

    CUDA(cudaFree(j.in));
    if (what != KEYS) CUDA(cudaFree(j.values_in));
    for (int c = 0; c < 2; c++) {
        CUDA(cudaFree(j.out[c]));
        CUDA(cudaFree(j.work[c]));
        if (what != KEYS) CUDA(cudaFree(j.values_out[c]));
    }
}

static void low_memory_rows(void)
{
    typedef uint32_t u32;
    typedef uint64_t u64;
    const size_t M = (size_t)1 << 20, big = 256 * M;
    const enum dist dists[] = { UNIFORM, SORTED, EQUAL, FEW16, ZIPF };
    const char *const chosen = algorithm;
    algorithm = "low_memory";
    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        bench<u32, u32>("u32", KEYS, big, dists[i], 0);
        bench<u64, u32>("u64", KEYS, big, dists[i], 0);
        bench<u32, u32>("u32", PAIRS, big, dists[i], 4);
    }
    for (size_t n = 4 * M; n <= 1024 * M; n *= n == 64 * M ? 16 : 4) {
        bench<u32, u32>("u32", KEYS, n, UNIFORM, 0);
        bench<u64, u32>("u64", KEYS, n, UNIFORM, 0);
        bench<u32, u32>("u32", PAIRS, n, UNIFORM, 4);
    }
    bench<u32, u32>("u32", KEYS, big, AND3, 0);
    bench<float, u32>("f32", KEYS, 16 * M, NORMAL, 0);
    bench<float, u32>("f32", KEYS, big, NORMAL, 0);
    bench<double, u32>("f64", KEYS, big, NORMAL, 0);
    bench<u64, u64>("u64", PAIRS, big, UNIFORM, 8);
    bench<int32_t, u64>("i32", ARGSORT, big, UNIFORM, 8);
    const enum dist frequent[] = { FEW16, AND3, ZIPF, HEAVY };
    for (size_t n = 4 * M; n <= 64 * M; n *= 4)
        for (size_t i = 0; i < sizeof frequent / sizeof *frequent; i++) {
            bench<u32, u32>("u32", KEYS, n, frequent[i], 0);
            bench<u32, u32>("u32", PAIRS, n, frequent[i], 4);
        }
    algorithm = chosen;
}

static void all_rows(void)
{
    typedef uint32_t u32;
    typedef uint64_t u64;
    const size_t M = (size_t)1 << 20, big = 256 * M;
    bench<u32, u32>("u32", KEYS, big, UNIFORM, 0);
    for (int d = SORTED; d <= HEAVY; d++) bench<u32, u32>("u32", KEYS, big, (enum dist)d, 0);
    bench<u32, u32>("u32", KEYS, 2 * big, UNIFORM, 0);
    bench<u32, u32>("u32", KEYS, 4 * big, UNIFORM, 0);
    bench<u64, u32>("u64", KEYS, big, UNIFORM, 0);
    for (int d = SORTED; d <= HEAVY; d++) bench<u64, u32>("u64", KEYS, big, (enum dist)d, 0);
    bench<float, u32>("f32", KEYS, big, UNIT, 0);
    bench<double, u32>("f64", KEYS, big, UNIT, 0);
    bench<float, u32>("f32", KEYS, big, NORMAL, 0);
    bench<double, u32>("f64", KEYS, big, NORMAL, 0);
    bench<uint8_t, u32>("u8", KEYS, 4 * big, UNIFORM, 0);
    bench<uint16_t, u32>("u16", KEYS, 2 * big, UNIFORM, 0);
    for (int d = UNIFORM; d <= HEAVY; d++) bench<u32, u32>("u32", PAIRS, big, (enum dist)d, 4);
    bench<u32, u64>("u32", PAIRS, big, UNIFORM, 8);
    bench<u64, u32>("u64", PAIRS, big, UNIFORM, 4);
    for (int d = UNIFORM; d <= HEAVY; d++) bench<u64, u64>("u64", PAIRS, big, (enum dist)d, 8);
    bench<float, u32>("f32", PAIRS, big, UNIT, 4);
    bench<int32_t, u32>("i32", ARGSORT, big, UNIFORM, 4);
    bench<int32_t, u64>("i32", ARGSORT, big, UNIFORM, 8);
    bench<int64_t, u64>("i64", ARGSORT, big, UNIFORM, 8);
    bench<u64, u32>("u64", ARGSORT, big, UNIFORM, 4);
    low_memory_rows();
    const size_t small[] = { 1000,  4096,  8192, 12288, 16384, 65536,
                             M / 4, M / 2, M,    2 * M, 4 * M, 16 * M };
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        bench<u32, u32>("u32", KEYS, small[i], UNIFORM, 0);
    const size_t few[] = { 1000, 4096, 16384, 65536, M / 2, M, 4 * M };
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        bench<u64, u32>("u64", KEYS, few[i], UNIFORM, 0);
        bench<u32, u32>("u32", PAIRS, few[i], UNIFORM, 4);
        bench<u64, u64>("u64", PAIRS, few[i], UNIFORM, 8);
    }
    const enum dist skewed[] = { SORTED, EQUAL, FEW16, AND3, ZIPF, HEAVY };
    for (size_t i = 0; i < sizeof skewed / sizeof *skewed; i++) {
        bench<u32, u32>("u32", KEYS, 4096, skewed[i], 0);
        bench<u32, u32>("u32", KEYS, 65536, skewed[i], 0);
        bench<u32, u32>("u32", KEYS, M, skewed[i], 0);
        bench<u32, u32>("u32", KEYS, 4 * M, skewed[i], 0);
        bench<u64, u32>("u64", KEYS, M, skewed[i], 0);
        bench<u32, u32>("u32", PAIRS, 4096, skewed[i], 4);
        bench<u32, u32>("u32", PAIRS, 65536, skewed[i], 4);
        bench<u32, u32>("u32", PAIRS, M, skewed[i], 4);
        bench<u64, u64>("u64", PAIRS, M, skewed[i], 8);
        bench<u32, u32>("u32", KEYS, 4097, skewed[i], 0);
        bench<u32, u32>("u32", PAIRS, 4097, skewed[i], 4);
        for (size_t n = 2 * M; n <= 16 * M; n *= 2) {
            if (n != 4 * M) bench<u32, u32>("u32", KEYS, n, skewed[i], 0);
            bench<u32, u32>("u32", PAIRS, n, skewed[i], 4);
            bench<u64, u64>("u64", PAIRS, n, skewed[i], 8);
        }
    }
    for (size_t n = 4 * M; n <= big; n *= 8) {
        bench<u32, u32>("u32", KEYS_IN_PLACE, n, UNIFORM, 0);
        bench<u32, u32>("u32", PAIRS_IN_PLACE, n, UNIFORM, 4);
        bench<u64, u64>("u64", PAIRS_IN_PLACE, n, UNIFORM, 8);
        bench<int32_t, u64>("i32", ARGSORT, n, ZIPF, 8);
        if (n < big) bench<int32_t, u64>("i32", ARGSORT, n, UNIFORM, 8);
    }
    for (size_t n = 2 * M; n <= 64 * M; n *= 2) bench<u32, u32>("u32", PAIRS, n, UNIFORM, 4);
    for (size_t n = 2 * M; n <= 64 * M; n *= 4) bench<u64, u64>("u64", PAIRS, n, UNIFORM, 8);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv, "sort", "keys in device memory, out of place, caller-provided workspace",
               "op,dtype,n,value_bytes,dist,contender,ms,ms_min,ms_max,gkeys_per_s,"
               "workspace_bytes,result");
    all_rows();
    return bench_close();
}
