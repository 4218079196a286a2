/*
 * matmul/cpu/real.h - template: the kernels of common.h that compute in one type.
 *
 *     REAL, T(name)         the type, and a name with its suffix
 *     T(vector), LANES      a vector; ZERO, LOAD, STORE, ALL, ADD, VFMA on vectors, FMA on one
 *                           element
 *     T(load_first)(p, n, x)  min(n, LANES) elements; x fills the other lanes
 *     T(add_lanes)(v)         the sum: the upper half of the lanes is added to the lower,
 *                             repeatedly
 *     TILE_ROWS             the number of rows that fit in registers, with two vectors each
 *     UNROLL_PARTS          unrolls loops over vectors that may be partial, or not
 *     ROW_REGISTERS         the number of registers for the sums of a product with a vector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { T(TILE_COLS) = 2 * LANES };

/* ---- The micro-kernel ---- */

/* rows and vectors are constants at the call sites. */
INLINE void T(tile_of)(const int rows, const int vectors, size_t steps, const REAL *a,
                       const REAL *b, REAL *sums, bool begin)
{
    T(vector) s[TILE_ROWS][2];
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            s[i][v] = begin ? ZERO() : LOAD(sums + i * T(TILE_COLS) + v * LANES);
    for (size_t t = 0; t < steps; t++) {
        T(vector) y[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) y[v] = LOAD(b + t * T(TILE_COLS) + (size_t)v * LANES);
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            const T(vector) x = ALL(a[i * ECHI_MATMUL_PITCH + (ptrdiff_t)t]);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) s[i][v] = VFMA(x, y[v], s[i][v]);
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) STORE(sums + i * T(TILE_COLS) + v * LANES, s[i][v]);
}

/* The rows of the smallest kernel that has at least this many. */
static size_t T(tile_rows)(size_t rows)
{
    const size_t fits = rows > 8 ? TILE_ROWS : rows > 4 ? 8 : rows > 2 ? 4 : rows;
    return fits < TILE_ROWS ? fits : TILE_ROWS;
}

#define TILE(rows_)                                                                                \
    if (cols > LANES)                                                                              \
        T(tile_of)(rows_, 2, steps, a, b, sums, begin);                                            \
    else                                                                                           \
        T(tile_of)(rows_, 1, steps, a, b, sums, begin)

static void T(tile)(size_t rows, size_t cols, size_t steps, const void *a, const void *b,
                    void *sums, bool begin)
{
    switch (T(tile_rows)(rows)) {
    case 1:
        TILE(1);
        break;
    case 2:
        TILE(2);
        break;
    case 4:
        TILE(4);
        break;
#if TILE_ROWS > 8
    case 8:
        TILE(8);
        break;
#endif
#if TILE_ROWS > 4
    default:
        TILE(TILE_ROWS);
#endif
    }
}
#undef TILE

/* ---- Panels ---- */

INLINE REAL T(element)(const void *from, size_t i, ech_dtype dtype)
{
    if (dtype == ECH_F16) return (REAL)echi_f32_of_f16(((const uint16_t *)from)[i]);
    if (dtype == ECH_BF16) return (REAL)echi_f32_of_bf16(((const uint16_t *)from)[i]);
    return ((const REAL *)from)[i];
}

/* Rows of the panel are rows of a matrix; turned: its columns. */
INLINE void T(pack_a_of)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t rows,
                         size_t steps, REAL *panel)
{
    const size_t whole = T(tile_rows)(rows);
    if (turned)
        for (size_t t = 0; t < steps; t++)
            for (size_t i = 0; i < rows; i++)
                panel[i * ECHI_MATMUL_PITCH + t] = T(element)(from, t * stride + i, dtype);
    else
        for (size_t i = 0; i < rows; i++)
            for (size_t t = 0; t < steps; t++)
                panel[i * ECHI_MATMUL_PITCH + t] = T(element)(from, i * stride + t, dtype);
    for (size_t i = rows; i < whole; i++)
        memset(panel + i * ECHI_MATMUL_PITCH, 0, steps * sizeof *panel);
}

