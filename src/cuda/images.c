/*
 * cuda/images.c - the table of images, one for each row of instances.txt, with their embedded
 * fatbins.
 *
 * images.def and the symbols come from the build.  Without nvcc there are only the names, by which
 * the executor loads its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/cuda.h"
#include "cuda/ptx_file.h"

#ifdef ECHELON_CUDA_CODE
#define IMAGE(name) extern const unsigned char echi_image_##name[];
#include "images.def"
#undef IMAGE
#define DATA(name) echi_image_##name
#else
#define DATA(name) NULL
#endif

const struct echi_image echi_images[] = {
#define IMAGE(name) { #name, DATA(name) },
#include "images.def"
#undef IMAGE
};

const int echi_image_count = sizeof echi_images / sizeof *echi_images;

const int echi_image_archs[] = {
#ifdef ECHELON_CUDA_CODE
    ECHELON_CUDA_CODE,
#endif
    0,
};

#ifdef ECHELON_CUDA_PTX
extern const char echi_kernels_id[];
const char *const echi_ptx_id = echi_kernels_id;
const int echi_ptx_arch = ECHELON_CUDA_PTX;
#else
const char *const echi_ptx_id = NULL;
const int echi_ptx_arch = 0;
#endif
