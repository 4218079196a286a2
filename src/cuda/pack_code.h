/*
 * cuda/pack_code.h - the order of the bytes of an instruction in a pack of kernels.
 *
 * Instructions of compute capability 7.5 and higher have 16 bytes.  Bits 105 to 125 are those of
 * the scheduler, which cross the boundaries of bytes.  In a pack each of their fields lies within
 * one byte, and bytes that often change together are adjacent, which saves 2 % of the compressed
 * bytes.
 *
 *     bits 104..127   x stall:4 yield write:3 read:3 wait:6 reuse:4 top:2, the lowest bit first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_PACK_CODE_H
#define ECHI_CUDA_PACK_CODE_H

#include <stdint.h>
#include <string.h>

enum { PACK_INSTRUCTION_BYTES = 16, PACK_SCHEDULE = 13 };

/* Byte i of a pack's instruction is byte pack_code_order[i] of the processor's. */
static const unsigned char pack_code_order[PACK_INSTRUCTION_BYTES] = { 13, 14, 15, 0, 1, 9, 10, 11,
                                                                       12, 5,  6,  7, 2, 3, 4,  8 };

/* Both functions change `bytes` bytes in place, a multiple of 16. */
static inline void pack_code_arrange(unsigned char *code, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PACK_INSTRUCTION_BYTES) {
        unsigned char from[PACK_INSTRUCTION_BYTES], *to = code + at;
        memcpy(from, to, sizeof from);
        unsigned char *s = from + PACK_SCHEDULE;
        const uint32_t x = s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16;
        s[0] = (unsigned char)((x >> 1 & 31) | (x & 1) << 5 | (x >> 22 & 3) << 6);
        s[1] = (unsigned char)((x >> 6 & 63) | (x >> 18 & 3) << 6);
        s[2] = (unsigned char)((x >> 12 & 63) | (x >> 20 & 3) << 6);
        for (int i = 0; i < PACK_INSTRUCTION_BYTES; i++) to[i] = from[pack_code_order[i]];
    }
}

static inline void pack_code_restore(unsigned char *code, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PACK_INSTRUCTION_BYTES) {
        unsigned char from[PACK_INSTRUCTION_BYTES], *to = code + at;
        memcpy(from, to, sizeof from);
        for (int i = 0; i < PACK_INSTRUCTION_BYTES; i++) to[pack_code_order[i]] = from[i];
        unsigned char *s = to + PACK_SCHEDULE;
        const uint32_t a = s[0], b = s[1], c = s[2];
        const uint32_t x = (a & 31) << 1 | (a >> 5 & 1) | (a >> 6) << 22 | (b & 63) << 6 |
                           (b >> 6) << 18 | (c & 63) << 12 | (c >> 6) << 20;
        s[0] = (unsigned char)x;
        s[1] = (unsigned char)(x >> 8);
        s[2] = (unsigned char)(x >> 16);
    }
}

#endif
