/*
 * sort/cuda/low_memory.c - strategy "low_memory": a workspace of a sixteenth of the arrays.
 *
 *     bins        out of place, for many elements: a pass of the first digit, then sorts of its
 *                 bins: in place, if the tiles of a bin fit into the blocks of one launch
 *                 (resident.cuh); otherwise as segments, with a second buffer for as many as the
 *                 workspace has space for.  The device decides (splitters.cuh); if a bin is too
 *                 large: pages
 *     pages       the passes of onesweep within the arrays and a pool of pages (pages.cuh)
 *     windows     of small arrays, of keys of 8 or 16 bits, and of values that the passes do not
 *                 move: not of 4, 8 or 16 bytes.  The workspace is a quarter of that of other
 *                 strategies
 *     whole       another strategy, for few elements, and for keys of 8 or 16 bits that are counted
 *
 *     blocks      0   1   2   3   4   5   6   7
 *     odd turns  [     ] [     ] [     ] [     ]    windows of two blocks are sorted in place;
 *     even turns     [     ] [     ] [     ]        after as many turns as there are blocks, the
 *                                                   array is sorted
 *
 * Windows are an odd-even transposition sort with blocks as elements: once the blocks are sorted,
 * sorting a window is a compare-exchange of two of them.  A partial last block counts as if it were
 * padded with keys greater than all others.  Windows are sorted stably if the sort is stable, so
 * that equal keys never pass each other.  B blocks take B (B - 1) / 2 window sorts of 2 / B of the
 * array each, which is equivalent to B - 1 sorts of the array.
 *
 *     workspace   [ (argsort: a copy of the keys) | state | descriptors and lists | the pool ]
 *     of bins     [ state                                 | the workspace of sorts of bins ]
 *     of windows  [ (argsort: a copy of the keys) | the workspace of a window ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/arrange.h"
#include "core/call.h"
#include "sort/cuda/plan.h"
#include "sort/segments.h"

#include <stdio.h>

static size_t block_of(size_t n, size_t blocks)
{
    return n / blocks + (n % blocks != 0);
}

static bool never(const struct echi_sort *s)
{
    (void)s;
    return false;
}

/* ---- Pages ---- */

/* Whether the passes move the values, or the indices, and their kernels know pages. */
static bool can_pages(const struct echi_sort *s)
{
    const size_t v = s->value_bytes;
    return s->key_bytes >= 4 && (v == 0 || v == 4 || v == 8 || v == 16);
}

static uint64_t page_bytes(const struct echi_sort *s, const struct sort_plan *plan)
{
    return plan->pages.each * (uint64_t)(s->key_bytes + plan->payload_bytes);
}

/* The parts that sorts of bins use. */
static void lay_out_kept(const struct echi_sort *s, struct echi_layout *layout,
                         struct sort_args *args)
{
    struct sort_pages_args *p = &args->passes.pages;
    if (echi_sort_discards_keys(s))
        args->common.keys_out = echi_part(layout, s->n, (size_t)s->key_bytes);
    args->passes.state = echi_part(layout, 1, sizeof *args->passes.state);
    p->splitters = echi_part(layout, 1, sizeof *p->splitters);
    p->state = echi_part(layout, 1, sizeof *p->state);
    p->msd = echi_part(layout, 1, sizeof *p->msd);
}

/* Lays out the workspace, with this many pages in the pool. */
static void lay_out_pages(const struct echi_sort *s, const struct sort_plan *plan,
                          struct echi_layout *layout, struct sort_args *args)
{
    const size_t key = (size_t)s->key_bytes, value = (size_t)plan->payload_bytes;
    const size_t each = plan->pages.each, pool = plan->pages.pool;
    const size_t slots = s->n / each, count = slots + (s->n % each != 0);
    struct sort_pages_args *p = &args->passes.pages;
    lay_out_kept(s, layout, args);
    const size_t kept = layout->bytes;
    p->owner = echi_part(layout, slots + pool, sizeof *p->owner);
    args->passes.status =
        echi_part(layout, plan->onesweep.tiles, SORT_BINS * sizeof *args->passes.status);
    for (int i = 0; i < 2; i++) {
        p->table[i] = echi_part(layout, count, sizeof *p->table[i]);
        p->queue[i] = echi_part(layout, count + pool, sizeof *p->queue[i]);
    }
    p->keys = echi_part(layout, pool, each * key);
    p->values = echi_part(layout, pool, each * value);
    if (layout->bytes - kept < plan->pages.work_bytes) /* or for sorts of bins */
        echi_part(layout, plan->pages.work_bytes - (layout->bytes - kept), 1);
    const bool stays = s->keys_in == s->keys_out || (s->values_in && s->values_in == s->values_out);
    p->most = stays ? 0 : plan->pages.most;
    p->slots = (uint32_t)slots;
    p->pool = (uint32_t)pool;
    p->each = (uint32_t)each;
    p->key_bytes = echi_sort_discards_keys(s) ? 0 : (uint32_t)key;
    p->value_bytes = (uint32_t)value;
}

