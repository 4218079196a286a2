/*
 * is_sorted/cpu/portable.c - the kernels of ech_is_sorted(), compiled for any processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_is_sorted_portable
#include "is_sorted/cpu/kernels.h"
