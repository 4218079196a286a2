/*
 * histogram/cpu/kernels.h - template: the histogram's kernels of all widths in the instruction set
 * that the including file is compiled for.
 *
 *   ISA    the name of the struct that contains them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/cpu/common.h"

#ifdef __AVX512F__
#include "histogram/cpu/slots_avx512.h"
#endif

#define INLINE static inline
#define SLOT   uint32_t

#define KEY_BITS 8
#define KEY      uint8_t
#define NAME(x)  x##_u8
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 16
#define KEY      uint16_t
#define NAME(x)  x##_u16
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 32
#define KEY      uint32_t
#define NAME(x)  x##_u32
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 64
#define KEY      uint64_t
#define NAME(x)  x##_u64
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME
#undef SLOT

const struct echi_histogram_isa ISA = { { slots_u8, slots_u16, slots_u32, slots_u64 } };
