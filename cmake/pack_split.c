/*
 * pack_split.c - a program of the build: splits cubins into machine code and everything else, which
 * compress better separately (cmake/pack.cmake).
 *
 *     pack_split ROWS REST CODE INDEX
 *
 * ROWS has lines "MODULE KIND FILE".  CODE receives the executable sections of all files, which lie
 * next to each other in a cubin, with the fields of each instruction in the order of code_layout
 * (src/cuda/pack_code.h); REST receives all other bytes, with positions as differences
 * (src/cuda/pack_elf.h).  INDEX receives a line per file:
 *
 *     MODULE KIND REST_OFFSET REST_BYTES [CODE_OFFSET CODE_BYTES CODE_AT]
 *
 * CODE_AT is the position of the code in the file.  Each file begins at a multiple of 16 in REST.
 * A file that is not a cubin, such as PTX, has no code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/pack_code.h"
#include "cuda/pack_elf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, ALIGN = 16 };

struct file {
    unsigned char *data;
    uint64_t bytes;
    uint64_t code_at, code_bytes;
};

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "pack_split: %s %s\n", what, name);
    exit(1);
}

static uint64_t number(const struct file *f, uint64_t at, unsigned bytes)
{
    uint64_t value = 0;
    if (at > f->bytes || bytes > f->bytes - at) fail("truncated", "cubin");
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)f->data[at + i] << (8 * i);
    return value;
}

/* Finds the executable sections of a 64-bit ELF file; code_bytes remains 0 if there are none. */
static void find_code(struct file *f)
{
    enum { SECTION_BYTES = 64, EXECUTABLE = 4, NO_BITS = 8 };
    uint64_t end = 0;
    if (f->bytes < 64 || memcmp(f->data, "\177ELF\2\1", 6) != 0) return;
    const uint64_t sections = number(f, 40, 8), count = number(f, 60, 2);
    if (number(f, 58, 2) != SECTION_BYTES) return;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t section = sections + i * SECTION_BYTES;
        const uint64_t at = number(f, section + 24, 8), bytes = number(f, section + 32, 8);
        if (!(number(f, section + 8, 8) & EXECUTABLE) || bytes == 0) continue;
        if (number(f, section + 4, 4) == NO_BITS) continue;
        if (at > f->bytes || bytes > f->bytes - at) fail("truncated", "section");
        if (end == 0 || at < f->code_at) f->code_at = at;
        if (at + bytes > end) end = at + bytes;
    }
    f->code_bytes = end ? (end - f->code_at) / PACK_INSTRUCTION_BYTES * PACK_INSTRUCTION_BYTES : 0;
}

static struct file read_file(const char *name)
{
    struct file f = { 0 };
    FILE *in = fopen(name, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0) fail("cannot read", name);
    const long bytes = ftell(in);
    if (bytes < 0 || fseek(in, 0, SEEK_SET) != 0) fail("cannot read", name);
    f.bytes = (uint64_t)bytes;
    f.data = malloc((size_t)bytes + 1);
    if (!f.data || fread(f.data, 1, (size_t)bytes, in) != (size_t)bytes) fail("cannot read", name);
    fclose(in);
    find_code(&f);
    return f;
}

/* Stores positions as differences, and checks that they can be restored. */
static void arrange(struct file *f, const char *name)
{
    const size_t bytes = (size_t)f->bytes;
    unsigned char *before = malloc(bytes + 1), *after = malloc(bytes + 1);
    if (!before || !after) fail("out of memory for", name);
    memcpy(before, f->data, bytes);
    pack_elf(f->data, bytes, false);
    memcpy(after, f->data, bytes);
    pack_elf(after, bytes, true);
    if (memcmp(before, after, bytes) != 0) fail("cannot restore", name);
    free(before);
    free(after);
}

static void put(FILE *out, const void *data, uint64_t bytes)
{
    if (fwrite(data, 1, (size_t)bytes, out) != (size_t)bytes) fail("cannot write", "the output");
}

int main(int argc, char **argv)
{
    char line[LINE], image[LINE], kind[LINE], name[LINE];
    uint64_t rest_at = 0, code_at = 0;
    if (argc != 5) fail("usage:", "pack_split ROWS REST CODE INDEX");
    FILE *rows = fopen(argv[1], "r"), *rest = fopen(argv[2], "wb"), *code = fopen(argv[3], "wb");
    FILE *index = fopen(argv[4], "w");
    if (!rows || !rest || !code || !index) fail("cannot open the files of", argv[1]);
    while (fgets(line, sizeof line, rows)) {
        static const char zeros[ALIGN];
        if (sscanf(line, "%s %s %[^\n]", image, kind, name) != 3) continue;
        struct file f = read_file(name);
        arrange(&f, name);
        const uint64_t rest_bytes = f.bytes - f.code_bytes,
                       pad = (ALIGN - rest_bytes % ALIGN) % ALIGN;
        const uint64_t tail = f.code_at + f.code_bytes;
        fprintf(index, "%s %s %" PRIu64 " %" PRIu64, image, kind, rest_at, rest_bytes);
        put(rest, f.data, f.code_at);
        put(rest, f.data + tail, f.bytes - tail);
        put(rest, zeros, pad);
        if (f.code_bytes) {
            fprintf(index, " %" PRIu64 " %" PRIu64 " %" PRIu64, code_at, f.code_bytes, f.code_at);
            pack_code_arrange(f.data + f.code_at, f.code_bytes);
            put(code, f.data + f.code_at, f.code_bytes);
        }
        fputs("\n", index);
        rest_at += rest_bytes + pad;
        code_at += f.code_bytes;
        free(f.data);
    }
    fclose(rows);
    if (fclose(rest) || fclose(code) || fclose(index)) fail("cannot write", "the output");
    return 0;
}
