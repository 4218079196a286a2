/*
 * gen.c - "echelon gen": writes a file of random numbers, or of the sort benchmark's records, for
 * tests and measurements.
 *
 * Keys are generated and written in blocks, so that memory does not grow with the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"
#include "distributions.h"
#include "gen_records.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *n, *type, *seed, *values, *output, *format;
    struct gen_records records;
} set;

static const struct option options[] = {
    { 'N', "n", "COUNT", &set.n, "number of elements: 1000, 100M, 1e6, 2^20, 4Ki;\ndefault: 1000" },
    { 'y', "type", "TYPE", &set.type,
      "element type: " CLI_TYPES ";\ndefault: that of the extension, otherwise u32" },
    { 0, "seed", "N", &set.seed, "seed of the random numbers; default: 1" },
    { 0, "values", "COUNT", &set.values, "for few: number of distinct values; default: 16" },
    { 'o', "output", "FILE", &set.output, "write to FILE; default: standard output" },
    { 0, "format", "FORMAT", &set.format,
      "npy, raw or text; default: that of the extension,\notherwise text" },
    { 0, "ascii", NULL, &set.records.ascii, "for records: lines of printable characters" },
    { 0, "skewed", NULL, &set.records.skewed, "for records: keys with common prefixes" },
    { 0, "start", "NUMBER", &set.records.start,
      "for records: the number of the first record; default: 0" },
    { 0, "checksum", NULL, &set.records.checksum,
      "for records: print the sum of their CRC-32 on standard error" },
    { 0, "threads", "N", &set.records.threads, "for records: " CLI_THREADS_HELP },
    { 0, NULL, NULL, NULL, NULL },
};

struct work {
    const struct distribution *distribution;
    struct keys keys;
    io_format format;
    struct cli_progress progress;
};

static int parse(const char *name, struct work *work)
{
    uint64_t n = 1000, seed = 1, values = 16;
    int dtype, format, code;
    if ((code = cli_parse_distribution(name, &work->distribution)) != EXIT_DONE ||
        (set.n && (code = cli_parse_count("n", set.n, &n)) != EXIT_DONE) ||
        (set.seed && (code = cli_parse_count("seed", set.seed, &seed)) != EXIT_DONE) ||
        (set.values && (code = cli_parse_count("values", set.values, &values)) != EXIT_DONE) ||
        (code = cli_parse_dtype(set.type, &dtype)) != EXIT_DONE ||
        (code = cli_parse_format(set.format, &format)) != EXIT_DONE)
        return code;
    const int ext_format = set.output ? io_format_from_extension(set.output) : -1;
    const int ext_dtype = set.output ? io_dtype_from_extension(set.output) : -1;
    if (format < 0) format = ext_format;
    if (dtype < 0) dtype = ext_dtype;
    if (format < 0) format = IO_TEXT;
    if (dtype < 0) dtype = ECH_U32;
    if (ext_format >= 0 && ext_format != format)
        return cli_fail(EXIT_BAD, "%s: the extension means %s, but --format is %s", set.output,
                        io_format_name((io_format)ext_format), set.format);
    if (ext_dtype >= 0 && ext_dtype != dtype)
        return cli_fail(EXIT_BAD, "%s: the extension means %s, but --type is %s", set.output,
                        ech_dtype_name((ech_dtype)ext_dtype), set.type);
    if (set.values && strcmp(name, "few") != 0)
        return cli_fail(EXIT_BAD, "--values cannot be combined with %s, only with few", name);
    if (values == 0) return cli_fail(EXIT_BAD, "--values is 0; the minimum is 1");
    if ((code = cli_check_distribution(work->distribution, (ech_dtype)dtype)) != EXIT_DONE)
        return code;
    if (format != IO_TEXT && (!set.output || strcmp(set.output, "-") == 0) && isatty(STDOUT_FILENO))
        return cli_fail(EXIT_BAD, CLI_TERMINAL);
    work->format = (io_format)format;
    if (!keys_init(&work->keys, (ech_dtype)dtype, n, seed, values))
        return cli_fail(EXIT_MEMORY, "out of memory for the tables of the distribution");
    return EXIT_DONE;
}

/* Writes keys first .. first + n - 1; block has room for n keys. */
static io_status write_block(struct io_output *output, const struct work *work, uint64_t first,
                             size_t n, char *block, struct io_error *error)
{
    const struct keys *k = &work->keys;
    size_t bytes = (size_t)k->bits / 8;
    keys_fill(k, work->distribution, first, n, block);
    if (work->format != IO_TEXT) return io_write(output, block, n * bytes, error);
    io_status status = IO_OK;
    for (size_t i = 0; i < n && status == IO_OK; i++) {
        char text[IO_NUMBER_TEXT];
        size_t length = io_format_key(k->dtype, block + i * bytes, text);
        text[length++] = '\n';
        status = io_write(output, text, length, error);
    }
    return status;
}

