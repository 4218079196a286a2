/*
 * simt/modules.h - compiled modules in memory: their kernels, their shared memory, their lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_MODULES_H
#define SIMT_MODULES_H

#include "simt/runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_loaded;

struct simt_function { /* a kernel of a module: what a CUkernel is */
    const struct simt_kernel *kernel;
    struct simt_loaded *module;
    uint32_t most_shared_bytes;     /* dynamic, as cuKernelSetAttribute() allows */
    uint64_t launches, most_blocks; /* tally.c */
};

struct simt_loaded { /* a module: what a CUlibrary is */
    void *handle;
    const struct simt_image *image;
    struct simt_module *symbols; /* elf.h; NULL if the file cannot be read again */
    uintptr_t base;              /* its load address */
    uintptr_t begin, end;        /* of its code and data */
    size_t shared_bytes; /* its thread-local memory, which contains all __shared__ variables */
    size_t dynamic;      /* the offset of dynamic shared memory there */
    struct simt_loaded *next;
    struct simt_function functions[]; /* [image->kernel_count] */
};

/* Loads NAME.so from the folder "echelon" next to the emulator, or from a path that contains a
 * slash. Returns a CUDA error code. */
int simt_module_load(const char *name, struct simt_loaded **module);
void simt_module_unload(struct simt_loaded *module);
struct simt_function *simt_module_find(struct simt_loaded *module, const char *name);
void *simt_module_symbol(struct simt_loaded *module, const char *name, size_t *bytes);

/* tally.c: counts a launch; writes the counts of a module that was loaded from a path. */
void simt_tally_launch(struct simt_function *function, uint64_t blocks);
void simt_tally_write(const struct simt_loaded *module, const char *path);

/* This OS thread's copy of the module's __shared__ memory. */
void *simt_module_shared(const struct simt_loaded *module);

/* "file:line" of an address in the code of any loaded module, or its function's name. */
void simt_place(uintptr_t pc, char *text, size_t bytes);
bool simt_same_line(uintptr_t pc, uintptr_t other);
bool simt_later_line(uintptr_t pc, uintptr_t than); /* of the same file */

/* The name of the __shared__ variable at an offset, or NULL; *inside is the offset within it. */
const char *simt_static_name(const struct simt_loaded *module, size_t offset, size_t *inside);

#endif
