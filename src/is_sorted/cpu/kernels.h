/*
 * is_sorted/cpu/kernels.h - template: the kernels of ech_is_sorted() for four key widths, in the
 * instruction set that the including file is compiled for, and the struct that names them.
 *
 *   ISA   the name of the struct
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "is_sorted/cpu/common.h"
#include "cpu/vector.h"

#define FROM u8
#include "is_sorted/cpu/width.h"
#define FROM u16
#include "is_sorted/cpu/width.h"
#define FROM u32
#include "is_sorted/cpu/width.h"
#define FROM u64
#include "is_sorted/cpu/width.h"

const struct echi_is_sorted_isa ISA = {
    .first = { [1] = first_u8, [2] = first_u16, [4] = first_u32, [8] = first_u64 },
};
