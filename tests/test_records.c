/*
 * test_records.c - ech_sort_records(), compared with an oracle, on every device and with every
 * algorithm.
 *
 *     test_records                                     every case on every device
 *     test_records --device simt --quick               some of the cases, only small ones
 *     test_records 'records(16:u32@4,n=1000'           cases with this prefix
 *
 * The layout of a case is a text: the bytes of a record, a colon, and keys separated by +.  A key
 * is a dtype, or string, uint or int with a number of bytes, d if descending, t if in total order,
 * and @ with the offset.  The oracle sorts positions with qsort(), equal records by position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, KEYS = 16, QUICK_ROWS = 3000 };

struct records_case {
    const char *layout;
    size_t n;
    const char *dist; /* "random", "few", "equal" */
};

/* ---- The cases ---- */

static const char *const layouts[] = {
    "1:u8@0",
    "2:i16d@0",
    "3:string2@1",
    "4:u32@0",
    "4:f32t@0",
    "5:f32@1",
    "8:u32@4+i16d@0",
    "12:u64@4",
    "16:u32@4",
    "16:f64@8+u64@0",
    "16:int16@0",
    "16:u32@0+u32@0",
    "17:u64@9+u8d@0+f32@5",
    "24:f64d@16+bf16@3",
    "32:string9@23+u64d@0",
    "100:string10@0",
    "100:string10d@0+u32@96",
    "33:uint5@28+int13d@3+f16@1+string1@0",
    "1000:u64@991+string16@300",
    "600:string496@50+int16@570",
    "16:u8@0+u8@1+u8@2+u8@3+u8d@4+u8@5+u8@6+u8@7+u8@8+u8d@9+u8@10+u8@11+u8@12+u8@13+u8@14+u8@15",
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void cases(void (*run)(const struct records_case *))
{
    static const size_t sizes[] = { 0,    1,    2,    3,    17,   31,   32,    33,   257,
                                    1023, 1024, 1025, 2999, 4096, 4097, 20011, 70001 };
    static const char *const dists[] = { "random", "few", "equal" };
    for (size_t l = 0; l < LAYOUTS; l++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t d = 0; d < 3; d++) {
                const struct records_case c = { layouts[l], sizes[s], dists[d] };
                if (c.n < 2 && d) continue;
                if (c.n > 3000 && (l + s + d) % 3) continue;
                if (c.n > 5000 && atoi(c.layout) > 200) continue;
                run(&c);
            }
}

/* ---- The layout ---- */

struct layout {
    size_t record_bytes, count;
    ech_record_key key[KEYS];
};

static void read_kind(const char **text, ech_record_key *key)
{
    static const char *const names[] = { "", "string", "uint", "int" };
    for (int kind = ECH_KEY_BYTES; kind <= ECH_KEY_SIGNED; kind++) {
        char *end;
        const size_t length = strlen(names[kind]);
        if (strncmp(*text, names[kind], length) != 0) continue;
        key->kind = (ech_key_kind)kind;
        key->width_bytes = strtoul(*text + length, &end, 10);
        *text = end;
        return;
    }
    for (int t = ECH_I8; t <= ECH_F64; t++) {
        const size_t length = strlen(ech_dtype_name((ech_dtype)t));
        if (strncmp(*text, ech_dtype_name((ech_dtype)t), length) != 0) continue;
        key->dtype = (ech_dtype)t;
        *text += length;
        return;
    }
}

static void read_layout(const char *text, struct layout *l)
{
    char *end;
    memset(l, 0, sizeof *l);
    l->record_bytes = strtoul(text, &end, 10);
    for (text = end + 1; *text; text = *end ? end + 1 : end) {
        ech_record_key *key = &l->key[l->count++];
        key->size = sizeof *key;
        read_kind(&text, key);
        for (; *text != '@'; text++) {
            if (*text == 'd') key->descending = 1;
            if (*text == 't') key->order = ECH_ORDER_TOTAL;
        }
        key->offset_bytes = strtoul(text + 1, &end, 10);
    }
}

static size_t width_of(const ech_record_key *key)
{
    return key->kind == ECH_KEY_DTYPE ? ech_dtype_bytes(key->dtype) : key->width_bytes;
}

/* few: keys have four values; equal: one value.  The other bytes are random. */
static void make_records(const struct records_case *c, const struct layout *l, struct rng *rng,
                         unsigned char *records)
{
    const bool equal = strcmp(c->dist, "equal") == 0, few = strcmp(c->dist, "few") == 0;
    for (size_t i = 0; i < c->n * l->record_bytes; i++) records[i] = (unsigned char)rng_next(rng);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < l->count && (equal || few); k++) {
            unsigned char *to = records + i * l->record_bytes + l->key[k].offset_bytes;
            const size_t width = width_of(&l->key[k]);
            memset(to, 0x11, width);
            if (few) to[rng_below(rng, 2) * (width - 1)] = rng_below(rng, 4) ? 0 : 0x80;
        }
}

