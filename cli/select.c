/*
 * select.c - "echelon select": the numbers of a file that satisfy a condition, or their lines.
 *
 *     one condition on numbers   ech_select_if()
 *     other conditions           a vote per row and condition, then ech_select_flags()
 *
 * For text, the library returns the positions of the selected rows, and their lines are written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "condition.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CONDITIONS = 63 };

static struct {
    struct job_words job;
    bool invert, any, index, count;
    struct condition conditions[MOST_CONDITIONS];
    int condition_count;
    struct table table;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'v', "invert", NULL, &set.invert, "select the elements that would not be selected" },
    { 0, "any", NULL, &set.any, "one of the conditions must hold; default: all of them" },
    { 0, "count", NULL, &set.count, "print only the number of selected elements" },
    { 0, "index", NULL, &set.index, "write the positions in INPUT, counted from 0" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Work ---- */

static int count(struct job *job, const struct where *where)
{
    const struct io_column *c = &job->column;
    ech_reduce_options o = { .size = sizeof o, .compare = where->compare, .value = &where->value };
    uint64_t passed = 0;
    stage_begin(job, STAGE_WORK);
    ech_status status =
        ech_reduce(job->ctx, ECH_OP_COUNT, c->keys, &passed, (size_t)c->n, c->dtype, &o);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    job->n_out = set.invert ? c->n - passed : passed;
    return EXIT_DONE;
}

/* Writes the elements, or their positions, to memory from malloc(). */
static int select_elements(struct job *job, const struct where *where, bool index, void **kept)
{
    const struct io_column *c = &job->column;
    size_t bytes = (size_t)c->n * (index ? sizeof(uint64_t) : ech_dtype_bytes(c->dtype));
    ech_select_options o = { .size = sizeof o,
                             .invert = set.invert,
                             .positions = index ? ECH_U64 : (ech_dtype)0 };
    *kept = malloc(bytes + 1);
    if (!*kept) return job_no_memory(job, bytes, index ? "the positions" : "the selection");
    stage_begin(job, STAGE_WORK);
    ech_status status = ech_select_if(job->ctx, where->compare, c->keys, *kept, &job->n_out,
                                      (size_t)c->n, c->dtype, &where->value, &o);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* Whether there is one condition, of numbers, with one test. */
static bool is_simple(const struct job *job)
{
    const struct condition *c = &set.conditions[0];
    return set.condition_count == 1 && !c->string && c->tests == 1 && !job->record_bytes;
}

/* Writes the positions of the rows that satisfy the conditions to memory from malloc(). */
static int select_rows(struct job *job, void **kept)
{
    const size_t n = (size_t)job->column.n;
    uint8_t *votes = calloc(n + 1, 1);
    void *scratch = malloc(n * 9 + 1);
    *kept = malloc(n * sizeof(uint64_t) + 1);
    int code = EXIT_DONE;
    if (!votes || !scratch || !*kept) code = job_no_memory(job, n * 18, "the selection");
    stage_begin(job, STAGE_WORK);
    for (int i = 0; i < set.condition_count && code == EXIT_DONE; i++)
        code = condition_apply(job, &set.conditions[i], &set.table, votes, scratch);
    free(scratch);
    if (code == EXIT_DONE) {
        const int need = set.any ? 1 : set.condition_count;
        const ech_select_options o = { .size = sizeof o,
                                       .invert = set.invert,
                                       .positions = ECH_U64 };
        for (size_t i = 0; i < n; i++) votes[i] = votes[i] >= need;
        const ech_status status =
            ech_select_flags(job->ctx, NULL, votes, *kept, &job->n_out, n, 1, &o);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    stage_end(job, STAGE_WORK, 0);
    free(votes);
    return code;
}

/* Moves the selected numbers, at ascending positions, to the front of kept. */
static void gather(const struct io_column *c, uint64_t n, uint64_t *kept)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const char *keys = c->keys;
    char *to = (char *)kept;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = kept[i];
        memcpy(to + i * bytes, keys + at * bytes, bytes);
    }
}