static io_status write_all(struct io_output *output, const struct work *work,
                           struct io_error *error)
{
    enum { BLOCK = 8192 };
    static char block[BLOCK * sizeof(uint64_t)];
    io_status status = IO_OK;
    if (work->format == IO_NPY) {
        unsigned char header[IO_NPY_HEADER];
        const char *descr = io_npy_descr(work->keys.dtype);
        size_t n = io_npy_header(descr ? descr : "<u2", work->keys.n, header);
        status = io_write(output, header, n, error);
    }
    for (uint64_t i = 0; i < work->keys.n && status == IO_OK; i += BLOCK) {
        uint64_t left = work->keys.n - i;
        status = write_block(output, work, i, left < BLOCK ? (size_t)left : BLOCK, block, error);
    }
    return status == IO_OK ? io_commit(output, error) : status;
}

/* ---- Records ---- */

static const char records_name[] = "records";

/* Some options are only for numbers, and some only for records. */
static int check_options(const char *name, bool records)
{
    const struct gen_records *r = &set.records;
    const struct {
        const char *option;
        bool given, records;
    } rows[] = {
        { "type", set.type, false },     { "seed", set.seed, false },
        { "values", set.values, false }, { "format", set.format, false },
        { "ascii", r->ascii, true },     { "skewed", r->skewed, true },
        { "start", r->start, true },     { "checksum", r->checksum, true },
        { "threads", r->threads, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given && rows[i].records != records)
            return cli_fail(EXIT_BAD, "--%s cannot be combined with %s%s", rows[i].option, name,
                            records ? "" : ", only with records");
    return EXIT_DONE;
}

static int run_records(void)
{
    uint64_t n = 1000;
    const int code = set.n ? cli_parse_count("n", set.n, &n) : EXIT_DONE;
    return code == EXIT_DONE ? gen_records(&set.records, n, set.output) : code;
}

/* ---- Run ---- */

static int run(int count, char **operands)
{
    const char *name = count ? operands[0] : "uniform";
    const bool records = strcmp(name, records_name) == 0;
    struct work work;
    struct io_output output;
    struct io_error error;
    int code = check_options(name, records);
    if (code != EXIT_DONE) return code;
    if (records) return run_records();
    code = parse(name, &work);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&work.progress);
    cli_progress_stage(&work.progress, "writing");
    io_status status = io_create(&output, set.output, &error);
    if (status == IO_OK) {
        output.progress = &work.progress.io;
        if (work.format != IO_TEXT)
            output.total_bytes = work.keys.n * (uint64_t)(work.keys.bits / 8);
        status = write_all(&output, &work, &error);
        io_discard(&output);
    }
    cli_progress_end(&work.progress);
    keys_free(&work.keys);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

const struct command command_gen = {
    .name = "gen",
    .summary = "generate test data: random, sorted and skewed numbers, records",
    .usage = "  echelon gen [DISTRIBUTION] [OPTION]...\n"
             "  echelon gen records [OPTION]...\n",
    .examples = "  echelon gen uniform --type f32 -N 100M -o data.npy\n"
                "  echelon gen few --values 3 -N 20\n"
                "  echelon gen nan-mix -N 1Mi -o mix.f64\n"
                "  echelon gen records -N 1G -o records.raw\n",
    .notes =
        "Distributions (the first is the default):\n"
        "  uniform   integers: all values of the type; floats: [0, 1)\n"
        "  normal    floats: standard deviation 1; integers: centred in the range of the type\n"
        "  sorted    ascending, from the minimum to the maximum of the type\n"
        "  reversed  descending\n"
        "  almost    sorted, but 1 % of the elements are random\n"
        "  constant  one value\n"
        "  few       --values distinct values\n"
        "  zipf      value v = 1, 2, ... with probability proportional to 1/v\n"
        "  hot       random, but the last 4096 elements are equal\n"
        "  and2      the AND of 2 random words (low entropy); and4 and and8: of 4 and 8\n"
        "  nan-mix   floats with NaN, -0, infinities and subnormals\n"
        "  records   the records of the sort benchmark (sortbenchmark.org), with 100 bytes and a\n"
        "            key of 10 bytes; byte-identical to the output of gensort\n\n"
        "The same seed gives the same file on every machine.  bf16 in .npy is stored as <u2.\n",
    .options = options,
    .most_operands = 1,
    .run = run,
};
