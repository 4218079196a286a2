/*
 * test_files.c - the external sort (src/files) with a memory budget that is a small part of the
 * file, so that blocks, bins, several levels and streams occur with short files.
 *
 * Numbers are compared with ech_sort(), records with a stable sort of this file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "files/files.h"
#include "files/transfer.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/dev/shm/test_files.XXXXXX"; /* where fsync() costs nothing */
static char input_path[3][64], output_path[64];
static ech_ctx *ctx;
static uint64_t case_number;

/* How a case is run. */
struct way {
    const char *transfers;
    size_t budget; /* beyond what is fixed; 0: all */
    int inputs;    /* files into which the data is divided */
    bool stream, direct, unique, verify;
    int directories;
};

static const struct way ways[] = {
    { "io_uring", 240 << 10, 1, false, false, false, true, 1 },
    { "threads", 340 << 10, 3, false, true, false, true, 2 },
    { "none", 240 << 10, 1, true, false, false, true, 1 },
    { "threads", 290 << 10, 2, true, false, true, true, 1 },
    { NULL, 0, 1, false, false, false, true, 1 },
    { NULL, 0, 2, true, false, true, false, 1 },
    { "io_uring", 230 << 10, 2, false, true, true, false, 1 },
    { "none", 440 << 10, 3, false, false, true, true, 2 },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- Files ---- */

static bool write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    const bool good = fwrite(bytes, 1, n, file) == n;
    return fclose(file) == 0 && good;
}

static unsigned char *read_file(const char *path, size_t *n)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    unsigned char *bytes =
        fstat(fileno(file), &about) == 0 ? malloc((size_t)about.st_size + 1) : NULL;
    *n = bytes ? fread(bytes, 1, (size_t)about.st_size, file) : 0;
    fclose(file);
    return bytes;
}

static int count_files(void)
{
    char command[128];
    int n = -1;
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *pipe = popen(command, "r");
    if (!pipe) return -1;
    if (fscanf(pipe, "%d", &n) != 1) n = -1;
    pclose(pipe);
    return n;
}

/* ---- A run ---- */

struct sources {
    struct io_source sources[3];
    struct files_input inputs[3];
    int count;
};

/* Writes the data, divided between units, to files and opens them. */
static bool open_inputs(struct sources *s, const struct way *way, const unsigned char *data,
                        size_t n, size_t unit)
{
    struct io_error error;
    size_t at = 0;
    s->count = way->inputs;
    for (int i = 0; i < s->count; i++) {
        size_t end = i + 1 == s->count ? n : n / 3 * (size_t)(i + 1) / unit * unit;
        /* The other files of text end in a newline. */
        while (unit == 1 && end > at && end < n && data[end - 1] != '\n') end--;
        if (!write_file(input_path[i], data + at, end - at)) return false;
        if (io_open(&s->sources[i], input_path[i], &error) != IO_OK) return false;
        s->inputs[i] =
            (struct files_input){ .name = input_path[i],
                                  .fd = way->stream && i == s->count - 1 ? -1 : s->sources[i].fd,
                                  .bytes = end - at,
                                  .stream = &s->sources[i] };
        at = end;
    }
    return true;
}

static bool has_uring(void)
{
    struct files_queue *queue = files_queue_open("io_uring");
    files_queue_close(queue);
    return queue != NULL;
}

/* Sorts data to a file.  unit: the bytes of a record; 1 for text. */
static bool run_way(const struct files_kind *kind, const struct way *way, const unsigned char *data,
                    size_t n, size_t unit, struct files_sort *sort)
{
    static const char *directories[2] = { "/tmp", folder };
    struct sources sources;
    struct io_output output;
    struct io_error error = { "" };
    if (way->transfers && strcmp(way->transfers, "io_uring") == 0 && !has_uring()) {
        test_skip("the system does not permit io_uring");
        return false;
    }
    if (!CHECK(open_inputs(&sources, way, data, n, unit))) return false;
    *sort = (struct files_sort){ .kind = kind,
                                 .inputs = sources.inputs,
                                 .input_count = sources.count,
                                 .directories = directories,
                                 .directory_count = way->directories,
                                 .memory_bytes = (uint64_t)64 << 20,
                                 .threads = 2,
                                 .transfers = way->transfers,
                                 .unique = way->unique,
                                 .verify = way->verify,
                                 .direct = way->direct,
                                 .ctx = ctx,
                                 .device = "cpu" };
    io_status status = files_plan(sort, &error);
    if (status == IO_OK && way->budget) sort->memory_bytes = sort->plan.fixed_bytes + way->budget;
    if (status == IO_OK) status = io_create(&output, output_path, &error);
    if (status == IO_OK) {
        sort->output = &output;
        sort->output_is_file = true;
        status = files_sort(sort, &error);
        if (status == IO_OK) status = io_commit(&output, &error);
        io_discard(&output);
    }
    for (int i = 0; i < sources.count; i++) io_close(&sources.sources[i]);
    if (status != IO_OK) test_fail(__FILE__, __LINE__, "%s", error.text);
    return status == IO_OK;
}

