/*
 * profile_table.c - the output of "echelon profile": counts per kernel and per line, and faults, as
 * text, JSON and CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* All counts by name, for JSON and CSV. */
static const struct {
    const char *name;
    size_t at;
} fields[] = {
#define FIELD(name)                                                                                \
    {                                                                                              \
#name, offsetof(struct simt_counts, name)                                                  \
    }
    FIELD(load_requests),   FIELD(load_sectors),
    FIELD(load_bytes),      FIELD(store_requests),
    FIELD(store_sectors),   FIELD(store_bytes),
    FIELD(atomic_requests), FIELD(atomic_sectors),
    FIELD(shared_loads),    FIELD(shared_load_wavefronts),
    FIELD(shared_stores),   FIELD(shared_store_wavefronts),
    FIELD(shared_atomics),  FIELD(shared_atomic_wavefronts),
    FIELD(bank_conflicts),  FIELD(bank16_conflicts),
    FIELD(barriers),        FIELD(warp_operations),
    FIELD(branches),        FIELD(divergent),
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(sizeof(struct simt_counts) == FIELDS * sizeof(uint64_t), "a count is missing");

static uint64_t *field(struct simt_counts *counts, int i)
{
    return (uint64_t *)(void *)((char *)counts + fields[i].at);
}

static uint64_t value(const struct simt_counts *counts, int i)
{
    uint64_t of;
    memcpy(&of, (const char *)counts + fields[i].at, sizeof of);
    return of;
}

/* ---- Sums ---- */

static uint64_t global_requests(const struct simt_counts *c)
{
    return c->load_requests + c->store_requests + c->atomic_requests;
}

static uint64_t global_sectors(const struct simt_counts *c)
{
    return c->load_sectors + c->store_sectors + c->atomic_sectors;
}

static uint64_t shared_requests(const struct simt_counts *c)
{
    return c->shared_loads + c->shared_stores + c->shared_atomics;
}

static uint64_t wavefronts(const struct simt_counts *c)
{
    return c->shared_load_wavefronts + c->shared_store_wavefronts + c->shared_atomic_wavefronts;
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* Most expensive first: by memory transactions, then by other operations of the warp. */
static int by_cost(const void *a, const void *b)
{
    const struct simt_line_counts *x = a, *y = b;
    const struct simt_counts *c = &x->counts, *d = &y->counts;
    int order = by_number(global_sectors(c) + wavefronts(c), global_sectors(d) + wavefronts(d));
    if (!order)
        order = by_number(c->barriers + c->warp_operations + c->branches,
                          d->barriers + d->warp_operations + d->branches);
    return order ? order : strcmp(x->place, y->place);
}

static bool take_kernel(struct profile *p, const struct simt_kernel_counts *from)
{
    struct simt_kernel_counts *to = &p->kernels[p->kernel_count];
    *to = *from;
    to->lines = malloc(from->line_count * sizeof *to->lines + 1);
    if (!to->lines) return false;
    p->kernel_count++;
    if (from->line_count) memcpy(to->lines, from->lines, from->line_count * sizeof *to->lines);
    qsort(to->lines, to->line_count, sizeof *to->lines, by_cost);
    p->total.launches += from->launches;
    p->total.blocks += from->blocks;
    p->total.threads += from->threads;
    p->total.nanoseconds += from->nanoseconds;
    for (int i = 0; i < FIELDS; i++) *field(&p->total.counts, i) += value(&from->counts, i);
    return true;
}

int profile_take(struct profile *profile, const char *part)
{
    const struct simt_kernel_counts *all;
    size_t count = profile->emulator->profile(&all);
    profile->finding_count = profile->emulator->findings(&profile->findings);
    profile->kernels = calloc(count + 1, sizeof *profile->kernels);
    bool enough = profile->kernels != NULL;
    for (size_t i = 0; i < count && enough; i++)
        if (!part || strstr(all[i].kernel, part)) enough = take_kernel(profile, &all[i]);
    if (!enough) return cli_fail(EXIT_MEMORY, "out of memory for the counts");
    if (profile->kernel_count || !count) return EXIT_DONE;
    char names[1024] = "";
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i ? " " : "", all[i].kernel);
    }
    return cli_fail(EXIT_BAD,
                    "--kernel is \"%s\", but no kernel has this in its name; kernels "
                    "that ran: %s",
                    part, names);
}

void profile_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->kernel_count; i++) free(profile->kernels[i].lines);
    free(profile->kernels);
}

/* ---- Text: numbers ---- */

enum { NUMBER = 24 };

