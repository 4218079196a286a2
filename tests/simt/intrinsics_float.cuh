/*
 * simt/intrinsics_float.cuh - the intrinsic functions on floats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_FLOAT_CUH
#define SIMT_INTRINSICS_FLOAT_CUH

static __device__ inline void put_casts(const struct intrinsics_args &a, float x, double xx)
{
    const uint32_t bits = __float_as_uint(x);
    const long long word = __double_as_longlong(xx);
    put(a, FLOAT_AS_INT, (uint32_t)__float_as_int(x));
    put(a, FLOAT_AS_UINT, bits);
    put_float(a, FLOAT_INT_AS, __int_as_float((int)bits));
    put_float(a, FLOAT_UINT_AS, __uint_as_float(bits));
    put(a, FLOAT_AS_LL, (uint64_t)word);
    put_double(a, FLOAT_LL_AS, __longlong_as_double(word));
    put(a, FLOAT_HIINT, (uint32_t)__double2hiint(xx));
    put(a, FLOAT_LOINT, (uint32_t)__double2loint(xx));
    put_double(a, FLOAT_HILOINT, __hiloint2double(__double2hiint(xx), __double2loint(xx)));
}

static __device__ inline void put_arithmetic(const struct intrinsics_args &a, float x, float y,
                                             float z, double xx, double yy, double zz)
{
    put_float(a, FLOAT_FADD, __fadd_rn(x, y));
    put_float(a, FLOAT_FSUB, __fsub_rn(x, y));
    put_float(a, FLOAT_FMUL, __fmul_rn(x, y));
    put_float(a, FLOAT_FDIV, __fdiv_rn(x, y));
    put_float(a, FLOAT_FMAF, __fmaf_rn(x, y, z));
    put_float(a, FLOAT_FMAF_RU, __fmaf_ru(x, y, z));
    put_float(a, FLOAT_FRCP, __frcp_rn(x));
    put_float(a, FLOAT_FSQRT, __fsqrt_rn(x));
    put_float(a, FLOAT_FRSQRT, __frsqrt_rn(x));
    put_double(a, FLOAT_DADD, __dadd_rn(xx, yy));
    put_double(a, FLOAT_DSUB, __dsub_rn(xx, yy));
    put_double(a, FLOAT_DMUL, __dmul_rn(xx, yy));
    put_double(a, FLOAT_DDIV, __ddiv_rn(xx, yy));
    put_double(a, FLOAT_DFMA, __fma_rn(xx, yy, zz));
    put_double(a, FLOAT_DRCP, __drcp_rn(xx));
    put_double(a, FLOAT_DSQRT, __dsqrt_rn(xx));
    put_float(a, FLOAT_SATURATE, __saturatef(x) + 0.0f); /* either of two zeros */
    put_float(a, FLOAT_MIN, min(x, y) + 0.0f);
    put_float(a, FLOAT_MAX, max(x, y) + 0.0f);
    put_double(a, FLOAT_MIN_D, min(xx, yy) + 0.0);
    put_double(a, FLOAT_MAX_D, max(xx, yy) + 0.0);
    put_double(a, FLOAT_MIN_FD, min(x, yy) + 0.0);
    put_double(a, FLOAT_MAX_DF, max(xx, y) + 0.0);
    put_float(a, FLOAT_FMINF, fminf(x, y) + 0.0f);
    put_float(a, FLOAT_FMAXF, fmaxf(x, y) + 0.0f);
}

static __device__ inline void put_integers(const struct intrinsics_args &a, float x, double xx)
{
    put(a, FLOAT_I_RN, (uint32_t)__float2int_rn(x));
    put(a, FLOAT_I_RZ, (uint32_t)__float2int_rz(x));
    put(a, FLOAT_I_RU, (uint32_t)__float2int_ru(x));
    put(a, FLOAT_I_RD, (uint32_t)__float2int_rd(x));
    put(a, FLOAT_U_RN, __float2uint_rn(x));
    put(a, FLOAT_U_RZ, __float2uint_rz(x));
    put(a, FLOAT_U_RU, __float2uint_ru(x));
    put(a, FLOAT_U_RD, __float2uint_rd(x));
    put(a, FLOAT_LL_RN, (uint64_t)__float2ll_rn(x));
    put(a, FLOAT_LL_RZ, (uint64_t)__float2ll_rz(x));
    put(a, FLOAT_LL_RU, (uint64_t)__float2ll_ru(x));
    put(a, FLOAT_LL_RD, (uint64_t)__float2ll_rd(x));
    put(a, FLOAT_ULL_RN, __float2ull_rn(x));
    put(a, FLOAT_ULL_RZ, __float2ull_rz(x));
    put(a, FLOAT_ULL_RU, __float2ull_ru(x));
    put(a, FLOAT_ULL_RD, __float2ull_rd(x));
    put(a, FLOAT_DI_RN, (uint32_t)__double2int_rn(xx));
    put(a, FLOAT_DI_RZ, (uint32_t)__double2int_rz(xx));
    put(a, FLOAT_DI_RU, (uint32_t)__double2int_ru(xx));
    put(a, FLOAT_DI_RD, (uint32_t)__double2int_rd(xx));
    put(a, FLOAT_DU_RN, __double2uint_rn(xx));
    put(a, FLOAT_DU_RZ, __double2uint_rz(xx));
    put(a, FLOAT_DU_RU, __double2uint_ru(xx));
    put(a, FLOAT_DU_RD, __double2uint_rd(xx));
    put(a, FLOAT_DLL_RN, (uint64_t)__double2ll_rn(xx));
    put(a, FLOAT_DLL_RZ, (uint64_t)__double2ll_rz(xx));
    put(a, FLOAT_DLL_RU, (uint64_t)__double2ll_ru(xx));
    put(a, FLOAT_DLL_RD, (uint64_t)__double2ll_rd(xx));
    put(a, FLOAT_DULL_RN, __double2ull_rn(xx));
    put(a, FLOAT_DULL_RZ, __double2ull_rz(xx));
    put(a, FLOAT_DULL_RU, __double2ull_ru(xx));
    put(a, FLOAT_DULL_RD, __double2ull_rd(xx));
}

