/*
 * simt/patterns.cu - kernels with one pattern of access or branch each, whose costs are known.
 *
 * patterns.def lists the launch parameters and the expected counts. The kernels have no faults,
 * and planted_oracle.c computes their output. The counts are per warp instruction, so they hold
 * for every compiler that keeps the accesses:
 *
 *     request     an instruction that at least one lane of a warp executes
 *     sector      32 aligned bytes of global memory that a request accesses
 *     wavefront   one access to the 32 banks of shared memory, 4 bytes each, that a request needs
 *
 * The number of wavefronts is the largest number of different words in one bank. With 8 bytes per
 * lane the halves of a warp are counted one after the other, with 16 bytes its quarters. If in the
 * whole warp all pairs of lanes that differ only in bit 0, or all pairs that differ only in bit 1,
 * access the same element, then two halves or quarters are counted as one; an inactive lane
 * accesses the same as its partner. In atomics every lane counts, even if lanes access the same
 * word, and a sector counts as often as the most frequent of its words. The counters of an H200
 * show these rules. NVIDIA does not document them for this chip.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planted.h"

extern __shared__ __align__(16) unsigned char shared_bytes[];

static __device__ inline uint32_t *shared_words(void)
{
    return (uint32_t *)shared_bytes;
}

static __device__ inline uint32_t lane_id(void)
{
    return threadIdx.x % 32;
}

static __device__ inline uint32_t global_id(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* The index that PLANTED_INDEX() gives a lane. */
static __device__ inline uint32_t place(uint32_t p, uint32_t lane)
{
    return lane / (p & 255) % (p >> 8 & 255) * (p >> 16 & 255) + (p >> 24);
}

/* Copies `words` words of `in` to shared memory, without bank conflicts. */
static __device__ inline void fill(const struct planted_args &a, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) shared_words()[i] = a.in[i];
    __syncthreads();
}

extern "C" __global__ void nothing(const __grid_constant__ struct planted_args a)
{
}

/* ---- Global memory: each warp has its own 1024 elements ---- */

extern "C" __global__ void global_read_4(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id();
    a.out[i] = a.in[i / 32 * 1024 + place(a.p, lane_id())];
}

extern "C" __global__ void global_read_8(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id();
    uint2 v = ((const uint2 *)a.in)[i / 32 * 1024 + place(a.p, lane_id())];
    a.out[i] = v.x ^ v.y;
}

extern "C" __global__ void global_read_16(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id();
    uint4 v = ((const uint4 *)a.in)[i / 32 * 1024 + place(a.p, lane_id())];
    a.out[i] = v.x ^ v.y ^ v.z ^ v.w;
}

extern "C" __global__ void global_write_4(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id();
    a.out[i / 32 * 1024 + place(a.p, lane_id())] = a.in[i];
}

extern "C" __global__ void global_write_8(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id(), x = a.in[i];
    uint2 v = { x, ~x };
    ((uint2 *)a.out)[i / 32 * 1024 + place(a.p, lane_id())] = v;
}

extern "C" __global__ void global_write_16(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id(), x = a.in[i];
    uint4 v = { x, ~x, x + 1, x + 2 };
    ((uint4 *)a.out)[i / 32 * 1024 + place(a.p, lane_id())] = v;
}

extern "C" __global__ void global_reverse(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id();
    a.out[i] = a.in[i ^ 31];
}

/* p, a power of 2, is the number of words to choose from. */
extern "C" __global__ void global_gather(const __grid_constant__ struct planted_args a)
{
    uint32_t i = global_id();
    a.out[i] = a.in[a.in[i] & (a.p - 1)];
}

/* ---- Shared memory ---- */

extern "C" __global__ void shared_read_4(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    a.out[global_id()] = shared_words()[place(a.p, lane_id())];
}

extern "C" __global__ void shared_read_8(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint2 v = ((const uint2 *)shared_bytes)[place(a.p, lane_id())];
    a.out[global_id()] = v.x ^ v.y;
}

extern "C" __global__ void shared_read_16(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint4 v = ((const uint4 *)shared_bytes)[place(a.p, lane_id())];
    a.out[global_id()] = v.x ^ v.y ^ v.z ^ v.w;
}

