/*
 * test_lines.c - records of text: where they end, their keys and comparisons, sorts of blocks, and
 * the output; words that are not an order.
 *
 * The sort is compared with qsort() by lines_compare(), and lines_compare() with memcmp() of full
 * keys.  tests/sort_gnu.py compares the order itself with GNU sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/lines.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Orders and texts ---- */

struct order_words {
    const char *id;
    const char *keys[4];
    struct lines_words words;
};

static const struct order_words orders[] = {
    { "whole", { 0 }, { .delimiter = LINES_BLANKS } },
    { "reverse", { 0 }, { .delimiter = LINES_BLANKS, .letters = "r" } },
    { "unique", { 0 }, { .delimiter = LINES_BLANKS, .unique = true } },
    { "number", { 0 }, { .delimiter = LINES_BLANKS, .letters = "n" } },
    { "number,unique", { 0 }, { .delimiter = LINES_BLANKS, .letters = "nr", .unique = true } },
    { "float", { 0 }, { .delimiter = LINES_BLANKS, .letters = "g", .stable = true } },
    { "human", { 0 }, { .delimiter = LINES_BLANKS, .letters = "h" } },
    { "version", { 0 }, { .delimiter = LINES_BLANKS, .letters = "Vr" } },
    { "random", { 0 }, { .delimiter = LINES_BLANKS, .letters = "R", .seed = { 1, 2 } } },
    { "fold", { 0 }, { .delimiter = LINES_BLANKS, .letters = "fdb" } },
    { "second", { "2,2" }, { .delimiter = LINES_BLANKS, .stable = true } },
    { "two keys", { "2,2", "1n" }, { .delimiter = LINES_BLANKS } },
    { "two keys,reverse", { "2,2r", "1,1nr" }, { .delimiter = ',', .letters = "r" } },
    { "zero", { "1.2,1.3" }, { .delimiter = ',', .zero = true } },
    { "fold,last resort", { 0 }, { .delimiter = LINES_BLANKS, .letters = "f" } },
    { "fields,fold,number", { "2,3fr", "1nr" }, { .delimiter = LINES_BLANKS } },
    { "number of a field", { "1n,1", "2,2nr" }, { .delimiter = ',', .stable = true } },
    { "blanks skipped", { "2b,2", "1b" }, { .delimiter = LINES_BLANKS, .letters = "r" } },
    { "csv,numbers", { "1n,1r", "2f" }, { .delimiter = LINES_BLANKS, .csv = true } },
    { "csv", { "2,2", "1,1n" }, { .delimiter = LINES_BLANKS, .csv = true } },
    { "csv,spans", { "1.2,2.2r" }, { .delimiter = LINES_BLANKS, .csv = true, .unique = true } },
};

enum { ORDERS = sizeof orders / sizeof *orders };

static struct lines_order *make_order(const struct order_words *from)
{
    char error[LINES_ERROR] = "";
    struct lines_words words = from->words;
    words.keys = from->keys;
    while (from->keys[words.n_keys]) words.n_keys++;
    struct lines_order *order = lines_order_new(&words, error);
    if (!order) test_fail(__FILE__, __LINE__, "%s: %s", from->id, error);
    return order;
}

enum text { RANDOM_BYTES, FEW_VALUES, LONG_PREFIX, NUMBERS, LONG_NUMBERS, LETTERS, QUOTES, TEXTS };
enum { MOST_RECORD = 256 };

static const char *const text_names[TEXTS] = { "bytes",        "few",     "prefix", "numbers",
                                               "long numbers", "letters", "quotes" };

