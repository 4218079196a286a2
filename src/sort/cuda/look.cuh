/*
 * sort/cuda/look.cuh - kernel sort_pages_look: finds splitters (struct sort_splitters) in a sample.
 *
 *     sample      a key from each of SORT_LOOK_KEYS parts of the input
 *     even        the first 8 bits are even, and few keys are equal: these are the bins
 *     splitters   quantiles of the sorted sample (quantiles.cuh); none if few digits differ, or if
 *                 passes by all digits are faster: 32-bit keys, few of them frequent, unless bins
 *                 are sorted in place (resident.cuh)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LOOK_CUH
#define ECHI_SORT_CUDA_LOOK_CUH

#include "sort/cuda/passes.h"
#include "sort/cuda/quantiles.cuh"

enum {
    LOOK_SLOTS = SORT_LOOK_KEYS,          /* of a hash table */
    LOOK_BALLOTS = SORT_LOOK_KEYS / 4,    /* of the most frequent key, at least */
    LOOK_FREQUENT = SORT_LOOK_KEYS / 128, /* of a frequent key, at least */
    LOOK_MANY_LOG = 26,                   /* keys: from here on, bins should be more even */
    LOOK_SAME_LOG = 33 /* n times the keys of the sample that have equal ones, at most */
};

struct look_shared {
    union {
        uint64_t key[SORT_LOOK_KEYS];
        uint32_t key32[2 * SORT_LOOK_KEYS];
    };
    union {
        uint64_t split[SORT_BINS];
        uint32_t split32[SORT_BINS];
    };
    uint16_t slots[LOOK_SLOTS];
    uint32_t digits[SORT_BINS]; /* keys of each first digit */
    uint32_t sums[SORT_BINS / 32];
    unsigned long long differ; /* bits that differ from those of the first key */
    uint32_t most, frequent, count;
    struct sort_splitters splitters;
};

/* Key t of a sample, in the form in which keys are compared. */
static __device__ inline uint64_t look_key(const struct sort_passes_args &a, uint32_t t,
                                           uint32_t samples)
{
    const struct echi_order &o = a.common.order;
    const uint32_t part = (uint32_t)(a.common.n / samples), bits = 8 * a.pages.key_bytes;
    const uint64_t at = (uint64_t)t * part + __umulhi(t * 2654435761u, part);
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

/* Counts the first digits of the sample; finds whether it is in order, and how many digits
 * differ. */
static __device__ inline void look_range(struct look_shared &s, uint32_t digit_shift)
{
    const uint32_t me = threadIdx.x;
    uint64_t differ = 0;
    bool falls = false, rises = false;
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++) {
        const uint32_t i = k * SORT_LOOK_THREADS + me;
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

static __device__ inline uint32_t look_slot(uint64_t e)
{
    return (uint32_t)((e * 0x9e3779b97f4a7c15ull) >> 51) % LOOK_SLOTS;
}

/* The number of keys of the sample that are equal to another one, about: a slot of a hash table has
 * one key, and the other ones with its hash are compared with it. */
static __device__ inline uint32_t look_same(struct look_shared &s)
{
    uint32_t same = 0;
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++) {
        const uint32_t i = k * SORT_LOOK_THREADS + threadIdx.x;
        s.slots[look_slot(s.key[i])] = (uint16_t)i;
    }
    __syncthreads(); /* every slot in use has one of its keys */
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++) {
        const uint32_t i = k * SORT_LOOK_THREADS + threadIdx.x, at = s.slots[look_slot(s.key[i])];
        same += (uint32_t)__syncthreads_count(at != i && s.key[at] == s.key[i]);
    }
    return same;
}

