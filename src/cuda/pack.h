/*
 * cuda/pack.h - compiled kernels: machine code in the library, PTX in a file that is opened only if
 * no machine code fits a GPU.
 *
 * cmake/pack.cmake writes a pack and describes it. This code does not use the rest of the library,
 * because the ladder stores its kernels in a pack, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_PACK_H
#define ECHI_CUDA_PACK_H

#include <stdbool.h>
#include <stddef.h>

enum { ECHI_PACK_PATH = 4096, ECHI_PACK_REASON = 256 };

/* The location of a pack, and the build that it must match. */
struct echi_pack {
    const void *data; /* in memory, with its size; NULL: in the file `path` */
    size_t bytes;
    const char *path;
    const char *id;
};

/* The path of the file `name`: in the folder that the environment variable ECHELON_PTX_DIR names,
 * or otherwise the first of these that can be read:
 *
 *   echelon/<name>         next to the library or program that contains the address `inside`
 *   echelon/<name>         next to the running program
 *   ../<libdir>/echelon/<name>    relative to that program: installed, with the static library
 *
 * If none exists, path is set to the first of them, for a message. */
void echi_pack_find(const char *name, const void *inside, char path[ECHI_PACK_PATH]);

/* The best code of a module for a GPU of this compute capability (90 for 9.0), as
 * cuLibraryLoadData() takes it, from malloc(): machine code of the same major version, or PTX of
 * the newest version that is not newer than the GPU. NULL with a reason, which names the file, if
 * the pack cannot be read, is damaged, is of another build, or has no code that fits; in the last
 * case *bytes is 0. */
void *echi_pack_read(const struct echi_pack *pack, const char *image, int gpu, size_t *bytes,
                     char reason[ECHI_PACK_REASON]);

#endif
