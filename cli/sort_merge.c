/*
 * sort_merge.c - merges inputs that are sorted already, for "echelon sort --merge".
 *
 *     parts 0 1 2 | 3 4 5 | 6 7     more parts than can be open: groups of neighbours are merged
 *             0   |   1   | 2 3     into a temporary file, until the parts are few enough
 *
 * A part is an input, or a range of the temporary file.  Each part of a group has a block in
 * memory.  A heap contains them in the order of their current records; equal records are in the
 * order of the parts, which is that of the inputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/files.h"
#include "sort_scratch.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 64, LEAST_BLOCK = 1 << 16, MOST_BLOCK = 4 << 20, ALL_BLOCKS = 64 << 20 };

struct part {
    int input;              /* its number; -1: a range of the temporary file */
    uint64_t offset, bytes; /* of the range */
};

/* A part that is being merged. */
struct run {
    struct part part;
    struct io_source source; /* of an input */
    bool opened, end;
    bool begun; /* the head of an input was taken */
    const char *name;
    char *block;
    size_t room, bytes; /* of the block; bytes are filled */
    size_t at, next;    /* the current record and its length with terminator; next 0: none */
    size_t body;
    unsigned char key[KEY_BYTES]; /* the first bytes of the full key of the current record */
    size_t key_bytes;             /* of the whole key */
    int number;                   /* in the group */
};

struct merge {
    const struct sort_set *set;
    const struct lines_order *order;
    struct sort_text *text;
    struct io_output *output;
    struct part *parts; /* that remain, in the order of the inputs */
    int n_parts;
    int most; /* parts of a group */
    struct run *runs;
    struct run **heap;
    int n_heap;
    size_t room;                 /* of a block */
    struct sort_scratch scratch; /* groups that were merged */
    char *buffer;                /* [IO_BUFFER] of the group that is written */
    size_t used;                 /* bytes of buffer */
    bool last_group;             /* the output is written */
    char *last;                  /* with unique, the record that was written last */
    size_t last_bytes, last_room;
    bool has_last;
    uint64_t n_in, n_out;
};

/* ---- Parts ---- */

static int read_bytes(struct merge *m, struct run *r, char *to, size_t want, size_t *got)
{
    struct io_error error;
    if (r->part.input >= 0) {
        const io_status status = io_read(&r->source, to, want, got, &error);
        return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    }
    *got = r->part.bytes < want ? (size_t)r->part.bytes : want;
    const int code = sort_scratch_get(&m->scratch, r->part.offset, to, *got);
    r->part.offset += *got;
    r->part.bytes -= *got;
    return code;
}

/* Checks the quotes of CSV. */
static int check_quotes(const struct merge *m, const struct run *r)
{
    const char *from = r->block + r->at;
    const size_t bytes = r->bytes - r->at;
    size_t quote;
    if (!m->set->text.csv || !r->begun) return EXIT_DONE;
    if (r->end)
        quote = lines_misplaced(m->order, from, bytes, 1);
    else
        lines_complete(m->order, from, bytes, 1, &quote);
    return quote == SIZE_MAX ? EXIT_DONE : sort_bad_quote(r->name, from, bytes, quote);
}

static int read_more(struct merge *m, struct run *r)
{
    memmove(r->block, r->block + r->at, r->bytes - r->at);
    r->bytes -= r->at;
    r->at = 0;
    if (r->bytes > r->room / 2) {
        char *larger = r->room < PTRDIFF_MAX / 2 ? realloc(r->block, 2 * r->room) : NULL;
        if (!larger)
            return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %zu bytes for a line",
                            r->name, 2 * r->room);
        r->block = larger;
        r->room *= 2;
    }
    const size_t want = r->room - r->bytes;
    size_t got = 0;
    const int code = read_bytes(m, r, r->block + r->bytes, want, &got);
    r->bytes += got;
    r->end = got < want;
    return code == EXIT_DONE ? check_quotes(m, r) : code;
}

/* Makes the record at r->at current, or sets next to 0 at the end. */
static int take_record(struct merge *m, struct run *r)
{
    for (;;) {
        r->next = lines_next(m->order, r->block + r->at, r->bytes - r->at);
        r->body = lines_body(m->order, r->block + r->at, r->next);
        if (r->body < r->next || r->end) break;
        const int code = read_more(m, r);
        if (code != EXIT_DONE) return code;
    }
    if (r->next)
        r->key_bytes = lines_full_key(m->order, r->block + r->at, r->body, r->key, sizeof r->key);
    return EXIT_DONE;
}

