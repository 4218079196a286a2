/*
 * 3_padded.cu - the same tree with one word of padding after every 32.
 *
 * Idea:   element i is in word i + i / 32: elements that are a multiple of 32 apart, and so were in
 *         one bank, are now in different banks
 * Cost:   16 more words of shared memory, an addition and a shift per address
 * Wastes: still one block, while all other multiprocessors are idle
 * From:   the lecture's third scan, which padded after every 16 words, for the banks of the first
 *         hardware
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
    element before = 0; /* the sum of the preceding tiles */
    for (uint64_t first = 0; first < n; first += 512) {
        for (unsigned i = t; i < 512; i += 256)
            x[scan_3_place(i)] = first + i < n ? in[first + i] : (element)0;
        for (unsigned s = 1; s < 512; s *= 2) { /* up-sweep */
            __syncthreads();                    /* the operands of this step are written */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) x[scan_3_place(right)] += x[scan_3_place(left)];
        }
        __syncthreads(); /* the root is written */
        element all = x[root];
        __syncthreads(); /* all have read it */
        if (t == 0) x[root] = 0;
        for (unsigned s = 256; s > 0; s /= 2) { /* down-sweep */
            __syncthreads();                    /* the values of the parents are written */
            unsigned left = scan_3_place(2 * s * t + s - 1);
            unsigned right = scan_3_place(2 * s * (t + 1) - 1);
            if (2 * s * (t + 1) <= 512) {
                element sum = x[left], parent = x[right];
                x[left] = parent;
                x[right] = parent + sum;
            }
        }
        __syncthreads(); /* the leaves are written */
        for (unsigned i = t; i < 512 && first + i < n; i += 256)
            out[first + i] = before + x[scan_3_place(i)];
        before += all;
        __syncthreads(); /* all have read before the next tile is loaded */
    }
}