/* 12345, 292.3k, 1.438M; with a unit 12345 B, 1.438 MB */
static const char *brief(uint64_t number, const char *unit, char *text)
{
    static const char letters[] = "kMGTPE";
    int power = -1;
    double x = (double)number;
    while (number > 99999 && (x >= 999.95 || power < 0)) {
        x /= 1000;
        power++;
    }
    if (power < 0)
        snprintf(text, NUMBER, "%" PRIu64 "%s%s", number, *unit ? " " : "", unit);
    else
        snprintf(text, NUMBER, "%.*f%s%c%s",
                 x >= 99.995   ? 1
                 : x >= 9.9995 ? 2
                               : 3,
                 x, *unit ? " " : "", letters[power], unit);
    return text;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* ---- Text: a kernel ---- */

/* Prints requests, their sectors or wavefronts, and the requested bytes if not 0. */
static void print_requests(FILE *to, const char *what, uint64_t requests, uint64_t parts,
                           uint64_t bytes)
{
    char a[NUMBER], b[NUMBER], c[NUMBER];
    if (!requests) return;
    fprintf(to, "  %-16s %10s %10s %11.2f", what, brief(requests, "", a), brief(parts, "", b),
            ratio(parts, requests));
    if (bytes) fprintf(to, " %11s %10.1f", brief(bytes, "B", c), ratio(bytes, parts));
    putc('\n', to);
}

static void print_counts(FILE *to, const struct simt_counts *c)
{
    char a[NUMBER], b[NUMBER];
    if (global_requests(c))
        fprintf(to, "  %-16s %10s %10s %11s %11s %10s\n", "global memory", "requests", "sectors",
                "per request", "bytes", "per sector");
    print_requests(to, "  loads", c->load_requests, c->load_sectors, c->load_bytes);
    print_requests(to, "  stores", c->store_requests, c->store_sectors, c->store_bytes);
    print_requests(to, "  atomics", c->atomic_requests, c->atomic_sectors, 0);
    if (shared_requests(c))
        fprintf(to, "  %-16s %10s %10s %11s\n", "shared memory", "requests", "wavefronts",
                "per request");
    print_requests(to, "  loads", c->shared_loads, c->shared_load_wavefronts, 0);
    print_requests(to, "  stores", c->shared_stores, c->shared_store_wavefronts, 0);
    print_requests(to, "  atomics", c->shared_atomics, c->shared_atomic_wavefronts, 0);
    uint64_t loads_stores = c->shared_loads + c->shared_stores;
    if (loads_stores)
        fprintf(to, "  %-16s %10s %10s %11.2f   (of 16 banks: %s)\n", "  bank conflicts", "",
                brief(c->bank_conflicts, "", a), ratio(c->bank_conflicts, loads_stores),
                brief(c->bank16_conflicts, "", b));
    if (c->barriers) fprintf(to, "  %-16s %10s\n", "barriers", brief(c->barriers, "", a));
    if (c->warp_operations)
        fprintf(to, "  %-16s %10s\n", "warp operations", brief(c->warp_operations, "", a));
    if (c->branches)
        fprintf(to, "  %-16s %10s %10s divergent, %.1f %%\n", "branches", brief(c->branches, "", a),
                brief(c->divergent, "", b), 100 * ratio(c->divergent, c->branches));
}

/* A number, or a dash for 0. */
static void print_cell(FILE *to, uint64_t number)
{
    char text[NUMBER];
    fprintf(to, " %8s", number ? brief(number, "", text) : "-");
}

static void print_pair(FILE *to, uint64_t requests, uint64_t parts)
{
    print_cell(to, requests);
    if (requests)
        fprintf(to, " %7.2f", ratio(parts, requests));
    else
        fprintf(to, " %7s", "-");
}

static void print_lines(FILE *to, const struct simt_kernel_counts *k)
{
    if (!k->line_count) return;
    fprintf(to, "  %-24s %8s %7s %8s %7s %8s %8s %8s %8s\n", "line", "global", "sectors", "shared",
            "waves", "conflict", "syncs", "branches", "diverge");
    for (size_t i = 0; i < k->line_count; i++) {
        const struct simt_counts *c = &k->lines[i].counts;
        fprintf(to, "  %-24s", k->lines[i].place);
        print_pair(to, global_requests(c), global_sectors(c));
        print_pair(to, shared_requests(c), wavefronts(c));
        print_cell(to, c->bank_conflicts);
        print_cell(to, c->barriers + c->warp_operations);
        print_cell(to, c->branches);
        print_cell(to, c->divergent);
        putc('\n', to);
    }
}

static void print_kernel(FILE *to, const struct simt_kernel_counts *k, const char *name)
{
    char a[NUMBER], b[NUMBER], c[NUMBER];
    fprintf(to, "\n%s: %s launch%s, %s block%s, %s threads, %.1f ms\n", name,
            brief(k->launches, "", a), k->launches == 1 ? "" : "es", brief(k->blocks, "", b),
            k->blocks == 1 ? "" : "s", brief(k->threads, "", c), 1e-6 * (double)k->nanoseconds);
    print_counts(to, &k->counts);
}

void profile_text(const struct profile *profile, FILE *to)
{
    const struct sort_job *job = profile->job;
    const char *algorithm = strstr(profile->plan, "algorithm ");
    if (!algorithm) algorithm = "";
    fprintf(to, "%s: %llu %s (%s) on %s\n%.*s%s", job->base.input,
            (unsigned long long)job->base.column.n, ech_dtype_name(job->base.column.dtype),
            io_format_name(job->base.column.format), ech_device_name(job->base.ctx),
            (int)strcspn(algorithm, "\n"), algorithm, *algorithm ? "\n" : "");
    for (size_t i = 0; i < profile->kernel_count; i++) {
        print_kernel(to, &profile->kernels[i], profile->kernels[i].kernel);
        if (profile->lines) print_lines(to, &profile->kernels[i]);
    }
    if (profile->kernel_count > 1) print_kernel(to, &profile->total, "total");
    if (!profile->kernel_count) fputs("\nno kernel ran\n", to);
    putc('\n', to);
    profile_faults(profile, to);
}

void profile_faults(const struct profile *profile, FILE *to)
{
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct simt_finding *f = &profile->findings[i];
        fputs(f->text, to);
        if (f->count > 1) fprintf(to, "; %" PRIu64 " times", f->count);
        putc('\n', to);
    }
    if (profile->finding_count || profile->counted)
        fprintf(to, profile->finding_count ? "%zu fault%s\n" : "no faults\n",
                profile->finding_count, profile->finding_count == 1 ? "" : "s");
}

