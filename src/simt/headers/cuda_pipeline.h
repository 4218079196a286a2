/*
 * cuda_pipeline.h - reports that kernels cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "the pipeline functions are not supported by the SIMT emulator"
