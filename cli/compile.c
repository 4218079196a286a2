/*
 * compile.c - compiles a CUDA source for the SIMT emulator with the C++ compiler that is found at
 * run time, as cmake/simt.cmake does in a build.
 *
 *     source -> scan.cc --preprocessor--> scan.ii -> kernel_text.c: kernels, dynamic shared memory
 *     source + src/simt/image.cc.in -> image.cc --compiler--> module.so
 *     names of dynamic shared memory -> shared.cc -> shared.o
 *
 * The source is copied into these files after a #line directive, so messages have its name and its
 * lines, whatever characters the name contains.  All files are in a private folder (io/io.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr() */
#include "compile_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[FILES] = {
    [SCAN_CC] = "scan.cc",  [SCAN_II] = "scan.ii",     [IMAGE_CC] = "image.cc",
    [IMAGE_O] = "image.o",  [SHARED_CC] = "shared.cc", [SHARED_O] = "shared.o",
    [MODULE] = "module.so", [ERRORS] = "errors",
};

enum { MOST_ARGUMENTS = 256, OLD_GCC = 11 /* see simt_hooks_gnu */ };

/* ---- Flags, as in cmake/simt.cmake ---- */

enum whose { all, gnu, clang, lines, lines_gnu, hooks_all, hooks_gnu, hooks_clang, link };
static const struct flag {
    enum whose whose;
    const char *text;
} flags[] = {
#define FLAG(whose, text) { whose, text },
#include "simt_flags.def"
#undef FLAG
};

/* Set by the preprocessor: the kind of compiler, and its version if it is g++. */
static bool is_clang;
static int gcc_version;

static bool applies(enum whose whose, bool exact_lines)
{
    if (whose == lines) return exact_lines;
    if (whose == lines_gnu) return !is_clang && exact_lines;
    if (whose == gnu) return !is_clang;
    if (whose == clang || whose == hooks_clang) return is_clang;
    if (whose == hooks_gnu) return !is_clang && gcc_version >= OLD_GCC;
    return true;
}

/* ---- A command line ---- */

struct line {
    char *words[MOST_ARGUMENTS + 1]; /* NULL ends it */
    int count;
    bool no_memory;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, arguments);
    char *word = n < 0 || line->count == MOST_ARGUMENTS ? NULL : malloc((size_t)n + 1);
    if (word) vsnprintf(word, (size_t)n + 1, format, again);
    va_end(again);
    va_end(arguments);
    line->no_memory |= !word;
    if (word) line->words[line->count++] = word;
}

static void clear(struct line *line)
{
    for (int i = 0; i < line->count; i++) free(line->words[i]);
    memset(line, 0, sizeof *line);
}

/* The words of the variable CXX, which may have options, or a name. */
static void add_compiler(struct line *line, const char *compiler)
{
    for (const char *at = compiler; *at;) {
        at += strspn(at, " \t");
        const size_t length = strcspn(at, " \t");
        if (length) add(line, "%.*s", (int)length, at);
        at += length;
    }
}

static void add_flags(struct line *line, const struct compile *c, enum whose from, enum whose to)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].whose >= from && flags[i].whose <= to &&
            applies(flags[i].whose, c->exact_lines))
            add(line, "%s", flags[i].text);
}

/* What the preprocessor needs: the same for both passes over the source. */
static void add_source_options(struct line *line, const struct compile *c)
{
    const char *slash = strrchr(c->source, '/');
    add(line, "-std=c++17");
    add(line, "-w");
    add(line, "-pipe"); /* no other temporary files */
    add(line, "-iquote");
    add(line, "%.*s", slash ? (int)(slash - c->source) + 1 : 1, slash ? c->source : ".");
    for (int i = 0; i < c->root_count; i++) {
        add(line, "-I");
        add(line, "%s", c->roots[i]);
    }
    for (int i = 0; i < c->define_count; i++) add(line, "-D%s", c->defines[i]);
    add(line, "-DECHELON_EMULATE=1");
    add(line, "-isystem");
    add(line, "%s", c->headers);
    add(line, "-isystem");
    add(line, "%s/simt/headers", c->headers);
    add(line, "-include");
    add(line, "%s/simt/device.h", c->headers);
}

