/*
 * unique.c - "echelon unique": one of each run of equal numbers, and how long the run was.
 *
 *     unique_to()  load -> sort -> runs -> filter -> order by count -> write
 *
 * Numbers that are equal in the order of the sort are one: -0 and +0, and every NaN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    bool runs, count, repeated, once, by_count;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'c', "count", NULL, &set.count, "put the number of occurrences in front; see below" },
    { 'd', "repeated", NULL, &set.repeated, "only numbers that occur more than once" },
    { 'u', "once", NULL, &set.once, "only numbers that occur once" },
    { 0, "by-count", NULL, &set.by_count, "most frequent first; of equally frequent, least first" },
    { 0, "runs", NULL, &set.runs, "do not sort INPUT first: of neighbours alone, as uniq" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    { 0, "device", "DEVICE", &set.job.device,
      "cpu, cuda, cuda:1, simt; default: the first GPU, else cpu" },
    { 0, "threads", "N", &set.job.threads, "CPU threads, at most; 0: all" },
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* What is kept: each [n_out]. */
struct kept {
    char *keys;
    uint64_t *lines;  /* of text: where the first of each run begins */
    uint64_t *counts; /* NULL: nobody asked */
    uint64_t n;
};

static void free_kept(struct kept *kept)
{
    free(kept->keys);
    free(kept->lines);
    free(kept->counts);
}

/* ---- Runs ---- */

static ech_status sort(const struct job *job)
{
    const struct io_column *c = &job->column;
    size_t n = (size_t)c->n;
    if (!c->lines) return ech_sort(job->ctx, c->keys, c->keys, n, c->dtype, NULL);
    return ech_sort_pairs(job->ctx, c->keys, c->lines, c->keys, c->lines, n, c->dtype,
                          sizeof *c->lines, NULL);
}

static ech_status find_runs(const struct job *job, struct kept *kept)
{
    const struct io_column *c = &job->column;
    size_t n = (size_t)c->n;
    if (kept->counts)
        return ech_rle_encode(job->ctx, c->keys, kept->keys, kept->counts, &kept->n, n, c->dtype,
                              NULL);
    if (!c->lines) return ech_unique(job->ctx, c->keys, kept->keys, &kept->n, n, c->dtype, NULL);
    return ech_unique_by_key(job->ctx, c->keys, c->lines, kept->keys, kept->lines, &kept->n, n,
                             c->dtype, sizeof *c->lines, NULL);
}

