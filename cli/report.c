/*
 * report.c - progress lines, times, JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t cli_peak_host_bytes(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* ---- Progress ---- */

static const double quiet_seconds = 1.0, refresh_seconds = 0.2;

/* "eliminating 45%, 12 s left"; extrapolated from the elapsed time of the stage. */
static void show_share(const struct cli_progress *progress, double share, double now)
{
    const double left = (now - progress->began) * (1 - share) / share;
    fprintf(stderr, "\r\033[K%s %d%%", progress->what, (int)(100 * share));
    if (now - progress->began < quiet_seconds || share <= 0 || left < 1) return;
    if (left < 100)
        fprintf(stderr, ", %.0f s left", left);
    else
        fprintf(stderr, ", %.0f min left", left / 60);
}

static void show(struct cli_progress *progress, uint64_t done, uint64_t total)
{
    double now = cli_seconds();
    if (!progress->enabled || now - progress->started < quiet_seconds) return;
    if (progress->visible && now - progress->shown < refresh_seconds) return;
    /* Return to the beginning of the line and clear it. */
    if (total)
        show_share(progress, (double)(done < total ? done : total) / (double)total, now);
    else if (done)
        fprintf(stderr, "\r\033[K%s %.1f GB", progress->what, 1e-9 * (double)done);
    else
        fprintf(stderr, "\r\033[K%s", progress->what);
    fflush(stderr);
    progress->shown = now;
    progress->visible = true;
}

static void tick(void *user, uint64_t done, uint64_t total)
{
    show(user, done, total);
}

int cli_report_progress(void *user, double done)
{
    enum { WHOLE = 1000000 };
    show(user, (uint64_t)(done * WHOLE), WHOLE);
    return 0;
}

void cli_progress_say(struct cli_progress *progress, const char *text)
{
    const char *what = progress->what;
    progress->what = text;
    show(progress, 0, 0);
    progress->what = what;
}

void cli_progress_start(struct cli_progress *progress)
{
    const char *terminal = getenv("TERM");
    *progress = (struct cli_progress){ .io = { tick, progress }, .started = cli_seconds() };
    progress->enabled = isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void cli_progress_stage(struct cli_progress *progress, const char *what)
{
    progress->what = what;
    progress->began = cli_seconds();
    progress->shown = 0;
    show(progress, 0, 0);
}

void cli_progress_end(struct cli_progress *progress)
{
    if (!progress->visible) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->visible = false;
}

/* ---- JSON ---- */

size_t cli_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (bytes < 2) return at[0] ? bytes : 0;
    if (at[0] > 0xf4) return 0;
    uint32_t code = at[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    const bool valid = code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? bytes : 0;
}

static void quoted(FILE *to, const char *text)
{
    putc('"', to);
    for (size_t bytes; *text; text += bytes) {
        unsigned char c = (unsigned char)*text;
        bytes = cli_utf8(text);
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ' || c == 127)
            fprintf(to, "\\u%04x", c);
        else if (bytes)
            fwrite(text, 1, bytes, to);
        else
            fputs("\\ufffd", to), bytes = 1;
    }
    putc('"', to);
}

static void begin(struct json *json, const char *key)
{
    if (json->comma) fputs(", ", json->to);
    json->comma = true;
    if (!key) return;
    quoted(json->to, key);
    fputs(": ", json->to);
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    putc(bracket, json->to);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    putc(bracket, json->to);
    json->comma = true;
}

void json_text(struct json *json, const char *key, const char *value)
{
    begin(json, key);
    quoted(json->to, value);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->to, "%llu", (unsigned long long)value);
}

void json_number(struct json *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value))
        fprintf(json->to, "%.6g", value);
    else
        fputs("null", json->to);
}

void json_exact(struct json *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value))
        fprintf(json->to, "%.17g", value);
    else
        fputs("null", json->to);
}

void json_literal(struct json *json, const char *key, const char *number)
{
    begin(json, key);
    /* nan and inf */
    fputs(strchr(number, 'n') ? "null" : number, json->to);
}

void json_value(struct json *json, const char *key, ech_dtype dtype, const void *value)
{
    char text[IO_NUMBER_TEXT];
    io_format_key(dtype, value, text);
    json_literal(json, key, text);
}

void json_header(struct json *json, const struct io_column *column)
{
    if (column->text) json_literal(json, "header", io_has_header(column) ? "true" : "false");
}