/* The sort of the bins of the first digit, in the output. */
static struct echi_sort_segments bins_of(const struct echi_sort *s, const struct sort_plan *plan,
                                         const struct sort_pages_args *pages)
{
    static const uint64_t none;
    const struct sort_pages_state *state = pages ? pages->state : NULL;
    struct echi_sort_segments r = { .sort = *s,
                                    .groups = SORT_BINS,
                                    .in = { 1, 1 },
                                    .out = { 1, 1 },
                                    .offsets = state ? state->start : &none,
                                    .ends = state ? state->end : &none,
                                    .offsets_index = ECHI_INDEX_U64,
                                    .top_bit = 8 * s->key_bytes - SORT_DIGIT_BITS,
                                    .tops = state ? state->top : NULL,
                                    .count = state ? &state->buckets : &none,
                                    .portion = plan->pages.portion,
                                    .longest = plan->pages.most,
                                    .plain = true };
    r.sort.algorithm = NULL;
    r.sort.room_bytes = 0;
    r.sort.keys_in = s->keys_out;
    r.sort.values_in = s->values_out;
    return r;
}

/* Plans sorts of the bins of the first digit with this much workspace. */
static ech_status size_bins(const struct echi_sort *s, struct sort_plan *plan, size_t room)
{
    const size_t most = s->n / SORT_LOW_MEMORY_BINS,
                 element = (size_t)s->key_bytes + s->value_bytes;
    ech_status status = ECH_OK;
    const struct onesweep_plan *passes = &plan->onesweep;
    plan->pages.most = plan->pages.portion = 0;
    plan->pages.resident = false;
    const bool uneven = s->key_bytes == 4 && s->order.float_mask; /* exponents usually are */
    if (s->n > UINT32_MAX || s->index_bytes || s->begin_bit != 0 || s->end_bit != 8 * s->key_bytes)
        goto done;
    plan->pages.resident = SORT_RESIDES(s->key_bytes, (int)s->value_bytes) &&
                           s->n <= SORT_LOW_MEMORY_RESIDENT(s->key_bytes, s->value_bytes) &&
                           room >= echi_sort_resident_bytes(s, passes) + ECHI_ALIGN;
    for (size_t portion = uneven ? 0 : room / element, bytes; portion > 2 * most;
         portion -= portion / 16) {
        plan->pages.portion = portion;
        plan->pages.most = most;
        const struct echi_sort_segments r = bins_of(s, plan, NULL);
        TRY(echi_operation_workspace(&echi_cuda_sort_segments, &r, &bytes));
        plan->pages.work_bytes = room / ECHI_ALIGN * ECHI_ALIGN;
        if (bytes <= plan->pages.work_bytes) goto done;
    }
    plan->pages.most = plan->pages.resident ? most : 0;
    plan->pages.portion = 0;
    plan->pages.work_bytes = plan->pages.resident ? room / ECHI_ALIGN * ECHI_ALIGN : 0;
done:
    return status;
}

/* Pages, with the largest pool that a workspace of a sixteenth of the arrays has space for, within
 * the limits of the algorithm.  Sorts of bins use all of the caller's workspace. */
static ech_status size_pages(const struct echi_sort *s, struct sort_plan *plan, size_t *bytes)
{
    enum { ROUNDING = 4096, LISTS = 12 }; /* bytes: of all parts; per page of the pool */
    struct echi_layout layout = { 0 };
    struct sort_args args;
    const size_t budget = s->n / 16 * (size_t)(s->key_bytes + (int)s->value_bytes);
    plan->end = SORT_AS_MOVED;
    plan->payload_bytes = (int)s->value_bytes;
    plan->onesweep = echi_sort_onesweep_plan(s, plan->payload_bytes);
    snprintf(plan->module, sizeof plan->module, "sort_k%d_v%d", 8 * s->key_bytes,
             plan->payload_bytes);
    plan->pages.each = plan->onesweep.tile / (plan->onesweep.threads / SORT_WARP);
    plan->pages.pool = 0;
    lay_out_pages(s, plan, &layout, &args);
    const size_t copy = echi_sort_discards_keys(s) ? s->n * (size_t)s->key_bytes : 0;
    const size_t used = layout.bytes - copy + ROUNDING;
    const size_t count = s->n / plan->pages.each + 2;
    size_t pool = used < budget ? (budget - used) / (page_bytes(s, plan) + LISTS) : 0;
    if (pool < SORT_PAGES_LEAST) pool = count < SORT_PAGES_LEAST ? count : SORT_PAGES_LEAST;
    if (pool > SORT_PAGES_MOST) pool = SORT_PAGES_MOST;
    plan->pages.pool = (uint32_t)pool;
    layout = (struct echi_layout){ 0 };
    lay_out_pages(s, plan, &layout, &args);
    size_t room = s->room_bytes > budget ? s->room_bytes : budget;
    if (room < layout.bytes) room = layout.bytes;
    layout = (struct echi_layout){ 0 };
    lay_out_kept(s, &layout, &args);
    const ech_status status =
        layout.bytes < room ? size_bins(s, plan, room - layout.bytes) : ECH_OK;
    if (status != ECH_OK) return status;
    layout = (struct echi_layout){ 0 };
    lay_out_pages(s, plan, &layout, &args);
    *bytes = layout.bytes;
    if (layout.overflow || count >= SORT_NO_PAGE - SORT_PAGES_MOST)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes",
                         s->n);
    return ECH_OK;
}

