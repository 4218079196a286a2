/*
 * select/cpu/kernels.h - template: all kernels of selections in the instruction set that the
 * including file is compiled for, and the struct that names them.
 *
 *   ISA      the struct's name
 *   NARROW   if it is defined, only widths of 8 and 16 bits exist
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cpu/common.h"
#include "cpu/bits.h"
#ifdef __AVX512BW__
#include "cpu/keys_avx512.h"
#endif

/* Prefetches as many bytes as are used now, some KiB ahead: blocks of flags and of elements
 * alternate, so that the prefetchers of some processors start again and again. An address past the
 * array has no effect. */
static inline void ahead_of(const void *now, size_t bytes)
{
    if (!atomic_load_explicit(&echi_cpu_prefetches, memory_order_relaxed)) return;
    const uintptr_t ahead = (uintptr_t)now + PREFETCH_BYTES;
    for (size_t k = 0; k < bytes; k += 64) __builtin_prefetch((const void *)(ahead + k));
}

/* ---- Decoding ---- */

enum {
    DECODE_BYTES = 32,    /* a multiple of all sizes of elements */
    DECODE_SINGLES = 8,   /* runs of one element that are copied together ... */
    DECODE_WAIT = 64,     /* ... and how many short runs are written before the next attempt ... */
    DECODE_SHORT_WAIT = 8 /* ... if the next run has other than one element */
};

/* Whether the next runs have one element each. */
static inline bool single_runs(const uint64_t *lengths)
{
    uint64_t differ = 0;
    for (int i = 0; i < DECODE_SINGLES; i++) differ |= lengths[i] ^ 1;
    return !differ;
}

#ifndef NARROW

static size_t count(const uint64_t *bits, size_t n)
{
    size_t sum = 0;
    for (size_t w = 0; w * 64 < n; w++) sum += (size_t)__builtin_popcountll(bits[w]);
    return sum;
}

static void flags(const uint8_t *bytes, size_t n, uint64_t *bits)
{
    for (size_t i = 0; i < n; i += 64) bits[i / 64] = bits_of_bytes(bytes + i, echi_min(64, n - i));
}

static void keep_positions(uint64_t *out, uint64_t at, const uint64_t *bits, size_t n)
{
    size_t rest = count(bits, n); /* positions that are not written yet */
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t kept = bits[i / 64];
        const size_t here = (size_t)__builtin_popcountll(kept);
        if (here == 64)
            for (size_t k = 0; k < 64; k++) out[k] = at + i + k;
        else if (rest - here >= 8)
            positions_whole(out, at + i, kept);
        else
            positions_some(out, at + i, kept);
        out += here;
        rest -= here;
    }
}

static void keep_positions32(uint32_t *out, uint64_t at, const uint64_t *bits, size_t n)
{
    size_t rest = count(bits, n);
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t kept = bits[i / 64];
        const size_t here = (size_t)__builtin_popcountll(kept);
        if (here == 64)
            for (size_t k = 0; k < 64; k++) out[k] = (uint32_t)(at + i + k);
        else if (rest - here >= 8)
            positions32_whole(out, at + i, kept);
        else
            positions32_some(out, at + i, kept);
        out += here;
        rest -= here;
    }
}

static uint64_t *keep_lengths(uint64_t *out, uint64_t *before, uint64_t at, const uint64_t *bits,
                              size_t n)
{
    size_t rest = count(bits, n);
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t kept = bits[i / 64];
        const size_t here = (size_t)__builtin_popcountll(kept);
        if (!kept) continue;
        if (here >= 32) ahead_of(out, here * sizeof *out);
        if (here == 64) {
            out[0] = at + i - *before;
            for (size_t k = 1; k < 64; k++) out[k] = 1;
        } else if (rest - here >= 8) {
            distances_whole(out, *before, at + i, kept);
        } else {
            distances_some(out, *before, at + i, kept);
        }
        *before = at + i + 63 - (size_t)__builtin_clzll(kept);
        out += here;
        rest -= here;
    }
    return out;
}

