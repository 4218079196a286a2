/*
 * topk/cpu/portable.c - the kernels of a top-k selection, compiled for any processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA      echi_topk_portable
#define ISA_NAME "portable"
#include "topk/cpu/kernels.h"
