/*
 * simt/elf.h - the debug information of a compiled module: source lines, functions, and the
 * variables of its thread-local memory.
 *
 * Reads ELF files of 64 bits, little endian, with DWARF line tables of versions 2 to 5
 * (dwarf_line.c). Nothing in the file is trusted: a damaged file yields less information, or none,
 * and this code never prints or aborts. A module does not change after it is read, so any number of
 * threads may query it.
 *
 * The system has an <elf.h>, too: include this file as "simt/elf.h", and do not add its folder to
 * the search path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_ELF_H
#define SIMT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_module;

/* NULL if the file cannot be read, is not a shared module or program, or if out of memory. */
struct simt_module *simt_module_read(const char *path);

/* The same for a file in memory, whose bytes must not change until simt_module_free(). */
struct simt_module *simt_module_parse(const void *file, size_t bytes);
void simt_module_free(struct simt_module *module); /* NULL is allowed */

/* The source line at `offset`, an address minus the address at which the module was loaded. For
 * inlined code it is the innermost line; instructions without a line belong to the line before
 * them. For a caller's line, pass the return address minus 1. The file is returned as its base
 * name, which the module owns. False, without output, if there is no line. */
bool simt_module_line(const struct simt_module *module, uint64_t offset, const char **file,
                      int *line);

/* The same, but for code that was inlined from a file for which skip() is true, the line before it:
 * the approximate line of the call, since a line table does not contain it exactly. */
bool simt_module_line_outside(const struct simt_module *module, uint64_t offset,
                              bool (*skip)(const char *file), const char **file, int *line);

/* The linker's name of the function whose code contains `offset`; owned by the module; or NULL. */
const char *simt_module_function(const struct simt_module *module, uint64_t offset);

/* The offset and the size of a variable by the linker's name, exported or not; false if there is
 * none. */
bool simt_module_object(const struct simt_module *module, const char *name, uint64_t *offset,
                        uint64_t *bytes);

/* A variable in the module's thread-local memory. `name` is its name in the source if the mangled
 * name has a known form: bins for _ZZ14sort_histogramE4bins. */
struct simt_variable {
    const char *name;
    uint64_t offset, bytes; /* within the first simt_module_tls_bytes() */
};

/* Their number; *out, which the module owns, is sorted by ascending offset. */
size_t simt_module_variables(const struct simt_module *module, const struct simt_variable **out);
uint64_t simt_module_tls_bytes(const struct simt_module *module); /* 0 without such memory */

#endif
