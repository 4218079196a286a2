/*
 * cuda/ptx_file.h - kernels as PTX, in a file that is opened only when no machine code fits a GPU.
 *
 * cmake/ptx_file.cmake writes the file and describes it.  Nothing here uses the rest of the
 * library: the ladder has its kernels in such a file, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_PTX_FILE_H
#define ECHI_CUDA_PTX_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { ECHI_PTX_PATH = 4096, ECHI_PTX_REASON = 256 };

/* Where the file `name` is: in the folder that the environment variable ECHELON_PTX_DIR names, or
 * otherwise the first of these that can be read:
 *
 *   echelon/<name>         next to the library or program that has the address `inside`
 *   echelon/<name>         next to the program that runs
 *   ../<libdir>/echelon/<name>    from there: an installed program with the static library
 *
 * Without any, path gets the first of them, for a message. */
void echi_ptx_find(const char *name, const void *inside, char path[ECHI_PTX_PATH]);

/* The fatbin of an image, from malloc(); NULL with a reason, which names the file, when the file
 * cannot be read, is damaged, is not that of the build `id`, or has no such image. */
void *echi_ptx_read(const char *path, const char *id, const char *image, size_t *bytes,
                    char reason[ECHI_PTX_REASON]);

/* The id of the library's own file, kernels.pack; NULL: there is none.  In images.c. */
extern const char *const echi_ptx_id;

#endif
