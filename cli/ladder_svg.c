/*
 * ladder_svg.c - the rungs of a ladder as horizontal bars: throughput on a GPU, or sectors,
 * wavefronts and barriers on the SIMT emulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"
#include "svg.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 800, LEFT = 300, RIGHT = 700, TOP = 60, ROW = 26, BAR = 18 };

/* The value of a bar: on a GPU, 10^9 elements per second. */
static double value(const struct results *results, const struct result *row)
{
    const struct simt_counts *c = &row->counts;
    if (!results->device->simt) return row->ms > 0 ? (double)row->n / row->ms * 1e-6 : 0;
    return (double)(c->load_sectors + c->store_sectors + c->shared_load_wavefronts +
                    c->shared_store_wavefronts + c->shared_atomic_wavefronts + c->barriers) /
           (double)(row->n ? row->n : 1);
}

static void put_bar(struct svg *to, const struct results *results, const struct result *row, int y,
                    double most)
{
    double x = value(results, row), length = most > 0 ? (RIGHT - LEFT) * x / most : 0;
    svg_put(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d&#160; ", LEFT - 8, y + BAR - 5,
            row->rung->number);
    svg_put_text(to, row->rung->text);
    svg_put(to, "</text>\n<rect x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"#4878a8\"/>",
            LEFT, y, fmax(length, 1), BAR);
    svg_put(to, "<text x=\"%.2f\" y=\"%d\">%.3g</text>\n", LEFT + fmax(length, 1) + 6, y + BAR - 5,
            x);
}

int ladder_plot(const struct ladder_report *report, const char *path)
{
    const struct results *results = &report->results;
    struct io_output output;
    struct io_error error;
    struct svg to = { &output, &error, io_create(&output, path, &error) };
    char title[160];
    double most = 0;
    for (int i = 0; i < results->count; i++) most = fmax(most, value(results, &results->rows[i]));
    snprintf(title, sizeof title, "%s: %s", results->ladder->name,
             results->device->simt ? "sectors, wavefronts and barriers per element"
                                   : "10^9 elements per second");
    svg_begin(&to, WIDTH, TOP + ROW * results->count + 20, title);
    svg_put(&to, "<text class=\"name\" x=\"%d\" y=\"28\" text-anchor=\"middle\">", WIDTH / 2);
    svg_put_text(&to, title);
    svg_put(&to, "</text>\n");
    for (int i = 0; i < results->count; i++)
        put_bar(&to, results, &results->rows[i], TOP + ROW * i, most);
    svg_put(&to, "</svg>\n");
    if (to.status == IO_OK) to.status = io_commit(&output, &error);
    io_discard(&output);
    return to.status == IO_OK ? EXIT_DONE : cli_fail_io(to.status, &error);
}
