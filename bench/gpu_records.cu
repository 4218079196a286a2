/*
 * gpu_records.cu - measures ech_sort_records(), compared with StableSortKeys() of
 * cub::DeviceMergeSort and a comparison of records on the same data in one run.
 *
 *     gpu_records [--quick] [--only TEXT] [--algorithm NAME] [--csv FILE]
 *
 * Records have random keys at offset 0 and their number at the end.  CUB sorts in place, so its
 * time includes a copy of the records.  Results must be identical.  Rates count one read and one
 * write of each record.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_merge_sort.cuh>

#include "gpu_common.cuh"

template <int WORDS> struct record {
    uint32_t word[WORDS];
};

/* few: the last 4 bytes of the key have 16 values, the others one. */
__global__ static void fill(uint32_t *out, size_t n, int words, int key_bytes, bool few)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        for (int w = 0; w < words; w++) {
            const uint32_t x = (uint32_t)random_at(i * words + w);
            const bool last = 4 * w < key_bytes && 4 * w + 4 >= key_bytes;
            out[i * words + w] = !few || 4 * w >= key_bytes ? x : last ? x & 15 : 7;
        }
        out[i * words + words - 1] = (uint32_t)i;
    }
}

/* A little-endian integer of 32 or 64 bits, or a string of 10 or 16 bytes. */
template <int WORDS, int KEY_BYTES> struct less_than {
    __device__ bool operator()(const record<WORDS> &a, const record<WORDS> &b) const
    {
        if (KEY_BYTES == 4) return a.word[0] < b.word[0];
        if (KEY_BYTES == 8)
            return a.word[1] != b.word[1] ? a.word[1] < b.word[1] : a.word[0] < b.word[0];
        for (int w = 0; w < KEY_BYTES / 4; w++) {
            const uint32_t x = __byte_perm(a.word[w], 0, 0x0123);
            const uint32_t y = __byte_perm(b.word[w], 0, 0x0123);
            if (x != y) return x < y;
        }
        if (KEY_BYTES % 4 == 0) return false;
        const int last = KEY_BYTES / 4;
        return (__byte_perm(a.word[last], 0, 0x0123) >> 16) <
               (__byte_perm(b.word[last], 0, 0x0123) >> 16);
    }
};

template <int WORDS, int KEY_BYTES> static void bench(size_t n, bool few)
{
    typedef record<WORDS> type;
    char shape[48];
    snprintf(shape, sizeof shape, "%d bytes", 4 * WORDS);
    const char *key = KEY_BYTES == 4    ? "u32"
                      : KEY_BYTES == 8  ? "u64"
                      : KEY_BYTES == 10 ? "string10"
                                        : "string16";
    struct bench_name name = { "sort-records", key, n, shape, few ? "16 values" : "random" };
    if (!bench_wanted(name)) return;
    const size_t bytes = n * sizeof(type);
    type *in, *out[2];
    void *rival_work = NULL;
    size_t rival_bytes = 0;
    ech_record_key k = {};
    k.size = sizeof k;
    k.kind = KEY_BYTES > 8 ? ECH_KEY_BYTES : ECH_KEY_DTYPE;
    k.dtype = KEY_BYTES == 8 ? ECH_U64 : ECH_U32;
    k.width_bytes = KEY_BYTES;
    ech_columns_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    if (ech_sort_records_workspace("cuda", n, sizeof(type), &k, 1, 0, &o, &o.work_bytes) !=
            ECH_OK &&
        algorithm)
        return; /* it cannot sort these records */
    ECH(ech_sort_records_workspace("cuda", n, sizeof(type), &k, 1, 0, &o, &o.work_bytes));
    CUDA(cudaMalloc(&in, bytes));
    for (int i = 0; i < 2; i++) CUDA(cudaMalloc(&out[i], bytes));
    CUDA(cudaMalloc(&o.work, o.work_bytes + 1));
    fill<<<1024, 256, 0, stream>>>((uint32_t *)in, n, WORDS, KEY_BYTES, few);
    const auto rival = [&] {
        if (rival_work) CUDA(cudaMemcpyAsync(out[1], in, bytes, cudaMemcpyDeviceToDevice, stream));
        CUDA(cub::DeviceMergeSort::StableSortKeys(rival_work, rival_bytes, out[1], (int64_t)n,
                                                  less_than<WORDS, KEY_BYTES>(), stream));
    };
    rival(); /* returns the size of its workspace */
    CUDA(cudaMalloc(&rival_work, rival_bytes));
    bench_row(
        name, 2.0 * (double)bytes, o.work_bytes,
        [&] { ECH(ech_sort_records(ctx, in, out[0], n, sizeof(type), &k, 1, &o)); }, rival,
        [&] { return differences(out[0], out[1], bytes) == 0; });
    CUDA(cudaFree(in));
    for (int i = 0; i < 2; i++) CUDA(cudaFree(out[i]));
    CUDA(cudaFree(o.work));
    CUDA(cudaFree(rival_work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20, sizes[] = { 100, 1000, 2048, 4096, 65536, M, 16 * M, 64 * M };
    bench_open(argc, argv, "records", "arrays in device memory, caller-provided workspace");
    for (size_t n : sizes)
        for (int few = 0; few < 2; few++) {
            bench<2, 4>(n, few);
            bench<4, 4>(n, few);
            bench<4, 8>(n, few);
            bench<8, 16>(n, few);
            bench<16, 8>(n, few);
            bench<25, 10>(n, few);
        }
    return bench_close();
}
