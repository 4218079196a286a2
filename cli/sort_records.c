/*
 * sort_records.c - records of a fixed size for the external sort: raw records, the elements of a
 * structured .npy array, or the rows of a matrix.
 *
 *     sort_files_records()  header or --record -> shape -> keys -> kind of the sort
 *
 * A key is a field of a structured array, a column of a matrix, or an offset and a type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_files.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORD = 96, MOST_RECORD = 1 << 30 };

struct shape {
    bool array, matrix; /* a .npy array; with two dimensions */
    struct io_npy npy;
    uint64_t bytes; /* of a record */
    uint64_t n;     /* of an array */
};

/* ---- Keys ---- */

/* A field of a structured array.  Its type may be one that NumPy sorts by its bytes. */
static int use_field(const struct sort_files *files, const char *name, ech_record_key *key)
{
    const struct io_records *fields = &files->fields;
    const char *names[IO_MOST_FIELDS], *input = files->inputs[0].name;
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
                        input, name, descr);
    return cli_fail(EXIT_BAD,
                    "%s: field \"%s\" has type '%s'%s, which cannot be a key; use "
                    "integers, floats or byte strings",
                    input, name, descr, field->array ? " and a shape" : "");
}

/* A column of a matrix. */
static int use_column(const struct sort_files *files, const struct shape *shape, const char *word,
                      ech_record_key *key)
{
    uint64_t number;
    const int code = cli_parse_count("key", word, &number);
    if (code != EXIT_DONE) return code;
    if (number >= shape->npy.columns)
        return cli_fail(EXIT_BAD, "%s: there is no column %s; the columns are 0 to %llu",
                        files->inputs[0].name, word, (unsigned long long)shape->npy.columns - 1);
    key->dtype = shape->npy.dtype;
    key->offset_bytes = (size_t)number * ech_dtype_bytes(shape->npy.dtype);
    return EXIT_DONE;
}

static int use_offset(const char *text, char *colon, const char *word, ech_record_key *key)
{
    uint64_t offset = 0;
    if (colon) *colon = 0;
    if (!colon || !cli_parse_key_type(colon + 1, key))
        return cli_fail(EXIT_BAD,
                        "key \"%s\" is not OFFSET:BYTES, such as 0:10, or OFFSET:TYPE, such as "
                        "8:f64:desc, with one of " CLI_TYPES ", bytesN, unsignedN or signedN",
                        text);
    const int code = cli_parse_count("key", word, &offset);
    key->offset_bytes = (size_t)offset;
    return code;
}

/* NAME, COLUMN, OFFSET:BYTES or OFFSET:TYPE, each with an optional :desc. */
static int parse_key(const struct sort_files *files, const struct shape *shape, const char *text,
                     ech_record_key *key)
{
    char word[MOST_WORD];
    int code;
    *key = (ech_record_key){ .size = sizeof *key, .order = files->job->options.order };
    if (strlen(text) >= sizeof word)
        return cli_fail(EXIT_BAD, "key \"%.20s...\" is too long", text);
    memcpy(word, text, strlen(text) + 1);
    cli_take_direction(word, key);
    char *colon = strrchr(word, ':');
    key->descending ^= files->set->words.reverse;
    if (!*word) return cli_fail(EXIT_BAD, "a key is empty");
    if (!colon && files->fields.count)
        code = use_field(files, word, key);
    else if (!colon && shape->matrix)
        code = use_column(files, shape, word, key);
    else
        code = use_offset(text, colon, word, key);
    if (code != EXIT_DONE) return code;
    const size_t width =
        key->kind == ECH_KEY_DTYPE ? ech_dtype_bytes(key->dtype) : key->width_bytes;
    if (key->offset_bytes <= shape->bytes && width <= shape->bytes - key->offset_bytes)
        return EXIT_DONE;
    return cli_fail(EXIT_BAD, "key \"%s\" ends after the record, which has %llu bytes", text,
                    (unsigned long long)shape->bytes);
}

