/*
 * simt/intrinsics_memory.cuh - atomic operations, and loads and stores with cache hints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_MEMORY_CUH
#define SIMT_INTRINSICS_MEMORY_CUH

/* Combines many words to one. */
static __device__ inline uint64_t fold(uint64_t sum, uint64_t word)
{
    return sum * 0x9e3779b97f4a7c15u + word;
}

static __device__ inline uint64_t word_of(int x)
{
    return (uint32_t)x;
}

static __device__ inline uint64_t word_of(unsigned x)
{
    return x;
}

static __device__ inline uint64_t word_of(long long x)
{
    return (uint64_t)x;
}

static __device__ inline uint64_t word_of(unsigned long long x)
{
    return x;
}

static __device__ inline uint64_t word_of(float x)
{
    return __float_as_uint(x);
}

static __device__ inline uint64_t word_of(double x)
{
    return (uint64_t)__double_as_longlong(x);
}

/* Floats are 16-bit integers, whose sums are exact. */
template <typename T> static __device__ inline T value_of(uint64_t x)
{
    return (T)((T)0.5 != 0 ? x & 0xffff : x);
}

/* ROW(slot, type, function): one operation in three scopes, on a cell of the thread. */
/* clang-format off */
#define CHANGES(ROW)                                                                               \
    ROW(ADD_I, int, atomicAdd) ROW(ADD_U, unsigned, atomicAdd)                                     \
    ROW(ADD_ULL, unsigned long long, atomicAdd)                                                    \
    ROW(ADD_F, float, atomicAdd) ROW(ADD_D, double, atomicAdd)                                     \
    ROW(SUB_I, int, atomicSub) ROW(SUB_U, unsigned, atomicSub)                                     \
    ROW(EXCH_I, int, atomicExch) ROW(EXCH_U, unsigned, atomicExch)                                 \
    ROW(EXCH_ULL, unsigned long long, atomicExch) ROW(EXCH_F, float, atomicExch)                   \
    ROW(MIN_I, int, atomicMin) ROW(MIN_U, unsigned, atomicMin)                                     \
    ROW(MIN_LL, long long, atomicMin) ROW(MIN_ULL, unsigned long long, atomicMin)                  \
    ROW(MAX_I, int, atomicMax) ROW(MAX_U, unsigned, atomicMax)                                     \
    ROW(MAX_LL, long long, atomicMax) ROW(MAX_ULL, unsigned long long, atomicMax)                  \
    ROW(AND_I, int, atomicAnd) ROW(AND_U, unsigned, atomicAnd)                                     \
    ROW(AND_ULL, unsigned long long, atomicAnd)                                                    \
    ROW(OR_I, int, atomicOr) ROW(OR_U, unsigned, atomicOr)                                         \
    ROW(OR_ULL, unsigned long long, atomicOr)                                                      \
    ROW(XOR_I, int, atomicXor) ROW(XOR_U, unsigned, atomicXor)                                     \
    ROW(XOR_ULL, unsigned long long, atomicXor)                                                    \
    ROW(INC, unsigned, atomicInc) ROW(DEC, unsigned, atomicDec)

