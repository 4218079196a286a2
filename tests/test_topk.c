/*
 * test_topk.c - the k smallest or largest elements of arrays, rows and segments, compared with an
 * oracle, on every device with every algorithm.
 *
 *     test_topk                              every case on every device
 *     test_topk --device simt --quick        some of the cases, only small ones
 *     test_topk 'rows(f32,3x1000'            cases with this prefix
 *     test_topk --large --device cuda        more than 2^32 elements
 *
 * The oracle is that of sorts: a stable sort of each group, whose first k elements are expected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk_case.h"

#include <string.h>

enum { DEVICES = 16, ALGORITHMS = 12, NAME_BYTES = 64, SMALL = 40000, MANY = 50000 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* Lists the algorithms for a case. The first is "", the library's choice. */
static int find_algorithms(const char *device, const struct topk_data *d,
                           char names[ALGORITHMS][NAME_BYTES])
{
    char text[4096];
    size_t bytes;
    ech_topk_options options = topk_options(d, NULL);
    CHECK_STATUS(ech_topk_explain(device, topk_call(d->c), d->groups.n, d->groups.groups, d->c->k,
                                  d->c->groups.sort.dtype, &options, ECH_FORMAT_TEXT, text,
                                  sizeof text),
                 ECH_OK);
    int count = 1;
    names[0][0] = 0;
    for (char *word = strtok(text, " \t\n,;:()\""); word; word = strtok(NULL, " \t\n,;:()\"")) {
        bool known = strlen(word) >= NAME_BYTES || count == ALGORITHMS;
        for (int i = 1; i < count; i++) known |= strcmp(word, names[i]) == 0;
        options.algorithm = word;
        if (!known && topk_workspace(device, d, &options, &bytes) == ECH_OK)
            strcpy(names[count++], word);
    }
    CHECK(count > 1); /* at least the chosen one */
    return count;
}

/* On the CPU: the workspace of the context and of the caller, with 0 (all), 1, 2 and 3 threads. On
 * other devices also arrays in host memory. */
static void run_ways(ech_ctx *ctx, const struct topk_data *d, const char *algorithm, uint64_t seed)
{
    const bool cpu = test_is_cpu(ctx), many = d->groups.n > MANY;
    for (unsigned w = 0; w < 3; w++) {
        const struct topk_way way = { .own_work = w == 1,
                                      .host = w == 2,
                                      .threads = cpu ? (int)((seed / 7 + w) % 4) : 0 };
        if (!many || w == seed % 3) topk_run(ctx, d, algorithm, way, seed);
    }
}

static void run_case(const struct topk_case *c)
{
    char id[256], names[ALGORITHMS][NAME_BYTES];
    struct topk_data d;
    topk_case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    const size_t n = c->groups.lengths ? c->groups.n : c->groups.rows * c->groups.cols;
    if (!test_drawn(seed, n <= SMALL) || !test_begin("%s", id)) return;
    if (CHECK(topk_make(c, seed, &d)))
        for (int i = 0; i < n_contexts; i++) {
            const int count = find_algorithms(ech_device_name(contexts[i]), &d, names);
            for (int a = 0; a < count; a++) run_ways(contexts[i], &d, a ? names[a] : NULL, seed);
        }
    topk_free(&d);
    test_end();
}

/* On the CPU, the workspace for short rows does not grow with their number. */
static void row_workspace(void)
{
    size_t few, many;
    if (!test_begin("row_workspace()")) return;
    CHECK_STATUS(ech_topk_workspace("cpu", ECH_TOPK_CALL_ROWS, (size_t)1 << 26, 1 << 21, 8, ECH_U32,
                                    NULL, &few),
                 ECH_OK);
    CHECK_STATUS(ech_topk_workspace("cpu", ECH_TOPK_CALL_ROWS, (size_t)1 << 30, 1 << 25, 8, ECH_U32,
                                    NULL, &many),
                 ECH_OK);
    CHECK(few == many && many <= (size_t)2 << 20);
    CHECK_STATUS(ech_topk_workspace("cpu", ECH_TOPK_CALL_SEGMENTS, 1000, 0, 5, ECH_U32, NULL, &few),
                 ECH_OK);
    CHECK_INT(few, 0);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    for (int i = 0; i < n_contexts && test_options.large; i++) {
        topk_large(contexts[i]);
        topk_sampled_large(contexts[i]);
    }
    if (!test_options.large) topk_cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        uint64_t now_bytes;
        if (!test_options.large) topk_bad(contexts[i]);
        if (!test_options.large) topk_bad_groups(contexts[i]);
        if (!test_options.large) topk_sampled(contexts[i]);
        ech_memory_usage(contexts[i], 0, &now_bytes, NULL);
        if (test_begin("memory(%s)", ech_device_name(contexts[i]))) {
            CHECK_INT(now_bytes, 0);
            test_end();
        }
        ech_close(contexts[i]);
    }
    row_workspace();
    return test_finish();
}
