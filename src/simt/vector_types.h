/*
 * simt/vector_types.h - CUDA's vector types, with the alignment that CUDA gives them.
 *
 * Kernels rely on the alignment: an access through a vector of 16 bytes is one access, at a
 * multiple of 16. Vectors of three are aligned like their elements, and none to more than 16 bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_VECTOR_TYPES_H
#define SIMT_VECTOR_TYPES_H

/* g++ keeps a struct together with -fno-tree-sra; clang++ does so with its own vectors, which have
 * the same members. */
#ifdef __clang__
#define SIMT_VECTOR2(name, type, align) typedef type name __attribute__((ext_vector_type(2)))
#define SIMT_VECTOR4(name, type, align) typedef type name __attribute__((ext_vector_type(4)))
#else
#define SIMT_VECTOR2(name, type, align)                                                            \
    struct __align__(align) name                                                                   \
    {                                                                                              \
        type x, y;                                                                                 \
    }
#define SIMT_VECTOR4(name, type, align)                                                            \
    struct __align__(align) name                                                                   \
    {                                                                                              \
        type x, y, z, w;                                                                           \
    }
#endif

/* clang-format off */
struct char1 { signed char x; };
SIMT_VECTOR2(char2, signed char, 2);
struct char3 { signed char x, y, z; };
SIMT_VECTOR4(char4, signed char, 4);
struct uchar1 { unsigned char x; };
SIMT_VECTOR2(uchar2, unsigned char, 2);
struct uchar3 { unsigned char x, y, z; };
SIMT_VECTOR4(uchar4, unsigned char, 4);
struct short1 { short x; };
SIMT_VECTOR2(short2, short, 4);
struct short3 { short x, y, z; };
SIMT_VECTOR4(short4, short, 8);
struct ushort1 { unsigned short x; };
SIMT_VECTOR2(ushort2, unsigned short, 4);
struct ushort3 { unsigned short x, y, z; };
SIMT_VECTOR4(ushort4, unsigned short, 8);
struct int1 { int x; };
SIMT_VECTOR2(int2, int, 8);
struct int3 { int x, y, z; };
SIMT_VECTOR4(int4, int, 16);
struct uint1 { unsigned x; };
SIMT_VECTOR2(uint2, unsigned, 8);
struct uint3 { unsigned x, y, z; };
SIMT_VECTOR4(uint4, unsigned, 16);
struct long1 { long x; };
SIMT_VECTOR2(long2, long, 16);
struct long3 { long x, y, z; };
struct __align__(16) long4 { long x, y, z, w; };
struct ulong1 { unsigned long x; };
SIMT_VECTOR2(ulong2, unsigned long, 16);
struct ulong3 { unsigned long x, y, z; };
struct __align__(16) ulong4 { unsigned long x, y, z, w; };
struct longlong1 { long long x; };
SIMT_VECTOR2(longlong2, long long, 16);
struct longlong3 { long long x, y, z; };
struct __align__(16) longlong4 { long long x, y, z, w; };
struct ulonglong1 { unsigned long long x; };
SIMT_VECTOR2(ulonglong2, unsigned long long, 16);
struct ulonglong3 { unsigned long long x, y, z; };
struct __align__(16) ulonglong4 { unsigned long long x, y, z, w; };
struct float1 { float x; };
SIMT_VECTOR2(float2, float, 8);
struct float3 { float x, y, z; };
SIMT_VECTOR4(float4, float, 16);
struct double1 { double x; };
SIMT_VECTOR2(double2, double, 16);
struct double3 { double x, y, z; };
struct __align__(16) double4 { double x, y, z, w; };

static inline char1 make_char1(signed char x) { return { x }; }
static inline char2 make_char2(signed char x, signed char y) { return { x, y }; }
static inline char3 make_char3(signed char x, signed char y, signed char z) { return { x, y, z }; }
static inline char4 make_char4(signed char x, signed char y, signed char z, signed char w)
{ return { x, y, z, w }; }
static inline uchar1 make_uchar1(unsigned char x) { return { x }; }
static inline uchar2 make_uchar2(unsigned char x, unsigned char y) { return { x, y }; }
static inline uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z)
{ return { x, y, z }; }
static inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w)
{ return { x, y, z, w }; }
static inline short1 make_short1(short x) { return { x }; }
static inline short2 make_short2(short x, short y) { return { x, y }; }
static inline short3 make_short3(short x, short y, short z) { return { x, y, z }; }
static inline short4 make_short4(short x, short y, short z, short w) { return { x, y, z, w }; }
static inline ushort1 make_ushort1(unsigned short x) { return { x }; }
static inline ushort2 make_ushort2(unsigned short x, unsigned short y) { return { x, y }; }
static inline ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z)
{ return { x, y, z }; }
static inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
    unsigned short w)
{ return { x, y, z, w }; }
static inline int1 make_int1(int x) { return { x }; }
static inline int2 make_int2(int x, int y) { return { x, y }; }
static inline int3 make_int3(int x, int y, int z) { return { x, y, z }; }
static inline int4 make_int4(int x, int y, int z, int w) { return { x, y, z, w }; }
static inline uint1 make_uint1(unsigned x) { return { x }; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return { x, y }; }
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return { x, y, z }; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{ return { x, y, z, w }; }
static inline long1 make_long1(long x) { return { x }; }
static inline long2 make_long2(long x, long y) { return { x, y }; }
static inline long3 make_long3(long x, long y, long z) { return { x, y, z }; }
static inline long4 make_long4(long x, long y, long z, long w) { return { x, y, z, w }; }
static inline ulong1 make_ulong1(unsigned long x) { return { x }; }
static inline ulong2 make_ulong2(unsigned long x, unsigned long y) { return { x, y }; }
static inline ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z)
{ return { x, y, z }; }
static inline ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w)
{ return { x, y, z, w }; }
static inline longlong1 make_longlong1(long long x) { return { x }; }
static inline longlong2 make_longlong2(long long x, long long y) { return { x, y }; }
static inline longlong3 make_longlong3(long long x, long long y, long long z)
{ return { x, y, z }; }
static inline longlong4 make_longlong4(long long x, long long y, long long z, long long w)
{ return { x, y, z, w }; }
static inline ulonglong1 make_ulonglong1(unsigned long long x) { return { x }; }
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y)
{ return { x, y }; }
static inline ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y,
    unsigned long long z)
{ return { x, y, z }; }
static inline ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y,
    unsigned long long z, unsigned long long w)
{ return { x, y, z, w }; }
static inline float1 make_float1(float x) { return { x }; }
static inline float2 make_float2(float x, float y) { return { x, y }; }
static inline float3 make_float3(float x, float y, float z) { return { x, y, z }; }
static inline float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }
static inline double1 make_double1(double x) { return { x }; }
static inline double2 make_double2(double x, double y) { return { x, y }; }
static inline double3 make_double3(double x, double y, double z) { return { x, y, z }; }
static inline double4 make_double4(double x, double y, double z, double w)
{ return { x, y, z, w }; }
/* clang-format on */

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    operator uint3() const
    {
        return { x, y, z };
    }
};

#endif