/* Writes one record without its terminator; returns its length. */
static size_t make_record(enum text kind, struct rng *rng, char to[MOST_RECORD])
{
    static const char bytes[] = "ab \t,;\r\001\377A.~7";
    size_t n = 0;
    int written = 0, digits = 0;
    switch (kind) {
    case RANDOM_BYTES:
        for (size_t left = rng_below(rng, 12); left--;) to[n++] = bytes[rng_below(rng, 13)];
        return n;
    case FEW_VALUES:
        written =
            snprintf(to, MOST_RECORD, "%d,x%d y", (int)rng_below(rng, 3), (int)rng_below(rng, 2));
        break;
    case LONG_PREFIX:
        memset(to, 'p', 150);
        if (rng_below(rng, 50) == 0) return 150; /* only what all records have */
        written = 150 + snprintf(to + 150, MOST_RECORD - 150, "%d",
                                 (int)rng_below(rng, rng_below(rng, 2) ? 500 : 1000000));
        break;
    case NUMBERS:
        written = snprintf(to, MOST_RECORD, "%d.%d %d", (int)rng_below(rng, 2000) - 1000,
                           (int)rng_below(rng, 30), (int)rng_below(rng, 9));
        break;
    case LETTERS: /* large ties of the first word, which the second word divides */
        for (size_t left = 8 + rng_below(rng, 12); left--;) to[n++] = "ab"[rng_below(rng, 2)];
        return n;
    case LONG_NUMBERS: /* up to 40 characters, with zeros and a point anywhere */
        if (rng_below(rng, 2)) to[n++] = '-';
        digits = (int)rng_below(rng, 40);
        for (int i = 0; i < digits; i++)
            to[n++] = rng_below(rng, 15) ? (char)('0' + rng_below(rng, 10) % 4) : '.';
        written = (int)n;
        if (rng_below(rng, 2))
            written += snprintf(to + n, MOST_RECORD - n, ",%d Ab\001z", (int)rng_below(rng, 100));
        break;
    default:
        written = snprintf(to, MOST_RECORD, "%d,\"a%c%d\"\"\",z", (int)rng_below(rng, 50),
                           rng_below(rng, 2) ? '\n' : ',', (int)rng_below(rng, 5));
        break;
    }
    return (size_t)written;
}

/* n records; the last one without a terminator if n is odd. */
static char *make_text(const struct lines_order *order, enum text kind, size_t n, struct rng *rng,
                       size_t *bytes)
{
    char *text = malloc(n * (MOST_RECORD + 1) + 1);
    *bytes = 0;
    for (size_t i = 0; text && i < n; i++) {
        *bytes += make_record(kind, rng, text + *bytes);
        if (i + 1 < n || n % 2 == 0) text[(*bytes)++] = lines_terminator(order);
    }
    return text;
}

/* ---- Checks ---- */

struct record {
    const char *text;
    size_t bytes, number;
};

static const struct lines_order *order_now; /* of compare_records() */

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    const int order = lines_compare(order_now, a->text, a->bytes, b->text, b->bytes);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Splits a block one record after the other. */
static struct record *split(const struct lines_order *order, const char *text, size_t bytes,
                            size_t *n)
{
    struct record *records = malloc((bytes + 1) * sizeof *records);
    *n = 0;
    for (size_t at = 0; records && at < bytes; ++*n) {
        const size_t next = lines_next(order, text + at, bytes - at);
        records[*n] = (struct record){ text + at, lines_body(order, text + at, next), *n };
        at += next;
    }
    return records;
}

static size_t drop_equal(struct record *records, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        if (!to || lines_compare(order_now, records[to - 1].text, records[to - 1].bytes,
                                 records[i].text, records[i].bytes) != 0)
            records[to++] = records[i];
    return to;
}

/* The sign of memcmp() of two full keys, and of two prefixes, must be that of lines_compare(). */
static void check_keys(const struct record *a, const struct record *b)
{
    enum { MOST = 8 * MOST_RECORD };
    unsigned char x[MOST], y[MOST], part[16];
    const size_t x_bytes = lines_full_key(order_now, a->text, a->bytes, x, MOST);
    const size_t y_bytes = lines_full_key(order_now, b->text, b->bytes, y, MOST);
    if (!CHECK(x_bytes <= MOST && y_bytes <= MOST)) return;
    int want = lines_compare(order_now, a->text, a->bytes, b->text, b->bytes);
    int got = memcmp(x, y, x_bytes < y_bytes ? x_bytes : y_bytes);
    if (got == 0) got = (x_bytes > y_bytes) - (x_bytes < y_bytes);
    CHECK_INT((got > 0) - (got < 0), (want > 0) - (want < 0));
    const uint64_t p = lines_prefix(order_now, a->text, a->bytes);
    const uint64_t q = lines_prefix(order_now, b->text, b->bytes);
    if (p != q) CHECK_INT(p < q, want < 0);
    /* A short buffer receives the first bytes of the same key. */
    CHECK_INT(lines_full_key(order_now, a->text, a->bytes, part, sizeof part), x_bytes);
    CHECK(memcmp(part, x, x_bytes < sizeof part ? x_bytes : sizeof part) == 0);
}

/* Gathers the output in pieces and compares it with the records. */
static void check_output(const struct lines_sorted *sorted, const struct record *records, size_t n,
                         struct rng *rng)
{
    struct lines_cursor cursor = { 0 };
    size_t at = 0, want = 0;
    char *out = malloc((size_t)sorted->out_bytes + 1);
    if (!CHECK(out != NULL)) return;
    for (size_t got; (got = lines_gather(sorted, &cursor, out + at,
                                         rng_below(rng, sorted->out_bytes / 3 + 2) + 1, 2));)
        at += got;
    CHECK_INT(at, sorted->out_bytes);
    bool same = true;
    for (size_t i = 0; i < n && same; i++) {
        same = want + records[i].bytes + 1 <= at &&
               memcmp(out + want, records[i].text, records[i].bytes) == 0 &&
               out[want + records[i].bytes] == lines_terminator(order_now);
        want += records[i].bytes + 1;
    }
    CHECK(same && want == at);
    free(out);
}

