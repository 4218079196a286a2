/*
 * simt/elf.c - reads a module's ELF file: its sections, symbols and thread-local memory.
 *
 * The file is kept in memory unchanged, and names point into it. An offset or a size from the file
 * is used only after within() has checked the whole range, and structs are copied out, because they
 * need not be aligned. The file is read, not mapped: if a mapped file shrinks, an access kills the
 * process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "simt/elf.h"
#include "simt/dwarf_line.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct text { /* a name that is not in the file */
    struct text *next;
    char name[];
};

struct simt_module {
    unsigned char *owned; /* what simt_module_read() allocated */
    struct simt_span file;
    struct simt_span symbols, symbol_names;
    uint64_t tls_bytes;
    struct simt_line_sections sections;
    struct simt_lines lines;
    struct simt_variable *variables;
    size_t n_variables;
    struct text *texts;
};

static bool within(const struct simt_module *m, uint64_t offset, uint64_t bytes)
{
    return offset <= m->file.bytes && bytes <= m->file.bytes - offset;
}

/* ---- Names ---- */

enum { MOST_NAME = 1024 }; /* bytes of the longest name that is parsed */

/* Reads 4bins: the length of a name, and the name; returns the rest, or NULL. */
static const char *source_name(const char *at, const char **name, size_t *bytes)
{
    size_t n = 0;
    if (*at < '1' || *at > '9') return NULL;
    for (; *at >= '0' && *at <= '9' && n <= MOST_NAME; at++) n = 10 * n + (size_t)(*at - '0');
    if (n > MOST_NAME || strnlen(at, n) < n) return NULL;
    *name = at;
    *bytes = n;
    return at + n;
}

/* The compiler numbers variables of one name in a function: nothing, _0 to _9, __10_ ... */
static bool is_number(const char *at)
{
    if (!*at) return true;
    if (*at++ != '_') return false;
    bool longer = *at == '_';
    if (longer) at++;
    size_t digits = strspn(at, "0123456789");
    if (digits == 0) return false;
    return longer ? strcmp(at + digits, "_") == 0 : digits == 1 && !at[1];
}

/* Finds the source's name in these mangled forms of a kernel's variables: in a function
 * _ZZ<function>E4bins, static in a file _ZL4bins, in namespaces _ZN5outer5inner4binsE. */
static bool find_name(const char *raw, const char **name, size_t *bytes)
{
    const char *at = raw + 3;
    if (strncmp(raw, "_ZL", 3) == 0) {
        at = source_name(at, name, bytes);
        return at && !*at;
    }
    if (strncmp(raw, "_ZN", 3) == 0) {
        bool found = false;
        for (const char *next; (next = source_name(at, name, bytes)); at = next) found = true;
        return found && strcmp(at, "E") == 0;
    }
    if (strncmp(raw, "_ZZ", 3) != 0) return false;
    while ((at = strchr(at, 'E'))) {
        const char *rest = source_name(++at, name, bytes);
        if (rest && is_number(rest)) return true;
    }
    return false;
}

/* NULL: out of memory. */
static const char *variable_name(struct simt_module *m, const char *raw)
{
    const char *name;
    size_t bytes;
    if (strnlen(raw, MOST_NAME) == MOST_NAME || !find_name(raw, &name, &bytes)) return raw;
    if (!name[bytes]) return name;
    struct text *text = malloc(sizeof *text + bytes + 1);
    if (!text) return NULL;
    memcpy(text->name, name, bytes);
    text->name[bytes] = 0;
    text->next = m->texts;
    m->texts = text;
    return text->name;
}

/* ---- Symbols ---- */

static size_t symbol_count(const struct simt_module *m)
{
    return m->symbols.bytes / sizeof(Elf64_Sym);
}

/* The name of the i-th symbol if it is defined, has a size and is of the given type; otherwise
 * NULL. */
static const char *symbol(const struct simt_module *m, size_t i, unsigned type, Elf64_Sym *s)
{
    memcpy(s, m->symbols.at + i * sizeof *s, sizeof *s);
    if (ELF64_ST_TYPE(s->st_info) != type || s->st_shndx == SHN_UNDEF || s->st_size == 0)
        return NULL;
    const char *name = simt_span_string(m->symbol_names, s->st_name);
    return name && *name ? name : NULL;
}

static bool is_variable(const struct simt_module *m, const Elf64_Sym *s)
{
    return s->st_value <= m->tls_bytes && s->st_size <= m->tls_bytes - s->st_value;
}

