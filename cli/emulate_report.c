/*
 * emulate_report.c - the text that "echelon emulate" prints: the findings, then the source lines
 * that were executed with their counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Places and source lines ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int emulate_line(const char *place, const char *path)
{
    const char *name = base_name(path), *colon = strrchr(place, ':');
    if (!colon || strlen(name) != (size_t)(colon - place)) return 0;
    return strncmp(place, name, strlen(name)) == 0 ? atoi(colon + 1) : 0;
}

bool emulate_source_read(struct emulate_source *source, const struct compile *c, const char *path)
{
    struct io_source from;
    struct io_error error;
    size_t bytes = c->lines_bytes;
    void *text = NULL;
    memset(source, 0, sizeof *source);
    if (strcmp(path, c->source) == 0) {
        text = malloc(bytes + 1);
        if (text) memcpy(text, c->lines, bytes);
    } else if (io_open(&from, path, &error) == IO_OK) {
        if (io_read_all(&from, 16 << 20, from.size, 1, &text, &bytes, &error) != IO_OK) text = NULL;
        io_close(&from);
    }
    if (!text) return false;
    source->text = text;
    source->text[bytes] = 0;
    int count = 1;
    for (size_t i = 0; i < bytes; i++) count += source->text[i] == '\n';
    source->lines = malloc((size_t)count * sizeof *source->lines);
    if (!source->lines) {
        emulate_source_free(source);
        return false;
    }
    for (char *at = source->text; source->count < count; source->count++) {
        source->lines[source->count] = at;
        at += strcspn(at, "\n");
        if (*at) *at++ = 0;
    }
    return true;
}

void emulate_source_free(struct emulate_source *source)
{
    free(source->text);
    free(source->lines);
    memset(source, 0, sizeof *source);
}

const char *emulate_place(const struct simt_finding *finding)
{
    static const char failed[] = " failed at ";
    const char *at = finding->fault == SIMT_TRAP ? strstr(finding->text, failed) : NULL;
    return at ? at + sizeof failed - 1 : finding->place;
}

const char *emulate_explanation(const struct simt_finding *finding)
{
    /* "race in reduce at reduce.cu:17: thread 0 ..." */
    const char *at = *finding->place ? strstr(finding->text, finding->place) : NULL;
    if (at) at += strlen(finding->place);
    if (!at) at = strstr(finding->text, finding->kernel);
    if (!*finding->place && at) at += strlen(finding->kernel);
    return at && at[0] == ':' && at[1] == ' ' ? at + 2 : finding->text;
}

/* ---- What the emulator counted ---- */

void emulate_take(struct emulate_report *r)
{
    const struct simt_kernel_counts *kernels;
    const size_t n = r->emulator->profile(&kernels);
    for (size_t i = 0; i < n; i++)
        if (strcmp(kernels[i].kernel, r->compile->name) == 0) r->counts = kernels[i];
    r->finding_count = r->emulator->findings(&r->findings);
    r->event_count = r->emulator->recorded(&r->events, &r->truncated);
}

/* ---- The head and the findings ---- */

static void put_extent(FILE *to, const unsigned extent[3])
{
    fprintf(to, "%u", extent[0]);
    if (extent[1] > 1 || extent[2] > 1) fprintf(to, "x%u", extent[1]);
    if (extent[2] > 1) fprintf(to, "x%u", extent[2]);
}

static void put_head(const struct emulate_report *r, FILE *to)
{
    const struct emulate_launch *l = r->launch;
    cli_print_name(to, r->compile->name);
    fputs(": grid ", to);
    put_extent(to, l->grid);
    fputs(", block ", to);
    put_extent(to, l->block);
    if (l->shared_bytes)
        fprintf(to, ", %" PRIu64 " bytes of dynamic shared memory", l->shared_bytes);
    if (l->seeds > 1)
        fprintf(to, "; %" PRIu64 " runs, seeds %" PRIu64 " to %" PRIu64, l->seeds, l->seed,
                l->seed + l->seeds - 1);
    else if (l->seed)
        fprintf(to, "; seed %" PRIu64, l->seed);
    fputc('\n', to);
}

/* Lines of at most 96 columns, indented by four. */
static void put_wrapped(FILE *to, const char *text)
{
    enum { WIDTH = 92 };
    while (*text) {
        size_t n = strlen(text);
        if (n > WIDTH) {
            n = WIDTH;
            while (n > 1 && text[n] != ' ') n--;
            if (text[n] != ' ') n = WIDTH;
        }
        fprintf(to, "    %.*s\n", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
}

static void put_findings(const struct emulate_report *r, FILE *to)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct simt_finding *f = &r->findings[i];
        fprintf(to, "\n%s", r->emulator->fault_name(f->fault));
        if (*f->place) fprintf(to, " at %s", emulate_place(f));
        if (f->count > 1) fprintf(to, ", %" PRIu64 " times", f->count);
        fputc('\n', to);
        put_wrapped(to, emulate_explanation(f));
    }
    for (int i = 0; i < r->arguments->count; i++) {
        const struct emulate_argument *x = &r->arguments->list[i];
        if (x->differs >= 0)
            fprintf(to, "\nnote: %s[%" PRId64 "] depends on the order of blocks and warps\n",
                    x->name, x->differs);
    }
}

/* ---- The table of lines ---- */

