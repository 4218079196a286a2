/*
 * simt/headers/curand_kernel.h - reports that kernels for the SIMT emulator cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "cuRAND is not supported"
