/*
 * simt/device_float.h - CUDA's intrinsic functions on floats.
 *
 * Operations that are correctly rounded on a GPU are correctly rounded here. The fast functions,
 * __expf() etc., use the C library: they are more accurate than on a GPU, so the last bits may
 * differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DEVICE_FLOAT_H
#define SIMT_DEVICE_FLOAT_H

#include <cfenv>
#include <limits>

/* ---- Bits ---- */

/* clang-format off */
static __forceinline__ int __float_as_int(float x) { return simt_value<int>(simt_bits(x)); }
static __forceinline__ unsigned __float_as_uint(float x)
{ return simt_value<unsigned>(simt_bits(x)); }
static __forceinline__ float __int_as_float(int x) { return simt_value<float>(simt_bits(x)); }
static __forceinline__ float __uint_as_float(unsigned x) { return simt_value<float>(simt_bits(x)); }
static __forceinline__ long long __double_as_longlong(double x)
{ return simt_value<long long>(simt_bits(x)); }
static __forceinline__ double __longlong_as_double(long long x)
{ return simt_value<double>(simt_bits(x)); }
static __forceinline__ int __double2hiint(double x) { return (int)(simt_bits(x) >> 32); }
static __forceinline__ int __double2loint(double x) { return (int)(unsigned)simt_bits(x); }
static __forceinline__ double __hiloint2double(int high, int low)
{ return simt_value<double>((uint64_t)(unsigned)high << 32 | (unsigned)low); }
/* clang-format on */

/* ---- Arithmetic that the compiler does not contract; rounded to nearest ---- */

/* clang-format off */
static __forceinline__ float __fadd_rn(float x, float y) { return x + y; }
static __forceinline__ float __fsub_rn(float x, float y) { return x - y; }
static __forceinline__ float __fmul_rn(float x, float y) { return x * y; }
static __forceinline__ float __fdiv_rn(float x, float y) { return x / y; }
static __forceinline__ float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static __forceinline__ float __frcp_rn(float x) { return 1 / x; }
static __forceinline__ float __fsqrt_rn(float x) { return sqrtf(x); }
static __forceinline__ float __frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
static __forceinline__ double __dadd_rn(double x, double y) { return x + y; }
static __forceinline__ double __dsub_rn(double x, double y) { return x - y; }
static __forceinline__ double __dmul_rn(double x, double y) { return x * y; }
static __forceinline__ double __ddiv_rn(double x, double y) { return x / y; }
static __forceinline__ double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static __forceinline__ double __drcp_rn(double x) { return 1 / x; }
static __forceinline__ double __dsqrt_rn(double x) { return sqrt(x); }
static __forceinline__ float __saturatef(float x) { return fminf(fmaxf(x, 0), 1); }
/* clang-format on */

/* ... rounded up: the rounding mode is set between the volatile read and write. */
static inline float __fmaf_ru(float x, float y, float z)
{
    const int mode = fegetround();
    volatile float kept = x;
    fesetround(FE_UPWARD);
    const volatile float result = fmaf(kept, y, z);
    fesetround(mode);
    return result;
}

/* ---- Functions that C does not have, or has under another name ---- */

/* clang-format off */
static __forceinline__ float rsqrtf(float x) { return __frsqrt_rn(x); }
static __forceinline__ float rsqrt(float x) { return __frsqrt_rn(x); }
static __forceinline__ double rsqrt(double x) { return 1 / sqrt(x); }
static __forceinline__ float fdividef(float x, float y) { return x / y; }
static __forceinline__ float __fdividef(float x, float y) { return x / y; }
static __forceinline__ float min(float x, float y) { return fminf(x, y); }
static __forceinline__ float max(float x, float y) { return fmaxf(x, y); }
static __forceinline__ double min(double x, double y) { return fmin(x, y); }
static __forceinline__ double max(double x, double y) { return fmax(x, y); }
static __forceinline__ double min(float x, double y) { return fmin(x, y); }
static __forceinline__ double max(float x, double y) { return fmax(x, y); }
static __forceinline__ double min(double x, float y) { return fmin(x, y); }
static __forceinline__ double max(double x, float y) { return fmax(x, y); }
/* clang-format on */

/* The C library declares functions of these names. */
#define __expf   expf
#define __exp10f exp10f
#define __logf   logf
#define __log2f  log2f
#define __log10f log10f
#define __powf   powf
#define __sinf   sinf
#define __cosf   cosf
#define __tanf   tanf

/* ---- Conversions: to nearest, toward zero, up, down ---- */

/* Values outside the range of an integer are clamped; NaN becomes `none`. */
template <typename T> static inline T simt_to_integer(double whole, T none)
{
    const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    if (whole != whole) return none;
    if (whole >= (double)most) return most; /* for 64 bits, the double is most + 1 */
    if (whole <= (double)least) return least;
    return (T)whole;
}

