/*
 * gpu_strings.cu - measures sorts of strings, compared with CUB's stable merge sort of positions by
 * a comparison of strings, on the same data in one run.
 *
 *     gpu_strings [--quick] [--only TEXT] [--csv FILE]
 *
 * The competitor ("cub") writes the positions 0 ... n - 1, then calls DeviceMergeSort::
 * StableSortKeys() with a comparison that reads both strings 8 bytes at a time.  Strings begin at
 * any byte.  Both write 32-bit positions, which must be identical.  Rates count one read of the
 * offsets and of the bytes and one write of the positions.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_merge_sort.cuh>

#include "gpu_common.cuh"

static const char *const dists[] = { "words", "url",  "numbers",    "repeated",
                                     "uuid",  "zipf", "prefix 1000" };
enum { DISTS = sizeof dists / sizeof *dists };

/* ---- The competitor ---- */

struct less {
    const int64_t *offsets;
    const uint8_t *bytes;

    /* Up to eight bytes, the first one at the top; the array has 16 bytes more than the strings. */
    __device__ uint64_t word(int64_t at) const
    {
        const uint8_t *from = bytes + at;
        const unsigned skipped = (unsigned)((uintptr_t)from & 7);
        const uint64_t *words = (const uint64_t *)(from - skipped);
        uint64_t x = words[0] >> 8 * skipped;
        if (skipped) x |= words[1] << (64 - 8 * skipped);
        return (uint64_t)__byte_perm((uint32_t)x, 0, 0x0123) << 32 |
               __byte_perm((uint32_t)(x >> 32), 0, 0x0123);
    }

    __device__ bool operator()(uint32_t i, uint32_t j) const
    {
        const int64_t p = offsets[i], q = offsets[j];
        const int64_t m = offsets[i + 1] - p, n = offsets[j + 1] - q, both = m < n ? m : n;
        for (int64_t k = 0; k < both; k += 8) {
            const uint64_t mask = both - k < 8 ? ~(~(uint64_t)0 >> 8 * (both - k)) : ~(uint64_t)0;
            const uint64_t x = word(p + k) & mask, y = word(q + k) & mask;
            if (x != y) return x < y;
        }
        return m < n;
    }
};

__global__ static void fill_positions(uint32_t *out, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = (uint32_t)i;
}

/* ---- Strings, made by the host ---- */

enum { MOST_BYTES = 1040 };

/* Writes string i, and returns its length. */
static size_t make_string(char *to, int dist, uint64_t i, uint64_t n)
{
    static const char *const hosts[] = { "https://www.example.com/",
                                         "https://www.example.org/articles/2026/november/",
                                         "https://docs.example.net/en/latest/",
                                         "http://localhost:8080/" };
    static const char *const parts[] = { "index", "news", "about", "item?id=", "reference/api/" };
    uint64_t x = random_at(i), y = random_at(i + n);
    size_t length = 0;
    switch (dist) {
    case 0: /* 5 to 20 letters */
        for (length = 0; length < 5 + x % 16; length++) {
            if (length == 10) y = random_at(i + 2 * n);
            to[length] = (char)('a' + y % 26);
            y /= 26;
        }
        return length;
    case 1:
        return (size_t)snprintf(to, MOST_BYTES, "%s%s%llu", hosts[x % 4], parts[x / 4 % 5],
                                (unsigned long long)(y % n));
    case 2:
        return (size_t)snprintf(to, MOST_BYTES, "%llu", (unsigned long long)(x % 1000000000));
    case 3:
        return (size_t)snprintf(to, MOST_BYTES, "one repeated string of 33 bytes..");
    case 4:
        return (size_t)snprintf(to, MOST_BYTES, "%08x-%04x-%04x-%04x-%012llx", (unsigned)x,
                                (unsigned)(x >> 48), (unsigned)(x >> 32 & 0xffff),
                                (unsigned)(y >> 48), (unsigned long long)(y & 0xffffffffffff));
    case 5: { /* rank r of 50,000 words with a probability of about 1 / r */
        const uint64_t rank = (uint64_t)exp(log(50000.0) * ((double)(x >> 11) * 0x1p-53));
        uint64_t w = random_at(rank);
        const size_t letters = 2 + w % 11;
        for (w /= 11; length < letters; w /= 20) to[length++] = "etaoinshrdlucmfwypvb"[w % 20];
        return length;
    }
    default:
        memset(to, 'x', 1000);
        return 1000 +
               (size_t)snprintf(to + 1000, MOST_BYTES - 1000, "%llx", (unsigned long long)(x % n));
    }
}

