/*
 * simt/intrinsics_place.cuh - built-in variables, keywords, vector types, shared memory, and
 * barriers that count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_PLACE_CUH
#define SIMT_INTRINSICS_PLACE_CUH

static __constant__ uint32_t place_table[4] = { 2, 3, 5, 7 };
static __device__ uint32_t place_words[2] = { 11, 13 };
extern __shared__ __align__(16) unsigned char shared_bytes[];

struct __align__(32) place_aligned
{
    char c;
};

static __host__ __device__ __forceinline__ uint64_t place_of(uint3 p)
{
    return p.x | (uint64_t)p.y << 16 | (uint64_t)p.z << 32;
}

static __device__ __noinline__ uint64_t place_table_sum(const uint32_t *__restrict__ table,
                                                        uint32_t i)
{
    return table[i & 3] + (uint64_t)place_words[i & 1];
}

static __device__ inline void put_places(const struct intrinsics_args &a)
{
    put(a, PLACE_THREAD, threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20);
    put(a, PLACE_BLOCK, blockIdx.x | blockIdx.y << 10 | blockIdx.z << 20);
    put(a, PLACE_BLOCK_DIM, blockDim.x | blockDim.y << 10 | blockDim.z << 20);
    put(a, PLACE_GRID_DIM, gridDim.x | gridDim.y << 10 | gridDim.z << 20);
    put(a, PLACE_WARP_SIZE, (uint64_t)(warpSize + (int)sizeof threadIdx.x));
    uint3 copy = threadIdx;
    dim3 block = blockDim, from = dim3(threadIdx);
    put(a, PLACE_COPIES,
        place_of(copy) + place_of(blockIdx) + (block.x ^ block.y ^ block.z) + from.z);
    dim3 none, one(5), two(5, 6), three(5, 6, 7);
    put(a, PLACE_DIM3,
        fold(fold(fold(none.x + none.y + none.z, one.x * 100 + one.y * 10 + one.z),
                  two.x * 100 + two.y * 10 + two.z),
             three.x * 100 + three.y * 10 + three.z));
}

/* clang-format off */
#define PLACE_TYPES(ROW)                                                                           \
    ROW(char) ROW(uchar) ROW(short) ROW(ushort) ROW(int) ROW(uint) ROW(long) ROW(ulong)            \
    ROW(longlong) ROW(ulonglong) ROW(float) ROW(double)
/* clang-format on */

static __device__ inline void put_types(const struct intrinsics_args &a)
{
    uint64_t size = sizeof(dim3), alignment = alignof(place_aligned);
#define ROW(type)                                                                                  \
    size = fold(fold(fold(fold(size, sizeof(type##1)), sizeof(type##2)), sizeof(type##3)),         \
                sizeof(type##4));
    PLACE_TYPES(ROW)
#undef ROW
#define ROW(type)                                                                                  \
    alignment =                                                                                    \
        fold(fold(fold(fold(alignment, alignof(type##1)), alignof(type##2)), alignof(type##3)),    \
             alignof(type##4));
    PLACE_TYPES(ROW)
#undef ROW
    put(a, PLACE_SIZES, size);
    put(a, PLACE_ALIGNMENTS, alignment);
}

static __device__ inline void put_vectors(const struct intrinsics_args &a, uint64_t x)
{
    const int i = (int)(x & 0x3f);
    char4 c4 = make_char4((char)i, 2, 3, -1);
    uchar2 c2 = make_uchar2(1, (unsigned char)i);
    short3 s3 = make_short3(1, 2, (short)-i);
    ushort4 s4 = make_ushort4((unsigned short)i, 2, 3, 4);
    put(a, PLACE_MAKE_BYTES,
        fold(fold(fold((uint64_t)(c4.x + c4.w), c2.y), (uint64_t)s3.z), (uint64_t)s4.x + s4.w));
    int2 i2 = make_int2(-i, 4);
    uint3 u3 = make_uint3(1, 2, (unsigned)i);
    long2 l2 = make_long2(i, -i);
    ulonglong4 l4 = make_ulonglong4(1, 2, 3, x);
    put(a, PLACE_MAKE_WORDS,
        fold(fold(fold((uint64_t)i2.x, u3.z), (uint64_t)l2.y), (uint64_t)l4.w));
    float1 f1 = make_float1((float)i);
    float4 f4 = make_float4(1, 2, 3, (float)-i);
    double3 d3 = make_double3(1, 2, i);
    put(a, PLACE_MAKE_FLOATS, fold(word_of(f1.x + f4.w + f4.z), word_of(d3.z)));
}

template <int THREADS> struct place_shared {
    union {
        uint64_t words[THREADS];
        struct {
            uint32_t low, high;
        } halves[THREADS];
    };
};

template <int THREADS>
static __device__ inline uint64_t exchange(uint32_t me, uint32_t other, uint64_t x)
{
    __shared__ struct place_shared<THREADS> s;
    s.words[me] = x;
    __syncthreads(); /* every word is written */
    return (uint64_t)s.halves[other].low << 32 | s.halves[other].high;
}

static __device__ inline void put_block(const struct intrinsics_args &a, uint64_t x)
{
    __shared__ uint64_t words[96];
    const uint32_t thread = thread_of_grid(), block = thread / 96, me = thread % 96;
    uint64_t *dynamic = (uint64_t *)shared_bytes;
    put(a, PLACE_COUNT, (uint64_t)__syncthreads_count((int)(x & 2)));
    put(a, PLACE_AND, __syncthreads_and(block % 3 != 0 || me != 5) != 0);
    put(a, PLACE_OR, __syncthreads_or(block % 2 != 0 && me == 95) != 0);
    words[me] = x;
    dynamic[95 - me] = x;
    __syncthreads(); /* every word is written */
    put(a, PLACE_STATIC, words[(me + 33) % 96]);
    put(a, PLACE_DYNAMIC, dynamic[(me + 33) % 96]);
    put(a, PLACE_TEMPLATE, exchange<96>(me, me ^ 1, x));
    put(a, PLACE_CONSTANT, place_table_sum(place_table, me));
}

/* Clocks, which must only not decrease, and functions without a result. */
static __device__ inline void put_clock(const struct intrinsics_args &a)
{
    const long long before = clock64();
    const clock_t early = clock();
    assert(a.n > 0);
    __builtin_assume(a.n > 0);
    if (a.n == 0) printf("%u threads\n", threadIdx.x);
    if (a.n == 0) __brkpt();
    if (a.n == 0) __trap();
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    __nanosleep(20);
    put(a, PLACE_CLOCK, clock64() >= before && sizeof(early) == sizeof(clock()));
}

extern "C" __global__ void __launch_bounds__(96, 1)
    intrinsics_place(const __grid_constant__ struct intrinsics_args a)
{
    const uint64_t x = a.in[(uint64_t)thread_of_grid() * INTRINSICS_INPUTS];
    put_places(a);
    put_types(a);
    put_vectors(a, x);
    put_block(a, x);
    put_clock(a);
    /* The result covers all threads of the barrier, even if some return before others continue. */
    const int all = __syncthreads_and(threadIdx.x != 5);
    put(a, PLACE_AND_LAST, all != 0);
}

#endif
