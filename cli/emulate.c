/*
 * emulate.c - "echelon emulate": compiles the user's CUDA kernel for the SIMT emulator, runs it on
 * the CPU, and reports faults and counts by source line.
 *
 *     run()  options -> compile.c: scan -> emulate_args.c: names -> compile.c: module
 *            -> emulate_args.c: arrays -> emulate_run.c -> emulate_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "emulate.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *grid, *block, *cluster, *shared;
    const char *seed, *seeds, *yield, *threads, *sm, *html, *record;
    struct cli_list arguments, outputs, defines, roots;
    bool weak, json;
} set;

static const struct option options[] = {
    { 0, "grid", "X[xY[xZ]]", &set.grid, "number of blocks; default: 1" },
    { 0, "block", "X[xY[xZ]]", &set.block, "threads of a block; default: 1" },
    { 0, "cluster", "X[xY[xZ]]", &set.cluster, "blocks of a cluster; default: no clusters" },
    { 0, "shared", "BYTES", &set.shared, "dynamic shared memory of a block; default: 0" },
    { 0, "arg", "NAME=VALUE...", &set.arguments, "an argument of the kernel, see below" },
    { 'o', "output", "NAME=FILE...", &set.outputs,
      "write the array NAME to FILE: .npy, raw (.u32 and so on) or\ntext; \"-\" prints it" },
    { 0, "define", "NAME=VALUE...", &set.defines, "define a macro; NAME defines it as 1" },
    { 'I', "include", "DIR...", &set.roots, "search DIR for headers" },
    { 0, "seed", "N", &set.seed, "run blocks and warps in another order; default: 0,\nascending" },
    { 0, "seeds", "N", &set.seeds, "run N times, with the seeds from --seed upward; default: 1" },
    { 0, "yield", "N", &set.yield,
      "a block gives way to another one before every N-th store or\natomic operation on global "
      "memory, on average" },
    { 0, "weak", NULL, &set.weak, "other blocks see stores to global memory late" },
    { 0, "threads", "N", &set.threads, "run blocks on N CPU threads; 0: all; default: 1" },
    { 0, "sm", "N", &set.sm, "report the compute capability N; default: 90" },
    { 0, "html", "FILE", &set.html, "write a page that shows each step of a block" },
    { 0, "record", "BLOCK", &set.record, "with --html: the number of this block; default: 0" },
    { 0, "json", NULL, &set.json, "print JSON" },
    { 0, NULL, NULL, NULL, NULL },
};

enum { EVENTS = 3000 /* of the page */ };

/* ---- Words ---- */

/* 8, 8x4 or 8x4x2 */
static int parse_extent(const char *option, const char *text, unsigned extent[3])
{
    char part[32];
    uint64_t value;
    const char *whole = text;
    extent[0] = extent[1] = extent[2] = 1;
    for (int i = 0; text; i++) {
        const size_t length = strcspn(text, "x");
        if (i == 3 || length >= sizeof part || length == 0)
            return cli_fail(EXIT_BAD, "--%s: \"%s\" is not of the form X, XxY or XxYxZ", option,
                            whole);
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        int code = cli_parse_count(option, part, &value);
        if (code != EXIT_DONE) return code;
        if (value == 0 || value > INT32_MAX)
            return cli_fail(EXIT_BAD, "--%s: %s is not between 1 and 2^31 - 1", option, part);
        extent[i] = (unsigned)value;
        text = text[length] ? text + length + 1 : NULL;
    }
    return EXIT_DONE;
}

static int parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
                        uint64_t *value)
{
    if (!text) return EXIT_DONE;
    int code = cli_parse_count(option, text, value);
    if (code != EXIT_DONE) return code;
    if (*value >= least && *value <= most) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--%s is %s; it must be between %llu and %llu", option, text,
                    (unsigned long long)least, (unsigned long long)most);
}

