/*
 * mma.h - reports that kernels cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "the WMMA functions are not supported by the SIMT emulator"
