/*
 * sparse/cuda/image.c - the name of the module that has the kernels for a matrix's types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/cuda.h"
#include "sparse/cuda/make.h"

#include <stdio.h>

void echi_cuda_sparse_image(const ech_csr *a, char image[SPARSE_IMAGE_BYTES])
{
    snprintf(image, SPARSE_IMAGE_BYTES, "sparse_%s_%s", ech_dtype_name(a->index_dtype),
             ech_dtype_name(a->dtype));
}