static int by_offset(const void *a, const void *b)
{
    const struct simt_variable *v = a, *w = b;
    if (v->offset != w->offset) return v->offset < w->offset ? -1 : 1;
    return v->bytes < w->bytes ? 1 : -(v->bytes > w->bytes);
}

static bool read_variables(struct simt_module *m)
{
    Elf64_Sym s;
    size_t n = 0;
    for (size_t i = 0; i < symbol_count(m); i++)
        n += symbol(m, i, STT_TLS, &s) && is_variable(m, &s);
    if (n == 0) return true;
    m->variables = calloc(n, sizeof *m->variables);
    if (!m->variables) return false;
    for (size_t i = 0; i < symbol_count(m); i++) {
        const char *name = symbol(m, i, STT_TLS, &s);
        if (!name || !is_variable(m, &s)) continue;
        struct simt_variable *v = &m->variables[m->n_variables++];
        *v = (struct simt_variable){ variable_name(m, name), s.st_value, s.st_size };
        if (!v->name) return false;
    }
    qsort(m->variables, n, sizeof *m->variables, by_offset);
    return true;
}

/* ---- Segments and sections ---- */

static bool read_segments(struct simt_module *m, const Elf64_Ehdr *header)
{
    if (header->e_phnum == 0) return true;
    if (header->e_phentsize != sizeof(Elf64_Phdr) ||
        !within(m, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, m->file.at + header->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_TLS) m->tls_bytes = p.p_memsz;
    }
    return true;
}

static Elf64_Shdr section(const struct simt_module *m, const Elf64_Ehdr *header, size_t i)
{
    Elf64_Shdr s;
    memcpy(&s, m->file.at + header->e_shoff + i * sizeof s, sizeof s);
    return s;
}

/* A section's bytes; none if they are compressed, or not in the file. */
static struct simt_span contents(const struct simt_module *m, const Elf64_Shdr *s)
{
    if (s->sh_type == SHT_NOBITS || s->sh_type == SHT_NULL || s->sh_flags & SHF_COMPRESSED ||
        s->sh_size == 0 || !within(m, s->sh_offset, s->sh_size))
        return (struct simt_span){ 0 };
    return (struct simt_span){ m->file.at + s->sh_offset, (size_t)s->sh_size };
}

/* Reads the symbols of .symtab, or of .dynsym if there are no others. */
static void take_symbols(struct simt_module *m, const Elf64_Ehdr *header, const Elf64_Shdr *s)
{
    bool first = !m->symbols.at;
    if (s->sh_type != SHT_SYMTAB && !(s->sh_type == SHT_DYNSYM && first)) return;
    if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_link >= header->e_shnum) return;
    Elf64_Shdr names = section(m, header, s->sh_link);
    struct simt_span symbols = contents(m, s), strings = contents(m, &names);
    if (!symbols.at || !strings.at) return;
    m->symbols = symbols;
    m->symbol_names = strings;
}

