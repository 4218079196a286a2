/*
 * arrange/cuda/line.cu - kernels that write an array from its first byte to its last in words of 16
 * bytes, whatever its elements are: copies between differently aligned arrays, fill, iota,
 * permutation.
 *
 * The first block writes the bytes before the first aligned word and after the last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "arrange/cuda/common.h"
#include "arrange/cuda/shuffle.cuh"
#include "cuda/device/ptx.cuh"

/* ---- Copy ---- */

/* The 16 bytes that begin `shift` bytes after the beginning of low. */
static __device__ inline uint4 realigned(uint4 low, uint4 high, uint32_t shift)
{
    uint32_t x[7] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z };
    const uint32_t last = high.w;
    if (shift & 8) {
#pragma unroll
        for (int i = 0; i < 5; i++) x[i] = x[i + 2];
        x[5] = last;
    }
    if (shift & 4) {
#pragma unroll
        for (int i = 0; i < 5; i++) x[i] = x[i + 1];
    }
    const uint32_t bits = 8 * (shift & 3);
    return make_uint4(__funnelshift_r(x[0], x[1], bits), __funnelshift_r(x[1], x[2], bits),
                      __funnelshift_r(x[2], x[3], bits), __funnelshift_r(x[3], x[4], bits));
}

/* Copies words. If source and destination are aligned differently, a word is combined from two
 * aligned words of the source. The first and the last word would then read outside the source, so
 * their bytes are copied one by one. */
static __device__ inline void copy_piece(const struct arrange_piece &p, uint32_t block,
                                         uint32_t blocks)
{
    enum { AT_ONCE = ARRANGE_LINE_WORDS };
    const unsigned char *from = (const unsigned char *)p.from;
    unsigned char *to = (unsigned char *)p.to;
    uint64_t head = (0 - (uintptr_t)to) & 15;
    const uint32_t shift = (uint32_t)((uintptr_t)(from + head) & 15);
    if (shift) head += 16;
    uint64_t words = p.bytes > head ? (p.bytes - head) / 16 : 0;
    if (shift && words) words--;
    if (!words) head = 0;
    const uint64_t tail = head + words * 16;
    const uint4 *source = (const uint4 *)(from + head - shift);
    uint4 *target = (uint4 *)(to + head);

    const uint64_t step = (uint64_t)blocks * ARRANGE_THREADS * AT_ONCE;
    uint64_t first = (uint64_t)block * ARRANGE_THREADS * AT_ONCE + threadIdx.x;
    for (; first < words; first += step) {
        uint4 low[AT_ONCE], high[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * ARRANGE_THREADS < words) {
                low[k] = __ldg(source + first + k * ARRANGE_THREADS);
                if (shift) high[k] = __ldg(source + first + k * ARRANGE_THREADS + 1);
            }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * ARRANGE_THREADS < words)
                target[first + k * ARRANGE_THREADS] =
                    shift ? realigned(low[k], high[k], shift) : low[k];
    }
    if (block) return;
    for (uint64_t j = threadIdx.x; j < head; j += ARRANGE_THREADS) to[j] = from[j];
    for (uint64_t j = tail + threadIdx.x; j < p.bytes; j += ARRANGE_THREADS) to[j] = from[j];
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_copy(const __grid_constant__ struct arrange_copy_args a)
{
    wait_for_earlier();
    if (blockIdx.x < a.blocks[0])
        copy_piece(a.pieces[0], blockIdx.x, a.blocks[0]);
    else
        copy_piece(a.pieces[1], blockIdx.x - a.blocks[0], a.blocks[1]);
}

/* ---- Fill ---- */

