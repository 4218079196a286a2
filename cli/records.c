/*
 * records.c - "echelon records": sorts records of a fixed size, or the rows of a matrix, by keys.
 *
 *     records_to()  load -> shape -> keys -> sort -> write
 *
 * A key is a field of a structured .npy array, a column of a matrix, or an offset and a type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 16, MOST_WORD = 96 };

static struct {
    struct job_words job; /* without --type, --column and so on */
    const char *record, *keys, *order, *algorithm;
    bool reverse, argsort;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 0, "keys", "KEY,...", &set.keys,
      "sort by the first key, then by the second, and so on; a KEY is\nthe name of a field, the "
      "number of a column from 0, or\nOFFSET:TYPE; KEY:desc is in descending order" },
    { 0, "record", "BYTES", &set.record,
      "INPUT is raw, and its records have this size; not for .npy" },
    { 'r', "reverse", NULL, &set.reverse, "reverse the direction of every key" },
    { 0, "argsort", NULL, &set.argsort,
      "write the position in INPUT of each sorted record, counted\nfrom 0" },
    { 0, "order", "ORDER", &set.order,
      "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder" },
    JOB_DEVICE_OPTIONS(set.job),
    { 0, "memory", "BYTES", &set.job.memory,
      "limit of device memory: 500M, 8Gi; default: no limit" },
    { 0, "algorithm", "NAME", &set.algorithm,
      "use this algorithm; \"echelon explain columns\" lists them" },
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

struct records_job {
    struct job base;          /* first, so that a pointer to it can be converted */
    struct io_records fields; /* of a structured .npy array */
    ech_record_key keys[MOST_KEYS];
    size_t key_count;
    ech_order order;
    ech_columns_options options;
    void *index; /* with --argsort: [n] of u32 or u64 */
};

/* ---- Keys ---- */

/* A field of a structured array.  Its type may be one that NumPy sorts by its bytes. */
static int use_field(const struct records_job *job, const char *name, ech_record_key *key)
{
    const struct io_records *fields = &job->fields;
    const char *names[IO_MOST_FIELDS];
    const struct io_record_field *field = NULL;
    for (int i = 0; i < fields->count; i++) {
        names[i] = fields->fields[i].name;
        if (!field && strcmp(name, names[i]) == 0) field = &fields->fields[i];
    }
    if (!field) return cli_unknown("field", name, names, fields->count);
    const char *descr = field->descr;
    const bool native = descr[0] != '>' || descr[2] == '1';
    const bool bytes = descr[1] == 'S' || descr[1] == 'V' || (!native && descr[1] == 'u');
    key->offset_bytes = (size_t)field->offset_bytes;
    if (bytes && !field->array && field->element_bytes) {
        key->kind = ECH_KEY_BYTES; /* of a big-endian unsigned integer, too */
        key->width_bytes = (size_t)field->element_bytes;
        return EXIT_DONE;
    }
    for (int type = 0; native && !field->array && ech_dtype_bytes((ech_dtype)type); type++) {
        const char *numpy = io_npy_descr((ech_dtype)type);
        if (!numpy || strcmp(strcmp(descr + 1, "b1") == 0 ? "u1" : descr + 1, numpy + 1) != 0)
            continue;
        key->dtype = (ech_dtype)type;
        return EXIT_DONE;
    }
    if (!native && !field->array && (descr[1] == 'i' || descr[1] == 'f'))
        return cli_fail(EXIT_BAD,
                        "%s: field \"%s\" has the big-endian type '%s', which cannot be a key; "
                        "convert it with astype() of NumPy",
                        job->base.input, name, descr);
    return cli_fail(EXIT_BAD,
                    "%s: field \"%s\" has type '%s'%s, which cannot be a key; use "
                    "integers, floats or byte strings",
                    job->base.input, name, descr, field->array ? " and a shape" : "");
}

/* A column of a matrix. */
static int use_column(const struct records_job *job, const char *word, ech_record_key *key)
{
    const struct io_column *c = &job->base.column;
    uint64_t number;
    const int code = cli_parse_count("keys", word, &number);
    if (code != EXIT_DONE) return code;
    if (number >= c->npy.columns)
        return cli_fail(EXIT_BAD, "%s: there is no column %s; the columns are 0 to %llu",
                        job->base.input, word, (unsigned long long)c->npy.columns - 1);
    key->dtype = c->dtype;
    key->offset_bytes = (size_t)number * ech_dtype_bytes(c->dtype);
    return EXIT_DONE;
}

