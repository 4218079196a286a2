/*
 * 4_blocks.cu - large arrays: every block scans a tile, and the sums of the tiles are scanned, too.
 *
 * Idea:   each block scans its tile by the padded tree and stores the tile's sum; the array of sums
 *         is scanned in the same way, by as many levels as necessary; then each block except the
 *         first adds its exclusive prefix
 * Cost:   two launches per level, one for the last; 4n words moved: the array is read and written
 *         twice
 * Wastes: half of that traffic
 * From:   the lecture's scan of large arrays; scanLargeArray of NVIDIA's samples (Harris and
 *         others, 2007)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ inline unsigned scan_4_place(unsigned i)
{
    return i + i / 32;
}

/* out may equal in. */
extern "C" __global__ void scan_4(const element *in, uint64_t n, element *out, element *sums)
{
    __shared__ element x[512 + 16];
    const unsigned t = threadIdx.x, root = scan_4_place(511);
    const uint64_t first = (uint64_t)blockIdx.x * 512;
    for (unsigned i = t; i < 512; i += 256)
        x[scan_4_place(i)] = first + i < n ? in[first + i] : (element)0;
    for (unsigned s = 1; s < 512; s *= 2) { /* up-sweep */
        __syncthreads();                    /* the operands of this step are written */
        unsigned left = 2 * s * t + s - 1, right = left + s;
        if (right < 512) x[scan_4_place(right)] += x[scan_4_place(left)];
    }
    __syncthreads(); /* the root is written */
    if (t == 0) {
        sums[blockIdx.x] = x[root];
        x[root] = 0;
    }
    for (unsigned s = 256; s > 0; s /= 2) { /* down-sweep */
        __syncthreads();                    /* the values of the parents are written */
        unsigned left = scan_4_place(2 * s * t + s - 1);
        unsigned right = scan_4_place(2 * s * (t + 1) - 1);
        if (2 * s * (t + 1) <= 512) {
            element sum = x[left], parent = x[right];
            x[left] = parent;
            x[right] = parent + sum;
        }
    }
    __syncthreads(); /* the leaves are written */
    for (unsigned i = t; i < 512 && first + i < n; i += 256) out[first + i] = x[scan_4_place(i)];
}

/* Adds its exclusive prefix to each tile except the first. */
extern "C" __global__ void scan_4_add(element *out, uint64_t n, const element *sums)
{
    const uint64_t tile = (uint64_t)blockIdx.x + 1;
    const uint64_t i = tile * 512 + threadIdx.x;
    const element before = sums[tile];
    if (i < n) out[i] += before;
    if (i + 256 < n) out[i + 256] += before;
}
