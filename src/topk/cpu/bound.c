/*
 * topk/cpu/bound.c - the bound that k keys pass: exactly, or probably some more.
 *
 *     keys     ....|.....x.....|....      a sample has a key below the k-th key and one above it
 *             low ^    ^ k-th  ^ high     only the keys between them are kept, and so on
 *
 * The sample makes this fast.  The result does not depend on it: the keys on each side are counted,
 * and the side that contains the k-th key is kept.  Few keys are bisected by their value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cpu/common.h"

enum {
    SAMPLE = 256, /* keys that choose low and high ... */
    SIDE = 20,    /* ... and how far these are from the k-th key's rank, 2.5 standard deviations */
    BISECT_KEYS = 2048,
    ROUNDS = 32, /* in case that all samples are bad */
    GUESS_SAMPLE_MIN = 128,
    GUESS_SAMPLE_MAX = 1024,
    GUESS_SHARE = 32 /* elements per element of the sample, if that is between the limits */
};

const struct echi_order echi_topk_encoded = { .last = UINT64_MAX };

static uint64_t rank_of(const struct echi_topk_width *width, const void *sample, size_t n,
                        size_t rank)
{
    /* The limit of a bisection can be between two keys; every key between these serves. */
    return width->bisect(sample, n, rank, rank).limit;
}

struct echi_bound echi_topk_bound_apart(const struct echi_topk_width *width, void *e, size_t n,
                                        size_t k, void *spare, size_t *room)
{
    uint64_t sample[SAMPLE];
    size_t counts[4];
    if (k == n) return ECHI_BOUND_NONE;
    for (int round = 0; n > BISECT_KEYS && round < ROUNDS; round++) {
        const size_t rank = (size_t)((double)k / (double)n * (double)SAMPLE);
        width->sample(&echi_topk_encoded, e, 1, n, sample, SAMPLE);
        const uint64_t low = rank_of(width, sample, SAMPLE, rank > SIDE ? rank - SIDE : 1);
        const uint64_t high = rank_of(width, sample, SAMPLE, echi_min(rank + SIDE, SAMPLE));
        width->tally(e, n, low, high, counts);
        if (k > counts[0] && k <= counts[1]) return (struct echi_bound){ low, k - counts[0] };
        if (k > counts[2] && k <= counts[3]) return (struct echi_bound){ high, k - counts[2] };
        const bool first = k <= counts[0], last = k > counts[3];
        const size_t less = first ? 0 : last ? counts[3] : counts[1];
        const size_t inside = (first ? counts[0] : last ? n : counts[2]) - less;
        void *to = inside <= *room ? spare : e;
        if (inside > *room) *room = 0;
        n = width->narrow(e, n, first ? 0 : (last ? high : low) + 1,
                          first  ? low - 1
                          : last ? UINT64_MAX
                                 : high - 1,
                          to);
        e = to;
        k -= less;
    }
    return width->bisect(e, n, k, k);
}

struct echi_bound echi_topk_bound(const struct echi_topk_width *width, void *e, size_t n, size_t k)
{
    size_t room = 0;
    return echi_topk_bound_apart(width, e, n, k, NULL, &room);
}

struct echi_bound echi_topk_guess(const struct echi_topk_group *group)
{
    const struct echi_topk *t = group->job->request;
    const struct echi_topk_width *width = group->job->width;
    size_t count = group->n / GUESS_SHARE;
    if (count < GUESS_SAMPLE_MIN) count = GUESS_SAMPLE_MIN;
    if (count > GUESS_SAMPLE_MAX) count = GUESS_SAMPLE_MAX;
    /* The expected rank, and at least three standard deviations. */
    const size_t expected = (size_t)((double)group->k / (double)group->n * (double)count);
    const size_t deviation = expected ? (size_t)1 << (echi_bit_length(expected) + 1) / 2 : 0;
    const size_t rank = expected + 3 * deviation + 3;
    if (rank >= count) return ECHI_BOUND_NONE;
    width->sample(&t->order, group->in, t->in_strides.element, group->n, group->scratch, count);
    return (struct echi_bound){ rank_of(width, group->scratch, count, rank), SIZE_MAX };
}
