/*
 * sort_rows.c - sorts the rows or columns of a matrix that does not fit in memory, for "echelon
 * sort".
 *
 *     lines along the storage:   some lines are read, sorted and written, and so on
 *     lines across it:           blocks of the matrix, each transposed, to a temporary file;
 *                                groups of lines are read from all blocks, sorted, written back;
 *                                each block, transposed back, to the output
 *
 * A matrix in Fortran order whose output is in C order needs one of the two transpositions.
 * A line is what is sorted: a row in C order is along the storage, a column is across it.  One line
 * must fit in memory.  The input is read once from its begin to its end.  sort_rows_across.c sorts
 * lines across the storage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rows_fail_ech(const struct rows *r, ech_status status)
{
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, r->base->ctx);
}

static int bad_size(const struct rows *r, uint64_t bytes)
{
    return cli_fail(EXIT_BAD, "%s: has %llu bytes, which is not a multiple of %zu, the size of %s",
                    r->name, (unsigned long long)bytes, r->bytes,
                    ech_dtype_name(r->base->column.dtype));
}

static int bad_rows(const struct rows *r, uint64_t n)
{
    return cli_fail(EXIT_BAD, "%s: has %llu numbers, which is not a multiple of --rows %s", r->name,
                    (unsigned long long)n, r->set->rows);
}

/* ---- Reading, sorting, writing ---- */

int rows_read(struct rows *r, char *to, uint64_t n, uint64_t *got)
{
    struct io_error error;
    size_t bytes;
    stage_begin(r->base, STAGE_READ);
    const io_status status = io_read(r->source, to, (size_t)n * r->bytes, &bytes, &error);
    stage_end(r->base, STAGE_READ, bytes);
    if (status != IO_OK) return cli_fail_io(status, &error);
    *got = bytes / r->bytes;
    r->done += *got;
    if (r->outer && *got < n)
        return cli_fail(EXIT_BAD, "%s: ends after %llu of %llu elements", r->name,
                        (unsigned long long)r->done, (unsigned long long)(r->outer * r->inner));
    if (bytes % r->bytes) return bad_size(r, r->done * r->bytes + bytes % r->bytes);
    if (r->swap) io_swap(to, *got, r->bytes);
    return EXIT_DONE;
}

