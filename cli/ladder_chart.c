/*
 * ladder_chart.c - the charts of "echelon ladder --html", as SVG elements of the page.
 *
 *     bars:   1 interleaved  |=====  3.66 |==  6825 |===  4680     one column per quantity, each
 *             2 strided      |=====  3.66 |=== 11700|===  4680     with a scale of its own
 *     times:  ms by n, both logarithmic, one line per rung, and a legend
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder_html.h"

#include <inttypes.h>
#include <math.h>

/* ---- Bars ---- */

enum {
    WIDTH = 1080,
    LABEL = 270, /* width of the column of rungs */
    VALUE = 64,  /* space for the value behind the longest bar */
    HEAD = 24,
    ROW = 22,
    BAR = 14
};

static bool is_drawn(const struct result *row, uint64_t n)
{
    return row->n == n && row->right;
}

static void put_label(struct svg *to, const struct rung *rung, int y)
{
    svg_put(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d&#160; ", LABEL - 8, y + BAR - 3,
            rung->number);
    svg_put_text(to, rung->text);
    svg_put(to, "</text>\n");
}

static void put_column(struct svg *to, const struct results *results, uint64_t n,
                       enum quantity quantity, int left, int width)
{
    double most = 0;
    int y = HEAD;
    for (int i = 0; i < results->count; i++)
        if (is_drawn(&results->rows[i], n))
            most = fmax(most, quantity_value(quantity, results, &results->rows[i]));
    svg_put(to, "<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", left, HEAD - 9,
            quantity_name(quantity));
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        if (!is_drawn(row, n)) continue;
        char text[QUANTITY_TEXT];
        double value = quantity_value(quantity, results, row);
        double length = most > 0 ? (width - VALUE) * value / most : 0;
        quantity_text(quantity, value, text);
        svg_put(to, "<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", left, y,
                fmax(length, 1), BAR);
        svg_put(to, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", left + fmax(length, 1) + 5,
                y + BAR - 3, text);
        y += ROW;
    }
}

void ladder_chart_bars(struct svg *to, const struct results *results, uint64_t n)
{
    const enum quantity *quantities = ladder_quantities(results);
    int columns = 0, rows = 0, y = HEAD;
    while (quantities[columns]) columns++;
    for (int i = 0; i < results->count; i++) rows += is_drawn(&results->rows[i], n);
    if (rows == 0 || columns == 0) return;
    svg_put(to,
            "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 %d %d\">"
            "<title>%s: the rungs for n = %" PRIu64 "</title>\n",
            WIDTH, HEAD + ROW * rows, results->ladder->name, n);
    for (int i = 0; i < results->count; i++) {
        if (!is_drawn(&results->rows[i], n)) continue;
        put_label(to, results->rows[i].rung, y);
        y += ROW;
    }
    const int width = (WIDTH - LABEL) / columns;
    for (int c = 0; c < columns; c++)
        put_column(to, results, n, quantities[c], LABEL + c * width, width);
    svg_put(to, "</svg>\n");
}

/* ---- Times ---- */

enum { LEFT = 70, RIGHT = 1045, TOP = 12, BOTTOM = 380, HEIGHT = 410 };

struct axes {
    double n[2];  /* logarithms of the range to base 2 */
    double ms[2]; /* ... to base 10, integers */
};

static double across(const struct axes *axes, uint64_t n)
{
    return LEFT + (RIGHT - LEFT) * (log2((double)n) - axes->n[0]) / (axes->n[1] - axes->n[0]);
}

static double up(const struct axes *axes, double ms)
{
    return BOTTOM - (BOTTOM - TOP) * (log10(ms) - axes->ms[0]) / (axes->ms[1] - axes->ms[0]);
}

static bool has_time(const struct result *row)
{
    return row->right && row->ms > 0 && row->n > 0;
}

/* Whether the rows have at least two sizes with a time. */
static bool find_axes(const struct results *results, struct axes *axes)
{
    *axes = (struct axes){ { INFINITY, -INFINITY }, { INFINITY, -INFINITY } };
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        if (!has_time(row)) continue;
        axes->n[0] = fmin(axes->n[0], log2((double)row->n));
        axes->n[1] = fmax(axes->n[1], log2((double)row->n));
        axes->ms[0] = fmin(axes->ms[0], floor(log10(row->ms)));
        axes->ms[1] = fmax(axes->ms[1], floor(log10(row->ms)) + 1);
    }
    return axes->n[0] < axes->n[1];
}