/* Lanes that differ only in bit p read the same element; the elements are contiguous. */
static __device__ inline uint32_t pair(uint32_t p, uint32_t lane)
{
    return lane >> (p + 1) << p | (lane & ((1u << p) - 1));
}

extern "C" __global__ void shared_pairs_8(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint2 v = ((const uint2 *)shared_bytes)[pair(a.p, lane_id())];
    a.out[global_id()] = v.x ^ v.y;
}

extern "C" __global__ void shared_pairs_16(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint4 v = ((const uint4 *)shared_bytes)[pair(a.p, lane_id())];
    a.out[global_id()] = v.x ^ v.y ^ v.z ^ v.w;
}

/* The first half of a warp reads in pairs, the second does not. */
static __device__ inline uint32_t half_pairs(uint32_t lane)
{
    return lane >> (lane < 16);
}

extern "C" __global__ void shared_half_pairs_8(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint2 v = ((const uint2 *)shared_bytes)[half_pairs(lane_id())];
    a.out[global_id()] = v.x ^ v.y;
}

extern "C" __global__ void shared_half_pairs_16(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint4 v = ((const uint4 *)shared_bytes)[half_pairs(lane_id())];
    a.out[global_id()] = v.x ^ v.y ^ v.z ^ v.w;
}

/* Only the lanes in p read; their elements are contiguous. */
extern "C" __global__ void shared_active_8(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint32_t x = 0;
    if (a.p >> lane_id() & 1) {
        uint2 v = ((const uint2 *)shared_bytes)[__popc(a.p & ((1u << lane_id()) - 1))];
        x = v.x ^ v.y;
    }
    a.out[global_id()] = x;
}

extern "C" __global__ void shared_active_16(const __grid_constant__ struct planted_args a)
{
    fill(a, a.n_in);
    uint32_t x = 0;
    if (a.p >> lane_id() & 1) {
        uint4 v = ((const uint4 *)shared_bytes)[__popc(a.p & ((1u << lane_id()) - 1))];
        x = v.x ^ v.y ^ v.z ^ v.w;
    }
    a.out[global_id()] = x;
}

/* One warp per block: each lane writes by the pattern and then reads the element of the next
 * lane. */
extern "C" __global__ void shared_write_4(const __grid_constant__ struct planted_args a)
{
    shared_words()[place(a.p, lane_id())] = a.in[global_id()];
    __syncwarp();
    a.out[global_id()] = shared_words()[place(a.p, lane_id() ^ 1)];
}

extern "C" __global__ void shared_write_8(const __grid_constant__ struct planted_args a)
{
    uint32_t x = a.in[global_id()];
    uint2 v = { x, ~x };
    ((uint2 *)shared_bytes)[place(a.p, lane_id())] = v;
    __syncwarp();
    v = ((const uint2 *)shared_bytes)[place(a.p, lane_id() ^ 1)];
    a.out[global_id()] = v.x * 3 + v.y;
}

extern "C" __global__ void shared_write_16(const __grid_constant__ struct planted_args a)
{
    uint32_t x = a.in[global_id()];
    uint4 v = { x, ~x, x + 1, x + 2 };
    ((uint4 *)shared_bytes)[place(a.p, lane_id())] = v;
    __syncwarp();
    v = ((const uint4 *)shared_bytes)[place(a.p, lane_id() ^ 1)];
    a.out[global_id()] = v.x * 3 + v.y * 5 + v.z * 7 + v.w;
}

/* Random reads from p words of shared memory, p a power of 2. The indices are in `in` from p on. */
extern "C" __global__ void shared_gather(const __grid_constant__ struct planted_args a)
{
    fill(a, a.p);
    a.out[global_id()] = shared_words()[a.in[a.p + global_id()] & (a.p - 1)];
}

/* 32 x 32 words; a row has p words in shared memory. */
extern "C" __global__ void transpose(const __grid_constant__ struct planted_args a)
{
    uint32_t x = lane_id(), y = threadIdx.x / 32, tile = blockIdx.x * 1024;
    for (uint32_t row = y; row < 32; row += 8)
        shared_words()[row * a.p + x] = a.in[tile + row * 32 + x];
    __syncthreads();
    for (uint32_t row = y; row < 32; row += 8)
        a.out[tile + row * 32 + x] = shared_words()[x * a.p + row];
}

