/*
 * arrange/cpu/shuffle_portable.c - the kernel of shuffle_kernels.h, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define NAME(x) x##_portable
#include "arrange/cpu/shuffle_kernels.h"

echi_shuffle_positions *const echi_shuffle_portable = positions_portable;
