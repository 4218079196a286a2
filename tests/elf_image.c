/*
 * elf_image.c - writes small ELF files for the tests of simt/elf.c.
 *
 *   0 header   64 segments   176 sections   624 strings, symbols, file names, lines, section names
 *
 * The line table follows two units that must be skipped. The sequence under test follows a
 * sequence of discarded code and one with descending addresses. It contains every opcode that
 * changes a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "elf_image.h"

#include <elf.h>
#include <string.h>

enum { SECTIONS_AT = 64 + 2 * 56, CODE = IMAGE_CODE, CODE_BYTES = 0x1000 };

static void put(struct image *im, uint64_t value, int bytes)
{
    for (; bytes > 0 && im->n < sizeof im->bytes; bytes--, value >>= 8)
        im->bytes[im->n++] = (unsigned char)value;
}

static void put_bytes(struct image *im, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) put(im, ((const unsigned char *)from)[i], 1);
}

/* Writes a string of bytes with its terminator. */
static void put_text(struct image *im, const char *text)
{
    put_bytes(im, text, strlen(text) + 1);
}

static void patch(struct image *im, size_t at, uint64_t value)
{
    size_t n = im->n;
    im->n = at;
    put(im, value, 4);
    im->n = n;
}

/* Adds a section for the bytes from `begin` on; write_section() writes its header. */
static Elf64_Shdr add_section(struct image *im, const char *name, uint32_t type, size_t begin)
{
    Elf64_Shdr s = { .sh_type = type, .sh_offset = begin, .sh_size = im->n - begin };
    s.sh_name = (uint32_t)im->names_bytes;
    memcpy(im->names + im->names_bytes, name, strlen(name) + 1);
    im->names_bytes += strlen(name) + 1;
    im->sections++;
    return s;
}

static void write_section(struct image *im, Elf64_Shdr s)
{
    memcpy(im->bytes + SECTIONS_AT + (size_t)(im->sections - 1) * sizeof s, &s, sizeof s);
}

static void put_set_file(struct image *im, int version, int i)
{
    put(im, 4, 1);
    put(im, (uint64_t)(version < 5 ? i + 1 : i), 1);
}

static void put_set_address(struct image *im, uint64_t address)
{
    put_bytes(im, "\0\11\2", 3);
    put(im, address, 8);
}

/* Writes three sequences. The bytes are in octal because \0 begins an octal escape. */
static void put_program(struct image *im, int version)
{
    put_set_address(im, 0); /* a discarded sequence, which would overlap the third */
    put_bytes(im, "\1\2\200\60\0\1\1", 7);
    put_set_address(im, CODE + 0x900); /* descending */
    put_bytes(im, "\1\2\177\1", 4);
    put_set_address(im, CODE + 0x900);
    put_bytes(im, "\1\2\177\0\1\1", 6);

    put_set_address(im, CODE + 0x100);
    put_set_file(im, version, 0);
    put_bytes(im, "\3\343\0\1", 4); /* line += 99: row 0x1100, line 100 */
    put_bytes(im, "\116\3\175", 3); /* address += 4, line += 3: row 0x1104; line -= 3 */
    put_set_file(im, version, 1);
    put_bytes(im, "\1", 1);           /* row 0x1104, line 100 */
    put_bytes(im, "\2\200\1\1", 4);   /* address += 128: row 0x1184 */
    put_bytes(im, "\10\6\1", 3);      /* address += (255 - 14) / 14 = 17; is_stmt: row 0x1195 */
    put_bytes(im, "\5\7\3\1\1", 5);   /* column, line += 1: row 0x1195, line 101 */
    put_bytes(im, "\11\5\1", 3);      /* address += 0x105 */
    put_bytes(im, "\3\233\177\1", 4); /* line -= 101: row 0x129a, line 0 */
    put_bytes(im, "\15\201\1\1", 4);  /* unknown opcode with two operands */
    put_bytes(im, "\0\3\200\2\1", 5); /* unknown extended opcode */
    put_bytes(im, "\4\143\2\6", 4);   /* file 99, which does not exist; address += 6 */
    put_bytes(im, "\3\54\1", 3);      /* row 0x12a0, line 44 */
    put_set_file(im, version, 0);
    put_bytes(im, "\2\20\1", 3);     /* row 0x12b0 */
    put_bytes(im, "\2\20\0\1\1", 5); /* end of sequence, 0x12c0 */
}