/* ---- The oracle ---- */

/* NaN is the largest float and -0 equals 0, unless the order is total.  Patterns of floats compare
 * as numbers of sign and magnitude. */
static int compare_floats(ech_dtype dtype, bool total, uint64_t x, uint64_t y)
{
    const int fraction = dtype == ECH_F16 ? 10 : dtype == ECH_BF16 ? 7 : dtype == ECH_F32 ? 23 : 52;
    const uint64_t top = (uint64_t)1 << (8 * ech_dtype_bytes(dtype) - 1);
    const uint64_t inf = top - ((uint64_t)1 << fraction);
    const bool nan_x = (x & ~top) > inf, nan_y = (y & ~top) > inf;
    if (!total && (nan_x || nan_y)) return nan_x - nan_y;
    if (!total && ((x | y) & ~top) == 0) return 0;
    const int64_t a = x & top ? -(int64_t)(x & ~top) - 1 : (int64_t)x;
    const int64_t b = y & top ? -(int64_t)(y & ~top) - 1 : (int64_t)y;
    return (a > b) - (a < b);
}

static int compare_key(const ech_record_key *key, const unsigned char *x, const unsigned char *y)
{
    const size_t width = width_of(key);
    uint64_t u = 0, v = 0;
    if (key->kind == ECH_KEY_BYTES) return memcmp(x, y, width);
    if (key->kind == ECH_KEY_DTYPE && key->dtype >= ECH_F16) {
        memcpy(&u, x, width);
        memcpy(&v, y, width);
        return compare_floats(key->dtype, key->order == ECH_ORDER_TOTAL, u, v);
    }
    const bool is_signed =
        key->kind == ECH_KEY_SIGNED || (key->kind == ECH_KEY_DTYPE && key->dtype <= ECH_I64);
    for (size_t b = width; b-- > 0;) {
        const int flip = is_signed && b == width - 1 ? 0x80 : 0;
        if (x[b] != y[b]) return (x[b] ^ flip) - (y[b] ^ flip);
    }
    return 0;
}

static int compare_records(const struct layout *l, const unsigned char *x, const unsigned char *y)
{
    for (size_t k = 0; k < l->count; k++) {
        const size_t at = l->key[k].offset_bytes;
        const int order = compare_key(&l->key[k], x + at, y + at);
        if (order) return l->key[k].descending ? -order : order;
    }
    return 0;
}

static const struct layout *sorted_layout;
static const unsigned char *sorted_records;

static int compare_positions(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    const size_t bytes = sorted_layout->record_bytes;
    const int order =
        compare_records(sorted_layout, sorted_records + *x * bytes, sorted_records + *y * bytes);
    return order ? order : (*x > *y) - (*x < *y);
}

static bool oracle(const struct layout *l, size_t n, const unsigned char *records,
                   unsigned char *wanted)
{
    uint32_t *order = malloc(n * sizeof *order + 1);
    if (!order) return false;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sorted_layout = l;
    sorted_records = records;
    qsort(order, n, sizeof *order, compare_positions);
    for (size_t i = 0; i < n; i++)
        memcpy(wanted + i * l->record_bytes, records + order[i] * l->record_bytes, l->record_bytes);
    free(order);
    return true;
}

/* ---- One case on one device ---- */

struct data {
    const struct layout *l;
    size_t n;
    unsigned char *records, *wanted;
};

static void compare(const struct data *d, struct buffer *out, ech_ctx *ctx)
{
    const size_t bytes = d->n * d->l->record_bytes;
    char *got = malloc(bytes + 1);
    if (CHECK(got) && CHECK_STATUS(ech_sync(ctx), ECH_OK) && buffer_get(out, got))
        for (size_t i = 0; i < d->n; i++) {
            const size_t at = i * d->l->record_bytes;
            if (memcmp(got + at, d->wanted + at, d->l->record_bytes) == 0) continue;
            test_fail(__FILE__, __LINE__, "record %zu differs", i);
            break;
        }
    free(got);
}

