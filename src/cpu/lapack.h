/*
 * cpu/lapack.h - a library with LAPACK's Fortran interface, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_LAPACK_H
#define ECHI_CPU_LAPACK_H

#include "direct/direct.h"
#include "cpu/vendor.h"

/* The library, which the first call in the process opens; NULL: none was found. */
const struct echi_vendor *echi_lapack(void);

/* Bytes of workspace that echi_lapack_factor() needs; every size is less than 2^31. */
ech_status echi_lapack_workspace(const struct echi_vendor_factor *request, size_t *bytes);
void echi_lapack_factor(const struct echi_vendor_factor *request, void *work, int threads);

#endif
