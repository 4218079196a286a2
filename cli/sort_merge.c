/*
 * sort_merge.c - merges inputs that are sorted already, for "echelon sort --merge".
 *
 * Each input has a block in memory.  A heap contains the inputs in the order of their current
 * records; equal records are in the order of the inputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 64 };

struct run {
    struct io_source source;
    bool opened, end;
    char *block;
    size_t room, bytes; /* of the block; bytes are filled */
    size_t at, next;    /* the current record and its length with terminator; next 0: none */
    size_t body;
    unsigned char key[KEY_BYTES]; /* the first bytes of the full key of the current record */
    size_t key_bytes;             /* of the whole key */
    int number;
};

struct merge {
    const struct lines_order *order;
    struct run *runs;
    struct run **heap;
    int n, n_heap;
    char *last; /* with unique, the record that was written last */
    size_t last_bytes, last_room;
    bool has_last;
};

/* ---- Inputs ---- */

static int read_more(struct run *r)
{
    struct io_error error;
    memmove(r->block, r->block + r->at, r->bytes - r->at);
    r->bytes -= r->at;
    r->at = 0;
    if (r->bytes > r->room / 2) {
        char *larger = r->room < PTRDIFF_MAX / 2 ? realloc(r->block, 2 * r->room) : NULL;
        if (!larger)
            return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %zu bytes for a line",
                            r->source.name, 2 * r->room);
        r->block = larger;
        r->room *= 2;
    }
    const size_t want = r->room - r->bytes;
    size_t got;
    const io_status status = io_read(&r->source, r->block + r->bytes, want, &got, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    r->bytes += got;
    r->end = got < want;
    return EXIT_DONE;
}

/* Makes the record at r->at current, or sets next to 0 at the end. */
static int take_record(const struct merge *m, struct run *r)
{
    for (;;) {
        r->next = lines_next(m->order, r->block + r->at, r->bytes - r->at);
        r->body = lines_body(m->order, r->block + r->at, r->next);
        if (r->body < r->next || r->end) break;
        const int code = read_more(r);
        if (code != EXIT_DONE) return code;
    }
    if (r->next)
        r->key_bytes = lines_full_key(m->order, r->block + r->at, r->body, r->key, sizeof r->key);
    return EXIT_DONE;
}

/* Reads the head of an input; the first one is written. */
static int take_head(struct sort_text *text, struct run *r, struct io_output *output)
{
    bool whole = false;
    struct io_error error;
    size_t head = 0;
    while (!whole) {
        const int filled = read_more(r);
        if (filled != EXIT_DONE) return filled;
        head = lines_head(text->order, r->block, r->bytes, &whole);
        if (r->end) break;
    }
    r->at = head;
    if (r->number)
        return r->bytes ? sort_same_head(text, r->source.name, r->block, head) : EXIT_DONE;
    const int code = sort_bind(text, r->block, head);
    if (code != EXIT_DONE) return code;
    text->text = malloc(head + 1);
    if (!text->text) return cli_fail(EXIT_MEMORY, "%s: out of memory", r->source.name);
    memcpy(text->text, r->block, head);
    text->head = text->bytes = head;
    const io_status status = io_write(output, r->block, head, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
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
                            r->source.name, 2 * r->body);
        m->last = larger;
        m->last_room = 2 * r->body;
    }
    if (r->body) memcpy(m->last, r->block + r->at, r->body);
    m->last_bytes = r->body;
    m->has_last = true;
    return EXIT_DONE;
}

static int write_record(const struct sort_set *set, struct merge *m, const struct run *r,
                        struct io_output *output, uint64_t *n_out)
{
    struct io_error error;
    if (set->unique) {
        bool repeated;
        const int code = is_repeated(m, r, &repeated);
        if (code != EXIT_DONE || repeated) return code;
    }
    const char end = lines_terminator(m->order);
    io_status status;
    if (set->text.debug) {
        status = sort_write_debug(output, m->order, r->block + r->at, r->body, &error);
    } else {
        status = io_write(output, r->block + r->at, r->next, &error);
        if (status == IO_OK && r->body == r->next) status = io_write(output, &end, 1, &error);
    }
    ++*n_out;
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static int open_runs(struct merge *m, struct sort_text *text, struct io_output *output)
{
    enum { ALL = 64 << 20, LEAST = 1 << 16, MOST = 4 << 20 };
    size_t room = ALL / (size_t)m->n;
    room = room < LEAST ? LEAST : room > MOST ? MOST : room;
    for (int i = 0; i < m->n; i++) {
        struct run *r = &m->runs[i];
        *r = (struct run){ .room = room, .number = i };
        int code = sort_open_text(&r->source, text->names[i]);
        if (code != EXIT_DONE) return code;
        r->opened = true;
        r->block = malloc(room);
        if (!r->block) return cli_fail(EXIT_MEMORY, "%s: out of memory", r->source.name);
        code = take_head(text, r, output);
        if (code == EXIT_DONE) code = take_record(m, r);
        if (code != EXIT_DONE) return code;
        if (r->next) m->heap[m->n_heap++] = r;
    }
    for (int i = m->n_heap / 2; i--;) sift_down(m, i);
    return EXIT_DONE;
}

static int merge_runs(const struct sort_set *set, struct sort_job *job, struct merge *m,
                      struct io_output *output)
{
    int code = EXIT_DONE;
    while (m->n_heap && code == EXIT_DONE) {
        struct run *r = m->heap[0];
        code = write_record(set, m, r, output, &job->base.n_out);
        job->base.column.n++;
        r->at += r->next;
        if (code == EXIT_DONE) code = take_record(m, r);
        if (!r->next) m->heap[0] = m->heap[--m->n_heap];
        if (m->n_heap) sift_down(m, 0);
    }
    return code;
}

int sort_merge(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
               struct io_output *output)
{
    struct io_error error;
    const size_t n = (size_t)text->n_names;
    int code = cli_permit_files(text->n_names);
    if (code != EXIT_DONE) return code;
    struct merge m = { .order = text->order, .n = text->n_names };
    m.runs = calloc(n, sizeof *m.runs);
    m.heap = calloc(n, sizeof *m.heap);
    stage_begin(&job->base, STAGE_WRITE);
    code = m.runs && m.heap ? open_runs(&m, text, output)
                            : cli_fail(EXIT_MEMORY, "out of memory: %zu inputs", n);
    if (code == EXIT_DONE) code = merge_runs(set, job, &m, output);
    if (code == EXIT_DONE) code = job_commit(&job->base, output, IO_OK, &error);
    for (size_t i = 0; m.runs && i < n; i++) {
        if (m.runs[i].opened) io_close(&m.runs[i].source);
        free(m.runs[i].block);
    }
    free(m.runs);
    free(m.heap);
    free(m.last);
    return code;
}