static int parse_keys(const struct sort_files *files, const struct shape *shape,
                      ech_record_key *keys, size_t *n)
{
    const struct cli_list *words = &files->set->text.keys;
    int code = EXIT_DONE;
    if (words->count > FILES_MOST_KEYS)
        return cli_fail(EXIT_BAD, "%d keys of records; the maximum is %d", words->count,
                        FILES_MOST_KEYS);
    for (*n = 0; (int)*n < words->count && code == EXIT_DONE; ++*n)
        code = parse_key(files, shape, words->words[*n], &keys[*n]);
    if (code != EXIT_DONE || *n) return code;
    if (shape->bytes > 512)
        return cli_fail(EXIT_BAD, "give --key OFFSET:BYTES: all keys have at most 512 bytes");
    keys[(*n)++] = (ech_record_key){ .size = sizeof *keys,
                                     .kind = ECH_KEY_BYTES,
                                     .width_bytes = (size_t)shape->bytes,
                                     .descending = files->set->words.reverse };
    return EXIT_DONE;
}

/* ---- Arrays ---- */

/* Makes the look-ahead contain the header. */
static int look_at_header(struct sort_files *files, size_t *bytes)
{
    struct io_source *source = &files->sources[0];
    struct io_error error;
    size_t got = source->ahead_bytes;
    const io_status status =
        io_npy_header_bytes(source->ahead, source->ahead_bytes, source->name, bytes, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (*bytes <= got) return EXIT_DONE;
    char *header = files->begins[0].bytes = malloc(*bytes);
    if (!header) return job_no_memory(&files->job->base, *bytes, "its header");
    const size_t have = got;
    memcpy(header, source->ahead, have);
    source->ahead_bytes = 0;
    const int code = sort_files_read(files, 0, header + have, have, *bytes - have, &got);
    if (code != EXIT_DONE) return code;
    if (have + got < *bytes)
        return cli_fail(EXIT_BAD, "%s: the .npy header is truncated after %zu bytes", source->name,
                        have + got);
    source->ahead = (const unsigned char *)header;
    source->ahead_bytes = *bytes;
    return EXIT_DONE;
}

/* The size that the header specifies. */
static int check_size(struct sort_files *files, const struct shape *shape)
{
    struct files_input *input = &files->inputs[0];
    char *expects = files->begins[0].expects;
    input->expected = shape->n * shape->bytes;
    input->expects = expects;
    snprintf(expects, sizeof files->begins[0].expects,
             "the .npy header specifies %llu records of %llu bytes, %llu bytes",
             (unsigned long long)shape->n, (unsigned long long)shape->bytes,
             (unsigned long long)input->expected);
    if (input->fd < 0 || input->bytes == input->expected) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: %s, but %s follow", input->name, expects,
                    input->bytes < input->expected ? "fewer" : "more");
}