/* A step is a multiple of the period, so a thread always writes the same word. */
extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_fill(const __grid_constant__ struct arrange_fill_args a)
{
    wait_for_earlier();
    unsigned char *out = (unsigned char *)a.out;
    const uint32_t before = (uint32_t)(0 - (uintptr_t)out) & 15;
    const uint32_t head = before < a.bytes ? before : (uint32_t)a.bytes;
    const uint64_t words = (a.bytes - head) / 16, tail = head + words * 16;
    const uint32_t threads = gridDim.x * ARRANGE_THREADS, step = threads - threads % a.period;
    const uint32_t thread = blockIdx.x * ARRANGE_THREADS + threadIdx.x;
    if (thread < step && thread < words) {
        uint32_t part[4], at = (head + 16 * (thread % a.period)) % a.element_bytes;
#pragma unroll
        for (int w = 0; w < 4; w++) {
            part[w] = 0;
#pragma unroll
            for (int b = 0; b < 4; b++) {
                part[w] |= (uint32_t)a.element[at] << (8 * b);
                if (++at == a.element_bytes) at = 0;
            }
        }
        const uint4 word = make_uint4(part[0], part[1], part[2], part[3]);
        uint4 *target = (uint4 *)(out + head);
        for (uint64_t w = thread; w < words; w += step) target[w] = word;
    }
    if (thread < head) out[thread] = a.element[thread % a.element_bytes];
    if (thread < a.bytes - tail) out[tail + thread] = a.element[(tail + thread) % a.element_bytes];
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_put(const __grid_constant__ struct arrange_put_args a)
{
    wait_for_earlier();
    unsigned char *out = (unsigned char *)a.out;
    for (uint32_t j = threadIdx.x; j < a.bytes; j += ARRANGE_THREADS) out[j] = a.from[j];
}

/* ---- Iota: arrange/cpu/make.c explains the computation ---- */

static __device__ inline float iota_product(uint64_t i, double step)
{
    const uint64_t low_bits = ((uint64_t)1 << 29) - 1;
    if (i <= low_bits) return (float)((double)(uint32_t)i * step);
    const double high = (double)(i & ~low_bits) * step, low = (double)(i & low_bits) * step;
    double sum = high + low;
    const double error = low - (sum - high);
    const long long bits = __double_as_longlong(sum);
    if (error != 0 && sum - sum == 0 && (bits & 1) == 0)
        sum = __longlong_as_double(bits + ((error > 0) == (sum > 0) ? 1 : -1));
    return (float)sum;
}

/* The same for a step of at most 11 bits and i < 2^37: the product of the upper part is exact, so
 * only the sum is rounded. Conversions to doubles would take longer than the memory accesses. */
static __device__ inline float iota_product_short(uint64_t i, float step)
{
    const float high = (float)(uint32_t)(i >> 24) * 0x1p24f, low = (float)((uint32_t)i & 0xffffff);
    if (step - step != 0) return (high + low) * step; /* 0 * infinity would be NaN */
    return fmaf(low, step, high * step);
}

static __device__ inline uint32_t f16_bits(float x)
{
    const uint32_t u = __float_as_uint(x), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    if (rest > 0x7f800000) return 0x7e00;
    if (rest >= 0x47800000) return sign | 0x7c00;
    if (rest < 0x38800000)
        return sign | (__float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000);
    return sign | (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
}

static __device__ inline uint32_t bf16_bits(float x)
{
    const uint32_t u = __float_as_uint(x);
    return (u & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

template <int KIND>
static __device__ inline uint64_t iota_bits(const struct arrange_iota_args &a, uint64_t i)
{
    if (KIND <= ARRANGE_U64) return a.start + i * a.step; /* excess high bits are dropped */
    if (KIND == ARRANGE_F64) {
        const double x = __longlong_as_double((long long)a.start) +
                         (double)i * __longlong_as_double((long long)a.step);
        return x == x ? (uint64_t)__double_as_longlong(x) : (uint64_t)0x7ff8 << 48;
    }
    const float start = __uint_as_float((uint32_t)a.start);
    const float step = __uint_as_float((uint32_t)a.step);
    const bool narrow = KIND == ARRANGE_F16 || KIND == ARRANGE_BF16;
    const float x = start + (narrow && !(i >> 37) ? iota_product_short(i, step)
                                                  : iota_product(i, (double)step));
    if (KIND == ARRANGE_F16) return f16_bits(x);
    if (KIND == ARRANGE_BF16) return bf16_bits(x);
    return x == x ? __float_as_uint(x) : 0x7fc00000;
}

template <class T, int KIND>
static __device__ inline void make_iota(const struct arrange_iota_args &a)
{
    enum { EACH = 16 / sizeof(T), SHARE = sizeof(T) < 4 ? 4 / sizeof(T) : 1 };
    T *out = (T *)a.out;
    const uint32_t before = ((uint32_t)(0 - (uintptr_t)out) & 15) / sizeof(T);
    const uint32_t head = before < a.n ? before : (uint32_t)a.n;
    const uint64_t words = (a.n - head) / EACH, tail = head + words * EACH;
    const uint64_t step = (uint64_t)gridDim.x * ARRANGE_THREADS;
    const uint64_t thread = (uint64_t)blockIdx.x * ARRANGE_THREADS + threadIdx.x;
    uint4 *target = (uint4 *)(out + head);
    for (uint64_t w = thread; w < words; w += step) {
        const uint64_t first = head + w * EACH;
        uint32_t part[4] = { 0, 0, 0, 0 };
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const uint64_t bits = iota_bits<KIND>(a, first + j);
            if (sizeof(T) == 8) {
                part[2 * j % 4] = (uint32_t)bits;
                part[(2 * j + 1) % 4] = (uint32_t)(bits >> 32);
            } else {
                part[j / SHARE] |= (uint32_t)(T)bits << (j % SHARE * 8 * sizeof(T) % 32);
            }
        }
        target[w] = make_uint4(part[0], part[1], part[2], part[3]);
    }
    if (thread < head) out[thread] = (T)iota_bits<KIND>(a, thread);
    if (thread < a.n - tail) out[tail + thread] = (T)iota_bits<KIND>(a, tail + thread);
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_iota(const __grid_constant__ struct arrange_iota_args a)
{
    wait_for_earlier();
    switch (a.kind) {
    case ARRANGE_U8:
        make_iota<uint8_t, ARRANGE_U8>(a);
        break;
    case ARRANGE_U16:
        make_iota<uint16_t, ARRANGE_U16>(a);
        break;
    case ARRANGE_U32:
        make_iota<uint32_t, ARRANGE_U32>(a);
        break;
    case ARRANGE_U64:
        make_iota<uint64_t, ARRANGE_U64>(a);
        break;
    case ARRANGE_F16:
        make_iota<uint16_t, ARRANGE_F16>(a);
        break;
    case ARRANGE_BF16:
        make_iota<uint16_t, ARRANGE_BF16>(a);
        break;
    case ARRANGE_F32:
        make_iota<uint32_t, ARRANGE_F32>(a);
        break;
    default:
        make_iota<uint64_t, ARRANGE_F64>(a);
        break;
    }
}

/* ---- Permutation ---- */

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_permutation(const __grid_constant__ struct arrange_permutation_args a)
{
    wait_for_earlier();
    const uint64_t step = (uint64_t)gridDim.x * ARRANGE_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * ARRANGE_THREADS + threadIdx.x; i < a.n; i += step) {
        const uint64_t from = shuffle_at(a.map, a.first + i);
        if (a.bytes == 4)
            ((uint32_t *)a.out)[i] = (uint32_t)from;
        else
            ((uint64_t *)a.out)[i] = from;
    }
}

/* ---- Indices of another width ---- */

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_convert(const __grid_constant__ struct arrange_convert_args a)
{
    wait_for_earlier();
    const uint64_t step = (uint64_t)gridDim.x * ARRANGE_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * ARRANGE_THREADS + threadIdx.x; i < a.n; i += step) {
        if (a.narrow) {
            const uint64_t u = ((const uint64_t *)a.in)[i];
            ((uint32_t *)a.out)[i] = u < UINT32_MAX ? (uint32_t)u : UINT32_MAX;
        } else {
            ((uint64_t *)a.out)[i] = ((const uint32_t *)a.in)[i];
        }
    }
}
