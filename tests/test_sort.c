/*
 * test_sort.c - sorts, sorts of pairs and argsorts, compared with an oracle, on every device with
 * every algorithm.
 *
 *     test_sort                              every case on every device
 *     test_sort --device cpu --quick         one of seven cases, only small ones
 *     test_sort --quick --every 21           one of 21 cases, only small ones
 *     test_sort --quick --every 21 --short   one of 168 of those with more than 5000 keys
 *     test_sort --one-way                    each case with one kind of memory, and each kind once
 *     test_sort --cover                      small cases that run something new
 *     test_sort 'sort(f32,n=1000003,v=8'     cases with this prefix; data depends only on the id
 *     test_sort --large --device cuda        n near 2^31 and 2^32
 *
 * ech_device_get() lists the devices. The algorithms are the words in the text of
 * ech_sort_explain() that a sort of this shape accepts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, ALGORITHMS = 16, NAME_BYTES = 64, SMALL = 20000, MEDIUM = 5000 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* ---- What can run ---- */

static bool open_device(const char *name)
{
    if (n_contexts == DEVICES) return true;
    if (ech_open(&contexts[n_contexts], name) != ECH_OK) {
        fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
        return false;
    }
    n_contexts++;
    return true;
}

static bool open_devices(void)
{
    char name[NAME_BYTES];
    for (int i = 0; test_device(i, name, sizeof name); i++)
        if (!open_device(name)) return false;
    return n_contexts > 0;
}

static bool accepts(const char *device, const struct sort_case *c, const char *algorithm)
{
    ech_sort_options options = { .size = sizeof options, .algorithm = algorithm };
    options.begin_bit = c->begin_bit;
    options.end_bit = c->end_bit;
    options.descending = c->descending;
    options.order = c->total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST;
    size_t bytes;
    if (c->index_bytes)
        return ech_argsort_workspace(device, c->n, c->dtype,
                                     c->index_bytes == 4 ? ECH_U32 : ECH_U64, &options,
                                     &bytes) == ECH_OK;
    return ech_sort_workspace(device, c->n, c->dtype, c->value_bytes, &options, &bytes) == ECH_OK;
}

/* Lists the algorithms that a sort like c accepts. The first is "", the library's choice. */
static int find_algorithms(const char *device, const struct sort_case *c,
                           char names[ALGORITHMS][NAME_BYTES])
{
    char text[4096];
    ech_status status =
        c->index_bytes
            ? ech_argsort_explain(device, c->n, c->dtype, c->index_bytes == 4 ? ECH_U32 : ECH_U64,
                                  NULL, ECH_FORMAT_TEXT, text, sizeof text)
            : ech_sort_explain(device, c->n, c->dtype, c->value_bytes, NULL, ECH_FORMAT_TEXT, text,
                               sizeof text);
    CHECK_STATUS(status, ECH_OK);
    int count = 1;
    names[0][0] = 0;
    for (char *word = strtok(text, " \t\n,;:()\""); word; word = strtok(NULL, " \t\n,;:()\"")) {
        bool known = strlen(word) >= NAME_BYTES || count == ALGORITHMS;
        for (int i = 1; i < count; i++) known |= strcmp(word, names[i]) == 0;
        if (!known && accepts(device, c, word)) strcpy(names[count++], word);
    }
    CHECK(count > 1); /* at least the chosen one */
    return count;
}

/* The number of cases per device and algorithm, printed at the end to show algorithms that no case
 * reaches. */
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
            snprintf(ran[i].name, sizeof ran[i].name, "%.*s", NAME_BYTES - 1, algorithm);
        }
        if (strcmp(ran[i].device, device) == 0 && strcmp(ran[i].name, algorithm) == 0) {
            ran[i].cases++;
            return;
        }
    }
}

static void print_runs(void)
{
    for (size_t i = 0; i < sizeof ran / sizeof *ran && ran[i].cases; i++)
        printf("%d cases on %s with %s\n", ran[i].cases, ran[i].device,
               *ran[i].name ? ran[i].name : "the library's choice");
}

/* ---- A case ---- */

