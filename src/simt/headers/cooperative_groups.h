/*
 * simt/headers/cooperative_groups.h - reports that kernels for the SIMT emulator cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "cooperative groups are not supported; use __syncthreads() and __syncwarp()"