/* The counts of a source line; NULL: it was not executed. */
static const struct simt_counts *counts_of(const struct emulate_report *r, const char *path,
                                           int line)
{
    for (size_t i = 0; i < r->counts.line_count; i++)
        if (emulate_line(r->counts.lines[i].place, path) == line) return &r->counts.lines[i].counts;
    return NULL;
}

static void put_count(FILE *to, int width, uint64_t count, bool zero)
{
    if (count || zero)
        fprintf(to, " %*" PRIu64, width, count);
    else
        fprintf(to, " %*s", width, "");
}

static void put_ratio(FILE *to, int width, uint64_t a, uint64_t b)
{
    if (b)
        fprintf(to, " %*.2f", width, (double)a / (double)b);
    else
        fprintf(to, " %*s", width, "");
}

static void put_counts(FILE *to, const struct simt_counts *c, bool zero)
{
    const uint64_t global = c->load_requests + c->store_requests + c->atomic_requests;
    const uint64_t sectors = c->load_sectors + c->store_sectors + c->atomic_sectors;
    const uint64_t shared = c->shared_loads + c->shared_stores + c->shared_atomics;
    const uint64_t wavefronts =
        c->shared_load_wavefronts + c->shared_store_wavefronts + c->shared_atomic_wavefronts;
    put_count(to, 7, global, zero);
    put_ratio(to, 8, sectors, global);
    put_count(to, 7, shared, zero);
    put_ratio(to, 7, wavefronts, shared);
    put_count(to, 7, c->bank_conflicts, zero);
    put_count(to, 7, c->divergent, zero);
    put_count(to, 6, c->barriers + c->warp_operations, zero);
}

static bool is_found(const struct emulate_report *r, const char *path, int line)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (emulate_line(emulate_place(&r->findings[i]), path) == line) return true;
    return false;
}

/* The faults at a line, each once. */
static void put_marks(const struct emulate_report *r, const char *path, int line, FILE *to)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < r->finding_count; i++) {
        const enum simt_fault fault = r->findings[i].fault;
        if (emulate_line(emulate_place(&r->findings[i]), path) != line || seen >> fault & 1)
            continue;
        fprintf(to, "%5s %*s  ^ %s\n", "", 55, "", r->emulator->fault_name(fault));
        seen |= 1u << fault;
    }
}

static void put_line(const struct emulate_report *r, const char *path, int line, const char *text,
                     FILE *to)
{
    static const struct simt_counts none;
    const struct simt_counts *c = counts_of(r, path, line);
    fprintf(to, "%5d", line);
    put_counts(to, c ? c : &none, false);
    fputs("  ", to);
    for (const char *at = text; *at; at++) { /* tabs would misalign, other bytes are not printed */
        if (*at == '\t')
            fputs("    ", to);
        else if (*at != '\r')
            fputc((unsigned char)*at < ' ' || *at == 127 ? '?' : *at, to);
    }
    fputc('\n', to);
    put_marks(r, path, line, to);
}

/* The first and the last line of a file that have counts or findings. */
static bool range_of(const struct emulate_report *r, const char *path, int *first, int *last)
{
    *first = INT32_MAX;
    *last = 0;
    for (size_t i = 0; i < r->counts.line_count + r->finding_count; i++) {
        const char *place = i < r->counts.line_count
                                ? r->counts.lines[i].place
                                : emulate_place(&r->findings[i - r->counts.line_count]);
        const int line = emulate_line(place, path);
        if (line > 0 && line < *first) *first = line;
        if (line > *last) *last = line;
    }
    return *last > 0;
}

static void put_file(const struct emulate_report *r, const char *path, FILE *to)
{
    enum { NEAR = 2 }; /* lines without counts that are printed next to others */
    struct emulate_source source;
    int first, last;
    if (!range_of(r, path, &first, &last) || !emulate_source_read(&source, r->compile, path))
        return;
    fputc('\n', to);
    cli_print_name(to, path);
    fprintf(to, "\n%5s %7s %8s %7s %7s %7s %7s %6s\n", "", "global", "sectors/", "shared", "waves/",
            "bank", "diver-", "");
    fprintf(to, "%5s %7s %8s %7s %7s %7s %7s %6s\n", "line", "request", "request", "request",
            "request", "confl.", "gent", "syncs");
    bool gap = false;
    for (int line = first; line <= last && line <= source.count; line++) {
        bool near = false;
        for (int i = line - NEAR; i <= line + NEAR; i++)
            near |= i > 0 && (counts_of(r, path, i) || is_found(r, path, i));
        if (near)
            put_line(r, path, line, source.lines[line - 1], to);
        else if (!gap)
            fputs("  ...\n", to);
        gap = !near;
    }
    emulate_source_free(&source);
}

void emulate_text(const struct emulate_report *r, FILE *to)
{
    put_head(r, to);
    put_findings(r, to);
    for (int i = 0; i < r->compile->text.file_count; i++)
        put_file(r, r->compile->text.files[i].path, to);
    if (r->counts.launches) {
        fprintf(to, "%5s", "total");
        put_counts(to, &r->counts.counts, true);
        fputc('\n', to);
    }
    if (r->finding_count)
        fprintf(to, "\n%zu finding%s\n", r->finding_count, r->finding_count > 1 ? "s" : "");
    else
        fputs("\nno findings\n", to);
}
