/*
 * sort/cuda/count.c - strategy "count": keys of 8 or 16 bits without values are counted, then
 * written.
 *
 *     workspace   [ state of the counts ], or for 16 bits [ start of each value | sums
 *                 | counts of each group of blocks ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

static bool can_count(const struct echi_sort *s)
{
    return s->key_bytes <= 2 && !s->stable;
}

/* Few keys of 16 bits are sorted in less time than it takes to read 65,536 counters. */
static bool best_count(const struct echi_sort *s)
{
    return s->key_bytes == 1 || s->n >= SORT_COUNT_MIN;
}

/* The number of groups of blocks that count n keys, at most. */
static uint64_t groups_of(uint64_t n)
{
    return echi_cuda_least(n / SORT_COUNT_STEP + 1, SORT_COUNT_GROUPS);
}

static void lay_out_count(const struct echi_sort *s, const struct sort_plan *plan,
                          struct echi_layout *layout, struct sort_args *args)
{
    (void)plan;
    if (s->key_bytes == 1) {
        args->passes.state = echi_part(layout, 1, sizeof *args->passes.state);
        return;
    }
    struct sort_count_args *count = &args->count;
    count->begins = echi_part(layout, SORT_VALUES + 1, sizeof *count->begins);
    count->sums = echi_part(layout, SORT_COUNT_PLANS, sizeof *count->sums);
    if (s->least_work) return;
    count->counts = echi_part(layout, (size_t)groups_of(s->n) * SORT_VALUES, sizeof *count->counts);
}

/* A block has shared memory for the counters of all values, or of half of them. */
static void steps_of_16_bits(const struct sort_build *b)
{
    struct sort_count_args *args = &b->args->count;
    args->parts = b->gpu.shared_bytes >= SORT_COUNT_SHARED_BYTES(1) ? 1 : 2;
    uint64_t groups = groups_of(args->common.n);
    if (b->sort->least_work) groups = args->common.n / (4 * SORT_VALUES) + 1;
    args->groups = echi_cuda_least(groups, (uint64_t)b->gpu.multiprocessors);
    args->spills = b->sort->least_work || args->common.n / args->groups >= SORT_COUNT_STEP;
    if (args->spills)
        echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_COUNT,
                                                    .kind = ECHI_CLEAR,
                                                    .level = -1,
                                                    .to = args->begins,
                                                    .bytes = SORT_VALUES * sizeof *args->begins });
    echi_sort_launch(b, ECHI_COUNT, ECHI_LAUNCH_PDL, "sort_count", args->groups * args->parts,
                     SORT_COUNT_THREADS, SORT_COUNT_SHARED_BYTES(args->parts), -1, NULL);
    echi_sort_launch(b, ECHI_PLAN, ECHI_LAUNCH_PDL, "sort_count_plan", SORT_COUNT_PLANS,
                     SORT_COUNT_THREADS, 0, -1, NULL);
    echi_sort_launch(b, ECHI_MOVE, ECHI_LAUNCH_PDL, "sort_count_fill",
                     echi_sort_move_blocks(b, args->common.n, 32), SORT_MOVE_THREADS, 0, -1, NULL);
}

static ech_status steps_of_count(const struct sort_build *b)
{
    if (b->sort->key_bytes == 2) {
        steps_of_16_bits(b);
        return ECH_OK;
    }
    echi_sort_histogram_steps(b, 0);
    echi_sort_launch(b, ECHI_MOVE, ECHI_LAUNCH_PDL, "sort_fill",
                     echi_sort_move_blocks(b, b->args->common.n, 16), SORT_MOVE_THREADS, 0, -1,
                     NULL);
    return ECH_OK;
}

const struct sort_strategy echi_sort_by_count = {
    .name = "count",
    .what = "counting sort: counts the keys, then writes them",
    .when = "keys of 8 bits without values, or of 16 bits if there are enough of them",
    .family = "sort",
    .can = can_count,
    .best = best_count,
    .lay_out = lay_out_count,
    .steps = steps_of_count,
};
