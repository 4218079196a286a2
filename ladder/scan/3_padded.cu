/*
 * 3_padded.cu - the same tree, with a word left out after every 32.
 *
 * Idea:   element i lies in word i + i / 32: what was a multiple of 32 words apart, and so in one
 *         bank, is now in 32 different ones
 * Cost:   16 words more of shared memory, an addition and a shift for each address
 * Wastes: still one block, while all other multiprocessors have nothing to do
 * From:   the lecture's third scan, which padded by one after every 16: the first hardware's
 *         banks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ inline unsigned scan_3_place(unsigned i)
{
    return i + i / 32;
}

extern "C" __global__ void scan_3(const element *in, uint64_t n, element *out)
{
    __shared__ element x[512 + 16];
    const unsigned t = threadIdx.x, root = scan_3_place(511);
    element before = 0; /* the sum of the tiles that are done */
    for (uint64_t first = 0; first < n; first += 512) {
        for (unsigned i = t; i < 512; i += 256)
            x[scan_3_place(i)] = first + i < n ? in[first + i] : (element)0;
        for (unsigned s = 1; s < 512; s *= 2) { /* up */
            __syncthreads();                    /* what this step adds is there */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) x[scan_3_place(right)] += x[scan_3_place(left)];
        }
        __syncthreads(); /* the root is there */
        element all = x[root];
        __syncthreads(); /* all have read it */
        if (t == 0) x[root] = 0;
        for (unsigned s = 256; s > 0; s /= 2) { /* down */
            __syncthreads();                    /* what the parents hand down is there */
            unsigned left = scan_3_place(2 * s * t + s - 1);
            unsigned right = scan_3_place(2 * s * (t + 1) - 1);
            if (2 * s * (t + 1) <= 512) {
                element sum = x[left], parent = x[right];
                x[left] = parent;
                x[right] = parent + sum;
            }
        }
        __syncthreads(); /* the leaves are there */
        for (unsigned i = t; i < 512 && first + i < n; i += 256)
            out[first + i] = before + x[scan_3_place(i)];
        before += all;
        __syncthreads(); /* all have read, and the next tile may come */
    }
}
