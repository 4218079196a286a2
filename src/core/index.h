/*
 * core/index.h - an array of indices or offsets of any of the types i32, u32, i64 and u64, as
 * parameters that the CPU and kernels read it by.
 *
 * A negative index becomes a number of at least 2^63, so that every check of an upper limit rejects
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_INDEX_H
#define ECHI_CORE_INDEX_H

#include "core/both.h"

#include <stdint.h>

struct echi_index {
    uint32_t bytes; /* 4 or 8 */
    uint32_t sign;  /* 2^31 for i32, otherwise 0 */
};

#define ECHI_INDEX_U64 ((struct echi_index){ 8, 0 })

ECHI_BOTH uint64_t echi_index_at(const void *array, struct echi_index index, uint64_t i)
{
    if (index.bytes == 8) return ((const uint64_t *)array)[i];
    return ((uint64_t)((const uint32_t *)array)[i] ^ index.sign) - index.sign;
}

#endif