/* ---- Sums over a block of 256, in three ways to halve it ----
 * Not unrolled, since a compiler would then join two loads into one. */

/* Every second, fourth, ... thread adds: the lanes of all warps diverge. */
extern "C" __global__ void reduce_modulo(const __grid_constant__ struct planted_args a)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[global_id()];
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) a.out[blockIdx.x] = s[0];
}

/* The first threads add every second, fourth, ... word: bank conflicts. */
extern "C" __global__ void reduce_interleaved(const __grid_constant__ struct planted_args a)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[global_id()];
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 1; step < 256; step *= 2) {
        uint32_t i = 2 * step * t;
        if (i < 256) s[i] += s[i + step];
        __syncthreads();
    }
    if (t == 0) a.out[blockIdx.x] = s[0];
}

/* The first threads add the first words. */
extern "C" __global__ void reduce_sequential(const __grid_constant__ struct planted_args a)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[global_id()];
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) a.out[blockIdx.x] = s[0];
}

/* ---- Atomics ---- */

extern "C" __global__ void atomics_shared(const __grid_constant__ struct planted_args a)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    atomicAdd(&s[place(a.p, lane_id())], a.in[global_id()]);
    __syncthreads();
    a.out[global_id()] = s[t];
}

/* The result is not used, so a GPU executes a reduction. */
extern "C" __global__ void atomics_global(const __grid_constant__ struct planted_args a)
{
    atomicAdd(&a.out[place(a.p, lane_id())], a.in[global_id()]);
}

/* The result is used, but has no effect. */
extern "C" __global__ void atomics_global_result(const __grid_constant__ struct planted_args a)
{
    uint32_t old = atomicOr(&a.out[place(a.p, lane_id())], a.in[global_id()] | 1);
    if (old == 2) a.out[0] = 0;
}

/* ---- Branches: paths with loops, which compilers do not convert to selections ---- */

static __device__ inline uint32_t mix(uint32_t x, uint32_t rounds)
{
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) x = (x ^ x >> 7) * 5 + i;
    return x;
}

static __device__ inline uint32_t stir(uint32_t x, uint32_t rounds)
{
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) x = (x ^ x << 9) + (x >> 3 | i);
    return x;
}

extern "C" __global__ void diverge_none(const __grid_constant__ struct planted_args a)
{
    a.out[global_id()] = mix(a.in[global_id()], a.p);
}

/* The two warps of a block take different paths. */
extern "C" __global__ void diverge_warps(const __grid_constant__ struct planted_args a)
{
    uint32_t x = a.in[global_id()];
    a.out[global_id()] = threadIdx.x < 32 ? mix(x, a.p) : stir(x, a.p);
}

extern "C" __global__ void diverge_half(const __grid_constant__ struct planted_args a)
{
    uint32_t x = a.in[global_id()];
    a.out[global_id()] = lane_id() < 16 ? mix(x, a.p) : stir(x, a.p);
}

extern "C" __global__ void diverge_nested(const __grid_constant__ struct planted_args a)
{
    uint32_t x = a.in[global_id()], lane = lane_id();
    if (lane < 16) {
        x = mix(x, a.p);
        x = lane < 8 ? mix(x, a.p + 1) : stir(x, a.p + 1);
    } else {
        x = stir(x, a.p);
        x = lane < 24 ? stir(x, a.p + 2) : mix(x, a.p + 2);
    }
    a.out[global_id()] = x;
}

/* Lane i runs i iterations, so one lane leaves per iteration. */
extern "C" __global__ void diverge_loop(const __grid_constant__ struct planted_args a)
{
    a.out[global_id()] = mix(a.in[global_id()], lane_id());
}

extern "C" __global__ void diverge_return(const __grid_constant__ struct planted_args a)
{
    if (lane_id() >= 16) return;
    a.out[global_id()] = mix(a.in[global_id()], a.p);
}

/* ---- Barriers ---- */

extern "C" __global__ void barriers(const __grid_constant__ struct planted_args a)
{
#pragma unroll 1
    for (uint32_t i = 0; i < a.p; i++) __syncthreads();
    a.out[global_id()] = a.in[global_id()];
}
