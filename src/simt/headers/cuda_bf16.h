/*
 * simt/headers/cuda_bf16.h - reports that kernels for the SIMT emulator cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "the functions of cuda_bf16.h are not supported"
