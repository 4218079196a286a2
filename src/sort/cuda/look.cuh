/*
 * sort/cuda/look.cuh - kernel sort_pages_look: finds splitters (struct sort_splitters) in a sample.
 *
 *     sample      a key from each of SORT_LOOK_KEYS parts of the input
 *     sort        by a bitonic network
 *     splitters   quantiles, and frequent keys; none if few digits differ, if the first 8 bits are
 *                 even, or if passes by all digits are faster: 32-bit keys, few of them frequent
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LOOK_CUH
#define ECHI_SORT_CUDA_LOOK_CUH

#include "cuda/device/warp.cuh"
#include "sort/cuda/passes.h"

struct look_shared {
    uint64_t key[SORT_LOOK_KEYS];
    uint32_t digits[SORT_BINS]; /* keys of each first digit */
    uint32_t sums[SORT_LOOK_THREADS / 32];
    unsigned long long differ; /* bits that differ from those of the first key */
    uint32_t most, frequent;
    struct sort_splitters splitters;
};

/* Sample t, in the form in which keys are compared. */
static __device__ inline uint64_t look_key(const struct sort_passes_args &a, uint32_t t)
{
    const struct echi_order &o = a.common.order;
    const uint32_t part = (uint32_t)(a.common.n / SORT_LOOK_KEYS), bits = 8 * a.pages.key_bytes;
    const uint32_t at = t * part + __umulhi(t * 2654435761u >> 7, part);
    const uint64_t all = ~0ull >> (64 - bits);
    const uint64_t u = bits == 64 ? ((const uint64_t *)a.common.keys_in)[at]
                                  : ((const uint32_t *)a.common.keys_in)[at];
    uint64_t e = (u ^ ((u >> (bits - 1) ? o.float_mask : 0) | o.sign)) - o.shift;
    if (a.pages.value_bytes) {
        e &= all;
        if (e == (o.zero & all)) e += o.merge;
        if (e > (o.last & all)) e = o.last;
    }
    return (e ^ o.flip) & all;
}

static __device__ inline void look_sort(uint64_t *key)
{
    for (uint32_t size = 2; size <= SORT_LOOK_KEYS; size *= 2)
        for (uint32_t step = size / 2; step; step /= 2) {
            for (uint32_t p = threadIdx.x; p < SORT_LOOK_KEYS / 2; p += SORT_LOOK_THREADS) {
                const uint32_t i = 2 * p - (p & (step - 1));
                const uint64_t x = key[i], y = key[i + step];
                if ((x > y) == !(i & size)) {
                    key[i] = y;
                    key[i + step] = x;
                }
            }
            __syncthreads(); /* the pairs are in order */
        }
}

/* The number of keys of the sorted sample that are less than e; with equal ones too. */
static __device__ inline uint32_t look_below(const uint64_t *key, uint64_t e, bool equal)
{
    uint32_t i = 0;
    for (uint32_t step = SORT_LOOK_KEYS / 2; step; step /= 2)
        if (key[i + step - 1] < e || (equal && key[i + step - 1] == e)) i += step;
    return i + (key[i] < e || (equal && key[i] == e));
}

/* Whether sample i is a splitter: the first one of a frequent key, or every `each`-th sample, if
 * its key is not a splitter already. */
static __device__ inline bool look_is_splitter(const uint64_t *key, uint32_t i, uint32_t each,
                                               uint32_t frequent)
{
    const uint64_t e = key[i];
    const bool first = i == 0 || key[i - 1] != e;
    if (first && i + frequent <= SORT_LOOK_KEYS && key[i + frequent - 1] == e) return true;
    if (i % each || (i && key[i - each] == e)) return false;
    return first || look_below(key, e, true) - look_below(key, e, false) < frequent;
}

/* Writes the splitters; returns how many there are, of which only SORT_SPLITTERS are written. */
static __device__ inline uint32_t look_split(struct look_shared &s, uint32_t each,
                                             uint32_t frequent)
{
    const uint32_t me = threadIdx.x;
    uint32_t mine = 0, at = 0, all = 0;
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++)
        mine |= (uint32_t)look_is_splitter(s.key, me * SORT_LOOK_EACH + k, each, frequent) << k;
    const uint32_t through = warp_scan((uint32_t)__popc(mine));
    if (lane_id() == 31) s.sums[me / 32] = through;
    __syncthreads(); /* the sums of all warps are written */
    for (uint32_t w = 0; w < SORT_LOOK_THREADS / 32; w++) {
        if (w < me / 32) at += s.sums[w];
        all += s.sums[w];
    }
    at += through - (uint32_t)__popc(mine);
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++)
        if (mine >> k & 1) {
            if (at < SORT_SPLITTERS) s.splitters.key[at] = s.key[me * SORT_LOOK_EACH + k];
            at++;
        }
    __syncthreads(); /* the splitters are written, and the sums may be */
    return all;
}

