/*
 * table.c - loads several columns of one text: their header, their kinds, their numbers.
 *
 * Each column is parsed by the reader of one column, so that a file has the same numbers and the
 * same errors for all subcommands.  The text is read once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"
#include "table_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int table_add(struct table *table, const char *word, enum table_kind kind, int type)
{
    for (int i = 0; i < table->count; i++) {
        const struct table_column *c = &table->columns[i];
        const bool same = word && c->word ? strcmp(word, c->word) == 0 : word == c->word;
        if (same && c->kind == kind && c->type == type) return i;
    }
    if (table->count == TABLE_COLUMNS) {
        cli_fail(EXIT_BAD, "more than %d columns are selected", TABLE_COLUMNS);
        return -1;
    }
    table->columns[table->count] =
        (struct table_column){ .word = word, .kind = kind, .type = type };
    return table->count++;
}

void table_free(struct table *table)
{
    for (int i = 0; i < table->count; i++) {
        free(table->columns[i].keys);
        free(table->columns[i].offsets);
        free(table->columns[i].bytes);
    }
    table->count = 0;
}

int table_check_string(bool string, const struct job_words *words)
{
    if (string && words->type)
        return cli_fail(EXIT_BAD, "--string cannot be combined with --type, the type of numbers");
    return EXIT_DONE;
}

/* ---- Rows and columns ---- */

/* Sets column->lines and column->n; mark is the size of a byte order mark. */
static int find_rows(struct job *job, size_t mark)
{
    struct io_column *c = &job->column;
    struct io_error error;
    const size_t head = c->head_bytes;
    c->head_bytes = mark;
    const io_status status = io_text_lines(c, job->input, &error);
    c->head_bytes = head;
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (head > mark) memmove(c->lines, c->lines + 1, (size_t)--c->n * sizeof *c->lines);
    return EXIT_DONE;
}

/* Whether the extension means that records may contain newlines. */
static bool is_csv(const char *path)
{
    char extension[IO_EXTENSION];
    io_extension(path, extension);
    return strcasecmp(extension, "csv") == 0 || strcasecmp(extension, "tsv") == 0;
}

/* Finds the columns.  The first line is a header if it is one for any of the columns. */
static int find_columns(struct job *job, const struct io_hints *hints, struct table *table)
{
    struct io_column *c = &job->column;
    struct io_error error;
    size_t head = c->head_bytes;
    bool selected = false;
    const bool quotes = c->text_bytes && memchr(c->text, '"', c->text_bytes);
    for (int i = 0; i < table->count; i++) {
        struct io_column copy = *c;
        struct io_field field = hints->field;
        field.column = table->columns[i].word;
        const io_status status =
            io_find_field(&copy, &field, quotes, job->input, &table->columns[i].cut, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        if (copy.delimiter) c->delimiter = copy.delimiter;
        if (copy.head_bytes > head) head = copy.head_bytes;
        if (field.column) table->delimiter = table->columns[i].cut.delimiter;
        selected |= field.column != NULL;
    }
    /* Quotes have a meaning in CSV, also if no column is selected. */
    if (!selected && quotes && is_csv(job->input)) {
        const char *at = c->text + c->head_bytes;
        const char found = io_find_delimiter(at, c->text + c->text_bytes);
        c->delimiter = found ? found : ',';
    }
    c->head_bytes = head;
    return EXIT_DONE;
}

/* Whether a column is text: neither of its first two values that are not empty is a number.  A line
 * with a separator or a quote is rather a table whose column is not selected. */
static bool is_text(const struct io_column *c, const struct table_column *column)
{
    int seen = 0;
    for (uint64_t i = 0; i < c->n && seen < 2; i++) {
        const char *at, *end, *fault;
        double ignored;
        if (!table_cut(c, column, i, &at, &end, &fault)) return true; /* reported as strings */
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
        if (at == end) continue;
        if (io_parse_float(at, end, &ignored) == IO_NUMBER_OK) return false;
        if (!column->word && (*at == '"' || io_find_delimiter(at, end + 1))) return false;
        seen++;
    }
    return seen > 0;
}

/* Whether column number of row i is neither empty nor begins as a number: 1 or 0; -1: the row does
 * not have it. */
static int is_name(const struct io_column *c, char delimiter, uint64_t number, uint64_t i)
{
    const struct table_column column = { .cut = { .number = number, .delimiter = delimiter } };
    const char *at, *end, *fault;
    if (!table_cut(c, &column, i, &at, &end, &fault)) return -1;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at < end && *at == '.') at++;
    return at < end && !(*at >= '0' && *at <= '9');
}

