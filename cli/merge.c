/*
 * merge.c - "echelon merge": merges files of sorted numbers, or of lines that are sorted by a
 * number.
 *
 * Two files are merged by ech_merge(), more files by ech_merge_many(), after their numbers have
 * been moved to one array.
 *
 * For text, the value of each number is the place of its line: the file and the offset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64, PLACE_BITS = 56 /* of the offset of a line */ };

static struct {
    struct job_words job;
    const char *order;
    bool reverse;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'r', "reverse", NULL, &set.reverse, "the files are, and the output is, in descending order" },
    JOB_TYPE_OPTIONS(set.job),
    { 0, "order", "ORDER", &set.order,
      "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder" },
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* Sorted numbers; from malloc(). */
struct run {
    char *keys;
    uint64_t *places; /* of their lines; NULL: no lines */
    size_t n;
};

struct merge_job {
    struct job base; /* first, so that a pointer to it can be converted; its column is the first */
    ech_merge_options options;
    const char *names[MOST_FILES];
    struct io_column columns[MOST_FILES]; /* the first one is moved to base */
    struct run runs[MOST_FILES];
    int count;
    size_t a_n, b_n; /* of the merge of two, for the report */
    bool lines;      /* the output is lines */
};

static const struct io_column *column_of(const struct merge_job *job, int i)
{
    return i ? &job->columns[i] : &job->base.column;
}

/* ---- Input ---- */

static int check_sorted(const struct merge_job *job)
{
    const struct io_column *c = &job->base.column;
    const size_t bytes = ech_dtype_bytes(c->dtype);
    char now[IO_NUMBER_TEXT], before[IO_NUMBER_TEXT];
    uint64_t at = 0;
    const ech_is_sorted_options o = { .size = sizeof o,
                                      .descending = job->options.descending,
                                      .order = job->options.order };
    ech_ctx *ctx = job->base.ctx;
    const ech_status status = ech_is_sorted(ctx, c->keys, &at, (size_t)c->n, c->dtype, &o);
    if (status != ECH_OK) return cli_fail_ech(status, ctx);
    if (at == c->n) return EXIT_DONE;
    const char *key = (const char *)c->keys + at * bytes;
    io_format_key(c->dtype, key, now);
    io_format_key(c->dtype, key - bytes, before);
    return cli_fail(EXIT_BAD, "%s: not sorted: %s %llu is %s, after %s; sort the file first",
                    job->base.input, c->lines ? "line" : "element",
                    (unsigned long long)(c->lines ? at + 1 + io_has_header(c) : at), now, before);
}

/* All numbers must have one type. A text without numbers has any type. */
static int check_types(struct merge_job *job)
{
    struct io_column *first = &job->base.column;
    const char *name = job->base.input;
    bool known = first->n || !first->lines;
    for (int i = 1; i < job->count; i++) {
        const struct io_column *c = &job->columns[i];
        if (!c->n && c->lines) continue;
        if (!known) {
            first->dtype = c->dtype;
            name = job->names[i];
            known = true;
        }
        if (c->dtype != first->dtype)
            return cli_fail(EXIT_BAD, "%s: the numbers are %s, but those of %s are %s%s",
                            job->names[i], ech_dtype_name(c->dtype), name,
                            ech_dtype_name(first->dtype), c->lines ? "; give --type for both" : "");
    }
    return EXIT_DONE;
}

/* Loads all files, the first one last, because the base has one column. */
static int load(struct merge_job *job)
{
    for (int i = job->count; i-- > 0;) {
        job->base.input = job->names[i];
        int code = job_load(&job->base, &set.job);
        if (code == EXIT_DONE) code = check_sorted(job);
        if (code != EXIT_DONE) return code;
        if (i == 0) break;
        job->columns[i] = job->base.column;
        memset(&job->base.column, 0, sizeof job->base.column);
    }
    return check_types(job);
}

/* Moves the numbers of the columns to the runs. */
static void make_runs(struct merge_job *job)
{
    job->lines = job->base.out_format == IO_TEXT;
    for (int i = 0; i < job->count; i++) job->lines &= column_of(job, i)->lines != NULL;
    for (int i = 0; i < job->count; i++) {
        struct io_column *c = i ? &job->columns[i] : &job->base.column;
        struct run *run = &job->runs[i];
        *run = (struct run){ .keys = c->keys, .n = (size_t)c->n };
        c->keys = NULL;
        job->base.n_out += c->n;
        if (!job->lines) continue;
        run->places = c->lines;
        c->lines = NULL;
        for (size_t k = 0; k < run->n; k++) run->places[k] |= (uint64_t)i << PLACE_BITS;
    }
}