INLINE void T(pack_b_of)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t cols,
                         size_t steps, REAL *panel)
{
    if (turned) {
        enum { LINE = 16 }; /* steps, so that the stores stay in the L1 cache */
        for (size_t begin = 0; begin < steps; begin += LINE)
            for (size_t j = 0; j < cols; j++)
                for (size_t t = begin; t < begin + LINE && t < steps; t++)
                    panel[t * T(TILE_COLS) + j] = T(element)(from, j * stride + t, dtype);
        for (size_t j = cols; j < T(TILE_COLS); j++)
            for (size_t t = 0; t < steps; t++) panel[t * T(TILE_COLS) + j] = 0;
    } else if (cols == T(TILE_COLS)) {
        for (size_t t = 0; t < steps; t++)
            for (size_t j = 0; j < T(TILE_COLS); j++)
                panel[t * T(TILE_COLS) + j] = T(element)(from, t * stride + j, dtype);
    } else {
        for (size_t t = 0; t < steps; t++) {
            for (size_t j = 0; j < cols; j++)
                panel[t * T(TILE_COLS) + j] = T(element)(from, t * stride + j, dtype);
            for (size_t j = cols; j < T(TILE_COLS); j++) panel[t * T(TILE_COLS) + j] = 0;
        }
    }
}