static void put_tables(struct image *im, const struct by_hand *how)
{
    if (how->version < 5) {
        put_text(im, "/src");
        put_text(im, "");
        put_bytes(im, "one.cu\0\1\0\0", 10);
        put_bytes(im, "cuda/two.cuh\0\1\200\1\0", 17);
        put(im, 0, 1);
        return;
    }
    put_bytes(im, "\1\1\10\1/src\0", 9); /* folder format: an inline string */
    put_bytes(im, "\5\1", 2);            /* file format: its name ... */
    put(im, (uint64_t)how->form, 1);
    put_bytes(im, "\2\13\5\36\3\17\4\11", 8); /* ... folder, MD5, time, a block */
    put(im, 2, 1);
    for (unsigned i = 0; i < 2; i++) {
        if (how->form == FORM_STRING)
            put_text(im, i ? "cuda/two.cuh" : "one.cu");
        else
            put(im, i ? 7 : 0, 4);
        put(im, 0, 1);
        put(im, 0x5a5a5a5a5a5a5a5a, 8);
        put(im, 0x5a5a5a5a5a5a5a5a, 8);
        put(im, 0x0180, 2);
        put_bytes(im, "\2xx", 3);
    }
}

static void put_unit(struct image *im, const struct by_hand *how)
{
    int version = how->version;
    size_t begin = im->n;
    put(im, 0, 4);
    put(im, (uint64_t)version, 2);
    if (version >= 5) put(im, 8, 2); /* sizes of addresses and segment selectors */
    size_t header = im->n;
    put(im, 0, 4);
    put(im, 1, 1);
    if (version >= 4) put(im, 1, 1);
    put_bytes(im, "\1\373\16\16", 4); /* is_stmt; line_base -5, line_range 14; opcode_base 14 */
    put_bytes(im, "\0\1\1\1\1\0\0\0\1\0\0\1\2", 13);
    put_tables(im, how);
    patch(im, header, im->n - header - 4);
    put_program(im, version);
    patch(im, begin, im->n - begin - 4);
}

const struct image_variable image_variables[] = {
    { "_ZZ14sort_histogramE4bins", "bins", 0, 1024 },
    { "_ZZ4scanIjLi4EEvPKT_E5count_0", "count", 1024, 4 },
    { "_ZZN3ech4scanEvE5count__12_", "count", 1028, 4 },
    { "_ZL4keys", "keys", 1032, 8 },
    { "_ZN12_GLOBAL__N_14tileE", "tile", 1040, 16 },
    { "shared_bytes", "shared_bytes", 1056, 1 },
    { "_ZZ1fE99999999999999999999bins", "_ZZ1fE99999999999999999999bins", 1057, 1 },
    { "_ZZ1fE5bins", "_ZZ1fE5bins", 1058, 1 },
    { "_ZZ1fE4bins_", "_ZZ1fE4bins_", 1059, 1 },
    { "_ZN", "_ZN", 1060, 1 },
    { "last", "last", 4095, 1 },
};

static void put_symbol(struct image *im, uint32_t name, int type, uint64_t value, uint64_t bytes)
{
    Elf64_Sym s = { name, (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type), 0, 1, value, bytes };
    put_bytes(im, &s, sizeof s);
}

