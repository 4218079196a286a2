/*
 * compile_files.h - shared by compile.c and compile_source.c: the files in the temporary folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_COMPILE_FILES_H
#define ECHELON_CLI_COMPILE_FILES_H

#include "cli.h"
#include "compile.h"

enum file { SCAN_CC, SCAN_II, IMAGE_CC, IMAGE_O, SHARED_CC, SHARED_O, MODULE, ERRORS, FILES };

/* Each returns EXIT_DONE, or another exit code after a message. */

/* Reads a file into memory from malloc(), with a 0 after its end. */
int compile_read(const char *path, char **bytes, size_t *n);
/* The source for kernel_text.c: the keywords that it needs are not expanded. */
int compile_write_scan(const struct compile *c);
/* Finds the kernel that the user named, or the only one. */
int compile_choose(struct compile *c);
/* The source as a module. */
int compile_write_image(const struct compile *c);
/* Dynamic shared memory under each name that the source gives it; as src/simt/image_shared.c. */
int compile_write_shared(const struct compile *c);

#endif
