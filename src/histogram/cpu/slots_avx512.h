/*
 * histogram/cpu/slots_avx512.h - the counters of a block of elements for bins of equal width, by
 * vectors: elements of 8, 16 and 32 bits in lanes of 32 bits, and elements of 64 bits.  Complete
 * vectors of slots are stored, because masked stores delay loads of the same bytes.
 *
 * All maps are those of ../bins_slot.h, for elements outside of the bins that are not counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

/* Whether elements outside of the bins, and NaN, have no counter, so that they get `none`. */
static inline bool are_plain(const struct echi_histogram *h)
{
    const struct echi_bins *b = &h->x;
    return !h->pairs && h->channels == 1 && b->below == ECHI_NO_SLOT && b->above == ECHI_NO_SLOT &&
           b->nan == ECHI_NO_SLOT;
}

/* 16 elements, of which n exist, zero-extended to 32 bits.  Masked loads do not start the
 * prefetchers of the processor. */
static inline __m512i load_wide(const void *in, size_t n, size_t bytes)
{
    if (n >= 16)
        return bytes == 1   ? _mm512_cvtepu8_epi32(_mm_loadu_si128(in))
               : bytes == 2 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256(in))
                            : _mm512_loadu_si512(in);
    const __mmask16 there = (__mmask16)_bzhi_u32(0xffff, (unsigned)n);
    return bytes == 1   ? _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, in))
           : bytes == 2 ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, in))
                        : _mm512_maskz_loadu_epi32(there, in);
}

/* The bits of the first n lanes, or all. */
static inline unsigned first_lanes(size_t n)
{
    return _bzhi_u32(0xffff, n < 16 ? (unsigned)n : 16);
}

/* The same for 8 elements of 64 bits. */
static inline __m512i load_long(const uint64_t *in, size_t n)
{
    if (n >= 8) return _mm512_loadu_si512(in);
    return _mm512_maskz_loadu_epi64((__mmask8)_bzhi_u32(0xff, (unsigned)n), in);
}

static inline bool shift_32(const struct echi_bins *b, const char *in, size_t n, size_t bytes,
                            uint32_t none, uint32_t *slots)
{
    const uint32_t ones = ~(uint32_t)0 >> (32 - 8 * bytes);
    const __m512i sign = _mm512_set1_epi32((int)(uint32_t)b->order.sign);
    const __m512i first = _mm512_set1_epi32((int)((uint32_t)b->first & ones));
    const __m512i offset = _mm512_set1_epi32((int)(uint32_t)b->offset);
    const __m512i last = _mm512_set1_epi32((int)((uint32_t)b->bins - 1));
    const __m512i span = _mm512_set1_epi32((int)((uint32_t)b->span & ones));
    const __m128i shift = _mm_cvtsi32_si128((int)b->shift);
    unsigned outside = 0;
    for (size_t i = 0; i < n; i += 16) {
        const __m512i e = _mm512_xor_si512(load_wide(in + i * bytes, n - i, bytes), sign);
        const __m512i d =
            _mm512_and_si512(_mm512_sub_epi32(e, first), _mm512_set1_epi32((int)ones));
        const __m512i slot = _mm512_srl_epi32(_mm512_add_epi32(d, offset), shift);
        const __mmask16 inside = _mm512_cmple_epu32_mask(d, span);
        _mm512_storeu_si512(
            slots + i, _mm512_mask_min_epu32(_mm512_set1_epi32((int)none), inside, slot, last));
        outside |= ~(unsigned)inside & first_lanes(n - i);
    }
    return outside != 0;
}

