/*
 * test_sort_segments.c - sorts, sorts of pairs and argsorts of rows and segments, compared with an
 * oracle, on every device with every algorithm.
 *
 *     test_sort_segments                              every case on every device
 *     test_sort_segments --device simt --quick        some of the cases, only small ones
 *     test_sort_segments 'rows(f32,3x1000'            cases with this prefix
 *     test_sort_segments --large --device cuda        more than 2^32 elements
 *
 * The whole output is compared: elements between rows, and elements in no segment, must not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "segments_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, ALGORITHMS = 8, NAME_BYTES = 64, SMALL = 40000, MANY = 50000 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* ---- Calls ---- */

struct way {
    bool in_place, own_work, host;
    int threads;
};

struct arrays {
    struct buffer keys_in, keys_out, values_in, values_out, offsets, ends, work;
};

static ech_sort_options options_of(const struct segments_data *d, const char *algorithm)
{
    const struct sort_case *s = &d->c->sort;
    ech_sort_options options = { .size = sizeof options,
                                 .descending = s->descending,
                                 .order = s->total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST,
                                 .begin_bit = s->begin_bit,
                                 .end_bit = s->end_bit,
                                 .algorithm = algorithm };
    if (d->c->lengths) return options;
    if (*d->c->strides) {
        options.row_stride = d->row_stride;
        options.element_stride = d->element_stride;
        options.out_row_stride = d->out_row_stride;
        options.out_element_stride = d->out_element_stride;
    }
    return options;
}

static ech_status workspace(const char *device, const struct segments_data *d,
                            const ech_sort_options *options, size_t *bytes)
{
    const struct segments_case *c = d->c;
    const bool index = c->sort.index_bytes;
    const ech_sort_call call = c->lengths
                                   ? index ? ECH_SORT_CALL_ARGSORT_SEGMENTS : ECH_SORT_CALL_SEGMENTS
                               : index ? ECH_SORT_CALL_ARGSORT_ROWS
                                       : ECH_SORT_CALL_ROWS;
    return ech_sort_segments_workspace(device, call, d->n, d->groups, c->sort.dtype, d->value_bytes,
                                       options, bytes);
}

static ech_status call_rows(ech_ctx *ctx, const struct segments_data *d,
                            const ech_sort_options *options, const struct arrays *a, void *keys_out,
                            void *values_out)
{
    const struct segments_case *c = d->c;
    const ech_dtype t = c->sort.dtype;
    if (c->sort.index_bytes)
        return ech_argsort_rows(ctx, a->keys_in.data, values_out, c->rows, c->cols, t,
                                index_sign(c->sort.index_bytes == 4 ? ECH_U32 : ECH_U64, c->cols),
                                options);
    if (!c->sort.value_bytes)
        return ech_sort_rows(ctx, a->keys_in.data, keys_out, c->rows, c->cols, t, options);
    return ech_sort_pairs_rows(ctx, a->keys_in.data, a->values_in.data, keys_out, values_out,
                               c->rows, c->cols, t, c->sort.value_bytes, options);
}

static ech_status call(ech_ctx *ctx, const struct segments_data *d, const ech_sort_options *options,
                       const struct arrays *a, bool in_place)
{
    const struct segments_case *c = d->c;
    const ech_dtype t = c->sort.dtype, o = c->offsets_dtype;
    void *keys_out = in_place ? a->keys_in.data : a->keys_out.data;
    void *values_out = in_place && !c->sort.index_bytes ? a->values_in.data : a->values_out.data;
    const void *ends = c->ends ? a->ends.data : NULL;
    if (!c->lengths) return call_rows(ctx, d, options, a, keys_out, values_out);
    if (c->sort.index_bytes)
        return ech_argsort_segments(
            ctx, a->keys_in.data, a->offsets.data, ends, values_out, d->n, d->groups, t,
            index_sign(c->sort.index_bytes == 4 ? ECH_U32 : ECH_U64, d->n), o, options);
    if (!c->sort.value_bytes)
        return ech_sort_segments(ctx, a->keys_in.data, a->offsets.data, ends, keys_out, d->n,
                                 d->groups, t, o, options);
    return ech_sort_pairs_segments(ctx, a->keys_in.data, a->values_in.data, a->offsets.data, ends,
                                   keys_out, values_out, d->n, d->groups, t, c->sort.value_bytes, o,
                                   options);
}

