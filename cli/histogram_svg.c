/*
 * histogram_svg.c - a histogram as a bar chart: one file of SVG that needs nothing else.
 *
 *     title
 *     ticks of counts |  bars, as wide as their bins, each with its words for the pointer
 *                     +----------- ticks of numbers
 *
 * Ticks are at 1, 2 or 5 times a power of ten; of a logarithmic scale, at powers of ten.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "histogram.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 450, LEFT = 90, RIGHT = 780, TOP = 50, BOTTOM = 400 };

struct svg {
    const struct histogram *h;
    bool logarithmic;
    uint64_t most;
    double first, last; /* ends of the numbers that are shown */
    struct io_output *output;
    struct io_error *error;
    io_status status;
};

static void put(struct svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct svg *svg, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (svg->status == IO_OK && n > 0)
        svg->status = io_write(svg->output, text, (size_t)n, svg->error);
}

/* ---- Text ---- */

/* Bytes of the character of UTF-8 at c, 0 when it is none that XML allows. */
static int utf8_bytes(const unsigned char *c)
{
    if (c[0] < 0x80) return c[0] >= ' ' || c[0] == '\t' || c[0] == '\n';
    int n = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (c[0] < 0xC2 || c[0] > 0xF4) return 0;
    uint32_t code = c[0] & (0x7Fu >> n);
    for (int i = 1; i < n; i++) {
        if ((c[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (c[i] & 0x3Fu);
    }
    bool shortest = n == 2 || (n == 3 ? code >= 0x800 : code >= 0x10000);
    bool surrogate = code >= 0xD800 && code < 0xE000, none = (code & 0xFFFE) == 0xFFFE;
    return shortest && !surrogate && !none && code <= 0x10FFFF ? n : 0;
}

static void put_text(struct svg *svg, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int n = utf8_bytes(c);
        if (n == 0)
            put(svg, "?");
        else if (strchr("<>&\"", *c))
            put(svg, "&#%d;", *c);
        else
            put(svg, "%.*s", n, (const char *)c);
        c += n ? n : 1;
    }
}

/* ---- Axes ---- */

/* 1, 2 or 5 times a power of ten, of which there are at most so many in a range. */
static double nice_step(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));
    static const double factors[] = { 1, 2, 5, 10 };
    for (int i = 0; i < 4; i++)
        if (range / (step * factors[i]) <= most) return step * factors[i];
    return step * 10;
}

static double across(const struct svg *svg, double x)
{
    /* In halves, because the range of all doubles is none. */
    double part = (x / 2 - svg->first / 2) / (svg->last / 2 - svg->first / 2);
    return LEFT + (RIGHT - LEFT) * fmin(fmax(part, 0), 1);
}

static double up(const struct svg *svg, uint64_t count)
{
    return BOTTOM - (BOTTOM - TOP) * histogram_length(count, svg->most, svg->logarithmic);
}

static void put_count_tick(struct svg *svg, uint64_t count)
{
    double y = up(svg, count);
    put(svg, "<path class=\"grid\" d=\"M%d %.2fH%d\"/>", LEFT, y, RIGHT);
    put(svg, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%llu</text>\n", LEFT - 8, y + 4,
        (unsigned long long)count);
}

static void put_count_axis(struct svg *svg)
{
    put_count_tick(svg, 0);
    if (svg->logarithmic) {
        for (uint64_t tick = 1; tick <= svg->most; tick *= 10) {
            put_count_tick(svg, tick);
            if (tick > UINT64_MAX / 10) break;
        }
        return;
    }
    double step = fmax(1, nice_step((double)svg->most, 6));
    for (int i = 1; step * i <= (double)svg->most; i++) put_count_tick(svg, (uint64_t)(step * i));
}

static void put_number_axis(struct svg *svg)
{
    double range = svg->last - svg->first;
    put(svg, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    if (!isfinite(range) || range <= 0) return;
    /* Single integers are named below the middle of their bars. */
    bool single = svg->h->integers && (double)svg->h->bins == range;
    double step = nice_step(range, 10), shift = single ? 0.5 : 0;
    if (svg->h->integers) step = fmax(step, 1);
    double tick = ceil(svg->first / step) * step;
    for (int i = 0; i < 12; i++) {
        double x = tick + i * step;
        if (fabs(x) < step * 1e-6) x = 0;
        if (x + shift > svg->last + range * 1e-9) break;
        double at = across(svg, x + shift);
        put(svg, "<path class=\"axis\" d=\"M%.2f %dv5\"/>", at, BOTTOM);
        put(svg, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%.10g</text>\n", at, BOTTOM + 20,
            x);
    }
}

/* ---- Bars ---- */

static void put_bar(struct svg *svg, size_t b)
{
    const struct histogram *h = svg->h;
    char from[IO_NUMBER_TEXT], to[IO_NUMBER_TEXT];
    double left = across(svg, h->edges[b]), right = across(svg, h->edges[b + 1]);
    double y = up(svg, h->counts[b]), gap = right - left > 4 ? 1 : 0;
    histogram_edge(h, b, from);
    histogram_edge(h, b + 1, to);
    bool closed = h->closed && b + 1 == h->bins;
    put(svg, "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">", left, y,
        fmax(right - left - gap, 0.1), BOTTOM - y);
    put(svg, "<title>%s &#8804; x %s %s: %llu</title></rect>\n", from, closed ? "&#8804;" : "&lt;",
        to, (unsigned long long)h->counts[b]);
}

/* The ends of the bins, infinite ones left out. */
static void find_ends(struct svg *svg)
{
    const struct histogram *h = svg->h;
    size_t first = 0, last = h->bins;
    while (first < last && !isfinite(h->edges[first])) first++;
    while (last > first && !isfinite(h->edges[last])) last--;
    svg->first = h->edges[first];
    svg->last = h->edges[last];
    if (!(svg->first < svg->last)) svg->first -= 0.5, svg->last = svg->first + 1;
}

io_status histogram_svg(const struct histogram *h, bool logarithmic, struct io_output *output,
                        struct io_error *error)
{
    struct svg svg = { .h = h, .logarithmic = logarithmic, .output = output, .error = error };
    svg.most = histogram_most(h);
    if (svg.most == 0) svg.most = 1;
    find_ends(&svg);
    put(&svg,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    put(&svg, "<style>text{font:12px sans-serif;fill:#333}.name{font-size:16px}"
              ".bar{fill:#4477aa}.grid{stroke:#ddd}.axis{stroke:#333;fill:none}</style>\n"
              "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<title>");
    put_text(&svg, h->name);
    put(&svg, "</title>\n<text class=\"name\" x=\"%d\" y=\"28\" text-anchor=\"middle\">",
        WIDTH / 2);
    put_text(&svg, h->name);
    put(&svg, ": %llu %s%s</text>\n", (unsigned long long)h->n, h->what,
        logarithmic ? ", logarithmic" : "");
    put_count_axis(&svg);
    for (size_t b = 0; b < h->bins; b++)
        if (h->counts[b]) put_bar(&svg, b);
    put_number_axis(&svg);
    const uint64_t *outside = h->counts + h->bins;
    if (outside[HISTOGRAM_BELOW] || outside[HISTOGRAM_ABOVE] || outside[HISTOGRAM_NAN])
        put(&svg,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">not shown: %llu below, %llu above, "
            "%llu NaN</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 40, (unsigned long long)outside[HISTOGRAM_BELOW],
            (unsigned long long)outside[HISTOGRAM_ABOVE],
            (unsigned long long)outside[HISTOGRAM_NAN]);
    put(&svg, "</svg>\n");
    return svg.status;
}