/* If all selected columns are text, none of them decides whether the first line is a header: it is
 * one if all its columns are names, and the second line has a number. */
static void find_header(const struct io_hints *hints, struct io_column *c,
                        const struct table *table)
{
    enum { MOST = 256 }; /* columns that are compared */
    bool text = table->count > 0 && hints->field.header == IO_HEADER_GUESS && c->n > 1;
    for (int i = 0; i < table->count && text; i++) {
        const struct table_column *column = &table->columns[i];
        text = column->word && column->kind != TABLE_NUMBERS &&
               (column->kind == TABLE_STRINGS || is_text(c, column));
    }
    if (!text || io_has_header(c)) return;
    bool number = false;
    for (uint64_t k = 1; k <= MOST; k++) {
        const int first = is_name(c, table->delimiter, k, 0);
        if (first == 0) return;
        if (first < 0) break;
        const struct table_column column = { .cut = { .number = k,
                                                      .delimiter = table->delimiter } };
        const char *at, *end, *fault;
        double ignored;
        number |= table_cut(c, &column, 1, &at, &end, &fault) &&
                  io_parse_float(at, end, &ignored) == IO_NUMBER_OK;
    }
    if (!number) return;
    c->head_bytes = (size_t)c->lines[1];
    memmove(c->lines, c->lines + 1, (size_t)--c->n * sizeof *c->lines);
}

/* ---- Numbers ---- */

static int read_numbers(struct job *job, const struct io_hints *hints, size_t mark,
                        struct table_column *column, bool recommend)
{
    static const char advice[] = "; --string compares the values as text";
    struct io_error error;
    struct io_hints own = *hints;
    struct io_column copy = job->column;
    own.dtype = column->type;
    own.field.column = column->word;
    if (copy.head_bytes > mark) own.field.header = IO_HEADER_YES;
    copy.head_bytes = mark;
    copy.lines = NULL;
    copy.keys = NULL;
    const io_status status = io_text_parse(&copy, &own, job->input, &job->progress.io, &error);
    free(copy.lines);
    if (status != IO_OK) {
        free(copy.keys);
        const size_t used = strlen(error.text);
        if (recommend && strstr(error.text, "not a number") && used + sizeof advice < sizeof error)
            memcpy(error.text + used, advice, sizeof advice);
        return cli_fail_io(status, &error);
    }
    column->keys = copy.keys;
    column->dtype = copy.dtype;
    if (copy.n != job->column.n)
        return cli_fail(EXIT_BAD,
                        "%s: has records of several lines, whose columns cannot be combined with a "
                        "number per line",
                        job->input);
    return EXIT_DONE;
}

/* ---- Load ---- */

