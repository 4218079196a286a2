/*
 * matmul/cpu/lanes.h - template: a few lanes of REAL in portable C; the compiler vectorises them if
 * the machine has fused multiply-add.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LANES     4
#define TILE_ROWS 4

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

#define ZERO()        T(all)(0)
#define ALL(x)        T(all)(x)
#define LOAD(p)       T(load)(p)
#define STORE(p, v)   T(store)(p, v)
#define VFMA(x, y, z) T(fused)(x, y, z)
