/*
 * test_pack.c - packs of kernels: files that cmake/pack.cmake writes are read from memory and from
 * every folder in which the library searches; missing, truncated and damaged files are rejected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, popen, setenv */
#include "cuda/pack.h"
#include "cuda/pack_elf.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_BYTES = 70000, /* of a module: more than one chunk of the reader */
    MOST = 1 << 19,     /* of a file */
    DAMAGES = 3000,
    PATH = 512,
    COMMAND = 4096,
    MEGABYTES = 1 << 20
};

#define PACKS ECHELON_PACK_FOLDER /* another one than the default */
static char folder[] = "/tmp/test_pack.XXXXXX";
static const char inside = 0; /* an address in this program */

/* Modules in two streams; "b2" is PTX. */
static struct {
    const char *image, *kind;
    int stream;
    size_t bytes;
    unsigned char data[MOST_BYTES];
} images[] = {
    { "image_a", "sm_80", 0, 1000, { 0 } },
    { "b2", "sm_80", 0, MOST_BYTES, { 0 } },
    { "empty", "sm_80", 0, 5, { 0 } },
    { "image_a", "sm_90a", 1, 37, { 0 } },
    { "b2", "compute_75", 1, MOST_BYTES, { 0 } },
    { "b2", "compute_90", 1, 100, { 0 } },
    { "only_ptx", "compute_80", 1, 2000, { 0 } },
};
enum { IMAGES = sizeof images / sizeof *images };

static unsigned char whole[MOST]; /* a correct file */
static size_t whole_bytes;

static const char *in_folder(const char *name)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool write_file(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(in_folder(name), "wb");
    bool ok = file && fwrite(data, 1, bytes, file) == bytes;
    return file && fclose(file) == 0 && ok;
}

static size_t read_file(const char *name, void *data, size_t most)
{
    FILE *file = fopen(in_folder(name), "rb");
    size_t bytes = file ? fread(data, 1, most, file) : 0;
    if (file) fclose(file);
    return bytes;
}