static int parse_launch(struct emulate_launch *l)
{
    uint64_t yield = 0, sm = 0;
    int threads = 1, code;
    *l = (struct emulate_launch){ .seeds = 1, .events = set.html ? EVENTS : 0 };
    if ((code = parse_extent("grid", set.grid, l->grid)) != EXIT_DONE ||
        (code = parse_extent("block", set.block, l->block)) != EXIT_DONE ||
        (code = parse_extent("cluster", set.cluster, l->cluster)) != EXIT_DONE ||
        (code = parse_number("shared", set.shared, 0, UINT32_MAX, &l->shared_bytes)) != EXIT_DONE ||
        (code = parse_number("seed", set.seed, 0, UINT64_MAX / 2, &l->seed)) != EXIT_DONE ||
        (code = parse_number("seeds", set.seeds, 1, 1 << 20, &l->seeds)) != EXIT_DONE ||
        (code = parse_number("yield", set.yield, 0, 1 << 20, &yield)) != EXIT_DONE ||
        (code = parse_number("sm", set.sm, 75, 999, &sm)) != EXIT_DONE ||
        (code = parse_number("record", set.record, 0,
                             (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] - 1, &l->record)) !=
            EXIT_DONE)
        return code;
    if (set.threads && (code = cli_parse_threads(set.threads, &threads)) != EXIT_DONE) return code;
    if (threads > 256)
        return cli_fail(EXIT_BAD, "--threads is %s; the maximum is 256", set.threads);
    /* Options that are not given keep the values of ECHELON_SIMT. */
    int n = snprintf(l->options, sizeof l->options, "keep,check%s", set.weak ? ",weak=1" : "");
    if (set.yield)
        n += snprintf(l->options + n, sizeof l->options - (size_t)n, ",yield=%llu",
                      (unsigned long long)yield);
    if (set.sm)
        n += snprintf(l->options + n, sizeof l->options - (size_t)n, ",sm=%llu",
                      (unsigned long long)sm);
    if (set.threads)
        snprintf(l->options + n, sizeof l->options - (size_t)n, ",threads=%d", threads);
    return EXIT_DONE;
}

/* FILE.cu:KERNEL is divided at the last colon that is not part of "::", unless it is a file. */
static int parse_operand(char *word, struct compile *c)
{
    char *colon = NULL;
    for (char *at = word; *at; at++) {
        if (*at != ':') continue;
        if (at[1] == ':')
            at++;
        else
            colon = at;
    }
    if (!colon || !colon[1] || colon == word || access(word, F_OK) == 0) {
        if (colon && colon[1]) colon = NULL;
        if (colon && colon != word) *colon = 0;
        c->source = word;
        c->kernel = "";
    } else {
        *colon = 0;
        c->source = word;
        c->kernel = colon + 1;
    }
    for (const char *at = c->kernel; *at; at++)
        if (*at == '"' || *at == '\\' || *at == ';' || *at == '{' || *at < ' ')
            return cli_fail(EXIT_BAD, "\"%s\" is not the name of a kernel", c->kernel);
    return EXIT_DONE;
}

static int check_usage(int count)
{
    if (set.json && set.html && strcmp(set.html, "-") == 0)
        return cli_fail(EXIT_BAD, "--json cannot be combined with --html -");
    if (count == 0)
        return cli_fail(EXIT_BAD, "no kernel: give one, for example echelon emulate "
                                  "reduce.cu:reduce --grid 8 --block 256 --arg n=1000");
    if (set.record && !set.html) return cli_fail(EXIT_BAD, "--record needs --html");
    for (int i = 0; i < set.defines.count; i++) {
        const char *word = set.defines.words[i];
        if (*word == '=' || (*word >= '0' && *word <= '9'))
            return cli_fail(EXIT_BAD, "--define \"%s\": use NAME or NAME=VALUE", word);
    }
    return EXIT_DONE;
}

/* ---- The command ---- */

/* Whether an array or the page is printed on standard output. */
static bool prints_data(const struct emulate_arguments *a)
{
    bool data = set.html && strcmp(set.html, "-") == 0;
    for (int i = 0; i < a->count; i++)
        data |= a->list[i].output && strcmp(a->list[i].output, "-") == 0;
    return data;
}

/* Runs the kernel.  What it prints with printf() goes to standard error if standard output has
 * data or JSON. */
static int run_kernel(struct emulator_device *device, CUkernel kernel,
                      const struct emulate_launch *l, struct emulate_arguments *a)
{
    int saved = -1;
    fflush(stdout);
    if (set.json || prints_data(a))
        saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    int code = emulate_run(device, kernel, l, a);
    fflush(stdout);
    if (saved >= 0) {
        dup2(saved, STDOUT_FILENO);
        close(saved);
    }
    return code;
}

static int report(const struct compile *c, const struct emulate_launch *l,
                  const struct emulate_arguments *a, const struct emulator *emulator)
{
    struct emulate_report r = { .compile = c, .launch = l, .arguments = a, .emulator = emulator };
    const bool printed = prints_data(a); /* on standard output: the report is not */
    emulate_take(&r);
    if (set.json)
        emulate_json(&r, false, printed ? stderr : stdout);
    else
        emulate_text(&r, printed ? stderr : stdout);
    int code = set.html ? emulate_html(&r, set.html) : EXIT_DONE;
    if (code == EXIT_DONE) code = emulate_write(a);
    if (code == EXIT_DONE) code = r.finding_count ? EXIT_NO : EXIT_DONE;
    return code;
}

