/*
 * fuzz_lines.c - arbitrary keys and arbitrary text: keys, comparisons, sorts and outputs of lines
 * must agree with each other.
 *
 *     byte 0      options: CSV, zero, stable, unique, letters r and b, delimiter
 *     until \n    keys, separated by blanks; the first with a '-' are global letters
 *     the rest    text
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include "io/io.h"
#include "lines/order.h"

#include <stdint.h>
#include <string.h>

enum { MOST_RECORDS = 400, KEY_BYTES = 4096 };

struct record {
    const char *text;
    size_t bytes;
};

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

/* memcmp() of the full keys of two records; 2: a key is too long. */
static int compare_keys(const struct lines_order *order, struct record a, struct record b)
{
    static unsigned char x[KEY_BYTES], y[KEY_BYTES];
    const size_t n = lines_full_key(order, a.text, a.bytes, x, sizeof x);
    const size_t m = lines_full_key(order, b.text, b.bytes, y, sizeof y);
    if (n > sizeof x || m > sizeof y) return 2;
    const int result = memcmp(x, y, n < m ? n : m);
    return result ? sign(result) : (n > m) - (n < m);
}

static void check_pair(const struct lines_order *order, struct record a, struct record b)
{
    const int want = sign(lines_compare(order, a.text, a.bytes, b.text, b.bytes));
    const int back = sign(lines_compare(order, b.text, b.bytes, a.text, a.bytes));
    const int keys = compare_keys(order, a, b);
    const uint64_t p = lines_prefix(order, a.text, a.bytes),
                   q = lines_prefix(order, b.text, b.bytes);
    FUZZ_CHECK(want == -back);
    FUZZ_CHECK(keys == 2 || keys == want);
    FUZZ_CHECK(p == q || (p < q) == (want < 0));
}

static size_t split(const struct lines_order *order, const char *text, size_t bytes,
                    struct record records[MOST_RECORDS])
{
    size_t n = 0, next;
    for (size_t at = 0; at < bytes; at += next, n++) {
        next = lines_next(order, text + at, bytes - at);
        FUZZ_CHECK(next > 0 && next <= bytes - at);
        if (n < MOST_RECORDS)
            records[n] = (struct record){ text + at, lines_body(order, text + at, next) };
    }
    FUZZ_CHECK(lines_count(order, text, bytes, 1) == n);
    FUZZ_CHECK(lines_complete(order, text, bytes, 1, NULL) <= bytes);
    return n;
}

/* Whether a field of CSV has a quote that is not part of its quotes, or characters after them. */
static bool has_wrong_quote(const char *at, const char *end, char delimiter)
{
    for (bool more = true; more;) {
        const char *first = at, *last = end, *fault;
        const struct io_cut cut = { 1, delimiter };
        io_cut_record(&cut, &first, &last, &fault);
        if (fault) return true;
        const bool quoted = first > at && first[-1] == '"';
        if (!quoted && memchr(first, '"', (size_t)(last - first))) return true;
        for (at = last; at < end && *at != delimiter; at++) {
        }
        more = at < end;
        at++;
    }
    return false;
}

/* The parallel search finds the records of io_record_end(), or it rejects a quote that is wrong. */
static void check_quotes(const struct lines_order *order, const char *text, size_t bytes)
{
    void *begins;
    size_t begin_bytes, misplaced, at = 0;
    const char *open = NULL;
    bool wrong = false;
    uint64_t i = 0;
    const uint64_t n = lines_split(order, text, bytes, 1, &begins, &begin_bytes, &misplaced);
    FUZZ_CHECK(n != UINT64_MAX);
    for (; at < bytes; i++) {
        const char *from = text + at, *end = text + bytes;
        const char *newline = io_record_end(from, end, (char)order->delimiter, &open);
        wrong |= open || has_wrong_quote(from, newline, (char)order->delimiter);
        FUZZ_CHECK(misplaced != SIZE_MAX || load_uint(begins, begin_bytes, i) == at);
        at = newline < end ? (size_t)(newline - text) + 1 : bytes;
        FUZZ_CHECK(lines_next(order, from, (size_t)(end - from)) == at - (size_t)(from - text));
    }
    FUZZ_CHECK(wrong == (misplaced != SIZE_MAX));
    FUZZ_CHECK(wrong || i == n);
    free(begins);
}

