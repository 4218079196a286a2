/*
 * ladder.c - "echelon ladder": runs the kernels of the course, from the simplest to the library's.
 *
 *     run()  options -> open the device -> for each ladder: check -> measure -> verify the claims
 *            -> ladder_table.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    struct ladder_setting_words settings;
    const char *rung, *n, *input, *seed, *plot, *try_file;
    bool check, json, csv;
    const char *html;
} set;

static const struct option options[] = {
    { 0, "rung", "NUMBER", &set.rung, "run only this rung" },
    { 'N', "n", "COUNT[,COUNT]...", &set.n,
      "numbers of elements: 1000, 2^20; default: the sizes of the\nladder" },
    { 'y', "type", "TYPE", &set.job.type, "element type; default: the first type of the ladder" },
    { 0, "bits", "BEGIN:END", &set.settings.bits,
      "warp: sort by these bits only; 0:10 are the bits 0 to 9" },
    { 0, "digit-bits", "COUNT", &set.settings.digit_bits, "warp: the number of bits per pass" },
    { 0, "columns", "COUNT", &set.settings.columns, "column_merge: the number of columns" },
    { 0, "input", "FILE", &set.input, "process this column of numbers: .npy, raw or text" },
    { 'o', "output", "FILE", &set.job.output,
      "with --input: write the result of the last rung to FILE,\nwhich may be the input" },
    { 0, "format", "FORMAT", &set.job.format, "format of --input: npy, raw or text" },
    { 0, "try", "FILE", &set.try_file,
      "run the kernels of FILE, which have the names of those of a\nrung, on the SIMT emulator "
      "next "
      "to the rungs" },
    { 'D', "device", "DEVICE", &set.job.device,
      "cuda, cuda:1, or simt: the SIMT emulator; default: the\nfirst GPU, otherwise simt" },
    { 'c', "check", NULL, &set.check, "only check the results, for all sizes and types" },
    { 0, "seed", "N", &set.seed, "for simt: run blocks and warps in another order" },
    { 0, "json", NULL, &set.json, "print JSON" },
    { 0, "csv", NULL, &set.csv, "print CSV" },
    { 0, "plot", "FILE", &set.plot, "write a chart of the rungs to FILE, as SVG" },
    { 0, "html", "FILE", &set.html,
      "write a page with charts, tables and claims to FILE, as\nHTML" },
    { 0, NULL, NULL, NULL, NULL },
};

enum { MOST_SIZES = 64 };

static struct {
    struct ladder_device device;
    int rung; /* 0: all */
    uint64_t sizes[MOST_SIZES + 1];
    bool sizes_given;
    int type; /* -1: the first type of each ladder */
    struct ladder_settings settings;
    struct job job; /* --input */
    bool input;
    void *out;
} plan;

/* ---- Words ---- */

static const struct ladder *find_ladder(const char *name)
{
    const char *names[64];
    for (int i = 0; i < ladder_count; i++) {
        names[i] = ladders[i]->name;
        if (strcmp(name, names[i]) == 0) return ladders[i];
    }
    cli_unknown("ladder", name, names, ladder_count);
    return NULL;
}

static int parse_sizes(void)
{
    char text[512];
    int count = 0;
    plan.sizes[0] = LADDER_END;
    if (!set.n) return EXIT_DONE;
    plan.sizes_given = true;
    const size_t length = strlen(set.n);
    if (length >= sizeof text)
        return cli_fail(EXIT_BAD, "--n is too long: %zu characters; the maximum is %zu", length,
                        sizeof text - 1);
    memcpy(text, set.n, length + 1);
    for (char *at = text, *next; at; at = next) {
        next = strchr(at, ',');
        if (next) *next++ = 0;
        if (count == MOST_SIZES)
            return cli_fail(EXIT_BAD, "--n is \"%s\"; the maximum is %d sizes", set.n, MOST_SIZES);
        int code = cli_parse_count("n", at, &plan.sizes[count++]);
        if (code != EXIT_DONE) return code;
    }
    plan.sizes[count] = LADDER_END;
    return EXIT_DONE;
}

