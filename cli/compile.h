/*
 * compile.h - compiles a CUDA source for the SIMT emulator with the C++ compiler of the system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_COMPILE_H
#define ECHELON_CLI_COMPILE_H

#include "kernel_text.h"

enum { COMPILE_WORDS = 64, COMPILE_PATH = 4096 };

struct compile {
    const char *source;                        /* a file of CUDA C */
    const char *kernel;                        /* its name, or with template arguments; NULL: all */
    const char *const *defines, *const *roots; /* NAME or NAME=VALUE; folders of headers */
    int define_count, root_count;
    bool exact_lines; /* other flags than those of the ladder's modules, for more precise lines */

    /* The result: the module in a temporary folder, until compile_end(). */
    struct kernel_text text;
    const struct kernel *found; /* the kernel that was asked for */
    char name[KERNEL_NAME];     /* of the kernel in the module */
    const char *module;         /* the path of the module */
    char compiler[256];         /* that was used: "c++" */
    char *lines;                /* the source, of lines_bytes bytes */
    size_t lines_bytes;
    char library[COMPILE_PATH]; /* of the emulator */
    char headers[COMPILE_PATH]; /* the folder of device.h and others, next to it */
};

/* Each returns EXIT_DONE, or another exit code after a message; compile_end() follows in all cases.
 *
 * Finds the library of the emulator, which must be loaded, by the address of any of its functions,
 * and the headers next to it. */
int compile_find(struct compile *c, const void *emulator_function);
/* Reads the source and finds its kernels. */
int compile_scan(struct compile *c);
/* Compiles the kernels. */
int compile_module(struct compile *c);
/* Removes the temporary folder; a loaded module does not need it. */
void compile_remove(void);
void compile_end(struct compile *c);

#endif
