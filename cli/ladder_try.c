/*
 * ladder_try.c - "echelon ladder NAME --try FILE": the user's kernels in place of those of a rung.
 *
 * The file is compiled for the SIMT emulator (compile.c).  ladder/ladder.c then takes the kernels
 * of this module instead of those of the ladder with the same names, so the rung's launches, data
 * and oracle remain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compile.h"
#include "ladder.h"
#include "simt/runtime.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64 };

static struct {
    struct ladder_device *device;
    struct compile compile;
    CUlibrary library;
    ech_dtype type;
    int number;
    char text[64];               /* the file, for the table */
    struct rung rows[MOST_ROWS]; /* copies of the rung with this text, by parameter */
    int row_count;
    uint64_t launches; /* of the user's kernels, in all runs */
} own;

/* ---- The rung ---- */

/* N for "reduce_N" and "reduce_N_step" of the ladder reduce; 0: another name. */
static int number_of(const struct ladder *ladder, const char *kernel)
{
    const size_t length = strlen(ladder->name);
    char *after;
    if (strncmp(kernel, ladder->name, length) != 0 || kernel[length] != '_') return 0;
    const long number = strtol(kernel + length + 1, &after, 10);
    if (after == kernel + length + 1 || (*after && *after != '_')) return 0;
    return number > 0 && number <= 1000 ? (int)number : 0;
}

static int find_number(const struct ladder *ladder, int given)
{
    const struct kernel_text *text = &own.compile.text;
    own.number = given;
    for (int i = 0; i < text->kernel_count; i++) {
        const int number = number_of(ladder, text->kernels[i].name);
        if (given || !number || number == own.number) continue;
        if (own.number)
            return cli_fail(EXIT_BAD,
                            "%s: has kernels of rung %d and of rung %d; select one with --rung",
                            own.compile.source, own.number, number);
        own.number = number;
    }
    for (int i = 0; i < ladder->rung_count; i++)
        if (ladder->rungs[i].number == own.number) return EXIT_DONE;
    if (own.number)
        return cli_fail(EXIT_BAD, "%s: has kernels of rung %d, but %s has the rungs 1 to %d",
                        own.compile.source, own.number, ladder->name,
                        ladder->rungs[ladder->rung_count - 1].number);
    return cli_fail(
        EXIT_BAD,
        "%s: has no kernel with the name of one of the ladder, such as %s_1; select the "
        "rung with --rung, and give the kernels its names",
        own.compile.source, ladder->name);
}

/* ---- Parameters ---- */

static const struct simt_kernel *find_kernel(const struct simt_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->kernel_count; i++)
        if (strcmp(image->kernels[i].name, name) == 0) return &image->kernels[i];
    return NULL;
}

static bool same_parameters(const struct simt_kernel *a, const struct simt_kernel *b)
{
    bool same = a->parameter_count == b->parameter_count;
    for (uint32_t i = 0; same && i < a->parameter_count; i++)
        same = a->parameter_bytes[i] == b->parameter_bytes[i];
    return same;
}

/* The ladder passes arguments by their addresses, so the sizes of the parameters must agree. */
static int compare_kernels(const struct simt_image *mine, const struct simt_image *theirs)
{
    for (uint32_t i = 0; i < mine->kernel_count; i++) {
        const struct simt_kernel *k = &mine->kernels[i], *other = find_kernel(theirs, k->name);
        if (!other || same_parameters(k, other)) continue;
        int matches;
        char sizes[256] = "";
        for (uint32_t p = 0; p < other->parameter_count; p++)
            snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%u", p ? ", " : "",
                     other->parameter_bytes[p]);
        const struct kernel *text = kernel_text_find(&own.compile.text, k->name, &matches);
        return cli_fail(
            EXIT_BAD,
            "%s: %s must have the parameters of the ladder's kernel, which are %u of %s "
            "bytes",
            own.compile.source, text ? text->signature : k->name, other->parameter_count, sizes);
    }
    return EXIT_DONE;
}

static int check_parameters(const struct ladder *ladder, ech_dtype type)
{
    char path[COMPILE_PATH + 128];
    const char *slash = strrchr(own.compile.library, '/');
    snprintf(path, sizeof path, "%.*sechelon/ladder_%s_%s.so",
             (int)(slash - own.compile.library) + 1, own.compile.library, ladder->name,
             ech_dtype_name(type));
    void *mine = dlopen(own.compile.module, RTLD_NOW | RTLD_NOLOAD);
    void *theirs = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct simt_image *a = mine ? dlsym(mine, "simt_image") : NULL;
    const struct simt_image *b = theirs ? dlsym(theirs, "simt_image") : NULL;
    const int code = a && b
                         ? compare_kernels(a, b)
                         : cli_fail(EXIT_DEVICE, "%s: cannot be loaded", a ? path : "the module");
    if (mine) dlclose(mine);
    if (theirs) dlclose(theirs);
    return code;
}

/* ---- Open and close ---- */

static const char *c_name(ech_dtype type)
{
    static const char *const names[] = {
        [ECH_U8] = "uint8_t", [ECH_U32] = "uint32_t", [ECH_I32] = "int32_t", [ECH_U64] = "uint64_t",
        [ECH_F32] = "float",  [ECH_F64] = "double",   [ECH_I64] = "int64_t"
    };
    return (size_t)type < sizeof names / sizeof *names ? names[type] : NULL;
}