/* The head of the first input is written, and determines columns by name. */
static int write_head(struct merge *m, const char *head, size_t bytes)
{
    struct io_error error;
    struct sort_text *text = m->text;
    const int code = sort_bind(text, head, bytes);
    if (code != EXIT_DONE) return code;
    text->text = malloc(bytes + 1);
    if (!text->text) return cli_fail(EXIT_MEMORY, "%s: out of memory", sort_name(text, 0));
    memcpy(text->text, head, bytes);
    text->head = text->bytes = bytes;
    const io_status status = io_write(m->output, head, bytes, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static int take_head(struct merge *m, struct run *r)
{
    bool whole = false;
    size_t head = 0;
    while (!whole) {
        const int filled = read_more(m, r);
        if (filled != EXIT_DONE) return filled;
        head = lines_head(m->order, r->block, r->bytes, &whole);
        if (r->end) break;
    }
    r->at = head;
    if (r->part.input == 0) return write_head(m, r->block, head);
    return r->bytes ? sort_same_head(m->text, r->name, r->block, head) : EXIT_DONE;
}

static int open_run(struct merge *m, struct run *r)
{
    int code = EXIT_DONE;
    r->name = m->scratch.directory;
    if (r->part.input >= 0) {
        code = sort_open_text(&r->source, m->text->names[r->part.input]);
        if (code != EXIT_DONE) return code;
        r->opened = true;
        r->name = r->source.name;
    }
    r->block = malloc(r->room);
    if (!r->block) return cli_fail(EXIT_MEMORY, "%s: out of memory", r->name);
    if (r->part.input >= 0) code = take_head(m, r);
    r->begun = r->part.input >= 0;
    if (code == EXIT_DONE) code = check_quotes(m, r);
    return code == EXIT_DONE ? take_record(m, r) : code;
}

/* ---- Heap ---- */

static bool precedes(const struct merge *m, const struct run *a, const struct run *b)
{
    const size_t shorter = a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
    int order = memcmp(a->key, b->key, shorter < KEY_BYTES ? shorter : KEY_BYTES);
    if (order == 0 && shorter <= KEY_BYTES)
        order = (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
    else if (order == 0)
        order = lines_compare(m->order, a->block + a->at, a->body, b->block + b->at, b->body);
    return order ? order < 0 : a->number < b->number;
}

static void sift_down(struct merge *m, int i)
{
    struct run *one = m->heap[i];
    for (int child; (child = 2 * i + 1) < m->n_heap; i = child) {
        if (child + 1 < m->n_heap && precedes(m, m->heap[child + 1], m->heap[child])) child++;
        if (!precedes(m, m->heap[child], one)) break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = one;
}

/* ---- Output ---- */

/* With unique, whether the record equals the last one; otherwise it becomes the last one. */
static int is_repeated(struct merge *m, const struct run *r, bool *repeated)
{
    *repeated = m->has_last &&
                lines_compare(m->order, m->last, m->last_bytes, r->block + r->at, r->body) == 0;
    if (*repeated) return EXIT_DONE;
    if (r->body > m->last_room) {
        char *larger = realloc(m->last, 2 * r->body);
        if (!larger)
            return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %zu bytes for a line",
                            r->name, 2 * r->body);
        m->last = larger;
        m->last_room = 2 * r->body;
    }
    if (r->body) memcpy(m->last, r->block + r->at, r->body);
    m->last_bytes = r->body;
    m->has_last = true;
    return EXIT_DONE;
}

static int flush(struct merge *m)
{
    const size_t n = m->used;
    m->used = 0;
    return sort_scratch_append(&m->scratch, m->buffer, n);
}

static int write_bytes(struct merge *m, const char *bytes, size_t n)
{
    struct io_error error;
    if (m->last_group) {
        const io_status status = io_write(m->output, bytes, n, &error);
        return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    }
    if (n > IO_BUFFER - m->used) {
        const int code = flush(m);
        if (code != EXIT_DONE) return code;
    }
    if (n > IO_BUFFER) return sort_scratch_append(&m->scratch, bytes, n);
    memcpy(m->buffer + m->used, bytes, n);
    m->used += n;
    return EXIT_DONE;
}

static int write_record(struct merge *m, const struct run *r)
{
    struct io_error error;
    if (m->set->unique) {
        bool repeated;
        const int code = is_repeated(m, r, &repeated);
        if (code != EXIT_DONE || repeated) return code;
    }
    m->n_out += m->last_group;
    if (m->set->text.debug && m->last_group) {
        const io_status status =
            sort_write_debug(m->output, m->order, r->block + r->at, r->body, &error);
        return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    }
    const char end = lines_terminator(m->order);
    const int code = write_bytes(m, r->block + r->at, r->next);
    return code == EXIT_DONE && r->body == r->next ? write_bytes(m, &end, 1) : code;
}

/* ---- A group ---- */

static int merge_runs(struct merge *m)
{
    int code = EXIT_DONE;
    while (m->n_heap && code == EXIT_DONE) {
        struct run *r = m->heap[0];
        code = write_record(m, r);
        m->n_in += r->part.input >= 0;
        r->at += r->next;
        if (code == EXIT_DONE) code = take_record(m, r);
        if (!r->next) m->heap[0] = m->heap[--m->n_heap];
        if (m->n_heap) sift_down(m, 0);
    }
    return code;
}

static int merge_group(struct merge *m, const struct part *parts, int n)
{
    int code = EXIT_DONE, opened = 0;
    m->n_heap = 0;
    m->has_last = false;
    for (; opened < n && code == EXIT_DONE; opened++) {
        struct run *r = &m->runs[opened];
        *r = (struct run){ .part = parts[opened], .room = m->room, .number = opened };
        code = open_run(m, r);
        if (code == EXIT_DONE && r->next) m->heap[m->n_heap++] = r;
    }
    for (int i = m->n_heap / 2; i-- && code == EXIT_DONE;) sift_down(m, i);
    if (code == EXIT_DONE) code = merge_runs(m);
    for (int i = 0; i < opened; i++) {
        if (m->runs[i].opened) io_close(&m->runs[i].source);
        free(m->runs[i].block);
    }
    return code;
}

/* Merges a group to the end of the temporary file, which becomes one part. */
static int merge_to_part(struct merge *m, const struct part *parts, int n, struct part *part)
{
    const uint64_t begin = m->scratch.bytes;
    int code = merge_group(m, parts, n);
    if (code == EXIT_DONE) code = flush(m);
    for (int i = 0; i < n && code == EXIT_DONE; i++)
        if (parts[i].input < 0) sort_scratch_release(&m->scratch, parts[i].offset, parts[i].bytes);
    *part = (struct part){ .input = -1, .offset = begin, .bytes = m->scratch.bytes - begin };
    return code;
}

/* Merges groups of neighbours, but not more than is necessary. */
static int merge_once(struct merge *m)
{
    int kept = 0, code = EXIT_DONE;
    for (int i = 0; i < m->n_parts && code == EXIT_DONE;) {
        const int left = m->n_parts - i, surplus = kept + left - m->most;
        int n = surplus < 0 ? 1 : surplus < m->most ? surplus + 1 : m->most;
        if (n > left) n = left;
        struct part part = m->parts[i];
        if (n > 1) code = merge_to_part(m, m->parts + i, n, &part);
        m->parts[kept++] = part;
        i += n;
    }
    m->n_parts = kept;
    return code;
}

/* ---- All inputs ---- */

/* --batch-size, and what the limits of open files and of memory permit. */
static int choose_group(struct merge *m)
{
    const struct sort_set *set = m->set;
    const uint64_t given = set->files.budget, memory = given ? given : files_memory();
    const uint64_t blocks = memory / 2 / LEAST_BLOCK;
    const int files = cli_open_files(m->n_parts);
    uint64_t size = blocks < (uint64_t)files ? blocks : (uint64_t)files;
    if (set->text.batch_size) {
        const int code = cli_parse_count("batch-size", set->text.batch_size, &size);
        if (code != EXIT_DONE) return code;
        if (size < 2)
            return cli_fail(EXIT_BAD, "--batch-size is %s; the minimum is 2", set->text.batch_size);
        if (size > (uint64_t)files && files < m->n_parts)
            return cli_fail(EXIT_BAD,
                            "--batch-size is %s; the limit of open files (ulimit -n) permits %d",
                            set->text.batch_size, files);
    }
    if (size < 2) size = 2;
    m->most = size < (uint64_t)m->n_parts ? (int)size : m->n_parts;
    const size_t all = memory / 2 < ALL_BLOCKS ? (size_t)memory / 2 : ALL_BLOCKS;
    const size_t room = m->most ? all / (size_t)m->most : all;
    m->room = room < LEAST_BLOCK ? LEAST_BLOCK : room > MOST_BLOCK ? MOST_BLOCK : room;
    return EXIT_DONE;
}

static int merge_all(struct merge *m)
{
    const size_t inputs = (size_t)m->n_parts, most = (size_t)m->most;
    m->parts = calloc(inputs, sizeof *m->parts);
    m->runs = calloc(most, sizeof *m->runs);
    m->heap = calloc(most, sizeof *m->heap);
    m->buffer = malloc(IO_BUFFER);
    if (!m->parts || !m->runs || !m->heap || !m->buffer)
        return cli_fail(EXIT_MEMORY, "out of memory: %zu inputs", inputs);
    for (int i = 0; i < m->n_parts; i++) m->parts[i].input = i;
    int code = m->n_parts > m->most ? sort_scratch_open(m->set, &m->scratch) : EXIT_DONE;
    while (m->n_parts > m->most && code == EXIT_DONE) code = merge_once(m);
    m->last_group = true;
    return code == EXIT_DONE ? merge_group(m, m->parts, m->n_parts) : code;
}

int sort_merge(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
               struct io_output *output)
{
    struct io_error error;
    struct merge m = { .set = set,
                       .order = text->order,
                       .text = text,
                       .output = output,
                       .n_parts = text->n_names,
                       .scratch.fd = -1 };
    int code = choose_group(&m);
    stage_begin(&job->base, STAGE_WRITE);
    if (code == EXIT_DONE) code = merge_all(&m);
    job->base.column.n = m.n_in;
    job->base.n_out = m.n_out;
    if (code == EXIT_DONE) code = job_commit(&job->base, output, IO_OK, &error);
    sort_scratch_close(&m.scratch);
    free(m.parts);
    free(m.runs);
    free(m.heap);
    free(m.buffer);
    free(m.last);
    return code;
}
