/*
 * sort/cuda/common.h - definitions that host and device code of all GPU sorts share: digits,
 * buffers, and the arguments that all kernels have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COMMON_H
#define ECHI_SORT_CUDA_COMMON_H

#include "core/order.h"
#include "cuda/tuning.h"

enum { SORT_DIGIT_BITS = 8, SORT_BINS = 1 << SORT_DIGIT_BITS, SORT_WARP = 32 };

/* The location of keys: indices into the buffers of sort_common.  Packed: key and value adjacent,
 * in the temporary buffers of both, which are contiguous.  Unpacks: a leaf of packed pairs that is
 * only moved to the output. */
enum sort_buffer { SORT_IN, SORT_OUT, SORT_TMP, SORT_PACKED, SORT_UNPACKS };

/* The arguments of every kernel begin with these. */
struct sort_common {
    const void *keys_in;
    void *keys_out, *keys_tmp;
    const void *values_in; /* NULL with index: the values are the positions */
    void *values_out, *values_tmp;
    uint64_t n;
    struct echi_order order;
    int32_t begin_bit, end_bit;
    int32_t passes;
    int32_t level;     /* or pass, of this launch; otherwise 0 */
    uint64_t part;     /* number of this launch if a step has several launches; otherwise 0 */
    uint32_t in_place; /* keys or values are sorted in place: the first pass must not write to the
                          input */
    uint32_t stays;    /* both are in place: without an active pass there is nothing to do */
    uint32_t index;    /* values are generated, not read */
    uint32_t discard_keys; /* the last pass need not write keys */
    uint32_t unstable;     /* the order of equal keys is arbitrary */
    uint32_t plain;        /* keys are compared in encoded form, by all bits */
    uint32_t same;         /* the encoded form equals the key */
};

#endif
