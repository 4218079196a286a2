/*
 * gf2/cpu/portable.c - the kernels of kernels.h, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

#define NAME(x)      x##_portable
#define NAME_TEXT    "portable"
#define OPERAND_FAST false
#include "gf2/cpu/affine_portable.h"
#include "gf2/cpu/kernels.h"
