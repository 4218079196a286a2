/*
 * select/cpu/portable.c - the kernels of selections for any processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_select_portable
#include "select/cpu/kernels.h"
