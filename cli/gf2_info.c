/*
 * gf2_info.c - the operations info and convert of "echelon gf2".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

#include <stdlib.h>

int verb_convert(struct gf2_job *job)
{
    return gf2_write(job, &job->a, false);
}

/* The number of ones, and the minimum and maximum per row and per column. */
struct spread {
    uint64_t ones, rows[2], columns[2];
};

static void widen(uint64_t range[2], uint64_t weight, bool first)
{
    if (first || weight < range[0]) range[0] = weight;
    if (first || weight > range[1]) range[1] = weight;
}

static int measure(struct gf2_job *job, struct spread *spread)
{
    const struct io_bits *a = &job->a;
    uint32_t *weights = calloc((size_t)a->cols + 1, sizeof *weights);
    if (!weights)
        return cli_fail(EXIT_MEMORY,
                        "%s: out of memory: cannot allocate %llu bytes for the column weights",
                        job->input[0], (unsigned long long)a->cols * sizeof *weights);
    for (uint64_t i = 0; a->cols && i < a->rows; i++) {
        uint64_t weight = io_bits_weight(a, i);
        spread->ones += weight;
        widen(spread->rows, weight, i == 0);
        for (uint64_t j = io_bits_next(a, i, 0); j < a->cols; j = io_bits_next(a, i, j + 1))
            weights[j]++;
    }
    for (uint64_t j = 0; j < a->cols; j++) widen(spread->columns, weights[j], j == 0);
    free(weights);
    return EXIT_DONE;
}

static void print_range(const char *what, const uint64_t range[2])
{
    if (range[0] == range[1])
        printf("%-8s %llu ones each\n", what, (unsigned long long)range[0]);
    else
        printf("%-8s %llu to %llu ones each\n", what, (unsigned long long)range[0],
               (unsigned long long)range[1]);
}

static void json_range(struct json *json, const char *key, const uint64_t range[2])
{
    json_open(json, key, '[');
    json_count(json, NULL, range[0]);
    json_count(json, NULL, range[1]);
    json_close(json, ']');
}

int verb_info(struct gf2_job *job)
{
    const struct io_bits *a = &job->a;
    struct spread spread = { 0 };
    uint32_t rank = 0;
    int code = measure(job, &spread);
    if (code == EXIT_DONE && job->words.rank) {
        ech_gf2 m = gf2_matrix(a);
        ech_status status = ech_gf2_rank(job->ctx, &m, &rank, &job->options);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    cli_progress_end(&job->progress);
    if (code != EXIT_DONE) return code;
    double cells = (double)a->rows * (double)a->cols;
    double density = cells > 0 ? (double)spread.ones / cells : 0;
    if (job->words.json) {
        struct json json = { .to = stdout };
        json_open(&json, NULL, '{');
        json_text(&json, "input", job->input[0]);
        json_text(&json, "format", io_bits_name(a->format));
        json_count(&json, "rows", a->rows);
        json_count(&json, "columns", a->cols);
        json_count(&json, "ones", spread.ones);
        json_number(&json, "density", density);
        json_range(&json, "row_weights", spread.rows);
        json_range(&json, "column_weights", spread.columns);
        if (job->words.rank) json_count(&json, "rank", rank);
        json_close(&json, '}');
        putchar('\n');
        return EXIT_DONE;
    }
    cli_print_name(stdout, job->input[0]);
    printf(": %llu rows, %llu columns (%s)\n", (unsigned long long)a->rows,
           (unsigned long long)a->cols, io_bits_name(a->format));
    printf("ones     %llu, density %.6g\n", (unsigned long long)spread.ones, density);
    print_range("rows", spread.rows);
    print_range("columns", spread.columns);
    if (job->words.rank) printf("rank     %u\n", (unsigned)rank);
    return EXIT_DONE;
}