static int make_kept(struct job *job, struct kept *kept)
{
    const struct io_column *c = &job->column;
    size_t n = (size_t)c->n;
    bool counts = set.count || set.repeated || set.once || set.by_count;
    *kept = (struct kept){ .keys = malloc(c->keys_bytes + 1) };
    if (c->lines) kept->lines = malloc(n * sizeof *kept->lines + 1);
    if (counts) kept->counts = malloc(n * sizeof *kept->counts + 1);
    if (!kept->keys || (c->lines && !kept->lines) || (counts && !kept->counts))
        return job_no_memory(job, c->keys_bytes + n * 8 * (size_t)((c->lines ? 1 : 0) + counts),
                             "what is unique");
    stage_begin(job, STAGE_WORK);
    ech_status status = set.runs ? ECH_OK : sort(job);
    if (status == ECH_OK) status = find_runs(job, kept);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* The lines where runs begin, and of all that the runs that are wanted. */
static void filter(const struct job *job, struct kept *kept)
{
    const struct io_column *c = &job->column;
    size_t bytes = ech_dtype_bytes(c->dtype);
    uint64_t to = 0, first = 0;
    if (!kept->counts) return;
    for (uint64_t i = 0; i < kept->n; i++) {
        uint64_t count = kept->counts[i], line = c->lines ? c->lines[first] : 0;
        first += count;
        if ((set.repeated && count < 2) || (set.once && count > 1)) continue;
        memmove(kept->keys + to * bytes, kept->keys + i * bytes, bytes);
        if (c->lines) kept->lines[to] = line;
        kept->counts[to++] = count;
    }
    kept->n = to;
}

/* Takes everything along with the counts, by their order. */
static int order_by_count(struct job *job, struct kept *kept)
{
    size_t n = (size_t)kept->n, bytes = ech_dtype_bytes(job->column.dtype);
    uint64_t *index = malloc(n * sizeof *index + 1), *from;
    struct kept next = { malloc(n * bytes + 1), NULL, malloc(n * sizeof *next.counts + 1), n };
    if (kept->lines) next.lines = malloc(n * sizeof *next.lines + 1);
    int code = EXIT_DONE;
    if (!index || !next.keys || !next.counts || (kept->lines && !next.lines)) {
        code = job_no_memory(job, n * (bytes + 24), "the order by count");
    } else {
        ech_sort_options o = { .size = sizeof o, .descending = 1 };
        ech_status status = ech_argsort(job->ctx, kept->counts, index, n, ECH_U64, ECH_U64, &o);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    if (code != EXIT_DONE) {
        free_kept(&next);
        free(index);
        return code;
    }
    from = index;
    for (size_t i = 0; i < n; i++) {
        memcpy(next.keys + i * bytes, kept->keys + from[i] * bytes, bytes);
        next.counts[i] = kept->counts[from[i]];
        if (next.lines) next.lines[i] = kept->lines[from[i]];
    }
    free(index);
    free_kept(kept);
    *kept = next;
    return EXIT_DONE;
}

/* ---- Output ---- */

/* As "uniq -c" writes it, and the line, or the number where there are no lines. */
static io_status write_counts(struct io_output *output, const struct io_column *c,
                              const struct kept *kept, struct io_error *error)
{
    size_t bytes = ech_dtype_bytes(c->dtype);
    const uint64_t *lines = kept->lines;
    io_status status = IO_OK;
    for (uint64_t i = 0; i < kept->n && status == IO_OK; i++) {
        char text[32 + IO_NUMBER_TEXT];
        size_t used = (size_t)snprintf(text, 32, "%7llu ", (unsigned long long)kept->counts[i]);
        if (!lines) {
            used += io_format_key(c->dtype, kept->keys + i * bytes, text + used);
            text[used++] = '\n';
        }
        status = io_write(output, text, used, error);
        if (!lines || status != IO_OK) continue;
        const char *line = c->text + lines[i];
        const char *newline = memchr(line, '\n', c->text_bytes - (size_t)lines[i]);
        status = io_write(output, line, (size_t)(newline - line) + 1, error);
    }
    return status;
}

/* A .npy array of records, a count and a number each, without gaps. */
static io_status write_records(struct io_output *output, const struct io_column *c,
                               const struct kept *kept, struct io_error *error)
{
    unsigned char header[IO_NPY_HEADER];
    char fields[64];
    const char *descr = io_npy_descr(c->dtype);
    size_t bytes = ech_dtype_bytes(c->dtype);
    snprintf(fields, sizeof fields, "[('count', '<u8'), ('value', '%s')]", descr ? descr : "<u2");
    size_t header_bytes = io_npy_header_of(fields, kept->n, 0, header);
    io_status status = io_write(output, header, header_bytes, error);
    for (uint64_t i = 0; i < kept->n && status == IO_OK; i++) {
        status = io_write(output, &kept->counts[i], sizeof *kept->counts, error);
        if (status == IO_OK) status = io_write(output, kept->keys + i * bytes, bytes, error);
    }
    return status;
}

static io_status write_kept(struct job *job, struct io_output *output, const struct kept *kept,
                            bool records, struct io_error *error)
{
    struct io_column *c = &job->column;
    if (records) return write_records(output, c, kept, error);
    if (set.count) return write_counts(output, c, kept, error);
    if (c->lines) return write_lines(output, c, kept->lines, kept->n, error);
    memcpy(c->keys, kept->keys, (size_t)kept->n * ech_dtype_bytes(c->dtype));
    return write_keys(output, c, job->out_format, kept->n, error);
}

/* ---- Run ---- */

static int unique_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    struct kept kept = { 0 };
    bool records =
        set.count && set.job.output && io_format_from_extension(set.job.output) == IO_NPY;
    int code = job_load(job, &set.job);
    if (code == EXIT_DONE && !records)
        code = set.count ? job_plan_text(&set.job)
                         : job_plan_output(job, &set.job, output, job->column.dtype);
    if (code == EXIT_DONE) code = make_kept(job, &kept);
    if (code == EXIT_DONE) {
        filter(job, &kept);
        if (set.by_count) code = order_by_count(job, &kept);
    }
    if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        job->n_out = kept.n;
        io_status status = write_kept(job, output, &kept, records, &error);
        code = job_commit(job, output, status, &error);
    }
    free_kept(&kept);
    return code;
}

static int run(int count, char **operands)
{
    struct job job = { .command = "unique", .work = "unique", .working = "sorting and comparing" };
    int code = job_input(&job, count, operands);
    if (code == EXIT_DONE && set.repeated && set.once)
        code = cli_fail(EXIT_BAD, "--repeated does not go with --once: no number would be left");
    return code == EXIT_DONE ? job_run(&job, &set.job, unique_to) : code;
}

const struct command command_unique = {
    .name = "unique",
    .summary = "one of each number, and how often it occurs",
    .usage = "  echelon unique [OPTION]... [INPUT]\n",
    .examples = "  echelon unique data.npy -o values.npy\n"
                "  echelon unique --count --by-count column.txt | head   the most frequent\n"
                "  echelon unique -d ids.u64 -o twice.u64                what is there twice\n"
                "  echelon unique -c data.npy -o counts.npy              for NumPy, see below\n",
    .notes =
        "The numbers come out in rising order, or with --runs in that of INPUT.  -0 equals\n"
        "+0, and NaN every NaN.  Of equal lines, which may differ as 1 and 1.0 do, the first\n"
        "is written, to the byte.\n\n"
        "--count writes text whatever INPUT is: one COUNT NUMBER a line, or COUNT and the\n"
        "line, as uniq -c does.  With -o FILE.npy it is an array of records, of the fields\n"
        "count (u64) and value.  Else the format is that of the name of the output (.npy, .txt,\n"
        ".u32 and so on), or that of INPUT.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 1,
    .run = run,
};
