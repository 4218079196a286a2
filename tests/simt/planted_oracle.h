/*
 * simt/planted_oracle.h - the expected output of the correct planted kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHT_SIMT_PLANTED_ORACLE_H
#define ECHT_SIMT_PLANTED_ORACLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the expected output to out, [n_out]. Returns 0 if the kernel is faulty. */
int planted_expected(const char *kernel, uint32_t p, const uint32_t *in, uint32_t *out,
                     uint32_t n_out);

/* FNV-1a of the words, least significant byte first. */
uint64_t planted_checksum(const uint32_t *words, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
