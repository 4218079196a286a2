/*
 * sort/cuda/group_bins.cu - sorts rows or segments of 32-bit and 64-bit keys without values, one
 * per block, by bins (small.cuh).
 *
 *     all       of every group; otherwise of those that sort_short_segments has listed
 *     tiles     a segment that exceeds a tile, in a small array: its tiles are sorted, then the
 *               place of a key is the number of keys before it in all tiles
 *     long      in other arrays: it is put on the lists of an MSD radix sort
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/groups.cuh"
#include "sort/cuda/small.cuh"

enum {
    GROUP_WARPS = SORT_GROUP_BINS_THREADS / 32,
    GROUP_ITEMS = SORT_GROUP_BINS_BYTES / KEY_BYTES,
    GROUP_TILE = SORT_GROUP_BINS_THREADS * GROUP_ITEMS
};

/* Merges the sorted tiles of a group: the place of a key is that in its tile plus the numbers of
 * keys of the others that precede it.  Several searches are in flight together. */
static __device__ inline void group_merge(const struct echi_order &o, const ukey *sorted, ukey *out,
                                          uint32_t n)
{
    enum { KEYS = 4, TILES = SORT_GROUP_BINS_TILES };
    for (uint32_t from = threadIdx.x; from < n; from += KEYS * SORT_GROUP_BINS_THREADS) {
        ukey key[KEYS];
        uint32_t place[KEYS][TILES];
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            const uint32_t i = from + k * SORT_GROUP_BINS_THREADS;
            key[k] = order_encode(o, i < n ? sorted[i] : (ukey)0);
#pragma unroll
            for (int t = 0; t < TILES; t++) place[k][t] = 0;
        }
        for (uint32_t step = GROUP_TILE; step; step /= 2)
#pragma unroll
            for (int k = 0; k < KEYS; k++)
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    const uint32_t own = (from + k * SORT_GROUP_BINS_THREADS) / GROUP_TILE;
                    const uint32_t at = place[k][t] + step, first = t * GROUP_TILE;
                    if (at > GROUP_TILE || first + at > n) continue;
                    const ukey e = order_encode(o, sorted[first + at - 1]);
                    if (e < key[k] || (e == key[k] && (uint32_t)t < own)) place[k][t] = at;
                }
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            const uint32_t i = from + k * SORT_GROUP_BINS_THREADS, own = i / GROUP_TILE;
            uint32_t to = i - own * GROUP_TILE;
#pragma unroll
            for (int t = 0; t < TILES; t++)
                if ((uint32_t)t != own) to += place[k][t];
            if (i < n) out[to] = order_decode(o, key[k]);
        }
    }
}

static __device__ inline void group_sort(const struct sort_short_args &a, const struct group &g)
{
    const uint32_t n = (uint32_t)g.n;
    const ukey *in = (const ukey *)a.common.keys_in + g.in;
    ukey *out = (ukey *)a.common.keys_out + g.out;
    ukey *sorted = n > GROUP_TILE ? (ukey *)a.common.keys_tmp + g.in : out;
    struct sort_common tile = a.common;
#pragma unroll 1
    for (uint32_t t = 0; t < n; t += GROUP_TILE) {
        tile.keys_in = in + t;
        tile.keys_out = sorted + t;
        tile.n = min(n - t, (uint32_t)GROUP_TILE);
        small_bins<GROUP_WARPS, GROUP_ITEMS>(tile);
        __syncthreads(); /* the tile is written, and the shared memory may be */
    }
    if (n > GROUP_TILE) group_merge(a.common.order, sorted, out, n);
}

/* Puts long segment i on the lists, by a warp: at most as many elements as there are, also if
 * segments overlap. */
static __device__ inline void group_leave(const struct sort_short_args &a, const struct group &g,
                                          uint64_t i)
{
    struct sort_groups_state *state = a.groups.state;
    bool here = false;
    if (lane_id() == 0)
        here = !state->bad &&
               atomicAdd((unsigned long long *)&state->longest, (unsigned long long)g.n) + g.n <=
                   a.groups.n;
    __syncwarp();
    long_add(a.to, g, here, long_top(a.to, i));
}

extern "C" __global__ void __launch_bounds__(SORT_GROUP_BINS_THREADS)
    sort_group_bins(const __grid_constant__ struct sort_short_args a)
{
    __shared__ struct group one;
    uint64_t item = blockIdx.x;
    wait_for_earlier();
    if (a.to.lists.msd && blockIdx.x == 0 && threadIdx.x == 0)
        a.to.lists.msd->seen = SORT_SEEN_BOTH;
    for (uint32_t list = 0; list <= (a.all ? 0u : (uint32_t)SORT_LONG); list++) {
        const uint64_t count = a.all ? a.groups.groups : list_count(a.groups, list);
        for (; item < count; item += gridDim.x) {
            if (threadIdx.x == 0) {
                one = a.all ? group_at(a.groups, item) : list_group(a.groups, list, item);
                if (a.all && a.groups.offsets) one.n = group_length(a.groups, item, one.in);
            }
            __syncthreads(); /* the group is known */
            const struct group g = one;
            if (g.n <= GROUP_TILE || !a.to.lists.msd)
                group_sort(a, g);
            else if (threadIdx.x < 32)
                group_leave(a, g, a.all ? item : a.groups.lists[list][item]);
            __syncthreads(); /* all threads have read the group */
        }
        item -= count;
    }
    if (a.reset) groups_reset(*a.groups.state);
}
