/*
 * 3_padded.cu - the same tree with one word of padding after every 16 or 32.
 *
 * Idea:   element i is in word i + i / 32: elements that are a multiple of 32 apart, and so were in
 *         one bank, are now in different banks. For 16 banks it is i + i / 16
 * Cost:   16 (32) more words of shared memory, an addition and a shift per address
 * Wastes: still one block, while all other multiprocessors are idle
 * From:   the lecture's optimised scan, which pads after every 16 words, for the 16 banks of its
 *         hardware; 32 is our addition, for today's banks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* log_banks is a constant in each of the two kernels. */
static __device__ __forceinline__ void scan_3_tiles(const element *in, uint64_t n, element *out,
                                                    element *x, const unsigned log_banks)
{
    const unsigned t = threadIdx.x, root = 511 + (511 >> log_banks);
    element before = 0; /* the sum of the preceding tiles */
    for (uint64_t first = 0; first < n; first += 512) {
        for (unsigned i = t; i < 512; i += 256)
            x[i + (i >> log_banks)] = first + i < n ? in[first + i] : (element)0;
        for (unsigned s = 1; s < 512; s *= 2) { /* up-sweep */
            __syncthreads();                    /* the operands of this step are written */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) x[right + (right >> log_banks)] += x[left + (left >> log_banks)];
        }
        __syncthreads(); /* the root is written */
        element all = x[root];
        __syncthreads(); /* all have read it */
        if (t == 0) x[root] = 0;
        for (unsigned s = 256; s > 0; s /= 2) { /* down-sweep */
            __syncthreads();                    /* the values of the parents are written */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) {
                element sum = x[left + (left >> log_banks)];
                element parent = x[right + (right >> log_banks)];
                x[left + (left >> log_banks)] = parent;
                x[right + (right >> log_banks)] = parent + sum;
            }
        }
        __syncthreads(); /* the leaves are written */
        for (unsigned i = t; i < 512 && first + i < n; i += 256)
            out[first + i] = before + x[i + (i >> log_banks)];
        before += all;
        __syncthreads(); /* all have read before the next tile is loaded */
    }
}

extern "C" __global__ void scan_3_16(const element *in, uint64_t n, element *out)
{
    __shared__ element x[512 + 32];
    scan_3_tiles(in, n, out, x, 4);
}

extern "C" __global__ void scan_3_32(const element *in, uint64_t n, element *out)
{
    __shared__ element x[512 + 16];
    scan_3_tiles(in, n, out, x, 5);
}
