/*
 * arrange/cuda/move.cuh - moves elements by position: gather, scatter, shuffle, and fixed rules for
 * large elements.
 *
 * A thread first computes the positions of several elements, then loads them all, then stores them:
 * the loads are not coalesced and each waits for memory, so several must be in flight together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_MOVE_CUH
#define ECHI_ARRANGE_CUDA_MOVE_CUH

#include "arrange/cuda/word.cuh"
#include "cuda/device/data_error.cuh"
#include "cuda/device/ptx.cuh"
#include "cuda/device/ptx_pair.cuh"
#include "arrange/cuda/shuffle.cuh"

#define NOWHERE (~(uint64_t)0)

/* Reports an index that is too large and returns NOWHERE for it. */
static __device__ inline uint64_t checked(const struct arrange_move_args &a, uint64_t i,
                                          uint64_t place)
{
    if (place < a.limit) return place;
    report_error(a.data_error, ECHI_INDEX_TOO_LARGE, i);
    return NOWHERE;
}

/* With duplicate indices of a scatter, two threads write the same word: such a store must not
 * tear. */
static __device__ inline void put_word(const struct arrange_move_args &a, word *to, word w)
{
    if (!a.scatter) {
        *to = w;
        return;
    }
#if WORD_BYTES == 16
    store_pair_u64((uint64_t *)to, (uint64_t)w.y << 32 | w.x, (uint64_t)w.w << 32 | w.z);
#else
    *(volatile word *)to = w;
#endif
}

/* ---- Elements of one word ---- */

enum { MOVE_WORDS = ARRANGE_MOVE_WORDS(WORD_BYTES) };

static __device__ inline void find_places(const struct arrange_move_args &a, uint64_t first,
                                          uint64_t place[MOVE_WORDS])
{
    const uint32_t *narrow = (const uint32_t *)a.index;
    const uint64_t *wide = (const uint64_t *)a.index;
    const uint64_t left = first < a.n ? a.n - first : 0;
    if (a.from == ARRANGE_MAP) {
#pragma unroll
        for (int k = 0; k < MOVE_WORDS; k++) {
            const uint32_t j = k * ARRANGE_THREADS;
            place[k] = j < left ? shuffle_at(a.map, first + j) : NOWHERE;
        }
        return;
    }
    if (a.from == ARRANGE_INDEX_U32) {
#pragma unroll
        for (int k = 0; k < MOVE_WORDS; k++) {
            const uint32_t j = k * ARRANGE_THREADS;
            place[k] = j < left ? __ldcs(narrow + first + j) : NOWHERE;
        }
    } else {
#pragma unroll
        for (int k = 0; k < MOVE_WORDS; k++) {
            const uint32_t j = k * ARRANGE_THREADS;
            place[k] = j < left ? __ldcs((const unsigned long long *)wide + first + j) : NOWHERE;
        }
    }
#pragma unroll
    for (int k = 0; k < MOVE_WORDS; k++) {
        const uint32_t j = k * ARRANGE_THREADS;
        if (j < left) place[k] = checked(a, first + j, place[k]);
    }
}

static __device__ inline void move_words(const struct arrange_move_args &a)
{
    const word *in = (const word *)a.in;
    word *out = (word *)a.out;
    const uint64_t step = (uint64_t)gridDim.x * ARRANGE_THREADS * MOVE_WORDS;
    uint64_t first = (uint64_t)blockIdx.x * ARRANGE_THREADS * MOVE_WORDS + threadIdx.x;
    for (; first < a.n; first += step) {
        uint64_t place[MOVE_WORDS];
        word w[MOVE_WORDS];
        find_places(a, first, place);
#pragma unroll
        for (int k = 0; k < MOVE_WORDS; k++)
            if (place[k] != NOWHERE) w[k] = in[a.scatter ? first + k * ARRANGE_THREADS : place[k]];
#pragma unroll
        for (int k = 0; k < MOVE_WORDS; k++)
            if (place[k] != NOWHERE)
                put_word(a, out + (a.scatter ? place[k] : first + k * ARRANGE_THREADS), w[k]);
    }
}

/* ---- Gathers of elements of one word ---- */

/* Few elements per thread and many threads: random places keep the L2 cache busy in any case, and
 * with few the last threads end early.  No load of an index is conditional. */
