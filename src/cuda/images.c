/*
 * cuda/images.c - the table of embedded fatbins, one for each row of instances.txt.
 *
 * images.def and the symbols come from the build.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda.h"

#define IMAGE(name) extern const unsigned char echi_image_##name[];
#include "images.def"
#undef IMAGE

const struct echi_image echi_images[] = {
#define IMAGE(name) { #name, echi_image_##name },
#include "images.def"
#undef IMAGE
};

const int echi_image_count = sizeof echi_images / sizeof *echi_images;
