/*
 * simt/dwarf_line.c - reads DWARF's line tables, versions 2 to 5, into arrays.
 *
 * .debug_line is a list of units. A unit has a header, with the names of the source files, and a
 * program for a state machine with the registers address, file and line; each instruction changes
 * registers or emits a row. All reads use a cursor, which returns zeros after the end. Each loop
 * consumes at least one byte, so time and memory are bounded by the file's size. A malformed unit
 * is skipped, and so is a sequence of rows whose addresses descend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/dwarf_line.h"

#include <stdlib.h>
#include <string.h>

struct cursor {
    const unsigned char *at, *end;
    bool failed;
};

/* The contents of a unit's header, and the registers of its program. */
struct unit {
    struct simt_lines *lines;
    const struct simt_line_sections *sections;
    struct cursor c;
    unsigned version, instruction_bytes, line_range, opcode_base;
    int line_base;
    const unsigned char *operands; /* [opcode_base - 1], of each standard opcode */
    size_t first_file;             /* in lines->files */
    bool no_memory;

    uint64_t address, file, line;
    size_t first_row; /* of the open sequence */
    bool descends;
};

/* ---- Reading ---- */

static uint64_t get(struct cursor *c, size_t bytes) /* of at most 8 bytes */
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->failed = true;
        c->at = c->end;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)c->at[i] << 8 * i;
    c->at += bytes;
    return value;
}

static void skip(struct cursor *c, uint64_t bytes)
{
    if (bytes > (uint64_t)(c->end - c->at)) {
        c->failed = true;
        bytes = (uint64_t)(c->end - c->at);
    }
    c->at += bytes;
}

/* LEB128 numbers, seven bits per byte; bits beyond 64 are lost. */
static uint64_t get_leb(struct cursor *c, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = get(c, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        if (shift < 64) shift += 7;
    } while (byte & 128);
    if (is_signed && shift < 64 && (byte & 64)) value |= ~(uint64_t)0 << shift;
    return value;
}

static const char *get_string(struct cursor *c)
{
    const unsigned char *from = c->at;
    const unsigned char *end = memchr(from, 0, (size_t)(c->end - from));
    c->failed |= !end;
    c->at = end ? end + 1 : c->end;
    return end ? (const char *)from : NULL;
}

const char *simt_span_string(struct simt_span table, uint64_t at)
{
    if (at >= table.bytes || table.at[table.bytes - 1] != 0) return NULL;
    return (const char *)table.at + at;
}

/* Splits off a part of the cursor's bytes. */
static struct cursor part(struct cursor *c, uint64_t bytes)
{
    struct cursor result = { c->at, c->at, c->failed };
    skip(c, bytes);
    result.end = c->at;
    result.failed = c->failed;
    return result;
}

/* ---- Arrays that grow ---- */

static bool grow(void **array, size_t *most, size_t n, size_t bytes)
{
    if (n < *most) return true;
    size_t more = *most ? *most : 64;
    if (more > SIZE_MAX / 2 / bytes) return false;
    more *= 2;
    void *moved = realloc(*array, more * bytes);
    if (!moved) return false;
    *array = moved;
    *most = more;
    return true;
}

static void add_file(struct unit *u, const char *name)
{
    struct simt_lines *lines = u->lines;
    void *array = lines->files;
    u->no_memory |= lines->n_files >= UINT32_MAX ||
                    !grow(&array, &lines->most_files, lines->n_files, sizeof *lines->files);
    lines->files = array;
    if (!u->no_memory) lines->files[lines->n_files++] = name;
}

static void add_row(struct unit *u)
{
    struct simt_lines *lines = u->lines;
    void *array = lines->rows;
    u->no_memory |= !grow(&array, &lines->most_rows, lines->n_rows, sizeof *lines->rows);
    lines->rows = array;
    if (u->no_memory) return;

    /* Before version 5, files are numbered from 1. */
    struct simt_row row = { u->address, 0, 0 };
    uint64_t file = u->version < 5 ? u->file - 1 : u->file;
    if (file < lines->n_files - u->first_file && lines->files[u->first_file + (size_t)file] &&
        u->line <= INT32_MAX) {
        row.file = (uint32_t)(u->first_file + (size_t)file);
        row.line = (int32_t)u->line;
    }
    u->descends |=
        lines->n_rows > u->first_row && row.address < lines->rows[lines->n_rows - 1].address;
    lines->rows[lines->n_rows++] = row;
}

static void start_sequence(struct unit *u)
{
    u->address = 0;
    u->file = u->line = 1;
    u->first_row = u->lines->n_rows;
    u->descends = false;
}

