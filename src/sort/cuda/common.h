/*
 * sort/cuda/common.h - what both halves of every GPU sort agree on: digits, buffers, and the
 * arguments that all kernels have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COMMON_H
#define ECHI_SORT_CUDA_COMMON_H

#include "core/order.h"
#include "cuda/tuning.h"

enum { SORT_DIGIT_BITS = 8, SORT_BINS = 1 << SORT_DIGIT_BITS, SORT_WARP = 32 };

/* Where keys are: indices into the buffers of sort_common.  Packed: each beside its value, in the
 * temporary buffers of both, which lie next to each other. */
enum sort_buffer { SORT_IN, SORT_OUT, SORT_TMP, SORT_PACKED };

/* What the arguments of every kernel begin with. */
struct sort_common {
    const void *keys_in;
    void *keys_out, *keys_tmp;
    const void *values_in; /* NULL with index: the values are the positions */
    void *values_out, *values_tmp;
    uint64_t n;
    struct echi_order order;
    int32_t begin_bit, end_bit;
    int32_t passes;
    int32_t level; /* or pass, of this launch; else 0 */
    uint64_t part; /* of a step of several launches, this one; else 0 */
    uint32_t
        in_place; /* keys or values are where they came from: the first pass must not write there */
    uint32_t stays;        /* both are: with no pass to run there is nothing to do */
    uint32_t index;        /* values are generated, not read */
    uint32_t discard_keys; /* the last pass need not write keys */
    uint32_t unstable;     /* equal keys may change places */
    uint32_t plain;        /* keys are compared as they are encoded, all bits of them */
    uint32_t same;         /* they are encoded as they are */
};

#endif
