/*
 * 1_global.cu - a bitonic sort, one launch per half-cleaner.
 *
 * Idea:   sorted sequences of `half` keys are merged in pairs: key i of the lower is compared with
 *         key i from the end of the upper, and the minimum goes down; then keys half / 2, half / 4,
 *         ... 1 apart are compared. All comparisons put the minimum first, so elements past the end
 *         can be treated as larger than any key: they would never move and need no memory
 * Cost:   log2(n) (log2(n) + 1) / 2 launches, each of which reads and writes the whole array
 * Wastes: memory traffic: most pairs of a step are close to each other and are compared again in
 *         later steps
 * From:   Batcher (1968); the lecture's half-cleaners. The lecture sorts in alternating directions,
 *         as bitonic_1_alternating does, which needs a power of two; pairing the keys of the first
 *         step from both ends instead allows one direction and any n
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* One thread per pair.  The index of the lower key has the bit `half` clear; flip is the XOR of the
 * two indices: half, or 2 half - 1 to pair keys from both ends. */
extern "C" __global__ void bitonic_1(element *x, uint64_t n, uint64_t half, uint64_t flip)
{
    uint64_t pair = global_thread();
    uint64_t i = pair / half * 2 * half + pair % half, j = i ^ flip;
    if (j >= n) return; /* the upper key is past the end */
    element lower = x[i], upper = x[j];
    if (before(upper, lower)) {
        x[i] = upper;
        x[j] = lower;
    }
}

/* The lecture's half-cleaner: pairs are `half` apart, and ascend if the bit `sorted` of their index
 * is 0; otherwise they descend.  n is a power of two. */
extern "C" __global__ void bitonic_1_alternating(element *x, uint64_t n, uint64_t half,
                                                 uint64_t sorted)
{
    uint64_t pair = global_thread();
    uint64_t i = pair / half * 2 * half + pair % half, j = i ^ half;
    if (j >= n) return;
    bool ascending = (i & sorted) == 0;
    element lower = x[i], upper = x[j];
    if (ascending ? before(upper, lower) : before(lower, upper)) {
        x[i] = upper;
        x[j] = lower;
    }
}

/* Copies n keys, and appends the maximum key up to a power of two. */
extern "C" __global__ void bitonic_1_pad(const element *in, uint64_t n, element *x, uint64_t padded)
{
    uint64_t i = global_thread();
    if (i < n)
        x[i] = in[i];
    else if (i < padded)
        from_order_bits(UINT32_MAX, &x[i]);
}