#define PACK(name)                                                                                 \
    static void T(name)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t n,   \
                        size_t steps, void *panel)                                                 \
    {                                                                                              \
        if (dtype == ECH_F16)                                                                      \
            T(name##_of)(from, stride, ECH_F16, turned, n, steps, panel);                          \
        else if (dtype == ECH_BF16)                                                                \
            T(name##_of)(from, stride, ECH_BF16, turned, n, steps, panel);                         \
        else                                                                                       \
            T(name##_of)(from, stride, ECH_F64, turned, n, steps, panel);                          \
    }
PACK(pack_a)
PACK(pack_b)
#undef PACK

/* ---- c ---- */

/* Writes r as an element of dtype; NaN is written as the canonical one. */
INLINE void T(put)(void *to, size_t i, ech_dtype dtype, REAL r)
{
    if (dtype == ECH_F16)
        ((uint16_t *)to)[i] = echi_f16_of_f32((float)r);
    else if (dtype == ECH_BF16)
        ((uint16_t *)to)[i] = echi_bf16_of_f32((float)r);
    else
        ((REAL *)to)[i] = r != r ? QUIET_NAN : r;
}

INLINE void T(end_of)(const struct echi_matmul_end *end, const REAL *sums, size_t rows, size_t cols,
                      void *c, size_t c_stride, ech_dtype dtype, bool add)
{
    const REAL alpha = (REAL)end->alpha, beta = (REAL)end->beta;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const size_t at = i * c_stride + j;
            REAL r = alpha * sums[i * T(TILE_COLS) + j];
            if (add) r = FMA(beta, T(element)(c, at, dtype), r);
            T(put)(c, at, dtype, r);
        }
}

static void T(end)(const struct echi_matmul_end *end, const void *sums, size_t rows, size_t cols,
                   void *c, size_t c_stride)
{
    const bool add = end->beta != 0;
#define END(dtype)                                                                                 \
    if (add)                                                                                       \
        T(end_of)(end, sums, rows, cols, c, c_stride, dtype, true);                                \
    else                                                                                           \
        T(end_of)(end, sums, rows, cols, c, c_stride, dtype, false)
    if (end->dtype == ECH_F16) {
        END(ECH_F16);
    } else if (end->dtype == ECH_BF16) {
        END(ECH_BF16);
    } else {
        END(ECH_F64);
    }
#undef END
}

static void T(scale)(ech_dtype dtype, double beta, void *x, size_t n)
{
    for (size_t i = 0; i < n; i++) T(put)(x, i, dtype, (REAL)beta * T(element)(x, i, dtype));
}

/* ---- A matrix times a vector ---- */

enum {
    T(ROW_VECTORS) = ECHI_MATVEC_LANES / LANES,
    T(ROWS_AT_ONCE) = T(ROW_VECTORS) < ROW_REGISTERS ? ROW_REGISTERS / T(ROW_VECTORS) : 1
};

/* Adds the upper half of the lanes to the lower, repeatedly. */
INLINE REAL T(add_vectors)(T(vector) * s, const int vectors)
{
#pragma GCC unroll 4
    for (int half = vectors / 2; half; half /= 2)
#pragma GCC unroll 8
        for (int v = 0; v < half; v++) s[v] = ADD(s[v], s[v + half]);
    return T(add_lanes)(s[0]);
}

/* The sums of `rows` rows of at least as many elements as lanes: lane l has the elements l, l + 64,
 * ...  A product of -0 and 0 does not change a sum. */
INLINE void T(long_rows)(const int rows, const REAL *a, size_t stride, const REAL *x, size_t n,
                         REAL *sums, size_t sums_stride, bool ones, bool far)
{
    T(vector) s[T(ROWS_AT_ONCE)][T(ROW_VECTORS)];
    size_t j = 0;
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
        for (int v = 0; v < T(ROW_VECTORS); v++) s[r][v] = ZERO();
    for (; j + ECHI_MATVEC_LANES <= n; j += ECHI_MATVEC_LANES) {
        if (far && j % (ECHI_PAGE_BYTES / 2 / sizeof *a) == 0)
            for (int r = 0; r < rows; r++) echi_prefetch_page(a + (size_t)r * stride + j);
#pragma GCC unroll 16
        for (int v = 0; v < T(ROW_VECTORS); v++) {
            const size_t at = j + (size_t)v * LANES;
            const T(vector) y = ones ? ALL(1) : LOAD(x + at);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                s[r][v] = VFMA(LOAD(a + (size_t)r * stride + at), y, s[r][v]);
        }
    }
    UNROLL_PARTS
    for (int v = 0; v < T(ROW_VECTORS); v++) {
        const size_t at = j + (size_t)v * LANES;
        if (at >= n) break;
        const T(vector) y = ones ? ALL(1) : T(load_first)(x + at, n - at, 0);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            s[r][v] =
                VFMA(T(load_first)(a + (size_t)r * stride + at, n - at, -(REAL)0), y, s[r][v]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
        sums[(size_t)r * sums_stride] = T(add_vectors)(s[r], T(ROW_VECTORS));
}

/* The sums of rows with fewer elements than lanes, which fit in `vectors` vectors. */
INLINE void T(short_rows)(const int vectors, const REAL *a, size_t stride, const REAL *x, size_t n,
                          size_t rows, REAL *sums, size_t sums_stride, bool ones)
{
    T(vector) s[T(ROW_VECTORS)], y[T(ROW_VECTORS)];
    UNROLL_PARTS
    for (int v = 0; v < vectors; v++) {
        const size_t at = (size_t)v * LANES, left = n > at ? n - at : 0;
        y[v] = ones ? ALL(1) : T(load_first)(x + at, left, 0);
    }
    for (size_t r = 0; r < rows; r++, a += stride) {
        UNROLL_PARTS
        for (int v = 0; v < vectors; v++) {
            const size_t at = (size_t)v * LANES, left = n > at ? n - at : 0;
            s[v] = VFMA(T(load_first)(a + at, left, -(REAL)0), y[v], ZERO());
        }
        /* 0 is the sum of the other lanes, and turns -0 into +0 */
        sums[r * sums_stride] = T(add_vectors)(s, vectors) + 0;
    }
}

INLINE void T(rows_of)(const REAL *a, size_t stride, const REAL *x, size_t n, size_t rows,
                       REAL *sums, size_t sums_stride, bool ones, enum echi_matvec_way way)
{
    enum { MANY = T(ROWS_AT_ONCE) };
    if (n >= ECHI_MATVEC_LANES) {
        for (; rows && way == ECHI_MATVEC_PAGES; rows--, a += stride, sums += sums_stride)
            T(long_rows)(1, a, stride, x, n, sums, sums_stride, ones, true);
        for (; rows >= MANY && way == ECHI_MATVEC_SEVERAL;
             rows -= MANY, a += MANY * stride, sums += MANY * sums_stride)
            T(long_rows)(MANY, a, stride, x, n, sums, sums_stride, ones, false);
        for (; rows; rows--, a += stride, sums += sums_stride)
            T(long_rows)(1, a, stride, x, n, sums, sums_stride, ones, false);
    } else if (n <= LANES) {
        T(short_rows)(1, a, stride, x, n, rows, sums, sums_stride, ones);
    } else if (n <= 2 * LANES) {
        T(short_rows)(2, a, stride, x, n, rows, sums, sums_stride, ones);
    } else if (n <= 4 * LANES) {
        T(short_rows)(4, a, stride, x, n, rows, sums, sums_stride, ones);
    } else {
        T(short_rows)(T(ROW_VECTORS), a, stride, x, n, rows, sums, sums_stride, ones);
    }
}

static void T(rows)(const void *a, size_t stride, const void *x, size_t n, size_t rows, void *sums,
                    size_t sums_stride, enum echi_matvec_way way)
{
    if (x)
        T(rows_of)(a, stride, x, n, rows, sums, sums_stride, false, way);
    else
        T(rows_of)(a, stride, NULL, n, rows, sums, sums_stride, true, ECHI_MATVEC_SEVERAL);
}

/* Columns in strips that fit in registers. */
INLINE void T(columns_of)(const REAL *a, size_t stride, const REAL *x, size_t rows, size_t cols,
                          REAL *sums, bool ones)
{
    enum { STRIP = 8 };
    size_t j = 0;
    for (; j + STRIP * LANES <= cols; j += STRIP * LANES) {
        T(vector) s[STRIP];
#pragma GCC unroll 8
        for (int v = 0; v < STRIP; v++) s[v] = ZERO();
        for (size_t i = 0; i < rows; i++) {
            const T(vector) y = ALL(ones ? 1 : x[i]);
#pragma GCC unroll 8
            for (int v = 0; v < STRIP; v++)
                s[v] = VFMA(LOAD(a + i * stride + j + (size_t)v * LANES), y, s[v]);
        }
#pragma GCC unroll 8
        for (int v = 0; v < STRIP; v++) STORE(sums + j + (size_t)v * LANES, s[v]);
    }
    for (; j + LANES <= cols; j += LANES) {
        T(vector) s = ZERO();
        for (size_t i = 0; i < rows; i++)
            s = VFMA(LOAD(a + i * stride + j), ALL(ones ? 1 : x[i]), s);
        STORE(sums + j, s);
    }
    REAL few[LANES] = { 0 }; /* independent sums, which need not wait for each other */
    for (size_t i = 0; i < rows && j < cols; i++)
        for (size_t c = 0; c < cols - j; c++)
            few[c] = FMA(a[i * stride + j + c], ones ? 1 : x[i], few[c]);
    for (size_t c = 0; c < cols - j; c++) sums[j + c] = few[c];
}

static void T(columns)(const void *a, size_t stride, const void *x, size_t rows, size_t cols,
                       void *sums)
{
    if (x)
        T(columns_of)(a, stride, x, rows, cols, sums, false);
    else
        T(columns_of)(a, stride, NULL, rows, cols, sums, true);
}

static const struct echi_matmul_real T(kernels) = { .rows = TILE_ROWS,
                                                    .cols = T(TILE_COLS),
                                                    .tile = T(tile),
                                                    .pack_a = T(pack_a),
                                                    .pack_b = T(pack_b),
                                                    .end = T(end),
                                                    .scale = T(scale),
                                                    .sum_rows = T(rows),
                                                    .columns = T(columns) };

#undef REAL
#undef T
#undef FMA
#undef QUIET_NAN
#undef LANES
#undef TILE_ROWS
#undef ROW_REGISTERS
#undef UNROLL_PARTS
#undef ZERO
#undef LOAD
#undef ADD
#undef STORE
#undef ALL
#undef VFMA
