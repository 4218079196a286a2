/*
 * quantile/cuda/kernels.cu - kernels that write the results, given sorted positions or keys, or the
 * bounds that select.cuh, search.cuh and find.cuh found.  few.cuh has the elements of small arrays,
 * place.cuh and place_parts.cuh the partitions in one pass.
 *
 *     quantile_bounds   the keys and positions of the ranks, from sorted positions
 *     quantile_element  one element
 *     quantile_ids      the parts of several bounds, as numbers of 8 bits, which are sorted
 *     quantile_gather   the partition, from the sorted positions
 *     quantile_write    quantiles
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cuda/few.cuh"
#include "quantile/cuda/place_parts.cuh"

/* ---- Elements ---- */

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_bounds(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    for (uint32_t j = threadIdx.x; j < a.count; j += blockDim.x) {
        const uint64_t at = number_at(a.sorted, a.position_bytes, a.list_of.ranks[j]);
        a.bounds[j].key = key_at(a, at);
        a.bounds[j].position = at;
    }
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_element(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    if (threadIdx.x) return;
    const struct quantile_bound b = a.bounds[0];
    if (a.out) *(ukey *)a.out = bits_at(a, b);
    if (a.index) store_number(a.index, a.index_bytes, 0, b.position);
}

/* ---- Partitions around several bounds ---- */

static __device__ inline bool is_after(ukey e, uint64_t i, const struct quantile_bound &b)
{
    return e > (ukey)b.key || (e == (ukey)b.key && i > b.position);
}

static __device__ inline void write_at(const struct quantile_args &a, uint64_t to, ukey u,
                                       uint64_t i)
{
    if (a.out) ((ukey *)a.out)[to] = u;
    if (a.index) store_number(a.index, a.index_bytes, to, i);
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_ids(const __grid_constant__ struct quantile_args a)
{
    __shared__ struct quantile_bound bounds[QUANTILE_BATCH];
    wait_for_earlier();
    for (uint32_t j = threadIdx.x; j < a.count; j += blockDim.x) bounds[j] = a.bounds[j];
    __syncthreads(); /* the bounds are loaded */
    for (uint64_t i = grid_first(); i < a.n; i += grid_step()) {
        const ukey e = key_at(a, i);
        uint32_t low = 0;
        for (uint32_t count = a.count; count > 0;) { /* bounds before the element */
            const uint32_t half = count / 2;
            const bool after = is_after(e, i, bounds[low + half]);
            low += after ? half + 1 : 0;
            count = after ? count - half - 1 : half;
        }
        a.ids[i] = (uint8_t)(2 * low + (low < a.count && bounds[low].position == i));
    }
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_gather(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    for (uint64_t i = grid_first(); i < a.n; i += grid_step()) {
        const uint64_t at = a.sorted ? number_at(a.sorted, a.position_bytes, i) : i;
        write_at(a, i, ((const ukey *)a.in)[at], at);
    }
}

/* ---- Quantiles ---- */

/* The number of elements of sorted keys that are not NaN. */
static __device__ inline uint64_t sorted_numbers(const struct quantile_args &a)
{
    uint64_t low = 0;
    if (!a.order.float_mask) return a.n;
    for (uint64_t count = a.n; count > 0;) {
        const uint64_t half = count / 2;
        const bool less = merged(a, ((const ukey *)a.sorted)[low + half]) < (ukey)a.order.last;
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    return low;
}

static __device__ inline void store_bits(void *out, uint32_t bytes, uint64_t i, uint64_t u)
{
    if (bytes == 8)
        ((uint64_t *)out)[i] = u;
    else
        ((ukey *)out)[i] = (ukey)u;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_write(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    const uint32_t i = threadIdx.x, bytes = a.discrete ? KEY_BYTES : 8;
    if (i >= a.count) return;
    const uint64_t n = a.n == 0 ? 0 : a.state ? input_numbers(a) : sorted_numbers(a);
    if (n == 0 || (n < a.n && !a.ignore_nan)) {
        store_bits(a.out, bytes, i, a.out_nan);
        return;
    }
    const struct quantile_place at = quantile_place_of((int)a.method, a.list_of.q[i], n);
    const uint64_t first = a.state ? a.state->targets[2 * i].key
                                   : (uint64_t)merged(a, ((const ukey *)a.sorted)[at.rank]);
    const uint64_t second = a.state ? a.state->targets[2 * i + 1].key
                                    : (uint64_t)merged(a, ((const ukey *)a.sorted)[at.next]);
    const uint64_t x = quantile_bits_of_key(&a.order, KEY_BYTES, a.nan, first);
    const uint64_t y = quantile_bits_of_key(&a.order, KEY_BYTES, a.nan, second);
    const double between = quantile_between(quantile_number((int)a.kind, KEY_BYTES, x),
                                            quantile_number((int)a.kind, KEY_BYTES, y), at.weight);
    store_bits(a.out, bytes, i, a.discrete ? x : quantile_bits_of_f64(between));
}