/* ---- A run ---- */

static bool make_index(struct buffer *b, ech_ctx *memory, const uint64_t *from, size_t n,
                       ech_dtype dtype)
{
    void *array = index_array(from, n, dtype);
    const bool made =
        array && buffer_make(b, memory, n * ech_dtype_bytes(dtype), 0) && buffer_set(b, array);
    free(array);
    return made;
}

static bool prepare(ech_ctx *memory, const struct segments_data *d, uint64_t seed, struct arrays *a)
{
    const size_t key = d->key_bytes, value = d->value_bytes;
    const size_t odd = memory || !value ? 0 : d->c->sort.index_bytes ? value : seed / 3 % 2;
    const bool values = d->c->sort.value_bytes != 0;
    if (d->c->lengths &&
        (!make_index(&a->offsets, memory, d->offsets, d->groups + !d->c->ends,
                     d->c->offsets_dtype) ||
         !make_index(&a->ends, memory, d->ends, d->c->ends ? d->groups : 0, d->c->offsets_dtype)))
        return false;
    return buffer_make(&a->keys_in, memory, d->in_extent * key, seed % 2 * key) &&
           buffer_set(&a->keys_in, d->keys) &&
           buffer_make(&a->keys_out, memory, d->out_extent * key, seed / 2 % 2 * key) &&
           buffer_make(&a->values_in, memory, values ? d->in_extent * value : 0, odd) &&
           (!values || buffer_set(&a->values_in, d->values)) &&
           buffer_make(&a->values_out, memory, d->out_extent * value, odd);
}

/* Compares an array with its content before, in which the sorted elements are replaced. */
static void compare(const struct segments_data *d, const struct buffer *b, char *wanted,
                    const char *from, size_t bytes, const char *name)
{
    char *got = malloc(b->bytes + 1);
    for (size_t i = 0; i < d->sorted; i++)
        memcpy(wanted + d->to[i] * bytes,
               from ? from + d->from[i] * bytes : (char *)&d->position[i], bytes);
    if (CHECK(got != NULL) && buffer_check_guards(b, name) && buffer_get(b, got) &&
        memcmp(got, wanted, b->bytes) != 0) {
        size_t i = 0;
        while (memcmp(got + i * bytes, wanted + i * bytes, bytes) == 0) i++;
        test_fail(__FILE__, __LINE__, "%s[%zu] is wrong, the first of %zu", name, i,
                  b->bytes / bytes);
    }
    free(got);
}

static char *content(const struct buffer *b)
{
    char *bytes = malloc(b->bytes + 1);
    if (bytes && !buffer_get(b, bytes)) memset(bytes, 0, b->bytes);
    return bytes;
}

static void run_way(ech_ctx *ctx, const struct segments_data *d, const char *algorithm,
                    struct way way, uint64_t seed)
{
    const struct sort_case *s = &d->c->sort;
    ech_ctx *memory = way.host || test_is_cpu(ctx) ? NULL : ctx;
    ech_sort_options options = options_of(d, algorithm);
    struct arrays a;
    memset(&a, 0, sizeof a);
    char *keys = NULL, *values = NULL;
    const bool failed_before = test_failed();
    if (!prepare(memory, d, seed, &a)) goto done;
    if (way.own_work) {
        size_t bytes = 0;
        if (!CHECK_STATUS(workspace(ech_device_name(ctx), d, &options, &bytes), ECH_OK) ||
            !buffer_make(&a.work, memory, bytes, 0))
            goto done;
        options.work = bytes ? a.work.data : NULL;
        options.work_bytes = bytes;
    }
    const struct buffer *keys_out = way.in_place ? &a.keys_in : &a.keys_out;
    const struct buffer *values_out = way.in_place && s->value_bytes ? &a.values_in : &a.values_out;
    keys = content(keys_out);
    values = content(values_out);
    CHECK_STATUS(ech_set_threads(ctx, way.threads), ECH_OK);
    const ech_status status = call(ctx, d, &options, &a, way.in_place);
    if (!test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx) ||
        !CHECK_STATUS(ech_sync(ctx), ECH_OK) || !CHECK(keys && values))
        goto done;
    if (!s->index_bytes) compare(d, keys_out, keys, d->keys, d->key_bytes, "keys_out");
    if (d->value_bytes)
        compare(d, values_out, values, s->index_bytes ? NULL : d->values, d->value_bytes,
                s->index_bytes ? "index" : "values_out");
    if (s->index_bytes || !way.in_place) {
        char *in = content(&a.keys_in);
        CHECK(in && memcmp(in, d->keys, a.keys_in.bytes) == 0);
        free(in);
    }
    if (way.own_work) buffer_check_guards(&a.work, "work");
