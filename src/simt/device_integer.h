/*
 * simt/device_integer.h - CUDA's intrinsic functions on integers, and min() and max().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DEVICE_INTEGER_H
#define SIMT_DEVICE_INTEGER_H

/* ---- Bits ---- */

static __forceinline__ int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static __forceinline__ int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static __forceinline__ int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}

static __forceinline__ int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

static __forceinline__ int __ffs(int x)
{
    return __builtin_ffs(x);
}

static __forceinline__ int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

static inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

static inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/* Byte i of the result is the byte of y:x that the i-th hexadecimal digit of s selects. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) result |= (unsigned)(bytes >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

/* The upper or lower word of high:low, shifted; the shift is modulo 32, or clamped to 32. */
static __forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}

static __forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

static __forceinline__ unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}

static __forceinline__ unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}

/* ---- Products ---- */

static __forceinline__ int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}

static __forceinline__ unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}

static __forceinline__ long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}

static __forceinline__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}

static __forceinline__ int __mul24(int x, int y)
{
    long long x24 = (int)((unsigned)x << 8) >> 8, y24 = (int)((unsigned)y << 8) >> 8;
    return (int)(x24 * y24);
}

static __forceinline__ unsigned __umul24(unsigned x, unsigned y)
{
    return (x & 0xffffffu) * (y & 0xffffffu);
}

/* c plus the products of the bytes of a and b, signed or unsigned. */
static inline int __dp4a(int a, int b, int c)
{
    unsigned sum = (unsigned)c;
    for (int i = 0; i < 32; i += 8)
        sum += (unsigned)((signed char)(a >> i) * (signed char)(b >> i));
    return (int)sum;
}

static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}

/* ... of the 16-bit halves of a and the lower or upper two bytes of b. */
static inline int __dp2a_lo(int a, int b, int c)
{
    unsigned sum = (unsigned)c;
    sum += (unsigned)((short)a * (signed char)b);
    sum += (unsigned)((short)(a >> 16) * (signed char)(b >> 8));
    return (int)sum;
}

static inline int __dp2a_hi(int a, int b, int c)
{
    return __dp2a_lo(a, b >> 16, c);
}

static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
{
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}

static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c)
{
    return __dp2a_lo(a, b >> 16, c);
}

/* ---- Differences and means, without intermediate overflow ---- */

static __forceinline__ unsigned __sad(int x, int y, unsigned z)
{
    return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}

static __forceinline__ unsigned __usad(unsigned x, unsigned y, unsigned z)
{
    return z + (x > y ? x - y : y - x);
}

static __forceinline__ int __hadd(int x, int y)
{
    return (int)(((long long)x + y) >> 1);
}

static __forceinline__ int __rhadd(int x, int y)
{
    return (int)(((long long)x + y + 1) >> 1);
}

static __forceinline__ unsigned __uhadd(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x + y) >> 1);
}

static __forceinline__ unsigned __urhadd(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x + y + 1) >> 1);
}

/* ---- Four bytes at a time ---- */

static __forceinline__ unsigned __vadd4(unsigned x, unsigned y)
{
    const unsigned top = 0x80808080u;
    return ((x & ~top) + (y & ~top)) ^ ((x ^ y) & top);
}

static __forceinline__ unsigned __vsub4(unsigned x, unsigned y)
{
    const unsigned top = 0x80808080u;
    return ((x | top) - (y & ~top)) ^ ((x ^ ~y) & top);
}

static inline unsigned __vcmpeq4(unsigned x, unsigned y)
{
    unsigned result = 0;
    for (unsigned byte = 0xff; byte; byte <<= 8)
        if (((x ^ y) & byte) == 0) result |= byte;
    return result;
}

static inline unsigned __vminu4(unsigned x, unsigned y)
{
    unsigned result = 0;
    for (unsigned byte = 0xff; byte; byte <<= 8)
        result |= (x & byte) < (y & byte) ? x & byte : y & byte;
    return result;
}

