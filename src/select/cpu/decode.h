/*
 * select/cpu/decode.h - run-length decoding, for operation.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CPU_DECODE_H
#define ECHI_SELECT_CPU_DECODE_H

#include "select/cpu/common.h"

/* Words of 8 bytes of workspace for this many runs. */
size_t echi_cpu_decode_words(size_t runs);
ech_status echi_cpu_decode(ech_ctx *ctx, const struct echi_select *s, uint64_t *work);

/* Decodes few runs at once; false if there are too many, or the lengths are too large. */
bool echi_cpu_decode_at_once(const struct echi_select *s);

#endif