static void run_way(ech_ctx *ctx, const struct data *d, const char *algorithm, bool in_place,
                    struct rng *rng)
{
    const bool cpu = test_is_cpu(ctx), host = cpu || rng_below(rng, 3) == 0;
    const struct layout *l = d->l;
    const size_t bytes = d->n * l->record_bytes, align = host ? 1 : 16;
    ech_columns_options o = { .size = sizeof o, .algorithm = algorithm };
    struct buffer in = { 0 }, out = { 0 }, work = { 0 };
    size_t needed = 0;
    if (cpu) ech_set_threads(ctx, 1 + (int)rng_below(rng, 4));
    if (!buffer_make(&in, host ? NULL : ctx, bytes, align * rng_below(rng, 5)) ||
        !buffer_make(&out, host ? NULL : ctx, bytes, align * rng_below(rng, 5)) ||
        !buffer_set(&in, d->records))
        goto done;
    void *to = in_place ? in.data : out.data;
    CHECK_STATUS(ech_sort_records_workspace(ech_device_name(ctx), d->n, l->record_bytes, l->key,
                                            l->count, in_place, &o, &needed),
                 ECH_OK);
    if (needed && rng_below(rng, 2) && buffer_make(&work, cpu ? NULL : ctx, needed, 0)) {
        o.work = work.data;
        o.work_bytes = needed - 1;
        CHECK_STATUS(
            ech_sort_records(ctx, in.data, to, d->n, l->record_bytes, l->key, l->count, &o),
            ECH_ERR_MEMORY);
        o.work_bytes = needed;
    }
    if (CHECK_STATUS(
            ech_sort_records(ctx, in.data, to, d->n, l->record_bytes, l->key, l->count, &o),
            ECH_OK))
        compare(d, in_place ? &in : &out, ctx);
    if (!in_place && bytes) {
        char *kept = malloc(bytes);
        if (CHECK(kept) && buffer_get(&in, kept)) CHECK(memcmp(kept, d->records, bytes) == 0);
        free(kept);
    }
    if (work.base) buffer_check_guards(&work, "work");
    buffer_check_guards(&in, "records");
    buffer_check_guards(&out, "records_out");
done:
    if (work.base) buffer_free(&work);
    buffer_free(&in);
    buffer_free(&out);
    if (cpu) ech_set_threads(ctx, 0);
}

/* Whether the GPU's algorithm "block" can sort the records.  Otherwise it must be refused. */
static bool fits_block(ech_ctx *ctx, const struct data *d, size_t bits, bool in_place)
{
    const bool fits =
        d->n <= 4096 && bits <= 256 && (!in_place || d->n * d->l->record_bytes <= (size_t)48 << 10);
    const ech_columns_options o = { .size = sizeof o, .algorithm = "block" };
    size_t bytes = 1;
    CHECK_STATUS(ech_sort_records_workspace(ech_device_name(ctx), d->n, d->l->record_bytes,
                                            d->l->key, d->l->count, in_place, &o, &bytes),
                 fits ? ECH_OK : ECH_ERR_ARG);
    CHECK_INT(bytes, 0);
    return fits;
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct records_case *c)
{
    static const char *const algorithms[] = { NULL, "pack", "refine", "lsd", "block" };
    char id[256];
    struct layout l;
    snprintf(id, sizeof id, "records(%s,n=%zu,dist=%s)", c->layout, c->n, c->dist);
    struct rng rng = { hash_text(id) };
    if (!test_drawn(rng.state, c->n <= QUICK_ROWS)) return;
    if (!test_begin("%s", id)) return;
    read_layout(c->layout, &l);
    size_t bits = 0;
    for (size_t k = 0; k < l.count; k++) bits += 8 * width_of(&l.key[k]);
    struct data d = { &l, c->n, malloc(c->n * l.record_bytes + 1),
                      malloc(c->n * l.record_bytes + 1) };
    const bool made = d.records && d.wanted;
    if (made) make_records(c, &l, &rng, d.records);
    const bool known = made && oracle(&l, c->n, d.records, d.wanted);
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        for (int a = 0; a < 5 && CHECK(known) && !test_failed(); a++) {
            if (a == 1 && bits > 64) continue;
            if ((a == 2) != test_is_cpu(contexts[i]) && (a == 2 || a == 4)) continue;
            const bool in_place = rng_below(&rng, 2);
            if (a == 4 && !fits_block(contexts[i], &d, bits, in_place)) continue;
            run_way(contexts[i], &d, algorithms[a], in_place, &rng);
        }
        test_end();
    }
    free(d.records);
    free(d.wanted);
}

