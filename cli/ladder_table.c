/*
 * ladder_table.c - the output of "echelon ladder": the rungs of a ladder, and whether the claims
 * about them hold; as text, JSON and CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"

#include <inttypes.h>
#include <string.h>

/* ---- Derived values ---- */

bool ladder_judges(const struct ladder_report *report, const struct claim *claim)
{
    return report->whole && claim->of_gpu == !report->results.device->simt;
}

double ladder_speed_up(const struct results *results, const struct result *row)
{
    for (int i = 0; i < results->count; i++) {
        const struct result *first = &results->rows[i];
        if (first->n != row->n) continue;
        return row->ms > 0 ? first->ms / row->ms : 0;
    }
    return 0;
}

double ladder_ceiling_percent(const struct results *results, const struct result *row)
{
    const struct ladder_device *device = results->device;
    double seconds = row->ms * 1e-3;
    if (seconds <= 0) return 0;
    if (results->ladder->ceiling == CEILING_MEMORY && device->copy_bytes_per_s > 0)
        return 100 * row->bytes / seconds / device->copy_bytes_per_s;
    if (results->ladder->ceiling == CEILING_ARITHMETIC && device->operations_per_s > 0)
        return 100 * row->operations / seconds /
               (row->type == ECH_F64 ? device->f64_operations_per_s : device->operations_per_s);
    return 0;
}

static uint64_t requests(const struct simt_counts *c)
{
    return c->load_requests + c->store_requests;
}

double ladder_sectors_per_request(const struct simt_counts *c)
{
    if (requests(c) == 0) return 0;
    return (double)(c->load_sectors + c->store_sectors) / (double)requests(c);
}

double ladder_divergent_percent(const struct simt_counts *c)
{
    return c->branches ? 100 * (double)c->divergent / (double)c->branches : 0;
}

/* ---- Text ---- */

static void put_time(FILE *to, double ms)
{
    char text[32];
    snprintf(text, sizeof text, ms < 1 ? "%.3g us" : "%.4g ms", ms < 1 ? 1000 * ms : ms);
    fprintf(to, " %10s", text);
}

static void put_gpu(const struct results *results, FILE *to)
{
    bool arithmetic = results->ladder->ceiling == CEILING_ARITHMETIC;
    fprintf(to, "%4s  %-40s %10s %10s %9s %9s %7s %8s\n", "rung", "", "n", "time", "G/s",
            arithmetic ? "GFLOP/s" : "GB/s", "of peak", "speedup");
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        double seconds = row->ms * 1e-3;
        fprintf(to, "%4d  %-40s %10" PRIu64, row->rung->number, row->rung->text, row->n);
        if (!row->right) {
            fprintf(to, "  wrong\n");
            continue;
        }
        put_time(to, row->ms);
        fprintf(to, " %9.3g %9.4g", (double)row->n / seconds * 1e-9,
                (arithmetic ? row->operations : row->bytes) / seconds * 1e-9);
        if (results->ladder->ceiling == CEILING_NONE)
            fprintf(to, " %7s", "");
        else
            fprintf(to, " %6.1f%%", ladder_ceiling_percent(results, row));
        fprintf(to, " %8.2f\n", ladder_speed_up(results, row));
    }
}

static void put_simt(const struct results *results, FILE *to)
{
    fprintf(to, "%4s  %-40s %8s %8s %8s %9s %9s %8s %9s %6s\n", "", "", "", "", "sectors/", "bank",
            "with 16", "", "", "");
    fprintf(to, "%4s  %-40s %8s %8s %8s %9s %9s %8s %9s %6s\n", "rung", "", "n", "launches",
            "request", "conflicts", "banks", "diverge", "barriers", "races");
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        const struct simt_counts *c = &row->counts;
        fprintf(to, "%4d  %-40s %8" PRIu64 " %8" PRIu64, row->rung->number, row->rung->text, row->n,
                row->launches);
        fprintf(to, " %8.2f %9" PRIu64 " %9" PRIu64 " %7.1f%% %9" PRIu64 " %6" PRIu64 "%s\n",
                ladder_sectors_per_request(c), c->bank_conflicts, c->bank16_conflicts,
                ladder_divergent_percent(c), c->barriers, row->faults, row->right ? "" : "  wrong");
    }
}

void ladder_text(const struct ladder_report *reports, int count, FILE *to)
{
    for (int k = 0; k < count; k++) {
        const struct ladder_report *report = &reports[k];
        const struct results *results = &report->results;
        fprintf(to, "%s%s: %s, on %s; n counts %s\n", k ? "\n" : "", results->ladder->name,
                results->ladder->summary, ech_device_name(results->device->ctx),
                results->ladder->unit);
        if (report->checks)
            fprintf(to, "%" PRIu64 " runs at irregular sizes: %" PRIu64 " wrong\n", report->checks,
                    report->wrong);
        fputc('\n', to);
        if (results->device->simt)
            put_simt(results, to);
        else
            put_gpu(results, to);
        bool begun = false;
        for (int i = 0; i < results->ladder->claim_count; i++) {
            const struct claim *claim = &results->ladder->claims[i];
            if (!ladder_judges(report, claim)) continue;
            fprintf(to, "%s%-6s  %s: %s\n", begun ? "" : "\n", report->holds[i] ? "holds" : "FAILS",
                    claim->text, report->because[i]);
            begun = true;
        }
    }
}

