/*
 * simt/headers/cuda_pipeline.h - reports that kernels for the SIMT emulator cannot use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#error "the pipeline functions are not supported"