/* Splits word, which it changes, at its colons: KEY, OFFSET:TYPE, each with an optional :desc. */
static int parse_key(const struct records_job *job, char *word, ech_record_key *key)
{
    const char *whole = set.keys;
    *key = (ech_record_key){ .size = sizeof *key, .order = job->order };
    cli_take_direction(word, key);
    char *colon = strrchr(word, ':');
    key->descending ^= set.reverse;
    if (!*word) return cli_fail(EXIT_BAD, "--keys is \"%s\", which has an empty key", whole);
    if (!colon && job->fields.count) return use_field(job, word, key);
    if (!colon && job->base.column.format == IO_NPY) return use_column(job, word, key);
    if (!colon)
        return cli_fail(EXIT_BAD,
                        "--keys: \"%s\" is not OFFSET:TYPE, such as 4:u32; %s has no "
                        "named fields",
                        word, job->base.input);
    uint64_t offset;
    *colon = 0;
    if (!cli_parse_key_type(colon + 1, key))
        return cli_fail(EXIT_BAD,
                        "--keys: unknown type \"%s\"; use " CLI_TYPES ", or bytesN, "
                        "unsignedN or signedN with N bytes",
                        colon + 1);
    const int code = cli_parse_count("keys", word, &offset);
    key->offset_bytes = (size_t)offset;
    return code;
}

static int parse_keys(struct records_job *job)
{
    const char *at = set.keys;
    for (bool more = true; more;) {
        const char *comma = strchr(at, ',');
        const size_t length = comma ? (size_t)(comma - at) : strlen(at);
        char word[MOST_WORD];
        if (job->key_count == MOST_KEYS)
            return cli_fail(EXIT_BAD, "--keys has more than %d keys", MOST_KEYS);
        if (length >= sizeof word)
            return cli_fail(EXIT_BAD, "--keys: \"%.*s...\" is too long", 20, at);
        memcpy(word, at, length);
        word[length] = 0;
        ech_record_key *key = &job->keys[job->key_count++];
        const int code = parse_key(job, word, key);
        if (code != EXIT_DONE) return code;
        const size_t width =
            key->kind == ECH_KEY_DTYPE ? ech_dtype_bytes(key->dtype) : key->width_bytes;
        if (key->offset_bytes > job->base.record_bytes ||
            width > job->base.record_bytes - key->offset_bytes)
            return cli_fail(EXIT_BAD,
                            "--keys: \"%.*s\" ends after the record, which has %llu bytes",
                            (int)length, at, (unsigned long long)job->base.record_bytes);
        more = comma != NULL;
        at += length + 1;
    }
    return EXIT_DONE;
}

/* ---- Records ---- */

/* Makes the records the elements of the column. */
static int plan_records(struct records_job *job, uint64_t record_bytes)
{
    struct io_column *c = &job->base.column;
    if (c->format == IO_RAW && c->keys_bytes >= 6 && memcmp(c->keys, "\x93NUMPY", 6) == 0)
        return cli_fail(EXIT_BAD, "%s: is a .npy file; --record is for raw input", job->base.input);
    const bool matrix = c->format == IO_NPY && !c->npy.records;
    if (c->npy.records && c->npy.dimensions != 1)
        return cli_fail(EXIT_BAD, "%s: has records in %llu dimensions; one is supported",
                        job->base.input, (unsigned long long)c->npy.dimensions);
    if (matrix && c->npy.dimensions != 2)
        return cli_fail(EXIT_BAD,
                        "%s: is an array of numbers with one dimension; records are the rows of a "
                        "matrix, or of a structured type",
                        job->base.input);
    if (matrix) record_bytes = c->npy.columns * ech_dtype_bytes(c->dtype);
    if (c->npy.records) record_bytes = job->fields.bytes;
    if (matrix && !record_bytes)
        return cli_fail(EXIT_BAD, "%s: its rows have no columns", job->base.input);
    if (c->keys_bytes % record_bytes)
        return cli_fail(EXIT_BAD, "%s: has %llu bytes, which is not a multiple of --record %s",
                        job->base.input, (unsigned long long)c->keys_bytes, set.record);
    job->base.record_bytes = record_bytes;
    const int code = matrix ? job_make_rows(&job->base) : EXIT_DONE;
    c->n = c->keys_bytes / record_bytes;
    job->base.n_out = c->n;
    return code;
}