done:
    if (test_failed() && !failed_before)
        printf("    (%s, algorithm %s, %s, %s workspace, %s memory, %d threads)\n",
               ech_device_name(ctx), algorithm ? algorithm : "chosen",
               way.in_place ? "in place" : "out of place", way.own_work ? "given" : "the context's",
               memory ? "device" : "host", way.threads);
    free(keys);
    free(values);
    struct buffer *all[] = { &a.keys_in, &a.keys_out, &a.values_in, &a.values_out,
                             &a.offsets, &a.ends,     &a.work };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
}

/* ---- Cases ---- */

/* Lists the algorithms for a case. The first is "", the library's choice. */
static int find_algorithms(const char *device, const struct segments_data *d,
                           char names[ALGORITHMS][NAME_BYTES])
{
    char text[4096];
    size_t bytes;
    const ech_sort_call call = d->c->lengths ? ECH_SORT_CALL_SEGMENTS : ECH_SORT_CALL_ROWS;
    ech_sort_options options = options_of(d, NULL);
    CHECK_STATUS(
        ech_sort_segments_explain(device, d->c->sort.index_bytes ? (ech_sort_call)(call + 2) : call,
                                  d->n, d->groups, d->c->sort.dtype, d->value_bytes, &options,
                                  ECH_FORMAT_TEXT, text, sizeof text),
        ECH_OK);
    int count = 1;
    names[0][0] = 0;
    for (char *word = strtok(text, " \t\n,;:()\""); word; word = strtok(NULL, " \t\n,;:()\"")) {
        bool known = strlen(word) >= NAME_BYTES || count == ALGORITHMS;
        for (int i = 1; i < count; i++) known |= strcmp(word, names[i]) == 0;
        options.algorithm = word;
        if (!known && workspace(device, d, &options, &bytes) == ECH_OK)
            strcpy(names[count++], word);
    }
    CHECK(count > 1); /* at least the chosen one */
    return count;
}

static bool is_wanted(const struct segments_case *c, uint64_t seed)
{
    const size_t n = c->lengths ? c->n : c->rows * c->cols;
    return test_drawn(seed, n <= SMALL);
}

static void run_case(const struct segments_case *c)
{
    char id[256], names[ALGORITHMS][NAME_BYTES];
    struct segments_data d;
    segments_case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!is_wanted(c, seed) || !test_begin("%s", id)) return;
    if (CHECK(segments_make(c, seed, &d)))
        for (int i = 0; i < n_contexts; i++) {
            const bool cpu = test_is_cpu(contexts[i]), many = d.n > MANY;
            const bool same = c->lengths || (d.row_stride == d.out_row_stride &&
                                             d.element_stride == d.out_element_stride);
            const int count = find_algorithms(ech_device_name(contexts[i]), &d, names);
            for (int a = 0; a < count; a++)
                for (unsigned w = 0; w < (cpu ? 4u : 5u); w++) {
                    const struct way way = { .in_place = w == 4 ? seed / 5 % 2 : w & 1,
                                             .own_work = w & 2,
                                             .host = w == 4,
                                             .threads = cpu ? (int)((seed / 7 + w) % 4) : 0 };
                    if ((way.in_place && !same) || (many && w != seed / 64 % 4)) continue;
                    run_way(contexts[i], &d, a ? names[a] : NULL, way, seed);
                }
        }
    segments_free(&d);
    test_end();
}

