/*
 * sort_kinds.c - finds out what the records of an external sort are: numbers, records of a fixed
 * size, or lines of text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "sort_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *device_of(const struct sort_files *files)
{
    return ech_device_name(files->job->base.ctx);
}

/* ---- Inputs ---- */

/* Whether the look-ahead is what the file has at an offset; it is not if the source converts it. */
static bool is_as_stored(const struct io_source *source, uint64_t offset)
{
    unsigned char bytes[IO_LOOK];
    size_t n = 0;
    while (n < source->ahead_bytes) {
        const ssize_t got =
            pread(source->fd, bytes + n, source->ahead_bytes - n, (off_t)(offset + n));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        n += (size_t)got;
    }
    return memcmp(bytes, source->ahead, n) == 0;
}

/* A regular file is read at any place; anything else is a stream. */
static int open_input(struct sort_files *files, int i)
{
    struct io_source *source = &files->sources[i];
    struct io_error error;
    struct stat about;
    const char *format = files->set->words.job.format;
    io_status status = io_open(source, files->text->names[i], &error);
    const bool raw = files->set->files.record || (format && strcmp(format, "raw") == 0);
    if (status == IO_OK && raw) io_set_raw(source);
    if (status == IO_OK) status = io_look(source, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    files->inputs[i] = (struct files_input){ .name = source->name, .fd = -1, .stream = source };
    if (fstat(source->fd, &about) != 0 || !S_ISREG(about.st_mode)) return EXIT_DONE;
    const uint64_t offset = (uint64_t)about.st_size - source->size;
    if (!is_as_stored(source, offset)) return EXIT_DONE;
    files->inputs[i].fd = source->fd;
    files->inputs[i].offset = offset;
    files->inputs[i].bytes = source->size;
    return EXIT_DONE;
}

void sort_files_skip(struct sort_files *files, int i, size_t bytes)
{
    struct files_input *input = &files->inputs[i];
    if (input->fd < 0) {
        files->sources[i].ahead += bytes;
        files->sources[i].ahead_bytes -= bytes;
    } else {
        input->offset += bytes;
        input->bytes -= bytes;
    }
}

static bool is_array(const struct io_source *source)
{
    return source->ahead_bytes >= 6 && memcmp(source->ahead, "\x93NUMPY", 6) == 0;
}

/* ---- Numbers ---- */

/* Makes the look-ahead so long that it contains the header of a .npy file. */
static int look_at_header(struct sort_files *files, int i)
{
    struct io_source *source = &files->sources[i];
    struct io_error error;
    const size_t n = source->ahead_bytes;
    size_t bytes, got = 0;
    io_status status = io_npy_header_bytes(source->ahead, n, source->name, &bytes, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (bytes <= n) return EXIT_DONE;
    char *header = files->begins[i].bytes = malloc(bytes);
    if (!header) return job_no_memory(&files->job->base, bytes, "a header");
    memcpy(header, source->ahead, n);
    source->ahead_bytes = 0;
    status = io_read(source, header + n, bytes - n, &got, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    source->ahead = (const unsigned char *)header;
    source->ahead_bytes = n + got;
    return n + got == bytes ? EXIT_DONE
                            : cli_fail(EXIT_BAD, "%s: the .npy header is truncated", source->name);
}

/* Reads the header of a .npy file.  *usable is false if it is a matrix whose rows are sorted. */
static int read_header(struct sort_files *files, int i, const struct io_hints *hints,
                       struct io_npy *npy, bool *usable)
{
    const struct io_source *source = &files->sources[i];
    struct io_error error;
    size_t bytes;
    io_status status =
        io_npy_header_bytes(source->ahead, source->ahead_bytes, source->name, &bytes, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const int code = look_at_header(files, i);
    if (code != EXIT_DONE) return code;
    status = io_npy_parse(source->ahead, bytes, source->name, hints, npy, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    *usable = npy->dimensions == 1 && !npy->records;
    struct files_input *input = &files->inputs[i];
    char *expects = files->begins[i].expects;
    input->expected = npy->n * ech_dtype_bytes(npy->dtype);
    input->expects = expects;
    snprintf(expects, sizeof files->begins[i].expects,
             "the .npy header specifies %llu elements of '%s', %llu bytes",
             (unsigned long long)npy->n, npy->descr, (unsigned long long)input->expected);
    if (*usable && input->fd >= 0 && input->bytes - bytes != input->expected)
        return cli_fail(EXIT_BAD, "%s: %s, but %s follow", source->name, expects,
                        input->bytes - bytes < input->expected ? "fewer" : "more");
    npy->header_bytes = bytes;
    return EXIT_DONE;
}

int sort_make_header(struct sort_files *files, const struct io_npy *npy, bool keep, ech_dtype dtype)
{
    const size_t most = keep ? npy->header_bytes : IO_NPY_HEADER;
    char *larger = realloc(files->head, most);
    if (!larger) return job_no_memory(&files->job->base, most, "a header");
    files->head = larger;
    const char *descr = npy ? npy->descr : io_npy_descr(dtype);
    if (files->job->argsort) descr = io_npy_descr(ECH_U64);
    snprintf(files->descr, sizeof files->descr, "%s", descr ? descr : "<u2");
    if (keep) {
        memcpy(files->head, files->sources[0].ahead, npy->header_bytes);
        files->head_bytes = npy->header_bytes;
        return EXIT_DONE;
    }
    uint64_t n = 0;
    for (int i = 0; i < files->count; i++) n += files->inputs[i].bytes / ech_dtype_bytes(dtype);
    files->head_bytes = io_npy_header(files->descr, n, (unsigned char *)files->head);
    return EXIT_DONE;
}

/* Reads the headers of .npy inputs, which must have one type, and leaves them out. */
static int read_headers(struct sort_files *files, const struct io_hints *hints, struct io_npy *npy,
                        bool *usable)
{
    struct io_npy other;
    for (int i = 0; i < files->count; i++) {
        const char *name = files->inputs[i].name, *first = files->inputs[0].name;
        if (i && !is_array(&files->sources[i]))
            return cli_fail(EXIT_BAD, "%s: is not a .npy array, but %s is", name, first);
        const int code = read_header(files, i, hints, &other, usable);
        if (code != EXIT_DONE || !*usable) return code;
        if (i == 0) *npy = other;
        if (other.dtype != npy->dtype || other.big_endian != npy->big_endian)
            return cli_fail(EXIT_BAD, "%s: has elements of '%s', but %s of '%s'", name, other.descr,
                            first, npy->descr);
        files->begins[i].header_bytes = other.header_bytes;
    }
    return EXIT_DONE;
}

/* Fails if raw inputs have different types, or if one is not raw. */
static int check_types(const struct sort_files *files, const struct io_hints *hints, int type)
{
    struct io_error error;
    for (int i = 1; i < files->count; i++) {
        struct io_source *source = &files->sources[i];
        const char *first = files->inputs[0].name, *raw = ech_dtype_name((ech_dtype)type);
        io_format format;
        int other;
        const io_status status = io_detect(source, hints, &format, &other, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        if (format != IO_RAW)
            return cli_fail(EXIT_BAD, "%s: is %s, but %s is raw %s", source->name,
                            format == IO_NPY ? "a .npy array" : "text", first, raw);
        if (other != type)
            return cli_fail(EXIT_BAD, "%s: has elements of %s, but %s of %s", source->name,
                            ech_dtype_name((ech_dtype)other), first, raw);
    }
    return EXIT_DONE;
}

int sort_plan_numbers(struct sort_files *files, io_format format, ech_dtype dtype)
{
    const char *name = files->set->words.job.output;
    const int said = name ? io_format_from_extension(name) : -1;
    const int type = said == IO_RAW ? io_dtype_from_extension(name) : -1;
    bool unknown = files->set->unique;
    for (int i = 0; i < files->count; i++) unknown |= files->inputs[i].fd < 0;
    files->job->base.out_format = said < 0 ? format : (io_format)said;
    files->text_type = (int)dtype;
    sort_plan_after(files, unknown);
    if (type < 0 || type == (int)dtype) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: the extension means %s, but the output is %s", name,
                    ech_dtype_name((ech_dtype)type), ech_dtype_name(dtype));
}

/* One array, or several of the same type. */
static int use_numbers(struct sort_files *files, io_format format, int type,
                       const struct io_hints *hints, bool *usable)
{
    struct io_npy npy = { 0 };
    struct job *base = &files->job->base;
    const bool argsort = files->job->argsort, array = format == IO_NPY;
    int code = array ? read_headers(files, hints, &npy, usable) : check_types(files, hints, type);
    if (code != EXIT_DONE || !*usable) return code;
    const ech_dtype dtype = array ? npy.dtype : (ech_dtype)type;
    base->column.format = format;
    base->column.dtype = dtype;
    base->column.npy.big_endian = npy.big_endian;
    code = cli_parse_bits(files->set->words.bits, dtype, &files->job->options);
    if (code == EXIT_DONE) code = sort_plan_numbers(files, format, argsort ? ECH_U64 : dtype);
    if (code != EXIT_DONE) return code;
    const bool to_array = base->out_format == IO_NPY;
    const bool keep = array && to_array && files->count == 1 && !files->set->unique && !argsort;
    if (keep) code = sort_make_header(files, &npy, true, dtype);
    for (int i = 0; array && i < files->count; i++)
        sort_files_skip(files, i, files->begins[i].header_bytes);
    if (to_array && !keep) code = sort_make_header(files, array ? &npy : NULL, false, dtype);
    files_numbers_init(&files->numbers, dtype, &files->job->options, argsort, npy.big_endian,
                       device_of(files));
    /* Raw elements are little-endian. */
    if (!to_array && !argsort) files->numbers.kind.finish = NULL;
    files->sort.kind = &files->numbers.kind;
    return code;
}

/* ---- Lines ---- */

int sort_files_read(struct sort_files *files, int i, char *to, size_t from, size_t want,
                    size_t *got)
{
    const struct files_input *input = &files->inputs[i];
    struct io_error error;
    *got = 0;
    if (input->fd < 0) {
        const io_status status = io_read(&files->sources[i], to, want, got, &error);
        return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    }
    while (*got < want) {
        const ssize_t n =
            pread(input->fd, to + *got, want - *got, (off_t)(input->offset + from + *got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cli_fail(EXIT_BAD, "%s: cannot read: %s", input->name, strerror(errno));
        if (n == 0) break;
        *got += (size_t)n;
    }
    return EXIT_DONE;
}

/* Makes the look-ahead so long that it contains the header. */
static int look_further(struct sort_files *files, int i, size_t *head)
{
    enum { MOST = 4 << 20, STEP = 1 << 16 };
    struct io_source *source = &files->sources[i];
    size_t n = source->ahead_bytes, got = STEP;
    bool whole = false;
    char *bytes = malloc(MOST);
    if (!bytes) return job_no_memory(&files->job->base, MOST, "a header");
    files->begins[i].bytes = bytes;
    memcpy(bytes, source->ahead, n);
    source->ahead_bytes = 0;
    while (!whole && got == STEP && n + STEP <= MOST) {
        const int code = sort_files_read(files, i, bytes + n, n, STEP, &got);
        if (code != EXIT_DONE) return code;
        n += got;
        *head = lines_head(files->text->order, bytes, n, &whole);
    }
    if (!whole && got == STEP)
        return cli_fail(EXIT_BAD, "%s: the header is longer than %zu bytes", source->name, n);
    source->ahead = (const unsigned char *)bytes;
    source->ahead_bytes = n;
    return EXIT_DONE;
}

int sort_files_head(struct sort_files *files, const char *head, size_t bytes, char end)
{
    struct files_input *input = &files->inputs[0];
    char *larger = realloc(files->head, bytes + 1);
    if (!larger) return job_no_memory(&files->job->base, bytes, "a header");
    files->head = larger;
    if (bytes) memcpy(larger, head, bytes);
    files->head_bytes = bytes;
    /* A file that is only a header may lack the newline. */
    const bool only_mark = bytes == 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0;
    if (bytes && !only_mark && larger[bytes - 1] != end) larger[files->head_bytes++] = end;
    sort_files_skip(files, 0,
                    input->fd >= 0 && bytes > input->bytes ? (size_t)input->bytes : bytes);
    return EXIT_DONE;
}

/* The head of an input that is not sorted: a byte order mark, a header. */
static int take_head(struct sort_files *files, int i)
{
    const struct io_source *source = &files->sources[i];
    const char *at = (const char *)source->ahead;
    bool whole = true;
    size_t head = 0, mark;
    int code = EXIT_DONE;
    if (source->ahead_bytes) head = lines_head(files->text->order, at, source->ahead_bytes, &whole);
    if (!whole && source->ahead_bytes == IO_LOOK) code = look_further(files, i, &head);
    if (code != EXIT_DONE) return code;
    at = (const char *)source->ahead;
    if (head > source->ahead_bytes) head = source->ahead_bytes;
    if (i == 0) {
        code = sort_files_head(files, at, head, lines_terminator(files->text->order));
        return code == EXIT_DONE ? sort_bind(files->text, at, head) : code;
    }
    mark = head >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const size_t own =
        files->head_bytes >= 3 && memcmp(files->head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (source->ahead_bytes && (head - mark != files->head_bytes - own ||
                                memcmp(at + mark, files->head + own, head - mark) != 0))
        return cli_fail(EXIT_BAD, "%s: its header differs from that of %s", source->name,
                        files->inputs[0].name);
    sort_files_skip(files, i, head);
    return EXIT_DONE;
}

int sort_files_lines(struct sort_files *files, const struct lines_order *order)
{
    struct job *base = &files->job->base;
    int code = job_plan_text(&files->set->words.job);
    for (int i = 0; i < files->count && code == EXIT_DONE; i++) code = take_head(files, i);
    if (code != EXIT_DONE) return code;
    base->column.format = base->out_format = IO_TEXT;
    base->column.text = malloc(1); /* the report counts lines */
    if (!base->column.text) return job_no_memory(base, 1, "its text");
    files_lines_init(&files->text_lines, order, files->set->text.csv, base->threads);
    files->sort.kind = &files->text_lines.kind;
    if (files->set->text.debug) files->after = sort_after_debug;
    return EXIT_DONE;
}

/* ---- The choice ---- */

static int choose(struct sort_files *files, bool *usable)
{
    const struct sort_set *set = files->set;
    struct io_hints hints;
    struct io_error error;
    io_format format = IO_TEXT;
    int dtype = -1, code = EXIT_DONE;
    *usable = true;
    const bool array = is_array(&files->sources[0]);
    if (files->lines && !array) return sort_files_lines(files, files->text->order);
    if (files->lines && set->line_option)
        return cli_fail(EXIT_BAD,
                        "%s: is a .npy array, but several inputs and options of lines need text",
                        files->inputs[0].name);
    code = job_hints(&set->words.job, &hints);
    if (code == EXIT_DONE && array) code = look_at_header(files, 0);
    if (code != EXIT_DONE) return code;
    hints.dimensions = files->job->base.dimensions;
    const bool shaped = set->rows || set->axis;
    const bool undecided = hints.format < 0 && hints.dtype < 0 && !set->words.job.column &&
                           io_format_from_extension(files->inputs[0].name) < 0;
    if (array || !undecided || !files->text->order) {
        const io_status status = io_detect(&files->sources[0], &hints, &format, &dtype, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
    }
    if (shaped) *usable = format == IO_TEXT && !sort_files_option(set); /* otherwise sort_rows.c */
    if (*usable && set->axis)
        return cli_fail(EXIT_BAD,
                        "%s: has one dimension; --axis needs a .npy array with two dimensions",
                        files->inputs[0].name);
    if (format != IO_TEXT && set->words.job.column) *usable = false; /* an error follows */
    if (!*usable) return EXIT_DONE;
    if (format != IO_TEXT) return use_numbers(files, format, dtype, &hints, usable);
    return sort_files_text(files, &hints, usable);
}

int sort_files_open(struct sort_files *files, const struct io_output *output, bool *usable)
{
    *usable = true;
    files->spool.fd = files->elements.fd = -1;
    /* All inputs are open at the same time. */
    const int permitted = cli_permit_files(files->text->n_names);
    if (permitted != EXIT_DONE) return permitted;
    files->count = files->text->n_names;
    files->sources = calloc((size_t)files->count, sizeof *files->sources);
    files->inputs = calloc((size_t)files->count, sizeof *files->inputs);
    files->begins = calloc((size_t)files->count, sizeof *files->begins);
    files->head = malloc(IO_LOOK + IO_NPY_HEADER);
    if (!files->sources || !files->inputs || !files->begins || !files->head)
        return job_no_memory(&files->job->base, (uint64_t)files->count * sizeof *files->sources,
                             "the inputs");
    for (int i = 0; i < files->count; i++) files->sources[i].fd = -1;
    for (int i = 0; i < files->count; i++) {
        const int code = open_input(files, i);
        if (code != EXIT_DONE) return code;
    }
    files->job->base.input = files->inputs[0].name;
    return files->set->files.records ? sort_files_records(files, output) : choose(files, usable);
}

void sort_files_hand_over(struct sort_files *files)
{
    if (files->count != 1) return;
    files->text->first = &files->sources[0];
    files->text->ahead = files->begins[0].bytes;
    files->begins[0].bytes = NULL;
    files->sources = NULL; /* now owned by the text */
}

void sort_files_close(struct sort_files *files)
{
    for (int i = 0; files->sources && i < files->count; i++) io_close(&files->sources[i]);
    free(files->sources);
    free(files->inputs);
    for (int i = 0; files->begins && i < files->count; i++) free(files->begins[i].bytes);
    free(files->begins);
    free(files->head);
    files->head = NULL;
    sort_scratch_close(&files->spool);
    sort_scratch_close(&files->elements);
}
