/*
 * test_elf.c - tests simt/elf.h with generated files of every DWARF version, with this program,
 * and with damaged files, in which it may find nothing but must not crash.
 *
 * This file must be compiled with -g1. The case that reads the lines of this program is skipped if
 * there are none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "test.h"
#include "simt/elf.h"
#include "elf_image.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAMAGES = 20000 };

/* ---- Generated files ---- */

static void by_hand(const struct by_hand *how)
{
    if (!test_begin("generated, DWARF %d%s%s, form %#x", how->version,
                    how->compressed ? ", compressed" : "", how->dynamic ? ", .dynsym" : "",
                    (unsigned)how->form))
        return;
    struct image im;
    image_make(&im, how);
    CHECK(im.n < sizeof im.bytes);
    struct simt_module *m = simt_module_parse(im.bytes, im.n);
    const struct simt_variable *v = NULL;
    for (size_t i = 0; m && i < image_n_places; i++) {
        const char *file = "none", *function = simt_module_function(m, image_places[i].offset);
        int line = -1;
        bool found = simt_module_line(m, image_places[i].offset, &file, &line);
        bool wanted = image_places[i].file && !how->compressed;
        if (found != wanted ||
            (wanted && (strcmp(file, image_places[i].file) || line != image_places[i].line)))
            test_fail(__FILE__, __LINE__, "%#llx is at %s:%d", (long long)image_places[i].offset,
                      file, line);
        if (!function != !image_places[i].function ||
            (function && strcmp(function, image_places[i].function) != 0))
            test_fail(__FILE__, __LINE__, "%#llx is in %s", (long long)image_places[i].offset,
                      function ? function : "no function");
    }
    if (CHECK(m) && CHECK_INT(simt_module_variables(m, &v), IMAGE_VARIABLES)) {
        CHECK_INT(simt_module_tls_bytes(m), IMAGE_TLS_BYTES);
        for (int i = 0; i < IMAGE_VARIABLES; i++) {
            CHECK_INT(v[i].offset, image_variables[i].offset);
            CHECK_INT(v[i].bytes, image_variables[i].bytes);
            if (strcmp(v[i].name, image_variables[i].name) != 0)
                test_fail(__FILE__, __LINE__, "%s is named %s", image_variables[i].raw, v[i].name);
        }
    }
    simt_module_free(m);
    test_end();
}

/* ---- Damaged files ---- */

/* Calls every query, so that a sanitizer checks all reads; true if line information was found. */
static bool ask(const struct simt_module *m, struct rng *rng, uint64_t begin, uint64_t bytes)
{
    const struct simt_variable *v;
    size_t letters = 0, n = simt_module_variables(m, &v);
    bool lines = false;
    uint64_t offset, size;
    CHECK(!simt_module_object(m, "no variable", &offset, &size));
    for (int i = 0; i < 40; i++) {
        uint64_t at = i < 38 ? begin + rng_below(rng, bytes) : rng_next(rng);
        const char *file = "", *function = simt_module_function(m, at);
        int line = 1;
        lines |= simt_module_line(m, at, &file, &line);
        CHECK(line > 0);
        letters += strlen(file) + (function ? strlen(function) : 0);
    }
    for (size_t i = 0; i < n; i++) {
        letters += strlen(v[i].name);
        CHECK(v[i].bytes <= simt_module_tls_bytes(m));
        CHECK(v[i].offset <= simt_module_tls_bytes(m) - v[i].bytes);
        if (i > 0) CHECK(v[i - 1].offset <= v[i].offset);
    }
    return lines && letters > 0;
}

/* Parses a copy of exactly n bytes, so that a sanitizer detects reads beyond the end. */
static bool parse_copy(const void *bytes, size_t n, struct rng *rng, bool *lines)
{
    void *copy = malloc(n ? n : 1);
    if (!CHECK(copy)) return false;
    memcpy(copy, bytes, n);
    struct simt_module *m = simt_module_parse(copy, n);
    *lines = m && ask(m, rng, IMAGE_CODE + 0x100, 0x1c0);
    simt_module_free(m);
    free(copy);
    return m;
}

static void truncated(const struct by_hand *how)
{
    if (!test_begin("truncated, DWARF %d", how->version)) return;
    struct image im;
    struct rng rng = { 1 };
    bool lines;
    image_make(&im, how);
    for (size_t n = 0; n < im.n; n++) {
        bool parsed = parse_copy(im.bytes, n, &rng, &lines);
        if (n < IMAGE_TABLES_BYTES) CHECK(!parsed);
        CHECK(!lines); /* the section names are at the end */
    }
    CHECK(parse_copy(im.bytes, im.n, &rng, &lines) && lines);
    test_end();
}

/* Values that random damage rarely produces: sums that wrap around, and huge tables without
 * entries. */
