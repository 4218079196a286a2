/*
 * 2_tree.cu - a work-efficient scan: up-sweep and down-sweep of a tree.
 *
 * Idea:   the up-sweep adds pairs, then pairs of these sums, up to the root. Then the root is set
 *         to 0. In the down-sweep each node passes its value to its left child, and its value plus
 *         the left child's sum to its right child: each leaf gets the sum of all elements to its
 *         left
 * Cost:   2 (n - 1) additions; one thread per two elements; 18 steps instead of 9
 * Wastes: in step s adjacent threads are 2s words apart: 2, 4, 8, 16, 32 of them access one bank
 * From:   Blelloch (1990); the lecture's first scan
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void scan_2(const element *in, uint64_t n, element *out)
{
    __shared__ element x[512];
    const unsigned t = threadIdx.x;
    element before = 0; /* the sum of the preceding tiles */
    for (uint64_t first = 0; first < n; first += 512) {
        for (unsigned i = t; i < 512; i += 256) x[i] = first + i < n ? in[first + i] : (element)0;
        for (unsigned s = 1; s < 512; s *= 2) { /* up-sweep */
            __syncthreads();                    /* the operands of this step are written */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) x[right] += x[left];
        }
        __syncthreads(); /* the root is written */
        element all = x[511];
        __syncthreads(); /* all have read it */
        if (t == 0) x[511] = 0;
        for (unsigned s = 256; s > 0; s /= 2) { /* down-sweep */
            __syncthreads();                    /* the values of the parents are written */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) {
                element sum = x[left], parent = x[right];
                x[left] = parent;
                x[right] = parent + sum;
            }
        }
        __syncthreads(); /* the leaves are written */
        for (unsigned i = t; i < 512 && first + i < n; i += 256) out[first + i] = before + x[i];
        before += all;
        __syncthreads(); /* all have read before the next tile is loaded */
    }
}