/* ---- The entire array by another strategy ---- */

static ech_status size_whole(const struct echi_sort *s, const char *algorithm, size_t *bytes)
{
    struct echi_sort whole = *s;
    whole.algorithm = algorithm;
    whole.room_bytes = 0;
    whole.least_work = algorithm != NULL;
    return echi_operation_workspace(&echi_cuda_sort, &whole, bytes);
}

/* ---- Windows ---- */

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
static ech_status size_windows(const struct echi_sort *s, struct sort_plan *plan)
{
    size_t blocks = s->room_bytes ? 2 : SORT_LOW_MEMORY_BLOCKS;
    ech_status status = ECH_OK;
    for (;; blocks++) {
        TRY(measure(s, blocks, &plan->keys_bytes, &plan->window_bytes));
        if (plan->keys_bytes + plan->window_bytes <= s->room_bytes ||
            blocks == SORT_LOW_MEMORY_BLOCKS)
            break;
    }
    plan->windows = blocks;
done:
    return status;
}

/* ---- The strategy's workspace ---- */

/* The fastest way that the caller's workspace allows: the whole, pages, windows.  Without a
 * workspace, the way that needs the minimum. */
static ech_status size_low_memory(const struct echi_sort *s, struct sort_plan *plan)
{
    const bool counts = s->key_bytes <= 2 && !s->stable;
    size_t whole_bytes = 0, count_bytes = SIZE_MAX, pages_bytes = SIZE_MAX, bytes;
    struct sort_plan windows = *plan;
    ech_status status;
    TRY(size_whole(s, NULL, &whole_bytes));
    if (counts) TRY(size_whole(s, echi_sort_by_count.name, &count_bytes));
    if (counts && count_bytes < whole_bytes) {
        plan->whole = echi_sort_by_count.name;
        whole_bytes = count_bytes;
    }
    bytes = plan->window_bytes = whole_bytes;
    plan->windows = 1;
    if (counts || s->n < SORT_LOW_MEMORY_MIN || whole_bytes <= s->room_bytes) goto done;
    TRY(size_windows(s, &windows));
    if (windows.keys_bytes + windows.window_bytes < bytes) {
        bytes = windows.keys_bytes + windows.window_bytes;
        *plan = windows;
    }
    if (can_pages(s)) TRY(size_pages(s, &windows, &pages_bytes));
    if (pages_bytes < bytes || pages_bytes <= s->room_bytes) {
        *plan = windows;
        plan->windows = 0;
    }
done:
    plan->end = SORT_AS_MOVED; /* the windows gather values */
    return status;
}

static void lay_out_low_memory(const struct echi_sort *s, const struct sort_plan *plan,
                               struct echi_layout *layout, struct sort_args *args)
{
    if (plan->windows == 0) {
        lay_out_pages(s, plan, layout, args);
        return;
    }
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
    whole.algorithm = b->plan->whole;
    whole.least_work = whole.algorithm != NULL;
    return echi_operation_run(ctx, &echi_cuda_sort, &whole, b->work);
}

/* The bins of the first digit, if the device has chosen this. */
static ech_status sort_bins(ech_ctx *ctx, void *user)
{
    const struct sort_build *b = user;
    const struct sort_pages_args *p = &b->args->passes.pages;
    const struct echi_sort_segments r = bins_of(b->sort, b->plan, p);
    return echi_operation_run(ctx, &echi_cuda_sort_segments, &r, p->owner);
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
    if (b->plan->windows == 0) {
        const ech_status status = echi_sort_onesweep_steps(b);
        if (b->args->passes.pages.most && !b->args->passes.pages.group)
            add_call(b, "sorts of the bins of the first digit", sort_bins);
        return status;
    }
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
    .what = "the passes of onesweep within the arrays, with a workspace of a sixteenth of them",
    .when = "the workspace of the best other strategy cannot be allocated",
    .family = "sort",
    .least = SORT_LOW_MEMORY_MIN,
    .can = echi_sort_any, /* a small array is sorted as a whole */
    .best = never,
    .size = size_low_memory,
    .lay_out = lay_out_low_memory,
    .steps = steps_of_low_memory,
};
