/*
 * arrange/cuda/gather.h - a gather of elements by index, for other operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_GATHER_H
#define ECHI_ARRANGE_CUDA_GATHER_H

#include "core/backend.h"

/* Sets out[i] to in[index[i]]. All arrays are on the device; the indices, of 4 or 8 bytes, are
 * known to be valid. */
ech_status echi_cuda_gather(ech_ctx *ctx, const void *in, const void *index, int index_bytes,
                            void *out, uint64_t n, size_t element_bytes);

#endif