#endif

/* ---- Few elements ---- */

/* The lengths of the runs of n elements, at most 64, that begin at the bits of kept, which has
 * bit 0. */
static inline void lengths_of_few(uint64_t *to, uint64_t kept, size_t n)
{
#ifdef __AVX512BW__
    if (n <= 16) { /* the distance of the last element of each run from that of the previous one */
        const __m512i places =
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const uint64_t ends = kept >> 1 | (uint64_t)1 << (n - 1);
        const __m512i last = _mm512_maskz_compress_epi32((__mmask16)ends, places);
        const __m512i lengths =
            _mm512_sub_epi32(last, _mm512_alignr_epi32(last, _mm512_set1_epi32(-1), 15));
        const uint64_t stored = bits_below_few((size_t)__builtin_popcountll(kept));
        _mm512_mask_storeu_epi64(to, (__mmask8)stored,
                                 _mm512_cvtepu32_epi64(_mm512_castsi512_si256(lengths)));
        if (stored >> 8)
            _mm512_mask_storeu_epi64(to + 8, (__mmask8)(stored >> 8),
                                     _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(lengths, 1)));
        return;
    }
#endif
    const uint64_t last = 63 - (uint64_t)__builtin_clzll(kept);
    distances_some(to, 0, 0, kept & (kept - 1));
    to[__builtin_popcountll(kept) - 1] = n - last;
}

/* ---- Widths ---- */

#ifdef __AVX2__
#define WHOLE(width) keep_whole_##width
#else
#define WHOLE(width) keep_some_##width
#endif
#ifdef __AVX512VBMI2__
#define WHOLE_NARROW(width) keep_whole_##width
#else
#define WHOLE_NARROW(width) keep_some_##width
#endif
#ifdef __AVX512BW__
#define ONE(width) keep_one_##width
#endif
#ifdef __AVX512VBMI2__
#define ONE_NARROW(width) keep_one_##width
#else
#define ONE_NARROW(width) keep_some_##width
#endif

#define CALLS(width)                                                                               \
    {                                                                                              \
        select_flags_##width, partition_flags_##width, select_if_##width, unique_##width,          \
            rle_encode_##width, rle_decode_##width                                                 \
    }

#define KEY        uint8_t
#define NAME(x)    x##_u8
#define KEEP_SOME  keep_some_u8
#define KEEP_WHOLE WHOLE_NARROW(u8)
#define KEEP_ONE   ONE_NARROW(u8)
#include "select/cpu/width.h"

#define KEY        uint16_t
#define NAME(x)    x##_u16
#define KEEP_SOME  keep_some_u16
#define KEEP_WHOLE WHOLE_NARROW(u16)
#define KEEP_ONE   ONE_NARROW(u16)
#include "select/cpu/width.h"

#ifdef NARROW

const struct echi_select_isa ISA = { .widths = { &width_u8, &width_u16 },
                                     .calls = { CALLS(u8), CALLS(u16) } };

#else

#define KEY        uint32_t
#define NAME(x)    x##_u32
#define KEEP_SOME  keep_some_u32
#define KEEP_WHOLE WHOLE(u32)
#define KEEP_ONE   ONE(u32)
#include "select/cpu/width.h"

#define KEY        uint64_t
#define NAME(x)    x##_u64
#define KEEP_SOME  keep_some_u64
#define KEEP_WHOLE WHOLE(u64)
#define KEEP_ONE   ONE(u64)
#include "select/cpu/width.h"

const struct echi_select_isa ISA = {
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
    .calls = { CALLS(u8), CALLS(u16), CALLS(u32), CALLS(u64) },
    .count = count,
    .flags = flags,
    .keep_positions = keep_positions,
    .keep_positions32 = keep_positions32,
    .keep_lengths = keep_lengths,
};

#endif
