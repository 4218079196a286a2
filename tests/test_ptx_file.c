/*
 * test_ptx_file.c - files of PTX: what cmake/ptx_file.cmake writes is read again, by way of every
 * place where it may lie; missing, truncated and damaged files are refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, popen, setenv */
#include "cuda/ptx_file.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { A_BYTES = 1000, B_BYTES = 37, MOST = 4096, DAMAGES = 3000, PATH = 512, COMMAND = 4096 };
static const unsigned char magic[] = { 0x50, 0xed, 0x55, 0xba }; /* of a fatbin */

static char folder[] = "/tmp/test_ptx_file.XXXXXX";
static unsigned char a[A_BYTES], b[B_BYTES];
static unsigned char whole[MOST]; /* a right file */
static size_t whole_bytes;
static const char inside = 0; /* an address in this program */

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

/* The script of the build, with a version or with a file that has a digest. */
static bool write_pack(const char *options)
{
    char command[COMMAND];
    char list[2 * PATH + 16];
    int length =
        snprintf(list, sizeof list, "image_a %s/a.fatbin\nb2 %s/b.fatbin\n", folder, folder);
    snprintf(command, sizeof command,
             "'%s' -DLIST=%s/list -DPACK=%s/good.pack %s -P '%s/ptx_file.cmake'",
             CMAKE_COMMAND_PATH, folder, folder, options, SCRIPTS_PATH);
    return write_file("list", list, (size_t)length) && run(command);
}

/* The script that makes the digest, here of the two fatbins; and the file with it. */
static bool write_pack_with_digest(const char *flags, char id[64])
{
    char command[COMMAND], options[2 * PATH], list[2 * PATH + 16], text[MOST] = "";
    int length = snprintf(list, sizeof list, "%s/a.fatbin\n%s/b.fatbin\n", folder, folder);
    snprintf(command, sizeof command,
             "'%s' -DLIST=%s/sources -DFLAGS=%s -DSYMBOL=the_id -DID=%s/id -DSOURCE=%s/id.c -P "
             "'%s/ptx_id.cmake'",
             CMAKE_COMMAND_PATH, folder, flags, folder, folder, SCRIPTS_PATH);
    snprintf(options, sizeof options, "-DID=%s/id", folder);
    if (!write_file("sources", list, (size_t)length) || !run(command) || !write_pack(options))
        return false;
    read_file("id.c", text, sizeof text - 1);
    return sscanf(text, "extern const char the_id[]; const char the_id[] = \"%63[0-9a-f]", id) == 1;
}

static void make_files(void)
{
    struct rng rng = { 7 };
    for (size_t i = 0; i < A_BYTES; i++) a[i] = (unsigned char)rng_next(&rng);
    for (size_t i = 0; i < B_BYTES; i++) b[i] = (unsigned char)rng_next(&rng);
    memcpy(a, magic, sizeof magic);
    memcpy(b, magic, sizeof magic);
    if (!mkdtemp(folder) || !write_file("a.fatbin", a, A_BYTES) ||
        !write_file("b.fatbin", b, B_BYTES) || !write_pack("-DVERSION=1.2.3"))
        test_fail(__FILE__, __LINE__, "cannot write the files in %s", folder);
    whole_bytes = read_file("good.pack", whole, MOST);
}

/* ---- Right files ---- */

static void expect(const char *id, const char *image, const void *data, size_t data_bytes)
{
    char reason[ECHI_PTX_REASON] = "";
    size_t bytes = 0;
    void *got = echi_ptx_read(in_folder("good.pack"), id, image, &bytes, reason);
    if (CHECK(got != NULL) && CHECK_INT(bytes, data_bytes))
        CHECK(memcmp(got, data, data_bytes) == 0);
    else
        test_fail(__FILE__, __LINE__, "%s", reason);
    free(got);
}

static void refuse(const char *file, const char *id, const char *image, const char *part)
{
    char reason[ECHI_PTX_REASON] = "";
    size_t bytes = 0;
    void *got = echi_ptx_read(in_folder(file), id, image, &bytes, reason);
    CHECK(got == NULL);
    CHECK_TEXT(reason, part);
    CHECK_TEXT(reason, in_folder(file));
    free(got);
}

static void test_right(void)
{
    if (test_begin("by version")) {
        expect("1.2.3", "image_a", a, A_BYTES);
        expect("1.2.3", "b2", b, B_BYTES);
        refuse("good.pack", "1.2.4", "b2", "another build");
        refuse("good.pack", "1.2.3", "b", "no kernels for b");
        refuse("good.pack", "1.2.3", "image_a2", "no kernels for image_a2");
        test_end();
    }
    if (test_begin("by digest")) {
        char id[64] = "", other[64] = "";
        CHECK(write_pack_with_digest("75", id));
        CHECK_INT(strlen(id), 32);
        expect(id, "image_a", a, A_BYTES);
        CHECK(write_pack_with_digest("80", other)); /* other flags make another build */
        refuse("good.pack", id, "image_a", "another build");
        b[B_BYTES - 1] ^= 1; /* and so do other sources */
        CHECK(write_file("b.fatbin", b, B_BYTES) && write_pack_with_digest("75", other));
        refuse("good.pack", id, "image_a", "another build");
        expect(other, "b2", b, B_BYTES);
        test_end();
    }
}

/* ---- Wrong files ---- */

