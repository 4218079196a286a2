/*
 * simt/planted.h - declarations that the planted kernels, their oracle and the programs that run
 * them share.
 *
 *     faults*.cu    kernels with one fault each, and a twin NAME_ok without it
 *     patterns.cu   kernels with one pattern of access each, whose counts are known
 *     *.def         launch parameters and expected results
 *
 * Before a launch in[i] = planted_word(i), out and flag are zero, and raw is uninitialised. Each
 * is a separate allocation that ends with its last word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHT_SIMT_PLANTED_H
#define ECHT_SIMT_PLANTED_H

#include <stdint.h>

enum { PLANTED_FLAG_WORDS = 16, PLANTED_RAW_WORDS = 64 };

struct planted_args {
    const uint32_t *in; /* [n_in] */
    uint32_t *out;      /* [n_out] */
    uint32_t *flag;     /* [PLANTED_FLAG_WORDS] */
    uint32_t *raw;      /* [PLANTED_RAW_WORDS] */
    uint32_t n_in, n_out;
    uint32_t p; /* the parameter of a pattern; 3 for faults */
};

enum { PLANTED_FAULT_P = 3 };

/* Parameter of the patterns, which selects the word of a lane: (lane / divide) % modulo * stride +
 * offset. */
#define PLANTED_INDEX(divide, modulo, stride, offset)                                              \
    ((divide) | (modulo) << 8 | (stride) << 16 | (uint32_t)(offset) << 24)

static inline uint32_t planted_word(uint32_t i)
{
    uint32_t x = i * 2654435761u + 12345u;
    x = (x ^ x >> 15) * 739982445u;
    return x ^ x >> 12;
}

#endif