static void hostile(void)
{
    enum { SECTIONS = IMAGE_TABLES_BYTES - IMAGE_SECTIONS * 64, LINES = SECTIONS + 5 * 64 };
    const struct {
        const char *what;
        int at; /* negative: relative to the end; 0: the folder table */
        uint64_t value;
        int bytes;
        bool parsed;
    } rows[] = {
        { "e_phoff wraps", 32, UINT64_MAX - 55, 8, false },
        { "e_shoff wraps", 40, UINT64_MAX - 63, 8, false },
        { "sh_offset wraps", LINES + 24, UINT64_MAX - 15, 8, true },
        { "sh_size is too much", LINES + 32, 1 << 20, 8, true },
        { "sh_size wraps", LINES + 64 + 32, UINT64_MAX - 1, 8,
          true }, /* a zero is 3 bytes before */
        { "string table without an end", -1, 'x', 1, true },
        { "2^48 folders without columns", 0, 0x7fffffffffffff00, 8, true },
    };
    const char folders[] = "\1\1\10\1/src";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!test_begin("invalid: %s", rows[i].what)) continue;
        struct image im;
        struct rng rng = { 2 };
        bool lines;
        image_make(&im, &(struct by_hand){ .version = 5, .form = FORM_LINE_STRP });
        size_t at = rows[i].at < 0 ? im.n - 1 : (size_t)rows[i].at;
        while (at < im.n - 8 && rows[i].at == 0 && memcmp(im.bytes + at, folders, 8) != 0) at++;
        CHECK(parse_copy(im.bytes, im.n, &rng, &lines) && lines);
        for (int j = 0; j < rows[i].bytes; j++)
            im.bytes[at + (size_t)j] = (unsigned char)(rows[i].value >> 8 * j);
        CHECK_INT(parse_copy(im.bytes, im.n, &rng, &lines), rows[i].parsed);
        CHECK(!lines);
        test_end();
    }
}

/* Changes one to eight bytes to a random or extreme value, or to another byte of the file. */
static void damage(unsigned char *bytes, size_t n, struct rng *rng)
{
    for (uint64_t i = 1 + rng_below(rng, 8); i > 0; i--) {
        uint64_t kind = rng_below(rng, 4);
        unsigned char *at = bytes + rng_below(rng, n);
        if (kind == 0)
            *at = (unsigned char)rng_next(rng);
        else if (kind == 1)
            *at ^= (unsigned char)(1 << rng_below(rng, 8));
        else if (kind == 2)
            *at = rng_below(rng, 2) ? 0xff : 0;
        else
            *at = bytes[rng_below(rng, n)];
    }
}

static void damaged(const struct by_hand *how)
{
    if (!test_begin("damaged, DWARF %d", how->version)) return;
    struct image im, changed;
    struct rng rng = { (uint64_t)how->version };
    int n = test_options.quick ? DAMAGES / 10 : DAMAGES, parsed = 0, lost = 0;
    image_make(&im, how);
    for (int i = 0; i < n && !test_failed(); i++) {
        bool lines;
        changed = im;
        damage(changed.bytes, im.n, &rng);
        parsed += parse_copy(changed.bytes, im.n, &rng, &lines);
        lost += !lines;
    }
    CHECK(parsed > n / 4 && parsed < n); /* otherwise the damage never left readable lines */
    CHECK(lost > n / 100 && lost < n * 3 / 4);
    test_end();
}

/* ---- This program ---- */

struct mark {
    uintptr_t address;
    int line;
};
static struct mark marks[3];
static _Thread_local uint32_t marked_bins[37];
static _Thread_local uint64_t marked_sums[5];

static __attribute__((noinline)) uintptr_t caller(void)
{
    __asm__ volatile("" ::: "memory"); /* keeps the calls distinct */
    return (uintptr_t)__builtin_return_address(0);
}

#define MARK(i) (marks[i].line = __LINE__, marks[i].address = caller())

static inline __attribute__((always_inline)) void marked_inline(void)
{
    MARK(1);
}

static volatile uint32_t marked_table[3] = { 2, 3, 5 };

enum { MARKED_LINE = __LINE__ + 1 };
static __attribute__((noinline)) void marked(void)
{
    MARK(0);
    marked_inline();
    MARK(2);
    for (size_t i = 0; i < 5; i++) marked_sums[i] += marked_table[i % 3] * ++marked_bins[7 * i];
}

static int first_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
    (void)bytes;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the first object is the program itself */
}

static unsigned char *read_own(size_t *n)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    unsigned char *bytes = NULL;
    *n = 0;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *n = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*n);
        if (bytes && fread(bytes, 1, *n, file) != *n) *n = 0;
    }
    if (file) fclose(file);
    return bytes;
}