/* ---- Calls that fail ---- */

static void bad(ech_ctx *ctx)
{
    unsigned char in[64] = { 0 }, out[64] = { 77 };
    ech_record_key k[2] = { { .size = sizeof *k, .dtype = ECH_U32 },
                            { .size = sizeof *k, .dtype = ECH_F32, .offset_bytes = 4 } };
    ech_columns_options o = { .size = sizeof o };
    char text[4096];
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_sort_records(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_sort_records(NULL, in, out, 8, 8, k, 2, NULL), ECH_ERR_ARG, "ctx");
    REFUSED("records is NULL", NULL, out, 8, 8, k, 2, NULL);
    REFUSED("records_out is NULL", in, NULL, 8, 8, k, 2, NULL);
    REFUSED("overlap", in, in + 8, 6, 8, k, 2, NULL);
    REFUSED("record_bytes is 0", in, out, 8, 0, k, 2, NULL);
    REFUSED("n is", in, out, SIZE_MAX / 4, 8, k, 2, NULL);
    REFUSED("keys is NULL", in, out, 8, 8, NULL, 2, NULL);
    REFUSED("key_count is 0", in, out, 8, 8, k, 0, NULL);
    REFUSED("key_count is 17", in, out, 8, 8, k, 17, NULL);
    REFUSED("keys[1] has 4 bytes from byte 4 of a record on, but record_bytes is 7", in, out, 8, 7,
            k, 2, NULL);
    k[1].offset_bytes = SIZE_MAX;
    REFUSED("keys[1] has 4 bytes", in, out, 8, 8, k, 2, NULL);
    k[1].offset_bytes = 4, k[1].dtype = (ech_dtype)12;
    REFUSED("keys[1].dtype", in, out, 8, 8, k, 2, NULL);
    k[1].dtype = ECH_F32, k[1].kind = (ech_key_kind)-1;
    REFUSED("keys[1].kind", in, out, 8, 8, k, 2, NULL);
    k[1].kind = ECH_KEY_SIGNED;
    REFUSED("keys[1].width_bytes is 0", in, out, 8, 8, k, 2, NULL);
    k[1].kind = ECH_KEY_DTYPE, k[1].descending = 2;
    REFUSED("keys[1].descending", in, out, 8, 8, k, 2, NULL);
    k[1].descending = 0, k[1].order = (ech_order)2;
    REFUSED("keys[1].order", in, out, 8, 8, k, 2, NULL);
    k[1].order = ECH_ORDER_NAN_LAST, k[1].size = 3;
    REFUSED("keys[1]", in, out, 8, 8, k, 2, NULL);
    k[1].size = sizeof *k, o.algorithm = "slow";
    REFUSED("unknown algorithm \"slow\"", in, out, 8, 8, k, 2, &o);
    REFUSED("unknown algorithm \"slow\"", NULL, NULL, 0, 8, k, 2, &o);
    o.algorithm = NULL;
#undef REFUSED
    CHECK_INT(out[0], 77);
    CHECK_STATUS(ech_sort_records(ctx, NULL, NULL, 0, 8, k, 2, NULL), ECH_OK);
    CHECK_FAILS(NULL, ech_sort_records_workspace("cpu", 8, 8, k, 2, 0, NULL, NULL), ECH_ERR_ARG,
                "bytes");
    CHECK_FAILS(NULL, ech_sort_records_workspace("cpu", 8, 7, k, 2, 0, NULL, &bytes), ECH_ERR_ARG,
                "keys[1]");
    CHECK_STATUS(
        ech_sort_records_explain("cpu", 8, 8, k, 2, 1, NULL, ECH_FORMAT_TEXT, text, sizeof text),
        ECH_OK);
    CHECK(strstr(text, "of a copy of the records") != NULL);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
