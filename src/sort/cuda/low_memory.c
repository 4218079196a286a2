/*
 * sort/cuda/low_memory.c - strategy "low_memory": a quarter of the workspace, more time.
 *
 *     blocks      0   1   2   3   4   5   6   7
 *     odd turns  [     ] [     ] [     ] [     ]    windows of two blocks are sorted in place;
 *     even turns     [     ] [     ] [     ]        after as many turns as there are blocks, the
 *                                                   array is sorted
 *
 * Odd-even transposition sort with blocks as elements: once the blocks are sorted, sorting a window
 * is a compare-exchange of two of them.  A partial last block counts as if it were padded with keys
 * greater than all others.  Windows are sorted stably if the sort is stable, so that equal keys
 * never pass each other.  B blocks take B (B - 1) / 2 window sorts of 2 / B of the array each,
 * which is equivalent to B - 1 sorts of the array.
 *
 *     workspace   [ (argsort: a copy of the keys) | the workspace of a window ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/arrange.h"
#include "core/call.h"
#include "sort/cuda/plan.h"

static size_t block_of(size_t n, size_t blocks)
{
    return n / blocks + (n % blocks != 0);
}

static bool helps(const struct echi_sort *s)
{
    return s->n >= SORT_LOW_MEMORY_MIN;
}

static bool never(const struct echi_sort *s)
{
    (void)s;
    return false;
}

/* The sort of n elements in place, by the best strategy; indices are values by then. */
static struct echi_sort window_of(const struct echi_sort *s, size_t n)
{
    struct echi_sort w = *s;
    w.n = n;
    w.algorithm = NULL;
    w.index_bytes = 0;
    w.room_bytes = 0;
    return w;
}

/* The workspace for this many blocks: for an argsort a copy of the keys, and the larger workspace
 * of a full window and the last one. */
static ech_status measure(const struct echi_sort *s, size_t blocks, size_t *keys_bytes,
                          size_t *window_bytes)
{
    struct echi_layout keys = { 0 };
    size_t block = block_of(s->n, blocks), last_bytes = 0;
    struct echi_sort full = window_of(s, 2 * block);
    struct echi_sort last = window_of(s, s->n - (blocks - 2) * block);
    ech_status status;
    TRY(echi_operation_workspace(&echi_cuda_sort, &full, window_bytes));
    TRY(echi_operation_workspace(&echi_cuda_sort, &last, &last_bytes));
    if (last_bytes > *window_bytes) *window_bytes = last_bytes;
    if (echi_sort_discards_keys(s)) echi_part(&keys, s->n, (size_t)s->key_bytes);
    *keys_bytes = keys.bytes;
    if (keys.overflow || keys.bytes > SIZE_MAX - *window_bytes)
        status =
            echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", s->n);
done:
    return status;
}

/* The minimum number of blocks that the caller's workspace allows; without a workspace, the maximum
 * number. */
static ech_status size_low_memory(const struct echi_sort *s, struct sort_plan *plan)
{
    size_t blocks = s->room_bytes ? 2 : SORT_LOW_MEMORY_BLOCKS, window_bytes = 0;
    ech_status status = ECH_OK;
    plan->end = SORT_AS_MOVED; /* the windows gather values */
    for (; helps(s); blocks++) {
        TRY(measure(s, blocks, &plan->keys_bytes, &window_bytes));
        if (plan->keys_bytes + window_bytes <= s->room_bytes || blocks == SORT_LOW_MEMORY_BLOCKS)
            break;
    }
    plan->windows = blocks;
    if (!helps(s)) { /* one window covers the array */
        struct echi_sort whole = window_of(s, s->n);
        whole.index_bytes = s->index_bytes;
        plan->windows = 1;
        TRY(echi_operation_workspace(&echi_cuda_sort, &whole, &window_bytes));
    }
    plan->window_bytes = window_bytes;
done:
    return status;
}

static void lay_out_low_memory(const struct echi_sort *s, const struct sort_plan *plan,
                               struct echi_layout *layout, struct sort_args *args)
{
    (void)s;
    (void)args;
    echi_part(layout, plan->keys_bytes, 1);
    echi_part(layout, plan->window_bytes, 1);
}

