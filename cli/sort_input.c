/*
 * sort_input.c - the inputs of "echelon sort": their names, the order of their lines, their text.
 *
 * Without options for lines or for numbers, text is sorted as numbers if every line is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "io/threads.h"
#include "sort.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- Names ---- */

const char *sort_name(const struct sort_text *text, int i)
{
    return strcmp(text->names[i], "-") == 0 ? "standard input" : text->names[i];
}

/* Divides the list at text into names that end in a zero byte. */
static int split_names(struct sort_text *text, const char *from, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += text->list[i] == 0;
    n += bytes && text->list[bytes - 1] != 0;
    if (!n) return cli_fail(EXIT_BAD, "%s: has no file names", from);
    text->listed = calloc(n, sizeof *text->listed);
    if (!text->listed || n > INT32_MAX)
        return cli_fail(EXIT_MEMORY, "%s: out of memory: %zu file names", from, n);
    const char *at = text->list;
    for (size_t i = 0; i < n; i++, at += strlen(at) + 1) {
        if (!*at) return cli_fail(EXIT_BAD, "%s: file name %zu is empty", from, i + 1);
        if (strcmp(at, "-") == 0 && strcmp(from, "standard input") == 0)
            return cli_fail(EXIT_BAD, "%s: file name %zu is -, but the names are standard input",
                            from, i + 1);
        text->listed[i] = at;
    }
    text->names = text->listed;
    text->n_names = (int)n;
    return EXIT_DONE;
}

static int read_names(const char *path, struct sort_text *text)
{
    struct io_source source;
    struct io_error error;
    void *bytes = NULL;
    size_t n = 0;
    io_status status = io_open(&source, path, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    status = io_read_all(&source, PTRDIFF_MAX - 2, source.size, 1, &bytes, &n, &error);
    const char *from = source.name;
    io_close(&source);
    if (status != IO_OK) return cli_fail_io(status, &error);
    text->list = bytes;
    text->list[n] = 0;
    return split_names(text, from, n);
}

int sort_find_inputs(const struct sort_set *set, struct sort_text *text, int count, char **operands)
{
    static const char *const standard_input[] = { "-" };
    if (set->text.files0 && count)
        return cli_fail(EXIT_BAD, "operand \"%s\" cannot be combined with --files0-from %s",
                        operands[0], set->text.files0);
    if (set->text.files0) return read_names(set->text.files0, text);
    if (!count && isatty(STDIN_FILENO))
        return cli_fail(EXIT_BAD, "no INPUT: give a file name, or - for standard input");
    text->names = count ? (const char *const *)operands : standard_input;
    text->n_names = count ? count : 1;
    return EXIT_DONE;
}

/* ---- Order ---- */

static int parse_delimiter(const struct sort_set *set, int *delimiter)
{
    const char *typed = set->words.job.delimiter ? set->words.job.delimiter : set->text.separator;
    *delimiter = LINES_BLANKS;
    if (!typed) return EXIT_DONE;
    if (strcmp(typed, "\\0") == 0)
        *delimiter = 0;
    else if (strcmp(typed, "\\t") == 0 || strcmp(typed, "tab") == 0)
        *delimiter = '\t';
    else if (typed[0] && !typed[1])
        *delimiter = (unsigned char)typed[0];
    else
        return cli_fail(EXIT_BAD,
                        "--delimiter is \"%s\"; use one character such as \",\", or \"\\t\" or "
                        "\"\\0\"",
                        typed);
    return EXIT_DONE;
}

/* The word may be abbreviated; their first letters differ. */
static int parse_sort_word(const char *word, char *letter)
{
    static const char *const words[] = { "general-numeric", "human-numeric", "month",
                                         "numeric",         "random",        "version" };
    static const char letters[] = "ghMnRV";
    const int n = (int)(sizeof words / sizeof *words);
    *letter = 0;
    for (int i = 0; word && i < n; i++)
        if (strncmp(words[i], word, strlen(word)) == 0) *letter = letters[i];
    return word && !*letter ? cli_unknown("word of --sort", word, words, n) : EXIT_DONE;
}

/* All global letters; 16 is enough for each once. */
static int collect_letters(const struct sort_set *set, char letters[16])
{
    const struct sort_lines_words *t = &set->text;
    const struct {
        bool given;
        char letter;
    } flags[] = { { t->blanks, 'b' },  { t->dictionary, 'd' },     { t->fold, 'f' },
                  { t->general, 'g' }, { t->human, 'h' },          { t->nonprinting, 'i' },
                  { t->month, 'M' },   { t->numeric, 'n' },        { t->random, 'R' },
                  { t->version, 'V' }, { set->words.reverse, 'r' } };
    char sort;
    const int code = parse_sort_word(t->sort, &sort);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].given) *letters++ = flags[i].letter;
    if (sort) *letters++ = sort;
    *letters = 0;
    return code;
}