/* Whether the compiler wrote a section that was neither removed nor compressed. */
static bool has_section(const unsigned char *bytes, const char *name)
{
    const Elf64_Ehdr *h = (const void *)bytes;
    const Elf64_Shdr *s = (const void *)(bytes + h->e_shoff);
    const char *names = (const char *)bytes + s[h->e_shstrndx].sh_offset;
    for (int i = 0; i < h->e_shnum; i++)
        if (strcmp(names + s[i].sh_name, name) == 0) return !(s[i].sh_flags & SHF_COMPRESSED);
    return false;
}

static void own_lines(const struct simt_module *m)
{
    uintptr_t base = 0;
    dl_iterate_phdr(first_base, &base);
    union {
        void (*function)(void);
        uintptr_t address;
    } entry = { marked };
    for (int i = 0; i < 3; i++) {
        const char *file = "none";
        int line = -1;
        CHECK(simt_module_line(m, marks[i].address - 1 - base, &file, &line));
        CHECK_INT(line, marks[i].line);
        CHECK(strcmp(file, "test_elf.c") == 0);
        CHECK_TEXT(simt_module_function(m, marks[i].address - 1 - base), "marked");
        if (i > 0) continue;
        CHECK(simt_module_line(m, entry.address - base, &file, &line));
        CHECK(line >= MARKED_LINE && line <= MARKED_LINE + 2); /* head or first statement */
    }
}

static void own_variables(const struct simt_module *m)
{
    const struct simt_variable *v, *bins = NULL, *sums = NULL;
    size_t n = simt_module_variables(m, &v);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(v[i].name, "marked_bins") == 0) bins = &v[i];
        if (strcmp(v[i].name, "marked_sums") == 0) sums = &v[i];
    }
    if (!CHECK(bins && sums)) return;
    CHECK_INT(bins->bytes, sizeof marked_bins);
    CHECK_INT(sums->bytes, sizeof marked_sums);
    CHECK_INT(bins->offset - sums->offset, (uintptr_t)marked_bins - (uintptr_t)marked_sums);
}

/* A variable that is not exported. */
static void own_object(const struct simt_module *m)
{
    uintptr_t base = 0;
    uint64_t offset = 0, bytes = 0;
    dl_iterate_phdr(first_base, &base);
    if (CHECK(simt_module_object(m, "marked_table", &offset, &bytes))) {
        CHECK_INT(offset, (uintptr_t)marked_table - base);
        CHECK_INT(bytes, sizeof marked_table);
    }
    CHECK(!simt_module_object(m, "marked_bins", &offset, &bytes)); /* thread-local */
    CHECK(!simt_module_object(m, "marked", &offset, &bytes));      /* a function */
    CHECK(!simt_module_object(m, "marked_tabl", &offset, &bytes));
}

static void own(void)
{
    size_t n;
    unsigned char *bytes = read_own(&n);
    if (test_begin("this program: variables")) {
        struct simt_module *m = simt_module_read("/proc/self/exe");
        if (!has_section(bytes, ".symtab"))
            test_skip("the symbols were stripped");
        else if (CHECK(m)) {
            own_variables(m);
            own_object(m);
        }
        simt_module_free(m);
        test_end();
    }
    if (test_begin("this program: lines")) {
        struct simt_module *m = simt_module_parse(bytes, n);
        if (!has_section(bytes, ".debug_line"))
            test_skip("the program has no lines, or compressed ones");
        else if (CHECK(m))
            own_lines(m);
        simt_module_free(m);
        test_end();
    }
    if (test_begin("this program: damaged")) {
        struct rng rng = { 3 };
        unsigned char *changed = malloc(n);
        for (int i = 0; changed && i < 100; i++) {
            size_t left = i % 2 ? n : (size_t)rng_below(&rng, n);
            memcpy(changed, bytes, n);
            for (int j = 0; i % 2 && j < 200; j++) damage(changed, n, &rng);
            if (i % 4 == 1) memcpy(changed, bytes, sizeof(Elf64_Ehdr));
            struct simt_module *m = simt_module_parse(changed, left);
            if (m) ask(m, &rng, 0, n);
            simt_module_free(m);
        }
        CHECK(changed);
        free(changed);
        test_end();
    }
    free(bytes);
}

static void no_files(void)
{
    if (!test_begin("no module")) return;
    const char *const paths[] = { "", "/", "/dev/null", "/dev/zero", "/proc/self/maps" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK(simt_module_read(paths[i]) == NULL);
    simt_module_free(NULL);
    test_end();
}

int main(int argc, char **argv)
{
    const struct by_hand all[] = {
        { 2, 0, false, false },        { 3, 0, false, true },
        { 4, 0, false, false },        { 5, FORM_LINE_STRP, false, false },
        { 5, FORM_STRP, false, true }, { 5, FORM_STRING, false, false },
        { 4, 0, true, false },
    };
    test_main(argc, argv);
    marked();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) by_hand(&all[i]);
    for (int i = 2; i < 4; i++) truncated(&all[i]);
    for (int i = 2; i < 4; i++) damaged(&all[i]);
    hostile();
    own();
    no_files();
    return test_finish();
}