static bool run(const char *command)
{
    int status = system(command);
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The streams are written by the script of the build, compressed or not. */
static bool write_streams(bool compressed)
{
    const char *compress = "";
#ifdef XZ_PATH
    if (compressed)
        compress = "-DXZ=" XZ_PATH " '-DFILTER=" REST_FILTER "' '-DCODE_FILTER=" CODE_FILTER "'";
#else
    (void)compressed;
#endif
    for (int stream = 0; stream < 2; stream++) {
        char rows[MOST], command[COMMAND], name[32];
        size_t at = 0;
        for (int i = 0; i < IMAGES; i++)
            if (images[i].stream == stream)
                at += (size_t)snprintf(rows + at, sizeof rows - at, "%s %s %s/%d.image\n",
                                       images[i].image, images[i].kind, folder, i);
        snprintf(name, sizeof name, "rows%d", stream);
        snprintf(command, sizeof command,
                 "'%s' -DROWS=%s/rows%d -DSTREAM=%s/%d.stream '-DSPLIT=%s' "
                 "'-DEMULATOR=" SPLIT_EMULATOR "' %s -P '%s/pack.cmake'",
                 CMAKE_COMMAND_PATH, folder, stream, folder, stream, SPLIT_PATH, compress,
                 SCRIPTS_PATH);
        if (!write_file(name, rows, at) || !run(command)) return false;
    }
    return true;
}

/* The pack is written by the script of the build, with a version or with the digest of a file. */
static bool write_pack(const char *options)
{
    char command[COMMAND], list[2 * PATH];
    int length = snprintf(list, sizeof list, "%s/0.stream\n%s/1.stream\n", folder, folder);
    snprintf(command, sizeof command,
             "'%s' -DSTREAMS=%s/list -DPACK=%s/good.pack %s -P '%s/pack.cmake'", CMAKE_COMMAND_PATH,
             folder, folder, options, SCRIPTS_PATH);
    if (!write_file("list", list, (size_t)length) || !run(command)) return false;
    whole_bytes = read_file("good.pack", whole, MOST);
    return true;
}

/* The script of the build computes the digest of two modules and writes it to a file. */
static bool write_pack_with_digest(const char *flags, char id[64])
{
    char command[COMMAND], options[2 * PATH], list[2 * PATH + 16], text[COMMAND] = "";
    int length = snprintf(list, sizeof list, "%s/0.image\n%s/1.image\n", folder, folder);
    snprintf(command, sizeof command,
             "'%s' -DLIST=%s/sources -DFLAGS=%s -DSYMBOL=the_id -DID=%s/id -DSOURCE=%s/id.c -P "
             "'%s/pack_id.cmake'",
             CMAKE_COMMAND_PATH, folder, flags, folder, folder, SCRIPTS_PATH);
    snprintf(options, sizeof options, "-DID=%s/id", folder);
    if (!write_file("sources", list, (size_t)length) || !run(command) || !write_pack(options))
        return false;
    read_file("id.c", text, sizeof text - 1);
    return sscanf(text, "extern const char the_id[]; const char the_id[] = \"%63[0-9a-f]", id) == 1;
}

/* Makes data an ELF file whose code has `code` bytes from byte 128 on, in two sections, and which
 * has `others` sections of 200 bytes with positions; the last ones are not within the file. */
static void make_elf(unsigned char *data, size_t code, int others)
{
    static const uint32_t types[] = { 0x70000000, 2, 4, 9, 0x70000083, 0x70000082, 0x70000085 };
    const size_t sections = 128 + code + 8;
    memset(data, 0, 128);
    memcpy(data, "\177ELF\2\1", 6);
    pack_put(data + 40, sections, 8);
    pack_put(data + 58, 64, 2);
    pack_put(data + 60, (uint64_t)(3 + others), 2);
    for (int i = 0; i < 3 + others; i++) { /* the third one has no bytes in the file */
        unsigned char *section = data + sections + 64 * i;
        pack_put(section + 4, i < 2 ? 1 : i < 3 ? 8 : types[(i - 3) % 7], 4);
        pack_put(section + 8, i < 3 ? 6 : 0, 8);
        pack_put(section + 24, i ? 128 : 128 + code / 2, 8);
        pack_put(section + 32, i < 2 ? code / 2 : 1 << 20, 8);
        if (i < 3) continue;
        const size_t at = sections + 64 * (size_t)(3 + others) + 200 * (size_t)(i - 3);
        pack_put(section + 24, at, 8);
        pack_put(section + 32, 200, 8);
        for (size_t k = 0; i < 10 && k < 200; k += 20) data[at + k] = 4, data[at + k + 3] = 0;
    }
}

/* Half of the bytes repeat, as in kernels. */
static void make_files(void)
{
    struct rng rng = { 7 };
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    for (int i = 0; i < IMAGES; i++) {
        char name[32];
        for (size_t k = 0; k < images[i].bytes; k++)
            images[i].data[k] =
                k % 16 < 8 ? (unsigned char)(k / 256) : (unsigned char)rng_next(&rng);
        bool ptx = *images[i].kind == 'c';
        memcpy(images[i].data, ptx ? "//" : "\177ELF", ptx ? 2 : 4);
        if (i < 2) make_elf(images[i].data, i ? MOST_BYTES - 2800 : 640, i ? 9 : 0);
        snprintf(name, sizeof name, "%d.image", i);
        if (!write_file(name, images[i].data, images[i].bytes))
            test_fail(__FILE__, __LINE__, "cannot write the files in %s", folder);
    }
}

static void *read_good(bool memory, const char *id, const char *image, int gpu, size_t *bytes,
                       char reason[ECHI_PACK_REASON])
{
    struct echi_pack pack = { .path = in_folder("good.pack"), .id = id };
    if (memory) pack = (struct echi_pack){ whole, whole_bytes, NULL, id };
    *reason = 0;
    return echi_pack_read(&pack, image, gpu, bytes, reason);
}

static void expect(bool memory, const char *id, const char *image, int gpu, int which)
{
    char reason[ECHI_PACK_REASON];
    size_t bytes = 0;
    unsigned char *got = read_good(memory, id, image, gpu, &bytes, reason);
    if (!got)
        test_fail(__FILE__, __LINE__, "%s on sm_%d: %s", image, gpu, reason);
    else if (CHECK_INT(bytes, images[which].bytes))
        CHECK(memcmp(got, images[which].data, bytes) == 0 && got[bytes] == 0);
    free(got);
}

static void refuse(bool memory, const char *id, const char *image, int gpu, const char *part)
{
    char reason[ECHI_PACK_REASON];
    size_t bytes = 0;
    void *got = read_good(memory, id, image, gpu, &bytes, reason);
    CHECK(got == NULL);
    CHECK_INT(bytes, 0);
    CHECK_TEXT(reason, part);
    CHECK_TEXT(reason, memory ? "the library" : folder);
    free(got);
}

static void refuse_file(const char *file, const char *image, const char *part)
{
    char reason[ECHI_PACK_REASON] = "", path[PATH];
    const struct echi_pack pack = { .path = path, .id = "1.2.3" };
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s", in_folder(file));
    void *got = echi_pack_read(&pack, image, 80, &bytes, reason);
    CHECK(got == NULL);
    CHECK_TEXT(reason, part);
    CHECK_TEXT(reason, path);
    free(got);
}

/* A message shows the end of a long path. */
static void refuse_long_path(void)
{
    enum { LONG = 700, SHOWN = 160 };
    char reason[ECHI_PACK_REASON] = "", path[LONG + 1];
    const struct echi_pack pack = { .path = path, .id = "1.2.3" };
    size_t bytes = 0;
    for (int i = 0; i < LONG; i++) path[i] = (char)(i % 20 ? 'a' + i % 26 : '/');
    path[LONG] = 0;
    if (!test_begin("a long path")) return;
    CHECK(echi_pack_read(&pack, "image_a", 80, &bytes, reason) == NULL);
    CHECK_TEXT(reason, path + LONG - SHOWN);
    CHECK(!strstr(reason, path + LONG - SHOWN - 1));
    test_end();
}

/* ---- Correct files ---- */

static void test_right(bool compressed)
{
    for (int memory = 0; memory < 2; memory++) {
        const char *const id = "1.2.3";
        bool m = memory != 0;
        if (!test_begin("%s, %s", compressed ? "compressed" : "stored", m ? "memory" : "file"))
            continue;
        expect(m, id, "image_a", 80, 0); /* machine code of the same major version */
        expect(m, id, "image_a", 89, 0);
        expect(m, id, "image_a", 90, 3);
        expect(m, id, "b2", 80, 1);
        expect(m, id, "b2", 86, 1);
        expect(m, id, "empty", 80, 2);
        expect(m, id, "b2", 75, 4); /* PTX */
        expect(m, id, "b2", 90, 5);
        expect(m, id, "b2", 121, 5);
        expect(m, id, "only_ptx", 80, 6);
        expect(m, id, "only_ptx", 90, 6);
        refuse(m, id, "only_ptx", 75, "no kernels for only_ptx on this GPU");
        refuse(m, id, "image_a", 75, "no kernels for image_a on this GPU");
        refuse(m, id, "image_a", 100, "no kernels for image_a on this GPU");
        refuse(m, id, "b", 80, "no kernels for b");
        refuse(m, id, "image_a2", 80, "no kernels for image_a2");
        refuse(m, "1.2.4", "b2", 80, "another build");
        test_end();
    }
#ifdef XZ_PATH
    if (compressed && test_begin("smaller")) { /* or nothing was compressed */
        size_t bytes = 0;
        for (int i = 0; i < IMAGES; i++) bytes += images[i].bytes;
        CHECK(whole_bytes < bytes / 4 * 3);
        test_end();
    }
#endif
}

/* Positions are stored as differences, which the round trips above do not show. */
static void test_positions(void)
{
    enum { INFO = 192, SYMBOLS = 216, ALL = 264 };
    unsigned char elf[ALL] = { 0 }, before[ALL];
    if (!test_begin("positions")) return;
    memcpy(elf, "\177ELF\2\1", 6);
    pack_put(elf + 40, 64, 8);
    pack_put(elf + 58, 64, 2);
    pack_put(elf + 60, 2, 2);
    for (int i = 0; i < 2; i++) {
        pack_put(elf + 64 + 64 * i + 4, i ? 2 : 0x70000000, 4);
        pack_put(elf + 64 + 64 * i + 24, i ? SYMBOLS : INFO, 8);
        pack_put(elf + 64 + 64 * i + 32, i ? ALL - SYMBOLS : SYMBOLS - INFO, 8);
        pack_put(elf + SYMBOLS + 24 * i, 1000 + 7 * (uint64_t)i, 4);
    }
    pack_put(elf + INFO, 0x0cff04, 4); /* a list of 12 bytes, then an attribute without a list */
    for (int i = 0; i < 3; i++) pack_put(elf + INFO + 4 + 4 * i, 5000 + 16 * (uint64_t)i, 4);
    pack_put(elf + INFO + 16, 0x1234ff03, 4);
    memcpy(before, elf, ALL);
    pack_elf(elf, ALL, false);
    CHECK_INT(pack_number(elf + 64 + 24, 8), INFO);
    CHECK_INT(pack_number(elf + 128 + 24, 8), 0);
    CHECK_INT(pack_number(elf + INFO + 4, 4), 5000);
    CHECK_INT(pack_number(elf + INFO + 12, 4), 16);
    CHECK_INT(pack_number(elf + INFO + 16, 4), 0x1234ff03);
    CHECK_INT(pack_number(elf + SYMBOLS, 4), 1000);
    CHECK_INT(pack_number(elf + SYMBOLS + 24, 4), 7);
    pack_elf(elf, ALL, true);
    CHECK(memcmp(elf, before, ALL) == 0);
    test_end();
}

static void test_digest(void)
{
    char id[64] = "", other[64] = "";
    if (!test_begin("by digest")) return;
    CHECK(write_pack_with_digest("75", id));
    CHECK_INT(strlen(id), 32);
    expect(false, id, "image_a", 80, 0);
    CHECK(write_pack_with_digest("80", other)); /* different flags give a different digest */
    refuse(false, id, "image_a", 80, "another build");
    images[1].data[MOST_BYTES - 1] ^= 1; /* different sources give a different digest */
    CHECK(write_file("1.image", images[1].data, MOST_BYTES) && write_pack_with_digest("75", other));
    refuse(false, id, "image_a", 80, "another build");
    expect(false, other, "image_a", 80, 0);
    test_end();
}

/* ---- Incorrect files ---- */

static void test_missing(void)
{
    if (!test_begin("missing")) return;
    refuse_file("none.pack", "b2", "No such file");
    CHECK(write_file("wrong.pack", whole, 0));
    refuse_file("wrong.pack", "b2", "not a file of Echelon's kernels");
    CHECK(mkdir(in_folder("folder.pack"), 0700) == 0);
    refuse_file("folder.pack", "b2", "not a file of Echelon's kernels");
    test_end();
}

/* The next to last module is in the last stream, whose end is missing. */
static void test_truncated(void)
{
    if (!test_begin("truncated")) return;
    for (size_t n = 0; n < whole_bytes; n += n < 600 || n + 50 > whole_bytes ? 1 : 211) {
        CHECK(write_file("wrong.pack", whole, n));
        char reason[ECHI_PACK_REASON] = "", path[PATH];
        const struct echi_pack pack = { .path = path, .id = "1.2.3" };
        size_t bytes = 0;
        snprintf(path, sizeof path, "%s", in_folder("wrong.pack"));
        void *got = echi_pack_read(&pack, "only_ptx", 90, &bytes, reason);
        CHECK(got == NULL);
        CHECK_TEXT(reason, path);
        if (n > 600) CHECK_TEXT(reason, "is damaged");
        free(got);
    }
    test_end();
}

static void test_lines(void)
{
    static const char *const lines[] = {
        "b2 sm_80 0 18446744073709551615 0 37\n",
        "b2 sm_80 18446744073709551615 37 0 37\n",
        "b2 sm_80 1 18446744073709551615 0 37\n",
        "b2 sm_80 0 1000 18446744073709551615 37\n",
        "b2 sm_80 0 1000 1 18446744073709551615\n",
        "b2 sm_80 0 9223372036854775807 0 37\n",
        "b2 sm_80 0 1000 0 9223372036854775807\n",
        "b2 sm_80 0 1000 964 37\n",
        "b2 sm_80 -1 37 0 37\n",
        "b2 sm_80 0 -37 0 37\n",
        "b2 sm_80 0 37 -1 37\n",
        "b2 sm_80 0 37 0 -37\n",
        "b2 sm_80 0 1037 0 1037\n", /* one byte more than exists */
        "b2 sm_80 0 1000 0 3\n",    /* less than the first word of a cubin */
        "b2 sm_80 0 1000 0 0\n",
        "b2 sm_80 0 1000 1 37\n", /* no cubin begins at this offset */
        "b2 compute_75 0 1000 0 37\n",
        "b2 sm_80 0 1000 0\n",
        "b2 sm_80 0 1000 0 37 1\n",
        "b2 0 1000 0 37\n",
        "b2 80 0 1000 0 37\n",
        "b2 sm_ 0 1000 0 37\n",
        "b2 gfx90 0 1000 0 37\n",
        "b2  \n",
        "B2 sm_80 0 1000 0 37\n",
        "\n",
        "",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        unsigned char file[2000];
        if (!test_begin("index line %zu", i)) continue;
        int n = snprintf((char *)file, sizeof file, "echelon-pack 1 1.2.3\n%send\n", lines[i]);
        memset(file + n, 1, 1036);
        memcpy(file + n, "\177ELF", 4);
        CHECK(write_file("wrong.pack", file, (size_t)n + 1036));
        refuse_file("wrong.pack", "b2", *lines[i] ? "is damaged" : "no kernels for b2");
        test_end();
    }
    if (test_begin("index without an end")) {
        unsigned char file[2000];
        memset(file, 'x', sizeof file); /* a line longer than any valid line */
        memcpy(file, "echelon-pack 1 1.2.3\n", 21);
        CHECK(write_file("wrong.pack", file, sizeof file));
        refuse_file("wrong.pack", "b2", "is damaged");
        test_end();
    }
}

/* Changes bytes at random. The result must be NULL, or begin as code does with all bytes inside the
 * file, which the address sanitizer checks. In a compressed stream every change is detected. */
static void test_damaged(bool compressed)
{
    struct rng rng = { 11 };
    size_t text = 0;
    if (!test_begin("damaged, %s", compressed ? "compressed" : "stored")) return;
    while (text + 4 < whole_bytes && memcmp(whole + text, "\nend\n", 5) != 0) text++;
    for (int i = 0; i < DAMAGES && !test_failed(); i++) {
        static unsigned char file[MOST];
        char reason[ECHI_PACK_REASON] = "";
        size_t bytes = 0;
        bool data_only = i % 3 == 0;
        memcpy(file, whole, whole_bytes);
        for (uint64_t k = 1 + rng_below(&rng, 3); k > 0; k--) {
            static const char likely[] = "0123456789 \n-_abe";
            unsigned char *at = data_only
                                    ? file + text + 5 + rng_below(&rng, whole_bytes - text - 5)
                                    : file + rng_below(&rng, text + 5);
            *at = rng_below(&rng, 4) == 0 ? (unsigned char)rng_next(&rng)
                                          : (unsigned char)likely[rng_below(&rng, 17)];
        }
        CHECK(write_file("wrong.pack", file, whole_bytes));
        const struct echi_pack pack = { .path = in_folder("wrong.pack"), .id = "1.2.3" };
        unsigned char *got = echi_pack_read(&pack, "b2", 80, &bytes, reason);
        if (got) {
            CHECK(bytes > 2 && bytes <= MEGABYTES);
            CHECK(memcmp(got, "\177ELF", 4) == 0 || memcmp(got, "//", 2) == 0);
            if (data_only && compressed)
                CHECK(bytes == images[1].bytes && memcmp(got, images[1].data, bytes) == 0);
        } else {
            CHECK(*reason != 0);
        }
        free(got);
    }
    test_end();
}

/* ---- Search path ---- */

/* Copies this program to <folder>/<where>/program, which must find x.pack. */
static void finds(const char *where, const char *variable, const char *wanted)
{
    char command[COMMAND], path[ECHI_PACK_PATH] = "";
    snprintf(command, sizeof command, "cd / && %s '%s/%s/program' --find", variable, folder, where);
    FILE *pipe = popen(command, "r");
    if (!CHECK(pipe != NULL)) return;
    CHECK(fgets(path, sizeof path, pipe) != NULL);
    pclose(pipe);
    path[strcspn(path, "\n")] = 0;
    const char *end = strlen(path) > strlen(wanted) ? path + strlen(path) - strlen(wanted) : path;
    if (strcmp(end, wanted) != 0)
        test_fail(__FILE__, __LINE__, "found %s instead of %s", path, wanted);
}

static void test_places(void)
{
    char command[COMMAND];
    if (!test_begin("places")) return;
    snprintf(command, sizeof command,
             "cd %s && mkdir -p bin/" PACKS " %s/" PACKS
             " elsewhere && cp \"$(readlink /proc/%ld/exe)\" "
             "bin/program && touch bin/" PACKS "/x.pack %s/" PACKS "/x.pack",
             folder, ECHELON_LIBDIR, (long)getpid(), ECHELON_LIBDIR);
    CHECK(run(command));
    finds("bin", "", "/bin/" PACKS "/x.pack");
    finds("bin", "ECHELON_PTX_DIR=/else/where", "/else/where/x.pack");
    finds("bin", "ECHELON_PTX_DIR=", "/bin/" PACKS "/x.pack");
    CHECK(unlink(in_folder("bin/" PACKS "/x.pack")) == 0);
    finds("bin", "", "/" ECHELON_LIBDIR "/" PACKS "/x.pack");
    snprintf(command, sizeof command, "rm '%s/%s/" PACKS "/x.pack'", folder, ECHELON_LIBDIR);
    CHECK(run(command));
    finds("bin", "", "/bin/" PACKS "/x.pack"); /* nowhere: the path in the message */
    test_end();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--find") == 0) {
        char path[ECHI_PACK_PATH];
        echi_pack_find("x.pack", &inside, path);
        puts(path);
        return 0;
    }
    test_main(argc, argv);
    make_files();
#ifdef XZ_PATH
    enum { VARIANTS = 2 };
#else
    enum { VARIANTS = 1 }; /* the build cannot compress */
#endif
    for (int compressed = 0; compressed < VARIANTS; compressed++) {
        if (!write_streams(compressed != 0) || !write_pack("-DVERSION=1.2.3"))
            test_fail(__FILE__, __LINE__, "cannot write a pack in %s", folder);
        test_right(compressed != 0);
        test_truncated();
        test_damaged(compressed != 0);
    }
    test_missing();
    refuse_long_path();
    test_lines();
    test_places();
    test_positions();
    test_digest();
    char command[COMMAND];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (!run(command)) perror(folder);
    return test_finish();
}