/* ---- Steps ---- */

static ech_status fill_index(ech_ctx *ctx, void *user)
{
    const struct echi_sort *s = ((const struct sort_build *)user)->sort;
    struct echi_arrange iota = { .what = ECHI_IOTA,
                                 .out = s->values_out,
                                 .n = s->n,
                                 .element_bytes = s->value_bytes,
                                 .dtype = s->index_bytes == 4 ? ECH_U32 : ECH_U64,
                                 .step = 1 };
    return echi_operation_run(ctx, &echi_cuda_arrange, &iota, NULL);
}

static char *keys_of(const struct sort_build *b)
{
    return echi_sort_discards_keys(b->sort) ? b->work : b->sort->keys_out;
}

static ech_status sort_window(ech_ctx *ctx, const struct sort_build *b, size_t begin, size_t n)
{
    const struct echi_sort *s = b->sort;
    struct echi_sort w = window_of(s, n);
    w.keys_in = w.keys_out = keys_of(b) + begin * (size_t)s->key_bytes;
    if (s->value_bytes) w.values_in = w.values_out = (char *)s->values_out + begin * s->value_bytes;
    return echi_operation_run(ctx, &echi_cuda_sort, &w, (char *)b->work + b->plan->keys_bytes);
}

static ech_status sort_windows(ech_ctx *ctx, void *user)
{
    const struct sort_build *b = user;
    const size_t n = b->sort->n, blocks = b->plan->windows, block = block_of(n, blocks);
    const size_t turns = blocks == 2 ? 1 : blocks;
    ech_status status = ECH_OK;
    for (size_t turn = 0; turn < turns; turn++)
        for (size_t i = turn % 2; i + 1 < blocks; i += 2) {
            size_t begin = i * block, left = n - begin;
            TRY(sort_window(ctx, b, begin, left < 2 * block ? left : 2 * block));
        }
done:
    return status;
}

static ech_status sort_whole(ech_ctx *ctx, void *user)
{
    const struct sort_build *b = user;
    struct echi_sort whole = *b->sort;
    whole.algorithm = NULL;
    return echi_operation_run(ctx, &echi_cuda_sort, &whole, b->work);
}

static void add_copy(const struct sort_build *b, void *to, const void *from, size_t bytes)
{
    if (to == from && to) return;
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                .kind = ECHI_COPY,
                                                .level = -1,
                                                .to = to,
                                                .from = from,
                                                .bytes = bytes });
}

static void add_call(const struct sort_build *b, const char *name,
                     ech_status (*call)(ech_ctx *ctx, void *user))
{
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                .kind = ECHI_CALL,
                                                .level = -1,
                                                .name = name,
                                                .call = call,
                                                .user = (void *)(uintptr_t)b });
}

static ech_status steps_of_low_memory(const struct sort_build *b)
{
    const struct echi_sort *s = b->sort;
    if (b->plan->windows == 1) {
        add_call(b, "the sort of the entire array", sort_whole);
        return ECH_OK;
    }
    add_copy(b, keys_of(b), s->keys_in, s->n * (size_t)s->key_bytes);
    if (s->index_bytes)
        add_call(b, "the indices 0, 1, 2, ...", fill_index);
    else if (s->value_bytes)
        add_copy(b, s->values_out, s->values_in, s->n * s->value_bytes);
    add_call(b, "sorts of windows of two blocks, in turns, in place", sort_windows);
    return ECH_OK;
}

const struct sort_strategy echi_sort_by_low_memory = {
    .name = "low_memory",
    .what = "sorts windows of a quarter of the array in turns, with little workspace",
    .when = "the workspace of the best other strategy cannot be allocated",
    .family = "sort",
    .least = SORT_LOW_MEMORY_MIN,
    .can = echi_sort_any, /* a small array is sorted as a whole */
    .best = never,
    .size = size_low_memory,
    .lay_out = lay_out_low_memory,
    .steps = steps_of_low_memory,
};