/* The seed of --random-sort: from a file, so that an order can be repeated, or from the system. */
static int make_seed(const char *path, uint64_t seed[2])
{
    struct io_source source;
    struct io_error error;
    size_t got;
    if (!path) {
        if (getrandom(seed, 16, 0) == 16) return EXIT_DONE;
        return cli_fail(EXIT_BAD, "the system returns no random bytes; use --random-source FILE");
    }
    io_status status = io_open(&source, path, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    status = io_read(&source, seed, 16, &got, &error);
    io_close(&source);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (got == 16) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: has %zu bytes; a random source needs 16", path, got);
}

static bool is_name(const char *key)
{
    return *key < '0' || *key > '9';
}

int sort_make_order(const struct sort_set *set, struct sort_text *text)
{
    const struct sort_lines_words *t = &set->text;
    char letters[16], error[LINES_ERROR];
    struct lines_words words = { .keys = t->keys.words,
                                 .n_keys = t->keys.count,
                                 .letters = letters,
                                 .stable = t->stable,
                                 .unique = set->unique,
                                 .zero = t->zero,
                                 .csv = t->csv,
                                 .header = set->words.job.header };
    int code = parse_delimiter(set, &words.delimiter);
    if (code == EXIT_DONE && t->csv && (!words.delimiter || strchr("\"\n\r", words.delimiter)))
        code =
            cli_fail(EXIT_BAD, "--delimiter is a character that cannot separate values of --csv");
    if (code == EXIT_DONE) code = collect_letters(set, letters);
    if (code == EXIT_DONE) code = make_seed(t->random_source, words.seed);
    if (code != EXIT_DONE) return code;
    /* A column by its name needs a header. */
    for (int i = 0; i < t->keys.count && !set->words.job.no_header; i++)
        words.header |= is_name(t->keys.words[i]);
    text->order = lines_order_new(&words, error);
    return text->order ? EXIT_DONE : cli_fail(EXIT_BAD, "%s", error);
}

/* ---- Text ---- */

/* Makes room for more bytes, and two more. */
static int reserve(struct sort_text *text, const char *name, size_t more)
{
    if (text->text && text->room - text->bytes >= more) return EXIT_DONE;
    size_t room = text->bytes + more;
    if (room < text->room + text->room / 2) room = text->room + text->room / 2;
    char *larger = NULL;
    if (!text->text)
        larger = lines_allocate(room + 2);
    else if (more < PTRDIFF_MAX - text->bytes)
        larger = realloc(text->text, room + 2);
    if (!larger)
        return cli_fail(EXIT_MEMORY,
                        "%s: out of memory: cannot allocate %zu bytes for its contents", name,
                        room);
    text->text = larger;
    text->room = room;
    return EXIT_DONE;
}

/* A part of a file that a thread reads. */
struct file_part {
    int fd;
    char *to;
    off_t from;
    size_t bytes;
    atomic_bool *failed;
};

enum { PART_BYTES = 4 << 20 };

static void read_part(void *arg, int i)
{
    const struct file_part *p = arg;
    const size_t begin = (size_t)i * PART_BYTES;
    const size_t n = p->bytes - begin < PART_BYTES ? p->bytes - begin : PART_BYTES;
    for (size_t done = 0; done < n;) {
        const ssize_t got =
            pread(p->fd, p->to + begin + done, n - done, p->from + (off_t)(begin + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            atomic_store(p->failed, true);
            return;
        }
        done += (size_t)got;
    }
}

/* Reads the rest of a plain file by all threads, as far as its size when it was opened.  If that
 * fails, or the file is shorter now, nothing is read; io_read() continues, and reports errors. */
static void read_parts(const struct sort_job *job, struct io_source *source, struct sort_text *text,
                       size_t more)
{
    const off_t from = source->ahead_bytes ? -1 : lseek(source->fd, 0, SEEK_CUR);
    atomic_bool failed = false;
    if (from < 0 || more < 2 * (size_t)PART_BYTES) return;
    struct file_part parts = { source->fd, text->text + text->bytes, from, more, &failed };
    io_for_each_by(job->base.threads, (int)((more + PART_BYTES - 1) / PART_BYTES), read_part,
                   &parts);
    if (failed || lseek(source->fd, from + (off_t)more, SEEK_SET) < 0) return;
    text->bytes += more;
}

/* If all of the source is memory that the text owns, it becomes the text. */
static bool adopt(struct io_source *source, struct sort_text *text)
{
    if (!text->ahead || text->text || source->fd >= 0 ||
        source->ahead != (const unsigned char *)text->ahead)
        return false;
    const size_t n = source->ahead_bytes;
    char *smaller = realloc(text->ahead, n + 2);
    text->text = smaller ? smaller : text->ahead;
    text->ahead = NULL;
    text->bytes = text->room = n;
    source->ahead_bytes = 0;
    return true;
}

static int read_source(struct sort_job *job, struct io_source *source, struct sort_text *text)
{
    struct io_error error;
    const size_t begin = text->bytes;
    const bool adopted = adopt(source, text);
    size_t want = source->size ? (size_t)source->size + 1 : 1 << 16;
    int code = adopted ? EXIT_DONE : reserve(text, source->name, want);
    while (code == EXIT_DONE && !adopted) {
        size_t room = text->room - text->bytes, got;
        if (room > IO_BLOCK) room = IO_BLOCK;
        if (source->ahead_bytes && room > source->ahead_bytes) room = source->ahead_bytes;
        io_status status = io_read(source, text->text + text->bytes, room, &got, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        text->bytes += got;
        job->base.progress.io.tick(job->base.progress.io.user, text->bytes - begin, source->size);
        if (got < room) break;
        if (source->size > text->bytes - begin)
            read_parts(job, source, text, (size_t)source->size - (text->bytes - begin));
        want = text->room - text->bytes ? 1 : text->bytes / 2 + IO_LOOK;
        code = reserve(text, source->name, want);
    }
    if (code != EXIT_DONE) return code;
    /* A missing terminator is added. */
    const char end = lines_terminator(text->order);
    if (text->bytes > begin && text->text[text->bytes - 1] != end) text->text[text->bytes++] = end;
    return EXIT_DONE;
}

static size_t mark_of(const char *head, size_t bytes)
{
    return bytes >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

int sort_same_head(const struct sort_text *text, const char *name, const char *head, size_t bytes)
{
    const size_t mark = mark_of(head, bytes), own = mark_of(text->text, text->head);
    const char *a = head + mark, *b = text->text + own;
    const size_t n = bytes - mark, m = text->head - own;
    if (n == m && memcmp(a, b, n) == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: the header is \"%.*s\", but that of %s is \"%.*s\"", name,
                    (int)lines_body(text->order, a, n), a, sort_name(text, 0),
                    (int)lines_body(text->order, b, m), b);
}

/* The head of the first input stays; that of others is removed. */
static int take_head(struct sort_text *text, const char *name, size_t begin, bool first)
{
    bool whole;
    char *at = text->text + begin;
    const size_t bytes = text->bytes - begin;
    if (bytes == 0) return EXIT_DONE;
    const size_t head = lines_head(text->order, at, bytes, &whole);
    if (first) {
        text->head = head;
        return EXIT_DONE;
    }
    const int code = sort_same_head(text, name, at, head);
    memmove(at, at + head, bytes - head);
    text->bytes -= head;
    return code;
}

/* Checks the quotes of CSV in the input from begin on: the next input must not close them. */
static int check_quotes(const struct sort_text *text, const char *name, size_t begin)
{
    const size_t from = begin ? begin : text->head, bytes = text->bytes - from;
    const char *at = text->text + from;
    const size_t quote = bytes ? lines_misplaced(text->order, at, bytes, 0) : SIZE_MAX;
    return quote == SIZE_MAX ? EXIT_DONE : sort_bad_quote(name, at, bytes, quote);
}

int sort_open_text(struct io_source *source, const char *name)
{
    struct io_error error;
    io_status status = io_open(source, name, &error);
    if (status == IO_OK) status = io_look(source, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (source->ahead_bytes >= 6 && memcmp(source->ahead, "\x93NUMPY", 6) == 0) {
        io_close(source);
        return cli_fail(EXIT_BAD,
                        "%s: is a .npy array, but several inputs and options of lines need text",
                        source->name);
    }
    return EXIT_DONE;
}

int sort_bind(struct sort_text *text, const char *head, size_t bytes)
{
    char error[LINES_ERROR];
    const char *name = lines_first_name(text->order);
    if (!name) return EXIT_DONE;
    if (!bytes)
        return cli_fail(EXIT_BAD,
                        "%s: is empty and has no header, but --key \"%s\" is the name of a column",
                        sort_name(text, 0), name);
    const size_t mark = mark_of(head, bytes);
    const size_t body = lines_body(text->order, head + mark, bytes - mark);
    if (lines_bind(text->order, head + mark, body, error)) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: %s", sort_name(text, 0), error);
}

/* Reads the inputs after the first ones that were read. */
static int read_from(struct sort_job *job, struct sort_text *text, int first)
{
    for (int i = first; i < text->n_names; i++) {
        struct io_source source;
        const size_t begin = text->bytes;
        int code = sort_open_text(&source, text->names[i]);
        if (code != EXIT_DONE) return code;
        code = read_source(job, &source, text);
        io_close(&source);
        if (code == EXIT_DONE) code = take_head(text, source.name, begin, begin == 0);
        if (code == EXIT_DONE && text->n_names > 1) code = check_quotes(text, source.name, begin);
        if (code != EXIT_DONE) return code;
    }
    return sort_bind(text, text->text, text->head);
}

int sort_read_text(struct sort_job *job, struct sort_text *text)
{
    stage_begin(&job->base, STAGE_READ);
    const int code = read_from(job, text, 0);
    cli_progress_end(&job->base.progress);
    stage_end(&job->base, STAGE_READ, text->bytes);
    return code;
}

void sort_free_text(struct sort_text *text)
{
    lines_order_free(text->order);
    free(text->first);
    free(text->ahead);
    free(text->list);
    free(text->listed);
    free(text->text);
    *text = (struct sort_text){ 0 };
}

/* ---- Numbers or text ---- */

struct lines_check {
    const char *text;
    size_t bytes;
    atomic_bool other; /* a line that is not a number was found */
};

static bool is_number(const char *at, const char *end)
{
    bool negative;
    uint64_t magnitude;
    double value;
    const io_number found = io_parse_integer(at, end, &negative, &magnitude);
    return found == IO_NUMBER_OK || found == IO_NUMBER_RANGE ||
           io_parse_float(at, end, &value) == IO_NUMBER_OK;
}

enum { CHECK_BYTES = 1 << 16 };

/* The lines that begin in a block. */
static void check_block(void *arg, int i)
{
    struct lines_check *c = arg;
    const char *end = c->text + c->bytes, *at = c->text + (size_t)i * CHECK_BYTES;
    const char *stop = end - at < CHECK_BYTES ? end : at + CHECK_BYTES;
    if (i && at[-1] != '\n') {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : end;
    }
    while (at < stop && !c->other) {
        const char *last = memchr(at, '\n', (size_t)(end - at));
        if (!is_number(at, last)) c->other = true;
        at = last + 1;
    }
}

/* Whether every line, of which the last one ends in a newline, is a number. */
static bool all_numbers(const struct sort_job *job, const char *text, size_t bytes)
{
    struct lines_check check = { .text = text, .bytes = bytes };
    if (bytes) check_block(&check, 0);
    if (!check.other)
        io_for_each_by(job->base.threads, (int)((bytes + CHECK_BYTES - 1) / CHECK_BYTES),
                       check_block, &check);
    return !check.other;
}

/* Whether the input is text, without an option or an extension that decides. */
static bool is_undecided(const struct sort_set *set, const struct io_hints *hints, const char *name)
{
    return hints->format < 0 && hints->dtype < 0 && !set->words.job.column &&
           io_format_from_extension(name) < 0;
}

/* Parses the text as numbers if every line is one: the column takes the text.  A message is
 * printed for numbers of which no type represents all. */
static int parse_numbers(struct sort_job *job, struct sort_text *text, const struct io_hints *hints,
                         bool *numbers)
{
    static const char mark[] = "\xEF\xBB\xBF";
    struct io_column *c = &job->base.column;
    struct io_error error;
    size_t head = text->bytes >= 3 && memcmp(text->text, mark, 3) == 0 ? 3 : 0;
    *c = (struct io_column){ .format = IO_TEXT, .head_bytes = head };
    if (text->head) head = text->head;
    *numbers = all_numbers(job, text->text + head, text->bytes - head);
    if (!*numbers) return EXIT_DONE;
    c->text = text->text;
    c->text_bytes = text->bytes;
    text->text = NULL;
    const io_status status =
        io_text_parse(c, hints, sort_name(text, 0), &job->base.progress.io, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static int read_opened(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
                       struct io_source *source, bool *numbers)
{
    struct io_hints hints;
    struct io_error error;
    int dtype, code = job_hints(&set->words.job, &hints);
    io_format format = IO_TEXT;
    if (code != EXIT_DONE) return code;
    if (hints.format == IO_RAW) io_set_raw(source); /* --format raw is given */
    io_status status = io_look(source, &error);
    const bool array = source->ahead_bytes >= 6 && memcmp(source->ahead, "\x93NUMPY", 6) == 0;
    if (status == IO_OK && (array || !is_undecided(set, &hints, source->name)))
        status = io_detect(source, &hints, &format, &dtype, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const bool automatic = format == IO_TEXT && text->order; /* otherwise an option needs numbers */
    if (!automatic) {
        hints.dimensions = job->base.dimensions;
        *numbers = true;
        status = io_load_column(source, &hints, &job->base.column, &error);
        return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    }
    code = read_source(job, source, text);
    if (code == EXIT_DONE) code = take_head(text, source->name, 0, true);
    if (code == EXIT_DONE) code = parse_numbers(job, text, &hints, numbers);
    return code;
}

int sort_read_any(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
                  bool *numbers)
{
    struct io_source own, *source = text->first ? text->first : &own;
    struct io_error error;
    io_status status = IO_OK;
    *numbers = false;
    stage_begin(&job->base, STAGE_READ);
    if (!text->first) status = io_open(source, text->names[0], &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const char *format = set->words.job.format;
    if (format && strcmp(format, "raw") == 0) io_set_raw(source);
    job->base.input = source->name;
    source->progress = &job->base.progress.io;
    const int code = read_opened(set, job, text, source, numbers);
    io_close(source);
    cli_progress_end(&job->base.progress);
    const struct io_column *c = &job->base.column;
    stage_end(&job->base, STAGE_READ,
              c->npy.header_bytes + (!*numbers ? text->bytes
                                     : c->text ? c->text_bytes
                                               : c->keys_bytes));
    return code;
}
