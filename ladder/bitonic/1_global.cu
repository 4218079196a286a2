/*
 * 1_global.cu - a bitonic sort, one launch a half-cleaner.
 *
 * Idea:   sorted pieces of `half` keys are merged in twos: key i of the lower with key i from the
 *         end of the upper, the lesser one down; then keys half / 2, half / 4, ... 1 apart are
 *         put in order. All comparisons put the lesser key first, so that what lies past the end
 *         may be thought of as greater than any key: it would never move, and needs no memory
 * Cost:   log2(n) (log2(n) + 1) / 2 launches, each reading and writing the whole array
 * Wastes: memory traffic: most pairs of a step are near each other, and meet again in the next
 * From:   Batcher (1968); the lecture's half-cleaners.  The lecture sorted in alternating
 *         directions, and powers of two alone; turning the first step round instead has one
 *         direction and any n
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* One thread a pair.  The lower key is the one without the bit `half` in its number; flip is what
 * the numbers of the two differ in: half, or 2 half - 1 to pair one from each end. */
extern "C" __global__ void bitonic_1(element *x, uint64_t n, uint64_t half, uint64_t flip)
{
    uint64_t pair = global_thread();
    uint64_t i = pair / half * 2 * half + pair % half, j = i ^ flip;
    if (j >= n) return; /* the other is thought of */
    element lower = x[i], upper = x[j];
    if (before(upper, lower)) {
        x[i] = upper;
        x[j] = lower;
    }
}
