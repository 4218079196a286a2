/*
 * topk_case.h - one case of test_topk: the call, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TOPK_CASE_H
#define TOPK_CASE_H

#include "segments_case.h"

struct topk_case {
    /* The groups, their keys and the order; an array is one row.  sort.descending: the largest
     * elements; strides of the input only. */
    struct segments_case groups;
    bool array; /* ech_topk() */
    size_t k;
    bool unsorted, counts, no_values, no_indices;
    ech_dtype index_dtype, counts_dtype;
    const char *out; /* strides of the output: "" (adjacent), "padded", "columns", "spread" */
};

/* topk_cases.c */
void topk_cases(void (*run)(const struct topk_case *));
void topk_case_id(const struct topk_case *c, char *text, size_t capacity_bytes);

/* topk_run.c: runs a case on a device with one algorithm; NULL: the library's choice. */
struct topk_way {
    bool own_work, host;
    int threads;
};
struct topk_data {
    const struct topk_case *c;
    struct segments_data groups; /* the elements of each group in order */
    uint64_t *counts;            /* of each group: of elements that are selected, at most */
    size_t row_stride, element_stride, extent; /* of the output */
};
bool topk_make(const struct topk_case *c, uint64_t seed, struct topk_data *d);
void topk_free(struct topk_data *d);
ech_topk_options topk_options(const struct topk_data *d, const char *algorithm);
ech_topk_call topk_call(const struct topk_case *c);
ech_status topk_workspace(const char *device, const struct topk_data *d,
                          const ech_topk_options *options, size_t *bytes);
void topk_run(ech_ctx *ctx, const struct topk_data *d, const char *algorithm, struct topk_way way,
              uint64_t seed);

/* topk_bad.c: wrong arguments, and calls that do nothing. */
void topk_bad(ech_ctx *ctx);
void topk_bad_groups(ech_ctx *ctx);

/* topk_sample.c: the sample of the GPU's algorithm "select". */
void topk_sampled(ech_ctx *ctx);
void topk_sampled_large(ech_ctx *ctx);

/* topk_large.c: more than 2^32 elements, if memory suffices. */
void topk_large(ech_ctx *ctx);

#endif