struct strings {
    size_t n, total_bytes;
    int64_t *offsets;
    uint8_t *bytes;
    uint32_t *indices[2]; /* Echelon's, CUB's */
};

static void make(struct strings &s, int dist)
{
    int64_t *offsets = (int64_t *)malloc((s.n + 1) * sizeof *offsets);
    char text[MOST_BYTES];
    s.total_bytes = 0;
    for (size_t i = 0; i < s.n; i++) {
        offsets[i] = (int64_t)s.total_bytes;
        s.total_bytes += make_string(text, dist, i, s.n);
    }
    offsets[s.n] = (int64_t)s.total_bytes;
    char *bytes = (char *)malloc(s.total_bytes + MOST_BYTES);
    for (size_t i = 0; i < s.n; i++) make_string(bytes + offsets[i], dist, i, s.n);
    CUDA(cudaMalloc(&s.offsets, (s.n + 1) * sizeof *offsets));
    CUDA(cudaMalloc(&s.bytes, s.total_bytes + 16));
    CUDA(cudaMemcpy(s.offsets, offsets, (s.n + 1) * sizeof *offsets, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(s.bytes, bytes, s.total_bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++) CUDA(cudaMalloc(&s.indices[i], 4 * s.n));
    free(offsets);
    free(bytes);
}

static void bench(size_t n, int dist, const char *algorithm)
{
    struct strings s = {};
    struct bench_name name = { "argsort-strings", "bytes", n, algorithm ? algorithm : "default",
                               dists[dist] };
    if (!bench_wanted(name)) return;
    ech_strings_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    s.n = n;
    make(s, dist);
    const double bytes = 12.0 * (double)n + (double)s.total_bytes;
    size_t cub_bytes = 0;
    void *cub_work = NULL;
    const struct less less = { s.offsets, s.bytes };
    ECH(ech_strings_workspace("cuda", n, s.total_bytes, ECH_I64, ECH_U32, &o, &o.work_bytes));
    CUDA(cudaMalloc(&o.work, o.work_bytes + 1));
    CUDA(cub::DeviceMergeSort::StableSortKeys(NULL, cub_bytes, s.indices[1], n, less, stream));
    CUDA(cudaMalloc(&cub_work, cub_bytes + 1));
    bench_row(
        name, bytes, o.work_bytes,
        [&] {
            ECH(ech_argsort_strings(ctx, s.offsets, s.bytes, s.indices[0], n, s.total_bytes,
                                    ECH_I64, ECH_U32, &o));
        },
        [&] {
            fill_positions<<<1024, 256, 0, stream>>>(s.indices[1], n);
            CUDA(cub::DeviceMergeSort::StableSortKeys(cub_work, cub_bytes, s.indices[1], n, less,
                                                      stream));
        },
        [&] { return differences(s.indices[0], s.indices[1], 4 * n) == 0; }, "cub");
    CUDA(cudaFree(s.offsets));
    CUDA(cudaFree(s.bytes));
    for (int i = 0; i < 2; i++) CUDA(cudaFree(s.indices[i]));
    CUDA(cudaFree(o.work));
    CUDA(cudaFree(cub_work));
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 1000, 10000, 1 << 20, 1 << 24 };
    bench_open(argc, argv, "strings");
    for (size_t n : sizes)
        for (int dist = 0; dist < DISTS; dist++) {
            if (dist == DISTS - 1 && n > 1 << 20) continue;
            bench(n, dist, NULL);
            if (n == 10000 || n == 1 << 20) {
                bench(n, dist, "refine");
                bench(n, dist, "merge");
            }
        }
    return bench_close();
}
