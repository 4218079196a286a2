/*
 * cooperative_groups.h - reports that kernels cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error                                                                                             \
    "cooperative groups are not supported by the SIMT emulator; use __syncthreads(), __syncwarp() and the functions with masks"
