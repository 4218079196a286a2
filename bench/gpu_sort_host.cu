/*
 * gpu_sort_host.cu - measures sorts of arrays in host memory on the GPU and the CPU, and the bound
 * given by the link.
 *
 *     gpu_sort_host [--quick] [--only TEXT] [--csv FILE]
 *
 * A row is sort(dtype, n, value bytes, memory, limit).  Sorts are out of place; memory is pinned
 * (cudaHostAlloc) or pageable (malloc, touched before).  The limit of the context's device memory
 * is a fraction of the array.  Contenders alternate; times are medians of several measurements by
 * the clock of the host:
 *     cuda   ech_sort() and related functions on a context of "cuda"
 *     cpu    the same calls on a context of "cpu", all threads
 *     auto   the same calls on a context of "auto"
 *     link   copies the input to the GPU, then the output back, both pinned
 *     twice  both copies at once, twice: the lower bound of an out-of-core sort
 * All results are compared with those of the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_common.cuh"

enum who { CUDA_ONLY, CPU_ONLY, AUTO, LINK, TWICE, WHO };
static const char *const names[WHO] = { "cuda", "cpu", "auto", "link", "twice" };
static ech_ctx *contexts[LINK];

struct row {
    const char *what, *type;
    ech_dtype dtype;
    size_t n, value_bytes;
    bool argsort, pinned;
    unsigned parts; /* the limit is n / parts; 0: none */
    unsigned who;   /* bit mask of contenders */
};

