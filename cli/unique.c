/*
 * unique.c - "echelon unique": the distinct numbers of a file, and how often each occurs.
 *
 *     unique_to()  load -> sort -> runs -> filter -> order by count -> write
 *                  load -> distinct numbers -> filter -> write      --appearance, --index
 *                  load -> inverse -> write                         --inverse
 *
 * Numbers are equal if the sort treats them as equal: -0 and +0, and all NaN.  Strings are replaced
 * by their ranks, which are numbers (table.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    bool runs, count, repeated, singletons, by_count;
    bool appearance, index, inverse, mode, string;
} set;

static struct table table; /* the column, and its strings if it is text */

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 0, "count", NULL, &set.count, "write the number of occurrences before each number" },
    { 0, "repeated", NULL, &set.repeated, "only numbers that occur more than once" },
    { 0, "singletons", NULL, &set.singletons, "only numbers that occur exactly once" },
    { 0, "by-count", NULL, &set.by_count,
      "most frequent first; equal counts in ascending order of\nthe numbers" },
    { 0, "mode", NULL, &set.mode, "only the most frequent number; the smallest of several" },
    { 0, "appearance", NULL, &set.appearance, "in the order of the first occurrences in INPUT" },
    { 0, "index", NULL, &set.index,
      "write the positions in INPUT of the first occurrences,\ncounted from 0" },
    { 0, "inverse", NULL, &set.inverse,
      "write, for each number of INPUT, its position in the output\nwithout this option" },
    { 0, "runs", NULL, &set.runs, "do not sort INPUT; compare only adjacent numbers, as uniq" },
    TABLE_STRING_OPTION(set.string),
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* The result; all arrays are [n], with counts in memory for room elements. */
struct kept {
    char *keys;
    uint64_t *lines;  /* text: offset of the first line of each run */
    uint64_t *counts; /* NULL: not needed */
    uint64_t *first;  /* positions in the input; NULL: not needed */
    uint64_t n, room;
};

static void free_kept(struct kept *kept)
{
    free(kept->keys);
    free(kept->lines);
    free(kept->counts);
    free(kept->first);
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
    if (!c->lines) return ech_unique(job->ctx, c->keys, kept->keys, &kept->n, n, c->dtype, NULL);
    return ech_unique_by_key(job->ctx, c->keys, c->lines, kept->keys, kept->lines, &kept->n, n,
                             c->dtype, sizeof *c->lines, NULL);
}

/* Makes room for need runs. */
static bool grow(const struct io_column *c, struct kept *kept, uint64_t need)
{
    if (need <= kept->room) return true;
    uint64_t room = 2 * kept->room > need ? 2 * kept->room : need;
    char *keys = realloc(kept->keys, (size_t)room * ech_dtype_bytes(c->dtype));
    if (keys) kept->keys = keys;
    uint64_t *counts = realloc(kept->counts, (size_t)room * sizeof *counts);
    if (counts) kept->counts = counts;
    uint64_t *lines = c->lines ? realloc(kept->lines, (size_t)room * sizeof *lines) : NULL;
    if (lines) kept->lines = lines;
    if (!keys || !counts || (c->lines && !lines)) return false;
    kept->room = room;
    return true;
}

/* Counts the runs of CHUNK keys at a time, so that the memory depends on the number of runs.  A run
 * may continue in the next chunk. */
