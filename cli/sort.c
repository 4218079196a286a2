/*
 * sort.c - "echelon sort": the options, and the decision between numbers and lines of text.
 *
 *     run()  options -> names of inputs -> order -> job_run(): read -> numbers or lines -> write
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

static struct sort_set set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.words.job),
    { 'r', "reverse", NULL, &set.words.reverse, "sort in descending order" },
    { 'u', "unique", NULL, &set.unique, "keep only the first of equal numbers, or equal keys" },
    { 'c', "check", "[=WORD]", &set.text.check,
      "write nothing; exit with 1 if INPUT is not sorted, or, with\n"
      "--unique, not strictly sorted; WORD: diagnose-first (default),\n"
      "or quiet or silent, as --check-quiet" },
    { 'C', "check-quiet", NULL, &set.text.check_quiet, "the same without a message" },
    { 'm', "merge", NULL, &set.text.merge, "merge inputs whose lines are sorted already" },
    { 0, "batch-size", "N", &set.text.batch_size,
      "merge at most N inputs at once, and more in several steps;\ndefault: as many as can be "
      "open" },
    { 'n', "numeric-sort", NULL, &set.text.numeric,
      "lines by the decimal number at the beginning, of any length" },
    { 'g', "general-numeric-sort", NULL, &set.text.general,
      "lines by the float at the beginning: 1e3, nan, inf" },
    { 'h', "human-numeric-sort", NULL, &set.text.human,
      "lines by a number with a unit: 2K before 1G" },
    { 'M', "month-sort", NULL, &set.text.month, "lines by a month: JAN before DEC" },
    { 'R', "random-sort", NULL, &set.text.random, "lines in random order, equal keys together" },
    { 'V', "version-sort", NULL, &set.text.version, "lines by versions: a-1.9 before a-1.10" },
    { 0, "sort", "WORD", &set.text.sort,
      "general-numeric, human-numeric, month, numeric, random or\nversion: as the letters above" },
    { 0, "string", NULL, &set.text.string, "lines by their bytes, even if they are numbers" },
    { 'b', "ignore-leading-blanks", NULL, &set.text.blanks, "ignore blanks before a key" },
    { 'd', "dictionary-order", NULL, &set.text.dictionary,
      "compare only blanks, letters and digits" },
    { 'f', "ignore-case", NULL, &set.text.fold, "compare lower case as upper case" },
    { 'i', "ignore-nonprinting", NULL, &set.text.nonprinting, "compare only printable characters" },
    { 'k', "key", "KEY", &set.text.keys,
      "lines by this key, as FIELD[.CHARACTER][LETTERS][,FIELD...]\nor NAME[:LETTERS]; records of "
      "a .npy array by NAME[:desc];\nmay be repeated" },
    { 't', "delimiter", "CHAR", &set.words.job.delimiter,
      "field separator, also tab, \\t or \\0; default for keys: blanks,\nwhich belong to the field "
      "that follows; for --column: see below" },
    { 0, "field-separator", "CHAR", &set.text.separator, "the same as --delimiter" },
    { 's', "stable", NULL, &set.text.stable,
      "lines with equal keys keep their order; default: they are\nsorted by their bytes" },
    { 'z', "zero-terminated", NULL, &set.text.zero, "lines end in a zero byte" },
    { 0, "csv", NULL, &set.text.csv,
      "fields of RFC 4180: quotes may enclose a separator or a newline" },
    { 0, "header", NULL, &set.words.job.header,
      "the first line of each INPUT is a header, which stays first" },
    { 0, "no-header", NULL, &set.words.job.no_header,
      "it is not; default for --column: it is if COLUMN is a name, or\nif its column is text and "
      "that of the second line is a number" },
    { 0, "files0-from", "FILE", &set.text.files0,
      "read the names of the inputs from FILE; each ends in a zero\nbyte" },
    { 0, "random-source", "FILE", &set.text.random_source,
      "take the 16 bytes that determine a random order from FILE" },
    { 0, "debug", NULL, &set.text.debug,
      "underline the keys of each line, and warn of surprising keys" },
    { 0, "argsort", NULL, &set.words.argsort,
      "write the position in INPUT of each sorted number, counted\nfrom 0" },
    { 0, "rows", "COLUMNS", &set.rows,
      "sort each row of COLUMNS numbers, or lines; default: the rows\nof a .npy array with two "
      "dimensions" },
    { 0, "axis", "AXIS", &set.axis,
      "for a .npy array with two dimensions: 1 sorts each row\n(default), 0 each column" },
    SORT_COLUMN_OPTIONS(set.words),
    { 0, "column", "COLUMN", &set.words.job.column,
      "lines by exactly this column as a number: its number, counted\nfrom 1, or its name in the "
      "first line" },
    JOB_DEVICE_OPTIONS(set.words.job),
    { 0, "distributed", NULL, &set.distributed,
      "this process is a rank of mpirun, and each rank sorts a part of\nINPUT; see below" },
    { 0, "time-limit", "SECONDS", &set.time_limit,
      "a rank that waits longer for another one fails; default: 14400" },
    { 0, "parallel", "N", &set.text.parallel, "the same as --threads" },
    { 'S', "memory", "BYTES", &set.words.job.memory,
      "use at most this memory: 500M, 8Gi, 50%; also limits device\nmemory; default: 3/4 of what "
      "is available" },
    { 'T', "temporary-directory", "DIR", &set.files.directories,
      "temporary files of sorts larger than memory are in DIR; may be\nrepeated; default: $TMPDIR, "
      "or /tmp" },
    { 0, "record", "BYTES", &set.files.record,
      "INPUT has records of this size; --key is OFFSET:BYTES or\nOFFSET:TYPE" },
    { 0, "verify", NULL, &set.files.verify,
      "check the order and a checksum of the output before it\nreplaces a file" },
    { 0, "consume", NULL, &set.files.consume, "remove the inputs when the output is complete" },
    { 0, "resume", "[=WORD]", &set.files.resume,
      "keep temporary files if the sort is interrupted, and continue\nan interrupted one; WORD: "
      "restart begins again, discard removes\nwhat is kept" },
    { 0, "dry-run", NULL, &set.files.dry_run, "print the plan of memory and passes" },
    { 0, "algorithm", "NAME", &set.words.algorithm,
      "use this algorithm; \"echelon explain sort\" lists them" },
    JOB_REPORT_OPTIONS(set.words.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Combinations ---- */

