/*
 * arrange/cpu/transpose.h - the transpose in vectors, which is compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CPU_TRANSPOSE_H
#define ECHI_ARRANGE_CPU_TRANSPOSE_H

#include <stdbool.h>
#include <stddef.h>

/* Transposes rows x columns elements of 4 or 8 bytes; both are multiples of 64 / size.  The steps
 * are bytes from row to row.  stream: the output is aligned to 64 bytes, and its rows, too, and
 * stores bypass the caches. */
void echi_transpose_avx512(const char *in, size_t in_step, char *out, size_t out_step, size_t rows,
                           size_t columns, size_t size, bool stream);

#endif