static void put_symbols(struct image *im, const struct by_hand *how)
{
    size_t begin = im->n;
    put_text(im, "");
    put_text(im, "outer");
    put_text(im, "inner");
    uint32_t at[IMAGE_VARIABLES];
    for (int i = 0; i < IMAGE_VARIABLES; i++) {
        at[i] = (uint32_t)(im->n - begin);
        put_text(im, image_variables[i].raw);
    }
    write_section(im, add_section(im, ".strtab", SHT_STRTAB, begin));
    uint32_t strings = (uint32_t)im->sections - 1;
    begin = im->n;
    put_symbol(im, 0, STT_NOTYPE, 0, 0);
    put_symbol(im, 1, STT_FUNC, CODE + 0x100, 0x100);
    put_symbol(im, 7, STT_FUNC, CODE + 0x180, 0x10);
    put_symbol(im, 7, STT_OBJECT, CODE + 0x300, 0x10);
    for (int i = IMAGE_VARIABLES; i-- > 0;)
        put_symbol(im, at[i], STT_TLS, image_variables[i].offset, image_variables[i].bytes);
    put_symbol(im, 1, STT_TLS, IMAGE_TLS_BYTES - 1, 2); /* exceeds the TLS segment */
    Elf64_Shdr s = how->dynamic ? add_section(im, ".dynsym", SHT_DYNSYM, begin)
                                : add_section(im, ".symtab", SHT_SYMTAB, begin);
    s.sh_link = strings;
    s.sh_entsize = sizeof(Elf64_Sym);
    write_section(im, s);
}

static void put_lines(struct image *im, const struct by_hand *how)
{
    size_t begin = im->n;
    put_text(im, "one.cu");
    put_text(im, "cuda/two.cuh");
    write_section(im, add_section(im, how->form == FORM_STRP ? ".debug_str" : ".debug_line_str",
                                  SHT_PROGBITS, begin));
    begin = im->n;
    put_bytes(im, "\3\0\0\0\11\0x", 7);                         /* DWARF version 9 */
    put_bytes(im, "\377\377\377\377\3\0\0\0\0\0\0\0\4\0x", 15); /* 64-bit DWARF */
    put_unit(im, how);
    Elf64_Shdr s = add_section(im, ".debug_line", SHT_PROGBITS, begin);
    s.sh_flags = how->compressed ? SHF_COMPRESSED : 0;
    write_section(im, s);
}

void image_make(struct image *im, const struct by_hand *how)
{
    *im = (struct image){ .n = SECTIONS_AT + IMAGE_SECTIONS * sizeof(Elf64_Shdr) };
    write_section(im, add_section(im, "", SHT_NULL, im->n));
    Elf64_Shdr s = add_section(im, ".text", SHT_NOBITS, im->n);
    s.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    s.sh_addr = CODE;
    s.sh_size = CODE_BYTES;
    write_section(im, s);
    put_symbols(im, how);
    put_lines(im, how);
    size_t begin = im->n;
    s = add_section(im, ".shstrtab", SHT_STRTAB, begin);
    put_bytes(im, im->names, im->names_bytes);
    s.sh_size = im->names_bytes;
    write_section(im, s);

    Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
                     .e_type = ET_DYN,
                     .e_phoff = 64,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 2,
                     .e_shoff = SECTIONS_AT,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = (Elf64_Half)im->sections,
                     .e_shstrndx = (Elf64_Half)(im->sections - 1) };
    Elf64_Phdr p[2] = { { .p_type = PT_LOAD }, { .p_type = PT_TLS, .p_memsz = IMAGE_TLS_BYTES } };
    memcpy(im->bytes, &h, sizeof h);
    memcpy(im->bytes + 64, p, sizeof p);
}

/* ---- Expected results ---- */

const struct image_place image_places[] = {
    { 0, NULL, 0, NULL },
    { CODE + 0xff, NULL, 0, NULL },
    { CODE + 0x100, "one.cu", 100, "outer" },
    { CODE + 0x103, "one.cu", 100, "outer" },
    { CODE + 0x104, "two.cuh", 100, "outer" },
    { CODE + 0x183, "two.cuh", 100, "inner" },
    { CODE + 0x195, "two.cuh", 101, "outer" },
    { CODE + 0x299, "two.cuh", 101, NULL },
    { CODE + 0x29a, "two.cuh", 101, NULL }, /* row with line 0 */
    { CODE + 0x2a0, "two.cuh", 101, NULL }, /* row with an unknown file */
    { CODE + 0x2b0, "one.cu", 44, NULL },
    { CODE + 0x2bf, "one.cu", 44, NULL },
    { CODE + 0x2c0, NULL, 0, NULL },
    { CODE + 0x300, NULL, 0, NULL },
    { CODE + 0x900, NULL, 0, NULL }, /* the sequence with descending addresses */
    { UINT64_MAX, NULL, 0, NULL },
};
const size_t image_n_places = sizeof image_places / sizeof *image_places;
