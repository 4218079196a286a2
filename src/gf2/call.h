/*
 * gf2/call.h - functions that check the arguments of calls on matrices over GF(2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CALL_H
#define ECHI_GF2_CALL_H

#include "gf2/gf2.h"

/* Checks the matrix with this name; *m receives its checked copy. */
ech_status echi_gf2_check(ech_ctx *ctx, const char *name, const ech_gf2 *a, ech_gf2 *m);

/* Fails unless a, with this name, is rows x cols. */
ech_status echi_gf2_check_shape(ech_ctx *ctx, const char *name, const ech_gf2 *a, size_t rows,
                                size_t cols);

/* Adds a matrix of a request to the arrays of its call. */
struct echi_array *echi_gf2_add(struct echi_call *call, const char *name, ech_gf2 *m,
                                enum echi_use use);

/* Adds an array of `count` elements of `bytes` each, which must be aligned to `bytes`. */
struct echi_array *echi_gf2_add_array(struct echi_call *call, const char *name, void *pointer,
                                      size_t count, size_t bytes, enum echi_use use);

/* Adds count positions of 32 bits, or, if wide, of 64. */
struct echi_array *echi_gf2_add_positions(struct echi_call *call, const char *name, void *pointer,
                                          size_t count, bool wide, enum echi_use use);

/* Checks that dtype, 0 for ECH_U32, can represent positions below count; *wide: of 64 bits. */
ech_status echi_gf2_check_index(ech_ctx *ctx, const char *name, ech_dtype dtype, size_t count,
                                bool *wide);

/* Fails if ctx or its backend is NULL, or the backend does not have the operation. */
ech_status echi_gf2_backend(ech_ctx *ctx, const struct echi_operation *operation);

#endif