static int plan_output(struct records_job *job, const struct io_output *output)
{
    struct job *base = &job->base;
    const char *name = set.job.output;
    const int said = name ? io_format_from_extension(name) : -1;
    if (set.argsort) return job_plan_output(base, &set.job, output, ECH_U64);
    base->out_format = said < 0 ? base->column.format : (io_format)said;
    if (base->out_format == IO_TEXT)
        return cli_fail(EXIT_BAD, "%s: the extension means text, but the output is records", name);
    if (base->out_format == IO_NPY && base->column.format != IO_NPY)
        return cli_fail(EXIT_BAD, "%s: the extension means npy, but the output is raw records",
                        name);
    return job_refuse_terminal(output);
}

static ech_dtype index_type(const struct records_job *job)
{
    return job->base.column.n <= UINT32_MAX ? ECH_U32 : ECH_U64;
}

/* The keys as columns whose elements are record_bytes apart. */
static void make_columns(const struct records_job *job, ech_sort_column *columns)
{
    const char *records = job->base.column.keys;
    for (size_t i = 0; i < job->key_count; i++) {
        const ech_record_key *key = &job->keys[i];
        columns[i] = (ech_sort_column){ .size = sizeof *columns,
                                        .data = records + key->offset_bytes,
                                        .dtype = key->dtype,
                                        .descending = key->descending,
                                        .order = key->order,
                                        .kind = key->kind,
                                        .width_bytes = key->width_bytes,
                                        .stride_bytes = (size_t)job->base.record_bytes };
    }
}

static int sort_records(struct records_job *job)
{
    struct io_column *c = &job->base.column;
    ech_sort_column columns[MOST_KEYS];
    ech_status status;
    const size_t n = (size_t)c->n;
    if (set.argsort) {
        const size_t bytes = n * ech_dtype_bytes(index_type(job));
        job->index = malloc(bytes + 1);
        if (!job->index) return job_no_memory(&job->base, bytes, "the index");
    }
    stage_begin(&job->base, STAGE_WORK);
    if (set.argsort) {
        make_columns(job, columns);
        status = ech_argsort_columns(job->base.ctx, columns, job->index, n, job->key_count,
                                     index_type(job), &job->options);
    } else {
        status =
            ech_sort_records(job->base.ctx, c->keys, c->keys, n, (size_t)job->base.record_bytes,
                             job->keys, job->key_count, &job->options);
    }
    stage_end(&job->base, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->base.ctx);
}

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct records_job *job = (const struct records_job *)base;
    const char *device = ech_device_name(base->ctx);
    ech_sort_column columns[MOST_KEYS];
    text[0] = 0;
    make_columns(job, columns);
    if (set.argsort)
        ech_argsort_columns_explain(device, columns, (size_t)base->column.n, job->key_count,
                                    index_type(job), &job->options, ECH_FORMAT_TEXT, text, bytes);
    else
        ech_sort_records_explain(device, (size_t)base->column.n, (size_t)base->record_bytes,
                                 job->keys, job->key_count, 1, &job->options, ECH_FORMAT_TEXT, text,
                                 bytes);
}

/* ---- Run ---- */

