/*
 * topk/cuda/group.cuh - device code: where a group is, its keys in the form that is compared, and
 * the words of candidates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_GROUP_CUH
#define ECHI_TOPK_CUDA_GROUP_CUH

#include "cuda/device/block_network.cuh"
#include "cuda/device/data_error.cuh"
#include "cuda/device/order.cuh"
#include "cuda/device/segments.cuh"
#include "topk/cuda/common.h"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* A key as it is compared, and a candidate: the key, then its position in the group, so that no two
 * are equal. */
#if KEY_BITS == 64
typedef uint64_t ekey;
typedef network_u128 word;
#else
typedef uint32_t ekey;
typedef uint64_t word;
#endif
#define WORST (~(ekey)0)

/* Element i of the input. Kernels for keys of 16 bits also select from keys of 8 bits, whose order
 * has no bits above them. */
static __device__ inline ukey raw_key(const struct topk_args &a, uint64_t i)
{
#if KEY_BITS == 16
    if (a.key_bytes == 1) return ((const uint8_t *)a.in)[i];
#endif
    return ((const ukey *)a.in)[i];
}

static __device__ inline ekey key_of(const struct topk_args &a, ukey u)
{
    return (ekey)order_merge(a.order, order_encode(a.order, u));
}

/* ---- Keys that are not merged yet ---- */

/* The same without order_merge(): equal keys may differ, but the order of others is the same. */
static __device__ inline ekey split_key(const struct topk_args &a, ukey u)
{
    return (ekey)order_encode(a.order, u);
}

static __device__ inline ekey merged_key(const struct topk_args &a, ekey split)
{
    return (ekey)order_merge(a.order, (ukey)split);
}

/* The split keys that merged_key() maps to the same key as e: -0 and +0, or all NaN. */
struct equals {
    ekey low, high;
};

static __device__ inline struct equals equals_of(const struct topk_args &a, ekey e)
{
    const struct order_equals equals = order_equals_of(a.order, (ukey)e);
    return { (ekey)equals.low, (ekey)equals.high };
}

/* ---- Candidates ---- */

static __device__ inline word word_of(ekey e, uint32_t position)
{
    return (word)e << 32 | position;
}

static __device__ inline ekey word_key(word w)
{
    return (ekey)(w >> 32);
}

static __device__ inline uint32_t word_position(word w)
{
    return (uint32_t)w;
}

/* ---- Groups ---- */

struct group {
    uint64_t number, begin, n, k; /* k: at most n */
};

static __device__ inline struct group group_at(const struct topk_args &a, uint64_t g)
{
    struct group group;
    group.number = g;
    if (a.offsets) {
        const struct segments segments = { a.offsets, a.ends, a.offsets_index, a.n };
        const struct segment segment = segment_at(segments, g);
        group.begin = segment.begin;
        group.n = segment.n;
        if (segment.error)
            report_error(a.data_error, (enum echi_data_error)segment.error, segment.where);
    } else {
        group.begin = g * a.in_row;
        group.n = a.cols;
    }
    group.k = a.k;
    if (a.counts) {
        const uint64_t count = echi_index_at(a.counts, a.counts_index, g);
        if (count > a.k)
            report_error(a.data_error, ECHI_COUNT_TOO_LARGE, g);
        else
            group.k = count;
    }
    if (group.k > group.n) group.k = group.n;
    return group;
}

/* The number of groups that a kernel selects from, and group i of them: those of the list for a
 * block, or all. */
static __device__ inline uint64_t chip_groups(const struct topk_args &a)
{
    return a.lists ? min((uint64_t)a.lists->chip, a.chip_room) : a.groups;
}

static __device__ inline struct group chip_group(const struct topk_args &a, uint64_t i)
{
    return group_at(a, a.lists ? (uint64_t)a.chip_list[i] : i);
}

static __device__ inline ekey group_key(const struct topk_args &a, const struct group &group,
                                        uint64_t i)
{
    return key_of(a, raw_key(a, group.begin + i));
}

/* Writes element `to` of the group's result. */
static __device__ inline void write_result(const struct topk_args &a, const struct group &group,
                                           uint64_t to, uint64_t position)
{
    const uint64_t at = group.number * a.out_row + to * a.out_element;
    if (a.values) {
        const ukey u = raw_key(a, group.begin + position);
#if KEY_BITS == 16
        if (a.key_bytes == 1)
            ((uint8_t *)a.values)[at] = (uint8_t)u;
        else
#endif
            ((ukey *)a.values)[at] = u;
    }
    if (!a.indices) return;
    if (a.index_bytes == 4)
        ((uint32_t *)a.indices)[at] = (uint32_t)position;
    else
        ((uint64_t *)a.indices)[at] = position;
}

#endif