/* ---- JSON ---- */

static void put_row(struct json *json, const struct results *results, const struct result *row)
{
    const struct simt_counts *c = &row->counts;
    json_open(json, NULL, '{');
    json_count(json, "rung", (uint64_t)row->rung->number);
    json_text(json, "idea", row->rung->idea);
    json_text(json, "text", row->rung->text);
    json_count(json, "parameter", row->rung->parameter);
    json_text(json, "type", ech_dtype_name(row->type));
    json_count(json, "n", row->n);
    json_text(json, "result", row->right ? "right" : row->message);
    json_count(json, "launches", row->launches);
    if (results->device->simt) {
        json_number(json, "sectors_per_request", ladder_sectors_per_request(c));
        json_count(json, "bank_conflicts", c->bank_conflicts);
        json_count(json, "bank16_conflicts", c->bank16_conflicts);
        json_count(json, "branches", c->branches);
        json_count(json, "divergent", c->divergent);
        json_count(json, "barriers", c->barriers);
        json_count(json, "warp_operations", c->warp_operations);
        json_count(json, "faults", row->faults);
    } else {
        json_number(json, "ms", row->ms);
        json_number(json, "bytes", row->bytes);
        json_number(json, "operations", row->operations);
        json_number(json, "ceiling_percent", ladder_ceiling_percent(results, row));
        json_number(json, "speed_up", ladder_speed_up(results, row));
    }
    json_close(json, '}');
}

void ladder_json(const struct ladder_report *reports, int count, FILE *to)
{
    struct json json = { .to = to };
    json_open(&json, NULL, '[');
    for (int k = 0; k < count; k++) {
        const struct results *results = &reports[k].results;
        json_open(&json, NULL, '{');
        json_text(&json, "ladder", results->ladder->name);
        json_text(&json, "device", ech_device_name(results->device->ctx));
        json_count(&json, "checks", reports[k].checks);
        json_count(&json, "wrong", reports[k].wrong);
        json_open(&json, "rungs", '[');
        for (int i = 0; i < results->count; i++) put_row(&json, results, &results->rows[i]);
        json_close(&json, ']');
        json_open(&json, "claims", '[');
        for (int i = 0; i < results->ladder->claim_count; i++) {
            if (!ladder_judges(&reports[k], &results->ladder->claims[i])) continue;
            json_open(&json, NULL, '{');
            json_text(&json, "claim", results->ladder->claims[i].text);
            json_text(&json, "holds", reports[k].holds[i] ? "yes" : "no");
            json_text(&json, "because", reports[k].because[i]);
            json_close(&json, '}');
        }
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    fputc('\n', to);
}

/* ---- CSV ---- */

/* Texts contain commas, but no quotation marks. */
void ladder_csv(const struct ladder_report *reports, int count, FILE *to)
{
    const struct ladder_device *device = reports[0].results.device;
    fprintf(to, "# device: %s; echelon %s\n", ech_device_name(device->ctx), ech_version());
    if (!device->simt)
        fprintf(to, "# ceilings: a copy reaches %.0f GB/s; f32 FMA reaches %.0f GFLOP/s\n",
                device->copy_bytes_per_s * 1e-9, device->operations_per_s * 1e-9);
    fputs("ladder,rung,parameter,idea,text,type,n,result,launches,ms,bytes,operations,"
          "ceiling_percent,speed_up,sectors_per_request,bank_conflicts,bank16_conflicts,branches,"
          "divergent,"
          "barriers,warp_operations,faults,because\n",
          to);
    for (int k = 0; k < count; k++) {
        const struct results *results = &reports[k].results;
        const char *name = results->ladder->name;
        for (int i = 0; i < results->count; i++) {
            const struct result *row = &results->rows[i];
            const struct simt_counts *c = &row->counts;
            fprintf(to, "%s,%d,%" PRIu64 ",%s,\"%s\",%s,%" PRIu64 ",%s,%" PRIu64, name,
                    row->rung->number, row->rung->parameter, row->rung->idea, row->rung->text,
                    ech_dtype_name(row->type), row->n, row->right ? "right" : "wrong",
                    row->launches);
            fprintf(to, ",%.6g,%.6g,%.6g,%.4g,%.4g", row->ms, row->bytes, row->operations,
                    ladder_ceiling_percent(results, row), ladder_speed_up(results, row));
            fprintf(to,
                    ",%.4g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                    ",%" PRIu64 ",\n",
                    ladder_sectors_per_request(c), c->bank_conflicts, c->bank16_conflicts,
                    c->branches, c->divergent, c->barriers, c->warp_operations, row->faults);
        }
        for (int i = 0; i < results->ladder->claim_count; i++)
            if (ladder_judges(&reports[k], &results->ladder->claims[i]))
                fprintf(to, "%s,,,claim,\"%s\",,,%s,,,,,,,,,,,,,,,\"%s\"\n", name,
                        results->ladder->claims[i].text, reports[k].holds[i] ? "so" : "not so",
                        reports[k].because[i]);
    }
}