static void check_output(const unsigned char *want, size_t want_bytes)
{
    size_t n = 0;
    unsigned char *got = read_file(output_path, &n);
    if (CHECK(got != NULL) && CHECK_INT(n, want_bytes)) {
        size_t at = 0;
        while (at < n && got[at] == want[at]) at++;
        CHECK_INT(at, n);
    }
    free(got);
}

/* ---- Data ---- */

static const char *const shapes[] = { "random", "sorted",   "reversed", "one", "few",
                                      "skewed", "clusters", "frequent", "ends" };
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A number of 64 bits for element i of n. */
static uint64_t shape(int which, struct rng *rng, size_t i, size_t n)
{
    const uint64_t r = rng_next(rng);
    switch (which) {
    case 0:
        return r;
    case 1:
        return (uint64_t)i * (UINT64_MAX / (n + 1));
    case 2:
        return (uint64_t)(n - i) * (UINT64_MAX / (n + 1));
    case 3:
        return UINT64_C(0x4142434445464748);
    case 4:
        return rng_below(rng, 5) << 60 | 17;
    case 5:
        return r >> rng_below(rng, 64);
    case 6:
        return (uint64_t)(i / 1000 % 7) << 61 | r >> 40;
    case 8: /* the bounds of the bins are almost 2^64 apart */
        return rng_below(rng, 2) ? UINT64_MAX - rng_below(rng, 3) : rng_below(rng, 3);
    default:
        return rng_below(rng, 10) < 7 ? UINT64_C(3) << 40 : r;
    }
}

/* ---- Numbers ---- */

static size_t drop_equal(unsigned char *keys, size_t n, ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    const struct io_order order = { .dtype = dtype, .merged = true };
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *key = keys + i * bytes;
        if (kept && io_rank(&order, key) == io_rank(&order, keys + (kept - 1) * bytes)) continue;
        memmove(keys + kept++ * bytes, key, bytes);
    }
    return kept;
}

static void numbers_case(ech_dtype dtype, int which, size_t n, bool descending, int way_number)
{
    struct way way = ways[way_number];
    const size_t bytes = ech_dtype_bytes(dtype);
    struct files_numbers numbers;
    struct files_sort sort;
    const ech_sort_options options = { .size = sizeof options, .descending = descending };
    if (way.budget && bytes < 4) way.budget += 800 << 10; /* for the counts */
    if (!test_drawn(case_number++, false)) return;
    if (!test_begin("numbers(%s,%s,n=%zu,%s,way=%d)", ech_dtype_name(dtype), shapes[which], n,
                    descending ? "desc" : "asc", way_number))
        return;
    struct rng rng = { hash_text(shapes[which]) + n };
    unsigned char *data = malloc(n * bytes + 1), *want = malloc(n * bytes + 1);
    if (data && want) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t x = shape(which, &rng, i, n);
            io_store(data + i * bytes, bytes, x >> (64 - 8 * bytes));
        }
        files_numbers_init(&numbers, dtype, &options, false, false, "cpu");
        ech_sort(ctx, data, want, n, dtype, &options);
        const size_t kept = way.unique ? drop_equal(want, n, dtype) : n;
        if (run_way(&numbers.kind, &way, data, n * bytes, bytes, &sort)) {
            check_output(want, kept * bytes);
            CHECK_INT(sort.records, n);
            CHECK_INT(sort.written, kept);
        }
    }
    free(data);
    free(want);
    test_end();
}