/* ---- Work ---- */

static void free_run(struct run *run)
{
    free(run->keys);
    free(run->places);
    *run = (struct run){ .keys = NULL };
}

/* Merges the second run into the first one. */
static int merge_two(struct merge_job *job, struct run *a, struct run *b)
{
    const ech_dtype dtype = job->base.column.dtype;
    const size_t bytes = ech_dtype_bytes(dtype), n = a->n + b->n;
    struct run out = { .keys = malloc(n * bytes + 1), .n = n };
    ech_ctx *ctx = job->base.ctx;
    job->a_n = a->n;
    job->b_n = b->n;
    if (job->lines) out.places = malloc(n * sizeof *out.places + 1);
    if (!out.keys || (job->lines && !out.places)) {
        free_run(&out);
        return job_no_memory(&job->base, n * (bytes + (job->lines ? sizeof *out.places : 0)),
                             "the merged numbers");
    }
    const ech_status status =
        job->lines
            ? ech_merge_pairs(ctx, a->keys, a->places, b->keys, b->places, out.keys, out.places,
                              a->n, b->n, dtype, sizeof *out.places, &job->options)
            : ech_merge(ctx, a->keys, b->keys, out.keys, a->n, b->n, dtype, &job->options);
    free_run(a);
    free_run(b);
    *a = out;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
}

/* Moves all runs to one array, one after the other; offsets receives where they begin. */
static int join(struct merge_job *job, struct run *all, uint64_t *offsets)
{
    const size_t bytes = ech_dtype_bytes(job->base.column.dtype);
    size_t n = 0;
    for (int i = 0; i < job->count; i++) {
        offsets[i] = n;
        n += job->runs[i].n;
    }
    offsets[job->count] = n;
    *all = (struct run){ .keys = malloc(n * bytes + 1), .n = n };
    if (job->lines) all->places = malloc(n * sizeof *all->places + 1);
    if (!all->keys || (job->lines && !all->places))
        return job_no_memory(&job->base, n * (bytes + (job->lines ? sizeof *all->places : 0)),
                             "the numbers");
    for (int i = 0; i < job->count; i++) {
        struct run *run = &job->runs[i];
        memcpy(all->keys + offsets[i] * bytes, run->keys, run->n * bytes);
        if (job->lines) memcpy(all->places + offsets[i], run->places, run->n * sizeof *all->places);
        free_run(run);
    }
    return EXIT_DONE;
}

/* Merges three or more runs. */
static int merge_many(struct merge_job *job)
{
    const ech_dtype dtype = job->base.column.dtype;
    uint64_t offsets[MOST_FILES + 1];
    struct run all, *out = &job->runs[0];
    ech_ctx *ctx = job->base.ctx;
    ech_status status;
    int code = join(job, &all, offsets);
    if (code != EXIT_DONE) goto done;
    *out = (struct run){ .keys = malloc(all.n * ech_dtype_bytes(dtype) + 1), .n = all.n };
    if (job->lines) out->places = malloc(all.n * sizeof *out->places + 1);
    if (!out->keys || (job->lines && !out->places)) {
        code = job_no_memory(&job->base, all.n * ech_dtype_bytes(dtype), "the merged numbers");
        goto done;
    }
    status = job->lines ? ech_merge_many_pairs(ctx, all.keys, all.places, offsets, out->keys,
                                               out->places, all.n, (size_t)job->count, dtype,
                                               sizeof *out->places, ECH_U64, &job->options)
                        : ech_merge_many(ctx, all.keys, offsets, out->keys, all.n,
                                         (size_t)job->count, dtype, ECH_U64, &job->options);
    if (status != ECH_OK) code = cli_fail_ech(status, ctx);
done:
    free_run(&all);
    return code;
}

