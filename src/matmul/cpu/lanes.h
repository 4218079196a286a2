/*
 * matmul/cpu/lanes.h - template: a few lanes of REAL in portable C; the compiler vectorises them if
 * the machine has fused multiply-add.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LANES         4
#define TILE_ROWS     4
#define ROW_REGISTERS 16
#define UNROLL_PARTS  _Pragma("GCC unroll 1")

typedef struct {
    REAL lane[LANES];
} T(vector);

INLINE T(vector) T(all)(REAL x)
{
    T(vector) v;
    for (int i = 0; i < LANES; i++) v.lane[i] = x;
    return v;
}

INLINE T(vector) T(fused)(T(vector) x, T(vector) y, T(vector) z)
{
    for (int i = 0; i < LANES; i++) z.lane[i] = FMA(x.lane[i], y.lane[i], z.lane[i]);
    return z;
}

INLINE T(vector) T(load)(const REAL *at)
{
    T(vector) v;
    memcpy(&v, at, sizeof v);
    return v;
}

INLINE void T(store)(REAL *at, T(vector) v)
{
    memcpy(at, &v, sizeof v);
}

INLINE T(vector) T(add)(T(vector) x, T(vector) y)
{
    for (int i = 0; i < LANES; i++) x.lane[i] += y.lane[i];
    return x;
}

/* Not inlined: short rows have many of these. */
__attribute__((noinline)) static T(vector) T(load_some)(const REAL *at, size_t n, REAL fill)
{
    T(vector) v = T(all)(fill);
    for (size_t i = 0; i < n; i++) v.lane[i] = at[i];
    return v;
}

INLINE T(vector) T(load_first)(const REAL *at, size_t n, REAL fill)
{
    return n >= LANES ? T(load)(at) : T(load_some)(at, n, fill);
}

INLINE REAL T(add_lanes)(T(vector) v)
{
    return (v.lane[0] + v.lane[2]) + (v.lane[1] + v.lane[3]);
}

#define ZERO()        T(all)(0)
#define ALL(x)        T(all)(x)
#define LOAD(p)       T(load)(p)
#define STORE(p, v)   T(store)(p, v)
#define ADD(x, y)     T(add)(x, y)
#define VFMA(x, y, z) T(fused)(x, y, z)