/* Lengths and prefixes must be those of functions for one record. */
static void check_scan(const char *text, size_t bytes, const struct record *records, size_t n)
{
    enum { MOST = 100 };
    uint32_t lengths[MOST], others[MOST];
    uint64_t prefixes[MOST];
    size_t done = 0, at = 0;
    bool same = true;
    while (at < bytes && same) {
        const size_t got = lines_scan(order_now, text + at, bytes - at, MOST, lengths, prefixes);
        if (!CHECK_INT(got, n - done < MOST ? n - done : MOST)) return;
        CHECK_INT(lines_scan(order_now, text + at, bytes - at, MOST, others, NULL), got);
        for (size_t i = 0; i < got && same; i++, done++) {
            same = text + at == records[done].text && lengths[i] == others[i] &&
                   prefixes[i] == lines_prefix(order_now, records[done].text, records[done].bytes);
            at += lengths[i];
        }
    }
    CHECK(same && done == n);
}

static void check_block(ech_ctx *ctx, const char *text, size_t bytes, struct rng *rng)
{
    struct lines_sorted sorted;
    char error[LINES_ERROR] = "";
    size_t n;
    struct record *records = split(order_now, text, bytes, &n);
    if (!CHECK(records != NULL)) return;
    CHECK_INT(lines_count(order_now, text, bytes, 2), n);
    const bool ended = n && records[n - 1].text + records[n - 1].bytes < text + bytes;
    const size_t complete = n && !ended ? (size_t)(records[n - 1].text - text) : bytes;
    CHECK_INT(lines_complete(order_now, text, bytes, 2, NULL), complete);
    check_scan(text, bytes, records, n);
    qsort(records, n, sizeof *records, compare_records);
    for (size_t i = 1; i < n && i < 300; i++) {
        check_keys(&records[i - 1], &records[i]);
        check_keys(&records[rng_below(rng, n)], &records[i]);
    }
    const size_t kept = lines_is_unique(order_now) ? drop_equal(records, n) : n;
    if (CHECK_STATUS(lines_sort(ctx, order_now, text, bytes, 2, &sorted, error), ECH_OK)) {
        CHECK_INT(sorted.n, kept);
        CHECK_INT(sorted.n_read, n);
        for (size_t i = 0; i < kept && i < sorted.n; i++) {
            size_t got;
            const char *record = lines_record(&sorted, i, &got);
            /* If few records differ, one stands for all with the same bytes. */
            if (!sorted.copy && !CHECK_INT(record - text, records[i].text - text)) break;
            if (!CHECK_INT(got, records[i].bytes)) break;
            if (!CHECK(memcmp(record, records[i].text, got) == 0)) break;
        }
        check_output(&sorted, records, kept, rng);
        lines_free(&sorted);
    }
    free(records);
}

/* Blocks in which few records differ, for orders in which equal records have the same bytes, and
 * for others. */
static void repeats(ech_ctx *ctx)
{
    for (int o = 0; o < ORDERS; o++) {
        enum { RECORDS = 20000 };
        if (!test_begin("repeats(%s)", orders[o].id)) continue;
        struct rng rng = { (uint64_t)o + 77 };
        struct lines_order *order = make_order(&orders[o]);
        size_t bytes = 0;
        char *text = order ? make_text(order, FEW_VALUES, RECORDS, &rng, &bytes) : NULL;
        const struct lines_words *words = &orders[o].words;
        order_now = order;
        if (CHECK(text != NULL)) {
            struct lines_sorted sorted;
            char error[LINES_ERROR];
            check_block(ctx, text, bytes, &rng);
            CHECK_STATUS(lines_sort(ctx, order, text, bytes, 2, &sorted, error), ECH_OK);
            const bool total = !orders[o].keys[0] && !words->letters;
            if (lines_has_last_resort(order) || total) CHECK(sorted.copy != NULL);
            if (orders[o].keys[0] && words->stable) CHECK(sorted.copy == NULL);
            lines_free(&sorted);
        }
        free(text);
        lines_order_free(order);
        test_end();
    }
}

