/*
 * histogram_svg.c - a histogram as a bar chart in one self-contained SVG file.
 *
 *     title
 *     ticks of counts |  bars, as wide as their bins, each with a tooltip
 *                     +----------- ticks of numbers
 *
 * Ticks are at multiples of 1, 2 or 5 times a power of ten, or at powers of ten on a logarithmic
 * axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "histogram.h"
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 450, LEFT = 90, RIGHT = 780, TOP = 50, BOTTOM = 400 };

struct chart {
    const struct histogram *h;
    bool logarithmic;
    uint64_t most;
    double first, last; /* range of the number axis */
    struct svg to;
};

/* ---- Axes ---- */

static double across(const struct chart *chart, double x)
{
    /* Halved, because the range of all doubles overflows. */
    double part = (x / 2 - chart->first / 2) / (chart->last / 2 - chart->first / 2);
    return LEFT + (RIGHT - LEFT) * fmin(fmax(part, 0), 1);
}

static double up(const struct chart *chart, uint64_t count)
{
    return BOTTOM - (BOTTOM - TOP) * histogram_length(count, chart->most, chart->logarithmic);
}

static void put_count_tick(struct chart *chart, uint64_t count)
{
    double y = up(chart, count);
    svg_put(&chart->to, "<path class=\"grid\" d=\"M%d %.2fH%d\"/>", LEFT, y, RIGHT);
    svg_put(&chart->to, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%llu</text>\n", LEFT - 8,
            y + 4, (unsigned long long)count);
}

static void put_count_axis(struct chart *chart)
{
    put_count_tick(chart, 0);
    if (chart->logarithmic) {
        for (uint64_t tick = 1; tick <= chart->most; tick *= 10) {
            put_count_tick(chart, tick);
            if (tick > UINT64_MAX / 10) break;
        }
        return;
    }
    double step = fmax(1, svg_nice_step((double)chart->most, 6));
    for (int i = 1; step * i <= (double)chart->most; i++)
        put_count_tick(chart, (uint64_t)(step * i));
}

static void put_number_axis(struct chart *chart)
{
    double range = chart->last - chart->first;
    svg_put(&chart->to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    if (!isfinite(range) || range <= 0) return;
    /* Bins of one integer are labelled below the middle of their bars. */
    bool single = chart->h->integers && (double)chart->h->bins == range;
    double step = svg_nice_step(range, 10), shift = single ? 0.5 : 0;
    if (chart->h->integers) step = fmax(step, 1);
    double tick = ceil(chart->first / step) * step;
    for (int i = 0; i < 12; i++) {
        double x = tick + i * step;
        if (fabs(x) < step * 1e-6) x = 0;
        if (x + shift > chart->last + range * 1e-9) break;
        double at = across(chart, x + shift);
        svg_put(&chart->to, "<path class=\"axis\" d=\"M%.2f %dv5\"/>", at, BOTTOM);
        svg_put(&chart->to, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%.10g</text>\n", at,
                BOTTOM + 20, x);
    }
}

/* ---- Bars ---- */

static void put_bar(struct chart *chart, size_t b)
{
    const struct histogram *h = chart->h;
    char from[IO_NUMBER_TEXT], to[IO_NUMBER_TEXT];
    double left = across(chart, h->edges[b]), right = across(chart, h->edges[b + 1]);
    double y = up(chart, h->counts[b]), gap = right - left > 4 ? 1 : 0;
    histogram_edge(h, b, from);
    histogram_edge(h, b + 1, to);
    bool closed = h->closed && b + 1 == h->bins;
    svg_put(&chart->to, "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">",
            left, y, fmax(right - left - gap, 0.1), BOTTOM - y);
    svg_put(&chart->to, "<title>%s &#8804; x %s %s: %llu</title></rect>\n", from,
            closed ? "&#8804;" : "&lt;", to, (unsigned long long)h->counts[b]);
}

/* The first and last finite edge. */
static void find_ends(struct chart *chart)
{
    const struct histogram *h = chart->h;
    size_t first = 0, last = h->bins;
    while (first < last && !isfinite(h->edges[first])) first++;
    while (last > first && !isfinite(h->edges[last])) last--;
    chart->first = h->edges[first];
    chart->last = h->edges[last];
    if (!(chart->first < chart->last)) chart->first -= 0.5, chart->last = chart->first + 1;
}

io_status histogram_svg(const struct histogram *h, bool logarithmic, struct io_output *output,
                        struct io_error *error)
{
    struct chart chart = { .h = h, .logarithmic = logarithmic, .to = { output, error, IO_OK } };
    chart.most = histogram_most(h);
    if (chart.most == 0) chart.most = 1;
    find_ends(&chart);
    svg_begin(&chart.to, WIDTH, HEIGHT, h->name);
    svg_put(&chart.to, "<text class=\"name\" x=\"%d\" y=\"28\" text-anchor=\"middle\">", WIDTH / 2);
    svg_put_text(&chart.to, h->name);
    svg_put(&chart.to, ": %llu %s%s</text>\n", (unsigned long long)h->n, h->what,
            logarithmic ? ", logarithmic" : "");
    put_count_axis(&chart);
    for (size_t b = 0; b < h->bins; b++)
        if (h->counts[b]) put_bar(&chart, b);
    put_number_axis(&chart);
    const uint64_t *outside = h->counts + h->bins;
    if (outside[HISTOGRAM_BELOW] || outside[HISTOGRAM_ABOVE] || outside[HISTOGRAM_NAN])
        svg_put(&chart.to,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">not shown: %llu below, %llu above, "
                "%llu NaN</text>\n",
                (LEFT + RIGHT) / 2, BOTTOM + 40, (unsigned long long)outside[HISTOGRAM_BELOW],
                (unsigned long long)outside[HISTOGRAM_ABOVE],
                (unsigned long long)outside[HISTOGRAM_NAN]);
    svg_put(&chart.to, "</svg>\n");
    return chart.to.status;
}