static io_status write_records(struct records_job *job, struct io_output *output,
                               struct io_error *error)
{
    struct io_column *c = &job->base.column;
    io_status status = IO_OK;
    output->total_bytes = c->keys_bytes;
    if (set.argsort)
        return write_index(output, job->base.out_format, job->index,
                           ech_dtype_bytes(index_type(job)), c->n, NULL, error);
    if (job->base.out_format == IO_NPY) {
        /* A matrix in Fortran order has become one in C order. */
        unsigned char c_order[IO_NPY_HEADER];
        const bool changed = c->npy.fortran && !c->npy.records;
        const size_t bytes =
            changed ? io_npy_header_matrix(c->npy.descr, c->npy.rows, c->npy.columns, c_order)
                    : c->npy.header_bytes;
        status = io_write(output, changed ? c_order : c->header, bytes, error);
        if (c->npy.big_endian)
            io_swap(c->keys, c->keys_bytes / ech_dtype_bytes(c->dtype), ech_dtype_bytes(c->dtype));
    }
    return status == IO_OK ? io_write(output, c->keys, c->keys_bytes, error) : status;
}

static int records_to(struct job *base, struct io_output *output)
{
    struct records_job *job = (struct records_job *)base;
    struct io_error error;
    uint64_t record_bytes = 0;
    int code = set.record ? cli_parse_count("record", set.record, &record_bytes) : EXIT_DONE;
    if (code == EXIT_DONE && set.record && !record_bytes)
        code = cli_fail(EXIT_BAD, "--record is 0; a record has at least 1 byte");
    if (code == EXIT_DONE) code = job_load(base, &set.job);
    if (code == EXIT_DONE) code = plan_records(job, record_bytes);
    if (code == EXIT_DONE) code = plan_output(job, output);
    if (code == EXIT_DONE) code = parse_keys(job);
    if (code == EXIT_DONE) code = sort_records(job);
    if (code != EXIT_DONE) return code;
    stage_begin(base, STAGE_WRITE);
    const io_status status = write_records(job, output, &error);
    return job_commit(base, output, status, &error);
}

/* Raw input has --record, whatever its extension is. */
static int choose_format(const char *input)
{
    const int said = io_format_from_extension(input);
    if (set.record && said == IO_NPY)
        return cli_fail(EXIT_BAD, "%s: is a .npy file; --record is for raw input", input);
    if (!set.record && said >= 0 && said != IO_NPY)
        return cli_fail(EXIT_BAD, "%s: give --record, the size of a record", input);
    set.job.format = set.record ? "raw" : "npy";
    set.job.type = set.record ? "u8" : NULL;
    return EXIT_DONE;
}

static int run(int count, char **operands)
{
    struct records_job job = {
        .base = { .command = "records",
                  .work = "sort",
                  .working = "sorting",
                  .plan = plan,
                  .dimensions = 2 },
        .options = { .size = sizeof job.options, .algorithm = set.algorithm },
    };
    job.base.records = &job.fields;
    int code = job_input(&job.base, count, operands);
    if (code == EXIT_DONE && !set.keys)
        code = cli_fail(EXIT_BAD, "give --keys: the names of fields, or OFFSET:TYPE,...");
    if (code == EXIT_DONE) code = cli_parse_order(set.order, &job.order);
    if (code == EXIT_DONE) code = choose_format(job.base.input);
    if (code == EXIT_DONE) code = job_run(&job.base, &set.job, records_to);
    free(job.index);
    return code;
}

const struct command command_records = {
    .name = "records",
    .summary = "sort records, or the rows of a matrix, by keys",
    .usage = "  echelon records --keys KEY,... [OPTION]... [INPUT]\n",
    .examples =
        "  echelon records --keys price,id:desc goods.npy -o sorted.npy   a structured array\n"
        "  echelon records --keys 2,0 matrix.npy -o sorted.npy            rows, by columns 2 and "
        "0\n"
        "  echelon records --record 16 --keys 0:bytes16 uuids.raw -o s.raw\n"
        "  echelon records --record 24 --keys 8:f64:desc,0:u32 log.raw -o s.raw\n",
    .notes = "INPUT \"-\" is standard input, the default.  A .npy file has one dimension of a "
             "structured\n"
             "type, or two dimensions of numbers, whose rows are the records.  Other files need\n"
             "--record.  OFFSET counts the bytes from the begin of the record.  TYPE is one "
             "of\n" CLI_TYPES ", or bytesN, unsignedN or\n"
             "signedN: a string or a little-endian integer of N bytes; N means bytesN.\n\n"
             "Records with equal keys keep their order.  The output has the format of INPUT.\n"
             "--argsort writes u64.\n",
    .options = options,
    .most_operands = 1,
    .run = run,
};
