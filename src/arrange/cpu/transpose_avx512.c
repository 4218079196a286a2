/*
 * arrange/cpu/transpose_avx512.c - transposes of elements of 4 and 8 bytes with AVX-512.
 *
 *     a tile    16 x 16 or 8 x 8 elements: a cache line of each row is loaded, transposed in
 *               registers, and stored as a cache line of each column
 *
 * If rows begin at multiples of 64 bytes, only whole lines are loaded and stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/transpose.h"

#include <immintrin.h>

#define INLINED static inline __attribute__((always_inline))

enum { FOUR = 16, EIGHT = 8 }; /* elements of a line */

/* Exchanges the 128-bit parts of four vectors: part k of vector i becomes part i of vector k. */
INLINED void exchange_parts(__m512i *v, int step)
{
    const __m512i a = _mm512_shuffle_i64x2(v[0], v[step], 0x44);
    const __m512i b = _mm512_shuffle_i64x2(v[0], v[step], 0xEE);
    const __m512i c = _mm512_shuffle_i64x2(v[2 * step], v[3 * step], 0x44);
    const __m512i d = _mm512_shuffle_i64x2(v[2 * step], v[3 * step], 0xEE);
    v[0] = _mm512_shuffle_i64x2(a, c, 0x88);
    v[step] = _mm512_shuffle_i64x2(a, c, 0xDD);
    v[2 * step] = _mm512_shuffle_i64x2(b, d, 0x88);
    v[3 * step] = _mm512_shuffle_i64x2(b, d, 0xDD);
}

INLINED void store(char *to, __m512i line, bool stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)(void *)to, line);
    else
        _mm512_storeu_si512(to, line);
}

INLINED void tile_four(const char *in, size_t in_step, char *out, size_t out_step, bool stream)
{
    __m512i v[FOUR];
    for (size_t i = 0; i < FOUR; i++) v[i] = _mm512_loadu_si512(in + i * in_step);
    for (int i = 0; i < FOUR; i += 4) { /* 4 x 4 elements in each part */
        const __m512i a = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        const __m512i b = _mm512_unpackhi_epi32(v[i], v[i + 1]);
        const __m512i c = _mm512_unpacklo_epi32(v[i + 2], v[i + 3]);
        const __m512i d = _mm512_unpackhi_epi32(v[i + 2], v[i + 3]);
        v[i] = _mm512_unpacklo_epi64(a, c);
        v[i + 1] = _mm512_unpackhi_epi64(a, c);
        v[i + 2] = _mm512_unpacklo_epi64(b, d);
        v[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    for (int i = 0; i < 4; i++) exchange_parts(v + i, 4);
    for (size_t i = 0; i < FOUR; i++) /* vector 4 k + i has column 4 k + i */
        store(out + i * out_step, v[i], stream);
}

INLINED void tile_eight(const char *in, size_t in_step, char *out, size_t out_step, bool stream)
{
    __m512i v[EIGHT];
    for (size_t i = 0; i < EIGHT; i++) v[i] = _mm512_loadu_si512(in + i * in_step);
    for (int i = 0; i < EIGHT; i += 2) { /* 2 x 2 elements in each part */
        const __m512i a = v[i];
        v[i] = _mm512_unpacklo_epi64(a, v[i + 1]);
        v[i + 1] = _mm512_unpackhi_epi64(a, v[i + 1]);
    }
    exchange_parts(v, 2);
    exchange_parts(v + 1, 2);
    for (size_t i = 0; i < EIGHT; i++) store(out + i * out_step, v[i], stream);
}

/* Tiles of one column of the block follow each other, so that adjacent lines are written. */
INLINED void all_tiles(const char *in, size_t in_step, char *out, size_t out_step, size_t rows,
                       size_t columns, size_t each, bool stream)
{
    for (size_t c = 0; c < columns; c += each)
        for (size_t r = 0; r < rows; r += each) {
            const char *from = in + r * in_step + c * (64 / each);
            char *to = out + c * out_step + r * (64 / each);
            if (each == FOUR)
                tile_four(from, in_step, to, out_step, stream);
            else
                tile_eight(from, in_step, to, out_step, stream);
        }
}

void echi_transpose_avx512(const char *in, size_t in_step, char *out, size_t out_step, size_t rows,
                           size_t columns, size_t size, bool stream)
{
    if (size == 4 && stream)
        all_tiles(in, in_step, out, out_step, rows, columns, FOUR, true);
    else if (size == 4)
        all_tiles(in, in_step, out, out_step, rows, columns, FOUR, false);
    else if (stream)
        all_tiles(in, in_step, out, out_step, rows, columns, EIGHT, true);
    else
        all_tiles(in, in_step, out, out_step, rows, columns, EIGHT, false);
    if (stream) _mm_sfence(); /* before the end of the loop, after which others read the output */
}