static void argsort_case(ech_dtype dtype, int which, size_t n, int way_number)
{
    struct way way = ways[way_number];
    const size_t bytes = ech_dtype_bytes(dtype);
    struct files_numbers numbers;
    struct files_sort sort;
    const ech_sort_options options = { .size = sizeof options };
    way.unique = false;
    if (way.budget) way.budget += 300 << 10; /* its workspace is larger */
    if (!test_drawn(case_number++, false)) return;
    if (!test_begin("argsort(%s,%s,n=%zu,way=%d)", ech_dtype_name(dtype), shapes[which], n,
                    way_number))
        return;
    struct rng rng = { hash_text(shapes[which]) + n };
    unsigned char *data = malloc(n * bytes + 1);
    uint64_t *want = malloc((n + 1) * sizeof *want);
    if (data && want) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t x = shape(which, &rng, i, n);
            io_store(data + i * bytes, bytes, x >> (64 - 8 * bytes));
        }
        files_numbers_init(&numbers, dtype, &options, true, false, "cpu");
        ech_argsort(ctx, data, want, n, dtype, ECH_U64, &options);
        if (run_way(&numbers.kind, &way, data, n * bytes, bytes, &sort))
            check_output((unsigned char *)want, n * sizeof *want);
    }
    free(data);
    free(want);
    test_end();
}

/* ---- Records ---- */

static const unsigned char *sorted_records;
static size_t sorted_bytes;

/* By 10 bytes at 3 and then by the byte at 0, descending; then by position. */
static int compare_records(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const unsigned char *x = sorted_records + i * sorted_bytes;
    const unsigned char *y = sorted_records + j * sorted_bytes;
    const int c = memcmp(x + 3, y + 3, 10);
    if (c) return c;
    if (x[0] != y[0]) return x[0] > y[0] ? -1 : 1;
    return i < j ? -1 : 1;
}

static size_t make_expected(const unsigned char *data, size_t n, size_t bytes, bool unique,
                            unsigned char *want)
{
    size_t *index = malloc((n + 1) * sizeof *index), kept = 0;
    if (!index) return 0;
    for (size_t i = 0; i < n; i++) index[i] = i;
    sorted_records = data;
    sorted_bytes = bytes;
    qsort(index, n, sizeof *index, compare_records);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *record = data + index[i] * bytes, *last = want + (kept - 1) * bytes;
        if (unique && kept && memcmp(record + 3, last + 3, 10) == 0 && record[0] == last[0])
            continue;
        memcpy(want + kept++ * bytes, record, bytes);
    }
    free(index);
    return kept;
}

static void records_case(size_t bytes, int which, size_t n, int way_number)
{
    const struct way *way = &ways[way_number];
    struct files_records records;
    struct files_sort sort;
    const ech_record_key keys[2] = {
        { .size = sizeof *keys, .offset_bytes = 3, .kind = ECH_KEY_BYTES, .width_bytes = 10 },
        { .size = sizeof *keys, .offset_bytes = 0, .dtype = ECH_U8, .descending = 1 }
    };
    const ech_columns_options options = { .size = sizeof options };
    if (!test_drawn(case_number++, false)) return;
    if (!test_begin("records(%zu,%s,n=%zu,way=%d)", bytes, shapes[which], n, way_number)) return;
    struct rng rng = { hash_text(shapes[which]) + n };
    unsigned char *data = malloc(n * bytes + 1), *want = malloc(n * bytes + 1);
    if (data && want) {
        for (size_t i = 0; i < n; i++) {
            unsigned char *record = data + i * bytes;
            for (size_t j = 0; j < bytes; j++) record[j] = (unsigned char)(i >> 8 * (j % 3));
            const uint64_t x = shape(which, &rng, i, n);
            for (size_t j = 0; j < 8; j++) record[3 + j] = (unsigned char)(x >> 8 * (7 - j));
            record[11] = record[12] = (unsigned char)(x % 3);
            record[0] = (unsigned char)rng_below(&rng, 4);
        }
        files_records_init(&records, bytes, keys, 2, &options, "cpu");
        const size_t kept = make_expected(data, n, bytes, way->unique, want);
        if (run_way(&records.kind, way, data, n * bytes, bytes, &sort))
            check_output(want, kept * bytes);
    }
    free(data);
    free(want);
    test_end();
}

/* ---- Lines ---- */

struct line {
    const unsigned char *at;
    size_t bytes, number;
};

/* By their bytes, then by position. */
static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const size_t n = x->bytes < y->bytes ? x->bytes : y->bytes;
    const int c = memcmp(x->at, y->at, n);
    if (c) return c;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Sorts the lines of data; the last one may lack its newline. */
