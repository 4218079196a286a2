/*
 * cpu/gf2_portable.c - the kernels of gf2_kernels.h, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

#define NAME(x)      x##_portable
#define NAME_TEXT    "portable"
#define OPERAND_FAST false
#include "gf2_affine_portable.h"
#include "gf2_kernels.h"
