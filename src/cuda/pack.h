/*
 * cuda/pack.h - compiled kernels: machine code in the library, PTX in a file that is opened only
 * when no machine code fits a GPU.
 *
 * cmake/pack.cmake writes a pack and describes it.  Nothing here uses the rest of the library: the
 * ladder has its kernels in a pack, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_PACK_H
#define ECHI_CUDA_PACK_H

#include <stdbool.h>
#include <stddef.h>

enum { ECHI_PACK_PATH = 4096, ECHI_PACK_REASON = 256 };

/* Where a pack is, and the build that it must be of. */
struct echi_pack {
    const void *data; /* in memory, so many bytes; NULL: in the file path */
    size_t bytes;
    const char *path;
    const char *id;
};

/* Where the file `name` is: in the folder that the environment variable ECHELON_PTX_DIR names, or
 * otherwise the first of these that can be read:
 *
 *   echelon/<name>         next to the library or program that has the address `inside`
 *   echelon/<name>         next to the program that runs
 *   ../<libdir>/echelon/<name>    from there: an installed program with the static library
 *
 * Without any, path gets the first of them, for a message. */
void echi_pack_find(const char *name, const void *inside, char path[ECHI_PACK_PATH]);

/* The best code of an image for a GPU of this compute capability (90 for 9.0), as
 * cuLibraryLoadData() takes it, from malloc(): machine code of the same major version, or PTX, of
 * the newest version that is not newer than the GPU's.  NULL with a reason, which names the file,
 * when the pack cannot be read, is damaged, is of another build, or has no code that fits; in the
 * last case *bytes is 0. */
void *echi_pack_read(const struct echi_pack *pack, const char *image, int gpu, size_t *bytes,
                     char reason[ECHI_PACK_REASON]);

#endif