static size_t sort_lines(const unsigned char *data, size_t n, bool unique, unsigned char *want)
{
    size_t count = 0, used = 0;
    for (size_t i = 0; i < n; i++) count += data[i] == '\n';
    struct line *lines = malloc((count + 2) * sizeof *lines);
    if (!lines) return 0;
    count = 0;
    for (size_t at = 0; at < n; count++) {
        const unsigned char *end = memchr(data + at, '\n', n - at);
        const size_t bytes = end ? (size_t)(end - data) - at : n - at;
        lines[count] = (struct line){ data + at, bytes, count };
        at += bytes + 1;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &lines[i], *last = line - 1;
        if (unique && i && last->bytes == line->bytes &&
            memcmp(last->at, line->at, line->bytes) == 0)
            continue;
        memcpy(want + used, line->at, line->bytes);
        used += line->bytes;
        want[used++] = '\n';
    }
    free(lines);
    return used;
}

static const char *const texts[] = { "words", "equal", "empty", "long", "common", "sorted" };
enum { TEXTS = sizeof texts / sizeof *texts };

/* Writes line i of a text of this shape; returns its length without a newline. */
static size_t make_line(int which, struct rng *rng, size_t i, unsigned char *to)
{
    char number[32];
    size_t n = rng_below(rng, 30);
    if (which == 1) n = 12;
    if (which == 2) n = rng_below(rng, 3) ? 0 : 1;
    if (which == 3 && rng_below(rng, 500) == 0) n = 20000 + rng_below(rng, 20000);
    for (size_t j = 0; j < n; j++)
        to[j] = which == 1 ? 'x' : (unsigned char)('a' + rng_below(rng, which == 4 ? 2 : 26));
    if (which == 4) memset(to, 'p', n < 14 ? n : 14);
    if (which != 5) return n;
    n = (size_t)snprintf(number, sizeof number, "%012zu", i);
    memcpy(to, number, n);
    return n;
}

static void lines_case(int which, size_t n, int way_number)
{
    struct way way = ways[way_number];
    const struct lines_words words = { .delimiter = LINES_BLANKS, .unique = way.unique };
    const size_t room = n * 40 + 1000000;
    struct files_lines lines;
    struct files_sort sort;
    char message[LINES_ERROR];
    if (!test_drawn(case_number++, n < 2)) return;
    if (!test_begin("lines(%s,n=%zu,way=%d)", texts[which], n, way_number)) return;
    struct rng rng = { hash_text(texts[which]) + n };
    struct lines_order *order = lines_order_new(&words, message);
    unsigned char *data = malloc(room + n * (which == 3 ? 100 : 0)), *want = NULL;
    size_t bytes = 0;
    for (size_t i = 0; data && i < n; i++) {
        bytes += make_line(which, &rng, i, data + bytes);
        if (i + 1 < n || which % 2) data[bytes++] = '\n';
    }
    want = malloc(bytes + 2);
    if (CHECK(data && want && order)) {
        if (way.budget) way.budget += 15 << 20; /* what the sort of a block needs at least */
        files_lines_init(&lines, order, false, 2);
        const size_t want_bytes = sort_lines(data, bytes, way.unique, want);
        if (run_way(&lines.kind, &way, data, bytes, 1, &sort)) check_output(want, want_bytes);
    }
    lines_order_free(order);
    free(data);
    free(want);
    test_end();
}

/* ---- A column of text ---- */

enum { ROW_BYTES = 30 };

/* By the number in column 2, then by position, which is in column 1. */
static int compare_rows(const void *a, const void *b)
{
    const char *x = a, *y = b;
    const long long i = strtoll(x + 8, NULL, 10), j = strtoll(y + 8, NULL, 10);
    return i != j ? (i < j ? -1 : 1) : memcmp(x, y, 7);
}

static void column_case(int which, size_t n, int way_number)
{
    struct way way = ways[way_number];
    const ech_sort_options options = { .size = sizeof options };
    const struct io_cut column_2 = { 2, ',' };
    struct files_column column;
    struct files_sort sort;
    if (!test_drawn(case_number++, false)) return;
    if (!test_begin("column(%s,n=%zu,way=%d)", shapes[which], n, way_number)) return;
    struct rng rng = { hash_text(shapes[which]) + n };
    char *data = malloc(n * ROW_BYTES + 1), *want = malloc(n * ROW_BYTES + 1);
    if (CHECK(data && want)) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            snprintf(data + i * ROW_BYTES, ROW_BYTES + 1, "%07zu,%21lld\n", i % 10000000,
                     (long long)(int64_t)shape(which, &rng, i, n));
        memcpy(want, data, n * ROW_BYTES);
        qsort(want, n, ROW_BYTES, compare_rows);
        for (size_t i = 0; i < n; i++) {
            const char *row = want + i * ROW_BYTES, *last = want + (kept - 1) * ROW_BYTES;
            if (way.unique && kept && memcmp(row + 8, last + 8, ROW_BYTES - 8) == 0) continue;
            memmove(want + kept++ * ROW_BYTES, row, ROW_BYTES);
        }
        files_column_init(&column, &column_2, which % 2 ? ',' : 0, ECH_I64, &options, "cpu");
        const unsigned char *text = (const unsigned char *)data;
        if (run_way(&column.kind, &way, text, n * ROW_BYTES, 1, &sort))
            check_output((const unsigned char *)want, kept * ROW_BYTES);
    }
    free(data);
    free(want);
    test_end();
}

