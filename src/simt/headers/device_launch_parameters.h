/*
 * simt/headers/device_launch_parameters.h - empty: device.h declares what kernels use of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
