/*
 * gpu.cu - the GPU module of the benchmark grid: memory, data, comparison, time, and the table of
 * the competitors.
 *
 * All contenders use one stream; grid.py gives it to PyTorch and CuPy.  Times are those between two
 * events of the stream.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/version.cuh>

#include "fill.h"
#include "gpu.h"

cudaStream_t grid_gpu_stream;
static cudaEvent_t marks[2];
static unsigned long long *counters; /* differences; bits of the largest magnitude; read sum */

struct scratch {
    void *memory;
    size_t bytes;
};
static struct scratch scratches[SCRATCHES];
static bool called[8];

enum { BLOCKS = 1056, THREADS = 256 };

const char *grid_open_processor(ech_ctx **ctx, int, char *machine, size_t capacity)
{
    if (ech_open(ctx, "cuda") != ECH_OK) return ech_error(NULL);
    CUDA(cudaStreamCreateWithFlags(&grid_gpu_stream, cudaStreamNonBlocking));
    if (ech_set_stream(*ctx, grid_gpu_stream) != ECH_OK) return ech_error(*ctx);
    for (int i = 0; i < 2; i++) CUDA(cudaEventCreate(&marks[i]));
    CUDA(cudaMalloc(&counters, 3 * sizeof *counters));
    cudaDeviceProp device;
    int driver, runtime;
    CUDA(cudaGetDeviceProperties(&device, 0));
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    snprintf(machine, capacity, "%s; driver interface %d; CUDA %d", device.name, driver, runtime);
    return NULL;
}

/* ---- Memory ---- */

void *grid_allocate(size_t bytes)
{
    void *memory;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        cudaGetLastError(); /* clears the error */
        return NULL;
    }
    CUDA(cudaMemsetAsync(memory, 0, bytes, grid_gpu_stream));
    return memory;
}

/* The arrays of a row are released together, so the scratch memory of the row also is. */
void grid_release(void *memory)
{
    CUDA(cudaFree(memory));
    for (int i = 0; i < SCRATCHES; i++) {
        if (scratches[i].memory) CUDA(cudaFree(scratches[i].memory));
        scratches[i] = scratch{ NULL, 0 };
    }
    for (size_t i = 0; i < sizeof called; i++) called[i] = false;
}

void *grid_scratch(int which, size_t bytes)
{
    struct scratch *s = &scratches[which];
    if (bytes <= s->bytes) return s->memory;
    CUDA(cudaStreamSynchronize(grid_gpu_stream));
    if (s->memory) CUDA(cudaFree(s->memory));
    CUDA(cudaMalloc(&s->memory, bytes));
    s->bytes = bytes;
    return s->memory;
}

bool grid_first_call(int rival)
{
    const bool first = !called[rival];
    called[rival] = true;
    return first;
}

void grid_read(void *host, const void *from, size_t bytes)
{
    CUDA(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, grid_gpu_stream));
    CUDA(cudaStreamSynchronize(grid_gpu_stream));
}

void grid_wait(void)
{
    CUDA(cudaStreamSynchronize(grid_gpu_stream));
}

/* ---- Data and comparison ---- */

static __global__ void fill(struct grid_fill f)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < f.n; i += step)
        grid_fill_at(&f, i);
}

void grid_fill(const struct grid_fill *f)
{
    fill<<<BLOCKS, THREADS, 0, grid_gpu_stream>>>(*f);
    CUDA(cudaGetLastError());
}

/* Bits of doubles that are not negative have the order of the numbers. */
static __global__ void magnitude(struct grid_slot s, unsigned long long *largest)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    double mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < s.n; i += step)
        mine = fmax(mine, grid_magnitude_at(&s, i));
    atomicMax(largest, (unsigned long long)__double_as_longlong(mine));
}

static __global__ void compare(struct grid_comparison c, unsigned long long *count)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    unsigned long long mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < c.slot.n; i += step)
        mine += (unsigned)grid_differs_at(&c, i);
    if (mine) atomicAdd(count, mine);
}

uint64_t grid_differences(const struct grid_slot *s, const void *other, int dtype, size_t stride,
                          const void *in, size_t in_bytes, uint64_t n_in)
{
    struct grid_comparison c = { *s, other, in, dtype, stride, in_bytes, n_in, 0 };
    uint64_t result;
    CUDA(cudaMemsetAsync(counters, 0, 2 * sizeof *counters, grid_gpu_stream));
    if (s->kind == GRID_CLOSE) {
        magnitude<<<BLOCKS, THREADS, 0, grid_gpu_stream>>>(*s, counters + 1);
        grid_read(&c.scale, counters + 1, sizeof c.scale);
    }
    compare<<<BLOCKS, THREADS, 0, grid_gpu_stream>>>(c, counters);
    CUDA(cudaGetLastError());
    grid_read(&result, counters, sizeof result);
    return result;
}

