/*
 * simt/intrinsics_warp.cuh - shuffles, votes, matches and reductions of a warp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_WARP_CUH
#define SIMT_INTRINSICS_WARP_CUH

#define ALL_LANES 0xffffffffu

/* Shuffles x by `by` lanes. */
static __device__ inline void put_shuffles(const struct intrinsics_args &a, uint64_t x, int by)
{
    const int i = (int)x;
    const unsigned u = (unsigned)x;
    const long l = (long)x;
    const unsigned long ul = (unsigned long)x;
    const long long ll = (long long)x;
    const unsigned long long ull = (unsigned long long)x;
    const float f = __uint_as_float((unsigned)x);
    const double d = __longlong_as_double((long long)x);
    put(a, WARP_IDX_INT, (uint32_t)__shfl_sync(ALL_LANES, i, by));
    put(a, WARP_IDX_UINT, __shfl_sync(ALL_LANES, u, by));
    put(a, WARP_IDX_LONG, (uint64_t)__shfl_sync(ALL_LANES, l, by));
    put(a, WARP_IDX_ULONG, __shfl_sync(ALL_LANES, ul, by));
    put(a, WARP_IDX_LL, (uint64_t)__shfl_sync(ALL_LANES, ll, by));
    put(a, WARP_IDX_ULL, __shfl_sync(ALL_LANES, ull, by));
    put(a, WARP_IDX_FLOAT, __float_as_uint(__shfl_sync(ALL_LANES, f, by)));
    put(a, WARP_IDX_DOUBLE, (uint64_t)__double_as_longlong(__shfl_sync(ALL_LANES, d, by)));
    put(a, WARP_UP_INT, (uint32_t)__shfl_up_sync(ALL_LANES, i, (unsigned)by));
    put(a, WARP_UP_UINT, __shfl_up_sync(ALL_LANES, u, (unsigned)by));
    put(a, WARP_UP_LONG, (uint64_t)__shfl_up_sync(ALL_LANES, l, (unsigned)by));
    put(a, WARP_UP_ULONG, __shfl_up_sync(ALL_LANES, ul, (unsigned)by));
    put(a, WARP_UP_LL, (uint64_t)__shfl_up_sync(ALL_LANES, ll, (unsigned)by));
    put(a, WARP_UP_ULL, __shfl_up_sync(ALL_LANES, ull, (unsigned)by));
    put(a, WARP_UP_FLOAT, __float_as_uint(__shfl_up_sync(ALL_LANES, f, (unsigned)by)));
    put(a, WARP_UP_DOUBLE,
        (uint64_t)__double_as_longlong(__shfl_up_sync(ALL_LANES, d, (unsigned)by)));
    put(a, WARP_DOWN_INT, (uint32_t)__shfl_down_sync(ALL_LANES, i, (unsigned)by));
    put(a, WARP_DOWN_UINT, __shfl_down_sync(ALL_LANES, u, (unsigned)by));
    put(a, WARP_DOWN_LONG, (uint64_t)__shfl_down_sync(ALL_LANES, l, (unsigned)by));
    put(a, WARP_DOWN_ULONG, __shfl_down_sync(ALL_LANES, ul, (unsigned)by));
    put(a, WARP_DOWN_LL, (uint64_t)__shfl_down_sync(ALL_LANES, ll, (unsigned)by));
    put(a, WARP_DOWN_ULL, __shfl_down_sync(ALL_LANES, ull, (unsigned)by));
    put(a, WARP_DOWN_FLOAT, __float_as_uint(__shfl_down_sync(ALL_LANES, f, (unsigned)by)));
    put(a, WARP_DOWN_DOUBLE,
        (uint64_t)__double_as_longlong(__shfl_down_sync(ALL_LANES, d, (unsigned)by)));
    put(a, WARP_XOR_INT, (uint32_t)__shfl_xor_sync(ALL_LANES, i, by));
    put(a, WARP_XOR_UINT, __shfl_xor_sync(ALL_LANES, u, by));
    put(a, WARP_XOR_LONG, (uint64_t)__shfl_xor_sync(ALL_LANES, l, by));
    put(a, WARP_XOR_ULONG, __shfl_xor_sync(ALL_LANES, ul, by));
    put(a, WARP_XOR_LL, (uint64_t)__shfl_xor_sync(ALL_LANES, ll, by));
    put(a, WARP_XOR_ULL, __shfl_xor_sync(ALL_LANES, ull, by));
    put(a, WARP_XOR_FLOAT, __float_as_uint(__shfl_xor_sync(ALL_LANES, f, by)));
    put(a, WARP_XOR_DOUBLE, (uint64_t)__double_as_longlong(__shfl_xor_sync(ALL_LANES, d, by)));
}

