/*
 * crc32.h - the CRC-32 of many records of one size, and their sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_CRC32_H
#define ECHELON_CLI_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tables for 8 bytes per step. */
struct crc32 {
    uint32_t table[8][256];
    bool folds; /* the processor multiplies polynomials */
};

void crc32_init(struct crc32 *crc);
/* The CRC-32 of IEEE 802.3, as zlib's crc32() returns it for n bytes. */
uint32_t crc32_of(const struct crc32 *crc, const void *bytes, size_t n);
/* The same result without instructions that only some processors have; for tests. */
uint32_t crc32_portable(const struct crc32 *crc, const void *bytes, size_t n);

#endif