/* Bytes that identify their position. */
static void fill_values(char *values, size_t n, size_t value_bytes)
{
    for (size_t i = 0; i < n; i++) {
        struct rng rng = { i };
        for (size_t b = 0; b < value_bytes; b += 8) {
            uint64_t word = rng_next(&rng);
            memcpy(values + i * value_bytes + b, &word, value_bytes - b < 8 ? value_bytes - b : 8);
        }
    }
}

static void gather(char *to, const char *from, const uint32_t *order, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + order[i] * bytes, bytes);
}

static void fill_index(char *index, const uint32_t *order, size_t n, int index_bytes)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t position = order[i];
        memcpy(index + i * (size_t)index_bytes, &position, (size_t)index_bytes);
    }
}

static bool make_data(const struct sort_case *c, uint64_t seed, struct sort_data *d)
{
    *d = (struct sort_data){ .c = c, .key_bytes = ech_dtype_bytes(c->dtype) };
    d->value_bytes = c->index_bytes ? (size_t)c->index_bytes : c->value_bytes;
    size_t widest = d->value_bytes > d->key_bytes ? d->value_bytes : d->key_bytes;
    uint32_t *order = malloc((c->n + 1) * sizeof *order);
    d->keys = malloc(c->n * d->key_bytes + 1);
    d->keys_sorted = malloc(c->n * d->key_bytes + 1);
    d->values_sorted = malloc(c->n * d->value_bytes + 1);
    d->got = malloc(c->n * widest + 1);
    if (c->value_bytes) d->values = malloc(c->n * c->value_bytes + 1);
    bool done = order && d->keys && d->keys_sorted && d->values_sorted && d->got &&
                (d->values || !c->value_bytes) && keys_fill(c, seed, d->keys) &&
                oracle_order(c, d->keys, order);
    if (done) {
        gather(d->keys_sorted, d->keys, order, c->n, d->key_bytes);
        if (d->values) {
            fill_values(d->values, c->n, c->value_bytes);
            gather(d->values_sorted, d->values, order, c->n, c->value_bytes);
        }
        if (c->index_bytes) fill_index(d->values_sorted, order, c->n, c->index_bytes);
    }
    free(order);
    return done;
}

static void free_data(struct sort_data *d)
{
    free(d->keys);
    free(d->values);
    free(d->keys_sorted);
    free(d->values_sorted);
    free(d->got);
}

static bool is_wanted(const struct sort_case *c, uint64_t seed)
{
    const struct test_options *o = &test_options;
    if (o->short_cases && o->quick && c->n > MEDIUM && seed / (unsigned)o->every % 8) return false;
    return o->cover ? c->n <= SMALL : test_drawn(seed, c->n <= SMALL);
}

/* Each device and algorithm counts as a case. The data and the expected result are created only
 * once. */
static void run_case(const struct sort_case *c)
{
    char id[256], names[ALGORITHMS][NAME_BYTES];
    sort_case_id(c, id, sizeof id);
    uint64_t seed = hash_text(id);
    if (!is_wanted(c, seed) || !test_begin("%s", id)) return;
    struct sort_data d;
    bool tried = false, made = false;
    for (int i = 0; i < n_contexts; i++) {
        const char *device = ech_device_name(contexts[i]);
        if (c->cpu_only && strcmp(device, "cpu") != 0) continue;
        test_begin("%s", id);
        int count = find_algorithms(device, c, names);
        for (int a = 0; a < count; a++) {
            unsigned ways = sort_ways(contexts[i], c, seed);
            if (test_options.one_way) ways = sort_one_way(c, names[a], ways);
            if (test_options.cover) ways = sort_cover(c, names[a], ways);
            if (!ways) continue;
            if (!tried) made = make_data(c, seed, &d);
            tried = true;
            test_begin("%s", id);
            count_run(device, names[a]);
            if (CHECK(made)) sort_run(contexts[i], &d, a ? names[a] : NULL, seed, ways);
            test_end();
        }
    }
    if (tried) free_data(&d);
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    if (!open_devices()) return 1;
    for (int i = 0; i < n_contexts && test_options.large; i++) sort_large(contexts[i]);
    if (!test_options.large) sort_cases(run_case);
    if (!test_options.list) print_runs();
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