/* The output has all records, in order; with unique, no two are equal. */
static void check_sort(ech_ctx *ctx, const struct lines_order *order, const char *text,
                       size_t bytes, size_t n)
{
    struct lines_sorted sorted;
    struct lines_cursor cursor = { 0 };
    char error[LINES_ERROR];
    const ech_status status = lines_sort(ctx, order, text, bytes, 1, &sorted, error);
    if (status == ECH_ERR_ARG && memchr(text, '"', bytes)) return; /* misplaced quotes */
    FUZZ_CHECK(status == ECH_OK);
    FUZZ_CHECK(sorted.n_read == n && sorted.n <= n);
    FUZZ_CHECK(lines_is_unique(order) || sorted.n == n);
    size_t total = 0;
    struct record before = { NULL, 0 };
    for (uint64_t i = 0; i < sorted.n; i++) {
        struct record now;
        now.text = lines_record(&sorted, i, &now.bytes);
        if (i) {
            const int result = lines_compare(order, before.text, before.bytes, now.text, now.bytes);
            FUZZ_CHECK(result < 0 ||
                       (result == 0 && !lines_is_unique(order) && before.text < now.text));
        }
        total += now.bytes + 1;
        before = now;
    }
    FUZZ_CHECK(total == sorted.out_bytes);
    char *out = malloc(total + 1);
    size_t at = 0;
    for (size_t got; out && (got = lines_gather(&sorted, &cursor, out + at, 7, 1));) at += got;
    FUZZ_CHECK(!out || at == total);
    free(out);
    lines_free(&sorted);
}

static struct lines_order *make_order(const unsigned char **bytes, size_t *n)
{
    static char words[256];
    static const char *keys[8];
    struct lines_words chosen = { .keys = keys, .delimiter = LINES_BLANKS, .seed = { 1, 2 } };
    const unsigned char options = **bytes;
    const unsigned char *end = memchr(*bytes, '\n', *n);
    size_t length = end ? (size_t)(end - *bytes) : 0, used = length < 256 ? length : 255;
    if (!end) return NULL;
    memcpy(words, *bytes + 1, used ? used - 1 : 0);
    words[used ? used - 1 : 0] = 0;
    *n -= length + 1;
    *bytes = end + 1;
    chosen.csv = options & 1;
    chosen.zero = !chosen.csv && (options & 2);
    chosen.stable = options & 4;
    chosen.unique = options & 8;
    if (options & 16) chosen.delimiter = ',';
    for (char *word = strtok(words, " "); word && chosen.n_keys < 8; word = strtok(NULL, " ")) {
        if (*word == '-')
            chosen.letters = word + 1;
        else
            keys[chosen.n_keys++] = word;
    }
    char error[LINES_ERROR] = "";
    struct lines_order *order = lines_order_new(&chosen, error);
    FUZZ_CHECK((order != NULL) != (error[0] != 0));
    return order;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    static ech_ctx *ctx;
    static struct record records[MOST_RECORDS];
    if (!ctx) FUZZ_CHECK(ech_open(&ctx, "cpu") == ECH_OK);
    if (n == 0) return 0;
    struct lines_order *order = make_order(&bytes, &n);
    if (!order) return 0;
    char *text = malloc(n + 1), described[1024]; /* no byte after the text can be read */
    FUZZ_CHECK(text != NULL);
    memcpy(text, bytes, n);
    text[n] = '\n'; /* the readers of io may read it */
    if (order->csv) check_quotes(order, text, n);
    lines_describe(order, described, sizeof described);
    const size_t count = split(order, text, n, records);
    for (size_t i = 1; i < count && i < MOST_RECORDS; i++) {
        check_pair(order, records[i - 1], records[i]);
        check_pair(order, records[i / 2], records[i]);
    }
    check_sort(ctx, order, text, n, count);
    free(text);
    lines_order_free(order);
    return 0;
}
