/*
 * sort/cuda/groups.cu - kernels of sorts of rows and segments that do not depend on the key.
 *
 *     sort_groups_long     the first lists of an MSD radix sort, from the long groups
 *     sort_groups_gather   values by index, after a sort of keys and positions
 *     sort_widen           indices of 4 bytes as indices of 8 bytes, also of other sorts
 *     sort_groups_pack     rows whose elements are not adjacent, to or from adjacent ones
 *     sort_pages_...       passes within one array: in pages_place.cuh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/ptx.cuh"
#include "sort/cuda/groups.cuh"
#include "sort/cuda/look.cuh"
#include "sort/cuda/pages_place.cuh"

/* ---- Long groups ---- */

/* A thread per group. */
extern "C" __global__ void __launch_bounds__(SORT_GROUPS_THREADS)
    sort_groups_long(const __grid_constant__ struct sort_long_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * SORT_GROUPS_THREADS;
    wait_for_earlier();
    const uint64_t count = a.groups.state ? list_count(a.groups, SORT_LONG) : a.rows;
    if (blockIdx.x == 0 && threadIdx.x == 0) a.to.lists.msd->seen = SORT_SEEN_BOTH;
    if (a.groups.state && a.groups.state->bad) return;
    for (uint64_t warp = (uint64_t)blockIdx.x * SORT_GROUPS_THREADS + threadIdx.x / 32 * 32;
         warp < count; warp += step) {
        const uint64_t i = warp + lane_id();
        struct group group = { 0, 0, 0 };
        uint32_t top = a.to.top;
        if (i < count && a.groups.state) top = long_top(a.to, a.groups.lists[SORT_LONG][i]);
        if (i < count)
            group = a.groups.state ? list_group(a.groups, SORT_LONG, i)
                                   : group_at(a.groups, a.first_row + i);
        long_add(a.to, group, i < count && group.in >= a.to.base && group.in < a.to.end, top);
    }
}

/* ---- Values by index ---- */

template <typename unit> static __device__ inline void gather(const struct sort_gather_args &a)
{
    const unit *from = (const unit *)a.from;
    unit *to = (unit *)a.to;
    const uint64_t step = (uint64_t)gridDim.x * SORT_GROUPS_THREADS;
    for (uint64_t p = (uint64_t)blockIdx.x * SORT_GROUPS_THREADS + threadIdx.x; p < a.n;
         p += step) {
        const uint64_t i = a.index[p];
        if (i == 0) continue;
        for (uint32_t u = 0; u < a.units; u++) to[p * a.units + u] = from[(i - 1) * a.units + u];
    }
}

extern "C" __global__ void __launch_bounds__(SORT_GROUPS_THREADS)
    sort_groups_gather(const __grid_constant__ struct sort_gather_args a)
{
    wait_for_earlier();
    if (a.state && a.state->counts[SORT_LONG] == 0) return;
    switch (a.unit) {
    case 1:
        gather<uint8_t>(a);
        break;
    case 2:
        gather<uint16_t>(a);
        break;
    case 4:
        gather<uint32_t>(a);
        break;
    case 8:
        gather<uint64_t>(a);
        break;
    default:
        gather<uint4>(a);
        break;
    }
}

/* ---- Indices of 8 bytes ---- */

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_widen(const __grid_constant__ struct sort_common a)
{
    enum { EACH = 8 };
    const uint32_t *in = (const uint32_t *)a.values_in;
    uint64_t *out = (uint64_t *)a.values_out;
    const uint64_t tile = (uint64_t)SORT_MOVE_THREADS * EACH;
    wait_for_earlier();
    for (uint64_t from = blockIdx.x * tile; from < a.n; from += gridDim.x * tile) {
        const uint64_t mine = from + threadIdx.x;
        uint32_t index[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (mine + i * SORT_MOVE_THREADS < a.n) index[i] = in[mine + i * SORT_MOVE_THREADS];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (mine + i * SORT_MOVE_THREADS < a.n) out[mine + i * SORT_MOVE_THREADS] = index[i];
    }
}

/* ---- Rows whose elements are not adjacent ---- */

enum { PACK = SORT_PACK_TILE, PACK_STEP = SORT_GROUPS_THREADS / PACK };

/* A tile through shared memory: adjacent threads read and write what is closest together in each
 * array. */
template <typename unit>
static __device__ inline void pack_tile(const struct sort_pack_args &a, unit (*tile)[PACK + 1],
                                        uint64_t row, uint64_t col)
{
    const unit *from = (const unit *)a.from;
    unit *to = (unit *)a.to;
    const uint32_t x = threadIdx.x % PACK, y = threadIdx.x / PACK;
    const bool from_rows = a.from_row < a.from_element, to_rows = a.to_row < a.to_element;
    for (uint32_t u = 0; u < a.units; u++) {
        for (uint32_t k = y; k < PACK; k += PACK_STEP) {
            const uint32_t r = from_rows ? x : k, c = from_rows ? k : x;
            if (row + r < a.rows && col + c < a.cols)
                tile[r][c] =
                    from[((row + r) * a.from_row + (col + c) * a.from_element) * a.units + u];
        }
        __syncthreads(); /* the tile is written */
        for (uint32_t k = y; k < PACK; k += PACK_STEP) {
            const uint32_t r = to_rows ? x : k, c = to_rows ? k : x;
            if (row + r < a.rows && col + c < a.cols)
                to[((row + r) * a.to_row + (col + c) * a.to_element) * a.units + u] = tile[r][c];
        }
        __syncthreads(); /* the tile may be written again */
    }
}

template <typename unit>
static __device__ inline void pack(const struct sort_pack_args &a, void *shared)
{
    const uint64_t down = (a.rows + PACK - 1) / PACK, across = (a.cols + PACK - 1) / PACK;
    for (uint64_t t = blockIdx.x; t < down * across; t += gridDim.x)
        pack_tile<unit>(a, (unit(*)[PACK + 1]) shared, t / across * PACK, t % across * PACK);
}

extern "C" __global__ void __launch_bounds__(SORT_GROUPS_THREADS)
    sort_groups_pack(const __grid_constant__ struct sort_pack_args a)
{
    __shared__ uint4 shared[PACK * (PACK + 1)];
    wait_for_earlier();
    switch (a.unit) {
    case 1:
        pack<uint8_t>(a, shared);
        break;
    case 2:
        pack<uint16_t>(a, shared);
        break;
    case 4:
        pack<uint32_t>(a, shared);
        break;
    case 8:
        pack<uint64_t>(a, shared);
        break;
    default:
        pack<uint4>(a, shared);
        break;
    }
}
