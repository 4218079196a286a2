/*
 * histogram_text.c - a histogram as bars on the terminal, as CSV and as JSON.
 *
 * Bars consist of Unicode block characters with a resolution of 1/8 column, or of #.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- Numbers ---- */

int histogram_whole(whole x, bool hex, char *text)
{
    whole magnitude = x < 0 ? -x : x;
    uint64_t u = (uint64_t)magnitude;
    if (magnitude >> 64) return sprintf(text, "%s18446744073709551616", x < 0 ? "-" : "");
    if (hex) return sprintf(text, "0x%02llx", (unsigned long long)u);
    return sprintf(text, "%s%llu", x < 0 ? "-" : "", (unsigned long long)u);
}

void histogram_edge(const struct histogram *h, size_t i, char *text)
{
    if (h->integers)
        histogram_whole(h->wholes[i], false, text);
    else
        io_format_key(ECH_F64, &h->edges[i], text);
}

uint64_t histogram_most(const struct histogram *h)
{
    uint64_t most = 0;
    for (size_t b = 0; b < h->bins; b++)
        if (h->counts[b] > most) most = h->counts[b];
    return most;
}

double histogram_length(uint64_t count, uint64_t most, bool logarithmic)
{
    if (!count) return 0;
    double part = (double)count / (double)most;
    return logarithmic ? log1p((double)count) / log1p((double)most) : part;
}

/* ---- Labels ---- */

/* How edges are printed so that adjacent edges differ. */
struct style {
    bool fixed; /* digits after the point; otherwise significant digits */
    int digits;
};

static struct style find_style(const struct histogram *h)
{
    double least = (double)INFINITY, most = 0;
    for (size_t b = 0; b <= h->bins; b++) {
        double width = b ? h->edges[b] - h->edges[b - 1] : (double)INFINITY;
        if (width < least) least = width;
        if (isfinite(h->edges[b])) most = fmax(most, fabs(h->edges[b]));
    }
    if (!isfinite(least)) return (struct style){ false, 6 };
    if (most < 1e7 && least >= 1e-5) {
        int digits = 1 - (int)floor(log10(least));
        return (struct style){ true, digits < 0 ? 0 : digits };
    }
    double digits = 2 + ceil(log10(most / least));
    return (struct style){ false, digits < 4 ? 4 : digits > 17 ? 17 : (int)digits };
}

/* Formats both ends of a bin; last is "" for a bin of one integer. */
static void make_ends(const struct histogram *h, struct style style, size_t b, char *first,
                      char *last)
{
    last[0] = 0;
    if (h->integers) {
        whole end = h->wholes[b + 1] - (h->closed && b + 1 == h->bins ? 0 : 1);
        histogram_whole(h->wholes[b], h->hex, first);
        if (end > h->wholes[b]) histogram_whole(end, h->hex, last);
        return;
    }
    const char *format = style.fixed ? "%.*f" : "%.*g";
    snprintf(first, IO_NUMBER_TEXT, format, style.digits, h->edges[b]);
    snprintf(last, IO_NUMBER_TEXT, format, style.digits, h->edges[b + 1]);
}

/* ---- Bars ---- */

static int terminal_width(FILE *to)
{
    struct winsize size;
    if (isatty(fileno(to)) && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;
    return width > 0 && width <= 1000 ? width : 80;
}

/* Reads the environment as the C library does, but works without an installed locale. */
static bool is_utf8(void)
{
    static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value) continue;
        const char *point = strchr(value, '.');
        return point &&
               (strncasecmp(point + 1, "utf-8", 5) == 0 || strncasecmp(point + 1, "utf8", 4) == 0);
    }
    return false;
}

/* Draws a bar of a length from 0 to 1 in a number of columns.  A nonzero bar is always visible. */
static void draw_bar(double length, int columns, bool ascii, FILE *to)
{
    if (length <= 0) return;
    if (ascii) {
        int n = (int)lround(length * columns);
        for (int i = 0; i < n; i++) putc('#', to);
        if (!n) putc('.', to);
        return;
    }
    /* U+2588 is a full block; U+2589 to U+258F are 7/8 to 1/8 wide. */
    int eighths = (int)lround(length * columns * 8);
    if (!eighths) eighths = 1;
    for (int i = 0; i < eighths / 8; i++) fputs("\xE2\x96\x88", to);
    if (eighths % 8) fprintf(to, "\xE2\x96%c", 0x90 - eighths % 8);
}

