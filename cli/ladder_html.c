/*
 * ladder_html.c - "echelon ladder --html": the results of one or all ladders as one self-contained
 * page with charts, tables and claims.
 *
 *     the device; links to the ladders
 *     a ladder: time by n (on a GPU); bars of its rungs for each n; claims; all rows
 *     ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder_html.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const style[] = {
    "body{font:15px/1.45 sans-serif;color:#222;background:#fff;max-width:1100px;margin:2em auto;"
    "padding:0 1em}\n",
    "h2{border-top:1px solid #ccc;padding-top:1em;margin-top:2em}h3{margin-bottom:.3em}\n",
    "table{border-collapse:collapse;font-size:13px}th,td{padding:2px 8px;text-align:left;"
    "vertical-align:top}\n",
    "th{border-bottom:1px solid #888}td.number,th.number{text-align:right;white-space:nowrap}\n",
    "tr:nth-child(even){background:#f4f6f8}.yes{color:#00663c}.no,.wrong{color:#b00020;"
    "font-weight:bold}\n",
    "summary{cursor:pointer;margin:.5em 0}.legend{columns:3;list-style:none;padding:0;"
    "font-size:13px}\n",
    "svg.chart{width:100%;height:auto}svg text{font:11px sans-serif;fill:#333}"
    "svg text.head{font-weight:bold}\n",
    ".bar{fill:#4878a8}.grid{stroke:#ddd}.axis{stroke:#333;fill:none}\n",
};

/* ---- Parts of the page ---- */