/* Tables and CSV need a text without quotation marks. */
static void set_text(const char *file)
{
    const char *slash = strrchr(file, '/');
    snprintf(own.text, sizeof own.text, "%.38s", slash ? slash + 1 : file);
    for (char *at = own.text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '"' || *at == 127) *at = '?';
}

static int build(const struct ladder *ladder, ech_dtype type, const char *file, int rung)
{
    struct compile *c = &own.compile;
    char element[32], folder[COMPILE_PATH + 64];
    const char *const defines[] = { element }, *const roots[] = { folder };
    const void *function;
    memcpy(&function, &own.device->emulator.set_options, sizeof function);
    snprintf(element, sizeof element, "ELEMENT=%s", c_name(type) ? c_name(type) : "uint32_t");
    *c = (struct compile){ .source = file, .defines = defines, .define_count = 1 };
    int code = compile_find(c, function);
    if (code != EXIT_DONE) return code;
    snprintf(folder, sizeof folder, "%s/ladder/%s", c->headers, ladder->name);
    c->roots = roots;
    c->root_count = 1;
    code = compile_scan(c);
    if (code == EXIT_DONE) code = find_number(ladder, rung);
    if (code == EXIT_DONE) code = compile_module(c);
    c->defines = c->roots = NULL;
    return code;
}

int ladder_try_open(struct ladder_device *device, const struct ladder *ladder, ech_dtype type,
                    const char *file, int rung)
{
    own.device = device;
    own.type = type;
    set_text(file);
    int code = build(ladder, type, file, rung);
    if (code == EXIT_DONE && device->driver->cuLibraryLoadData(&own.library, own.compile.module,
                                                               NULL, NULL, 0, NULL, NULL, 0) != 0)
        code = cli_fail(EXIT_DEVICE,
                        "%s: the compiled module cannot be loaded; if no program may run from this "
                        "folder, set TMPDIR to another one",
                        own.compile.module);
    if (code == EXIT_DONE) code = check_parameters(ladder, type);
    compile_remove();
    return code;
}

int ladder_try_number(void)
{
    return own.number;
}

void ladder_try_close(void)
{
    if (own.library) own.device->driver->cuLibraryUnload(own.library);
    compile_end(&own.compile);
    memset(&own, 0, sizeof own);
}

/* ---- Runs ---- */

/* A fault that ends the kernel makes the result wrong, as any other finding. */
static bool take_fault(struct result *result)
{
    const struct simt_finding *findings;
    if (own.device->emulator.findings(&findings) == 0) return false;
    result->right = false;
    result->faults = 0;
    for (size_t i = 0, n = own.device->emulator.findings(&findings); i < n; i++)
        result->faults += findings[i].count;
    snprintf(result->message, sizeof result->message, "%s", findings[0].text);
    return true;
}

static int run_own(struct ladder_report *report, const struct rung *rung, ech_dtype type,
                   uint64_t n, uint64_t seed, const struct ladder_data *data, struct result *result)
{
    const struct ladder *ladder = report->results.ladder;
    own.device->own = own.library;
    own.device->own_launches = 0;
    const bool ran = ladder_check(own.device, ladder, rung, type, n, seed, data, result);
    own.device->own = NULL;
    if (!ran && !take_fault(result))
        return cli_fail(EXIT_DEVICE, "%s: %s", own.compile.source, own.device->message);
    own.launches += own.device->own_launches;
    if (result->right) return EXIT_DONE;
    report->wrong++;
    fprintf(stderr, "%s as %s %d, %s, n = %" PRIu64 ": %s\n", own.text, ladder->name, rung->number,
            ech_dtype_name(type), n, result->message);
    return EXIT_DONE;
}

/* A rung may launch none of its kernels for some sizes, but not for all. */
static int check_launches(const struct ladder *ladder)
{
    if (own.launches > 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: defines no kernel that rung %d of %s launches",
                    own.compile.source, own.number, ladder->name);
}

int ladder_try_check(struct ladder_report *report, ech_dtype type)
{
    const struct ladder *ladder = report->results.ladder;
    if (type != own.type) return EXIT_DONE; /* --check with all types */
    for (int i = 0; i < ladder->rung_count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        for (int k = 0; rung->number == own.number && ladder->checked[k] != LADDER_END; k++) {
            struct result result;
            const uint64_t n = ladder->checked[k], wrong = report->wrong;
            if (rung->most && n > rung->most) continue;
            int code = run_own(report, rung, type, n, (uint64_t)(k % LADDER_SEEDS), NULL, &result);
            if (code != EXIT_DONE) return code;
            report->checks++;
            if (report->wrong > wrong) return EXIT_DONE; /* the first one is enough */
        }
    }
    return check_launches(ladder);
}

/* The rung with the name of the file; it lives until ladder_try_close(). */
static const struct rung *row_of(const struct rung *rung)
{
    for (int i = 0; i < own.row_count; i++)
        if (own.rows[i].parameter == rung->parameter) return &own.rows[i];
    if (own.row_count == MOST_ROWS) return rung;
    struct rung *row = &own.rows[own.row_count++];
    *row = *rung;
    row->idea = "try";
    row->text = own.text;
    return row;
}

int ladder_try_measure(struct ladder_report *report, const struct rung *rung, ech_dtype type,
                       uint64_t n, const struct ladder_data *data)
{
    struct result result;
    int code = run_own(report, row_of(rung), type, n, 0, data, &result);
    if (code == EXIT_DONE) code = check_launches(report->results.ladder);
    if (code == EXIT_DONE && !ladder_keep(&report->results, &result))
        code = cli_fail(EXIT_MEMORY, "out of memory");
    return code;
}
