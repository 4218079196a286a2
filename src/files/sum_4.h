/*
 * files/sum_4.h - the hash of a record of 4 bytes, by products of 32 bits, which vectors have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FILES_SUM_4_H
#define FILES_SUM_4_H

#include <stdint.h>

#define SUM_4_KEY    UINT32_C(0x85ebca6b)
#define SUM_4_FIRST  UINT32_C(0x9e3779b1)
#define SUM_4_SECOND UINT32_C(0xc2b2ae3d)

/* The first product is different for all x; the others make its sums depend on all bits. */
static inline uint64_t sum_hash_4(uint32_t x)
{
    const uint64_t first = (uint64_t)(x ^ SUM_4_KEY) * SUM_4_FIRST;
    const uint64_t second = (uint64_t)(uint32_t)(first ^ first >> 32) * SUM_4_SECOND;
    return (uint64_t)(uint32_t)second * (second >> 32) + first;
}

#endif
