/*
 * shuf.c - "echelon shuf": a file in random order, a sample of it, or a random permutation.
 *
 * Lines of text, or records of CSV, are moved unchanged, and need not be numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct {
    struct job_words job;
    const char *seed, *head, *permutation;
    bool header;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'K', "head", "K", &set.head, "write only K elements: a sample without replacement" },
    { 0, "header", NULL, &set.header, "keep the first line of a text in place" },
    { 0, "seed", "N", &set.seed,
      "the same seed gives the same order on every machine;\ndefault: a random seed, which "
      "--timing prints" },
    { 0, "permutation", "N", &set.permutation,
      "read no input; write 0 ... N - 1 in random order, in the\nformat of --format or of the "
      "output's extension, or as text" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

static uint64_t seed, head = UINT64_MAX, permutation;

/* ---- Input ---- */

/* Excludes the first record from the shuffle. */
static void keep_header(struct io_column *c)
{
    if (c->n == 0) return;
    c->head_bytes = c->n > 1 ? (size_t)c->lines[1] : c->text_bytes;
    c->n--;
    memmove(c->lines, c->lines + 1, (size_t)c->n * sizeof *c->lines);
}

/* Whether the extension means that records may contain newlines. */
static bool is_csv(const char *path)
{
    char extension[IO_EXTENSION];
    io_extension(path, extension);
    return strcasecmp(extension, "csv") == 0 || strcasecmp(extension, "tsv") == 0;
}

/* Quotes have a meaning in CSV, also if there is a single column. */
static void find_delimiter(struct io_column *c)
{
    const char *at = c->text + c->head_bytes, *end = c->text + c->text_bytes;
    const char found = at < end ? io_find_delimiter(at, end) : 0;
    c->delimiter = found ? found : ',';
}

/* The default format is lines of text. */
static io_status load(struct job *job, struct io_source *source, struct io_hints *hints,
                      struct io_error *error)
{
    io_status status = IO_OK;
    if (hints->format < 0) hints->format = io_format_from_extension(source->name);
    if (hints->format < 0 && hints->dtype >= 0) hints->format = IO_RAW;
    if (hints->format < 0) {
        status = io_look(source, error);
        bool npy = source->ahead_bytes >= 6 && memcmp(source->ahead, "\x93NUMPY", 6) == 0;
        hints->format = npy ? IO_NPY : IO_TEXT;
    }
    if (status != IO_OK) return status;
    if (set.header && hints->format != IO_TEXT)
        return io_fail(error, IO_FAIL, source->name,
                       "the format is %s, but --header is only for lines of text",
                       io_format_name((io_format)hints->format));
    if (hints->format != IO_TEXT) return io_load_column(source, hints, &job->column, error);
    job->column = (struct io_column){ .format = IO_TEXT };
    status = io_text_read(source, &job->column, error);
    if (status == IO_OK && is_csv(source->name)) find_delimiter(&job->column);
    if (status == IO_OK) status = io_text_lines(&job->column, source->name, error);
    if (status == IO_OK && set.header) keep_header(&job->column);
    return status;
}

