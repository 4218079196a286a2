/*
 * solve_history.c - the residuals per iteration, as a table and as a chart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve.h"
#include "svg.h"

#include <math.h>

static size_t length(const struct solve_history *h, size_t which)
{
    const size_t n = h->reports[which].history_count;
    return n < h->capacity ? n : h->capacity;
}

int solve_write_csv(const struct solve_history *h, const char *path)
{
    struct io_output output;
    struct io_error error;
    static const char head[] = "rhs,iteration,residual,relative\n";
    io_status status = io_create(&output, path, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    status = io_write(&output, head, sizeof head - 1, &error);
    for (size_t which = 0; which < h->count; which++)
        for (size_t i = 0; i < length(h, which) && status == IO_OK; i++) {
            char line[128];
            const double residual = h->residuals[which * h->capacity + i];
            const int n = snprintf(line, sizeof line, "%zu,%zu,%.17g,%.17g\n", which, i, residual,
                                   residual / h->reports[which].b_norm);
            status = io_write(&output, line, (size_t)n, &error);
        }
    if (status == IO_OK) status = io_commit(&output, &error);
    io_discard(&output);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* ---- The chart ---- */

enum { WIDTH = 800, HEIGHT = 450, LEFT = 90, RIGHT = 780, TOP = 50, BOTTOM = 390 };

struct chart {
    struct svg to;
    const struct solve_history *h;
    double low, high; /* exponents of ten */
    size_t longest;
};

static bool drawn(double residual)
{
    return isfinite(residual) && residual > 0;
}

static void find_range(struct chart *c)
{
    c->low = INFINITY;
    c->high = -INFINITY;
    c->longest = 1;
    for (size_t which = 0; which < c->h->count; which++) {
        const size_t n = length(c->h, which);
        if (n > c->longest + 1) c->longest = n - 1;
        for (size_t i = 0; i < n; i++) {
            const double residual = c->h->residuals[which * c->h->capacity + i];
            if (!drawn(residual)) continue;
            c->low = fmin(c->low, floor(log10(residual)));
            c->high = fmax(c->high, ceil(log10(residual)));
        }
    }
    if (!(c->low <= c->high)) c->low = -1, c->high = 0; /* nothing to draw */
    if (c->low == c->high) c->low--;
}

static double across(const struct chart *c, double iteration)
{
    return LEFT + (RIGHT - LEFT) * iteration / (double)c->longest;
}

static double up(const struct chart *c, double power)
{
    return BOTTOM - (BOTTOM - TOP) * (power - c->low) / (c->high - c->low);
}

static void put_axes(struct chart *c)
{
    const double step = fmax(1, svg_nice_step(c->high - c->low, 10));
    for (double power = c->low; power <= c->high; power += step) {
        const double y = up(c, power);
        svg_put(&c->to, "<path class=\"grid\" d=\"M%d %.2fH%d\"/>", LEFT, y, RIGHT);
        svg_put(&c->to, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">1e%+.0f</text>\n", LEFT - 8,
                y + 4, power);
    }
    const double each = fmax(1, svg_nice_step((double)c->longest, 10));
    for (double i = 0; i <= (double)c->longest; i += each) {
        svg_put(&c->to, "<path class=\"axis\" d=\"M%.2f %dv5\"/>", across(c, i), BOTTOM);
        svg_put(&c->to, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
                across(c, i), BOTTOM + 20, i);
    }
    svg_put(&c->to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    svg_put(&c->to,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">iteration; residual |b - A x| as the "
            "method updates it</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 42);
}

/* Draws at most MOST_POINTS points, at equal intervals. */
static void put_line(struct chart *c, size_t which)
{
    enum { MOST_POINTS = 2000 };
    static const char *const colours[] = { "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee" };
    const double *residuals = c->h->residuals + which * c->h->capacity;
    const size_t n = length(c->h, which), step = n / MOST_POINTS + 1;
    bool begun = false;
    svg_put(&c->to, "<path fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" d=\"",
            colours[which % 5]);
    for (size_t i = 0; i < n; i += step) {
        if (!drawn(residuals[i])) continue;
        svg_put(&c->to, "%c%.2f %.2f", begun ? 'L' : 'M', across(c, (double)i),
                up(c, log10(residuals[i])));
        begun = true;
    }
    svg_put(&c->to, "\"/>\n");
}

int solve_write_svg(const struct solve_history *h, const char *title, const char *path)
{
    struct io_output output;
    struct io_error error;
    struct chart c = { .to = { &output, &error, io_create(&output, path, &error) }, .h = h };
    if (c.to.status != IO_OK) return cli_fail_io(c.to.status, &error);
    find_range(&c);
    svg_begin(&c.to, WIDTH, HEIGHT, title);
    svg_put(&c.to, "<text class=\"name\" x=\"%d\" y=\"28\" text-anchor=\"middle\">", WIDTH / 2);
    svg_put_text(&c.to, title);
    svg_put(&c.to, "</text>\n");
    put_axes(&c);
    for (size_t which = 0; which < h->count; which++) put_line(&c, which);
    svg_put(&c.to, "</svg>\n");
    if (c.to.status == IO_OK) c.to.status = io_commit(&output, &error);
    io_discard(&output);
    return c.to.status == IO_OK ? EXIT_DONE : cli_fail_io(c.to.status, &error);
}