/* Shuffles within segments. */
static __device__ inline void put_segments(const struct intrinsics_args &a, uint64_t word, int by)
{
    const unsigned x = (unsigned)word;
    put(a, WARP_IDX_W16, __shfl_sync(ALL_LANES, x, by, 16));
    put(a, WARP_IDX_W8, __shfl_sync(ALL_LANES, x, by, 8));
    put(a, WARP_IDX_W4, __shfl_sync(ALL_LANES, x, by, 4));
    put(a, WARP_IDX_W2, __shfl_sync(ALL_LANES, x, by, 2));
    put(a, WARP_IDX_W1, __shfl_sync(ALL_LANES, x, by, 1));
    put(a, WARP_UP_W16, __shfl_up_sync(ALL_LANES, x, (unsigned)by, 16));
    put(a, WARP_UP_W8, __shfl_up_sync(ALL_LANES, x, (unsigned)by, 8));
    put(a, WARP_UP_W4, __shfl_up_sync(ALL_LANES, x, (unsigned)by, 4));
    put(a, WARP_UP_W2, __shfl_up_sync(ALL_LANES, x, (unsigned)by, 2));
    put(a, WARP_UP_W1, __shfl_up_sync(ALL_LANES, x, (unsigned)by, 1));
    put(a, WARP_DOWN_W16, __shfl_down_sync(ALL_LANES, x, (unsigned)by, 16));
    put(a, WARP_DOWN_W8, __shfl_down_sync(ALL_LANES, x, (unsigned)by, 8));
    put(a, WARP_DOWN_W4, __shfl_down_sync(ALL_LANES, x, (unsigned)by, 4));
    put(a, WARP_DOWN_W2, __shfl_down_sync(ALL_LANES, x, (unsigned)by, 2));
    put(a, WARP_DOWN_W1, __shfl_down_sync(ALL_LANES, x, (unsigned)by, 1));
    put(a, WARP_XOR_W16, __shfl_xor_sync(ALL_LANES, x, by, 16));
    put(a, WARP_XOR_W8, __shfl_xor_sync(ALL_LANES, x, by, 8));
    put(a, WARP_XOR_W4, __shfl_xor_sync(ALL_LANES, x, by, 4));
    put(a, WARP_XOR_W2, __shfl_xor_sync(ALL_LANES, x, by, 2));
    put(a, WARP_XOR_W1, __shfl_xor_sync(ALL_LANES, x, by, 1));
}

/* Subsets of lanes; two groups at a time. */
static __device__ inline void put_partial(const struct intrinsics_args &a, uint64_t word, int by)
{
    const unsigned x = (unsigned)word;
    const unsigned lane = thread_of_grid() & 31;
    if (lane < 16)
        put(a, WARP_HALVES, __shfl_sync(0x0000ffffu, x, by & 15));
    else
        put(a, WARP_HALVES, __shfl_xor_sync(0xffff0000u, x, by & 15));
    __syncwarp();
    if (WARP_SOME >> lane & 1) {
        put(a, WARP_SOME_BALLOT, __ballot_sync(WARP_SOME, (int)(x & 2)));
        put(a, WARP_SOME_IDX, __shfl_sync(WARP_SOME, x, 31));
        put(a, WARP_SOME_ADD, __reduce_add_sync(WARP_SOME, x));
        put(a, WARP_SOME_MATCH, __match_any_sync(WARP_SOME, x & 1));
        __syncwarp(WARP_SOME);
    }
    __syncwarp(ALL_LANES);
}

static __device__ inline void put_votes(const struct intrinsics_args &a, uint64_t x)
{
    put(a, WARP_BALLOT, __ballot_sync(ALL_LANES, (int)(x & 4)));
    put(a, WARP_ANY, (uint32_t)__any_sync(ALL_LANES, (x & 31) == 7));
    put(a, WARP_ALL, (uint32_t)__all_sync(ALL_LANES, (x & 31) != 7));
    put(a, WARP_ALL_TRUE, (uint32_t)__all_sync(ALL_LANES, 4));
    put(a, WARP_ANY_FALSE, (uint32_t)__any_sync(ALL_LANES, 0));
    put(a, WARP_ACTIVE, __activemask() >> (thread_of_grid() & 31) & 1);
}