static int count_runs(struct job *job, struct kept *kept)
{
    enum { CHUNK = 1 << 22 };
    const struct io_column *c = &job->column;
    const struct io_order order = { .dtype = c->dtype,
                                    .order = ECH_ORDER_NAN_LAST,
                                    .merged = true };
    const size_t bytes = ech_dtype_bytes(c->dtype), most = c->n < CHUNK ? (size_t)c->n : CHUNK;
    char *keys = malloc(most * bytes + 1);
    uint64_t *counts = malloc(most * sizeof *counts + 1), runs;
    bool fits = keys && counts && grow(c, kept, 1);
    ech_status status = ECH_OK;
    for (uint64_t at = 0; fits && status == ECH_OK && at < c->n; at += most) {
        const size_t some = c->n - at < most ? (size_t)(c->n - at) : most;
        status = ech_rle_encode(job->ctx, (const char *)c->keys + at * bytes, keys, counts, &runs,
                                some, c->dtype, NULL);
        if (status != ECH_OK) break;
        const char *last = kept->n ? kept->keys + (kept->n - 1) * bytes : NULL;
        const size_t same = last && io_rank(&order, last) == io_rank(&order, keys);
        if (same) kept->counts[kept->n - 1] += counts[0];
        runs -= same;
        fits = grow(c, kept, kept->n + runs);
        if (!fits) break;
        memcpy(kept->keys + kept->n * bytes, keys + same * bytes, (size_t)runs * bytes);
        memcpy(kept->counts + kept->n, counts + same, (size_t)runs * sizeof *counts);
        kept->n += runs;
    }
    free(keys);
    free(counts);
    if (!fits)
        return job_no_memory(job, (most + kept->room) * (bytes + (c->lines ? 16 : 8)),
                             "the distinct numbers");
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Without a sort of the input in place: in order of appearance, or positions ---- */

static bool is_distinct(void)
{
    return set.appearance || set.index || set.inverse;
}

/* With --inverse, kept->first receives the inverse. */
static int find_distinct(struct job *job, struct kept *kept)
{
    const struct io_column *c = &job->column;
    const size_t n = (size_t)c->n;
    const bool numbers = !set.inverse, counts = set.count || set.repeated || set.singletons;
    const ech_unique_options o = { .size = sizeof o, .appearance = set.appearance };
    uint64_t runs = 0;
    kept->first = malloc(n * sizeof *kept->first + 1);
    if (numbers) kept->keys = malloc(c->keys_bytes + 1);
    if (numbers && counts) kept->counts = malloc(n * sizeof *kept->counts + 1);
    if (numbers && c->lines) kept->lines = malloc(n * sizeof *kept->lines + 1);
    if (!kept->first ||
        (numbers && (!kept->keys || (counts && !kept->counts) || (c->lines && !kept->lines))))
        return job_no_memory(job, c->keys_bytes + n * 24, "the distinct numbers");
    stage_begin(job, STAGE_WORK);
    const ech_status status =
        ech_unique_all(job->ctx, c->keys, kept->keys, numbers ? kept->first : NULL,
                       numbers ? NULL : kept->first, kept->counts, &runs, n, c->dtype, ECH_U64, &o);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    kept->n = numbers ? runs : n;
    for (uint64_t i = 0; kept->lines && i < runs; i++) kept->lines[i] = c->lines[kept->first[i]];
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- The result ---- */

static int make_kept(struct job *job, struct kept *kept)
{
    const struct io_column *c = &job->column;
    size_t n = (size_t)c->n;
    bool counts = set.count || set.repeated || set.singletons || set.by_count || set.mode;
    *kept = (struct kept){ .n = 0 };
    if (is_distinct()) return find_distinct(job, kept);
    if (!counts) {
        kept->keys = malloc(c->keys_bytes + 1);
        if (c->lines) kept->lines = malloc(n * sizeof *kept->lines + 1);
        if (!kept->keys || (c->lines && !kept->lines))
            return job_no_memory(job, c->keys_bytes + n * (c->lines ? 8 : 0),
                                 "the distinct numbers");
    }
    stage_begin(job, STAGE_WORK);
    ech_status status = set.runs ? ECH_OK : sort(job);
    if (status == ECH_OK && !counts) status = find_runs(job, kept);
    int code = status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
    if (code == EXIT_DONE && counts) code = count_runs(job, kept);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return code;
}

/* Finds the line of each run, and removes the runs that --repeated or --singletons excludes. */
static void filter(const struct job *job, struct kept *kept)
{
    const struct io_column *c = &job->column;
    size_t bytes = ech_dtype_bytes(c->dtype);
    uint64_t to = 0, first = 0;
    if (!kept->counts) return;
    for (uint64_t i = 0; i < kept->n; i++) {
        uint64_t count = kept->counts[i], line = c->lines ? c->lines[first] : 0;
        if (kept->first && c->lines) line = kept->lines[i];
        first += count;
        if ((set.repeated && count < 2) || (set.singletons && count > 1)) continue;
        memmove(kept->keys + to * bytes, kept->keys + i * bytes, bytes);
        if (c->lines) kept->lines[to] = line;
        if (kept->first) kept->first[to] = kept->first[i];
        kept->counts[to++] = count;
    }
    kept->n = to;
}

/* Keeps the most frequent number, the first of several. */
static void keep_mode(const struct job *job, struct kept *kept)
{
    const size_t bytes = ech_dtype_bytes(job->column.dtype);
    size_t best = 0;
    for (size_t i = 1; i < kept->n; i++)
        if (kept->counts[i] > kept->counts[best]) best = i;
    if (kept->n == 0) return;
    memmove(kept->keys, kept->keys + best * bytes, bytes);
    kept->counts[0] = kept->counts[best];
    if (kept->lines) kept->lines[0] = kept->lines[best];
    kept->n = 1;
}

/* Sorts the counts in descending order, and the keys and lines with them. */
static int order_by_count(struct job *job, struct kept *kept)
{
    size_t n = (size_t)kept->n, bytes = ech_dtype_bytes(job->column.dtype);
    uint64_t *index = malloc(n * sizeof *index + 1), *from;
    struct kept next = { .keys = malloc(n * bytes + 1),
                         .counts = malloc(n * sizeof *next.counts + 1),
                         .n = n,
                         .room = n };
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

/* The format of "uniq -c": the count, then the line or the number. */
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
        status = io_write(output, c->text + lines[i], io_record_bytes(c, lines[i]), error);
    }
    return status;
}

/* A .npy array of packed records: a count and a number each. */
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
    if (set.index || set.inverse)
        return write_index(output, job->out_format, kept->first, sizeof *kept->first, kept->n, NULL,
                           error);
    if (records) return write_records(output, c, kept, error);
    if (kept->counts && set.count) return write_counts(output, c, kept, error);
    if (c->lines) return write_lines(output, c, kept->lines, kept->n, error);
    if (kept->keys) memcpy(c->keys, kept->keys, (size_t)kept->n * ech_dtype_bytes(c->dtype));
    return write_keys(output, c, job->out_format, kept->n, error);
}