static void put_size(char *text, size_t bytes, uint64_t n)
{
    int power = 0;
    while (power < 63 && (UINT64_C(1) << power) < n) power++;
    if (power >= 10 && n == UINT64_C(1) << power)
        snprintf(text, bytes, "2^%d", power);
    else
        snprintf(text, bytes, "%" PRIu64, n);
}

/* The minimum size with a time above n; 0: none. */
static uint64_t next_size(const struct results *results, uint64_t n)
{
    uint64_t next = 0;
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        if (has_time(row) && row->n > n && (next == 0 || row->n < next)) next = row->n;
    }
    return next;
}

static void put_axes(struct svg *to, const struct results *results, const struct axes *axes)
{
    double last = -INFINITY;
    svg_put(to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    for (double power = axes->ms[0]; power <= axes->ms[1]; power++) {
        char text[QUANTITY_TEXT];
        quantity_text(QUANTITY_TIME, pow(10, power), text);
        svg_put(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, up(axes, pow(10, power)),
                RIGHT);
        svg_put(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                up(axes, pow(10, power)) + 4, text);
    }
    for (uint64_t n = next_size(results, 0); n; n = next_size(results, n)) {
        if (across(axes, n) < last + 40) continue; /* the texts would overlap */
        char size[64];
        last = across(axes, n);
        put_size(size, sizeof size, n);
        svg_put(to, "<path class=\"axis\" d=\"M%.1f %dv5\"/>", last, BOTTOM);
        svg_put(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", last,
                BOTTOM + 20, size);
    }
}

enum { COLOURS = 8, DASHES = 3 };

/* The style of line number `series`: a colour, then a pattern of dashes. */
static void put_style(struct svg *to, int series)
{
    static const char *const colours[COLOURS] = { "#0072b2", "#d55e00", "#009e73", "#b0508a",
                                                  "#b07800", "#3a9bd0", "#666666", "#7a3b00" };
    static const char *const dashes[DASHES] = { "none", "7 3", "2 3" };
    svg_put(to, " stroke=\"%s\" stroke-dasharray=\"%s\" fill=\"none\" stroke-width=\"2\"",
            colours[series % COLOURS], dashes[series / COLOURS % DASHES]);
}

static bool has_line(const struct results *results, const struct rung *rung)
{
    for (int i = 0; i < results->count; i++)
        if (results->rows[i].rung == rung && has_time(&results->rows[i])) return true;
    return false;
}

static void put_line(struct svg *to, const struct results *results, const struct axes *axes,
                     const struct rung *rung, int series)
{
    char letter = 'M';
    svg_put(to, "<path");
    put_style(to, series);
    svg_put(to, " d=\"");
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        if (row->rung != rung || !has_time(row)) continue;
        /* With a square, so that a rung with only one size is visible. */
        svg_put(to, "%c%.1f %.1fm-3-3h6v6h-6v-6m3 3", letter, across(axes, row->n),
                up(axes, row->ms));
        letter = 'L';
    }
    svg_put(to, "\"/>\n");
}

static void put_legend(struct svg *to, const struct rung *rung, int series)
{
    svg_put(to, "<li><svg width=\"34\" height=\"8\"><path d=\"M0 4h30\"");
    put_style(to, series);
    svg_put(to, "/></svg>%d&#160; ", rung->number);
    svg_put_text(to, rung->text);
    svg_put(to, "</li>\n");
}

void ladder_chart_times(struct svg *to, const struct results *results)
{
    const struct ladder *ladder = results->ladder;
    struct axes axes;
    if (!find_axes(results, &axes)) return;
    svg_put(to, "<h3>Time by n</h3>\n<p>Both axes are logarithmic. n counts %s.</p>\n",
            ladder->unit);
    svg_put(to,
            "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 %d %d\"><title>%s: time by n"
            "</title>\n",
            WIDTH, HEIGHT, ladder->name);
    put_axes(to, results, &axes);
    for (int i = 0, series = 0; i < ladder->rung_count; i++)
        if (has_line(results, &ladder->rungs[i]))
            put_line(to, results, &axes, &ladder->rungs[i], series++);
    svg_put(to, "</svg>\n<ul class=\"legend\">\n");
    for (int i = 0, series = 0; i < ladder->rung_count; i++)
        if (has_line(results, &ladder->rungs[i])) put_legend(to, &ladder->rungs[i], series++);
    svg_put(to, "</ul>\n");
}