/* ---- Wrong arguments ---- */

static void bad_rows(ech_ctx *ctx)
{
    static uint32_t in[64], out[64];
    ech_sort_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad_rows(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_sort_rows(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_sort_rows(NULL, in, out, 2, 3, ECH_U32, NULL), ECH_ERR_ARG, "ctx");
    REFUSED("in is NULL", NULL, out, 2, 3, ECH_U32, NULL);
    REFUSED("out is NULL", in, NULL, 2, 3, ECH_U32, NULL);
    REFUSED("overlap", in, in + 1, 2, 3, ECH_U32, NULL);
    REFUSED("dtype", in, out, 2, 3, (ech_dtype)12, NULL);
    REFUSED("rows * cols overflows", in, out, SIZE_MAX / 2, 3, ECH_U32, NULL);
    o.row_stride = 2;
    REFUSED("row_stride is 2", in, out, 2, 3, ECH_U32, &o);
    o.row_stride = 3, o.element_stride = 2;
    REFUSED("element_stride is 2", in, out, 2, 3, ECH_U32, &o);
    o.row_stride = SIZE_MAX / 2, o.element_stride = 1;
    REFUSED("overflow", in, out, 4, 3, ECH_U32, &o);
    o.row_stride = 0, o.element_stride = SIZE_MAX / 2;
    REFUSED("overflow", in, out, 4, 3, ECH_U32, &o);
    o.element_stride = 0, o.out_row_stride = 2;
    REFUSED("out_row_stride is 2", in, out, 2, 3, ECH_U32, &o);
    o.out_row_stride = 4;
    REFUSED("overlap", in, in, 2, 3, ECH_U32, &o);
    CHECK_FAILS(ctx, ech_sort(ctx, in, out, 6, ECH_U32, &o), ECH_ERR_ARG, "out_row_stride");
    CHECK_FAILS(ctx, ech_sort_segments(ctx, in, in, NULL, out, 6, 1, ECH_U32, ECH_U32, &o),
                ECH_ERR_ARG, "out_row_stride");
    o.out_row_stride = 0, o.algorithm = "unheard-of";
    REFUSED("unheard-of", in, out, 2, 3, ECH_U32, &o);
    REFUSED("unheard-of", in, out, 0, 3, ECH_U32, &o);
    CHECK_FAILS(ctx, ech_sort_pairs_rows(ctx, in, in, out, out, 2, 3, ECH_U32, 0, NULL),
                ECH_ERR_ARG, "value_bytes is 0");
    CHECK_FAILS(ctx, ech_argsort_rows(ctx, in, out, 2, 3, ECH_U32, ECH_F32, NULL), ECH_ERR_ARG,
                "index_dtype");
    CHECK_FAILS(
        NULL,
        ech_sort_segments_workspace("cpu", ECH_SORT_CALL_ROWS, 7, 2, ECH_U32, 0, NULL, &bytes),
        ECH_ERR_ARG, "groups");
    CHECK_FAILS(
        NULL, ech_sort_segments_workspace("cpu", (ech_sort_call)4, 6, 2, ECH_U32, 0, NULL, &bytes),
        ECH_ERR_ARG, "call is 4");
    CHECK_FAILS(NULL,
                ech_sort_segments_workspace("cpu", ECH_SORT_CALL_ARGSORT_ROWS, 6, 2, ECH_U32, 3,
                                            NULL, &bytes),
                ECH_ERR_ARG, "value_bytes is 3");
#undef REFUSED
    CHECK_STATUS(ech_sort_rows(ctx, NULL, NULL, 0, 3, ECH_U32, NULL), ECH_OK);
    CHECK_STATUS(ech_sort_rows(ctx, NULL, NULL, 3, 0, ECH_U32, NULL), ECH_OK);
    test_end();
}

/* Offsets that decrease, overlap or exceed n, at each of 70 positions. */
static void bad_segments(ech_ctx *ctx)
{
    enum { SEGMENTS = 70, N = 7 * SEGMENTS };
    static uint32_t in[N], out[N], offsets[SEGMENTS + 1], ends[SEGMENTS];
    if (!test_begin("bad_segments(%s)", ech_device_name(ctx))) return;
    for (uint32_t s = 0; s <= SEGMENTS; s++) offsets[s] = 7 * s;
    for (uint32_t s = 0; s < SEGMENTS; s++) ends[s] = 7 * s + 5;
    CHECK_FAILS(ctx,
                ech_sort_segments(ctx, in, NULL, NULL, out, N, SEGMENTS, ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, "offsets is NULL");
    CHECK_FAILS(ctx,
                ech_sort_segments(ctx, in, offsets, NULL, out, N, SEGMENTS, ECH_U32, ECH_F32, NULL),
                ECH_ERR_ARG, "offsets_dtype");
    for (uint32_t s = 0; s <= SEGMENTS; s++) {
        const uint32_t kept = offsets[s];
        char text[64];
        snprintf(text, sizeof text, "offsets[%u] is ", s);
        offsets[s] = N + 1;
        CHECK_FAILS(
            ctx,
            ech_sort_segments(ctx, in, offsets, NULL, out, N, SEGMENTS, ECH_U32, ECH_U32, NULL),
            ECH_ERR_ARG, text);
        if (s < SEGMENTS)
            CHECK_FAILS(
                ctx,
                ech_sort_segments(ctx, in, offsets, ends, out, N, SEGMENTS, ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, text);
        if (s) {
            offsets[s] = 7 * (s - 1) + 4;
            if (s < SEGMENTS)
                CHECK_FAILS(ctx,
                            ech_sort_segments(ctx, in, offsets, ends, out, N, SEGMENTS, ECH_U32,
                                              ECH_U32, NULL),
                            ECH_ERR_ARG, text);
            offsets[s] = 7 * (s - 1) - 1;
            if (s > 1)
                CHECK_FAILS(ctx,
                            ech_sort_segments(ctx, in, offsets, NULL, out, N, SEGMENTS, ECH_U32,
                                              ECH_I32, NULL),
                            ECH_ERR_ARG, text);
        }
        offsets[s] = kept;
        if (s == SEGMENTS) break;
        snprintf(text, sizeof text, "ends[%u] is ", s);
        ends[s] = N + 1;
        CHECK_FAILS(
            ctx,
            ech_sort_segments(ctx, in, offsets, ends, out, N, SEGMENTS, ECH_U32, ECH_U32, NULL),
            ECH_ERR_ARG, text);
        ends[s] = 7 * s + 5;
    }
    CHECK_STATUS(ech_sort_segments(ctx, NULL, NULL, NULL, NULL, 0, 0, ECH_U32, ECH_U32, NULL),
                 ECH_OK);
    CHECK_STATUS(
        ech_sort_segments(ctx, in, offsets, ends, out, N, SEGMENTS, ECH_U32, ECH_U32, NULL),
        ECH_OK);
    test_end();
}

static uint32_t *random_keys(size_t n)
{
    uint32_t *keys = malloc(n * sizeof *keys), state = 1;
    for (size_t i = 0; keys && i < n; i++) keys[i] = state = state * 1664525 + 1013904223;
    return keys;
}

/* Each segment must be in order, and the sum of all keys unchanged. */
static void check_order(const uint32_t *in, const uint32_t *out, const uint64_t *offsets,
                        size_t segments)
{
    uint64_t sum = 0;
    for (size_t s = 0; s < segments; s++)
        for (uint64_t i = offsets[s]; i < offsets[s + 1]; i++) {
            sum += (uint64_t)in[i] - out[i];
            if (i > offsets[s] && out[i - 1] > out[i]) {
                test_fail(__FILE__, __LINE__, "segment %zu is not in order", s);
                return;
            }
        }
    CHECK_INT(sum, 0);
}

/* Many segments, which several threads check and sort: wrong offsets at both sides of the limits of
 * their parts, empty segments before, between and after a few long ones. */
static void many_segments(ech_ctx *ctx)
{
    enum { SEGMENTS = 100000, N = 1 << 20, PART = 1 << 14 };
    static const uint32_t places[] = { 1, PART - 1, PART, PART + 1, 5 * PART, SEGMENTS - 1 };
    uint64_t *offsets = malloc((SEGMENTS + 1) * sizeof *offsets);
    uint32_t *in = random_keys(N), *out = calloc(N, sizeof *out);
    if (!test_begin("many_segments(%s)", ech_device_name(ctx))) goto done;
    if (!CHECK(offsets && in && out)) goto end;
    for (int threads = 1; threads <= 4; threads += 3) {
        CHECK_STATUS(ech_set_threads(ctx, threads), ECH_OK);
        for (size_t s = 0; s <= SEGMENTS; s++) offsets[s] = s * N / SEGMENTS;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            const uint64_t kept = offsets[places[i]];
            char text[64];
            offsets[places[i]] = offsets[places[i] - 1] - (places[i] > 1);
            offsets[places[i]] += places[i] == 1 ? N + 1 : 0;
            snprintf(text, sizeof text, "offsets[%u] is ", places[i]);
            CHECK_FAILS(
                ctx,
                ech_sort_segments(ctx, in, offsets, NULL, out, N, SEGMENTS, ECH_U32, ECH_U64, NULL),
                ECH_ERR_ARG, text);
            offsets[places[i]] = kept;
        }
        for (unsigned k = 0; k < 4; k++) { /* long segments adjacent, at the begin or the end */
            for (size_t s = 0; s <= SEGMENTS; s++) {
                const uint64_t after = s < 20 ? s : 20,
                               before = SEGMENTS - s < 20 ? SEGMENTS - s : 20;
                offsets[s] = k == 0   ? after * (N / 20)
                             : k == 1 ? N - before * (N / 20)
                             : k == 2 ? (uint64_t)N * (s > SEGMENTS / 2)
                                      : s * N / SEGMENTS / 7 * 7;
            }
            offsets[SEGMENTS] = N;
            memset(out, 0, N * sizeof *out);
            CHECK_STATUS(
                ech_sort_segments(ctx, in, offsets, NULL, out, N, SEGMENTS, ECH_U32, ECH_U64, NULL),
                ECH_OK);
            check_order(in, out, offsets, SEGMENTS);
        }
    }
end:
    test_end();
done:
    free(offsets);
    free(in);
    free(out);
}

/* On the CPU, the workspace for short rows does not grow with their number. */
static void row_workspace(void)
{
    size_t few, many;
    if (!test_begin("row_workspace()")) return;
    CHECK_STATUS(ech_sort_segments_workspace("cpu", ECH_SORT_CALL_ROWS, (size_t)1 << 26, 1 << 21,
                                             ECH_U32, 0, NULL, &few),
                 ECH_OK);
    CHECK_STATUS(ech_sort_segments_workspace("cpu", ECH_SORT_CALL_ROWS, (size_t)1 << 30, 1 << 25,
                                             ECH_U32, 0, NULL, &many),
                 ECH_OK);
    CHECK(few == many && many <= 64 * 1024);
    CHECK_STATUS(
        ech_sort_segments_workspace("cpu", ECH_SORT_CALL_SEGMENTS, 1000, 0, ECH_U32, 0, NULL, &few),
        ECH_OK);
    CHECK_INT(few, 0);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    for (int i = 0; i < n_contexts && test_options.large; i++) segments_large(contexts[i]);
    if (!test_options.large) segments_cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        uint64_t now_bytes;
        if (!test_options.large) bad_rows(contexts[i]);
        if (!test_options.large) bad_segments(contexts[i]);
        if (!test_options.large && test_is_cpu(contexts[i])) many_segments(contexts[i]);
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