/* A line that no block can hold is an error that states what helps. */
static void long_line_case(void)
{
    const struct lines_words words = { .delimiter = LINES_BLANKS };
    const size_t n = (size_t)24 << 20;
    struct files_lines lines;
    char message[LINES_ERROR];
    if (!test_begin("a line that is longer than a block")) return;
    struct lines_order *order = lines_order_new(&words, message);
    unsigned char *data = calloc(n, 1);
    if (CHECK(order && data) && CHECK(write_file(input_path[0], data, n))) {
        struct io_source source;
        struct io_error error = { "" };
        struct io_output output;
        const char *directories[1] = { folder };
        data[n / 2] = '\n';
        files_lines_init(&lines, order, false, 2);
        CHECK(io_open(&source, input_path[0], &error) == IO_OK);
        const struct files_input input = { .name = input_path[0], .fd = source.fd, .bytes = n };
        struct files_sort sort = { .kind = &lines.kind,
                                   .inputs = &input,
                                   .input_count = 1,
                                   .directories = directories,
                                   .directory_count = 1,
                                   .memory_bytes = (uint64_t)16 << 20,
                                   .ctx = ctx,
                                   .device = "cpu" };
        if (CHECK(io_create(&output, output_path, &error) == IO_OK)) {
            sort.output = &output;
            CHECK(files_sort(&sort, &error) == IO_FAIL);
            CHECK_TEXT(error.text, "budget");
            io_discard(&output);
        }
        io_close(&source);
    }
    lines_order_free(order);
    free(data);
    test_end();
}

/* ---- All cases ---- */

static void all_numbers(void)
{
    static const size_t sizes[] = { 0, 1, 2, 1000, 60001 };
    for (int way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int which = 0; which < SHAPES; which++) {
                const ech_dtype dtype = (ech_dtype)((which + way * 5 + (int)i) % 12);
                if (sizes[i] < 1000 && which) continue;
                numbers_case(dtype, which, sizes[i], which % 2 != 0, way);
            }
        for (int dtype = 0; dtype < 12; dtype++) {
            const bool wide = ech_dtype_bytes((ech_dtype)dtype) > 2;
            numbers_case((ech_dtype)dtype, 0, wide ? 80003 : 200007, false, way);
        }
        argsort_case(ECH_F32, way % SHAPES, 50001, way);
        argsort_case(ECH_U8, 0, 50001, way);
    }
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    if (access("/dev/shm", W_OK) != 0) memcpy(folder, "/tmp/./.", 8);
    if (ech_open(&ctx, "cpu") != ECH_OK || !mkdtemp(folder)) return 1;
    for (int i = 0; i < 3; i++) snprintf(input_path[i], sizeof *input_path, "%s/in%d", folder, i);
    snprintf(output_path, sizeof output_path, "%s/out", folder);
    all_numbers();
    for (int way = 0; way < WAYS; way++)
        for (int which = 0; which < SHAPES; which++)
            records_case(which % 2 ? 100 : 24, which, which % 2 ? 6001 : 30001, way);
    for (int way = 0; way < WAYS; way++)
        for (int which = 0; which < SHAPES; which++) column_case(which, 8001, way);
    for (int way = 0; way < WAYS; way++)
        for (int which = 0; which < TEXTS; which++) {
            lines_case(which, (which + way) % 3 ? 40001 : 100001, way);
            if (which < 2) lines_case(which, (size_t)which, way);
        }
    long_line_case();
    if (test_begin("no temporary file remains")) {
        CHECK(count_files() <= 4);
        test_end();
    }
    for (int i = 0; i < 3; i++) remove(input_path[i]);
    remove(output_path);
    rmdir(folder);
    ech_close(ctx);
    return test_finish();
}