/* ---- Run ---- */

static io_status write_kept(struct job *job, struct io_output *output, void *kept,
                            struct io_error *error)
{
    struct io_column *c = &job->column;
    uint64_t *positions = kept;
    if (set.index)
        return write_index(output, job->out_format, kept, sizeof(uint64_t), job->n_out, NULL,
                           error);
    if (job->record_bytes)
        return table_write_records(job, output, job->out_format == IO_NPY, kept, job->n_out, error);
    if (c->lines) {
        /* Positions are ascending, so none is overwritten before it is read. */
        for (uint64_t i = 0; i < job->n_out; i++) positions[i] = c->lines[positions[i]];
        return write_lines(output, c, positions, job->n_out, error);
    }
    memcpy(c->keys, kept, (size_t)job->n_out * ech_dtype_bytes(c->dtype));
    return write_keys(output, c, job->out_format, job->n_out, error);
}

/* Reads the columns of the conditions.  If they are one column of numbers, it is that of the job,
 * so that the output may be numbers. */
static int load(struct job *job)
{
    int type, code = cli_parse_dtype(set.job.type, &type);
    if (code == EXIT_DONE)
        code = condition_columns(set.conditions, set.condition_count, set.job.column, type,
                                 &set.table);
    if (code == EXIT_DONE) code = table_load(job, &set.job, &set.table);
    for (int i = 0; i < set.condition_count && code == EXIT_DONE; i++)
        code = condition_check(job, &set.conditions[i], &set.table);
    struct io_column *c = &job->column;
    struct table_column *column = &set.table.columns[0];
    if (code == EXIT_DONE && c->text && set.table.count == 1 && column->keys) {
        c->keys = column->keys;
        c->dtype = column->dtype;
        c->keys_bytes = (size_t)c->n * ech_dtype_bytes(c->dtype);
        column->keys = NULL;
    }
    return code;
}

/* Records are written as an array, or as raw bytes. */
static int plan_records(struct job *job, const struct io_output *output)
{
    const int said = set.job.output ? io_format_from_extension(set.job.output) : -1;
    job->out_format = said < 0 ? IO_NPY : (io_format)said;
    if (said == IO_TEXT || (said == IO_RAW && io_dtype_from_extension(set.job.output) >= 0))
        return cli_fail(EXIT_BAD, "%s: the extension does not mean records; use .npy or .bin",
                        set.job.output);
    return job_refuse_terminal(output);
}

static int plan_output(struct job *job, const struct io_output *output)
{
    struct io_column *c = &job->column;
    if (set.count) return job_plan_text(&set.job);
    job->positions = set.index;
    if (job->record_bytes && !set.index) return plan_records(job, output);
    return job_plan_output(job, &set.job, output, set.index ? ECH_U64 : c->dtype);
}

static int select_all(struct job *job, void **kept)
{
    const struct io_column *c = &job->column;
    struct where where;
    if (!is_simple(job)) {
        const int code = select_rows(job, kept);
        if (code == EXIT_DONE && !set.index && !c->lines && !set.count && !job->record_bytes)
            gather(c, job->n_out, *kept);
        return code;
    }
    const int code = where_parse("WHERE", set.conditions[0].test[0], c->dtype, &where);
    if (code != EXIT_DONE) return code;
    if (set.count) return count(job, &where);
    return select_elements(job, &where, set.index || c->lines, kept);
}

static int select_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    void *kept = NULL;
    int code = load(job);
    if (code == EXIT_DONE) code = plan_output(job, output);
    if (code == EXIT_DONE) code = select_all(job, &kept);
    if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        io_status status = set.count ? write_numbers(output, ECH_U64, &job->n_out, 1, &error)
                                     : write_kept(job, output, kept, &error);
        code = job_commit(job, output, status, &error);
    }
    free(kept);
    return code;
}

