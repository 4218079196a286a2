/*
 * histogram/cpu/portable.c - the histogram's kernels for any processor, and those for at least 2^30
 * counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_histogram_portable
#include "histogram/cpu/kernels.h"

#define SLOT uint64_t

#define KEY_BITS 8
#define KEY      uint8_t
#define NAME(x)  x##_many_u8
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 16
#define KEY      uint16_t
#define NAME(x)  x##_many_u16
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 32
#define KEY      uint32_t
#define NAME(x)  x##_many_u32
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 64
#define KEY      uint64_t
#define NAME(x)  x##_many_u64
#include "histogram/cpu/slots.h"

const echi_slots_u64 echi_histogram_slots_u64[4] = { slots_many_u8, slots_many_u16, slots_many_u32,
                                                     slots_many_u64 };
