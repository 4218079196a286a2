/*
 * cuda/images.c - the names of all images, one for each row of instances.txt, and their machine
 * code.
 *
 * images.def and the pack come from the build.  Without nvcc there are only the names, by which the
 * executor loads its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/cuda.h"
#include "cuda/pack.h"

const char *const echi_images[] = {
#define IMAGE(name) #name,
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

#ifdef ECHELON_CUDA_CODE
extern const unsigned char echi_code_begin[]; /* code.S */
extern const size_t echi_code_bytes;
struct echi_pack echi_cuda_code(void)
{
    return (struct echi_pack){ echi_code_begin, echi_code_bytes, NULL, ECHELON_CODE_ID };
}
#else
struct echi_pack echi_cuda_code(void)
{
    return (struct echi_pack){ 0 };
}
#endif

#ifdef ECHELON_CUDA_PTX
extern const char echi_kernels_id[];
const char *const echi_ptx_id = echi_kernels_id;
const int echi_ptx_arch = ECHELON_CUDA_PTX;
#else
const char *const echi_ptx_id = NULL;
const int echi_ptx_arch = 0;
#endif