static inline unsigned __vmaxu4(unsigned x, unsigned y)
{
    unsigned result = 0;
    for (unsigned byte = 0xff; byte; byte <<= 8)
        result |= (x & byte) > (y & byte) ? x & byte : y & byte;
    return result;
}

/* ---- Two 16-bit halves at a time ---- */

static inline unsigned __vmaxu2(unsigned x, unsigned y)
{
    unsigned low = (x & 0xffffu) > (y & 0xffffu) ? x & 0xffffu : y & 0xffffu;
    return (x >> 16 > y >> 16 ? x >> 16 : y >> 16) << 16 | low;
}

/* ---- min and max: of the wider type, and unsigned if either is ---- */

/* clang-format off */
static __forceinline__ int min(int x, int y)
{ return x < y ? x : y; }
static __forceinline__ unsigned min(unsigned x, unsigned y)
{ return x < y ? x : y; }
static __forceinline__ unsigned min(int x, unsigned y)
{ return (unsigned)x < y ? (unsigned)x : y; }
static __forceinline__ unsigned min(unsigned x, int y)
{ return x < (unsigned)y ? x : (unsigned)y; }
static __forceinline__ long min(long x, long y)
{ return x < y ? x : y; }
static __forceinline__ unsigned long min(unsigned long x, unsigned long y)
{ return x < y ? x : y; }
static __forceinline__ unsigned long min(long x, unsigned long y)
{ return (unsigned long)x < y ? (unsigned long)x : y; }
static __forceinline__ unsigned long min(unsigned long x, long y)
{ return x < (unsigned long)y ? x : (unsigned long)y; }
static __forceinline__ long long min(long long x, long long y)
{ return x < y ? x : y; }
static __forceinline__ unsigned long long min(unsigned long long x, unsigned long long y)
{ return x < y ? x : y; }
static __forceinline__ unsigned long long min(long long x, unsigned long long y)
{ return (unsigned long long)x < y ? (unsigned long long)x : y; }
static __forceinline__ unsigned long long min(unsigned long long x, long long y)
{ return x < (unsigned long long)y ? x : (unsigned long long)y; }
static __forceinline__ int max(int x, int y)
{ return x > y ? x : y; }
static __forceinline__ unsigned max(unsigned x, unsigned y)
{ return x > y ? x : y; }
static __forceinline__ unsigned max(int x, unsigned y)
{ return (unsigned)x > y ? (unsigned)x : y; }
static __forceinline__ unsigned max(unsigned x, int y)
{ return x > (unsigned)y ? x : (unsigned)y; }
static __forceinline__ long max(long x, long y)
{ return x > y ? x : y; }
static __forceinline__ unsigned long max(unsigned long x, unsigned long y)
{ return x > y ? x : y; }
static __forceinline__ unsigned long max(long x, unsigned long y)
{ return (unsigned long)x > y ? (unsigned long)x : y; }
static __forceinline__ unsigned long max(unsigned long x, long y)
{ return x > (unsigned long)y ? x : (unsigned long)y; }
static __forceinline__ long long max(long long x, long long y)
{ return x > y ? x : y; }
static __forceinline__ unsigned long long max(unsigned long long x, unsigned long long y)
{ return x > y ? x : y; }
static __forceinline__ unsigned long long max(long long x, unsigned long long y)
{ return (unsigned long long)x > y ? (unsigned long long)x : y; }
static __forceinline__ unsigned long long max(unsigned long long x, long long y)
{ return x > (unsigned long long)y ? x : (unsigned long long)y; }
static __forceinline__ unsigned umin(unsigned x, unsigned y) { return min(x, y); }
static __forceinline__ unsigned umax(unsigned x, unsigned y) { return max(x, y); }
static __forceinline__ long long llmin(long long x, long long y) { return min(x, y); }
static __forceinline__ long long llmax(long long x, long long y) { return max(x, y); }
static __forceinline__ unsigned long long ullmin(unsigned long long x, unsigned long long y)
{ return min(x, y); }
static __forceinline__ unsigned long long ullmax(unsigned long long x, unsigned long long y)
{ return max(x, y); }
/* clang-format on */

#endif
