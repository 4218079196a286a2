/*
 * cuda/cusolver.h - NVIDIA's cuSOLVER, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_CUSOLVER_H
#define ECHI_CUDA_CUSOLVER_H

#include "core/internal.h"

/* Takes struct echi_vendor_factor (../direct.h). */
extern const struct echi_operation echi_cusolver;

/* Destroys the context's handle; the CUDA context must be current. */
void echi_cusolver_close(ech_ctx *ctx);

#endif