static __device__ inline void put_changes(const struct intrinsics_args &a, const uint64_t *in,
                                          uint64_t *cell)
{
#define ROW(slot, type, change)                                                                    \
    {                                                                                              \
        type *at = (type *)cell;                                                                   \
        *at = value_of<type>(in[0]);                                                               \
        uint64_t sum = word_of(change(at, value_of<type>(in[1])));                                 \
        sum = fold(sum, word_of(change##_block(at, value_of<type>(in[2]))));                       \
        sum = fold(sum, word_of(change##_system(at, value_of<type>(in[3]))));                      \
        put(a, MEMORY_##slot, fold(sum, word_of(*at)));                                            \
    }
    CHANGES(ROW)
#undef ROW
}

#define COMPARISONS(ROW)                                                                           \
    ROW(CAS_I, int) ROW(CAS_U, unsigned) ROW(CAS_ULL, unsigned long long)

/* One compare-and-swap that fails unless two words happen to be equal, and two that succeed. */
static __device__ inline void put_comparisons(const struct intrinsics_args &a, const uint64_t *in,
                                              uint64_t *cell)
{
#define ROW(slot, type)                                                                            \
    {                                                                                              \
        type *at = (type *)cell;                                                                   \
        *at = (type)in[0];                                                                         \
        uint64_t sum = word_of(atomicCAS(at, (type)in[1], (type)in[2]));                           \
        sum = fold(sum, word_of(atomicCAS_block(at, *at, (type)in[3])));                           \
        sum = fold(sum, word_of(atomicCAS_system(at, (type)in[3], (type)in[1])));                  \
        put(a, MEMORY_##slot, fold(sum, word_of(*at)));                                            \
    }
    COMPARISONS(ROW)
#undef ROW
}
/* clang-format on */

/* Two bytes; their neighbours must not change. */
static __device__ inline void put_short(const struct intrinsics_args &a, const uint64_t *in,
                                        uint64_t *cell)
{
    unsigned short *at = (unsigned short *)cell + 1;
    *cell = in[0];
    uint64_t sum = atomicCAS(at, (unsigned short)in[1], (unsigned short)in[2]);
    sum = fold(sum, atomicCAS(at, *at, (unsigned short)in[3]));
    put(a, MEMORY_CAS_US, fold(sum, *cell));
}

static __device__ inline void put_shared(const struct intrinsics_args &a, uint64_t word)
{
    __shared__ unsigned counts[32];
    __shared__ unsigned long long most;
    if (threadIdx.x < 32) counts[threadIdx.x] = 0;
    if (threadIdx.x == 0) most = 0;
    __syncthreads(); /* the counters are zero */
    atomicAdd(&counts[word & 31], 1);
    unsigned long long seen = 0;
    while (seen < word) {
        unsigned long long old = atomicCAS(&most, seen, word);
        if (old == seen) break;
        seen = old;
    }
    __syncthreads(); /* every thread has counted */
    put(a, MEMORY_SHARED_ADD, counts[threadIdx.x & 31]);
    put(a, MEMORY_SHARED_CAS, most);
}

/* All threads of the grid update one cell, the first word of a slot. */
static __device__ inline void put_totals(const struct intrinsics_args &a, uint64_t word)
{
    uint64_t *const out = a.out;
    const uint64_t n = a.n;
    const unsigned x = (unsigned)word;
    atomicAdd((unsigned *)(out + MEMORY_TOTAL_ADD * n), x);
    atomicAdd((unsigned long long *)(out + MEMORY_TOTAL_ADD_ULL * n), (unsigned long long)word);
    atomicAdd((float *)(out + MEMORY_TOTAL_FLOAT * n), (float)(x & 15));
    atomicInc((unsigned *)(out + MEMORY_TOTAL_INC * n), 100);
    atomicDec((unsigned *)(out + MEMORY_TOTAL_DEC * n), 100);
    atomicMin((int *)(out + MEMORY_TOTAL_MIN * n), (int)x);
    atomicMax((unsigned long long *)(out + MEMORY_TOTAL_MAX * n), (unsigned long long)word);
    atomicOr((unsigned *)(out + MEMORY_TOTAL_OR * n), 1u << (x & 15));
    atomicXor((unsigned long long *)(out + MEMORY_TOTAL_XOR * n), (unsigned long long)word);
    unsigned *const count = (unsigned *)(out + MEMORY_TOTAL_CAS * n);
    for (unsigned seen = 0, old; (old = atomicCAS(count, seen, seen + 1)) != seen;) seen = old;
}

static __device__ inline void put_loads(const struct intrinsics_args &a, const uint64_t *in)
{
    const uint32_t *word = (const uint32_t *)in;
    put(a, MEMORY_LDG, __ldg(word));
    put(a, MEMORY_LDCA, __ldca(word + 1));
    put(a, MEMORY_LDCG, __ldcg(word + 2));
    put(a, MEMORY_LDCS, __ldcs(word + 3));
    put(a, MEMORY_LDLU, __ldlu(word + 4));
    put(a, MEMORY_LDCV, __ldcv(word + 5));
    put(a, MEMORY_LDG_U8, __ldg((const unsigned char *)in + 5));
    put(a, MEMORY_LDG_S16, (uint64_t)__ldg((const short *)in + 3));
    put(a, MEMORY_LDG_U64, __ldg((const unsigned long long *)in + 2));
    put(a, MEMORY_LDG_F, word_of(__ldg((const float *)in + 3)));
    put(a, MEMORY_LDG_D, word_of(__ldg((const double *)in + 3)));
    uint2 i2 = __ldg((const uint2 *)in + 1);
    put(a, MEMORY_LDG_UINT2, fold(i2.x, i2.y));
    uint4 i4 = __ldg((const uint4 *)in + 1);
    put(a, MEMORY_LDG_UINT4, fold(fold(fold(i4.x, i4.y), i4.z), i4.w));
    ushort4 s4 = __ldcs((const ushort4 *)in + 1);
    put(a, MEMORY_LDG_USHORT4, fold(fold(fold(s4.x, s4.y), s4.z), s4.w));
    uchar4 c4 = __ldcg((const uchar4 *)in + 1);
    put(a, MEMORY_LDG_UCHAR4, fold(fold(fold(c4.x, c4.y), c4.z), c4.w));
    ulonglong2 l2 = __ldca((const ulonglong2 *)in + 1);
    put(a, MEMORY_LDG_ULL2, fold(l2.x, l2.y));
    double2 d2 = __ldg((const double2 *)in + 1);
    put(a, MEMORY_LDG_DOUBLE2, fold(word_of(d2.x), word_of(d2.y)));
}

static __device__ inline void put_stores(const struct intrinsics_args &a, const uint64_t *in,
                                         uint64_t *cell)
{
    unsigned *word = (unsigned *)cell;
    __stwb(word, (unsigned)in[0]);
    __stcg(word + 1, (unsigned)in[1]);
    __stcs(word + 2, (unsigned)in[2]);
    __stwt(word + 3, (unsigned)in[3]);
    put(a, MEMORY_STWB, word[0]);
    put(a, MEMORY_STCG, word[1]);
    put(a, MEMORY_STCS, word[2]);
    put(a, MEMORY_STWT, word[3]);
    __stcs((uint4 *)cell, make_uint4(1, 2, 3, (unsigned)in[0]));
    __stcg((ulonglong2 *)cell + 1, make_ulonglong2(in[1], in[2]));
    put(a, MEMORY_STCS_UINT4, fold(fold(fold(word[0], word[1]), word[2]), word[3]));
    put(a, MEMORY_STCG_ULL2, fold(cell[2], cell[3]));
}

extern "C" __global__ void __launch_bounds__(128)
    intrinsics_memory(const __grid_constant__ struct intrinsics_args a)
{
    const uint64_t *in = a.in + (uint64_t)thread_of_grid() * INTRINSICS_INPUTS;
    uint64_t *cell = a.scratch + (uint64_t)thread_of_grid() * INTRINSICS_SCRATCH;
    put_changes(a, in, cell);
    put_comparisons(a, in, cell);
    put_short(a, in, cell);
    put_shared(a, in[0]);
    put_totals(a, in[0]);
    put_loads(a, in);
    put_stores(a, in, cell);
}

#endif