/* Fails if more elements follow than the header specifies. */
static int check_end(struct rows *r)
{
    struct io_error error;
    size_t bytes;
    char byte;
    const io_status status = io_read(r->source, &byte, 1, &bytes, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    return bytes ? cli_fail(EXIT_BAD, "%s: has more than the %llu elements of its header", r->name,
                            (unsigned long long)(r->outer * r->inner))
                 : EXIT_DONE;
}

int rows_sort(struct rows *r, char *keys, char *index, uint64_t lines, uint64_t length)
{
    ech_sort_options options = r->job->options;
    const ech_dtype dtype = r->base->column.dtype;
    options.row_stride = options.element_stride = 0;
    options.out_row_stride = options.out_element_stride = 0;
    stage_begin(r->base, STAGE_WORK);
    const ech_status status = r->job->argsort
                                  ? ech_argsort_rows(r->base->ctx, keys, index, (size_t)lines,
                                                     (size_t)length, dtype, ECH_U64, &options)
                                  : ech_sort_rows(r->base->ctx, keys, keys, (size_t)lines,
                                                  (size_t)length, dtype, &options);
    stage_end(r->base, STAGE_WORK, lines * length * r->bytes);
    return rows_fail_ech(r, status);
}

int rows_write(struct rows *r, char *elements, uint64_t n)
{
    struct io_error error;
    io_status status;
    stage_begin(r->base, STAGE_WRITE);
    if (r->base->out_format == IO_TEXT) {
        status = write_numbers(r->output, r->job->argsort ? ECH_U64 : r->base->column.dtype,
                               elements, n, &error);
    } else {
        if (r->swap_out) io_swap(elements, n, r->out_bytes);
        status = io_write(r->output, elements, (size_t)n * r->out_bytes, &error);
    }
    stage_end(r->base, STAGE_WRITE, 0); /* job_commit() adds the bytes */
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* The memory of a sort of lines, with extra bytes per element. */
static uint64_t need_of(const struct rows *r, uint64_t lines, uint64_t length, uint64_t extra)
{
    const bool argsort = r->job->argsort;
    const uint64_t n = lines * length;
    size_t work = 0;
    ech_sort_segments_workspace(ech_device_name(r->base->ctx),
                                argsort ? ECH_SORT_CALL_ARGSORT_ROWS : ECH_SORT_CALL_ROWS,
                                (size_t)n, (size_t)lines, r->base->column.dtype,
                                argsort ? r->out_bytes : 0, &r->job->options, &work);
    return n * (r->bytes + (argsort ? r->out_bytes : 0) + extra) + work;
}

uint64_t rows_fit(const struct rows *r, uint64_t lines, uint64_t length, uint64_t extra)
{
    uint64_t need = 0;
    if (lines > r->budget / length + 1) lines = r->budget / length + 1;
    for (; lines; lines /= 2) {
        need = need_of(r, lines, length, extra);
        if (need <= r->budget) return lines;
    }
    cli_fail(EXIT_MEMORY,
             "%s: a line of %llu elements needs %llu bytes of memory, but the budget is %llu; give "
             "a larger one with --memory",
             r->name, (unsigned long long)length, (unsigned long long)need,
             (unsigned long long)r->budget);
    return 0;
}

int rows_allocate(const struct rows *r, char **buffer, uint64_t bytes)
{
    *buffer = bytes < PTRDIFF_MAX ? malloc((size_t)bytes + 1) : NULL;
    return *buffer ? EXIT_DONE : job_no_memory(r->base, bytes, "a part of the matrix");
}

/* ---- Lines along the storage ---- */

static int sort_along(struct rows *r)
{
    uint64_t at_once = rows_fit(r, r->outer ? r->outer : UINT64_MAX, r->inner, 0), got = 0;
    if (!at_once) return EXIT_MEMORY;
    int code = rows_allocate(r, &r->in, at_once * r->inner * r->bytes);
    if (code == EXIT_DONE && r->job->argsort)
        code = rows_allocate(r, &r->second, at_once * r->inner * r->out_bytes);
    for (uint64_t i = 0; code == EXIT_DONE && (!r->outer || i < r->outer); i += at_once) {
        if (r->outer && at_once > r->outer - i) at_once = r->outer - i;
        code = rows_read(r, r->in, at_once * r->inner, &got);
        if (code == EXIT_DONE && got % r->inner) code = bad_rows(r, r->done);
        if (code != EXIT_DONE || !got) break;
        code = rows_sort(r, r->in, r->second, got / r->inner, r->inner);
        if (code == EXIT_DONE) code = rows_write(r, r->job->argsort ? r->second : r->in, got);
    }
    return code;
}

/* ---- The input ---- */

/* Opens the input, unless it is open.  *format: -1 if what follows reports an error. */
static int open_input(struct rows *r, struct sort_text *text, int *format, struct io_hints *hints,
                      int *dtype)
{
    struct io_error error;
    io_format found = IO_TEXT;
    const char *given = r->set->words.job.format;
    *format = -1;
    int code = job_hints(&r->set->words.job, hints);
    if (code != EXIT_DONE) return code;
    hints->dimensions = r->base->dimensions;
    if (!text->first) {
        text->first = malloc(sizeof *text->first);
        if (!text->first) return job_no_memory(r->base, sizeof *text->first, "the input");
        const io_status status = io_open(text->first, text->names[0], &error);
        if (status != IO_OK) {
            free(text->first);
            text->first = NULL;
            return cli_fail_io(status, &error);
        }
    }
    r->source = text->first;
    r->name = r->source->name;
    if (given && strcmp(given, "raw") == 0) io_set_raw(r->source);
    io_status status = io_look(r->source, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const unsigned char *ahead = r->source->ahead;
    const bool array = r->source->ahead_bytes >= 6 && memcmp(ahead, "\x93NUMPY", 6) == 0;
    const bool known =
        hints->dtype >= 0 || hints->format >= 0 || io_format_from_extension(r->name) >= 0;
    if (array || known) status = io_detect(r->source, hints, &found, dtype, &error);
    if (status == IO_OK) *format = (int)found;
    return EXIT_DONE;
}

/* The shape of a .npy array, whose header is left out and, if it is that of the output, kept. */
static bool read_shape(struct rows *r, const struct io_hints *hints)
{
    struct io_error error;
    struct io_source *source = r->source;
    struct io_column *c = &r->base->column;
    struct io_npy npy;
    size_t bytes;
    if (io_npy_header_bytes(source->ahead, source->ahead_bytes, r->name, &bytes, &error) != IO_OK ||
        bytes > source->ahead_bytes ||
        io_npy_parse(source->ahead, bytes, r->name, hints, &npy, &error) != IO_OK || npy.records ||
        npy.dimensions > 2 || !npy.n)
        return false;
    c->npy = npy;
    c->dtype = npy.dtype;
    c->n = npy.n;
    r->swap = npy.big_endian;
    r->outer = npy.dimensions == 2 ? npy.rows : 1;
    r->inner = npy.dimensions == 2 ? npy.columns : npy.n;
    return true;
}

/* Whether the matrix has to be sorted here, with its shape.  c_order: the output is in C order. */
static bool find_shape(struct rows *r, int format, int dtype, const struct io_hints *hints,
                       bool c_order, bool *across)
{
    struct io_column *c = &r->base->column;
    const uint64_t columns = r->set->columns;
    const bool down = r->set->axis && r->set->axis[0] == '0';
    *across = false;
    if (format != IO_NPY && format != IO_RAW) return false;
    c->format = (io_format)format;
    if (format == IO_NPY) {
        if (!read_shape(r, hints)) return false;
        const bool matrix = c->npy.dimensions == 2;
        if (matrix ? columns != 0 : !columns || r->set->axis || c->n % columns) return false;
        const bool turned = matrix && c->npy.fortran && !c_order;
        if (turned || (matrix && c->npy.fortran && !down)) {
            const uint64_t rows = r->outer;
            r->outer = r->inner;
            r->inner = rows;
        }
        r->lines_in = matrix && c->npy.fortran && c_order && down;
        r->lines_out = matrix && c->npy.fortran && c_order && !down;
        *across = matrix && (r->lines_in || down != c->npy.fortran);
    } else {
        if (!columns) return false;
        c->dtype = (ech_dtype)dtype;
        c->n = r->source->size / ech_dtype_bytes(c->dtype);
    }
    r->bytes = ech_dtype_bytes(c->dtype);
    if (columns) {
        r->inner = columns;
        r->outer = c->n / columns;
    }
    const size_t index_bytes = r->job->argsort ? sizeof(uint64_t) : 0;
    return !c->n || c->n > r->budget / 4 / (r->bytes + index_bytes);
}

static int write_header(struct rows *r)
{
    const struct io_column *c = &r->base->column;
    unsigned char header[IO_NPY_HEADER];
    const bool matrix = c->npy.dimensions == 2, keep = c->format == IO_NPY && !r->job->argsort;
    const char *descr = io_npy_descr(r->job->argsort ? ECH_U64 : c->dtype);
    struct io_error error;
    if (r->base->out_format != IO_NPY || (!c->n && r->output == &r->elements)) return EXIT_DONE;
    if (!descr) descr = "<u2";
    size_t bytes = c->npy.header_bytes;
    if (!keep)
        bytes = matrix ? io_npy_header_matrix(descr, c->npy.rows, c->npy.columns, header)
                       : io_npy_header(descr, c->n, header);
    const io_status status = io_write(r->output, keep ? r->source->ahead : header, bytes, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static void plan(const struct job *job, char *text, size_t bytes)
{
    sort_plan((const struct sort_job *)job, text, bytes);
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%-12s %s\n", "matrix", "sorted out of core");
}

/* Fails if the size of a raw file, if it is known, is not one of rows. */
static int check_size(const struct rows *r)
{
    const struct io_column *c = &r->base->column;
    if (c->format != IO_RAW || !r->source->size) return EXIT_DONE;
    if (r->source->size % r->bytes) return bad_size(r, r->source->size);
    return c->n % r->inner ? bad_rows(r, c->n) : EXIT_DONE;
}

/* The header of a .npy output has the number of elements, which is known after the last one. */
static int divert(struct rows *r)
{
    struct io_error error;
    struct sort_scratch scratch;
    const int code = sort_scratch_open(r->set, &scratch);
    if (code != EXIT_DONE) return code;
    r->final = r->output;
    r->elements = (struct io_output){ .fd = scratch.fd,
                                      .name = scratch.directory,
                                      .buffer = malloc(IO_BUFFER) };
    r->output = &r->elements;
    if (r->elements.buffer) return EXIT_DONE;
    return cli_fail_io(io_no_memory(&error, r->name, IO_BUFFER, "a buffer"), &error);
}

static int join_elements(struct rows *r)
{
    struct io_error error;
    struct io_source source = { .fd = dup(r->elements.fd), .name = r->elements.name };
    size_t got = IO_BUFFER;
    char *block = malloc(IO_BUFFER);
    io_status status = io_commit(&r->elements, &error);
    r->output = r->final;
    int code = status == IO_OK ? write_header(r) : cli_fail_io(status, &error);
    if (code == EXIT_DONE && (!block || lseek(source.fd, 0, SEEK_SET) != 0))
        code = job_no_memory(r->base, IO_BUFFER, "a block");
    while (code == EXIT_DONE && got == IO_BUFFER) {
        status = io_read(&source, block, IO_BUFFER, &got, &error);
        if (status == IO_OK) status = io_write(r->output, block, got, &error);
        if (status != IO_OK) code = cli_fail_io(status, &error);
    }
    free(block);
    close(source.fd);
    return code;
}

static int sort_matrix(struct rows *r, bool across)
{
    struct io_error error;
    struct io_column *c = &r->base->column;
    const bool argsort = r->job->argsort;
    const ech_dtype out = argsort ? ECH_U64 : c->dtype;
    int code = check_size(r);
    if (code == EXIT_DONE) code = job_plan_output(r->base, &r->set->words.job, r->output, out);
    if (code == EXIT_DONE) code = cli_parse_bits(r->set->words.bits, c->dtype, &r->job->options);
    if (code == EXIT_DONE && r->base->out_format == IO_NPY && !c->n) code = divert(r);
    if (code == EXIT_DONE) code = write_header(r);
    if (code != EXIT_DONE) return code;
    r->source->ahead += c->npy.header_bytes;
    r->source->ahead_bytes -= c->npy.header_bytes;
    r->out_bytes = ech_dtype_bytes(out);
    r->swap_out = r->swap && !argsort && r->base->out_format == IO_NPY;
    r->job->rows = (size_t)(across ? r->inner : r->outer);
    r->job->cols = (size_t)(across ? r->outer : r->inner);
    r->job->index_bytes = sizeof(uint64_t);
    r->base->plan = plan;
    code = across ? rows_sort_across(r) : sort_along(r);
    if (code == EXIT_DONE && c->format == IO_NPY) code = check_end(r);
    free(r->in);
    free(r->second);
    c->n = r->base->n_out = r->done;
    if (code == EXIT_DONE && r->final) code = join_elements(r);
    if (r->final) io_discard(&r->elements);
    if (code != EXIT_DONE) return code;
    r->base->stages[STAGE_WRITE].seconds -= cli_seconds();
    return job_commit(r->base, r->output, IO_OK, &error);
}

/* The elements are in a temporary file. */
int sort_element_rows(struct sort_files *files, struct io_output *output)
{
    struct io_column *c = &files->job->base.column;
    struct io_source source = { .fd = files->elements.fd,
                                .name = files->inputs[0].name,
                                .size = files->elements.bytes };
    struct rows r = { .set = files->set,
                      .job = files->job,
                      .base = &files->job->base,
                      .source = &source,
                      .name = source.name,
                      .output = output,
                      .inner = files->set->columns,
                      .bytes = ech_dtype_bytes(c->dtype),
                      .budget = sort_files_memory(files->set) };
    struct io_error error;
    c->n = files->text_records;
    r.outer = c->n / r.inner;
    if (c->n % r.inner) return bad_rows(&r, c->n);
    if (lseek(source.fd, 0, SEEK_SET) != 0)
        return cli_fail_io(io_fail(&error, IO_FAIL, r.name, "cannot read a temporary file"),
                           &error);
    return sort_matrix(&r, false);
}

int sort_rows(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
              struct io_output *output, bool *done)
{
    struct rows r = { .set = set,
                      .job = job,
                      .base = &job->base,
                      .output = output,
                      .budget = sort_files_memory(set) };
    struct io_hints hints;
    const char *name = set->words.job.output;
    const int said = name ? io_format_from_extension(name) : -1;
    const struct io_column empty = { .format = IO_NPY };
    int format, dtype = -1;
    bool across;
    *done = false;
    if (text->n_names > 1 || set->words.job.column) return EXIT_DONE;
    const int code = open_input(&r, text, &format, &hints, &dtype);
    if (code != EXIT_DONE || format < 0) return code;
    const io_format out = said < 0 ? (io_format)format : (io_format)said;
    const bool usable =
        find_shape(&r, format, dtype, &hints, job->argsort || out != IO_NPY, &across);
    if (!usable) {
        job->base.column = empty;
        return EXIT_DONE;
    }
    *done = true;
    job->base.input = r.name;
    return sort_matrix(&r, across);
}
