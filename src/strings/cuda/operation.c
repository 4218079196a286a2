/*
 * strings/cuda/operation.c - sorts of strings on the GPU, host code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"

const struct echi_operation echi_cuda_strings = { .plan = NULL };