/* The entries; the most frequent key, and the sample's keys that are equal to splitters. */
static __device__ inline void look_enter(struct look_shared &s, uint32_t count, uint32_t shift)
{
    const uint32_t me = threadIdx.x;
    if (me < 1u << SORT_SPLITTER_BITS) {
        uint32_t first = 0, here = 0;
        for (uint32_t i = 0; i < count; i++) {
            first += s.splitters.key[i] >> shift < me;
            here += s.splitters.key[i] >> shift == me;
        }
        s.splitters.entry[me] = first | here << 8;
    }
    if (me < count) {
        const uint64_t e = s.splitters.key[me];
        const uint32_t equal = look_below(s.key, e, true) - look_below(s.key, e, false);
        atomicMax(&s.most, equal << 8 | (2 * me + 1));
        if (equal >= SORT_LOOK_FREQUENT) atomicAdd(&s.frequent, equal);
    }
}

/* Counts the first digits of the sample; finds whether it is in order, and how many digits
 * differ. */
static __device__ inline void look_range(struct look_shared &s, uint32_t digit_shift)
{
    const uint32_t me = threadIdx.x;
    uint64_t differ = 0;
    bool falls = false, rises = false;
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++) {
        const uint32_t i = me * SORT_LOOK_EACH + k;
        const uint64_t e = s.key[i], next = s.key[min(i + 1, SORT_LOOK_KEYS - 1u)];
        differ |= e ^ s.key[0];
        falls |= e > next;
        rises |= e < next;
        atomicAdd(&s.digits[e >> digit_shift], 1);
    }
    if (differ) atomicOr(&s.differ, (unsigned long long)differ);
    falls = __syncthreads_or(falls); /* also: all bits that differ are known */
    rises = __syncthreads_or(rises);
    uint32_t digits = 0;
    for (uint32_t bit = 0; bit < 64; bit += SORT_DIGIT_BITS)
        digits += (s.differ >> bit & (SORT_BINS - 1)) != 0;
    if (me == 0) {
        s.splitters.ordered = !falls || !rises;
        s.splitters.even = digits > SORT_LOOK_DIGITS;
    }
}

extern "C" __global__ void __launch_bounds__(SORT_LOOK_THREADS)
    sort_pages_look(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ struct look_shared s;
    const uint32_t me = threadIdx.x, bits = 8 * a.pages.key_bytes;
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++) {
        const uint32_t i = me + k * SORT_LOOK_THREADS;
        s.key[i] = look_key(a, i);
    }
    if (me < SORT_BINS) s.digits[me] = 0;
    for (uint32_t i = me; i < sizeof s.splitters / 4; i += SORT_LOOK_THREADS)
        ((uint32_t *)&s.splitters)[i] = 0;
    if (me == 0) {
        s.differ = 0;
        s.most = s.frequent = 0;
    }
    __syncthreads(); /* the sample is written */
    look_range(s, bits - SORT_DIGIT_BITS);
    const uint32_t even = max((uint32_t)SORT_LOOK_EVEN,
                              (uint32_t)(SORT_LOOK_KEYS * 3 / 4 * a.pages.most / a.common.n));
    const bool uneven = __syncthreads_or(me < SORT_BINS && s.digits[me] > even);
    const bool splits =
        uneven && s.splitters.even && SORT_SPLITS(a.pages.key_bytes, a.pages.value_bytes);
    uint32_t count = 0;
    __syncthreads(); /* all threads have read */
    if (splits) {
        uint32_t each = SORT_LOOK_KEYS / 112, frequent = SORT_LOOK_FREQUENT;
        look_sort(s.key);
        while ((count = look_split(s, each, frequent)) > (uint32_t)SORT_SPLITTERS) {
            each += each / 8;
            frequent += frequent / 8;
        }
        look_enter(s, count, bits - SORT_SPLITTER_BITS);
        __syncthreads(); /* the frequent keys are known */
        if (bits == 32 && s.frequent < SORT_LOOK_KEYS / 2u) count = 0;
    }
    if (me == 0) {
        s.splitters.count = count;
        s.splitters.even &= !uneven;
        s.splitters.frequent = count ? s.most & 0xff : ~0u;
    }
    __syncthreads(); /* the splitters are complete */
    for (uint32_t i = me; i < sizeof s.splitters / 4; i += SORT_LOOK_THREADS)
        ((uint32_t *)a.pages.splitters)[i] = ((const uint32_t *)&s.splitters)[i];
}

#endif
