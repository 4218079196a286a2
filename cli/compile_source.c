/*
 * compile_source.c - the files that compile.c gives to the compiler: the source with a line
 * directive, and the code that makes a module of it; and the choice of the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compile_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE = 64 << 20 /* bytes, also after the preprocessor */ };

/* ---- Files ---- */

int compile_read(const char *path, char **bytes, size_t *n)
{
    struct io_source source;
    struct io_error error;
    void *data = NULL;
    io_status status = io_open(&source, path, &error);
    if (status == IO_OK) {
        status = io_read_all(&source, MOST_SOURCE, source.size, 1, &data, n, &error);
        io_close(&source);
    }
    if (status != IO_OK)
        return cli_fail(status == IO_MEMORY ? EXIT_MEMORY : EXIT_BAD, "%s", error.text);
    if (*n == MOST_SOURCE) {
        free(data);
        return cli_fail(EXIT_BAD, "%s: is too long; the maximum is %d MiB", path,
                        MOST_SOURCE >> 20);
    }
    *bytes = data;
    (*bytes)[*n] = 0;
    return EXIT_DONE;
}

static FILE *begin_file(enum file which)
{
    FILE *to = fopen(io_folder_file(which), "we");
    if (!to) cli_fail(EXIT_BAD, "%s: cannot create it: %s", io_folder_file(which), strerror(errno));
    return to;
}

static int end_file(FILE *to, enum file which)
{
    const bool bad = ferror(to) != 0;
    if (fclose(to) == 0 && !bad) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: cannot write it: %s", io_folder_file(which), strerror(errno));
}

/* The source after a #line directive with its name. */
static void put_source(FILE *to, const struct compile *c)
{
    fputs("#line 1 \"", to);
    for (const char *at = c->source; *at; at++) {
        if (*at == '"' || *at == '\\') fputc('\\', to);
        if (*at == '\n')
            fputs("\\n", to);
        else
            fputc(*at, to);
    }
    fputs("\"\n", to);
    fwrite(c->lines, 1, c->lines_bytes, to);
    fputs("\n#line 1 \"module\"\n", to);
}

/* ---- Scanning the source ---- */

/* The keywords that kernel_text.c looks for are not expanded. */
int compile_write_scan(const struct compile *c)
{
    FILE *to = begin_file(SCAN_CC);
    if (!to) return EXIT_BAD;
    fputs("#ifdef __clang__\nsimt_is_clang\n#else\nsimt_is_gcc __GNUC__\n#endif\n"
          "#undef __global__\n#undef __shared__\n#undef __launch_bounds__\n"
          "#undef __cluster_dims__\n#undef __maxnreg__\nsimt_source_begins\n",
          to);
    put_source(to, c);
    return end_file(to, SCAN_CC);
}

static int list_kernels(const struct compile *c, const char *what)
{
    char names[512] = "";
    for (int i = 0; i < c->text.kernel_count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                 c->text.kernels[i].name);
    if (!*names) return cli_fail(EXIT_BAD, "%s: has no kernel (__global__ function)", c->source);
    return cli_fail(EXIT_BAD, "%s: %s; it has:%s", c->source, what, names);
}

/* Finds the kernel that the user named, or the only one. */
static bool is_declared(const struct compile *c)
{
    for (int i = 0; i < c->text.kernel_count; i++)
        if (!c->text.kernels[i].defined && strcmp(c->text.kernels[i].name, c->kernel) == 0)
            return true;
    return false;
}