/* The operands are conditions, and then, unless there is only one, INPUT. */
static int parse(int count, char **operands)
{
    int code = EXIT_DONE;
    const int n = count > 1 ? count - 1 : count;
    for (; set.condition_count < n && code == EXIT_DONE; set.condition_count++)
        code = condition_parse(operands[set.condition_count], &set.conditions[set.condition_count]);
    if (code != EXIT_DONE || count < 2) return code;
    const char *input = operands[count - 1];
    if (strcmp(input, "-") != 0 && strpbrk(input, "<>=!&:") && access(input, F_OK) != 0)
        return cli_fail(EXIT_BAD,
                        "%s: there is no such file; if it is a condition, add INPUT as the last "
                        "operand: - is standard input",
                        input);
    return EXIT_DONE;
}

static int run(int operand_count, char **operands)
{
    struct io_records records;
    struct job job = {
        .command = "select", .work = "select", .working = "selecting", .records = &records
    };
    if (operand_count == 0)
        return cli_fail(EXIT_BAD, "no condition: give one, for example echelon select '>=0' INPUT");
    int code = parse(operand_count, operands);
    if (code == EXIT_DONE && set.count && set.index)
        code = cli_fail(EXIT_BAD, "--count cannot be combined with --index");
    if (code == EXIT_DONE) code = job_input(&job, operand_count > 1, operands + operand_count - 1);
    if (code == EXIT_DONE) code = job_run(&job, &set.job, select_to);
    for (int i = 0; i < set.condition_count; i++) condition_free(&set.conditions[i]);
    table_free(&set.table);
    return code;
}

const struct command command_select = {
    .name = "select",
    .summary = "select the numbers, or the lines, that satisfy conditions",
    .usage = "  echelon select [OPTION]... WHERE [INPUT]\n"
             "  echelon select [OPTION]... WHERE... INPUT\n",
    .examples = "  echelon select '>=0' data.npy -o positive.npy\n"
                "  echelon select '!=nan' data.npy -o data.npy      remove NaN, in place\n"
                "  echelon select 'price<9.5' 'qty>=2' goods.csv    lines, by two columns\n"
                "  echelon select --any 'city==Oslo' 'price:1..3' goods.csv\n"
                "  echelon select --count nonzero data.npy          only the count\n"
                "  echelon select '&0x80' flags.u8 --index          positions, counted from 0\n",
    .notes =
        "WHERE is one of these conditions, in quotes:\n"
        "  '<3' '<=3' '==3' '!=3' '>=3' '>3'   comparison by value\n"
        "  '1..3' '1..' '..3'                  a range, with both ends\n"
        "  nan '!=nan' zero nonzero            NaN, not NaN, 0, not 0; NaN is nonzero\n"
        "  '&0xff' '&=0xff' '!&0xff'           any, all, none of these bits are set\n"
        "It may begin with a column, by name or number, and a colon: 'price:>=3', '2:1..3',\n"
        "'price:nan'.  The colon may be omitted before a sign: 'price>=3'.  Without a column, the\n"
        "condition is on --column.  Several conditions must all hold, or, with --any, one.\n\n"
        "A value that is not a number is text, which is compared by bytes: 'city==Oslo',\n"
        "'date:2026-01-01..2026-01-31'.  In double quotes, a number is text, too:\n"
        "'zip==\"01234\"'.\n\n" JOB_INPUT_NOTES "\n"
        "Lines are written unchanged, after the header line if there is one.  The format of the\n"
        "output is that of its extension (.npy, .txt, .u32 and so on), otherwise that of INPUT.\n"
        "--index writes u64.  INPUT may also be a structured .npy array, whose fields are the\n"
        "columns.\n",
    .options = options,
    .most_operands = MOST_CONDITIONS + 1,
    .run = run,
};
