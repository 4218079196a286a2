/*
 * direct/cpu/vectors.h - template: vectors of WIDTH numbers of type REAL, one per system.  REAL,
 * REAL_BITS, and NAME(x), which adds the type to a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if REAL_BITS == 32
typedef int32_t NAME(whole);
#else
typedef int64_t NAME(whole);
#endif
typedef REAL NAME(vector) __attribute__((vector_size(WIDTH * sizeof(REAL))));
typedef NAME(whole) NAME(mask) __attribute__((vector_size(WIDTH * sizeof(REAL))));

INLINE NAME(vector) NAME(all)(REAL x)
{
    return x - (NAME(vector)){ 0 };
}

INLINE NAME(mask) NAME(all_whole)(size_t x)
{
    return (NAME(whole))x - (NAME(mask)){ 0 };
}

INLINE NAME(vector) NAME(select)(NAME(mask) mask, NAME(vector) yes, NAME(vector) no)
{
    return (NAME(vector))((mask & (NAME(mask))yes) | (~mask & (NAME(mask))no));
}

INLINE NAME(vector) NAME(absolute)(NAME(vector) x)
{
    return (NAME(vector))((NAME(mask))x & ~(NAME(mask))NAME(all)(-(REAL)0));
}

INLINE NAME(mask) NAME(narrow_mask)(wide_mask mask)
{
    return __builtin_convertvector(mask, NAME(mask));
}

INLINE wide NAME(widen)(NAME(vector) x)
{
    return __builtin_convertvector(x, wide);
}

INLINE NAME(vector) NAME(narrow)(wide x)
{
    return __builtin_convertvector(x, NAME(vector));
}

/* x y + z, rounded once. */
INLINE NAME(vector) NAME(fused)(NAME(vector) x, NAME(vector) y, NAME(vector) z)
{
#if defined __AVX512F__ && REAL_BITS == 64
    return (NAME(vector))_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined __AVX2__ && REAL_BITS == 64
    return (NAME(vector))_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#elif defined __AVX512F__
    return (NAME(vector))_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif defined __AVX2__
    return (NAME(vector))_mm_fmadd_ps((__m128)x, (__m128)y, (__m128)z);
#else
    for (int l = 0; l < WIDTH; l++)
        z[l] = (REAL)(REAL_BITS == 32 ? fmaf((float)x[l], (float)y[l], (float)z[l])
                                      : fma(x[l], y[l], z[l]));
    return z;
#endif
}