static double percent(const struct histogram *h, uint64_t count)
{
    return h->n ? 100 * (double)count / (double)h->n : 0;
}

static void draw_outside(const struct histogram *h, FILE *to)
{
    static const char *const names[] = { "below", "above", "NaN" };
    bool any = false;
    for (int i = 0; i < HISTOGRAM_OUTSIDE; i++) {
        uint64_t count = h->counts[h->bins + (size_t)i];
        if (!count) continue;
        fprintf(to, "%s%llu %s (%.2f%%)",
                any ? ", " : "outside the bins: ", (unsigned long long)count, names[i],
                percent(h, count));
        any = true;
    }
    if (any) putc('\n', to);
}

void histogram_draw(const struct histogram *h, bool logarithmic, bool ascii, FILE *to)
{
    struct style style = find_style(h);
    char first[IO_NUMBER_TEXT], last[IO_NUMBER_TEXT], number[24];
    int wide_first = 0, wide_last = 0;
    uint64_t most = histogram_most(h);
    for (size_t b = 0; b < h->bins; b++) {
        make_ends(h, style, b, first, last);
        if ((int)strlen(first) > wide_first) wide_first = (int)strlen(first);
        if ((int)strlen(last) > wide_last) wide_last = (int)strlen(last);
    }
    int wide_count = snprintf(number, sizeof number, "%llu", (unsigned long long)most);
    int between = wide_last ? 2 : 0;
    int used = wide_first + between + wide_last + 2 + wide_count + 2 + 7 + 2;
    int columns = terminal_width(to) - used;
    if (columns < 8) columns = 8;
    cli_print_name(to, h->name);
    fprintf(to, ": %llu %s\n", (unsigned long long)h->n, h->what);
    for (size_t b = 0; b < h->bins; b++) {
        make_ends(h, style, b, first, last);
        fprintf(to, "%*s%s%*s  %*llu  %6.2f%%", wide_first, first,
                !between  ? ""
                : last[0] ? ".."
                          : "  ",
                wide_last, last, wide_count, (unsigned long long)h->counts[b],
                percent(h, h->counts[b]));
        if (h->counts[b]) fputs("  ", to);
        draw_bar(histogram_length(h->counts[b], most, logarithmic), columns, ascii || !is_utf8(),
                 to);
        putc('\n', to);
    }
    draw_outside(h, to);
}

/* ---- Lists ---- */

void histogram_csv(const struct histogram *h, FILE *to)
{
    char text[IO_NUMBER_TEXT];
    const uint64_t *outside = h->counts + h->bins;
    fputs("lower,upper,count\n", to);
    histogram_edge(h, 0, text);
    if (outside[HISTOGRAM_BELOW])
        fprintf(to, "-inf,%s,%llu\n", text, (unsigned long long)outside[HISTOGRAM_BELOW]);
    for (size_t b = 0; b < h->bins; b++) {
        histogram_edge(h, b, text);
        fprintf(to, "%s,", text);
        histogram_edge(h, b + 1, text);
        fprintf(to, "%s,%llu\n", text, (unsigned long long)h->counts[b]);
    }
    if (outside[HISTOGRAM_ABOVE])
        fprintf(to, "%s,inf,%llu\n", text, (unsigned long long)outside[HISTOGRAM_ABOVE]);
    if (outside[HISTOGRAM_NAN])
        fprintf(to, "nan,nan,%llu\n", (unsigned long long)outside[HISTOGRAM_NAN]);
}

void histogram_json(const struct histogram *h, FILE *to)
{
    struct json json = { .to = to };
    char text[IO_NUMBER_TEXT];
    json_open(&json, NULL, '{');
    json_text(&json, "input", h->name);
    json_text(&json, "type", h->what);
    json_header(&json, h->column);
    json_count(&json, "n", h->n);
    json_open(&json, "bins", '[');
    for (size_t b = 0; b < h->bins; b++) {
        json_open(&json, NULL, '{');
        histogram_edge(h, b, text);
        json_literal(&json, "lower", text);
        histogram_edge(h, b + 1, text);
        json_literal(&json, "upper", text);
        json_count(&json, "count", h->counts[b]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_count(&json, "below", h->counts[h->bins + HISTOGRAM_BELOW]);
    json_count(&json, "above", h->counts[h->bins + HISTOGRAM_ABOVE]);
    json_count(&json, "nan", h->counts[h->bins + HISTOGRAM_NAN]);
    json_close(&json, '}');
    putc('\n', to);
}
