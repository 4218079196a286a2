/*
 * svg.c - writes SVG.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void svg_put(struct svg *svg, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (svg->status == IO_OK && n > 0)
        svg->status = io_write(svg->output, text, (size_t)n, svg->error);
}

/* The length in bytes of the UTF-8 character at c; 0 if it is invalid or not allowed in XML. */
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

void svg_put_text(struct svg *svg, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int n = utf8_bytes(c);
        if (n == 0)
            svg_put(svg, "?");
        else if (strchr("<>&\"", *c))
            svg_put(svg, "&#%d;", *c);
        else
            svg_put(svg, "%.*s", n, (const char *)c);
        c += n ? n : 1;
    }
}

void svg_begin(struct svg *svg, int width, int height, const char *title)
{
    svg_put(svg,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n",
            width, height, width, height);
    svg_put(svg, "<style>text{font:12px sans-serif;fill:#333}.name{font-size:16px}"
                 ".bar{fill:#4477aa}.grid{stroke:#ddd}.axis{stroke:#333;fill:none}</style>\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<title>");
    svg_put_text(svg, title);
    svg_put(svg, "</title>\n");
}

double svg_nice_step(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));
    static const double factors[] = { 1, 2, 5, 10 };
    for (int i = 0; i < 4; i++)
        if (range / (step * factors[i]) <= most) return step * factors[i];
    return step * 10;
}