/* ---- JSON and CSV ---- */

static void counts_json(struct json *json, const struct simt_counts *counts)
{
    for (int i = 0; i < FIELDS; i++) json_count(json, fields[i].name, value(counts, i));
}

static void kernel_json(struct json *json, const char *key, const struct simt_kernel_counts *k,
                        bool lines)
{
    json_open(json, key, '{');
    if (!key) json_text(json, "name", k->kernel);
    json_count(json, "launches", k->launches);
    json_count(json, "blocks", k->blocks);
    json_count(json, "threads", k->threads);
    json_number(json, "seconds", 1e-9 * (double)k->nanoseconds);
    counts_json(json, &k->counts);
    if (lines) json_open(json, "lines", '[');
    for (size_t i = 0; i < k->line_count && lines; i++) {
        json_open(json, NULL, '{');
        json_text(json, "line", k->lines[i].place);
        counts_json(json, &k->lines[i].counts);
        json_close(json, '}');
    }
    if (lines) json_close(json, ']');
    json_close(json, '}');
}

void profile_json(const struct profile *profile, FILE *to)
{
    const struct sort_job *job = profile->job;
    struct json json = { .to = to };
    json_open(&json, NULL, '{');
    json_text(&json, "command", "profile");
    json_text(&json, "profiled", profile->what);
    json_text(&json, "version", ech_version());
    json_text(&json, "input", job->base.input);
    json_text(&json, "format", io_format_name(job->base.column.format));
    json_text(&json, "type", ech_dtype_name(job->base.column.dtype));
    json_count(&json, "n", job->base.column.n);
    json_count(&json, "value_bytes", job->argsort ? 0 : job->value_bytes);
    json_text(&json, "device", ech_device_name(job->base.ctx));
    json_text(&json, "plan", profile->plan);
    if (profile->counted) {
        json_open(&json, "kernels", '[');
        for (size_t i = 0; i < profile->kernel_count; i++)
            kernel_json(&json, NULL, &profile->kernels[i], profile->lines);
        json_close(&json, ']');
        kernel_json(&json, "total", &profile->total, false);
    }
    json_open(&json, "faults", '[');
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct simt_finding *f = &profile->findings[i];
        json_open(&json, NULL, '{');
        json_text(&json, "fault", profile->emulator->fault_name(f->fault));
        json_text(&json, "kernel", f->kernel);
        json_text(&json, "text", f->text);
        json_count(&json, "count", f->count);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    putc('\n', to);
}

static void counts_csv(FILE *to, const struct simt_counts *counts)
{
    for (int i = 0; i < FIELDS; i++) fprintf(to, ",%" PRIu64, value(counts, i));
    putc('\n', to);
}

void profile_csv(const struct profile *profile, FILE *to)
{
    fputs("kernel,line,launches,blocks,threads,nanoseconds", to);
    for (int i = 0; i < FIELDS; i++) fprintf(to, ",%s", fields[i].name);
    putc('\n', to);
    for (size_t i = 0; i < profile->kernel_count; i++) {
        const struct simt_kernel_counts *k = &profile->kernels[i];
        fprintf(to, "%s,,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, k->kernel, k->launches,
                k->blocks, k->threads, k->nanoseconds);
        counts_csv(to, &k->counts);
        for (size_t j = 0; j < k->line_count && profile->lines; j++) {
            fprintf(to, "%s,%s,,,,", k->kernel, k->lines[j].place);
            counts_csv(to, &k->lines[j].counts);
        }
    }
}