static bool read_sections(struct simt_module *m, const Elf64_Ehdr *header)
{
    if (header->e_shnum == 0) return true;
    if (header->e_shentsize != sizeof(Elf64_Shdr) ||
        !within(m, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    struct simt_line_sections *d = &m->sections;
    const struct {
        const char *name;
        struct simt_span *span;
    } wanted[] = { { ".debug_line", &d->line },
                   { ".debug_str", &d->str },
                   { ".debug_line_str", &d->line_str } };
    struct simt_span names = { 0 };
    if (header->e_shstrndx < header->e_shnum) {
        Elf64_Shdr s = section(m, header, header->e_shstrndx);
        names = contents(m, &s);
    }
    d->code_begin = UINT64_MAX;
    for (size_t i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr s = section(m, header, i);
        if (s.sh_flags & SHF_EXECINSTR && s.sh_size <= UINT64_MAX - s.sh_addr) {
            if (s.sh_addr < d->code_begin) d->code_begin = s.sh_addr;
            if (s.sh_addr + s.sh_size > d->code_end) d->code_end = s.sh_addr + s.sh_size;
        }
        take_symbols(m, header, &s);
        const char *name = simt_span_string(names, s.sh_name);
        for (size_t j = 0; name && j < sizeof wanted / sizeof *wanted; j++)
            if (strcmp(name, wanted[j].name) == 0) *wanted[j].span = contents(m, &s);
    }
    return true;
}

/* ---- Modules ---- */

static bool read_module(struct simt_module *m)
{
    Elf64_Ehdr header;
    if (m->file.bytes < sizeof header) return false;
    memcpy(&header, m->file.at, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    if (header.e_type != ET_DYN && header.e_type != ET_EXEC) return false;
    return read_segments(m, &header) && read_sections(m, &header) && read_variables(m) &&
           simt_lines_read(&m->lines, &m->sections);
}

struct simt_module *simt_module_parse(const void *file, size_t bytes)
{
    struct simt_module *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->file = (struct simt_span){ file, bytes };
    if (read_module(m)) return m;
    simt_module_free(m);
    return NULL;
}

/* The whole of a regular file, or NULL. */
static unsigned char *read_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
    if (fd < 0) return NULL;
    struct stat about;
    unsigned char *data = NULL;
    *bytes = 0;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        size_t most = (size_t)about.st_size;
        data = malloc(most);
        while (data && *bytes < most) {
            ssize_t n = read(fd, data + *bytes, most - *bytes);
            if (n <= 0) break; /* a shorter file is checked by its contents */
            *bytes += (size_t)n;
        }
    }
    close(fd);
    return data;
}

struct simt_module *simt_module_read(const char *path)
{
    size_t bytes;
    unsigned char *data = read_file(path, &bytes);
    if (!data) return NULL;
    struct simt_module *m = simt_module_parse(data, bytes);
    if (m)
        m->owned = data;
    else
        free(data);
    return m;
}

void simt_module_free(struct simt_module *m)
{
    if (!m) return;
    for (struct text *next; m->texts; m->texts = next) {
        next = m->texts->next;
        free(m->texts);
    }
    simt_lines_free(&m->lines);
    free(m->variables);
    free(m->owned);
    free(m);
}

/* ---- Queries ---- */

/* If functions overlap, the one that begins last; *at receives its address. */
static const char *function_at(const struct simt_module *m, uint64_t offset, uint64_t *at)
{
    const char *best = NULL;
    uint64_t begin = 0;
    for (size_t i = 0; i < symbol_count(m); i++) {
        Elf64_Sym s;
        const char *name = symbol(m, i, STT_FUNC, &s);
        if (!name || s.st_value > offset || offset - s.st_value >= s.st_size) continue;
        if (best && s.st_value <= begin) continue;
        best = name;
        begin = s.st_value;
    }
    *at = begin;
    return best;
}

const char *simt_module_function(const struct simt_module *m, uint64_t offset)
{
    uint64_t begin;
    return function_at(m, offset, &begin);
}

bool simt_module_object(const struct simt_module *m, const char *name, uint64_t *offset,
                        uint64_t *bytes)
{
    for (size_t i = 0; i < symbol_count(m); i++) {
        Elf64_Sym s;
        const char *other = symbol(m, i, STT_OBJECT, &s);
        if (!other || strcmp(other, name) != 0) continue;
        *offset = s.st_value;
        *bytes = s.st_size;
        return true;
    }
    return false;
}

static const char *base_name(const struct simt_module *m, const struct simt_row *row)
{
    const char *path = m->lines.files[row->file], *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

bool simt_module_line(const struct simt_module *m, uint64_t offset, const char **file, int *line)
{
    const struct simt_row *row = simt_lines_find(&m->lines, offset);
    if (!row) return false;
    *file = base_name(m, row);
    *line = row->line;
    return true;
}

bool simt_module_line_outside(const struct simt_module *m, uint64_t offset,
                              bool (*skip)(const char *file), const char **file, int *line)
{
    const struct simt_row *row = simt_lines_find(&m->lines, offset), *begin = m->lines.rows;
    const struct simt_row *outside = row;
    uint64_t function;
    if (!function_at(m, offset, &function)) outside = NULL;
    while (outside && (outside->line <= 0 || skip(base_name(m, outside))))
        outside = outside > begin && outside[-1].address >= function ? outside - 1 : NULL;
    if (outside) row = outside;
    if (!row) return false;
    *file = base_name(m, row);
    *line = row->line;
    return true;
}

size_t simt_module_variables(const struct simt_module *m, const struct simt_variable **out)
{
    *out = m->variables;
    return m->n_variables;
}

uint64_t simt_module_tls_bytes(const struct simt_module *m)
{
    return m->tls_bytes;
}
