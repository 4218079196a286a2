/*
 * simt/dwarf_line.h - DWARF's line tables as arrays in which an address is searched.
 *
 *   sequences, by address    [0x1000, 0x1080)      [0x1100, 0x1234) ...
 *   rows of each             0x1000 0x1004 0x1010  0x1100 ...
 *
 * A row holds from its address to the next row's, the last one to the end of its sequence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DWARF_LINE_H
#define SIMT_DWARF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_span {
    const unsigned char *at; /* NULL: there is none */
    size_t bytes;
};

struct simt_line_sections {
    struct simt_span line, str, line_str; /* .debug_line, .debug_str, .debug_line_str */
    uint64_t code_begin, code_end;        /* sequences elsewhere are of code that was discarded */
};

struct simt_row {
    uint64_t address;
    uint32_t file; /* index in files */
    int32_t line;  /* 0: nothing is known */
};

struct simt_sequence {
    uint64_t begin, end;
    size_t first, n; /* its rows */
};

struct simt_lines {
    struct simt_row *rows;
    struct simt_sequence *sequences;
    const char **files; /* as in the sections, with folders; NULL: a name that cannot be read */
    size_t n_rows, n_sequences, n_files;
    size_t most_rows, most_sequences, most_files; /* what there is memory for */
};

/* Reads what can be read; false only when memory is out.  *lines is to be freed either way. */
bool simt_lines_read(struct simt_lines *lines, const struct simt_line_sections *sections);
void simt_lines_free(struct simt_lines *lines);

/* The row with a line that holds at an address, or NULL. */
const struct simt_row *simt_lines_find(const struct simt_lines *lines, uint64_t address);

/* A string of a table of strings, or NULL; a table that does not end a string has none. */
const char *simt_span_string(struct simt_span table, uint64_t at);

#endif