/* ---- Running the compiler ---- */

/* Whether the line is about the code around the source: "module" in compile_source.c. */
static bool is_around(const char *line)
{
    return strncmp(line, "module:", 7) == 0 || strstr(line, io_folder_path()) != NULL;
}

/* Prints the compiler's messages.  Messages about the code around the source are printed only if
 * there are no others. */
static void print_errors(void)
{
    char *text = NULL;
    size_t bytes = 0;
    bool printed = false;
    if (compile_read(io_folder_file(ERRORS), &text, &bytes) != EXIT_DONE) return;
    for (char *line = text, *end; line < text + bytes; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) end = text + bytes;
        *end = 0;
        if (printed && is_around(line)) break;
        if (strstr(line, "compilation terminated.") || strstr(line, "collect2: error")) continue;
        cli_print_name(stderr, line);
        fputc('\n', stderr);
        printed |= !is_around(line);
    }
    free(text);
}

static int run(struct line *line, enum file output, int *status)
{
    line->words[line->count] = NULL;
    if (line->no_memory) return cli_fail(EXIT_MEMORY, "out of memory for a command line");
    *status = io_folder_run(line->words, output == FILES ? NULL : io_folder_file(output),
                            io_folder_file(ERRORS));
    return EXIT_DONE;
}

/* Runs the preprocessor with each possible compiler until one exists. */
static int preprocess(struct compile *c)
{
    const char *chosen = secure_getenv("CXX");
    if (chosen && !chosen[strspn(chosen, " \t")]) chosen = NULL;
    const char *const compilers[] = { chosen ? chosen : "c++", "g++", "clang++" };
    for (int i = 0; i < (chosen ? 1 : 3); i++) {
        struct line line = { .count = 0 };
        int status = 0;
        add_compiler(&line, compilers[i]);
        add(&line, "-E");
        add_source_options(&line, c);
        add(&line, "%s", io_folder_file(SCAN_CC));
        int code = run(&line, SCAN_II, &status);
        const int why = errno;
        clear(&line);
        if (code != EXIT_DONE) return code;
        snprintf(c->compiler, sizeof c->compiler, "%s", compilers[i]);
        if (status == 0) return EXIT_DONE;
        if (status < 0 && why != ENOENT && why != EACCES)
            return cli_fail(EXIT_BAD, "cannot run %s: %s", compilers[i], strerror(why));
        if (status < 0) continue;
        print_errors();
        return cli_fail(EXIT_BAD, "%s: %s cannot read it for the emulator", c->source,
                        compilers[i]);
    }
    if (chosen)
        return cli_fail(EXIT_BAD, "CXX is \"%s\", which cannot be run; it must be a C++ compiler",
                        chosen);
    return cli_fail(EXIT_BAD, "no C++ compiler: install g++ or clang++, or set CXX to another one");
}

/* ---- The source ---- */

static int scan(struct compile *c)
{
    char *text = NULL;
    size_t bytes = 0;
    int code = compile_write_scan(c);
    if (code == EXIT_DONE) code = preprocess(c);
    if (code == EXIT_DONE) code = compile_read(io_folder_file(SCAN_II), &text, &bytes);
    if (code != EXIT_DONE) return code;
    const char *version = strstr(text, "simt_is_gcc ");
    is_clang = strstr(text, "\nsimt_is_clang") != NULL;
    gcc_version = version ? atoi(version + 12) : 0;
    const char *begin = strstr(text, "\nsimt_source_begins");
    if (!begin) begin = text + bytes;
    if (!kernel_text_read(&c->text, begin, (size_t)(text + bytes - begin)))
        code = cli_fail(EXIT_MEMORY, "out of memory");
    free(text);
    if (code == EXIT_DONE && *c->text.problem) code = cli_fail(EXIT_BAD, "%s", c->text.problem);
    return code;
}

/* ---- Compiling ---- */