static int merge_all(struct merge_job *job)
{
    int code = EXIT_DONE;
    stage_begin(&job->base, STAGE_WORK);
    if (job->count == 2)
        code = merge_two(job, &job->runs[0], &job->runs[1]);
    else if (job->count > 2)
        code = merge_many(job);
    stage_end(&job->base, STAGE_WORK, job->base.n_out * ech_dtype_bytes(job->base.column.dtype));
    return code;
}

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct merge_job *job = (const struct merge_job *)base;
    text[0] = 0;
    const size_t value_bytes = job->lines ? sizeof(uint64_t) : 0;
    if (job->count > 2)
        ech_merge_many_explain(ech_device_name(base->ctx), (size_t)base->n_out, (size_t)job->count,
                               base->column.dtype, value_bytes, &job->options, ECH_FORMAT_TEXT,
                               text, bytes);
    else
        ech_merge_explain(ech_device_name(base->ctx), job->a_n, job->b_n, base->column.dtype,
                          value_bytes, &job->options, ECH_FORMAT_TEXT, text, bytes);
}

/* ---- Output ---- */

/* The header line of the first file that has one, then the lines. */
static io_status write_merged_lines(const struct merge_job *job, struct io_output *output,
                                    struct io_error *error)
{
    const uint64_t *places = job->runs[0].places;
    io_status status = IO_OK;
    for (int i = 0; i < job->count; i++)
        if (column_of(job, i)->head_bytes) {
            status =
                io_write(output, column_of(job, i)->text, column_of(job, i)->head_bytes, error);
            break;
        }
    for (size_t i = 0; i < job->runs[0].n && status == IO_OK; i++) {
        const struct io_column *c = column_of(job, (int)(places[i] >> PLACE_BITS));
        const size_t offset = (size_t)(places[i] & (((uint64_t)1 << PLACE_BITS) - 1));
        const char *line = c->text + offset;
        const char *newline = memchr(line, '\n', c->text_bytes - offset);
        status = io_write(output, line, (size_t)(newline - line) + 1, error);
    }
    return status;
}

static int merge_to(struct job *base, struct io_output *output)
{
    struct merge_job *job = (struct merge_job *)base;
    struct io_column *c = &base->column;
    struct io_error error;
    int code = load(job);
    if (code == EXIT_DONE) code = job_plan_output(base, &set.job, output, c->dtype);
    if (code != EXIT_DONE) return code;
    make_runs(job);
    code = merge_all(job);
    if (code != EXIT_DONE) return code;
    stage_begin(base, STAGE_WRITE);
    c->keys = job->runs[0].keys;
    job->runs[0].keys = NULL;
    const io_status status = job->lines
                                 ? write_merged_lines(job, output, &error)
                                 : write_keys(output, c, base->out_format, base->n_out, &error);
    code = job_commit(base, output, status, &error);
    c->n = base->n_out; /* for the report */
    return code;
}

static int run(int count, char **operands)
{
    struct merge_job job = {
        .base = { .command = "merge", .work = "merge", .working = "merging", .plan = plan },
        .options = { .size = sizeof job.options, .descending = set.reverse },
        .names = { "-" },
        .count = count ? count : 1
    };
    int standard = 0;
    for (int i = 0; i < count; i++) {
        job.names[i] = operands[i];
        standard += strcmp(operands[i], "-") == 0;
    }
    int code = job_input(&job.base, count, operands);
    if (code == EXIT_DONE && standard > 1)
        code = cli_fail(EXIT_BAD, "standard input is given %d times; give it once", standard);
    if (code == EXIT_DONE) code = cli_parse_order(set.order, &job.options.order);
    if (code == EXIT_DONE) code = job_run(&job.base, &set.job, merge_to);
    for (int i = 0; i < job.count; i++) {
        free_run(&job.runs[i]);
        io_free_column(&job.columns[i]);
    }
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .summary = "merge sorted files",
    .usage = "  echelon merge [OPTION]... [INPUT]...\n",
    .examples = "  echelon merge a.npy b.npy -o c.npy          numbers of two sorted files\n"
                "  echelon merge -k time mon.csv tue.csv       lines, by a column\n"
                "  echelon merge -r a.u32 b.u32 c.u32 -o d.u32 three files in descending order\n",
    .notes = JOB_INPUT_NOTES
    "\n"
    "Each INPUT must be sorted as \"echelon sort\" sorts it; a number that is out of order is\n"
    "an error.  All files must have numbers of the same type.  Among equal numbers, those\n"
    "of the earlier INPUT come first.  There are at most 64 files.\n\n"
    "Lines are written unchanged, after the first header line.  The format of the output is\n"
    "that of its extension (.npy, .txt, .u32 and so on), otherwise that of the first INPUT.\n",
    .options = options,
    .most_operands = MOST_FILES,
    .run = run,
};