/* Keeps the rows since start_sequence(), if they are of this module's code. */
static void end_sequence(struct unit *u)
{
    struct simt_lines *lines = u->lines;
    struct simt_sequence s = { 0, u->address, u->first_row, lines->n_rows - u->first_row };
    bool keep = s.n > 0 && !u->descends && lines->rows[lines->n_rows - 1].address <= s.end;
    if (keep) {
        s.begin = lines->rows[s.first].address;
        keep =
            s.begin < s.end && s.begin >= u->sections->code_begin && s.end <= u->sections->code_end;
    }
    if (keep) {
        void *array = lines->sequences;
        u->no_memory |= !grow(&array, &lines->most_sequences, lines->n_sequences, sizeof s);
        lines->sequences = array;
        if (!u->no_memory) lines->sequences[lines->n_sequences++] = s;
    } else {
        lines->n_rows = s.first;
    }
    start_sequence(u);
}

/* ---- The header ---- */

static void read_files_v4(struct unit *u, struct cursor *c)
{
    const char *name;
    do { /* skips the folders, which base names do not need */
        name = get_string(c);
    } while (name && *name);
    while ((name = get_string(c)) && *name) {
        for (int i = 0; i < 3; i++) get_leb(c, false); /* folder, time, length */
        add_file(u, name);
    }
}

/* DW_FORM_...: the encoding of a value, and its size in bytes; for a block, the size of its
 * length. */
enum { FIXED = 1, LEB, BLOCK, INLINE, STR, LINE_STR };
static const struct {
    unsigned char kind, bytes;
} forms[] = {
    [0x03] = { BLOCK, 2 },    [0x04] = { BLOCK, 4 },  [0x05] = { FIXED, 2 }, [0x06] = { FIXED, 4 },
    [0x07] = { FIXED, 8 },    [0x08] = { INLINE, 0 }, [0x09] = { BLOCK, 0 }, [0x0a] = { BLOCK, 1 },
    [0x0b] = { FIXED, 1 },    [0x0c] = { FIXED, 1 },  [0x0d] = { LEB, 0 },   [0x0e] = { STR, 4 },
    [0x0f] = { LEB, 0 },      [0x17] = { FIXED, 4 },  [0x1a] = { LEB, 0 },   [0x1e] = { FIXED, 16 },
    [0x1f] = { LINE_STR, 4 }, [0x25] = { FIXED, 1 },  [0x26] = { FIXED, 2 }, [0x27] = { FIXED, 3 },
    [0x28] = { FIXED, 4 },
};

/* Reads a value, and returns the string if it is one in .debug_line or a section it refers to. */
static const char *read_form(struct unit *u, struct cursor *c, uint64_t form)
{
    bool known = form < sizeof forms / sizeof *forms;
    size_t bytes = known ? forms[form].bytes : 0;
    switch (known ? forms[form].kind : 0) {
    case FIXED:
        skip(c, bytes);
        break;
    case LEB:
        get_leb(c, false);
        break;
    case BLOCK:
        skip(c, bytes ? get(c, bytes) : get_leb(c, false));
        break;
    case INLINE:
        return get_string(c);
    case STR:
        return simt_span_string(u->sections->str, get(c, bytes));
    case LINE_STR:
        return simt_span_string(u->sections->line_str, get(c, bytes));
    default:
        c->failed = true;
    }
    return NULL;
}

/* A table of folders, of which only the end matters, or of files. */
static void read_table_v5(struct unit *u, struct cursor *c, bool files)
{
    enum { CONTENT_PATH = 1 };
    size_t n_columns = (size_t)get(c, 1);
    struct {
        uint64_t content, form;
    } columns[255];
    for (size_t i = 0; i < n_columns; i++) {
        columns[i].content = get_leb(c, false);
        columns[i].form = get_leb(c, false);
    }
    uint64_t n = get_leb(c, false);
    if (n_columns == 0 && n > 0) c->failed = true; /* entries of zero bytes could be any number */
    for (uint64_t i = 0; i < n && !c->failed && !u->no_memory; i++) {
        const char *name = NULL;
        for (size_t j = 0; j < n_columns; j++) {
            const char *text = read_form(u, c, columns[j].form);
            if (columns[j].content == CONTENT_PATH) name = text;
        }
        if (files && !c->failed) add_file(u, name && *name ? name : NULL);
    }
}