/* An option, and whether it is given. */
struct given {
    bool given;
    const char *name;
};

static const char *first_given(const struct given *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].given) return list[i].name;
    return NULL;
}

/* A letter that determines what a key is. */
static const char *kind_option(void)
{
    const struct sort_lines_words *t = &set.text;
    const struct given list[] = {
        { t->numeric, "numeric-sort" },     { t->general, "general-numeric-sort" },
        { t->human, "human-numeric-sort" }, { t->month, "month-sort" },
        { t->random, "random-sort" },       { t->version, "version-sort" },
        { t->sort != NULL, "sort" },
    };
    return first_given(list, sizeof list / sizeof *list);
}

/* The first option that is only for lines; with --record, --key has another meaning, and records
 * with equal keys keep their order. */
static const char *line_option(void)
{
    const struct sort_lines_words *t = &set.text;
    const struct given list[] = {
        { t->keys.count > 0 && !set.files.records, "key" },
        { t->string, "string" },
        { t->blanks, "ignore-leading-blanks" },
        { t->dictionary, "dictionary-order" },
        { t->fold, "ignore-case" },
        { t->nonprinting, "ignore-nonprinting" },
        { t->stable && !set.files.records, "stable" },
        { t->zero, "zero-terminated" },
        { t->csv, "csv" },
        { t->merge, "merge" },
        { t->debug, "debug" },
        { t->random_source != NULL, "random-source" },
        { t->separator != NULL, "field-separator" },
        { set.words.job.delimiter && !set.words.job.column, "delimiter" },
    };
    const char *kind = kind_option();
    return kind ? kind : first_given(list, sizeof list / sizeof *list);
}

/* The first option that is only for numbers. */
static const char *number_option(void)
{
    const struct sort_words *w = &set.words;
    const struct given list[] = {
        { w->job.column != NULL, "column" },   { w->job.type != NULL, "type" },
        { w->bits != NULL, "bits" },           { w->argsort, "argsort" },
        { set.rows != NULL, "rows" },          { set.axis != NULL, "axis" },
        { w->algorithm != NULL, "algorithm" }, { w->job.format != NULL, "format" },
        { w->order != NULL, "order" },
    };
    return first_given(list, sizeof list / sizeof *list);
}

/* The first option that is only for the numbers of one input. */
static const char *single_option(void)
{
    const struct sort_words *w = &set.words;
    const struct given list[] = {
        { w->job.column != NULL, "column" },
        { set.rows != NULL, "rows" },
        { set.axis != NULL, "axis" },
        { w->algorithm != NULL, "algorithm" },
        { w->job.format && strcmp(w->job.format, "text") == 0, "format text" },
    };
    return first_given(list, sizeof list / sizeof *list);
}

