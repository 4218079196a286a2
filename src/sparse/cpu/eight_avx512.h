/*
 * sparse/cpu/eight_avx512.h - vectors of eight elements, for products of eight rows at once, with
 * AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

enum { EIGHT = 8, BLOCK = 32 /* rows, whose products fit in the L1 cache */ };

typedef __m256 vector_f32;
typedef __m512d vector_f64;

/* Eight indices as 64 bits. */
static inline __m512i eight_indices(const void *from, size_t index_bytes)
{
    if (index_bytes == 8) return _mm512_loadu_si512(from);
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)from));
}

/* Whether eight indices are below a bound; false is also possible if the bound exceeds 32 bits. */
static inline bool eight_below(const void *from, size_t index_bytes, uint64_t bound)
{
    if (index_bytes == 8)
        return _mm512_cmplt_epu64_mask(_mm512_loadu_si512(from),
                                       _mm512_set1_epi64((long long)bound)) == 0xff;
    const uint32_t most = bound > UINT32_MAX ? UINT32_MAX : (uint32_t)bound;
    return _mm256_cmplt_epu32_mask(_mm256_loadu_si256((const __m256i *)from),
                                   _mm256_set1_epi32((int)most)) == 0xff;
}

/* ---- f32 ---- */

/* Scalar loads are faster than a gather instruction. */
#define GATHER_F32(x, c)                                                                           \
    _mm256_set_m128(_mm_movelh_ps(_mm_unpacklo_ps(_mm_load_ss(x + c[4]), _mm_load_ss(x + c[5])),   \
                                  _mm_unpacklo_ps(_mm_load_ss(x + c[6]), _mm_load_ss(x + c[7]))),  \
                    _mm_movelh_ps(_mm_unpacklo_ps(_mm_load_ss(x + c[0]), _mm_load_ss(x + c[1])),   \
                                  _mm_unpacklo_ps(_mm_load_ss(x + c[2]), _mm_load_ss(x + c[3]))))

static inline vector_f32 load_f32(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void store_f32(float *p, vector_f32 x)
{
    _mm256_storeu_ps(p, x);
}

static inline vector_f32 all_f32(double x)
{
    return _mm256_set1_ps((float)x);
}

static inline vector_f32 times_f32(vector_f32 x, vector_f32 y)
{
    return _mm256_mul_ps(x, y);
}

/* x + y in the lanes of a mask, and x in the others. */
static inline vector_f32 add_f32(__mmask8 mask, vector_f32 x, vector_f32 y)
{
    return _mm256_mask_add_ps(x, mask, x, y);
}

/* x in the lanes of a mask, and y in the others. */
static inline vector_f32 choose_f32(__mmask8 mask, vector_f32 x, vector_f32 y)
{
    return _mm256_mask_mov_ps(y, mask, x);
}

static inline __mmask8 is_nan_f32(vector_f32 x)
{
    return _mm256_cmp_ps_mask(x, x, _CMP_UNORD_Q);
}

static inline void transpose_f32(vector_f32 t[EIGHT])
{
    vector_f32 u[EIGHT];
    for (int i = 0; i < EIGHT; i += 2) {
        u[i] = _mm256_unpacklo_ps(t[i], t[i + 1]);
        u[i + 1] = _mm256_unpackhi_ps(t[i], t[i + 1]);
    }
    for (int i = 0; i < EIGHT; i += 4) {
        t[i] = _mm256_shuffle_ps(u[i], u[i + 2], 0x44);
        t[i + 1] = _mm256_shuffle_ps(u[i], u[i + 2], 0xee);
        t[i + 2] = _mm256_shuffle_ps(u[i + 1], u[i + 3], 0x44);
        t[i + 3] = _mm256_shuffle_ps(u[i + 1], u[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        const vector_f32 low = t[i], high = t[i + 4];
        t[i] = _mm256_permute2f128_ps(low, high, 0x20);
        t[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
    }
}

/* ---- f64 ---- */

#define GATHER_F64(x, c)                                                                           \
    _mm512_insertf64x4(                                                                            \
        _mm512_castpd256_pd512(_mm256_set_m128d(_mm_loadh_pd(_mm_load_sd(x + c[2]), x + c[3]),     \
                                                _mm_loadh_pd(_mm_load_sd(x + c[0]), x + c[1]))),   \
        _mm256_set_m128d(_mm_loadh_pd(_mm_load_sd(x + c[6]), x + c[7]),                            \
                         _mm_loadh_pd(_mm_load_sd(x + c[4]), x + c[5])),                           \
        1)

static inline vector_f64 load_f64(const double *p)
{
    return _mm512_loadu_pd(p);
}

static inline void store_f64(double *p, vector_f64 x)
{
    _mm512_storeu_pd(p, x);
}

static inline vector_f64 all_f64(double x)
{
    return _mm512_set1_pd(x);
}

static inline vector_f64 times_f64(vector_f64 x, vector_f64 y)
{
    return _mm512_mul_pd(x, y);
}

static inline vector_f64 add_f64(__mmask8 mask, vector_f64 x, vector_f64 y)
{
    return _mm512_mask_add_pd(x, mask, x, y);
}

static inline vector_f64 choose_f64(__mmask8 mask, vector_f64 x, vector_f64 y)
{
    return _mm512_mask_mov_pd(y, mask, x);
}

static inline __mmask8 is_nan_f64(vector_f64 x)
{
    return _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q);
}

static inline void transpose_f64(vector_f64 t[EIGHT])
{
    vector_f64 u[EIGHT];
    for (int i = 0; i < EIGHT; i += 2) {
        u[i] = _mm512_unpacklo_pd(t[i], t[i + 1]);
        u[i + 1] = _mm512_unpackhi_pd(t[i], t[i + 1]);
    }
    for (int i = 0; i < EIGHT; i += 4)
        for (int j = i; j < i + 2; j++) { /* lanes 0 2 and 1 3 of 128 bits */
            t[j] = _mm512_shuffle_f64x2(u[j], u[j + 2], 0x88);
            t[j + 2] = _mm512_shuffle_f64x2(u[j], u[j + 2], 0xdd);
        }
    for (int i = 0; i < 4; i++) {
        u[i] = _mm512_shuffle_f64x2(t[i], t[i + 4], 0x88);
        u[i + 4] = _mm512_shuffle_f64x2(t[i], t[i + 4], 0xdd);
    }
    for (int i = 0; i < EIGHT; i++) t[i] = u[i];
}
