/*
 * simt/elf.h - what a compiled module says of itself: source lines, functions, and the variables of
 * its thread-local memory.
 *
 * Read from the ELF file, of 64 bits and little endian, and from its DWARF line tables of versions
 * 2 to 5 (dwarf_line.c).  Nothing in the file is trusted: a damaged one gives less information, or
 * none, and nothing here prints or aborts.  A module does not change once it is read, so any number
 * of threads may ask it.
 *
 * The name is that of the system's <elf.h>: include this one as "simt/elf.h", and do not add the
 * folder that it lies in to the search path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_ELF_H
#define SIMT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_module;

/* NULL when the file cannot be read, is no shared module or program, or memory is out. */
struct simt_module *simt_module_read(const char *path);

/* The same of a file's bytes in memory, which must stay as they are until simt_module_free(). */
struct simt_module *simt_module_parse(const void *file, size_t bytes);
void simt_module_free(struct simt_module *module); /* NULL is allowed */

/* The source line at `offset`, an address less the address at which the module was loaded.  Of
 * inlined code it is the innermost line; instructions of no line belong to the line before them.
 * For a caller's line, pass the return address less 1.  The file is its base name, and the
 * module's.  False, with nothing written, when there is no line. */
bool simt_module_line(const struct simt_module *module, uint64_t offset, const char **file,
                      int *line);

/* The same, but of code that was inlined from a file that skip() names, the line before it: where
 * it was called, as near as a line table can tell. */
bool simt_module_line_outside(const struct simt_module *module, uint64_t offset,
                              bool (*skip)(const char *file), const char **file, int *line);

/* The function, as the linker names it, whose code covers `offset`; the module's, or NULL. */
const char *simt_module_function(const struct simt_module *module, uint64_t offset);

/* A variable in the module's thread-local memory.  `name` is as in the source where the linker's
 * name is of a known form: bins for _ZZ14sort_histogramE4bins. */
struct simt_variable {
    const char *name;
    uint64_t offset, bytes; /* within the first simt_module_tls_bytes() */
};

/* Their number; *out, which is the module's, is by ascending offset. */
size_t simt_module_variables(const struct simt_module *module, const struct simt_variable **out);
uint64_t simt_module_tls_bytes(const struct simt_module *module); /* 0 without such memory */

#endif