static int read_array(struct sort_files *files, struct shape *shape)
{
    const struct io_hints hints = {
        .format = IO_NPY, .dtype = -1, .dimensions = 2, .records = &files->fields
    };
    const struct io_source *source = &files->sources[0];
    struct io_npy *npy = &shape->npy;
    struct io_error error;
    size_t bytes;
    int code = look_at_header(files, &bytes);
    if (code != EXIT_DONE) return code;
    const io_status status = io_npy_parse(source->ahead, bytes, source->name, &hints, npy, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (npy->records && npy->dimensions != 1)
        return cli_fail(EXIT_BAD, "%s: has records in %llu dimensions; one is supported",
                        source->name, (unsigned long long)npy->dimensions);
    if (!npy->records && npy->dimensions != 2)
        return cli_fail(EXIT_BAD,
                        "%s: is an array of numbers with one dimension; records are the rows of a "
                        "matrix, or of a structured type",
                        source->name);
    shape->array = true;
    shape->matrix = !npy->records;
    shape->n = npy->records ? npy->n : npy->rows;
    shape->bytes = npy->records ? files->fields.bytes : npy->columns * ech_dtype_bytes(npy->dtype);
    if (!shape->bytes) return cli_fail(EXIT_BAD, "%s: its rows have no columns", source->name);
    files->job->base.column.npy = *npy;
    return EXIT_DONE;
}

/* Reads the whole matrix, which fits in a third of the budget, and transposes it. */
static int transpose_all(struct sort_files *files, const struct shape *shape)
{
    struct io_source *source = &files->sources[0];
    struct job *base = &files->job->base;
    const uint64_t bytes = shape->n * shape->bytes;
    char *columns = malloc((size_t)bytes + 1), *rows = malloc((size_t)bytes + 1);
    struct files_input *input = &files->inputs[0];
    size_t got = 0;
    int code = columns && rows ? EXIT_DONE : job_no_memory(base, 2 * bytes, "its rows");
    if (code == EXIT_DONE) {
        if (input->fd >= 0) source->ahead_bytes = 0;
        code = sort_files_read(files, 0, columns, 0, (size_t)bytes, &got);
    }
    if (code == EXIT_DONE && got < bytes)
        code = cli_fail(EXIT_BAD, "%s: %s, but fewer follow", source->name, input->expects);
    const ech_status status =
        code == EXIT_DONE ? ech_transpose(base->ctx, columns, rows, (size_t)shape->npy.columns,
                                          (size_t)shape->n, ech_dtype_bytes(shape->npy.dtype))
                          : ECH_OK;
    if (status != ECH_OK) code = cli_fail_ech(status, base->ctx);
    free(columns);
    free(files->begins[0].bytes);
    files->begins[0].bytes = rows;
    if (code != EXIT_DONE) return code;
    files->held_bytes = bytes;
    const char *name = source->name;
    io_close(source);
    io_open_memory(source, name, rows, (size_t)bytes);
    *input = (struct files_input){ .name = name, .fd = -1, .stream = source };
    return EXIT_DONE;
}

/* Copies a stream to a temporary file, of which any part can be read. */
static int store_stream(struct sort_files *files, const struct shape *shape)
{
    struct files_input *input = &files->inputs[0];
    const uint64_t bytes = shape->n * shape->bytes;
    size_t got = IO_BUFFER;
    char *block = malloc(IO_BUFFER);
    int code = block ? EXIT_DONE : job_no_memory(&files->job->base, IO_BUFFER, "a block");
    if (code == EXIT_DONE) code = sort_scratch_open(files->set, &files->spool);
    if (code == EXIT_DONE) code = sort_scratch_reserve(&files->spool, bytes);
    while (code == EXIT_DONE && got == IO_BUFFER && files->spool.bytes <= bytes) {
        code = sort_files_read(files, 0, block, 0, IO_BUFFER, &got);
        if (code == EXIT_DONE) code = sort_scratch_append(&files->spool, block, got);
    }
    free(block);
    if (code == EXIT_DONE && files->spool.bytes != bytes)
        code = cli_fail(EXIT_BAD, "%s: %s, but %s follow", input->name, input->expects,
                        files->spool.bytes < bytes ? "fewer" : "more");
    *input = (struct files_input){ .name = input->name, .fd = files->spool.fd, .bytes = bytes };
    return code;
}

/* Reads a part of each column, and appends the rows that they are to the temporary file. */
static int transpose_blocks(struct sort_files *files, const struct shape *shape, uint64_t most,
                            char *in, char *out)
{
    struct job *base = &files->job->base;
    const size_t each = ech_dtype_bytes(shape->npy.dtype);
    const uint64_t columns = shape->npy.columns;
    int code = EXIT_DONE;
    for (uint64_t i = 0; i < shape->n && code == EXIT_DONE; i += most) {
        const uint64_t n = shape->n - i < most ? shape->n - i : most;
        const size_t piece = (size_t)n * each;
        size_t got = piece;
        for (uint64_t k = 0; k < columns && code == EXIT_DONE && got == piece; k++)
            code = sort_files_read(files, 0, in + k * piece, (size_t)((k * shape->n + i) * each),
                                   piece, &got);
        if (code == EXIT_DONE && got < piece)
            code = cli_fail(EXIT_BAD, "%s: it ended early", files->inputs[0].name);
        if (code != EXIT_DONE) break;
        const ech_status status =
            ech_transpose(base->ctx, in, out, (size_t)columns, (size_t)n, each);
        if (status != ECH_OK) return cli_fail_ech(status, base->ctx);
        code = sort_scratch_append(&files->elements, out, (size_t)(n * shape->bytes));
    }
    return code;
}

/* A matrix in Fortran order becomes one in C order, in memory or in a temporary file. */
static int transpose(struct sort_files *files, const struct shape *shape)
{
    struct files_input *input = &files->inputs[0];
    const uint64_t bytes = shape->n * shape->bytes, share = sort_files_memory(files->set) / 3;
    const uint64_t most = share / shape->bytes;
    if (bytes <= share) return transpose_all(files, shape);
    if (files->set->files.dry_run && input->fd >= 0) return EXIT_DONE;
    if (files->set->files.resume.given)
        return cli_fail(EXIT_BAD,
                        "%s: --resume cannot continue with a matrix in Fortran order; save it in C "
                        "order",
                        input->name);
    if (!most)
        return cli_fail(EXIT_MEMORY,
                        "%s: a row of %llu bytes does not fit in a third of the budget; give a "
                        "larger one with --memory",
                        input->name, (unsigned long long)shape->bytes);
    cli_progress_stage(&files->job->base.progress, "transposing");
    int code = input->fd < 0 ? store_stream(files, shape) : EXIT_DONE;
    if (code == EXIT_DONE) code = sort_scratch_open(files->set, &files->elements);
    if (code == EXIT_DONE) code = sort_scratch_reserve(&files->elements, bytes);
    if (code != EXIT_DONE) return code;
    char *in = malloc((size_t)(most * shape->bytes)), *out = malloc((size_t)(most * shape->bytes));
    code = in && out ? transpose_blocks(files, shape, most, in, out)
                     : job_no_memory(&files->job->base, 2 * most * shape->bytes, "its rows");
    free(in);
    free(out);
    sort_scratch_close(&files->spool);
    *input = (struct files_input){ .name = input->name, .fd = files->elements.fd, .bytes = bytes };
    return code;
}

/* ---- The output ---- */

/* The header of a .npy output. */
static int make_head(struct sort_files *files, const struct shape *shape)
{
    const struct io_npy *npy = &shape->npy;
    struct job *base = &files->job->base;
    const size_t most = npy->header_bytes > IO_NPY_HEADER ? npy->header_bytes : IO_NPY_HEADER;
    char *larger = realloc(files->head, most);
    if (!larger) return job_no_memory(base, most, "its header");
    unsigned char *head = (unsigned char *)larger;
    files->head = larger;
    if (base->out_format != IO_NPY) return EXIT_DONE;
    if (files->job->argsort) {
        uint64_t n = shape->n;
        for (int i = 0; i < files->count && !shape->array; i++)
            n += files->inputs[i].bytes / shape->bytes;
        snprintf(files->descr, sizeof files->descr, "%s", io_npy_descr(ECH_U64));
        files->head_bytes = io_npy_header(files->descr, n, head);
        files->fixed_head = shape->array && !files->set->unique;
        return EXIT_DONE;
    }
    if (files->set->unique)
        return cli_fail(EXIT_BAD,
                        "%s: the number of records of --unique is not known in advance; the output "
                        "must be raw, not .npy",
                        files->inputs[0].name);
    files->fixed_head = true;
    files->head_bytes = npy->header_bytes;
    if (npy->fortran && shape->matrix)
        files->head_bytes = io_npy_header_matrix(npy->descr, npy->rows, npy->columns, head);
    else
        memcpy(head, files->sources[0].ahead, npy->header_bytes);
    return EXIT_DONE;
}

static int plan_output(struct sort_files *files, const struct shape *shape,
                       const struct io_output *output)
{
    struct job *base = &files->job->base;
    const char *name = files->set->words.job.output;
    const int said = name ? io_format_from_extension(name) : -1;
    base->column.format = shape->array ? IO_NPY : IO_RAW;
    files->text_type = ECH_U64;
    if (files->job->argsort) {
        const int code = job_plan_output(base, &files->set->words.job, output, ECH_U64);
        if (code != EXIT_DONE) return code;
    } else {
        base->out_format = said < 0 ? base->column.format : (io_format)said;
        if (base->out_format == IO_TEXT || (base->out_format == IO_NPY && !shape->array))
            return cli_fail(EXIT_BAD, "%s: the extension means %s, but the output is %srecords",
                            name, io_format_name((io_format)said), shape->array ? "" : "raw ");
    }
    const bool stream = files->inputs[0].fd < 0 && !shape->array;
    if (files->job->argsort) sort_plan_after(files, stream || files->set->unique);
    return make_head(files, shape);
}

/* ---- The kind ---- */

static int read_shape(struct sort_files *files, struct shape *shape)
{
    const struct io_source *source = &files->sources[0];
    const bool array = source->ahead_bytes >= 6 && memcmp(source->ahead, "\x93NUMPY", 6) == 0;
    if (files->set->files.record && array)
        return cli_fail(EXIT_BAD, "%s: is a .npy file; --record is for raw input", source->name);
    if (!files->set->files.record && files->count > 1)
        return cli_fail(EXIT_BAD,
                        "keys of a .npy array cannot be combined with several inputs: "
                        "\"%s\" and \"%s\"",
                        files->inputs[0].name, files->inputs[1].name);
    if (!files->set->files.record) return read_array(files, shape);
    const int code = cli_parse_count("record", files->set->files.record, &shape->bytes);
    if (code != EXIT_DONE || (shape->bytes && shape->bytes <= MOST_RECORD)) return code;
    return cli_fail(EXIT_BAD, "--record is %s; a record has 1 to 2^30 bytes",
                    files->set->files.record);
}

int sort_files_records(struct sort_files *files, const struct io_output *output)
{
    const ech_columns_options options = { .size = sizeof options,
                                          .algorithm = files->set->words.algorithm };
    ech_record_key keys[FILES_MOST_KEYS];
    struct shape shape = { .array = false };
    size_t n = 0;
    int code = read_shape(files, &shape);
    if (code == EXIT_DONE) code = plan_output(files, &shape, output);
    if (code == EXIT_DONE) code = parse_keys(files, &shape, keys, &n);
    if (code != EXIT_DONE) return code;
    if (shape.array) {
        sort_files_skip(files, 0, shape.npy.header_bytes);
        code = check_size(files, &shape);
    }
    if (code == EXIT_DONE && shape.matrix && shape.npy.fortran && shape.n)
        code = transpose(files, &shape);
    if (code != EXIT_DONE) return code;
    struct job *base = &files->job->base;
    base->record_bytes = shape.bytes;
    files_records_init(&files->records, (size_t)shape.bytes, keys, n, &options,
                       ech_device_name(base->ctx));
    if (shape.matrix && shape.npy.big_endian)
        files_records_swap(&files->records, ech_dtype_bytes(shape.npy.dtype),
                           base->out_format == IO_NPY);
    if (files->job->argsort) files_records_positions(&files->records);
    files->sort.kind = &files->records.kind;
    return EXIT_DONE;
}
