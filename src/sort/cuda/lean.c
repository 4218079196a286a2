/*
 * sort/cuda/lean.c - the sort "lean": in a workspace for a quarter of the array, for more time.
 *
 *     blocks      0   1   2   3   4   5   6   7
 *     odd turns  [     ] [     ] [     ] [     ]    windows of two blocks are sorted, in place;
 *     even turns     [     ] [     ] [     ]        after as many turns as blocks, all is
 *
 * Odd-even transposition, with blocks for elements: once its blocks are sorted, a window's sort is
 * what exchanges two elements there.  A block that is cut short by the end counts as if greater
 * keys than all followed.  Windows are sorted stably where the whole is to be, so that equal keys
 * never pass one another.  B blocks take B (B - 1) / 2 windows of 2 / B of the array each: it is
 * sorted B - 1 times in all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/lean.h"

#include "arrange/arrange.h"
#include "cuda/tuning.h"

#include <string.h>

static size_t block_of(size_t n, size_t blocks)
{
    return n / blocks + (n % blocks != 0);
}

static bool is_lean(const struct echi_sort *s)
{
    return s->algorithm && strcmp(s->algorithm, "lean") == 0;
}

static bool helps(const struct echi_sort *s)
{
    return s->n >= SORT_LEAN_LEAST;
}

/* The sort of n elements in place, by the algorithm that is best; indices are values by then. */
static struct echi_sort window_of(const struct echi_sort *s, size_t n)
{
    struct echi_sort w = *s;
    w.n = n;
    w.algorithm = NULL;
    w.index_bytes = 0;
    return w;
}

/* Workspace with so many blocks: of an argsort a copy of the keys, and that of the larger need of a
 * full window and the last. */
static ech_status measure(const struct echi_sort *s, size_t blocks, size_t *keys_bytes,
                          size_t *window_bytes)
{
    struct echi_layout keys = { 0 };
    size_t block = block_of(s->n, blocks), last_bytes = 0;
    struct echi_sort full = window_of(s, 2 * block);
    struct echi_sort last = window_of(s, s->n - (blocks - 2) * block);
    ech_status status;
    TRY(echi_cuda_sort_workspace(&full, window_bytes));
    TRY(echi_cuda_sort_workspace(&last, &last_bytes));
    if (last_bytes > *window_bytes) *window_bytes = last_bytes;
    if (s->index_bytes) echi_part(&keys, s->n, (size_t)s->key_bytes);
    *keys_bytes = keys.bytes;
    if (keys.overflow || keys.bytes > SIZE_MAX - *window_bytes)
        status = echi_fail(NULL, ECH_ERR_MEMORY,
                           "n is %zu: the workspace is larger than any memory", s->n);
done:
    return status;
}

static ech_status lean_workspace(const struct echi_sort *s, size_t *bytes)
{
    size_t keys_bytes = 0, window_bytes = 0;
    if (!helps(s)) {
        struct echi_sort whole = *s;
        whole.algorithm = NULL;
        return echi_cuda_sort_workspace(&whole, bytes);
    }
    ech_status status = measure(s, SORT_LEAN_BLOCKS, &keys_bytes, &window_bytes);
    *bytes = keys_bytes + window_bytes;
    return status;
}

/* ---- Run ---- */

static ech_status copy(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    ech_status status = ECH_OK;
    if (to != from && bytes)
        CU(cuMemcpyAsync, (CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes,
           echi_cuda_stream(ctx));
done:
    return status;
}

static ech_status fill_index(ech_ctx *ctx, const struct echi_sort *s)
{
    struct echi_arrange iota = { .what = ECHI_IOTA,
                                 .out = s->values_out,
                                 .n = s->n,
                                 .element_bytes = s->value_bytes,
                                 .dtype = s->index_bytes == 4 ? ECH_U32 : ECH_U64,
                                 .step = 1 };
    return echi_cuda_arrange.run(ctx, &iota, NULL);
}

static ech_status sort_window(ech_ctx *ctx, const struct echi_sort *s, char *keys, size_t begin,
                              size_t n, void *work)
{
    struct echi_sort w = window_of(s, n);
    w.keys_in = w.keys_out = keys + begin * (size_t)s->key_bytes;
    if (s->value_bytes) w.values_in = w.values_out = (char *)s->values_out + begin * s->value_bytes;
    w.work = work;
    return echi_cuda_sort(ctx, &w);
}

static ech_status sort_lean(ech_ctx *ctx, const struct echi_sort *s)
{
    size_t keys_bytes = 0, window_bytes = 0, blocks = 2;
    ech_status status = ECH_OK;
    if (!helps(s)) {
        struct echi_sort whole = *s;
        whole.algorithm = NULL;
        return echi_cuda_sort(ctx, &whole);
    }
    /* As few as the workspace allows. */
    for (;; blocks++) {
        TRY(measure(s, blocks, &keys_bytes, &window_bytes));
        if (keys_bytes + window_bytes <= s->work_bytes || blocks == SORT_LEAN_BLOCKS) break;
    }
    char *keys = s->index_bytes ? s->work : s->keys_out;
    char *work = (char *)s->work + keys_bytes;
    TRY(copy(ctx, keys, s->keys_in, s->n * (size_t)s->key_bytes));
    if (s->index_bytes)
        TRY(fill_index(ctx, s));
    else if (s->value_bytes)
        TRY(copy(ctx, s->values_out, s->values_in, s->n * s->value_bytes));
    size_t block = block_of(s->n, blocks), turns = blocks == 2 ? 1 : blocks;
    for (size_t turn = 0; turn < turns; turn++)
        for (size_t b = turn % 2; b + 1 < blocks; b += 2) {
            size_t begin = b * block, left = s->n - begin;
            TRY(sort_window(ctx, s, keys, begin, left < 2 * block ? left : 2 * block, work));
        }
done:
    return status;
}

/* ---- For the backend: this sort or another ---- */

ech_status echi_cuda_any_sort(ech_ctx *ctx, const struct echi_sort *s)
{
    return is_lean(s) ? sort_lean(ctx, s) : echi_cuda_sort(ctx, s);
}

ech_status echi_cuda_any_sort_workspace(const struct echi_sort *s, size_t *bytes)
{
    return is_lean(s) ? lean_workspace(s, bytes) : echi_cuda_sort_workspace(s, bytes);
}

ech_status echi_cuda_any_sort_explain(const struct echi_sort *s, struct echi_text *text)
{
    static const char what[] = "windows of a quarter of the array in turns, in little workspace";
    size_t bytes = 0;
    ech_status status;
    if (!is_lean(s)) {
        status = echi_cuda_sort_explain(s, text);
        if (status == ECH_OK && helps(s)) echi_print(text, "could be   lean: %s\n", what);
        return status;
    }
    if ((status = lean_workspace(s, &bytes)) != ECH_OK) return status;
    echi_print(text, "algorithm  lean: %s\n", what);
    if (helps(s))
        echi_print(text,
                   "windows    %d of %zu elements, sorted in place one after another; with more "
                   "workspace fewer\n",
                   SORT_LEAN_BLOCKS * (SORT_LEAN_BLOCKS - 1) / 2,
                   2 * block_of(s->n, SORT_LEAN_BLOCKS));
    echi_print(text, "workspace  %zu bytes\n", bytes);
    return ECH_OK;
}