static int emulate(struct compile *c, const struct emulate_launch *l, struct emulate_arguments *a)
{
    struct emulator_device device;
    const struct simt_signature *signature;
    CUkernel kernel;
    const void *function;
    int code = emulate_open(&device, l->options);
    if (code != EXIT_DONE) return code;
    memcpy(&function, &device.emulator.set_options, sizeof function);
    code = compile_find(c, function);
    if (code == EXIT_DONE) code = compile_scan(c);
    if (code == EXIT_DONE) code = emulate_match(a, &c->text, c->found, c->source);
    if (code == EXIT_DONE) code = emulate_outputs(a, &set.outputs);
    if (code == EXIT_DONE) code = compile_module(c);
    if (code == EXIT_DONE) code = emulate_load_module(&device, c, &kernel, &signature);
    compile_remove();
    if (code == EXIT_DONE) code = emulate_load(a, c->found, signature);
    if (code == EXIT_DONE) code = run_kernel(&device, kernel, l, a);
    if (code == EXIT_DONE) code = report(c, l, a, &device.emulator);
    return code;
}

static int run(int count, char **operands)
{
    static struct emulate_arguments arguments;
    struct emulate_launch launch;
    struct compile c = { .exact_lines = true,
                         .defines = set.defines.words,
                         .roots = set.roots.words,
                         .define_count = set.defines.count,
                         .root_count = set.roots.count };
    int code = check_usage(count);
    if (code == EXIT_DONE) code = cli_check_writable(set.html);
    if (code == EXIT_DONE) code = parse_operand(operands[0], &c);
    if (code == EXIT_DONE) code = parse_launch(&launch);
    if (code == EXIT_DONE) code = emulate_parse(&arguments, &set.arguments);
    if (code == EXIT_DONE) code = emulate(&c, &launch, &arguments);
    compile_end(&c);
    emulate_free(&arguments);
    return code;
}

const struct command command_emulate = {
    .name = "emulate",
    .summary = "run your own CUDA kernel on the CPU: find faults, count transactions",
    .usage = "  echelon emulate FILE.cu:KERNEL [OPTION]...\n",
    .examples =
        "  echelon emulate sum.cu:sum --grid 8 --block 256 --arg in=a.npy --arg n=1000 \\\n"
        "      --arg out:f32:8 -o out=-\n"
        "  echelon emulate sum.cu:sum --grid 8 --block 256 ... --seeds 8    8 orders of blocks\n"
        "  echelon emulate tile.cu:tile --grid 8x8 --block 32x8 ... --html tile.html\n"
        "  echelon emulate 'scan.cu:scan<float, 4>' --shared 4096 ...       a template\n",
    .notes =
        "The C++ compiler of the system compiles FILE.cu for the SIMT emulator: $CXX, otherwise\n"
        "c++, g++ or clang++.  A CUDA toolkit and a GPU are not needed.  KERNEL may be omitted if\n"
        "there is only one.  The macro ECHELON_EMULATE is defined.\n\n"
        "Each parameter of the kernel needs one --arg, in any order:\n"
        "  n=1000                 a scalar of the type of the parameter; also 2^20, 4Ki, 1e-3\n"
        "  n:u32=1000             the same, and the parameter must have this type\n"
        "  in=FILE                an array: .npy, raw elements or text; the kernel may change it\n"
        "  in:f32=FILE            the same, and the elements must have this type\n"
        "  out:f32:1000           an array of 1000 elements, uninitialised\n"
        "  out:f32:1000=0         an array of 1000 elements with this value\n"
        "  next=null              a null pointer\n"
        "  a.n=1000               a member of the parameter a, which is a struct; in all forms\n\n"
        "Faults are races, missing barriers, uninitialised reads, accesses out of bounds and so\n"
        "on.  The table has one line for each line of the source that was executed: requests of\n"
        "warps to global memory and sectors per request, requests to shared memory and wavefronts\n"
        "per request, bank conflicts, divergent branches, and barriers and warp operations.  The\n"
        "counts are those of the first run.\n\n"
        "Exit status: 0 no faults; 1 faults; 2 usage error, or the kernel cannot be compiled; 3\n"
        "the emulator is not available.\n",
    .options = options,
    .repeated = (const char *const[]){ "arg", "output", "define", "include", NULL },
    .most_operands = 1,
    .run = run,
};