/* Whether several inputs are arrays: an option or the extension of the first one means numbers. */
static bool are_arrays(const struct sort_text *text, const char *number)
{
    const int format = io_format_from_extension(text->names[0]);
    return number || format == IO_NPY || format == IO_RAW;
}

/* --check=WORD, whose words may be abbreviated. */
static int parse_check(void)
{
    static const char *const words[] = { "diagnose-first", "quiet", "silent" };
    const int n = (int)(sizeof words / sizeof *words);
    const struct cli_optional *given = &set.text.check;
    int i = 0;
    if (given->given && given->value) {
        while (i < n && strncmp(words[i], given->value, strlen(given->value)) != 0) i++;
        if (i == n) return cli_unknown("word of --check", given->value, words, n);
    }
    if (i) set.text.check_quiet = true;
    set.check = given->given && i == 0;
    return EXIT_DONE;
}

static int conflict(const char *a, const char *b)
{
    return cli_fail(EXIT_BAD, "--%s cannot be combined with --%s", a, b);
}

/* Records, with an option that has no meaning for them. */
static int check_record(const char *line)
{
    const struct sort_words *w = &set.words;
    const struct job_words *job = &w->job;
    const struct given list[] = {
        { line != NULL, line },
        { job->header, "header" },
        { job->no_header, "no-header" },
        { job->column != NULL, "column" },
        { job->type != NULL, "type" },
        { job->format && strcmp(job->format, set.files.record ? "raw" : "npy") != 0, "format" },
        { w->bits != NULL, "bits" },
        { set.rows != NULL, "rows" },
        { set.axis != NULL, "axis" },
    };
    const char *other = first_given(list, sizeof list / sizeof *list);
    if (!set.files.records || !other) return EXIT_DONE;
    if (set.files.record) return conflict("record", other);
    return cli_fail(EXIT_BAD, "--key of a .npy array cannot be combined with --%s", other);
}

/* The keys of a .npy array are fields, or columns, of its records. */
static bool has_array_keys(const struct sort_text *text)
{
    return set.text.keys.count && io_format_from_extension(text->names[0]) == IO_NPY;
}

/* --check, with an option that needs an output. */
static int check_check(const struct sort_text *text)
{
    const struct sort_lines_words *t = &set.text;
    const char *check = set.check ? "check" : "check-quiet", *files = sort_files_option(&set);
    if (set.check && t->check_quiet) return conflict("check", "check-quiet");
    if (set.files.records)
        return cli_fail(EXIT_BAD,
                        "--%s cannot be combined with %s; \"echelon check\" checks records", check,
                        set.files.record ? "--record" : "--key of a .npy array");
    if (files) return conflict(check, files);
    if (t->merge) return conflict(check, "merge");
    if (t->debug) return conflict(check, "debug");
    if (set.words.argsort || set.words.job.output)
        return cli_fail(EXIT_BAD, "--%s writes nothing and cannot be combined with --%s", check,
                        set.words.argsort ? "argsort" : "output");
    if (text->n_names > 1)
        return cli_fail(EXIT_BAD,
                        "--%s reads one input, and cannot be combined with \"%s\" and "
                        "\"%s\"",
                        check, text->names[0], text->names[1]);
    return EXIT_DONE;
}

static int check_combinations(const char *line, const char *number, const struct sort_text *text)
{
    const struct sort_lines_words *t = &set.text;
    const char *kind = kind_option();
    if (line && number && !set.files.records)
        return cli_fail(EXIT_BAD,
                        "--%s, which is for lines, cannot be combined with --%s, which is for "
                        "numbers",
                        line, number);
    const char *single = text->n_names > 1 ? single_option() : NULL;
    if (single)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with several inputs: \"%s\" and \"%s\"",
                        single, text->names[0], text->names[1]);
    if (t->string && kind) return conflict("string", kind);
    if (t->parallel && set.words.job.threads) return conflict("parallel", "threads");
    if (t->separator && set.words.job.delimiter) return conflict("field-separator", "delimiter");
    if (t->csv && t->zero) return conflict("csv", "zero-terminated");
    if (set.words.job.header && set.words.job.no_header) return conflict("header", "no-header");
    if (t->batch_size && !t->merge)
        return cli_fail(EXIT_BAD, "--batch-size limits the inputs of --merge, which is not given");
    if (t->debug && set.words.job.output) return conflict("debug", "output");
    return set.check || t->check_quiet ? check_check(text) : check_record(line);
}

