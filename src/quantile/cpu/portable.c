/*
 * quantile/cpu/portable.c - the kernels of selections by rank, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_quantile_portable
#include "quantile/cpu/kernels.h"