/* PTX, cvt: NaN becomes 0 if both types have 32 bits, otherwise the integer's top bit. */
/* clang-format off */
static __forceinline__ int __float2int_rn(float x)
{ return simt_to_integer<int>(nearbyint(x), 0); }
static __forceinline__ int __float2int_rz(float x)
{ return simt_to_integer<int>(trunc(x), 0); }
static __forceinline__ int __float2int_ru(float x)
{ return simt_to_integer<int>(ceil(x), 0); }
static __forceinline__ int __float2int_rd(float x)
{ return simt_to_integer<int>(floor(x), 0); }
static __forceinline__ unsigned __float2uint_rn(float x)
{ return simt_to_integer<unsigned>(nearbyint(x), 0); }
static __forceinline__ unsigned __float2uint_rz(float x)
{ return simt_to_integer<unsigned>(trunc(x), 0); }
static __forceinline__ unsigned __float2uint_ru(float x)
{ return simt_to_integer<unsigned>(ceil(x), 0); }
static __forceinline__ unsigned __float2uint_rd(float x)
{ return simt_to_integer<unsigned>(floor(x), 0); }
static __forceinline__ long long __float2ll_rn(float x)
{ return simt_to_integer<long long>(nearbyint(x), LLONG_MIN); }
static __forceinline__ long long __float2ll_rz(float x)
{ return simt_to_integer<long long>(trunc(x), LLONG_MIN); }
static __forceinline__ long long __float2ll_ru(float x)
{ return simt_to_integer<long long>(ceil(x), LLONG_MIN); }
static __forceinline__ long long __float2ll_rd(float x)
{ return simt_to_integer<long long>(floor(x), LLONG_MIN); }
static __forceinline__ unsigned long long __float2ull_rn(float x)
{ return simt_to_integer<unsigned long long>(nearbyint(x), 1ull << 63); }
static __forceinline__ unsigned long long __float2ull_rz(float x)
{ return simt_to_integer<unsigned long long>(trunc(x), 1ull << 63); }
static __forceinline__ unsigned long long __float2ull_ru(float x)
{ return simt_to_integer<unsigned long long>(ceil(x), 1ull << 63); }
static __forceinline__ unsigned long long __float2ull_rd(float x)
{ return simt_to_integer<unsigned long long>(floor(x), 1ull << 63); }
static __forceinline__ int __double2int_rn(double x)
{ return simt_to_integer<int>(nearbyint(x), INT_MIN); }
static __forceinline__ int __double2int_rz(double x)
{ return simt_to_integer<int>(trunc(x), INT_MIN); }
static __forceinline__ int __double2int_ru(double x)
{ return simt_to_integer<int>(ceil(x), INT_MIN); }
static __forceinline__ int __double2int_rd(double x)
{ return simt_to_integer<int>(floor(x), INT_MIN); }
static __forceinline__ unsigned __double2uint_rn(double x)
{ return simt_to_integer<unsigned>(nearbyint(x), 0x80000000u); }
static __forceinline__ unsigned __double2uint_rz(double x)
{ return simt_to_integer<unsigned>(trunc(x), 0x80000000u); }
static __forceinline__ unsigned __double2uint_ru(double x)
{ return simt_to_integer<unsigned>(ceil(x), 0x80000000u); }
static __forceinline__ unsigned __double2uint_rd(double x)
{ return simt_to_integer<unsigned>(floor(x), 0x80000000u); }
static __forceinline__ long long __double2ll_rn(double x)
{ return simt_to_integer<long long>(nearbyint(x), LLONG_MIN); }
static __forceinline__ long long __double2ll_rz(double x)
{ return simt_to_integer<long long>(trunc(x), LLONG_MIN); }
static __forceinline__ long long __double2ll_ru(double x)
{ return simt_to_integer<long long>(ceil(x), LLONG_MIN); }
static __forceinline__ long long __double2ll_rd(double x)
{ return simt_to_integer<long long>(floor(x), LLONG_MIN); }
static __forceinline__ unsigned long long __double2ull_rn(double x)
{ return simt_to_integer<unsigned long long>(nearbyint(x), 1ull << 63); }
static __forceinline__ unsigned long long __double2ull_rz(double x)
{ return simt_to_integer<unsigned long long>(trunc(x), 1ull << 63); }
static __forceinline__ unsigned long long __double2ull_ru(double x)
{ return simt_to_integer<unsigned long long>(ceil(x), 1ull << 63); }
static __forceinline__ unsigned long long __double2ull_rd(double x)
{ return simt_to_integer<unsigned long long>(floor(x), 1ull << 63); }
static __forceinline__ float __int2float_rn(int x) { return (float)x; }
static __forceinline__ double __int2double_rn(int x) { return (double)x; }
static __forceinline__ float __uint2float_rn(unsigned x) { return (float)x; }
static __forceinline__ double __uint2double_rn(unsigned x) { return (double)x; }
static __forceinline__ float __ll2float_rn(long long x) { return (float)x; }
static __forceinline__ double __ll2double_rn(long long x) { return (double)x; }
static __forceinline__ float __ull2float_rn(unsigned long long x) { return (float)x; }
static __forceinline__ double __ull2double_rn(unsigned long long x) { return (double)x; }
static __forceinline__ float __double2float_rn(double x) { return (float)x; }
/* clang-format on */

#endif
