/*
 * simt/headers/vector_types.h - empty: device.h declares what kernels use of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