static int load_elements(struct job *job)
{
    struct io_source source;
    struct io_error error;
    struct io_hints hints;
    int code = job_hints(&set.job, &hints);
    if (code != EXIT_DONE) return code;
    stage_begin(job, STAGE_READ);
    io_status status = io_open(&source, job->input, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    job->input = source.name;
    if (hints.format == IO_RAW) io_set_raw(&source); /* --format raw is given */
    source.progress = &job->progress.io;
    status = load(job, &source, &hints, &error);
    io_close(&source);
    cli_progress_end(&job->progress);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const struct io_column *c = &job->column;
    stage_end(job, STAGE_READ, c->npy.header_bytes + (c->text ? c->text_bytes : c->keys_bytes));
    return EXIT_DONE;
}

/* Describes the column of a permutation; no input is read. */
static int plan_permutation(struct job *job)
{
    struct io_column *c = &job->column;
    const char *name = set.job.output;
    int format, dtype, code = cli_parse_format(set.job.format, &format);
    if (code == EXIT_DONE) code = cli_parse_dtype(set.job.type, &dtype);
    if (code != EXIT_DONE) return code;
    if (dtype < 0 && name) dtype = io_dtype_from_extension(name);
    if (dtype < 0) dtype = permutation <= UINT32_MAX ? ECH_U32 : ECH_U64;
    if (dtype != ECH_U32 && dtype != ECH_U64)
        return cli_fail(EXIT_BAD, "the type of a permutation must be u32 or u64, not %s",
                        ech_dtype_name((ech_dtype)dtype));
    if (dtype == ECH_U32 && permutation > (uint64_t)UINT32_MAX + 1)
        return cli_fail(EXIT_BAD, "--permutation is %s, which exceeds the range of u32; use u64",
                        set.permutation);
    *c = (struct io_column){ .format = format < 0 ? IO_TEXT : (io_format)format,
                             .dtype = (ech_dtype)dtype,
                             .n = permutation };
    job->input = "a permutation";
    return EXIT_DONE;
}

/* ---- Work ---- */

static int work(struct job *job, void **out)
{
    struct io_column *c = &job->column;
    size_t element_bytes = c->lines ? sizeof *c->lines : ech_dtype_bytes(c->dtype), bytes;
    uint64_t kept = head < c->n ? head : c->n, room = set.permutation ? c->n : kept;
    const void *in = c->lines ? (void *)c->lines : c->keys;
    if (__builtin_mul_overflow((size_t)room, element_bytes, &bytes) || bytes >= PTRDIFF_MAX)
        bytes = PTRDIFF_MAX;
    *out = malloc(bytes + 1);
    if (!*out) return job_no_memory(job, bytes, "the result");
    stage_begin(job, STAGE_WORK);
    ech_status status;
    size_t n = (size_t)c->n;
    if (set.permutation)
        status = ech_permutation(job->ctx, *out, n, c->dtype, seed);
    else if (kept < c->n)
        status = ech_sample(job->ctx, in, *out, n, (size_t)kept, element_bytes, seed);
    else
        status = ech_shuffle(job->ctx, in, *out, n, element_bytes, seed);
    stage_end(job, STAGE_WORK, bytes);
    job->n_out = kept;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Run ---- */

static io_status write_result(struct job *job, struct io_output *output, void *out,
                              struct io_error *error)
{
    struct io_column *c = &job->column;
    if (c->lines) return write_lines(output, c, out, job->n_out, error);
    if (set.permutation)
        return write_values(output, job->out_format, c->dtype, out, job->n_out, error);
    memcpy(c->keys, out, (size_t)job->n_out * ech_dtype_bytes(c->dtype));
    return write_keys(output, c, job->out_format, job->n_out, error);
}

static int shuffle_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    void *out = NULL;
    int code = set.permutation ? plan_permutation(job) : load_elements(job);
    if (code == EXIT_DONE) code = job_plan_output(job, &set.job, output, job->column.dtype);
    if (code == EXIT_DONE) code = work(job, &out);
    if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        code = job_commit(job, output, write_result(job, output, out, &error), &error);
    }
    free(out);
    return code;
}

static int fresh_seed(void)
{
    FILE *file = fopen("/dev/urandom", "rb");
    size_t got = file ? fread(&seed, sizeof seed, 1, file) : 0;
    if (file) fclose(file);
    return got ? EXIT_DONE : cli_fail(EXIT_BAD, "/dev/urandom: cannot read a seed: give --seed");
}

static int run(int count, char **operands)
{
    static char note[40];
    struct job job = { .command = "shuf", .work = "shuffle", .working = "shuffling", .note = note };
    int code = set.seed ? cli_parse_count("seed", set.seed, &seed) : fresh_seed();
    if (code == EXIT_DONE && set.head) code = cli_parse_count("head", set.head, &head);
    if (code == EXIT_DONE && set.permutation) {
        code = cli_parse_count("permutation", set.permutation, &permutation);
        if (code == EXIT_DONE && set.header)
            code = cli_fail(EXIT_BAD, "--permutation cannot be combined with --header");
        if (code == EXIT_DONE && count)
            code = cli_fail(EXIT_BAD,
                            "--permutation reads no input and cannot be combined with \"%s\"",
                            operands[0]);
    } else if (code == EXIT_DONE) {
        code = job_input(&job, count, operands);
    }
    snprintf(note, sizeof note, "seed %llu", (unsigned long long)seed);
    return code == EXIT_DONE ? job_run(&job, &set.job, shuffle_to) : code;
}

const struct command command_shuf = {
    .name = "shuf",
    .summary = "shuffle a file, or draw a random sample",
    .usage = "  echelon shuf [OPTION]... [INPUT]\n"
             "  echelon shuf --permutation N [OPTION]...\n",
    .examples = "  echelon shuf data.npy -o shuffled.npy\n"
                "  echelon shuf --seed 1 words.txt          lines, in a reproducible order\n"
                "  echelon shuf --head 1000 huge.f32 -o sample.f32\n"
                "  echelon shuf --header --head 20 goods.csv\n"
                "  echelon shuf --permutation 1M -o order.npy\n",
    .notes =
        "INPUT \"-\" is standard input, the default.  INPUT is lines of any text, unless "
        "--format,\n"
        "--type, the extension (.npy; .raw .bin, or a type such as .u32) or the first bytes of a\n"
        ".npy file mean another format.  With the extension .csv or .tsv, records may contain\n"
        "newlines between quotes.\n\n"
        "The order is not cryptographically secure: a 64-bit seed determines it, and can be\n"
        "recovered from it.\n",
    .options = options,
    .most_operands = 1,
    .run = run,
};