static inline bool shift_64(const struct echi_bins *b, const uint64_t *in, size_t n, uint32_t none,
                            uint32_t *slots)
{
    const __m512i sign = _mm512_set1_epi64((long long)b->order.sign);
    const __m512i first = _mm512_set1_epi64((long long)b->first);
    const __m512i span = _mm512_set1_epi64((long long)b->span);
    const __m512i offset = _mm512_set1_epi64((long long)b->offset);
    const __m512i last = _mm512_set1_epi64((long long)b->bins - 1);
    const __m128i shift = _mm_cvtsi32_si128((int)b->shift);
    unsigned outside = 0;
    for (size_t i = 0; i < n; i += 8) {
        const __m512i e = _mm512_xor_si512(load_long(in + i, n - i), sign);
        const __m512i d = _mm512_sub_epi64(e, first);
        const __m512i slot = _mm512_srl_epi64(_mm512_add_epi64(d, offset), shift);
        const __mmask8 inside = _mm512_cmple_epu64_mask(d, span);
        const __m512i all = _mm512_mask_min_epu64(_mm512_set1_epi64(none), inside, slot, last);
        _mm256_storeu_si256((__m256i *)(void *)(slots + i), _mm512_cvtepi64_epi32(all));
        outside |= ~(unsigned)inside & first_lanes(n - i) & 0xff;
    }
    return outside != 0;
}

static inline bool even_f32(const struct echi_bins *b, const uint32_t *in, size_t n, uint32_t none,
                            uint32_t *slots)
{
    const __m512 lower = _mm512_set1_ps((float)b->lower), upper = _mm512_set1_ps((float)b->last);
    const __m512 factor = _mm512_set1_ps((float)b->factor);
    const __m512i last = _mm512_set1_epi32((int)((uint32_t)b->bins - 1));
    unsigned outside = 0;
    for (size_t i = 0; i < n; i += 16) {
        const __m512 x = _mm512_castsi512_ps(load_wide(in + i, n - i, 4));
        const __mmask16 inside =
            _mm512_cmp_ps_mask(x, lower, _CMP_GE_OQ) & _mm512_cmp_ps_mask(x, upper, _CMP_LE_OQ);
        const __m512i slot = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_sub_ps(x, lower), factor));
        _mm512_storeu_si512(
            slots + i, _mm512_mask_min_epu32(_mm512_set1_epi32((int)none), inside, slot, last));
        outside |= ~(unsigned)inside & first_lanes(n - i);
    }
    return outside != 0;
}

static inline bool even_f64(const struct echi_bins *b, const uint64_t *in, size_t n, uint32_t none,
                            uint32_t *slots)
{
    const __m512d lower = _mm512_set1_pd(b->lower), upper = _mm512_set1_pd(b->last);
    const __m512d factor = _mm512_set1_pd(b->factor);
    const __m256i last = _mm256_set1_epi32((int)((uint32_t)b->bins - 1));
    unsigned outside = 0;
    for (size_t i = 0; i < n; i += 8) {
        const __m512d x = _mm512_castsi512_pd(load_long(in + i, n - i));
        const __mmask8 inside =
            _mm512_cmp_pd_mask(x, lower, _CMP_GE_OQ) & _mm512_cmp_pd_mask(x, upper, _CMP_LE_OQ);
        const __m256i slot = _mm512_cvttpd_epi32(_mm512_mul_pd(_mm512_sub_pd(x, lower), factor));
        _mm256_storeu_si256(
            (__m256i *)(void *)(slots + i),
            _mm256_mask_min_epu32(_mm256_set1_epi32((int)none), inside, slot, last));
        outside |= ~(unsigned)inside & first_lanes(n - i) & 0xff;
    }
    return outside != 0;
}

/* Computes the slots, and whether an element is in no bin, if there is a loop for these bins;
 * otherwise returns false. */
static inline bool quick_slots(const struct echi_histogram *h, const void *in, size_t n,
                               size_t bytes, uint32_t *slots, bool *outside)
{
    const struct echi_bins *b = &h->x; /* not copied: its fields have just been computed */
    const uint32_t none = (uint32_t)h->counters;
    if (!are_plain(h)) return false;
    if (b->kind == ECHI_BINS_FLOAT && bytes == 4)
        *outside = even_f32(b, in, n, none, slots);
    else if (b->kind == ECHI_BINS_FLOAT && bytes == 8)
        *outside = even_f64(b, in, n, none, slots);
    else if (b->kind == ECHI_BINS_SHIFT && bytes == 8 && b->span + b->offset >= b->span)
        *outside = shift_64(b, in, n, none, slots);
    else if (b->kind == ECHI_BINS_SHIFT && bytes < 8 && b->shift < 32 &&
             (uint64_t)(uint32_t)b->span + b->offset <= UINT32_MAX)
        *outside = shift_32(b, in, n, bytes, none, slots);
    else
        return false;
    return true;
}
