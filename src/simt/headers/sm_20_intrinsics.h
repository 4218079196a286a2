/*
 * simt/headers/sm_20_intrinsics.h - empty: device.h declares what kernels use of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