/* Leaves the cursor at the program; false if the unit is not supported. */
static bool read_header(struct unit *u)
{
    struct cursor *c = &u->c;
    u->version = (unsigned)get(c, 2);
    if (u->version < 2 || u->version > 5) return false;
    if (u->version == 5) { /* no segment selectors */
        const uint64_t address_bytes = get(c, 1), segment_bytes = get(c, 1);
        if (address_bytes != 8 || segment_bytes != 0) return false;
    }
    struct cursor header = part(c, get(c, 4));
    u->instruction_bytes = (unsigned)get(&header, 1);
    if (u->version >= 4 && get(&header, 1) > 1) return false; /* VLIW */
    get(&header, 1);                                          /* is_stmt's default */
    u->line_base = (int)get(&header, 1);
    if (u->line_base > 127) u->line_base -= 256;
    u->line_range = (unsigned)get(&header, 1);
    u->opcode_base = (unsigned)get(&header, 1);
    if (header.failed || u->line_range == 0 || u->opcode_base == 0) return false;
    u->operands = header.at;
    skip(&header, u->opcode_base - 1);
    u->first_file = u->lines->n_files;
    if (u->version < 5) {
        read_files_v4(u, &header);
    } else {
        read_table_v5(u, &header, false);
        read_table_v5(u, &header, true);
    }
    return !header.failed;
}

/* ---- The program ---- */

static void run_extended(struct unit *u)
{
    enum { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE };
    struct cursor c = part(&u->c, get_leb(&u->c, false));
    if (c.at == c.end) return;
    uint64_t opcode = get(&c, 1);
    const char *name;
    switch (opcode) {
    case END_SEQUENCE:
        end_sequence(u);
        break;
    case SET_ADDRESS:
        u->address = get(&c, 8);
        u->descends |= c.failed; /* an address of another size */
        break;
    case DEFINE_FILE:
        name = get_string(&c);
        if (u->version < 5) add_file(u, name && *name ? name : NULL);
        break;
    default:
        break; /* its length gives the position of the next */
    }
}

static void run_special(struct unit *u, unsigned opcode)
{
    unsigned step = opcode - u->opcode_base;
    u->address += (uint64_t)u->instruction_bytes * (step / u->line_range);
    u->line += (uint64_t)(int64_t)(u->line_base + (int)(step % u->line_range));
    add_row(u);
}

static void run_standard(struct unit *u, unsigned opcode)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    switch (opcode) {
    case COPY:
        add_row(u);
        break;
    case ADVANCE_PC:
        u->address += u->instruction_bytes * get_leb(&u->c, false);
        break;
    case ADVANCE_LINE:
        u->line += get_leb(&u->c, true);
        break;
    case SET_FILE:
        u->file = get_leb(&u->c, false);
        break;
    case CONST_ADD_PC:
        u->address += (uint64_t)u->instruction_bytes * ((255 - u->opcode_base) / u->line_range);
        break;
    case FIXED_ADVANCE_PC:
        u->address += get(&u->c, 2);
        break;
    default: /* columns, statements and other registers; or opcodes of a later version */
        for (unsigned i = u->operands[opcode - 1]; i > 0; i--) get_leb(&u->c, false);
    }
}

static void run_program(struct unit *u)
{
    start_sequence(u);
    while (u->c.at < u->c.end && !u->no_memory) {
        unsigned opcode = (unsigned)get(&u->c, 1);
        if (opcode >= u->opcode_base)
            run_special(u, opcode);
        else if (opcode == 0)
            run_extended(u);
        else
            run_standard(u, opcode);
    }
    u->lines->n_rows = u->first_row; /* a sequence without an end */
}

/* ---- The whole section ---- */

static int by_address(const void *a, const void *b)
{
    const struct simt_sequence *s = a, *t = b;
    if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
    return s->first < t->first ? -1 : s->first > t->first;
}

bool simt_lines_read(struct simt_lines *lines, const struct simt_line_sections *sections)
{
    const uint64_t length_64 = 0xffffffff, length_reserved = 0xfffffff0;
    *lines = (struct simt_lines){ 0 };
    if (!sections->line.at) return true;
    struct cursor c = { sections->line.at, sections->line.at + sections->line.bytes, false };
    while (c.at < c.end) {
        uint64_t length = get(&c, 4);
        bool is_64 = length == length_64;
        if (is_64) length = get(&c, 8);
        if (!is_64 && length >= length_reserved) break;
        struct unit u = { .lines = lines, .sections = sections, .c = part(&c, length) };
        if (c.failed) break;
        if (!is_64 && read_header(&u) && !u.no_memory) run_program(&u);
        if (u.no_memory) return false;
    }
    if (lines->n_sequences > 1)
        qsort(lines->sequences, lines->n_sequences, sizeof *lines->sequences, by_address);
    return true;
}

void simt_lines_free(struct simt_lines *lines)
{
    free(lines->rows);
    free(lines->sequences);
    free(lines->files);
    *lines = (struct simt_lines){ 0 };
}

const struct simt_row *simt_lines_find(const struct simt_lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->n_sequences; /* sequences before low begin at or below address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->sequences[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || lines->sequences[low - 1].end <= address) return NULL;
    const struct simt_row *rows = lines->rows + lines->sequences[low - 1].first;
    high = lines->sequences[low - 1].n;
    low = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0) /* of rows with one address, the last one applies */
        if (rows[--low].line > 0) return &rows[low];
    return NULL;
}