int compile_choose(struct compile *c)
{
    char what[KERNEL_NAME + 64];
    int matches = 0;
    if (!c->kernel) {
        for (int i = 0; i < c->text.kernel_count; i++)
            if (c->text.kernels[i].defined && !c->text.kernels[i].templated) matches++;
        return matches ? EXIT_DONE : list_kernels(c, "has no kernel that can be compiled");
    }
    if (!*c->kernel) {
        if (c->text.kernel_count != 1)
            return list_kernels(c, "has several kernels: name one as FILE.cu:KERNEL");
        c->kernel = c->text.kernels[0].name;
    }
    c->found = kernel_text_find(&c->text, c->kernel, &matches);
    snprintf(what, sizeof what, "%s kernel %.100s", matches > 1 ? "has more than one" : "has no",
             c->kernel);
    if (!c->found && is_declared(c))
        return cli_fail(EXIT_BAD, "%s: kernel %s is declared, but not defined", c->source,
                        c->kernel);
    if (!c->found) return list_kernels(c, what);
    const char *arguments = strchr(c->kernel, '<');
    if (c->found->definitions > 1)
        return cli_fail(EXIT_BAD, "%s: %s is overloaded; rename one of the kernels", c->source,
                        c->found->name);
    if (c->found->templated && !arguments)
        return cli_fail(EXIT_BAD,
                        "%s: %s is a template: give its arguments, for example \"%s:%s<float>\"",
                        c->source, c->found->name, c->source, c->found->name);
    if (!c->found->templated && arguments)
        return cli_fail(EXIT_BAD, "%s: %s is not a template", c->source, c->found->name);
    snprintf(c->name, sizeof c->name, "%s%s", c->found->name, arguments ? arguments : "");
    return EXIT_DONE;
}

/* ---- The module ---- */

/* The bound of a template may depend on its parameters, which have no values here; a number does
 * not. */
static const char *bound_of(const struct kernel *k)
{
    return k->templated && strspn(k->bound, "0123456789 ,*+") != strlen(k->bound) ? "" : k->bound;
}

/* Whether the module has the kernel, and the kernel's name in it; NULL: it has not. */
static const char *name_in_module(const struct compile *c, const struct kernel *k)
{
    if (c->found) return k == c->found ? c->name : NULL;
    return k->defined && !k->templated ? k->name : NULL;
}

static void put_rows(FILE *to, const struct compile *c)
{
    for (int i = 0; i < c->text.kernel_count; i++) {
        const struct kernel *k = &c->text.kernels[i];
        const char *name = name_in_module(c, k);
        if (name)
            fprintf(to, "    simt_row<decltype(::%s), ::%s>::kernel(\"%s\", simt_bound(%s)),\n",
                    name, name, name, bound_of(k));
    }
}

/* The members of parameter p, if it is a struct whose members are known. */
static void put_members(FILE *to, const struct compile *c, const struct kernel *k, int p)
{
    const struct kernel_struct *s = kernel_text_struct(&c->text, k, p);
    if (!s) return;
    fprintf(to, "using simt_t%d = simt_parameter_type<%d, decltype(::%s)>::type;\n", p, p,
            name_in_module(c, k));
    for (int m = 0; m < s->member_count; m++)
        fprintf(to,
                "static constexpr struct simt_member simt_m%d_%d = { %d, \"%s\", "
                "offsetof(simt_t%d, %s), simt_parameter_of<decltype(simt_t%d::%s)>() };\n",
                p, m, p, s->members[m], p, s->members[m], p, s->members[m]);
}

/* The signatures of the kernels; only of one, which "echelon emulate" runs, with members. */
static void put_signatures(FILE *to, const struct compile *c)
{
    const struct kernel *k = c->found;
    for (int p = 0; k && p < k->parameter_count; p++) put_members(to, c, k, p);
    fputs("static constexpr struct simt_member simt_members[] = {\n", to);
    for (int p = 0; k && p < k->parameter_count; p++) {
        const struct kernel_struct *s = kernel_text_struct(&c->text, k, p);
        for (int m = 0; s && m < s->member_count; m++) fprintf(to, "    simt_m%d_%d,\n", p, m);
    }
    fputs("    { 0, nullptr, 0, {} }\n};\n"
          "extern \"C\" __attribute__((visibility(\"default\")))\n"
          "const struct simt_signature simt_signatures[] = {\n",
          to);
    for (int i = 0; i < c->text.kernel_count; i++) {
        const char *name = name_in_module(c, &c->text.kernels[i]);
        if (name)
            fprintf(to,
                    "    { \"%s\", simt_parameters<decltype(::%s)>::of, "
                    "simt_parameters<decltype(::%s)>::count, simt_members },\n",
                    name, name, name);
    }
    fputs("    { nullptr, nullptr, 0, nullptr }\n};\n", to);
}

