/*
 * curand_kernel.h - reports that kernels cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "cuRAND is not supported by the SIMT emulator"
