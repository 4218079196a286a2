/*
 * search/cuda/table.cuh - a search of keys of 8 or 16 bits by a table of the position of each
 * possible needle, and the kernels that make and read it.
 *
 *     search_codes   a warp (8 bits) or a thread (16 bits) per possible needle searches the array
 *     search_table   a thread loads some adjacent needles and stores 16 bytes of positions
 *
 * The table of 8 bits is read from shared memory, that of 16 bits through the L1 cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SEARCH_CUDA_TABLE_CUH
#define ECHI_SEARCH_CUDA_TABLE_CUH

#define SEARCH_CODES ((uint32_t)1 << KEY_BITS)

/* Whether the positions in the table have 8 bytes. */
static __device__ inline bool table_is_wide(const struct search_args &a)
{
    return a.n >> 32 != 0;
}

static __device__ inline void table_put(const struct search_args &a, uint32_t key, uint64_t at)
{
    if (table_is_wide(a))
        a.table[key] = at;
    else
        ((uint32_t *)a.table)[key] = (uint32_t)at;
}

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS)
    search_codes(const __grid_constant__ struct search_args a)
{
    const uint32_t t = blockIdx.x * SEARCH_THREADS + threadIdx.x;
    wait_for_earlier();
#if KEY_BYTES == 1
    const struct needle x = needle_of(a, (ukey)(t / 32));
    const uint64_t at = x.after_all ? a.n : search_by_warp(a, x.code);
    if (lane_id() == 0) table_put(a, t / 32, at);
#else
    const struct needle x = needle_of(a, (ukey)t);
    table_put(a, t, x.after_all ? a.n : search_range(a, x.code, 0, a.n));
#endif
}

/* Tables of both halves of the positions; the upper one only if there are so many keys. */
struct table {
    const uint32_t *low, *high;
    __device__ inline uint64_t operator[](ukey key) const
    {
#if KEY_BYTES == 1
        return low[key] | (high ? (uint64_t)high[key] << 32 : 0);
#else
        return high ? __ldg((const unsigned long long *)low + key) : (uint64_t)__ldg(low + key);
#endif
    }
};

/* The positions of 16 bytes and the needles with these positions. */
template <typename position> struct table_vector {
    enum { EACH = 16 / sizeof(position), BYTES = EACH * sizeof(ukey) };
    union needles {
        uint64_t word;
        ukey of[8 / sizeof(ukey)];
    };
    union positions {
        uint4 vector;
        position of[EACH];
    };
    static __device__ inline union needles load(const void *from)
    {
        union needles x = { 0 };
        if (BYTES == 2)
            x.word = __ldcs((const unsigned short *)from);
        else if (BYTES == 4)
            x.word = __ldcs((const unsigned *)from);
        else
            x.word = __ldcs((const unsigned long long *)from);
        return x;
    }
};

template <typename position>
static __device__ inline void table_positions(const struct search_args &a,
                                              const struct table &table)
{
    typedef table_vector<position> vector;
    enum { EACH = vector::EACH, AT_ONCE = SEARCH_TABLE_AT_ONCE };
    const uint64_t step = (uint64_t)gridDim.x * SEARCH_THREADS;
    const uint64_t first = (uint64_t)blockIdx.x * SEARCH_THREADS + threadIdx.x;
    const ukey *needles = (const ukey *)a.needles;
    position *positions = (position *)a.positions;
    const bool aligned = (uintptr_t)needles % vector::BYTES == 0 && (uintptr_t)positions % 16 == 0;
    const uint64_t vectors = aligned ? a.m / EACH : 0;
    for (uint64_t v = first; v < vectors; v += AT_ONCE * step) {
        typename vector::needles x[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            if (v + u * step < vectors) x[u] = vector::load(needles + (v + u * step) * EACH);
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            typename vector::positions at;
            if (v + u * step >= vectors) continue;
#pragma unroll
            for (int k = 0; k < EACH; k++) at.of[k] = (position)table[x[u].of[k]];
            __stcs((uint4 *)positions + v + u * step, at.vector);
        }
    }
    for (uint64_t i = vectors * EACH + first; i < a.m; i += step)
        positions[i] = (position)table[needles[i]];
}

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS)
    search_table(const __grid_constant__ struct search_args a)
{
    const uint32_t *words = (const uint32_t *)a.table;
    const bool wide = table_is_wide(a);
    wait_for_earlier();
#if KEY_BYTES == 1
    __shared__ uint32_t low[SEARCH_CODES], high[SEARCH_CODES];
    for (uint32_t i = threadIdx.x; i < SEARCH_CODES; i += SEARCH_THREADS) {
        low[i] = words[wide ? 2 * i : i];
        high[i] = wide ? words[2 * i + 1] : 0;
    }
    __syncthreads(); /* the table is loaded */
    const struct table table = { low, wide ? high : NULL };
#else
    const struct table table = { words, wide ? words : NULL };
#endif
    if (a.index_bytes == 8)
        table_positions<uint64_t>(a, table);
    else
        table_positions<uint32_t>(a, table);
}

#endif