static __device__ inline void put_floats(const struct intrinsics_args &a, uint64_t word, double xx)
{
    put_float(a, FLOAT_FROM_INT, __int2float_rn((int)word));
    put_float(a, FLOAT_FROM_UINT, __uint2float_rn((unsigned)word));
    put_float(a, FLOAT_FROM_LL, __ll2float_rn((long long)word));
    put_float(a, FLOAT_FROM_ULL, __ull2float_rn(word));
    put_double(a, FLOAT_D_FROM_INT, __int2double_rn((int)word));
    put_double(a, FLOAT_D_FROM_UINT, __uint2double_rn((unsigned)word));
    put_double(a, FLOAT_D_FROM_LL, __ll2double_rn((long long)word));
    put_double(a, FLOAT_D_FROM_ULL, __ull2double_rn(word));
    put_float(a, FLOAT_FROM_D, __double2float_rn(xx));
}

/* Whether x is the exact value within an error that no fast function exceeds in these ranges. */
static __device__ inline bool near(double x, double exact)
{
    return fabs(x - exact) <= 1e-4 * (fabs(exact) + 0.01);
}

/* x in [0, 1) */
static __device__ inline void put_fast(const struct intrinsics_args &a, float x)
{
    put(a, FLOAT_RSQRTF, near(rsqrtf(x + 1), 1 / sqrt(x + 1.0)));
    put(a, FLOAT_RSQRT, near(rsqrt(x + 1), 1 / sqrt(x + 1.0)));
    put(a, FLOAT_RSQRT_D, near(rsqrt(x + 1.0), 1 / sqrt(x + 1.0)));
    put(a, FLOAT_FDIVIDEF, near(fdividef(x, x + 1), x / (x + 1.0)));
    put(a, FLOAT_FAST_DIVIDE, near(__fdividef(x, x + 1), x / (x + 1.0)));
    put(a, FLOAT_EXPF, near(__expf(4 * x), exp(4.0 * x)));
    put(a, FLOAT_EXP10F, near(__exp10f(x), pow(10.0, x)));
    put(a, FLOAT_LOGF, near(__logf(x + 2), log(x + 2.0)));
    put(a, FLOAT_LOG2F, near(__log2f(x + 2), log2(x + 2.0)));
    put(a, FLOAT_LOG10F, near(__log10f(x + 2), log10(x + 2.0)));
    put(a, FLOAT_POWF, near(__powf(x + 1, 1.5f), pow(x + 1.0, 1.5)));
    put(a, FLOAT_SINF, near(__sinf(x), sin((double)x)));
    put(a, FLOAT_COSF, near(__cosf(x), cos((double)x)));
    put(a, FLOAT_TANF, near(__tanf(x), tan((double)x)));
}

extern "C" __global__ void __launch_bounds__(256)
    intrinsics_float(const __grid_constant__ struct intrinsics_args a)
{
    const uint32_t thread = thread_of_grid();
    const uint64_t *in = a.in + (uint64_t)thread * INTRINSICS_INPUTS;
    float f[3];
    double d[3];
    for (int i = 0; i < 3; i++) { /* any bits; in every other thread a moderate value */
        f[i] = thread & 1 ? __uint_as_float((uint32_t)in[i])
                          : __fmul_rn(__int2float_rn((int)in[i]), 1.0f / 65536);
        d[i] = thread & 1 ? __longlong_as_double((long long)in[i])
                          : __dmul_rn(__ll2double_rn((long long)in[i]), 1.0 / (1ll << 40));
        if (f[i] != f[i]) f[i] = __uint_as_float(0x7fc00000u); /* fminf() of other values differs */
        if (d[i] != d[i]) d[i] = __longlong_as_double(0x7ff8000000000000ll);
    }
    put_casts(a, f[0], d[0]);
    put_arithmetic(a, f[0], f[1], f[2], d[0], d[1], d[2]);
    put_integers(a, f[0], d[0]);
    put_floats(a, in[0], d[0]);
    put_fast(a, (float)(in[3] >> 40) * (1.0f / (1 << 24)));
}

#endif