static bool has_type(const struct ladder *ladder, const char *type)
{
    size_t length = strlen(type);
    for (const char *at = ladder->types; (at = strstr(at, type)) != NULL; at += length)
        if ((at == ladder->types || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

static int most_rung(const struct ladder *ladder)
{
    return ladder->rungs[ladder->rung_count - 1].number;
}

/* Checks the options that depend on the ladder. */
static int check_ladder(const struct ladder *ladder, bool one)
{
    if (plan.rung > most_rung(ladder) || plan.rung < 0)
        return cli_fail(EXIT_BAD, "--rung is %s; %s has the rungs 1 to %d", set.rung, ladder->name,
                        most_rung(ladder));
    if (set.job.type && !set.input && !has_type(ladder, set.job.type))
        return cli_fail(EXIT_BAD, "--type is %s; %s supports %s", set.job.type, ladder->name,
                        ladder->types);
    if (set.input && (!one || !ladder->takes_input))
        return cli_fail(EXIT_BAD,
                        "--input needs one ladder that processes a column of numbers, not %s",
                        one ? ladder->name : "all");
    return ladder_check_settings(ladder, one, &set.settings);
}

static int check_usage(const char *name)
{
    uint64_t rung = 0;
    int code = parse_sizes();
    if (code == EXIT_DONE && set.rung) code = cli_parse_count("rung", set.rung, &rung);
    if (code == EXIT_DONE && set.job.type) code = cli_parse_dtype(set.job.type, &plan.type);
    if (code == EXIT_DONE) code = ladder_parse_settings(&set.settings, &plan.settings);
    if (code != EXIT_DONE) return code;
    plan.rung = rung > 1000 ? 1000 : (int)rung;
    if (set.rung && rung == 0) plan.rung = -1;
    if (set.json && set.csv) return cli_fail(EXIT_BAD, "--json cannot be combined with --csv");
    if (set.input && set.n)
        return cli_fail(EXIT_BAD, "--n generates data and cannot be combined with --input");
    if (set.job.output && !set.input) return cli_fail(EXIT_BAD, "--output needs --input");
    if (set.check && (set.input || set.n || set.plot))
        return cli_fail(EXIT_BAD, "--check uses sizes of its own and cannot be combined with --%s",
                        set.input ? "input"
                        : set.n   ? "n"
                                  : "plot");
    if ((set.plot || set.try_file) && strcmp(name, "all") == 0)
        return cli_fail(EXIT_BAD, "--%s needs one ladder, not all", set.plot ? "plot" : "try");
    if (set.try_file && set.job.output)
        return cli_fail(EXIT_BAD, "--output cannot be combined with --try");
    if (set.try_file && !set.job.device) set.job.device = "simt";
    if (set.try_file && strcmp(set.job.device, "simt") != 0)
        return cli_fail(EXIT_BAD, "--try runs on the SIMT emulator; use --device simt, not %s",
                        set.job.device);
    code = cli_check_outputs((const char *[]){ set.job.output, set.plot }, 2);
    if (code != EXIT_DONE) return code;
    return cli_check_output("plot", set.plot, (const char *[]){ set.input }, 1);
}

static int check_html(void)
{
    if (!set.html) return EXIT_DONE;
    if (set.check)
        return cli_fail(EXIT_BAD,
                        "--check uses sizes of its own and cannot be combined with --html");
    int code = cli_check_outputs((const char *[]){ set.job.output, set.plot, set.html }, 3);
    if (code != EXIT_DONE) return code;
    return cli_check_output("html", set.html, (const char *[]){ set.input, set.try_file }, 2);
}

/* ---- Running ---- */

static bool wanted(const struct rung *rung)
{
    if (plan.input && rung->own_data) return false;
    return plan.rung == 0 || rung->number == plan.rung;
}

static uint64_t at_most(const struct rung *rung, uint64_t n)
{
    return rung->most && n > rung->most ? rung->most : n;
}

static int device_failed(const struct ladder *ladder, const struct rung *rung)
{
    return cli_fail(EXIT_DEVICE, "%s %d (%s): %s", ladder->name, rung->number, rung->idea,
                    plan.device.message);
}

static int check_type(struct ladder_report *report, ech_dtype type)
{
    const struct ladder *ladder = report->results.ladder;
    for (int i = 0; i < ladder->rung_count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        for (int k = 0; wanted(rung) && ladder->checked[k] != LADDER_END; k++) {
            struct result result;
            uint64_t n = ladder->checked[k];
            if (rung->most && n > rung->most) continue;
            if (!ladder_check(&plan.device, ladder, rung, type, n, (uint64_t)(k % LADDER_SEEDS),
                              NULL, &result))
                return device_failed(ladder, rung);
            report->checks++;
            if (result.right) continue;
            report->wrong++;
            fprintf(stderr, "%s %d (%s), %s, n = %" PRIu64 ": %s\n", ladder->name, rung->number,
                    rung->idea, ech_dtype_name(type), n, result.message);
        }
    }
    return set.try_file ? ladder_try_check(report, type) : EXIT_DONE;
}

static int check_all_types(struct ladder_report *report)
{
    char types[128];
    int code = EXIT_DONE;
    snprintf(types, sizeof types, "%s", report->results.ladder->types);
    for (char *type = strtok(types, " "); type && code == EXIT_DONE; type = strtok(NULL, " "))
        if (!set.job.type || strcmp(type, set.job.type) == 0)
            code = check_type(report, (ech_dtype)ech_dtype_from_name(type));
    return code;
}

static ech_dtype type_of(const struct ladder *ladder)
{
    char first[16];
    if (plan.input) return plan.job.column.dtype;
    if (plan.type >= 0) return (ech_dtype)plan.type;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(ladder->types, " "), ladder->types);
    return (ech_dtype)ech_dtype_from_name(first);
}

static int measure_one(struct ladder_report *report, const struct rung *rung, uint64_t n)
{
    const struct ladder *ladder = report->results.ladder;
    struct ladder_data data = { plan.job.column.keys, plan.out, n };
    struct result result;
    if (!ladder_measure(&plan.device, ladder, rung, type_of(ladder), n, plan.input ? &data : NULL,
                        &result))
        return device_failed(ladder, rung);
    if (!result.right) {
        report->wrong++;
        fprintf(stderr, "%s %d (%s), n = %" PRIu64 ": %s\n", ladder->name, rung->number, rung->idea,
                n, result.message);
    }
    return ladder_keep(&report->results, &result) ? EXIT_DONE
                                                  : cli_fail(EXIT_MEMORY, "out of memory");
}

/* A rung whose maximum is below n is measured once, at its maximum or at a smaller size. */
static bool was_measured(const struct results *results, const struct rung *rung, uint64_t n)
{
    for (int i = 0; i < results->count; i++)
        if (results->rows[i].rung == rung && rung->most && n > rung->most) return true;
    return false;
}

static int measure(struct ladder_report *report)
{
    const struct ladder *ladder = report->results.ladder;
    uint64_t of_input[] = { plan.job.column.n, LADDER_END };
    const uint64_t *sizes = plan.input         ? of_input
                            : plan.sizes_given ? plan.sizes
                            : plan.device.simt ? ladder->counted
                                               : ladder->timed;
    for (int k = 0; sizes[k] != LADDER_END; k++) {
        for (int i = 0; i < ladder->rung_count; i++) {
            const struct rung *rung = &ladder->rungs[i];
            if (!wanted(rung) || was_measured(&report->results, rung, sizes[k])) continue;
            if (plan.input && rung->most && sizes[k] > rung->most) {
                fprintf(stderr, "%s %d (%s) is skipped: its maximum is %" PRIu64 " %s\n",
                        ladder->name, rung->number, rung->idea, rung->most, ladder->unit);
                continue;
            }
            const uint64_t n = at_most(rung, sizes[k]);
            int code = measure_one(report, rung, n);
            const struct ladder_data data = { plan.job.column.keys, NULL, n };
            if (code == EXIT_DONE && set.try_file && rung->number == ladder_try_number())
                code =
                    ladder_try_measure(report, rung, type_of(ladder), n, plan.input ? &data : NULL);
            if (code != EXIT_DONE) return code;
        }
    }
    return EXIT_DONE;
}

static void judge(struct ladder_report *report)
{
    const struct ladder *ladder = report->results.ladder;
    report->whole = plan.rung == 0 && !plan.sizes_given && !set.try_file && !plan.input &&
                    !set.job.type && !ladder_has_settings(&plan.settings) && report->wrong == 0 &&
                    report->results.count > 0;
    if (ladder->claim_count > LADDER_CLAIMS) {
        report->whole = false;
        report->wrong++;
        fprintf(stderr, "%s: more than %d claims\n", ladder->name, LADDER_CLAIMS);
    }
    for (int i = 0; i < ladder->claim_count; i++) {
        const struct claim *claim = &ladder->claims[i];
        if (!ladder_judges(report, claim)) continue;
        report->holds[i] =
            claim->holds(&report->results, report->because[i], sizeof report->because[i]);
        /* Counts are reproducible, so a false claim is an error.  Times depend on the machine. */
        if (!report->holds[i] && !claim->of_gpu) {
            report->wrong++;
            fprintf(stderr, "%s: verification failed: %s: %s\n", ladder->name, claim->text,
                    report->because[i]);
        }
    }
}

static int run_ladder(const struct ladder *ladder, struct ladder_report *report)
{
    int code;
    ladder = ladder_adapt(ladder, &plan.settings);
    report->results = (struct results){ .ladder = ladder, .device = &plan.device };
    bool any = false;
    for (int i = 0; i < ladder->rung_count; i++) any = any || wanted(&ladder->rungs[i]);
    if (!any && ladder_has_settings(&plan.settings))
        return cli_fail(EXIT_BAD, "rung %d of %s does not support the given --bits or --columns",
                        plan.rung, ladder->name);
    if (set.try_file && (code = ladder_try_open(&plan.device, ladder, type_of(ladder), set.try_file,
                                                plan.rung)) != EXIT_DONE)
        return code;
    if (set.check) return check_all_types(report);
    if (!plan.input && (code = check_type(report, type_of(ladder))) != EXIT_DONE) return code;
    code = measure(report);
    if (code == EXIT_DONE && plan.input && report->results.count == 0)
        code = cli_fail(EXIT_BAD, "%s: no selected rung supports %" PRIu64 " %s", set.input,
                        plan.job.column.n, ladder->unit);
    if (code == EXIT_DONE) judge(report);
    return code;
}

/* ---- The user's data ---- */

static int load_input(const struct ladder *ladder)
{
    if (!set.input) return EXIT_DONE;
    plan.job.input = set.input;
    cli_progress_start(&plan.job.progress);
    int code = job_load(&plan.job, &set.job);
    if (code != EXIT_DONE) return code;
    plan.input = true;
    const char *type = ech_dtype_name(plan.job.column.dtype);
    if (!has_type(ladder, type))
        return cli_fail(EXIT_BAD,
                        "%s: has numbers of type %s, but %s supports %s; --type selects "
                        "the type of text",
                        set.input, type, ladder->name, ladder->types);
    plan.out = malloc(ladder_out_bytes(ladder, plan.job.column.dtype, plan.job.column.n) + 1);
    return plan.out ? EXIT_DONE : cli_fail(EXIT_MEMORY, "out of memory for the result");
}

static int write_output(const struct ladder *ladder, struct io_output *output)
{
    struct io_error error;
    ech_dtype dtype = ladder->out_type >= 0 ? (ech_dtype)ladder->out_type : plan.job.column.dtype;
    uint64_t n =
        ladder_out_bytes(ladder, plan.job.column.dtype, plan.job.column.n) / ech_dtype_bytes(dtype);
    int code = job_plan_output(&plan.job, &set.job, output, dtype);
    if (code != EXIT_DONE) return code;
    stage_begin(&plan.job, STAGE_WRITE);
    io_status status = write_values(output, plan.job.out_format, dtype, plan.out, n, &error);
    return job_commit(&plan.job, output, status, &error);
}

/* ---- The command ---- */

static void list(void)
{
    printf("%-14s %5s  %-18s %s\n", "ladder", "rungs", "types", "");
    for (int i = 0; i < ladder_count; i++)
        printf("%-14s %5d  %-18s %s\n", ladders[i]->name, most_rung(ladders[i]), ladders[i]->types,
               ladders[i]->summary);
}

static int report_all(const struct ladder_report *reports, int count)
{
    uint64_t checks = 0, wrong = 0;
    /* If the result or a chart is written to standard output, the report is not. */
    const char *const outputs[] = { set.job.output, set.plot, set.html };
    FILE *to = stdout;
    for (int i = 0; i < 3; i++)
        if (outputs[i] && strcmp(outputs[i], "-") == 0) to = stderr;
    for (int i = 0; i < count; i++) {
        checks += reports[i].checks;
        wrong += reports[i].wrong;
    }
    if (set.check)
        fprintf(to, "%" PRIu64 " checked, %" PRIu64 " wrong\n", checks, wrong);
    else if (set.json)
        ladder_json(reports, count, to);
    else if (set.csv)
        ladder_csv(reports, count, to);
    else
        ladder_text(reports, count, to);
    return wrong ? EXIT_NO : EXIT_DONE;
}

static int create_output(struct io_output *output, const char *path)
{
    struct io_error error;
    io_status status = path ? io_create(output, path, &error) : IO_OK;
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static int run_all(const struct ladder *const *list_of, int count)
{
    struct io_output output = { .fd = -1 }, html = { .fd = -1 };
    int done = 0;
    struct ladder_report *reports = calloc((size_t)count, sizeof *reports);
    if (!reports) return cli_fail(EXIT_MEMORY, "out of memory");
    /* Before the long part, so that a path that cannot be written fails at once. */
    int code = create_output(&output, set.job.output);
    if (code == EXIT_DONE) code = create_output(&html, set.html);
    if (code == EXIT_DONE) code = load_input(list_of[0]);
    while (code == EXIT_DONE && done < count) {
        code = run_ladder(list_of[done], &reports[done]);
        done++;
    }
    if (code == EXIT_DONE) {
        code = report_all(reports, count);
        /* The page also shows wrong results. */
        int written = set.html ? ladder_html(reports, count, &html) : EXIT_DONE;
        if (written != EXIT_DONE) code = written;
    }
    if (code == EXIT_DONE && set.job.output) code = write_output(list_of[0], &output);
    if (code == EXIT_DONE && set.plot) code = ladder_plot(&reports[0], set.plot);
    if (set.job.output) io_discard(&output);
    if (set.html) io_discard(&html);
    for (int i = 0; i < count; i++) free(reports[i].results.rows);
    free(reports);
    free(plan.out);
    io_free_column(&plan.job.column);
    return code;
}

/* Whether an option is given. */
static bool has_options(void)
{
    for (const struct option *o = options; o->name; o++)
        if (o->value ? *(const char *const *)o->target != NULL : *(const bool *)o->target)
            return true;
    return false;
}

static int run(int count, char **operands)
{
    const struct ladder *one[1];
    plan.type = -1;
    if (count == 0) {
        if (has_options())
            return cli_fail(EXIT_BAD, "no ladder: name one, or all; echelon ladder lists them");
        list();
        return EXIT_DONE;
    }
    bool all = strcmp(operands[0], "all") == 0;
    if (!all && !(one[0] = find_ladder(operands[0]))) return EXIT_BAD;
    const struct ladder *const *list_of = all ? ladders : one;
    int code = check_usage(operands[0]);
    if (code == EXIT_DONE) code = check_html();
    for (int i = 0; code == EXIT_DONE && i < (all ? ladder_count : 1); i++)
        code = check_ladder(list_of[i], !all);
    if (code != EXIT_DONE) return code;
    if (!ladder_open(&plan.device, set.job.device))
        return cli_fail(EXIT_DEVICE, "%s", plan.device.message);
    if (set.seed && plan.device.simt) {
        char words[64], message[256];
        uint64_t seed = 0;
        code = cli_parse_count("seed", set.seed, &seed);
        snprintf(words, sizeof words, "seed=%" PRIu64, seed);
        if (code == EXIT_DONE && !plan.device.emulator.set_options(words, message, sizeof message))
            code = cli_fail(EXIT_BAD, "%s", message);
    }
    if (code == EXIT_DONE) code = run_all(list_of, all ? ladder_count : 1);
    ladder_try_close();
    ladder_close(&plan.device);
    return code;
}

static const char *ladder_word(int i)
{
    return i < ladder_count ? ladders[i]->name : i == ladder_count ? "all" : NULL;
}

static const struct cli_value values[] = {
    { "NAME", CLI_WORDS, NULL, ladder_word },
    { "DEVICE", CLI_WORDS, "cuda simt", NULL },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_ladder = {
    .name = "ladder",
    .summary = "run the kernels of the GPU course, check and measure them",
    .usage = "  echelon ladder\n"
             "  echelon ladder NAME [OPTION]...\n",
    .examples = "  echelon ladder                              list the ladders\n"
                "  echelon ladder reduce                       check and measure every rung\n"
                "  echelon ladder reduce --device simt         without a GPU: transaction counts\n"
                "  echelon ladder bitonic --rung 2 --input keys.npy -o sorted.npy\n"
                "  echelon ladder all --html ladders.html      charts of all ladders as one page\n"
                "  echelon ladder all --check --device simt    only check the results\n"
                "  echelon ladder reduce --try my_kernel.cu    your own kernel next to the rungs\n",
    .notes =
        "A ladder is a series of small kernels for one problem, from the simplest to the\n"
        "library's own.  Each rung adds one idea; the sources are in ladder/NAME.  The results\n"
        "of each rung are compared with the CPU at irregular sizes, then the rung is measured.\n\n"
        "On a GPU, the table has the median time with cold caches, and the percentage of peak:\n"
        "of the bandwidth of a copy, or of the peak arithmetic throughput.  On the SIMT emulator\n"
        "it has counts: sectors per request of a warp (at least 4 for 32 words), bank conflicts\n"
        "with 32 banks and with the 16 banks of the first GPUs, divergent branches, barriers and\n"
        "races.\n\n"
        "--try compiles FILE with the C++ compiler of the system, as \"echelon emulate\" does.  "
        "It\n"
        "defines one or more kernels of a rung, for example reduce_3, with the same parameters, "
        "and\n"
        "may include \"ladder/ladder.cuh\".  --rung selects the rung if the names do not.  With\n"
        "--type, the elements have this type.\n\n"
        "NAME \"all\" runs every ladder.  Exit status: 1 if a result is wrong or a claim about\n"
        "counts does not hold; 2 usage error; 3 device not available.\n",
    .options = options,
    .most_operands = 1,
    .run = run,
    .values = values,
};
