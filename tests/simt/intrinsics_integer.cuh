/*
 * simt/intrinsics_integer.cuh - the intrinsic functions on integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_INTEGER_CUH
#define SIMT_INTRINSICS_INTEGER_CUH

static __device__ inline void put_bits(const struct intrinsics_args &a, uint64_t xx, uint32_t x,
                                       uint32_t y, uint32_t z)
{
    put(a, INTEGER_POPC, __popc(x));
    put(a, INTEGER_POPCLL, __popcll(xx));
    put(a, INTEGER_CLZ, __clz((int)x));
    put(a, INTEGER_CLZLL, __clzll((long long)xx));
    put(a, INTEGER_FFS, __ffs((int)x));
    put(a, INTEGER_FFSLL, __ffsll((long long)xx));
    put(a, INTEGER_BREV, __brev(x));
    put(a, INTEGER_BREVLL, __brevll(xx));
    put(a, INTEGER_BYTE_PERM, __byte_perm(x, y, z & 0x7777));
    put(a, INTEGER_FUNNEL_L, __funnelshift_l(x, y, z));
    put(a, INTEGER_FUNNEL_R, __funnelshift_r(x, y, z));
    put(a, INTEGER_FUNNEL_LC, __funnelshift_lc(x, y, z));
    put(a, INTEGER_FUNNEL_RC, __funnelshift_rc(x, y, z));
}

static __device__ inline void put_products(const struct intrinsics_args &a, uint64_t xx,
                                           uint64_t yy, uint32_t x, uint32_t y, uint32_t z)
{
    put(a, INTEGER_MULHI, (uint32_t)__mulhi((int)x, (int)y));
    put(a, INTEGER_UMULHI, __umulhi(x, y));
    put(a, INTEGER_MUL64HI, (uint64_t)__mul64hi((long long)xx, (long long)yy));
    put(a, INTEGER_UMUL64HI, __umul64hi(xx, yy));
    put(a, INTEGER_MUL24, (uint32_t)__mul24((int)x, (int)y));
    put(a, INTEGER_UMUL24, __umul24(x, y));
    put(a, INTEGER_DP4A, (uint32_t)__dp4a((int)x, (int)y, (int)z));
    put(a, INTEGER_UDP4A, __dp4a(x, y, z));
    put(a, INTEGER_DP2A_LO, (uint32_t)__dp2a_lo((int)x, (int)y, (int)z));
    put(a, INTEGER_DP2A_HI, (uint32_t)__dp2a_hi((int)x, (int)y, (int)z));
    put(a, INTEGER_UDP2A_LO, __dp2a_lo(x, y, z));
    put(a, INTEGER_UDP2A_HI, __dp2a_hi(x, y, z));
}

static __device__ inline void put_sums(const struct intrinsics_args &a, uint32_t x, uint32_t y,
                                       uint32_t z)
{
    put(a, INTEGER_SAD, __sad((int)x, (int)y, z));
    put(a, INTEGER_USAD, __usad(x, y, z));
    put(a, INTEGER_HADD, (uint32_t)__hadd((int)x, (int)y));
    put(a, INTEGER_RHADD, (uint32_t)__rhadd((int)x, (int)y));
    put(a, INTEGER_UHADD, __uhadd(x, y));
    put(a, INTEGER_URHADD, __urhadd(x, y));
    put(a, INTEGER_VADD4, __vadd4(x, y));
    put(a, INTEGER_VSUB4, __vsub4(x, y));
    put(a, INTEGER_VCMPEQ4, __vcmpeq4(x, y ^ (y & 0xff00ff00u) ^ (x & 0xff00ff00u)));
    put(a, INTEGER_VMINU4, __vminu4(x, y));
    put(a, INTEGER_VMAXU4, __vmaxu4(x, y));
    put(a, INTEGER_VMAXU2, __vmaxu2(x, y));
}

static __device__ inline void put_choices(const struct intrinsics_args &a, uint64_t xx, uint64_t yy,
                                          uint32_t x, uint32_t y)
{
    const int i = (int)x, j = (int)y;
    const long long p = (long long)xx, q = (long long)yy;
    const unsigned long long u = xx, v = yy;
    put(a, INTEGER_MIN, (uint32_t)min(i, j));
    put(a, INTEGER_MAX, (uint32_t)max(i, j));
    put(a, INTEGER_MIN_U, min(x, y));
    put(a, INTEGER_MAX_U, max(x, y));
    put(a, INTEGER_MIN_IU, min(i, y));
    put(a, INTEGER_MAX_IU, max(i, y));
    put(a, INTEGER_MIN_UI, min(x, j));
    put(a, INTEGER_MAX_UI, max(x, j));
    put(a, INTEGER_MIN_LL, (uint64_t)min(p, q));
    put(a, INTEGER_MAX_LL, (uint64_t)max(p, q));
    put(a, INTEGER_MIN_ULL, min(u, v));
    put(a, INTEGER_MAX_ULL, max(u, v));
    put(a, INTEGER_MIN_LLULL, min(p, v));
    put(a, INTEGER_MAX_ULLLL, max(u, q));
    put(a, INTEGER_MIN_L, (uint64_t)min((long)p, (long)q));
    put(a, INTEGER_MAX_UL, max((unsigned long)u, (unsigned long)v));
    put(a, INTEGER_UMIN, umin(x, y));
    put(a, INTEGER_UMAX, umax(x, y));
    put(a, INTEGER_LLMIN, (uint64_t)llmin(p, q));
    put(a, INTEGER_LLMAX, (uint64_t)llmax(p, q));
    put(a, INTEGER_ULLMIN, ullmin(u, v));
    put(a, INTEGER_ULLMAX, ullmax(u, v));
    put(a, INTEGER_ABS, (uint32_t)abs(i >> 1)); /* INT_MIN has no absolute value */
    put(a, INTEGER_LLABS, (uint64_t)llabs(p >> 1));
    put(a, INTEGER_MIN_TYPE, (min(-1, 1u) == 1) + (max(-1ll, 1ull) > 1)); /* unsigned */
}

extern "C" __global__ void __launch_bounds__(256)
    intrinsics_integer(const __grid_constant__ struct intrinsics_args a)
{
    const uint64_t *in = a.in + (uint64_t)thread_of_grid() * INTRINSICS_INPUTS;
    const uint32_t x = (uint32_t)in[0], y = (uint32_t)in[1], z = (uint32_t)in[2];
    put_bits(a, in[0], x, y, z);
    put_products(a, in[0], in[1], x, y, z);
    put_sums(a, x, y, z);
    put_choices(a, in[0], in[1], x, y);
}

#endif
