/*
 * gpu.h - what the CUDA files of the benchmark grid share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_GRID_GPU_H
#define BENCH_GRID_GPU_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"

/* An error of CUDA cannot be repaired in this process: grid.py marks the row, and run starts
 * again. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error_));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

extern "C" {

extern cudaStream_t grid_gpu_stream;

/* Memory for competitors, which is released when the next row begins. */
enum { SCRATCH_WORK, SCRATCH_KEYS, SCRATCH_VALUES, SCRATCH_OTHER, SCRATCHES };
void *grid_scratch(int which, size_t bytes);
/* Whether this is the first call for this row since the last one with the same number. */
bool grid_first_call(int rival);

/* Competitors: one function per dtype for CUB and Thrust; 0: not supported. */
typedef int grid_run(struct grid_case *c);
grid_run grid_cub_0, grid_cub_1, grid_cub_2, grid_cub_3, grid_cub_4, grid_cub_5, grid_cub_6,
    grid_cub_7, grid_cub_8, grid_cub_9, grid_cub_10, grid_cub_11;
int grid_cublas(struct grid_case *c);
int grid_cusparse(struct grid_case *c);
}

#endif