static __global__ void read_words(const uint4 *in, uint64_t n, unsigned long long *sum)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    unsigned mine = 0;
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step) { /* four loads in flight */
        const uint4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        mine ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
        mine ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
    for (; i < n; i += step) mine ^= in[i].x ^ in[i].y ^ in[i].z ^ in[i].w;
    if (mine == 0x5bd1e995) atomicAdd(sum, 1ull); /* so that the loads are needed */
}

/* Copies from the inputs to the outputs, in pieces if the row writes fewer bytes than it reads. */
void grid_move(struct grid_case *c)
{
    const size_t in_bytes = c->row.n * c->bytes, total = (size_t)(c->read + c->written);
    if (c->written <= 0.05 * c->read) {
        read_words<<<BLOCKS, THREADS, 0, grid_gpu_stream>>>((const uint4 *)c->in, in_bytes / 16,
                                                            counters + 2);
        return;
    }
    const size_t piece = in_bytes < c->out_bytes ? in_bytes : c->out_bytes;
    for (size_t size, left = total / 2; left; left -= size) {
        size = left < piece ? left : piece;
        CUDA(cudaMemcpyAsync(c->out[1], c->in, size, cudaMemcpyDeviceToDevice, grid_gpu_stream));
    }
}

/* What a gather and a sparse product must do if they keep the order: reads places in order, an
 * element of `from` at each and, if it exists, an element of `beside` in order.  The loads of a
 * thread are in flight together. */
template <class I, class T>
static __global__ void reach_places(const I *places, const T *from, const T *beside, uint64_t n,
                                    unsigned long long *sum)
{
    enum { EACH = 2 };
    const uint64_t first = (uint64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    uint64_t place[EACH], mine = 0;
    T x[EACH], y[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t i = first + k * THREADS;
        place[k] = i < n ? (uint64_t)__ldcs(places + i) : 0;
        y[k] = beside && i < n ? __ldcs(beside + i) : (T)0;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) x[k] = __ldg(from + place[k]);
#pragma unroll
    for (int k = 0; k < EACH; k++) mine = mine * 0x9e3779b97f4a7c15ull + (uint64_t)(x[k] ^ y[k]);
    if (mine == 0x5bd1e9955bd1e995ull) atomicAdd(sum, 1ull); /* so that loads are needed */
}

template <class I, class T>
static void reach_all(const struct grid_case *c, const char *from, const char *beside)
{
    const unsigned blocks = (unsigned)((c->row.n - 1) / (THREADS * 2) + 1);
    reach_places<<<blocks, THREADS, 0, grid_gpu_stream>>>(
        (const I *)c->aux, (const T *)from, (const T *)beside, c->row.n, counters + 2);
}

int grid_reach(struct grid_case *c)
{
    typedef unsigned long long u64;
    const char *x = c->aux + 4 * c->row.n; /* the vector of a sparse product */
    if (c->row.op == GRID_SPMV && c->bytes == 4)
        reach_all<uint32_t, uint32_t>(c, x, c->in);
    else if (c->row.op == GRID_SPMV && c->bytes == 8)
        reach_all<uint32_t, u64>(c, x, c->in);
    else if (c->row.op != GRID_GATHER)
        return 0;
    else if (c->bytes == 1)
        reach_all<u64, unsigned char>(c, c->in, NULL);
    else if (c->bytes == 2)
        reach_all<u64, unsigned short>(c, c->in, NULL);
    else if (c->bytes == 4)
        reach_all<u64, uint32_t>(c, c->in, NULL);
    else
        reach_all<u64, u64>(c, c->in, NULL);
    return 1;
}

/* ---- Time ---- */

int grid_lead(void)
{
    return 1;
}

void grid_mark(void)
{
    CUDA(cudaEventRecord(marks[0], grid_gpu_stream));
}

double grid_since_mark(void)
{
    float ms;
    CUDA(cudaEventRecord(marks[1], grid_gpu_stream));
    CUDA(cudaEventSynchronize(marks[1]));
    CUDA(cudaEventElapsedTime(&ms, marks[0], marks[1]));
    return 1e6 * ms;
}

void *grid_stream(void)
{
    return grid_gpu_stream;
}

/* ---- Competitors ---- */

static int run_cub(struct grid_case *c)
{
    static grid_run *const rows[] = { grid_cub_0, grid_cub_1, grid_cub_2,  grid_cub_3,
                                      grid_cub_4, grid_cub_5, grid_cub_6,  grid_cub_7,
                                      grid_cub_8, grid_cub_9, grid_cub_10, grid_cub_11 };
    return rows[c->row.dtype](c);
}

#define TEXT(x)    #x
#define VERSION(x) TEXT(x)
static const struct {
    const char *name;
    grid_run *run;
} rivals[] = { { "CUB|" VERSION(CUB_VERSION), run_cub },
               { "cuBLAS|" VERSION(CUDART_VERSION), grid_cublas },
               { "cuSPARSE|" VERSION(CUDART_VERSION), grid_cusparse },
               { NULL, NULL } };

const char *grid_rival_name(int rival)
{
    return rivals[rival].name;
}

int grid_rival(struct grid_case *c, int rival)
{
    return rivals[rival].run(c);
}