/* Few distinct values, so that lanes match; for floats with two zeros and NaN. */
static __device__ inline float few_floats(uint64_t x)
{
    return __uint_as_float((x & 3) == 0   ? 0
                           : (x & 3) == 1 ? 0x80000000u
                           : (x & 3) == 2 ? 0x3f800000u
                                          : 0x7fc00000u);
}

static __device__ inline void put_matches(const struct intrinsics_args &a, uint64_t x,
                                          uint64_t same)
{
    const float f = few_floats(x);
    const double d = __hiloint2double(__float_as_int(f), 0);
    int pred;
    put(a, WARP_ANY_UINT, __match_any_sync(ALL_LANES, (unsigned)(x & 3)));
    put(a, WARP_ANY_INT, __match_any_sync(ALL_LANES, (int)(x & 7) - 4));
    put(a, WARP_ANY_LONG, __match_any_sync(ALL_LANES, (long)(x & 3) << 32));
    put(a, WARP_ANY_ULONG, __match_any_sync(ALL_LANES, (unsigned long)(x & 3) << 40));
    put(a, WARP_ANY_LL, __match_any_sync(ALL_LANES, (long long)(x & 3) << 32));
    put(a, WARP_ANY_ULL, __match_any_sync(ALL_LANES, (unsigned long long)(x & 3) << 62));
    put(a, WARP_ANY_FLOAT, __match_any_sync(ALL_LANES, f));
    put(a, WARP_ANY_DOUBLE, __match_any_sync(ALL_LANES, d));
    put(a, WARP_ALL_SAME, __match_all_sync(ALL_LANES, (unsigned)same, &pred));
    put(a, WARP_ALL_SAME_PRED, (uint32_t)pred);
    put(a, WARP_ALL_NOT, __match_all_sync(ALL_LANES, (int)(x & 7), &pred));
    put(a, WARP_ALL_NOT_PRED, (uint32_t)pred);
    put(a, WARP_ALL_ULL, __match_all_sync(ALL_LANES, (unsigned long long)same << 32, &pred));
    put(a, WARP_ALL_FLOAT, __match_all_sync(ALL_LANES, few_floats(same), &pred));
    put(a, WARP_ALL_DOUBLE, __match_all_sync(ALL_LANES, (double)same, &pred));
}

static __device__ inline void put_reductions(const struct intrinsics_args &a, uint64_t word)
{
    const unsigned x = (unsigned)word;
    put(a, WARP_ADD_U, __reduce_add_sync(ALL_LANES, x));
    put(a, WARP_ADD_I, (uint32_t)__reduce_add_sync(ALL_LANES, (int)x));
    put(a, WARP_MIN_U, __reduce_min_sync(ALL_LANES, x | 1u << 20));
    put(a, WARP_MIN_I, (uint32_t)__reduce_min_sync(ALL_LANES, (int)x));
    put(a, WARP_MAX_U, __reduce_max_sync(ALL_LANES, x));
    put(a, WARP_MAX_I, (uint32_t)__reduce_max_sync(ALL_LANES, (int)x));
    put(a, WARP_AND, __reduce_and_sync(ALL_LANES, x | 0x0f0f0f0fu));
    put(a, WARP_OR, __reduce_or_sync(ALL_LANES, x & 0x11111111u));
    put(a, WARP_XOR, __reduce_xor_sync(ALL_LANES, x));
}

extern "C" __global__ void __launch_bounds__(96)
    intrinsics_warp(const __grid_constant__ struct intrinsics_args a)
{
    const uint32_t thread = thread_of_grid();
    const uint64_t *in = a.in + (uint64_t)thread * INTRINSICS_INPUTS;
    const int by = (int)(in[1] & 127) - 32; /* the instructions use five bits of it */
    put_shuffles(a, in[0], by);
    put_segments(a, in[0], by);
    put_partial(a, in[0], by);
    put_votes(a, in[0]);
    /* In every other warp all lanes have the same value. */
    put_matches(a, in[0], thread / 32 & 1 ? 5 : in[2] & 1);
    put_reductions(a, in[3]);
}

#endif