/* Copies a part of image.cc.in, and fills its places. */
static void put_part(FILE *to, const struct compile *c, const char *at, const char *end)
{
    while (at < end) {
        const char *place = memchr(at, '@', (size_t)(end - at));
        if (!place) place = end;
        fwrite(at, 1, (size_t)(place - at), to);
        if (place == end) return;
        if (strncmp(place, "@rows@", 6) == 0) put_rows(to, c);
        at = strchr(place + 1, '@') + 1; /* no kernel is absent */
    }
}

/* The parts of image.cc.in in another order: the source may define macros that would change what
 * follows it, so only the table of kernels does. */
static bool put_image(FILE *to, const struct compile *c, const char *form)
{
    const char *table = strstr(form, "namespace simt_absent");
    const char *functions = table ? strstr(table, "extern \"C\" {") : NULL;
    const char *image = functions ? strstr(functions, "extern __attribute__((visibility") : NULL;
    if (!image) return false;
    fputs("#include \"simt/image.h\"\n#include \"simt/signature.h\"\n", to);
    put_part(to, c, functions, image);
    fputs("}\n", to);
    put_source(to, c);
    put_part(to, c, table, functions);
    fputs("extern \"C\" {\n", to);
    put_part(to, c, image, image + strlen(image));
    put_signatures(to, c);
    return true;
}

int compile_write_image(const struct compile *c)
{
    char path[COMPILE_PATH + 32], *form = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/simt/image.cc.in", c->headers);
    int code = compile_read(path, &form, &bytes);
    if (code != EXIT_DONE) return code;
    FILE *to = begin_file(IMAGE_CC);
    const bool whole = to && put_image(to, c, form);
    free(form);
    code = to ? end_file(to, IMAGE_CC) : EXIT_BAD;
    if (to && !whole) code = cli_fail(EXIT_DEVICE, "%s: has another version", path);
    return code;
}

/* Dynamic shared memory under each name that the source gives it; as image_shared.c. */
/* Another name of dynamic shared memory, in its namespaces. */
static void put_alias(FILE *to, const char *name)
{
    int depth = 0;
    for (const char *next; (next = strstr(name, "::")) != NULL; name = next + 2, depth++)
        fprintf(to, "namespace %.*s { ", (int)(next - name), name);
    fprintf(to,
            "extern thread_local unsigned char %s[SIMT_MOST_SHARED_BYTES] "
            "__attribute__((alias(\"shared_bytes\")));",
            name);
    while (depth--) fputs(" }", to);
    fputc('\n', to);
}

int compile_write_shared(const struct compile *c)
{
    FILE *to = begin_file(SHARED_CC);
    if (!to) return EXIT_BAD;
    fputs("#include \"simt/runtime.h\"\n"
          "#pragma GCC visibility push(hidden)\n"
          "extern \"C\" {\n"
          "thread_local unsigned char shared_bytes[SIMT_MOST_SHARED_BYTES] "
          "__attribute__((aligned(1024)));\n"
          "void *simt_shared(void);\n"
          "void *simt_shared(void) { return shared_bytes; }\n",
          to);
    fputs("}\n", to);
    for (int i = 0; i < c->text.array_count; i++)
        if (strcmp(c->text.arrays[i], "shared_bytes") != 0) put_alias(to, c->text.arrays[i]);
    return end_file(to, SHARED_CC);
}
