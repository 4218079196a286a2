/*
 * bench_table.c - the output of "echelon bench" as a table, JSON or CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

static double elements_per_second(const struct bench_setting *s, const struct bench_result *r)
{
    return r->median > 0 ? (double)s->n / r->median : 0;
}

static double gb_per_second(const struct bench_result *r)
{
    return r->median > 0 ? 1e-9 * r->bytes / r->median : 0;
}

static const char *place(const struct bench_setting *s)
{
    return s->in_device ? "device" : "host";
}

/* ---- Table ---- */

void bench_print_head(const struct bench_setting *s)
{
    printf("version       %s\n", ech_version());
    printf("device        %s: %s", s->device, s->description);
    if (s->threads) printf(", %d thread%s", s->threads, s->threads > 1 ? "s" : "");
    printf("\narrays        %llu elements of %s, %s, in %s memory%s\n", (unsigned long long)s->n,
           ech_dtype_name(s->dtype), s->distribution, place(s),
           s->in_device ? "; copies to the device are not timed"
           : s->threads ? ""
                        : "; copies to and from the device are timed");
    printf("repetitions   %llu with new data each, after one that is not timed\n",
           (unsigned long long)s->repetitions);
    if (s->may_be_cached)
        printf("note          arrays of this size may be in caches; a larger --n measures the "
               "memory\n");
    if (s->in_device && s->device[0] == 's')
        printf("note          times of the SIMT emulator are not times of a GPU\n");
    printf("\n%-12s %12s %12s %14s %10s  %s\n", "operation", "median ms", "minimum ms",
           "M elements/s", "GB/s", "measured");
    fflush(stdout);
}

void bench_print_row(const struct bench_setting *s, const struct bench_result *r)
{
    if (r->supported)
        printf("%-12s %12.3f %12.3f %14.1f %10.2f  %s\n", r->row->name, 1e3 * r->median,
               1e3 * r->minimum, 1e-6 * elements_per_second(s, r), gb_per_second(r), r->row->what);
    else
        printf("%-12s %12s %12s %14s %10s  not supported: %s\n", r->row->name, "-", "-", "-", "-",
               r->reason);
    fflush(stdout);
}

/* ---- JSON ---- */

void bench_print_json(const struct bench_setting *s, const struct bench_result *results, int n)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "version", ech_version());
    json_text(&json, "device", s->device);
    json_text(&json, "description", s->description);
    if (s->threads) json_count(&json, "threads", (uint64_t)s->threads);
    json_text(&json, "arrays", place(s));
    json_literal(&json, "may_be_cached", s->may_be_cached ? "true" : "false");
    json_count(&json, "n", s->n);
    json_text(&json, "type", ech_dtype_name(s->dtype));
    json_text(&json, "distribution", s->distribution);
    json_count(&json, "repetitions", s->repetitions);
    json_open(&json, "results", '[');
    for (int i = 0; i < n; i++) {
        const struct bench_result *r = &results[i];
        json_open(&json, NULL, '{');
        json_text(&json, "operation", r->row->name);
        json_literal(&json, "supported", r->supported ? "true" : "false");
        if (!r->supported) json_text(&json, "reason", r->reason);
        if (r->supported) {
            json_number(&json, "median_seconds", r->median);
            json_number(&json, "minimum_seconds", r->minimum);
            json_number(&json, "elements_per_second", elements_per_second(s, r));
            json_number(&json, "gb_per_second", gb_per_second(r));
        }
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

/* ---- CSV ---- */

/* A field in quotes, without those of the text. */
static void put_quoted(char *to, size_t room, const char *text)
{
    size_t at = 0;
    to[at++] = '"';
    for (; *text && at + 2 < room; text++)
        if (*text != '"') to[at++] = *text;
    to[at++] = '"';
    to[at] = 0;
}

static io_status write_rows(const struct bench_setting *s, const struct bench_result *results,
                            int n, struct io_output *output, struct io_error *error)
{
    static const char head[] =
        "operation,type,n,distribution,device,description,threads,arrays,repetitions,"
        "median_seconds,minimum_seconds,elements_per_second,gb_per_second,version\n";
    char line[1024], description[160], threads[16] = "";
    put_quoted(description, sizeof description, s->description);
    if (s->threads) snprintf(threads, sizeof threads, "%d", s->threads);
    io_status status = io_write(output, head, sizeof head - 1, error);
    for (int i = 0; i < n && status == IO_OK; i++) {
        const struct bench_result *r = &results[i];
        char numbers[160] = ",,,";
        if (r->supported)
            snprintf(numbers, sizeof numbers, "%.6g,%.6g,%.6g,%.6g", r->median, r->minimum,
                     elements_per_second(s, r), gb_per_second(r));
        const int length =
            snprintf(line, sizeof line, "%s,%s,%llu,%s,%s,%s,%s,%s,%llu,%s,%s\n", r->row->name,
                     ech_dtype_name(s->dtype), (unsigned long long)s->n, s->distribution, s->device,
                     description, threads, place(s), (unsigned long long)s->repetitions, numbers,
                     ech_version());
        status = io_write(output, line, (size_t)length, error);
    }
    return status;
}

io_status bench_write_csv(const struct bench_setting *setting, const struct bench_result *results,
                          int n, struct io_output *output, struct io_error *error)
{
    const io_status status = write_rows(setting, results, n, output, error);
    return status == IO_OK ? io_commit(output, error) : status;
}
