/*
 * 2_tree.cu - a scan by a tree of sums: up, a zero at the root, and down.
 *
 * Idea:   going up, pairs are added, then pairs of those, up to the root.  Then the root becomes
 *         0, and each node gives its left child what it has itself, and its right child that and
 *         the left child's sum: in the end each leaf has the sum of all to its left
 * Cost:   2 (n - 1) additions; one thread for two elements; 18 steps instead of 9
 * Wastes: in step s neighbouring threads are 2s words apart: 2, 4, 8, 16, 32 of them want one
 *         bank
 * From:   Blelloch (1990); the lecture's second scan
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void scan_2(const element *in, uint64_t n, element *out)
{
    __shared__ element x[512];
    const unsigned t = threadIdx.x;
    element before = 0; /* the sum of the tiles that are done */
    for (uint64_t first = 0; first < n; first += 512) {
        for (unsigned i = t; i < 512; i += 256) x[i] = first + i < n ? in[first + i] : (element)0;
        for (unsigned s = 1; s < 512; s *= 2) { /* up */
            __syncthreads();                    /* what this step adds is there */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) x[right] += x[left];
        }
        __syncthreads(); /* the root is there */
        element all = x[511];
        __syncthreads(); /* all have read it */
        if (t == 0) x[511] = 0;
        for (unsigned s = 256; s > 0; s /= 2) { /* down */
            __syncthreads();                    /* what the parents hand down is there */
            unsigned left = 2 * s * t + s - 1, right = left + s;
            if (right < 512) {
                element sum = x[left], parent = x[right];
                x[left] = parent;
                x[right] = parent + sum;
            }
        }
        __syncthreads(); /* the leaves are there */
        for (unsigned i = t; i < 512 && first + i < n; i += 256) out[first + i] = before + x[i];
        before += all;
        __syncthreads(); /* all have read, and the next tile may come */
    }
}