static void put_head(struct svg *to, const struct ladder_report *reports, int count)
{
    const struct ladder_device *device = reports[0].results.device;
    const char *title = count == 1 ? reports[0].results.ladder->name : "the ladders";
    svg_put(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    svg_put(to, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    svg_put(to, "<title>echelon ladder: %s</title>\n<style>\n", title);
    for (size_t i = 0; i < sizeof style / sizeof *style; i++) svg_put(to, "%s", style[i]);
    svg_put(to, "</style>\n</head>\n<body>\n<h1>echelon ladder: %s</h1>\n<p>Device: ", title);
    svg_put_text(to, ech_device_name(device->ctx));
    svg_put(to, "; echelon %s. ", ech_version());
    if (device->simt)
        svg_put(to, "The SIMT emulator counts what a GPU would have to do; it measures no times. "
                    "Run the command on a GPU for times.</p>\n");
    else
        svg_put(to,
                "Times are medians with cold caches. Ceilings: a copy reaches %.0f GB/s; f32 FMA "
                "reaches %.0f GFLOP/s. Run the command with --device simt for counts.</p>\n",
                device->copy_bytes_per_s * 1e-9, device->operations_per_s * 1e-9);
    if (count == 1) return;
    svg_put(to, "<ul>\n");
    for (int k = 0; k < count; k++) {
        const struct ladder *ladder = reports[k].results.ladder;
        svg_put(to, "<li><a href=\"#%s\">%s</a>: ", ladder->name, ladder->name);
        svg_put_text(to, ladder->summary);
        svg_put(to, "</li>\n");
    }
    svg_put(to, "</ul>\n");
}

static bool is_first_of_size(const struct results *results, int row)
{
    for (int i = 0; i < row; i++)
        if (results->rows[i].n == results->rows[row].n) return false;
    return true;
}

/* Bars for each n. Only the maximum n is open, unless there are few. */
static void put_bars(struct svg *to, const struct results *results)
{
    uint64_t most = 0;
    int sizes = 0;
    for (int i = 0; i < results->count; i++) {
        if (results->rows[i].n > most) most = results->rows[i].n;
        sizes += is_first_of_size(results, i);
    }
    svg_put(to, "<h3>%s by rung</h3>\n", results->device->simt ? "Counts" : "Times and rates");
    for (int i = 0; i < results->count; i++) {
        const uint64_t n = results->rows[i].n;
        if (!is_first_of_size(results, i)) continue;
        svg_put(to, "<details%s><summary>n = %" PRIu64 " %s</summary>\n",
                n == most || sizes <= 3 ? " open=\"\"" : "", n, results->ladder->unit);
        ladder_chart_bars(to, results, n);
        svg_put(to, "</details>\n");
    }
}

static void put_claims(struct svg *to, const struct ladder_report *report)
{
    const struct ladder *ladder = report->results.ladder;
    int judged = 0;
    for (int i = 0; i < ladder->claim_count; i++)
        judged += ladder_judges(report, &ladder->claims[i]);
    svg_put(to, "<h3>Claims</h3>\n");
    if (judged == 0) {
        svg_put(to, report->whole ? "<p>The ladder has no claims about this device.</p>\n"
                                  : "<p>The claims were not tested: this needs right results of "
                                    "all rungs at the sizes of the ladder.</p>\n");
        return;
    }
    svg_put(to, "<table><tr><th>claim</th><th>holds</th><th>evidence</th></tr>\n");
    for (int i = 0; i < ladder->claim_count; i++) {
        if (!ladder_judges(report, &ladder->claims[i])) continue;
        const char *verdict = report->holds[i] ? "yes" : "no";
        svg_put(to, "<tr><td>");
        svg_put_text(to, ladder->claims[i].text);
        svg_put(to, "</td><td class=\"%s\">%s</td><td>", verdict, verdict);
        svg_put_text(to, report->because[i]);
        svg_put(to, "</td></tr>\n");
    }
    svg_put(to, "</table>\n");
}

static void put_row(struct svg *to, const struct results *results, const struct result *row)
{
    char text[QUANTITY_TEXT];
    svg_put(to, "<tr><td>%d</td><td>", row->rung->number);
    svg_put_text(to, row->rung->text);
    svg_put(to, "</td><td>%s</td><td class=\"number\">%" PRIu64 "</td>", ech_dtype_name(row->type),
            row->n);
    for (const enum quantity *q = ladder_quantities(results); *q; q++) {
        quantity_text(*q, quantity_value(*q, results, row), text);
        /* A wrong row is not timed. */
        svg_put(to, "<td class=\"number\">%s</td>",
                row->right || results->device->simt ? text : "");
    }
    svg_put(to, row->right ? "<td>right</td></tr>\n" : "<td class=\"wrong\">wrong: ");
    if (row->right) return;
    svg_put_text(to, row->message);
    svg_put(to, "</td></tr>\n");
}

static void put_rows(struct svg *to, const struct results *results)
{
    svg_put(to, "<details><summary>All rows</summary>\n<table><tr><th>rung</th><th>idea</th>"
                "<th>type</th><th class=\"number\">n</th>");
    for (const enum quantity *q = ladder_quantities(results); *q; q++)
        svg_put(to, "<th class=\"number\">%s</th>", quantity_name(*q));
    svg_put(to, "<th>result</th></tr>\n");
    for (int i = 0; i < results->count; i++) put_row(to, results, &results->rows[i]);
    svg_put(to, "</table></details>\n");
}

static void put_ladder(struct svg *to, const struct ladder_report *report)
{
    const struct results *results = &report->results;
    svg_put(to, "<h2 id=\"%s\">%s</h2>\n<p>", results->ladder->name, results->ladder->name);
    svg_put_text(to, results->ladder->summary);
    svg_put(to, ".");
    if (report->checks)
        svg_put(to, " Checked by %" PRIu64 " runs at irregular sizes; wrong results: %" PRIu64 ".",
                report->checks, report->wrong);
    svg_put(to, "</p>\n");
    ladder_chart_times(to, results);
    put_bars(to, results);
    put_claims(to, report);
    put_rows(to, results);
}

int ladder_html(const struct ladder_report *reports, int count, struct io_output *output)
{
    struct io_error error;
    struct svg to = { output, &error, IO_OK };
    put_head(&to, reports, count);
    for (int k = 0; k < count; k++) put_ladder(&to, &reports[k]);
    svg_put(&to, "</body>\n</html>\n");
    if (to.status == IO_OK) to.status = io_commit(output, &error);
    return to.status == IO_OK ? EXIT_DONE : cli_fail_io(to.status, &error);
}
