/*
 * kernel_text.h - what the preprocessed text of a CUDA source contains: kernels with their
 * parameters, names of dynamic shared memory, and code that the SIMT emulator does not support.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_KERNEL_TEXT_H
#define ECHELON_CLI_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    KERNEL_NAME = 128, /* bytes of a name, with its namespaces */
    KERNEL_SIGNATURE = 1024,
    KERNEL_PARAMETERS = 64,
    KERNEL_MEMBERS = 64, /* of a struct */
    KERNEL_TEXT_KERNELS = 256,
    KERNEL_TEXT_ARRAYS = 64
};

struct kernel {
    char name[KERNEL_NAME];           /* "reduce", "space::reduce" */
    char signature[KERNEL_SIGNATURE]; /* "reduce(const float *in, int n)" */
    char bound[KERNEL_NAME];          /* the arguments of __launch_bounds__(); "": none */
    char parameters[KERNEL_PARAMETERS][KERNEL_NAME]; /* their names; "": none */
    char types[KERNEL_PARAMETERS][KERNEL_NAME];      /* the last word of the type; "": a pointer */
    int parameter_count;
    bool templated, defined;
    int definitions; /* more than one: overloaded */
};

struct kernel_file { /* a file of the user that the source consists of */
    char *path;
};

struct kernel_struct { /* without its namespaces */
    char name[KERNEL_NAME];
    char members[KERNEL_MEMBERS][KERNEL_NAME / 2];
    int member_count;
    bool complex; /* not all members are known */
};

struct kernel_text {
    struct kernel *kernels;
    int kernel_count;
    struct kernel_struct *structs;
    int struct_count;
    char arrays[KERNEL_TEXT_ARRAYS][KERNEL_NAME]; /* extern __shared__ ... NAME[] */
    int array_count;
    struct kernel_file *files;
    int file_count;
    char problem[512]; /* code that cannot run, as "file:line: reason"; "": none */
    char hint[512];    /* why the compiler may reject the code; "": unknown */
};

/* Reads preprocessed text with line markers, in which __global__, __shared__ and __launch_bounds__
 * were not expanded.  Headers that the markers call system headers are ignored.  False: out of
 * memory.  The result must be freed in both cases. */
bool kernel_text_read(struct kernel_text *text, const char *from, size_t bytes);
void kernel_text_free(struct kernel_text *text);

/* The definition of the kernel that the user calls `name`, with or without its namespaces and
 * template arguments.  NULL: none or several, *matches of them. */
const struct kernel *kernel_text_find(const struct kernel_text *text, const char *name,
                                      int *matches);

/* The struct of parameter i, which is passed by value, if all its members are known; or NULL. */
const struct kernel_struct *kernel_text_struct(const struct kernel_text *text,
                                               const struct kernel *kernel, int i);

#endif