/* ---- Run ---- */

/* The job and what it reads; the first member, so that a pointer can be converted. */
struct run {
    struct sort_job job;
    struct sort_text text;
    bool lines; /* an option, or several inputs that are not arrays, require lines */
};

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct run *run = (const struct run *)base;
    const bool numbers = !run->lines && (base->column.keys || !base->column.text);
    if (numbers) {
        sort_plan(&run->job, text, bytes);
        return;
    }
    char order[1024];
    lines_describe(run->text.order, order, sizeof order);
    snprintf(text, bytes, "order        %s\n", order);
}

/* Sorts as lines.  The report counts them: the column has the text, but no keys. */
static int run_lines(struct run *run, struct io_output *output)
{
    struct io_column *c = &run->job.base.column;
    run->lines = true;
    int code = job_plan_text(&set.words.job);
    if (code == EXIT_DONE && set.text.merge)
        code = sort_merge(&set, &run->job, &run->text, output);
    else if (code == EXIT_DONE)
        code = sort_lines(&set, &run->job, &run->text, output);
    c->format = IO_TEXT;
    c->text = run->text.text ? run->text.text : malloc(1);
    c->text_bytes = run->text.bytes;
    c->head_bytes = run->text.head;
    run->text.text = NULL;
    return code;
}

static int body(struct job *base, struct io_output *output)
{
    struct run *run = (struct run *)base;
    bool numbers = false, done;
    int code = sort_files(&set, &run->job, &run->text, run->lines, output, &done);
    if (code != EXIT_DONE || done) return code;
    if (!run->lines) code = sort_rows(&set, &run->job, &run->text, output, &done);
    if (code != EXIT_DONE || done) return code;
    if (!run->lines)
        code = sort_read_any(&set, &run->job, &run->text, &numbers);
    else if (!set.text.merge)
        code = sort_read_text(&run->job, &run->text);
    if (code != EXIT_DONE) return code;
    if (!run->lines && !number_option() && (numbers ? base->column.text : run->text.text))
        base->note = numbers ? "every line is a number: sorted as numbers"
                             : "a line is not a number: sorted by the bytes of lines";
    if (!numbers) return run_lines(run, output);
    code = sort_loaded(&run->job, &set.words);
    return code == EXIT_DONE ? sort_numbers(&set, &run->job, output) : code;
}

static int check(struct run *run)
{
    struct sort_job *job = &run->job;
    bool numbers = true, done;
    if (run->lines) return sort_check_stream(&set, &run->text);
    cli_progress_start(&job->base.progress);
    int code = sort_check_files(&set, job, &run->text, &done);
    if (code == EXIT_DONE && !done) code = sort_read_any(&set, job, &run->text, &numbers);
    if (code == EXIT_DONE && numbers && !done) code = sort_loaded(job, &set.words);
    if (code == EXIT_DONE && numbers && !done) code = sort_check_numbers(&set, job, 0);
    if (code == EXIT_DONE && !numbers) code = sort_check_lines(&set, &run->text, job->base.input);
    cli_progress_end(&job->base.progress);
    io_free_column(&job->base.column);
    return code;
}

/* The number of --parallel is that of --threads. */
static int parse_parallel(void)
{
    int threads;
    if (!set.text.parallel) return EXIT_DONE;
    set.words.job.threads = set.text.parallel;
    return cli_parse_threads_of("parallel", set.text.parallel, &threads);
}

static int run_text(struct run *run)
{
    struct job *base = &run->job.base;
    set.files.records = set.files.record || has_array_keys(&run->text);
    const char *line = line_option(), *number = number_option();
    int code = check_combinations(line, number, &run->text);
    if (code == EXIT_DONE) code = parse_parallel();
    if (code == EXIT_DONE) code = sort_files_budget(&set);
    if (code == EXIT_DONE) code = sort_parse(&run->job, &set.words);
    if (code == EXIT_DONE) code = sort_parse_rows(&set);
    if (code == EXIT_DONE && !number && !set.files.records)
        code = sort_make_order(&set, &run->text);
    bool done = false;
    if (code == EXIT_DONE && set.time_limit && !sort_is_distributed(&set))
        code = cli_fail(EXIT_BAD, "--time-limit is for several ranks: it needs --distributed or "
                                  "--device cuda:all");
    if (code == EXIT_DONE && sort_is_distributed(&set))
        code = sort_distributed(&set, &run->job, &run->text, line, &done);
    if (code != EXIT_DONE || done) return code;
    set.line_option = line != NULL;
    run->lines = line || (run->text.n_names > 1 && !are_arrays(&run->text, number));
    base->input = sort_name(&run->text, 0);
    base->plan = plan;
    base->dimensions = set.rows || set.check || set.text.check_quiet || set.unique ? 1 : 2;
    if (set.text.debug) sort_warn_keys(run->text.order);
    return set.check || set.text.check_quiet ? check(run) : job_run(base, &set.words.job, body);
}

