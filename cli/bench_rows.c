/*
 * bench_rows.c - the operations that "echelon bench" measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

/* ---- Preparation, which is not timed ---- */

static ech_status sort_input(struct bench_call *c)
{
    return ech_sort(c->ctx, c->in, c->in, c->n, c->dtype, NULL);
}

/* Two sorted halves. */
static ech_status sort_halves(struct bench_call *c)
{
    const size_t half = c->n / 2;
    char *second = (char *)c->in + half * c->element_bytes;
    const ech_status status = ech_sort(c->ctx, c->in, c->in, half, c->dtype, NULL);
    return status == ECH_OK ? ech_sort(c->ctx, second, second, c->n - half, c->dtype, NULL)
                            : status;
}

static ech_status number_values(struct bench_call *c)
{
    const uint32_t start = 0, step = 1;
    return ech_iota(c->ctx, c->other, c->n, ECH_U32, &start, &step);
}

static ech_status permute_index(struct bench_call *c)
{
    return ech_permutation(c->ctx, c->other, c->n, c->index_dtype, c->seed);
}

/* ---- Calls ---- */

static ech_status copy(struct bench_call *c)
{
    return ech_copy(c->ctx, c->out, c->in, c->n * c->element_bytes);
}

static ech_status sort(struct bench_call *c)
{
    return ech_sort(c->ctx, c->in, c->in, c->n, c->dtype, NULL);
}

static ech_status sort_pairs(struct bench_call *c)
{
    return ech_sort_pairs(c->ctx, c->in, c->other, c->in, c->other, c->n, c->dtype,
                          sizeof(uint32_t), NULL);
}

static ech_status argsort(struct bench_call *c)
{
    return ech_argsort(c->ctx, c->in, c->index, c->n, c->dtype, c->index_dtype, NULL);
}

static ech_status is_sorted(struct bench_call *c)
{
    return ech_is_sorted(c->ctx, c->in, c->count, c->n, c->dtype, NULL);
}

static ech_status reduce(struct bench_call *c)
{
    return ech_reduce(c->ctx, ECH_OP_SUM, c->in, c->count, c->n, c->dtype, NULL);
}

static ech_status scan(struct bench_call *c)
{
    return ech_scan(c->ctx, ECH_OP_SUM, c->in, c->out, c->n, c->dtype, NULL);
}

static ech_status histogram(struct bench_call *c)
{
    const ech_histogram_options o = { .size = sizeof o, .include_right = 1 };
    return ech_histogram(c->ctx, c->in, c->counts, c->n, c->dtype, c->bins, c->lower, c->upper, &o);
}

static ech_status select_half(struct bench_call *c)
{
    return ech_select_if(c->ctx, ECH_COMPARE_LESS, c->in, c->out, c->count, c->n, c->dtype,
                         &c->middle, NULL);
}

static ech_status unique(struct bench_call *c)
{
    return ech_unique_all(c->ctx, c->in, c->out, NULL, NULL, NULL, c->count, c->n, c->dtype,
                          c->index_dtype, NULL);
}

static ech_status topk(struct bench_call *c)
{
    return ech_topk(c->ctx, c->in, c->out, c->index, c->n, c->k, c->dtype, c->index_dtype, NULL);
}

static ech_status median(struct bench_call *c)
{
    return ech_nth_element(c->ctx, c->in, c->count, NULL, c->n, c->n / 2, c->dtype, c->index_dtype,
                           NULL);
}

static ech_status search(struct bench_call *c)
{
    return ech_lower_bound(c->ctx, c->in, c->other, c->index, c->n, c->n, c->dtype, c->index_dtype,
                           NULL);
}

static ech_status merge(struct bench_call *c)
{
    const size_t half = c->n / 2;
    const char *second = (const char *)c->in + half * c->element_bytes;
    return ech_merge(c->ctx, c->in, second, c->out, half, c->n - half, c->dtype, NULL);
}

static ech_status shuffle(struct bench_call *c)
{
    return ech_shuffle(c->ctx, c->in, c->out, c->n, c->element_bytes, c->seed);
}

static ech_status gather(struct bench_call *c)
{
    return ech_gather(c->ctx, c->in, c->other, c->out, c->n, c->n, c->index_dtype,
                      c->element_bytes);
}

const struct bench_row bench_rows[] = {
    { "copy", "a copy in the same memory: the bandwidth", BENCH_OUT, 2, 0, 0, NULL, copy },
    { "sort", "in place", BENCH_SORTED, 2, 0, 0, NULL, sort },
    { "sort-pairs", "in place, with values of 4 bytes", BENCH_OTHER | BENCH_SORTED, 2, 0, 8,
      number_values, sort_pairs },
    { "argsort", "the permutation that sorts", BENCH_INDEX, 1, 1, 0, NULL, argsort },
    { "is-sorted", "of sorted data", 0, 1, 0, 0, sort_input, is_sorted },
    { "reduce", "the sum", 0, 1, 0, 0, NULL, reduce },
    { "scan", "prefix sums", BENCH_OUT, 2, 0, 0, NULL, scan },
    { "histogram", "bins of equal width", 0, 1, 0, 0, NULL, histogram },
    { "select", "the elements below the median", BENCH_OUT | BENCH_COUNTED, 1, 0, 0, NULL,
      select_half },
    { "unique", "the distinct elements", BENCH_OUT | BENCH_COUNTED | BENCH_SORTED, 1, 0, 0, NULL,
      unique },
    { "topk", "the largest elements and their positions", BENCH_OUT | BENCH_INDEX, 1, 0, 0, NULL,
      topk },
    { "median", "the element in the middle", 0, 1, 0, 0, NULL, median },
    { "search", "each element in sorted data of this size", BENCH_NEEDLES | BENCH_INDEX, 2, 1, 0,
      sort_input, search },
    { "merge", "two sorted halves", BENCH_OUT | BENCH_SORTED, 2, 0, 0, sort_halves, merge },
    { "shuffle", "a random order", BENCH_OUT, 2, 0, 0, NULL, shuffle },
    { "gather", "by a random permutation", BENCH_OTHER | BENCH_OUT, 2, 1, 0, permute_index,
      gather },
    { NULL, NULL, 0, 0, 0, 0, NULL, NULL },
};