static int compile_failed(const struct compile *c, int status)
{
    print_errors();
    if (*c->text.hint) fprintf(stderr, "%s\n", c->text.hint);
    if (status > 128)
        return cli_fail(EXIT_BAD, "%s: a signal (%d) ended %s", c->source, status - 128,
                        c->compiler);
    return cli_fail(EXIT_BAD, "%s: %s cannot compile it for the emulator", c->source, c->compiler);
}

/* Runs the command line, and prints the messages of the compiler if it fails. */
static int run_step(const struct compile *c, struct line *line)
{
    int status = 0, code = run(line, FILES, &status);
    clear(line);
    return code == EXIT_DONE && status != 0 ? compile_failed(c, status) : code;
}

static int make_shared(struct compile *c)
{
    struct line line = { .count = 0 };
    int code = compile_write_shared(c);
    if (code != EXIT_DONE) return code;
    add_compiler(&line, c->compiler);
    add(&line, "-std=c++17");
    add(&line, "-pipe");
    add(&line, "-O2");
    add(&line, "-fPIC");
    add(&line, "-isystem");
    add(&line, "%s", c->headers);
    add(&line, "-c");
    add(&line, "%s", io_folder_file(SHARED_CC));
    add(&line, "-o");
    add(&line, "%s", io_folder_file(SHARED_O));
    return run_step(c, &line);
}

static int make_image(struct compile *c)
{
    struct line line = { .count = 0 };
    int code = compile_write_image(c);
    if (code != EXIT_DONE) return code;
    add_compiler(&line, c->compiler);
    add_source_options(&line, c);
    add_flags(&line, c, all, hooks_clang);
    add(&line, "-fPIC");
    add(&line, "-c");
    add(&line, "%s", io_folder_file(IMAGE_CC));
    add(&line, "-o");
    add(&line, "%s", io_folder_file(IMAGE_O));
    return run_step(c, &line);
}

/* Without the flags of the hooks, which would link the library of the sanitizer. */
static int link_module(struct compile *c)
{
    struct line line = { .count = 0 };
    add_compiler(&line, c->compiler);
    add(&line, "-shared");
    add(&line, "%s", io_folder_file(IMAGE_O));
    add(&line, "%s", io_folder_file(SHARED_O));
    add(&line, "-o");
    add(&line, "%s", io_folder_file(MODULE));
    add(&line, "%s", c->library);
    add_flags(&line, c, link, link);
    add(&line, "-lm");
    int code = run_step(c, &line);
    if (code == EXIT_DONE) c->module = io_folder_file(MODULE);
    return code;
}

/* ---- Interface ---- */

/* The headers are in echelon/include, next to the emulator. */
int compile_find(struct compile *c, const void *emulator_function)
{
    Dl_info about;
    char probe[COMPILE_PATH + 32];
    if (!dladdr(emulator_function, &about) || !realpath(about.dli_fname, c->library))
        return cli_fail(EXIT_DEVICE, "the library of the SIMT emulator cannot be found");
    const char *slash = strrchr(c->library, '/');
    snprintf(c->headers, sizeof c->headers, "%.*sechelon/include", (int)(slash - c->library) + 1,
             c->library);
    snprintf(probe, sizeof probe, "%s/simt/device.h", c->headers);
    FILE *there = fopen(probe, "re");
    if (!there)
        return cli_fail(EXIT_DEVICE, "%s: cannot open this header, which belongs to the emulator",
                        probe);
    fclose(there);
    return EXIT_DONE;
}

int compile_scan(struct compile *c)
{
    struct io_error error;
    int code = compile_read(c->source, &c->lines, &c->lines_bytes);
    if (code != EXIT_DONE) return code;
    const io_status status = io_folder_begin(names, FILES, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    code = scan(c);
    return code == EXIT_DONE ? compile_choose(c) : code;
}

int compile_module(struct compile *c)
{
    int code = make_shared(c);
    if (code == EXIT_DONE) code = make_image(c);
    return code == EXIT_DONE ? link_module(c) : code;
}

void compile_remove(void)
{
    io_folder_end();
}

void compile_end(struct compile *c)
{
    io_folder_end();
    kernel_text_free(&c->text);
    free(c->lines);
    c->lines = NULL;
}
