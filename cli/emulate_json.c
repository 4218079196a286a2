/*
 * emulate_json.c - the report of "echelon emulate" as JSON, with the recorded events for the page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulate.h"

#include <string.h>

static void put_extent(struct json *json, const char *key, const unsigned extent[3])
{
    json_open(json, key, '[');
    for (int i = 0; i < 3; i++) json_count(json, NULL, extent[i]);
    json_close(json, ']');
}

/* The file of the user that the place names; NULL: none. */
static const char *file_of(const struct compile *c, const char *place)
{
    for (int i = 0; i < c->text.file_count; i++)
        if (emulate_line(place, c->text.files[i].path)) return c->text.files[i].path;
    return NULL;
}

/* "reduce.cu:17" */
static void put_place(struct json *json, const struct compile *c, const char *place)
{
    const char *path = file_of(c, place);
    json_text(json, "file", path ? path : place);
    json_count(json, "line", path ? (uint64_t)emulate_line(place, path) : 0);
}

static void put_counts(struct json *json, const struct simt_counts *c)
{
    json_open(json, "counts", '{');
#define COUNT(name) json_count(json, #name, c->name)
    COUNT(load_requests), COUNT(load_sectors), COUNT(load_bytes);
    COUNT(store_requests), COUNT(store_sectors), COUNT(store_bytes);
    COUNT(atomic_requests), COUNT(atomic_sectors);
    COUNT(shared_loads), COUNT(shared_load_wavefronts);
    COUNT(shared_stores), COUNT(shared_store_wavefronts);
    COUNT(shared_atomics), COUNT(shared_atomic_wavefronts);
    COUNT(bank_conflicts), COUNT(bank16_conflicts);
    COUNT(barriers), COUNT(warp_operations), COUNT(branches), COUNT(divergent);
#undef COUNT
    json_close(json, '}');
}

