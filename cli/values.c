/*
 * values.c - parses the values of options: counts, types, bit ranges, distributions, devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"
#include "distributions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Counts ---- */

static const char *take_digits(const char *at, uint64_t *value, bool *over)
{
    for (*value = 0; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        *over |= *value > (UINT64_MAX - digit) / 10;
        *value = *value * 10 + digit;
    }
    return at;
}

static void multiply(uint64_t *value, uint64_t by, uint64_t times, bool *over)
{
    for (uint64_t i = 0; i < times && !*over; i++) {
        *over |= by && *value > UINT64_MAX / by;
        *value *= by;
    }
}

int cli_parse_count(const char *option, const char *text, uint64_t *value)
{
    static const char letters[] = "kmgt";
    bool over = false;
    const char *at = take_digits(text, value, &over);
    bool good = at > text;
    if (good && (*at == 'e' || *at == 'E' || *at == '^')) {
        char mark = *at;
        const char *first = at + 1;
        uint64_t power;
        at = take_digits(first, &power, &over);
        good = at > first;
        uint64_t base = mark == '^' ? *value : 10;
        if (mark == '^') *value = 1;
        if (power > 64 && base > 1 && *value) over = true;
        multiply(value, base, power > 64 ? 1 : power, &over);
    } else if (good && *at) {
        const char *letter = strchr(letters, *at | 0x20);
        good = letter != NULL;
        if (letter) at++;
        bool binary = letter && *at == 'i';
        if (binary) at++;
        if (letter) multiply(value, binary ? 1024 : 1000, (uint64_t)(letter - letters) + 1, &over);
    }
    if (!good || *at)
        return cli_fail(EXIT_BAD,
                        "--%s is \"%s\"; give an integer such as 1000, 100M, 1e6, 2^20 or 4Ki",
                        option, text);
    if (over) return cli_fail(EXIT_BAD, "--%s is \"%s\"; the maximum is 2^64 - 1", option, text);
    return EXIT_DONE;
}

/* ---- Names ---- */

int cli_parse_dtype(const char *text, int *dtype)
{
    *dtype = -1;
    if (!text) return EXIT_DONE;
    *dtype = ech_dtype_from_name(text);
    if (*dtype >= 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--type is \"%s\"; use one of " CLI_TYPES, text);
}

int cli_parse_format(const char *text, int *format)
{
    *format = -1;
    if (!text) return EXIT_DONE;
    *format = io_format_from_name(text);
    if (*format >= 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--format is \"%s\"; use npy, raw or text", text);
}

int cli_parse_order(const char *text, ech_order *order)
{
    *order = ECH_ORDER_NAN_LAST;
    if (!text || strcmp(text, "nan-last") == 0) return EXIT_DONE;
    *order = ECH_ORDER_TOTAL;
    if (strcmp(text, "total") == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--order is \"%s\"; use nan-last or total", text);
}

int cli_parse_nan(const char *text, ech_nan *nan)
{
    *nan = ECH_NAN_PROPAGATE;
    if (!text || strcmp(text, "propagate") == 0) return EXIT_DONE;
    *nan = ECH_NAN_IGNORE;
    if (strcmp(text, "ignore") == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--nan is \"%s\"; use propagate or ignore", text);
}

int cli_parse_bits(const char *text, ech_dtype dtype, ech_sort_options *options)
{
    if (!text) return EXIT_DONE;
    uint64_t begin, end = 0, width = 8 * ech_dtype_bytes(dtype);
    bool over = false;
    const char *colon = take_digits(text, &begin, &over), *at = colon;
    bool good = colon > text && *colon == ':';
    if (good) at = take_digits(colon + 1, &end, &over);
    if (!good || at == colon + 1 || *at)
        return cli_fail(EXIT_BAD, "--bits is \"%s\"; give FIRST:END, such as 0:10", text);
    if (over || begin >= end || end > width)
        return cli_fail(EXIT_BAD, "--bits is \"%s\"; for %s, 0 <= FIRST < END <= %d must hold",
                        text, ech_dtype_name(dtype), (int)width);
    options->begin_bit = (int)begin;
    options->end_bit = (int)end;
    return EXIT_DONE;
}

