/*
 * test_histogram.c - histograms, compared with an oracle, on every device with every algorithm.
 *
 *     test_histogram                          every case on every device
 *     test_histogram --device simt --quick    one of seven cases, only small ones
 *     test_histogram 'histogram(even,f32'     cases with this prefix
 *
 * ech_histogram_explain() lists the algorithms. Invalid arguments and failing allocations are in
 * test_histogram_api.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram_case.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES = 16, ALGORITHMS = 8, NAME_BYTES = 32, EMULATOR_N = 70000 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void case_id(const struct histogram_case *c, char *text, size_t capacity_bytes)
{
    static const char *const kinds[] = { "even", "edges", "bincount", "2d" };
    static const char *const outsides[] = { "drop", "clamp", "count" };
    int used = snprintf(text, capacity_bytes, "histogram(%s,%s,n=%zu,bins=%zu", kinds[c->kind],
                        ech_dtype_name(c->dtype), c->n, c->bins);
    if (c->kind == PAIRS)
        used += snprintf(text + used, capacity_bytes - (size_t)used, "x%zu", c->y_bins);
    if (c->kind != COUNT)
        used += snprintf(text + used, capacity_bytes - (size_t)used, ",%g..%g", c->lower, c->upper);
    if (c->channels)
        used += snprintf(text + used, capacity_bytes - (size_t)used, ",c=%d", c->channels);
    if (c->weighted)
        used += snprintf(text + used, capacity_bytes - (size_t)used, ",w=%s",
                         ech_dtype_name(c->weights));
    snprintf(text + used, capacity_bytes - (size_t)used, ",%s%s%s,dist=%s)", outsides[c->outside],
             c->closed ? ",closed" : "", c->add ? ",add" : "", c->dist);
}

/* Lists the algorithms for a histogram like c. The first is "", the library's choice. */
static int find_algorithms(const char *device, const struct histogram_case *c,
                           char names[ALGORITHMS][NAME_BYTES])
{
    char text[4096];
    int count = 1;
    uint64_t no_weights = 0;
    ech_histogram_options options = histogram_options(c, NULL);
    size_t bins = (c->kind == PAIRS ? c->bins * c->y_bins : c->bins) *
                  (c->channels ? (size_t)c->channels : 1);
    if (c->weighted) options.weights = &no_weights;
    CHECK_STATUS(ech_histogram_explain(device, c->n, c->dtype, bins, &options, ECH_FORMAT_TEXT,
                                       text, sizeof text),
                 ECH_OK);
    names[0][0] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (count < ALGORITHMS && (sscanf(line, "algorithm %31[a-z]", names[count]) == 1 ||
                                   sscanf(line, "alternative %31[a-z]", names[count]) == 1))
            count++;
    CHECK(count > 1);
    return count;
}

static struct ran {
    const char *device;
    char name[NAME_BYTES];
    int cases;
} ran[DEVICES * ALGORITHMS];

static void count_run(const char *device, const char *algorithm)
{
    for (size_t i = 0; i < sizeof ran / sizeof *ran; i++) {
        if (ran[i].cases == 0) {
            ran[i].device = device;
            snprintf(ran[i].name, sizeof ran[i].name, "%.31s", algorithm);
        }
        if (strcmp(ran[i].device, device) == 0 && strcmp(ran[i].name, algorithm) == 0) {
            ran[i].cases++;
            return;
        }
    }
}

static void run_case(const struct histogram_case *c)
{
    char id[256], names[ALGORITHMS][NAME_BYTES];
    case_id(c, id, sizeof id);
    uint64_t seed = hash_text(id);
    if (c->always ? !test_drawn_often(seed) : !test_drawn(seed, c->n <= EMULATOR_N)) return;
    if (!test_begin("%s", id)) return;
    struct histogram_data d;
    bool made = histogram_make(c, seed, &d);
    for (int i = 0; i < n_contexts; i++) {
        test_begin("%s", id);
        const char *device = ech_device_name(contexts[i]);
        int count = find_algorithms(device, c, names);
        for (int a = 0; a < count; a++) {
            if (a) test_begin("%s", id);
            count_run(device, names[a]);
            if (CHECK(made)) histogram_run(contexts[i], &d, a ? names[a] : NULL, seed);
            test_end();
        }
    }
    histogram_free(&d);
}

int main(int argc, char **argv)
{
    char name[64];
    test_main(argc, argv);
    for (; n_contexts < DEVICES && test_device(n_contexts, name, sizeof name); n_contexts++)
        if (ech_open(&contexts[n_contexts], name) != ECH_OK)
            return fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL)), 1;
    histogram_cases(run_case);
    for (size_t i = 0; i < sizeof ran / sizeof *ran && ran[i].cases && !test_options.list; i++)
        printf("%d cases on %s with %s\n", ran[i].cases, ran[i].device,
               *ran[i].name ? ran[i].name : "the library's choice");
    for (int i = 0; i < n_contexts; i++) {
        uint64_t now_bytes;
        ech_memory_usage(contexts[i], 0, &now_bytes, NULL);
        if (test_begin("memory(%s)", ech_device_name(contexts[i]))) {
            CHECK_INT(now_bytes, 0);
            test_end();
        }
        ech_close(contexts[i]);
    }
    return test_finish();
}