static void put_arguments(struct json *json, const struct emulate_report *r)
{
    json_open(json, "arguments", '[');
    for (int i = 0; i < r->arguments->count; i++) {
        const struct emulate_argument *x = &r->arguments->list[i];
        json_open(json, NULL, '{');
        json_text(json, "name", x->name);
        json_text(json, "type", ech_dtype_name(x->dtype));
        if (x->array) {
            json_count(json, "n", x->n);
            json_text(json, "contents", x->initial ? "given" : "uninitialised");
        } else {
            json_value(json, "value", x->dtype, x->scalar);
        }
        if (x->differs >= 0) json_count(json, "depends_on_order_at", (uint64_t)x->differs);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_findings(struct json *json, const struct emulate_report *r)
{
    json_open(json, "findings", '[');
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct simt_finding *f = &r->findings[i];
        json_open(json, NULL, '{');
        json_text(json, "fault", r->emulator->fault_name(f->fault));
        put_place(json, r->compile, emulate_place(f));
        json_count(json, "count", f->count);
        json_text(json, "text", emulate_explanation(f));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_lines(struct json *json, const struct emulate_report *r)
{
    json_open(json, "lines", '[');
    for (size_t i = 0; i < r->counts.line_count; i++) {
        if (!file_of(r->compile, r->counts.lines[i].place)) continue; /* the call of a thread */
        json_open(json, NULL, '{');
        put_place(json, r->compile, r->counts.lines[i].place);
        put_counts(json, &r->counts.lines[i].counts);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- For the page: the source and the events ---- */

static void put_sources(struct json *json, const struct emulate_report *r)
{
    json_open(json, "sources", '[');
    for (int i = 0; i < r->compile->text.file_count; i++) {
        struct emulate_source source;
        const char *path = r->compile->text.files[i].path;
        if (!emulate_source_read(&source, r->compile, path)) continue;
        json_open(json, NULL, '{');
        json_text(json, "file", path);
        json_open(json, "lines", '[');
        for (int k = 0; k < source.count; k++) json_text(json, NULL, source.lines[k]);
        json_close(json, ']');
        json_close(json, '}');
        emulate_source_free(&source);
    }
    json_close(json, ']');
}

/* The array that contains the address, or ends shortly before it. */
static const struct emulate_argument *array_at(const struct emulate_arguments *a, uint64_t at)
{
    enum { BEYOND = 256 }; /* less than the distance between allocations */
    for (int i = 0; i < a->count; i++)
        if (a->list[i].shown && at - a->list[i].shown < a->list[i].bytes + BEYOND)
            return &a->list[i];
    return NULL;
}

static const char *const kinds[] = {
    [SIMT_EVENT_READ] = "read",     [SIMT_EVENT_WRITE] = "write",
    [SIMT_EVENT_ATOMIC] = "atomic", [SIMT_EVENT_DIVERGENT] = "divergent",
    [SIMT_EVENT_WARP] = "warp",     [SIMT_EVENT_BARRIER] = "barrier"
};

/* Numbers the paths of a branch in the order of their first lane. */
static uint64_t path_of(const struct simt_event *e, int lane)
{
    uint64_t paths[32], n = 0;
    for (int i = 0; i < 32; i++) {
        if (!(e->lanes >> i & 1)) continue;
        uint64_t k = 0;
        while (k < n && paths[k] != e->at[i]) k++;
        if (k == n) paths[n++] = e->at[i];
        if (i == lane) return k;
    }
    return 0;
}

/* The name of dynamic shared memory, if the source gives it only one. */
static const char *dynamic_name(const struct compile *c)
{
    if (c->text.array_count != 1) return "(dynamic)";
    const char *space = strrchr(c->text.arrays[0], ':');
    return space ? space + 1 : c->text.arrays[0];
}

/* Addresses are relative to the array or the variable; at0 is its position in memory or in the
 * block's shared memory, for banks and sectors. */
static void put_access(struct json *json, const struct emulate_report *r,
                       const struct simt_event *e)
{
    const int first = __builtin_ctz(e->lanes);
    const struct emulate_argument *x = e->shared ? NULL : array_at(r->arguments, e->at[first]);
    const uint64_t base = e->shared ? e->base : x ? x->shown : e->at[first] & ~(uint64_t)511;
    const char *name = !e->shared ? (x ? x->name : "(other memory)")
                       : *e->name ? e->name
                                  : dynamic_name(r->compile);
    json_text(json, "space", e->shared ? "shared" : "global");
    json_text(json, "name", name);
    json_text(json, "type", x ? ech_dtype_name(x->dtype) : "");
    json_count(json, "bytes", e->bytes);
    json_count(json, "cost", e->cost);
    json_count(json, "at0", e->shared ? base : base & 31);
    json_open(json, "at", '[');
    for (int lane = 0; lane < 32; lane++)
        if (e->lanes >> lane & 1) json_exact(json, NULL, (double)(int64_t)(e->at[lane] - base));
    json_close(json, ']');
}

static void put_events(struct json *json, const struct emulate_report *r)
{
    json_open(json, "events", '[');
    for (size_t i = 0; i < r->event_count; i++) {
        const struct simt_event *e = &r->events[i];
        json_open(json, NULL, '{');
        json_text(json, "kind", kinds[e->kind]);
        put_place(json, r->compile, e->place);
        json_count(json, "warp", e->warp);
        json_count(json, "lanes", e->lanes);
        if (e->kind <= SIMT_EVENT_ATOMIC) put_access(json, r, e);
        if (e->kind == SIMT_EVENT_WARP) json_text(json, "name", e->name);
        if (e->kind == SIMT_EVENT_DIVERGENT) {
            json_open(json, "at", '[');
            for (int lane = 0; lane < 32; lane++)
                if (e->lanes >> lane & 1) json_count(json, NULL, path_of(e, lane));
            json_close(json, ']');
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

void emulate_json(const struct emulate_report *r, bool with_events, FILE *to)
{
    struct json json = { .to = to };
    const struct emulate_launch *l = r->launch;
    json_open(&json, NULL, '{');
    json_text(&json, "version", ech_version());
    json_text(&json, "kernel", r->compile->name);
    json_text(&json, "signature", r->compile->found->signature);
    json_text(&json, "file", r->compile->source);
    json_text(&json, "compiler", r->compile->compiler);
    put_extent(&json, "grid", l->grid);
    put_extent(&json, "block", l->block);
    put_extent(&json, "cluster", l->cluster);
    json_count(&json, "shared_bytes", l->shared_bytes);
    json_count(&json, "seed", l->seed);
    json_count(&json, "runs", l->seeds);
    put_arguments(&json, r);
    put_findings(&json, r);
    put_counts(&json, &r->counts.counts);
    put_lines(&json, r);
    if (with_events) {
        json_count(&json, "recorded_block", l->record);
        json_count(&json, "truncated", r->truncated);
        put_sources(&json, r);
        put_events(&json, r);
    }
    json_close(&json, '}');
    if (!with_events) fputc('\n', to);
}
