/*
 * reduce/cpu/portable.c - the reduction's kernels for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_reduce_portable
#include "reduce/cpu/kernels.h"