/* Sorts a sample, EACH keys of a thread, and writes the splitters. */
template <int EACH, typename type>
static __device__ __noinline__ void look_split(const struct sort_passes_args &a,
                                               struct look_shared &s, type *key, type *split)
{
    enum { KEYS = EACH * SORT_LOOK_THREADS };
    const uint32_t me = threadIdx.x;
    type e[EACH];
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) e[k] = (type)look_key(a, k * SORT_LOOK_THREADS + me, KEYS);
    __syncthreads(); /* all threads have read */
    quantiles_sort<type, SORT_LOOK_THREADS>(key, e);
    const uint32_t count = quantiles_write(key, KEYS / SORT_BINS, split, s.sums);
    __syncthreads(); /* the splitters are written */
    if (me < SORT_BINS) s.splitters.key[me] = split[me];
    if (me == 0) s.count = count;
    if (me + 1 < count && split[me + 1] - split[me] == 1) { /* perhaps a frequent key */
        const uint32_t equal =
            (quantiles_below(key, KEYS, split[me + 1]) - quantiles_below(key, KEYS, split[me])) *
            SORT_LOOK_KEYS / KEYS;
        atomicMax(&s.most, equal << 8 | (me + 1));
        if (equal >= LOOK_FREQUENT) atomicAdd(&s.frequent, equal);
    }
    __syncthreads(); /* the frequent keys are known */
}

extern "C" __global__ void __launch_bounds__(SORT_LOOK_THREADS)
    sort_pages_look(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ struct look_shared s;
    const uint32_t me = threadIdx.x, bits = 8 * a.pages.key_bytes;
    const bool resident = a.pages.group != 0;
    for (uint32_t k = 0; k < SORT_LOOK_EACH; k++) {
        const uint32_t i = me + k * SORT_LOOK_THREADS;
        s.key[i] = look_key(a, i, SORT_LOOK_KEYS);
    }
    if (me < SORT_BINS) s.digits[me] = 0;
    for (uint32_t i = me; i < sizeof s.splitters / 4; i += SORT_LOOK_THREADS)
        ((uint32_t *)&s.splitters)[i] = 0;
    if (me == 0) {
        s.differ = 0;
        s.most = s.frequent = s.count = 0;
    }
    __syncthreads(); /* the sample is written */
    look_range(s, bits - SORT_DIGIT_BITS);
    const uint64_t most = SORT_LOOK_KEYS * 3 / 4 * a.pages.most / a.common.n;
    const uint32_t even =
        resident ? (uint32_t)SORT_LOOK_EVEN : max((uint32_t)SORT_LOOK_EVEN, (uint32_t)most);
    bool uneven = __syncthreads_or(me < SORT_BINS && s.digits[me] > even);
    const bool splits = resident || SORT_SPLITS_SEGMENTS(bits / 8, a.pages.value_bytes);
    const bool differs = s.splitters.even && splits;
    if (!uneven && differs && resident) {
        const uint64_t same = (1ull << LOOK_SAME_LOG) / a.common.n;
        uneven = look_same(s) > min(same, (uint64_t)SORT_LOOK_KEYS / 2);
    }
    __syncthreads(); /* all threads have read */
    if (uneven && differs) {
        const bool many = a.common.n >> LOOK_MANY_LOG != 0;
        if (bits == 32 && many)
            look_split<2 * SORT_LOOK_EACH>(a, s, s.key32, s.split32);
        else if (bits == 32)
            look_split<SORT_LOOK_EACH / 2>(a, s, s.key32, s.split32);
        else if (many)
            look_split<SORT_LOOK_EACH>(a, s, s.key, s.split);
        else
            look_split<SORT_LOOK_EACH / 2>(a, s, s.key, s.split);
    }
    if (me == 0) {
        const bool slow = bits == 32 && !resident && s.frequent < SORT_LOOK_KEYS / 2u;
        s.splitters.count = slow ? 0 : s.count;
        s.splitters.even &= !uneven;
        s.splitters.frequent = s.most ? s.most & 0xff : ~0u;
        s.splitters.ballots = s.most >> 8 >= LOOK_BALLOTS;
    }
    __syncthreads(); /* the splitters are complete */
    for (uint32_t i = me; i < sizeof s.splitters / 4; i += SORT_LOOK_THREADS)
        ((uint32_t *)a.pages.splitters)[i] = ((const uint32_t *)&s.splitters)[i];
}

#endif