struct data {
    char *keys_in, *keys_out, *values_in, *values_out, *keys_wanted, *values_wanted;
    char *device, *other;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Data ---- */

static __global__ void fill(uint64_t *words, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        words[i] = random_at(i);
}

/* Memory for one purpose, kept for all rows, because pinning takes longer than sorting. */
static char *host_memory(int use, size_t bytes, bool pinned)
{
    enum { USES = 6 };
    static struct {
        void *at;
        size_t bytes;
    } kept[2][USES];
    if (bytes == 0) return NULL;
    if (kept[pinned][use].bytes < bytes) {
        if (pinned && kept[pinned][use].at) CUDA(cudaFreeHost(kept[pinned][use].at));
        if (!pinned) free(kept[pinned][use].at);
        if (pinned)
            CUDA(cudaHostAlloc(&kept[pinned][use].at, bytes, 0));
        else if (!(kept[pinned][use].at = malloc(bytes)))
            exit(1);
        kept[pinned][use].bytes = bytes;
        memset(kept[pinned][use].at, 0xa5, bytes);
    }
    return (char *)kept[pinned][use].at;
}

/* ---- Contenders ---- */

/* Copies the input to the GPU, or the output back. */
static void copy(const struct row &r, const struct data &d, bool up, char *device, cudaStream_t on)
{
    size_t key_bytes = r.n * ech_dtype_bytes(r.dtype), value_bytes = r.n * r.value_bytes;
    if (up) {
        CUDA(cudaMemcpyAsync(device, d.keys_in, key_bytes, cudaMemcpyDefault, on));
        if (!r.argsort && value_bytes)
            CUDA(cudaMemcpyAsync(device, d.values_in, value_bytes, cudaMemcpyDefault, on));
    } else {
        if (!r.argsort) CUDA(cudaMemcpyAsync(d.keys_out, device, key_bytes, cudaMemcpyDefault, on));
        if (value_bytes)
            CUDA(cudaMemcpyAsync(d.values_out, device, value_bytes, cudaMemcpyDefault, on));
    }
}

static void copy_link(enum who who, const struct row &r, const struct data &d)
{
    static cudaStream_t beside;
    if (!beside) CUDA(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    for (int i = 0; i < (who == TWICE ? 2 : 1); i++) {
        copy(r, d, true, d.device, stream);
        if (who == LINK) CUDA(cudaStreamSynchronize(stream));
        copy(r, d, false, d.other, beside);
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaStreamSynchronize(beside));
    }
}

static void run(enum who who, const struct row &r, const struct data &d, char *keys_out,
                char *values_out)
{
    ech_ctx *ctx = who < LINK ? contexts[who] : NULL;
    if (who >= LINK) {
        copy_link(who, r, d);
    } else if (r.argsort) {
        ECH(ech_argsort(ctx, d.keys_in, values_out, r.n, r.dtype,
                        r.value_bytes == 4 ? ECH_U32 : ECH_U64, NULL));
    } else if (r.value_bytes) {
        ECH(ech_sort_pairs(ctx, d.keys_in, d.values_in, keys_out, values_out, r.n, r.dtype,
                           r.value_bytes, NULL));
    } else {
        ECH(ech_sort(ctx, d.keys_in, keys_out, r.n, r.dtype, NULL));
    }
}

static void bench(const struct row &r)
{
    enum { RUNS = 9 };
    char name[160], limit[32] = "";
    if (r.parts) snprintf(limit, sizeof limit, ",limit=n/%u", r.parts);
    snprintf(name, sizeof name, "%s(%s,n=%zu,v=%zu,%s%s)", r.what, r.type, r.n, r.value_bytes,
             r.pinned ? "pinned" : "pageable", limit);
    if (only && !strstr(name, only)) return;
    size_t key_bytes = r.n * ech_dtype_bytes(r.dtype), value_bytes = r.n * r.value_bytes;
    size_t most = key_bytes > value_bytes ? key_bytes : value_bytes;
    struct data d = {};
    d.keys_in = host_memory(0, key_bytes, r.pinned);
    d.keys_out = r.argsort ? NULL : host_memory(1, key_bytes, r.pinned);
    d.values_in = r.argsort ? NULL : host_memory(2, value_bytes, r.pinned);
    d.values_out = host_memory(3, value_bytes, r.pinned);
    d.keys_wanted = r.argsort ? NULL : host_memory(4, key_bytes, false);
    d.values_wanted = host_memory(5, value_bytes, false);
    CUDA(cudaMalloc(&d.device, (most + 7) / 8 * 8));
    d.other = d.device;
    if (r.who >> TWICE & 1) CUDA(cudaMalloc(&d.other, most));
    fill<<<1024, 256, 0, stream>>>((uint64_t *)d.device, (most + 7) / 8);
    CUDA(cudaMemcpyAsync(d.keys_in, d.device, key_bytes, cudaMemcpyDefault, stream));
    if (d.values_in)
        CUDA(cudaMemcpyAsync(d.values_in, d.device, value_bytes, cudaMemcpyDefault, stream));
    CUDA(cudaStreamSynchronize(stream));
    size_t of_array = key_bytes + value_bytes;
    for (int who = 0; who < LINK; who++)
        if (contexts[who] && who != CPU_ONLY)
            ECH(ech_set_memory_limit(contexts[who], r.parts ? of_array / r.parts : 0));

    bool good = true;
    static char before[64]; /* consecutive rows with equal data share the expected result */
    char now[64];
    snprintf(now, sizeof now, "%s %s %zu %zu", r.what, r.type, r.n, r.value_bytes);
    if (strcmp(now, before) != 0) run(CPU_ONLY, r, d, d.keys_wanted, d.values_wanted);
    snprintf(before, sizeof before, "%s", now);
    for (int who = 0; who < WHO; who++) {
        if (!(r.who >> who & 1)) continue;
        run((enum who)who, r, d, d.keys_out, d.values_out);
        if (who >= LINK) continue;
        good = good && (r.argsort || memcmp(d.keys_out, d.keys_wanted, key_bytes) == 0);
        good = good && (!value_bytes || memcmp(d.values_out, d.values_wanted, value_bytes) == 0);
    }
    if (!good) wrong++;
    double s[WHO][RUNS];
    int calls = of_array < 200000 ? 20 : of_array < 20000000 ? 5 : 1;
    int runs = of_array > 1000000000 ? (quick ? 3 : 5) : quick ? 5 : RUNS;
    for (int i = 0; i < runs; i++)
        for (int who = 0; who < WHO; who++) {
            if (!(r.who >> who & 1)) continue;
            run((enum who)who, r, d, d.keys_out, d.values_out); /* wakes its threads */
            double begin = seconds();
            for (int c = 0; c < calls; c++) run((enum who)who, r, d, d.keys_out, d.values_out);
            s[who][i] = (seconds() - begin) / calls;
        }
    printf("%-50s", name);
    for (int who = 0; who < WHO; who++) {
        if (!(r.who >> who & 1)) continue;
        qsort(s[who], runs, sizeof(double), bench_by_value);
        double median = s[who][runs / 2];
        printf("  %s %10.4f ms", names[who], 1e3 * median);
        if (csv)
            fprintf(csv, "%s,%s,%zu,%zu,%s,%u,%s,%.6f,%.6f,%.6f,%.4f,%s\n", r.what, r.type, r.n,
                    r.value_bytes, r.pinned ? "pinned" : "pageable", r.parts, names[who],
                    1e3 * median, 1e3 * s[who][0], 1e3 * s[who][runs - 1],
                    (double)r.n / median * 1e-9, good ? "equal" : "wrong");
    }
    for (int who = LINK; who < WHO; who++)
        if (r.who >> who & 1)
            printf("  of %s %4.2f", names[who], s[who][runs / 2] / s[CUDA_ONLY][runs / 2]);
    if (r.who >> AUTO & 1) {
        double best = s[CUDA_ONLY][runs / 2];
        if (r.who >> CPU_ONLY & 1 && s[CPU_ONLY][runs / 2] < best) best = s[CPU_ONLY][runs / 2];
        printf("  auto/best %5.2f", s[AUTO][runs / 2] / best);
    }
    printf("%s\n", good ? "" : "  WRONG");
    fflush(stdout);
    if (d.other != d.device) CUDA(cudaFree(d.other));
    CUDA(cudaFree(d.device));
}

static const struct {
    const char *what, *type;
    ech_dtype dtype;
    size_t value_bytes;
    bool argsort;
} kinds[] = {
    { "keys", "u32", ECH_U32, 0, false },   { "keys", "u64", ECH_U64, 0, false },
    { "pairs", "u32", ECH_U32, 4, false },  { "pairs", "u64", ECH_U64, 8, false },
    { "argsort", "i64", ECH_I64, 8, true }, { "keys", "u8", ECH_U8, 0, false },
    { "keys", "u16", ECH_U16, 0, false },   { "pairs", "u32", ECH_U32, 8, false },
    { "pairs", "u64", ECH_U64, 4, false },  { "argsort", "i32", ECH_I32, 4, true },
};
enum { KINDS = sizeof kinds / sizeof *kinds, CHIEF = 5 }; /* the first CHIEF kinds: also large n */

int main(int argc, char **argv)
{
    bench_open(argc, argv, "sort_host",
               "keys in host memory, out of place; times by the clock of the host",
               "op,dtype,n,value_bytes,memory,parts,contender,ms,ms_min,ms_max,gkeys_per_s,result");
    contexts[CUDA_ONLY] = ctx;
    ECH(ech_open(&contexts[CPU_ONLY], "cpu"));
    ECH(ech_open(&contexts[AUTO], NULL));
    const size_t M = (size_t)1 << 20;
    const unsigned all = 1 << CUDA_ONLY | 1 << CPU_ONLY | 1 << AUTO;
    const unsigned gpu = 1 << CUDA_ONLY, link = 1 << LINK;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t n = 1000; n <= (k < CHIEF ? 100000000 : 1000000); n *= 10)
            for (int m = 1; m <= 3; m += 2)
                for (int pinned = 1; pinned >= 0; pinned--) {
                    if (n == 100000000 && m == 3) continue;
                    struct row r = { kinds[k].what,
                                     kinds[k].type,
                                     kinds[k].dtype,
                                     m * n,
                                     kinds[k].value_bytes,
                                     kinds[k].argsort,
                                     pinned != 0,
                                     0,
                                     all };
                    bench(r);
                }
    for (size_t k = 0; k < CHIEF; k++)
        for (int parts = 0; parts <= 4; parts += 4)
            for (int pinned = 1; pinned >= 0; pinned--) {
                struct row r = { kinds[k].what,
                                 kinds[k].type,
                                 kinds[k].dtype,
                                 256 * M,
                                 kinds[k].value_bytes,
                                 kinds[k].argsort,
                                 pinned != 0,
                                 (unsigned)parts,
                                 gpu | (pinned ? link : 0) | (pinned && parts ? 1 << TWICE : 0) };
                bench(r);
                r.n *= 4;
                if (k == 0 && parts) bench(r); /* 4 GiB */
            }
    ech_close(contexts[CPU_ONLY]);
    ech_close(contexts[AUTO]);
    return bench_close();
}
