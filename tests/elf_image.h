/*
 * elf_image.h - writes small ELF files of every DWARF version, and lists their expected contents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_CODE = 0x1000, IMAGE_TLS_BYTES = 4096, IMAGE_VARIABLES = 11 };

/* A file that is shorter than this has an incomplete section table. */
enum { IMAGE_SECTIONS = 7, IMAGE_TABLES_BYTES = 64 + 2 * 56 + IMAGE_SECTIONS * 64 };

struct image {
    unsigned char bytes[4096];
    size_t n;
    int sections;
    unsigned char names[128]; /* section names */
    size_t names_bytes;
};

enum { FORM_STRING = 0x08, FORM_STRP = 0x0e, FORM_LINE_STRP = 0x1f };

struct by_hand {
    int version, form;        /* DWARF version; form of file names in version 5 */
    bool compressed, dynamic; /* .debug_line is compressed; .dynsym instead of .symtab */
};

void image_make(struct image *im, const struct by_hand *how);

/* In ascending order of offsets. */
struct image_variable {
    const char *raw, *name;
    uint64_t offset, bytes;
};
extern const struct image_variable image_variables[IMAGE_VARIABLES];

struct image_place {
    uint64_t offset;
    const char *file; /* NULL: no line information */
    int line;
    const char *function;
};
extern const struct image_place image_places[];
extern const size_t image_n_places;

#endif
