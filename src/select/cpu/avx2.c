/*
 * select/cpu/avx2.c - the kernels of selections, compiled for AVX2: the tests vectorise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_select_avx2
#include "select/cpu/kernels.h"