/* ---- Run ---- */

static int unique_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    struct kept kept = { 0 };
    const bool npy = set.job.output && io_format_from_extension(set.job.output) == IO_NPY;
    int code = table_load_one(job, &set.job, set.string, &table);
    const bool positions = set.index || set.inverse;
    const bool records = set.count && npy && !job->strings;
    if (code == EXIT_DONE && (set.count || (job->strings && !positions)) && !records)
        code = job_plan_text(&set.job);
    if (code == EXIT_DONE && !set.count)
        code = job_plan_output(job, &set.job, output, positions ? ECH_U64 : job->column.dtype);
    if (code == EXIT_DONE) code = make_kept(job, &kept);
    if (code == EXIT_DONE) {
        filter(job, &kept);
        if (set.by_count && kept.counts) code = order_by_count(job, &kept);
        if (set.mode && kept.counts) keep_mode(job, &kept);
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

enum { INVERSE, INDEX, MODE, APPEARANCE, RUNS, BY_COUNT, COUNT, REPEATED, SINGLETONS };

static int check_options(void)
{
    const struct {
        const char *name;
        bool set;
    } all[] = { { "inverse", set.inverse },
                { "index", set.index },
                { "mode", set.mode },
                { "appearance", set.appearance },
                { "runs", set.runs },
                { "by-count", set.by_count },
                { "count", set.count },
                { "repeated", set.repeated },
                { "singletons", set.singletons } };
    static const unsigned char excluded[][2] = {
        { INVERSE, INDEX },      { INVERSE, MODE },    { INVERSE, RUNS },
        { INVERSE, BY_COUNT },   { INVERSE, COUNT },   { INVERSE, REPEATED },
        { INVERSE, SINGLETONS }, { INDEX, MODE },      { INDEX, RUNS },
        { INDEX, BY_COUNT },     { INDEX, COUNT },     { MODE, APPEARANCE },
        { MODE, RUNS },          { MODE, BY_COUNT },   { MODE, REPEATED },
        { MODE, SINGLETONS },    { APPEARANCE, RUNS }, { APPEARANCE, BY_COUNT },
        { REPEATED, SINGLETONS }
    };
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++)
        if (all[excluded[i][0]].set && all[excluded[i][1]].set)
            return cli_fail(EXIT_BAD, "--%s cannot be combined with --%s", all[excluded[i][0]].name,
                            all[excluded[i][1]].name);
    return EXIT_DONE;
}

static int run(int count, char **operands)
{
    struct job job = { .command = "unique", .work = "unique", .working = "sorting and comparing" };
    int code = job_input(&job, count, operands);
    if (code == EXIT_DONE) code = check_options();
    if (code == EXIT_DONE) code = table_check_string(set.string, &set.job);
    if (code == EXIT_DONE) code = job_run(&job, &set.job, unique_to);
    table_free(&table);
    return code;
}

const struct command command_unique = {
    .name = "unique",
    .summary = "distinct numbers or strings, and how often they occur",
    .usage = "  echelon unique [OPTION]... [INPUT]\n",
    .examples = "  echelon unique data.npy -o values.npy\n"
                "  echelon unique --count --by-count column.txt | head   the most frequent\n"
                "  echelon unique --repeated ids.u64 -o repeated.u64     duplicates\n"
                "  echelon unique --count -k city goods.csv              of a column of text\n"
                "  echelon unique --inverse --appearance ids.u64 -o codes.npy\n"
                "  echelon unique --count data.npy -o counts.npy         a NumPy record array\n",
    .notes =
        "The output is in ascending order, or, with --runs, in the order of INPUT.  -0 equals\n"
        "+0, and all NaN are equal.  If lines differ but their numbers are equal, as 1 and 1.0,\n"
        "the first line is written.\n\n"
        "With --string, lines or columns are compared as text, by bytes, and the output is lines.\n"
        "Without it and without --type, a column is text if neither of its first two values that\n"
        "are not empty is a number; otherwise, a value that is not a number is an error.\n\n"
        "--index and --inverse write u64; without -o, in the format of INPUT.\n\n"
        "--count writes text: per line a count, and the number or the line, as uniq -c does.\n"
        "With -o FILE.npy it writes an array of records with the fields count (u64) and value.\n"
        "Without --count, the format of the output is that of its extension (.npy, .txt, .u32\n"
        "and so on), otherwise that of INPUT.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 1,
    .run = run,
};
