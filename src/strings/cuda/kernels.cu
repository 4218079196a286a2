/*
 * strings/cuda/kernels.cu - kernels of sorts of strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
