/*
 * simt/headers/mma.h - reports that kernels for the SIMT emulator cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "the WMMA functions are not supported"