static int load_text(struct job *job, struct io_source *source, const struct io_hints *hints,
                     struct table *table)
{
    struct io_error error;
    struct io_column *c = &job->column;
    c->format = IO_TEXT;
    c->dtype = ECH_F64;
    const io_status status = io_text_read(source, c, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const size_t mark = c->head_bytes;
    int code = find_columns(job, hints, table);
    if (code == EXIT_DONE) code = find_rows(job, mark);
    if (code == EXIT_DONE) find_header(hints, c, table);
    for (int i = 0; i < table->count && code == EXIT_DONE; i++) {
        struct table_column *column = &table->columns[i];
        const bool guess = column->kind == TABLE_GUESS;
        if (guess) column->kind = is_text(c, column) ? TABLE_STRINGS : TABLE_NUMBERS;
        code = column->kind == TABLE_STRINGS
                   ? table_read_strings(job, column)
                   : read_numbers(job, hints, mark, column, guess && table->has_string);
    }
    return code;
}

/* Whether the first bytes are printable; a UTF-8 character may have any byte of 128 or more. */
static bool looks_like_text(const struct io_source *source)
{
    for (size_t i = 0; i < source->ahead_bytes; i++) {
        const unsigned char c = source->ahead[i];
        if (c < ' ' && c != '\t' && c != '\n' && c != '\r') return false;
    }
    return true;
}

/* Determines the format, as io_detect() does.  Words without numbers are text, too, and a .npy
 * array may have fields, which --column selects. */
static int detect(struct io_source *source, struct io_hints *hints, const struct table *table,
                  io_format *format)
{
    bool strings = false;
    for (int i = 0; i < table->count; i++) strings |= table->columns[i].kind == TABLE_STRINGS;
    struct io_error error;
    static const unsigned char npy[] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };
    int dtype, known = hints->format < 0 ? io_format_from_extension(source->name) : hints->format;
    if (known < 0) {
        const io_status status = io_look(source, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        if (source->ahead_bytes >= sizeof npy && memcmp(source->ahead, npy, sizeof npy) == 0)
            known = IO_NPY;
        else if (strings || (hints->dtype < 0 && looks_like_text(source)))
            known = IO_TEXT;
    }
    if (known >= 0) hints->format = known;
    struct io_hints own = *hints;
    if (known == IO_NPY) own.field.column = NULL;
    const io_status status = io_detect(source, &own, format, &dtype, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* The columns of a .npy array or of raw numbers. */
static int load_array(struct job *job, struct io_source *source, const struct io_hints *hints,
                      struct table *table)
{
    struct io_error error;
    struct io_hints own = *hints;
    own.dimensions = job->dimensions;
    own.field.column = NULL;
    own.records = job->records ? &table->records : NULL;
    const io_status status = io_load_column(source, &own, &job->column, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (job->column.npy.records) return table_read_records(job, table);
    for (int i = 0; i < table->count; i++) {
        struct table_column *column = &table->columns[i];
        if (column->word)
            return cli_fail(EXIT_BAD,
                            "%s: the format is %s, but column \"%s\" is selected; only text%s "
                            "columns",
                            job->input, io_format_name(job->column.format), column->word,
                            job->records ? " and structured arrays have" : " has");
        if (column->kind == TABLE_STRINGS)
            return cli_fail(EXIT_BAD, "%s: the format is %s, but only text has strings", job->input,
                            io_format_name(job->column.format));
        column->kind = TABLE_NUMBERS;
    }
    return EXIT_DONE;
}

/* Checks the words of all columns with the options of the text. */
static int parse_hints(const struct job_words *words, const struct table *table,
                       struct io_hints *hints)
{
    struct job_words own = *words;
    bool selected = false;
    int code = EXIT_DONE;
    for (int i = 0; i < table->count && code == EXIT_DONE; i++) {
        own.column = table->columns[i].word;
        selected |= own.column != NULL;
        if (own.column) code = job_hints(&own, hints);
    }
    return selected ? code : job_hints(words, hints);
}

int table_load(struct job *job, const struct job_words *words, struct table *table)
{
    struct io_source source;
    struct io_error error;
    struct io_hints hints;
    io_format format = IO_TEXT;
    int code = parse_hints(words, table, &hints);
    if (code != EXIT_DONE) return code;
    stage_begin(job, STAGE_READ);
    const io_status status = io_open(&source, job->input, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    job->input = source.name;
    if (hints.format == IO_RAW) io_set_raw(&source); /* --format raw is given */
    source.progress = &job->progress.io;
    code = detect(&source, &hints, table, &format);
    if (code == EXIT_DONE)
        code = format == IO_TEXT ? load_text(job, &source, &hints, table)
                                 : load_array(job, &source, &hints, table);
    io_close(&source);
    cli_progress_end(&job->progress);
    const struct io_column *c = &job->column;
    stage_end(job, STAGE_READ, c->npy.header_bytes + (c->text ? c->text_bytes : c->keys_bytes));
    return code;
}

int table_load_one(struct job *job, const struct job_words *words, bool string, struct table *table)
{
    struct io_column *c = &job->column;
    int type, code = cli_parse_dtype(words->type, &type);
    if (code != EXIT_DONE) return code;
    const enum table_kind kind = string ? TABLE_STRINGS : type < 0 ? TABLE_GUESS : TABLE_NUMBERS;
    table_add(table, words->column, kind, type);
    table->has_string = true;
    code = table_load(job, words, table);
    if (code != EXIT_DONE || !c->text) return code;
    struct table_column *column = &table->columns[0];
    if (column->kind == TABLE_STRINGS) {
        stage_begin(job, STAGE_WORK);
        code = table_rank(job, column, c->n);
        stage_end(job, STAGE_WORK, 0);
        job->strings = true;
    }
    c->keys = column->keys;
    c->dtype = column->dtype;
    c->keys_bytes = (size_t)c->n * ech_dtype_bytes(c->dtype);
    column->keys = NULL;
    return code;
}