static int run(int count, char **operands)
{
    struct run all = { .job.staged = set.words.job.timing || set.words.job.json };
    cli_silent = set.distributed && sort_is_silent();
    int code = parse_check();
    if (code == EXIT_DONE) code = sort_find_inputs(&set, &all.text, count, operands);
    if (code == EXIT_DONE) code = run_text(&all);
    sort_free_text(&all.text);
    free(all.job.index);
    return code;
}

static const struct cli_value values[] = {
    { "--check", CLI_WORDS, "diagnose-first quiet silent", NULL },
    { "--resume", CLI_WORDS, "restart discard", NULL },
    { "--sort", CLI_WORDS, "general-numeric human-numeric month numeric random version", NULL },
    { NULL, CLI_WORDS, NULL, NULL },
};

static const char *const repeated[] = { "key", "temporary-directory", NULL };

const struct command command_sort = {
    .name = "sort",
    .summary = "sort numbers, or lines of text",
    .usage = "  echelon sort [OPTION]... [INPUT]...\n",
    .examples = "  echelon sort data.npy -o sorted.npy       a NumPy array\n"
                "  echelon sort data.npy -o data.npy         in place; the old file is replaced "
                "when\n"
                "                                            the new one is complete\n"
                "  echelon sort keys.bin --type u32 -o out   raw little-endian elements\n"
                "  echelon sort -k2,2nr -k1,1 table.txt      lines, as GNU sort in the C locale\n"
                "  echelon sort --csv -k price:nr goods.csv  a table with a header\n"
                "  cut -f3 table.tsv | echelon sort -r       lines, by the number on each line\n"
                "  echelon sort -c data.npy && echo sorted   exit code 0 or 1\n"
                "  echelon sort --argsort data.npy -o i.npy  the permutation that sorts the data\n"
                "  echelon sort --axis 0 m.npy -o s.npy      each column of a matrix\n"
                "  echelon sort --rows 1000 a.u32 -o b.u32   each row of 1000 numbers\n",
    .notes =
        "INPUT \"-\" is standard input, the default.  Text whose lines are all numbers is sorted "
        "by\n"
        "these numbers, other text by the bytes of its lines; --timing and --json report the\n"
        "choice.  An option for lines, or several inputs of text, selects lines; several .npy or "
        "raw\n"
        "inputs are sorted as one array.  LETTERS of a key are out\n"
        "of bdfghiMnRrV, with the meaning of the options; a key without letters has those of the\n"
        "options.  docs/sort-command.md describes keys and the differences from GNU sort.\n\n"
        "Lines are written unchanged.  A missing newline at the end is added.\n\n"
        "Numbers: --format selects the format of INPUT.  Without it, the extension does: .npy; "
        ".txt\n"
        ".text .csv .tsv (text); .raw .bin, or a type such as .u32 (raw).  Lines with equal "
        "numbers\n"
        "keep their order.  Without --type, a column of integers is i64, or u64 if necessary; any\n"
        "other column is f64, which must not round an integer.  The format of the output is that "
        "of\n"
        "its extension (.npy, .txt, .u32 and so on), otherwise that of INPUT.  --argsort writes "
        "u64.\n\n"
        "Several ranks: \"mpirun -n 4 echelon sort --distributed INPUT -o FILE\" sorts a file "
        "that all\n"
        "ranks can read: .npy, raw, records, or text with an option for lines; each rank reads "
        "and\n"
        "writes its part.  \"--device cuda:all\" sorts numbers of a file with all GPUs of one "
        "process,\n"
        "and anything else with one of them.  \"simt:all\" is two ranks on the emulator.  "
        "docs/cli.md\n"
        "describes both.\n\n"
        "Exit status: 0 success; 1 not sorted (--check); 2 usage error, invalid input, or a file\n"
        "that cannot be read or written; 3 device not available or failed; 4 out of memory.\n",
    .options = options,
    .repeated = repeated,
    .values = values,
    .most_operands = CLI_ANY,
    .run = run,
};