template <typename index>
static __device__ inline void gather_words(const struct arrange_move_args &a)
{
    enum { EACH = ARRANGE_GATHER_WORDS };
    const index *places = keep_pointer((const index *)a.index);
    const word *in = keep_pointer((const word *)a.in);
    word *out = (word *)a.out;
    const uint64_t step = (uint64_t)gridDim.x * ARRANGE_THREADS * EACH;
    uint64_t first = (uint64_t)blockIdx.x * ARRANGE_THREADS * EACH + threadIdx.x;
    for (; first < a.n; first += step) {
        uint64_t place[EACH];
        word w[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            place[k] = __ldcs(places + min(first + k * ARRANGE_THREADS, a.n - 1));
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (place[k] < a.limit) w[k] = in[place[k]];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const uint64_t i = first + k * ARRANGE_THREADS;
            if (i < a.n && checked(a, i, place[k]) != NOWHERE) out[i] = w[k];
        }
    }
}

/* ---- Elements of several words ---- */

static __device__ inline uint64_t find_place(const struct arrange_move_args &a, uint64_t i)
{
    switch (a.from) {
    case ARRANGE_INDEX_U32:
        return checked(a, i, ((const uint32_t *)a.index)[i]);
    case ARRANGE_INDEX_U64:
        return checked(a, i, ((const uint64_t *)a.index)[i]);
    case ARRANGE_MAP:
        return shuffle_at(a.map, i);
    case ARRANGE_MIRROR:
        return a.limit - 1 - i;
    case ARRANGE_TURN:
        return i % a.rows * a.columns + i / a.rows;
    default:
        return 0;
    }
}

/* Consecutive threads move consecutive words, whatever the size of an element. */
static __device__ inline void move_wide(const struct arrange_move_args &a)
{
    __shared__ uint64_t places[ARRANGE_PIECE_ELEMENTS];
    enum { AT_ONCE = 4 };
    const word *in = (const word *)a.in;
    word *out = (word *)a.out;
    const uint64_t units = ((a.n - 1) / a.piece_elements + 1) * a.pieces;
    for (uint64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const uint64_t group = a.pieces == 1 ? unit : unit / a.pieces;
        const uint64_t first = group * a.piece_elements, left = a.n - first;
        const uint64_t begin = (unit - group * a.pieces) * a.piece_words, rest = a.words - begin;
        const uint32_t count = left < a.piece_elements ? (uint32_t)left : a.piece_elements;
        const uint32_t width = rest < a.piece_words ? (uint32_t)rest : a.piece_words;
        __syncthreads(); /* all threads have read the positions of the previous unit */
        for (uint32_t e = threadIdx.x; e < count; e += ARRANGE_THREADS)
            places[e] = find_place(a, first + e);
        __syncthreads(); /* the positions are written */
        for (uint32_t j = threadIdx.x; j < count * a.piece_words; j += AT_ONCE * ARRANGE_THREADS) {
            uint64_t to[AT_ONCE];
            word w[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const uint32_t at = j + k * ARRANGE_THREADS;
                const uint32_t e = divide(at, a.piece_words, a.inverse);
                const uint32_t part = at - e * a.piece_words;
                const uint64_t place = e < count && part < width ? places[e] : NOWHERE;
                const uint64_t here = (first + e) * a.words + begin + part;
                const uint64_t there = place * a.words + begin + part;
                to[k] = place == NOWHERE ? NOWHERE : a.scatter ? there : here;
                if (place != NOWHERE) w[k] = in[a.scatter ? here : there];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (to[k] != NOWHERE) put_word(a, out + to[k], w[k]);
        }
    }
}

/* Large elements in reverse, in place: n counts the first half, limit all elements. */
static __device__ inline void swap_wide(const struct arrange_move_args &a)
{
    word *out = (word *)a.out;
    const uint64_t units = a.n * a.pieces;
    for (uint64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const uint64_t i = unit / a.pieces, begin = (unit - i * a.pieces) * a.piece_words;
        word *front = out + i * a.words, *back = out + (a.limit - 1 - i) * a.words;
        const uint64_t end = begin + a.piece_words < a.words ? begin + a.piece_words : a.words;
        for (uint64_t j = begin + threadIdx.x; j < end; j += ARRANGE_THREADS) {
            const word w = front[j], v = back[j];
            front[j] = v;
            back[j] = w;
        }
    }
}

#endif