static void test_missing(void)
{
    if (!test_begin("missing")) return;
    refuse("none.pack", "1.2.3", "b2", "No such file");
    CHECK(write_file("wrong.pack", whole, 0));
    refuse("wrong.pack", "1.2.3", "b2", "not a file of Echelon's PTX");
    CHECK(mkdir(in_folder("folder.pack"), 0700) == 0);
    refuse("folder.pack", "1.2.3", "b2", "not a file of Echelon's PTX");
    test_end();
}

static void test_truncated(void)
{
    if (!test_begin("truncated")) return;
    for (size_t n = 0; n < whole_bytes; n++) {
        CHECK(write_file("wrong.pack", whole, n));
        refuse("wrong.pack", "1.2.3", "b2", "wrong.pack"); /* the last image */
    }
    CHECK(write_file("wrong.pack", whole, whole_bytes - 1));
    refuse("wrong.pack", "1.2.3", "b2", "is damaged");
    test_end();
}

static void test_lines(void)
{
    static const char *const lines[] = {
        "b2 0 18446744073709551615\n",
        "b2 18446744073709551615 37\n",
        "b2 1 18446744073709551615\n",
        "b2 0 9223372036854775807\n",
        "b2 -1 37\n",
        "b2 0 -37\n",
        "b2 0 3\n", /* less than a fatbin's first word */
        "b2 0 0\n",
        "b2 0\n",
        "b2 0 37 1\n",
        "b2  \n",
        "B2 0 37\n",
        "b2 1 37\n",   /* no fatbin begins there */
        "b2 0 1037\n", /* one byte more than there is */
        "\n",
        "",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        unsigned char file[MOST];
        if (!test_begin("index line %zu", i)) continue;
        int n = snprintf((char *)file, sizeof file, "echelon-ptx 1 x\n%send\n", lines[i]);
        memcpy(file + n, magic, sizeof magic);
        memset(file + n + sizeof magic, 1, 1036 - sizeof magic);
        CHECK(write_file("wrong.pack", file, (size_t)n + 1036));
        refuse("wrong.pack", "x", "b2", *lines[i] ? "is damaged" : "no kernels for b2");
        test_end();
    }
    if (test_begin("index without an end")) {
        unsigned char file[MOST];
        memset(file, 'x', sizeof file); /* a line longer than any */
        memcpy(file, "echelon-ptx 1 x\n", 16);
        CHECK(write_file("wrong.pack", file, sizeof file));
        refuse("wrong.pack", "x", "b2", "is damaged");
        test_end();
    }
}

/* Bytes of the text changed at random: an answer is NULL or lies in the file, which the address
 * sanitizer sees, and begins as a fatbin does. */
static void test_damaged(void)
{
    struct rng rng = { 11 };
    size_t text = 0;
    if (!test_begin("damaged")) return;
    while (text + 4 < whole_bytes && memcmp(whole + text, "\nend\n", 5) != 0) text++;
    for (int i = 0; i < DAMAGES && !test_failed(); i++) {
        unsigned char file[MOST];
        char reason[ECHI_PTX_REASON] = "";
        size_t bytes = 0;
        memcpy(file, whole, whole_bytes);
        for (uint64_t k = 1 + rng_below(&rng, 3); k > 0; k--) {
            static const char likely[] = "0123456789 \n-_abe";
            file[rng_below(&rng, text + 5)] = rng_below(&rng, 4) == 0
                                                  ? (unsigned char)rng_next(&rng)
                                                  : (unsigned char)likely[rng_below(&rng, 17)];
        }
        CHECK(write_file("wrong.pack", file, whole_bytes));
        unsigned char *got =
            echi_ptx_read(in_folder("wrong.pack"), "1.2.3", "image_a", &bytes, reason);
        if (got) {
            CHECK(bytes >= sizeof magic && bytes <= whole_bytes);
            CHECK(memcmp(got, magic, sizeof magic) == 0);
        } else {
            CHECK(*reason != 0);
        }
        free(got);
    }
    test_end();
}

/* ---- Places ---- */

/* This program, copied to <folder>/<where>/program, finds x.pack. */
static void finds(const char *where, const char *variable, const char *wanted)
{
    char command[COMMAND], path[ECHI_PTX_PATH] = "";
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
    snprintf(
        command, sizeof command,
        "cd %s && mkdir -p bin/echelon %s/echelon elsewhere && cp \"$(readlink /proc/%ld/exe)\" "
        "bin/program && touch bin/echelon/x.pack %s/echelon/x.pack",
        folder, ECHELON_LIBDIR, (long)getpid(), ECHELON_LIBDIR);
    CHECK(run(command));
    finds("bin", "", "/bin/echelon/x.pack");
    finds("bin", "ECHELON_PTX_DIR=/else/where", "/else/where/x.pack");
    finds("bin", "ECHELON_PTX_DIR=", "/bin/echelon/x.pack");
    CHECK(unlink(in_folder("bin/echelon/x.pack")) == 0);
    finds("bin", "", "/" ECHELON_LIBDIR "/echelon/x.pack");
    snprintf(command, sizeof command, "rm '%s/%s/echelon/x.pack'", folder, ECHELON_LIBDIR);
    CHECK(run(command));
    finds("bin", "", "/bin/echelon/x.pack"); /* nowhere: where it should be */
    test_end();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--find") == 0) {
        char path[ECHI_PTX_PATH];
        echi_ptx_find("x.pack", &inside, path);
        puts(path);
        return 0;
    }
    test_main(argc, argv);
    make_files();
    test_missing();
    test_truncated();
    test_lines();
    test_damaged();
    test_places();
    test_right();
    char command[COMMAND];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (!run(command)) perror(folder);
    return test_finish();
}