int cli_parse_threads(const char *text, int *threads)
{
    return cli_parse_threads_of("threads", text, threads);
}

int cli_parse_threads_of(const char *option, const char *text, int *threads)
{
    *threads = 0;
    if (!text) return EXIT_DONE;
    uint64_t value;
    int code = cli_parse_count(option, text, &value);
    if (code != EXIT_DONE) return code;
    if (value > 65536) return cli_fail(EXIT_BAD, "--%s is %s; the maximum is 65536", option, text);
    *threads = (int)value;
    return EXIT_DONE;
}

/* ---- Distributions ---- */

int cli_parse_distribution(const char *name, const struct distribution **found)
{
    const char *names[32];
    int n = 0;
    for (; distributions[n].name; n++) {
        *found = &distributions[n];
        if (strcmp(name, distributions[n].name) == 0) return EXIT_DONE;
        names[n] = distributions[n].name;
    }
    const char *nearest = cli_nearest(name, names, n);
    if (nearest)
        return cli_fail(EXIT_BAD, "unknown distribution \"%s\"; did you mean %s?", name, nearest);
    return cli_fail(EXIT_BAD, "unknown distribution \"%s\"; see echelon gen --help", name);
}

int cli_check_distribution(const struct distribution *distribution, ech_dtype dtype)
{
    if (!distribution->floats_only || io_is_float(dtype)) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s needs a floating-point --type, such as f32, not %s",
                    distribution->name, ech_dtype_name(dtype));
}

/* ---- Devices ---- */

static void print_log(void *user, ech_log_level level, const char *message)
{
    (void)user;
    (void)level;
    fprintf(stderr, "echelon: %s\n", message);
}

static int install_log(ech_ctx *ctx)
{
    static const char *const levels[] = { [ECH_LOG_NONE] = "none",
                                          [ECH_LOG_ERROR] = "error",
                                          [ECH_LOG_INFO] = "info",
                                          [ECH_LOG_TRACE] = "trace" };
    const char *wanted = getenv("ECHELON_LOG");
    if (!wanted || !*wanted) return EXIT_DONE;
    for (int i = 0; i <= ECH_LOG_TRACE; i++)
        if (strcmp(wanted, levels[i]) == 0) {
            ech_set_log(ctx, (ech_log_level)i, i ? print_log : NULL, NULL);
            return EXIT_DONE;
        }
    return cli_fail(
        EXIT_BAD, "the environment variable ECHELON_LOG is \"%s\"; use none, error, info or trace",
        wanted);
}

int cli_open(ech_ctx **ctx, const char *device, int threads)
{
    ech_status status = ech_open(ctx, device);
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    int code = install_log(*ctx);
    if (code == EXIT_DONE && threads) {
        status = ech_set_threads(*ctx, threads);
        if (status != ECH_OK) code = cli_fail_ech(status, *ctx);
    }
    if (code != EXIT_DONE) {
        ech_close(*ctx);
        *ctx = NULL;
    }
    return code;
}

/* ---- Keys of records ---- */

bool cli_parse_key_type(const char *word, ech_record_key *key)
{
    static const struct {
        const char *name;
        ech_key_kind kind;
    } kinds[] = { { "bytes", ECH_KEY_BYTES },
                  { "unsigned", ECH_KEY_UNSIGNED },
                  { "signed", ECH_KEY_SIGNED },
                  { "", ECH_KEY_BYTES } };
    const int type = ech_dtype_from_name(word);
    if (type >= 0) {
        key->dtype = (ech_dtype)type;
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].name), digits = strlen(word);
        if (strncmp(word, kinds[i].name, length) != 0 || digits == length || digits > length + 3 ||
            strspn(word + length, "0123456789") != digits - length)
            continue;
        key->kind = kinds[i].kind;
        key->width_bytes = (size_t)strtoul(word + length, NULL, 10);
        return key->width_bytes > 0;
    }
    return false;
}

void cli_take_direction(char *word, ech_record_key *key)
{
    char *colon = strrchr(word, ':');
    if (!colon || (strcmp(colon, ":desc") != 0 && strcmp(colon, ":asc") != 0)) return;
    key->descending = colon[1] == 'd';
    *colon = 0;
}
