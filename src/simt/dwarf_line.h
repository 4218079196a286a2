/*
 * simt/dwarf_line.h - DWARF's line tables as sorted arrays, for searches by address.
 *
 *   sequences, by address    [0x1000, 0x1080)      [0x1100, 0x1234) ...
 *   rows of each             0x1000 0x1004 0x1010  0x1100 ...
 *
 * A row is valid from its address to the next row's, the last one to the end of its sequence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DWARF_LINE_H
#define SIMT_DWARF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_span {
    const unsigned char *at; /* NULL: the section does not exist */
    size_t bytes;
};

struct simt_line_sections {
    struct simt_span line, str, line_str; /* .debug_line, .debug_str, .debug_line_str */
    uint64_t code_begin, code_end;        /* sequences elsewhere belong to discarded code */
};

struct simt_row {
    uint64_t address;
    uint32_t file; /* index in files */
    int32_t line;  /* 0: unknown */
};

struct simt_sequence {
    uint64_t begin, end;
    size_t first, n; /* its rows */
};

struct simt_lines {
    struct simt_row *rows;
    struct simt_sequence *sequences;
    const char **files; /* from the sections, with folders; NULL: an unreadable name */
    size_t n_rows, n_sequences, n_files;
    size_t most_rows, most_sequences, most_files; /* capacities */
};

/* Reads as much as possible; false only if out of memory. *lines must be freed in both cases. */
bool simt_lines_read(struct simt_lines *lines, const struct simt_line_sections *sections);
void simt_lines_free(struct simt_lines *lines);

/* The row with a nonzero line that applies to an address, or NULL. */
const struct simt_row *simt_lines_find(const struct simt_lines *lines, uint64_t address);

/* A string of a string table, or NULL; it must be terminated within the table. */
const char *simt_span_string(struct simt_span table, uint64_t at);

#endif
