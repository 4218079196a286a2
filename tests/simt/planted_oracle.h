/*
 * simt/planted_oracle.h - what the correct ones of the planted kernels must write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHT_SIMT_PLANTED_ORACLE_H
#define ECHT_SIMT_PLANTED_ORACLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes to out, [n_out], what the kernel leaves there.  Returns 0 of one that is faulty. */
int planted_expected(const char *kernel, uint32_t p, const uint32_t *in, uint32_t *out,
                     uint32_t n_out);

/* FNV-1a of the words, lowest byte first. */
uint64_t planted_checksum(const uint32_t *words, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