static void sorts(ech_ctx *ctx)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 50, 2000, 40001 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int o = 0; o < ORDERS; o++)
        for (int kind = 0; kind < TEXTS; kind++)
            for (int s = 0; s < SIZES; s++) {
                const uint64_t number = (uint64_t)((o * TEXTS + kind) * SIZES + s);
                if (sizes[s] > 2000 && !test_drawn(number, false)) continue;
                if (kind == LETTERS && sizes[s] < 2000) continue; /* ties are small */
                if (!test_begin("sort(%s,%s,n=%zu)", orders[o].id, text_names[kind], sizes[s]))
                    continue;
                struct rng rng = { number + 1 };
                struct lines_order *order = make_order(&orders[o]);
                size_t bytes = 0;
                char *text =
                    order ? make_text(order, (enum text)kind, sizes[s], &rng, &bytes) : NULL;
                order_now = order;
                if (CHECK(text != NULL)) check_block(ctx, text, bytes, &rng);
                free(text);
                lines_order_free(order);
                test_end();
            }
}

/* ---- Heads, columns by name, checks ---- */

static void heads(void)
{
    if (!test_begin("heads")) return;
    static const char text[] = "\xEF\xBB\xBFid,\"a\nb\"\n1,2\n";
    struct lines_words words = { .delimiter = LINES_BLANKS, .csv = true, .header = true };
    const char *keys[] = { "a\nb:n" };
    char error[LINES_ERROR] = "";
    bool whole;
    words.keys = keys;
    words.n_keys = 1;
    struct lines_order *order = lines_order_new(&words, error);
    if (CHECK(order != NULL)) {
        CHECK_INT(lines_head(order, text, sizeof text - 1, &whole), 12);
        CHECK(whole);
        CHECK_INT(lines_head(order, text, 9, &whole), 9);
        CHECK(!whole && lines_first_name(order));
        CHECK(lines_bind(order, text + 3, 8, error));
        CHECK(lines_compare(order, "1,10", 4, "2,9", 3) > 0);
        CHECK(!lines_bind(order, "id,b", 4, error));
        CHECK_TEXT(error, "has no column");
        CHECK(!lines_bind(order, "\"a\nb\",\"a\nb\"", 11, error));
        CHECK_TEXT(error, "is not unique");
    }
    lines_order_free(order);
    test_end();
}

static void unsorted(void)
{
    if (!test_begin("unsorted")) return;
    static const char text[] = "a 1\nb 1\nb 0\nb 0";
    char error[LINES_ERROR];
    uint64_t number;
    struct lines_words words = { .delimiter = LINES_BLANKS };
    struct lines_order *order = lines_order_new(&words, error);
    CHECK_INT(lines_unsorted(order, NULL, 0, text, sizeof text - 1, &number), 8);
    CHECK_INT(number, 2);
    CHECK_INT(lines_unsorted(order, "c", 1, text, sizeof text - 1, &number), 0);
    CHECK_INT(lines_unsorted(order, "a", 1, text, 8, &number), 8);
    CHECK_INT(number, 2);
    lines_order_free(order);
    words.unique = true;
    order = lines_order_new(&words, error);
    CHECK_INT(lines_unsorted(order, NULL, 0, text + 8, 7, &number), 4);
    lines_order_free(order);
    test_end();
}

/* ---- Errors ---- */

static void errors(void)
{
    static const struct {
        const char *key, *letters, *message;
    } cases[] = {
        { "0", "", "field is 0" },
        { "1.0", "", "first character is 0" },
        { "1.", "", "missing after the point" },
        { "1,", "", "missing after the comma" },
        { "1,0", "", "field is 0" },
        { "1,2.", "", "missing after the point" },
        { "1x", "", "unexpected \"x\"" },
        { "1nM", "", "n and M cannot be combined" },
        { "1dg", "", "d and g cannot be combined" },
        { "", "", "neither" },
        { "price", "", "names need --header" },
        { "a:x", "", "add another colon" },
        { "1", "nV", "V and n cannot be combined" },
        { "1", "q", "letter \"q\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!test_begin("error(%s,%s)", cases[i].key, cases[i].letters)) continue;
        char error[LINES_ERROR] = "";
        struct lines_words words = { .keys = &cases[i].key,
                                     .n_keys = 1,
                                     .letters = cases[i].letters,
                                     .delimiter = LINES_BLANKS };
        struct lines_order *order = lines_order_new(&words, error);
        CHECK(order == NULL);
        CHECK_TEXT(error, cases[i].message);
        lines_order_free(order);
        test_end();
    }
}

int main(int argc, char **argv)
{
    ech_ctx *ctx;
    test_main(argc, argv);
    if (ech_open(&ctx, "cpu") != ECH_OK) return 1;
    ech_set_threads(ctx, 2);
    sorts(ctx);
    repeats(ctx);
    heads();
    unsorted();
    errors();
    ech_close(ctx);
    return test_finish();
}
