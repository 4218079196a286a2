/*
 * fuzz_calls.c - interprets bytes as a sequence of calls of the library, valid and invalid ones.
 *
 * Each call must return a status, and after a failure a message. It must not change its inputs or
 * memory around its arrays. The results of some calls are compared with an oracle (calls_arrays.c).
 * The emulator is opened rarely, because its calls take milliseconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <string.h>

enum { CONTEXTS = 2, BLOCKS = 2, MOST_STEPS = 24, MOST_EMULATORS = 20 };

struct block {
    void *at;
    size_t bytes;
};

struct contexts {
    ech_ctx *ctx[CONTEXTS];
    struct block blocks[CONTEXTS][BLOCKS];
};

static void check(const ech_ctx *ctx, ech_status status)
{
    FUZZ_CHECK(status == ECH_OK || *ech_error(ctx));
    FUZZ_CHECK(strncmp(ech_status_name(status), "ECH_ERR_?", 9) != 0);
}

static void look(void *user, ech_log_level level, const char *message)
{
    FUZZ_CHECK(user && level != ECH_LOG_NONE && *message);
}

static int progress(void *user, double done)
{
    FUZZ_CHECK(done >= 0 && done <= 1);
    return *(const int *)user;
}

static void close_one(struct contexts *all, unsigned i)
{
    for (int b = 0; b < BLOCKS; b++) {
        ech_free(all->ctx[i], all->blocks[i][b].at, all->blocks[i][b].bytes);
        all->blocks[i][b] = (struct block){ NULL, 0 };
    }
    uint64_t now = 1;
    ech_memory_usage(all->ctx[i], 0, &now, NULL);
    FUZZ_CHECK(now == 0);
    ech_close(all->ctx[i]);
    all->ctx[i] = NULL;
}

static void open_one(struct contexts *all, unsigned i, struct input *in)
{
    static const char *const names[] = { "cpu", "cpu", "cpu", "cpu",   "auto:cpu", "cpu:1",
                                         "",    "gpu", "a:b", "cpu:x", "auto:simt" };
    static int emulators;
    const unsigned byte = take(in);
    const char *name = names[byte % 11];
    if (byte >= 250 && emulators++ < MOST_EMULATORS) name = "simt";
    if (!*name || strcmp(name, "auto:simt") == 0) name = "cpu:9999999"; /* no real GPU */
    close_one(all, i);
    const ech_status status = ech_open(&all->ctx[i], name);
    check(NULL, status);
    FUZZ_CHECK((status == ECH_OK) == (all->ctx[i] != NULL));
    FUZZ_CHECK(status == ECH_OK || byte >= 250 || strcmp(name, "cpu") != 0);
}

static void change_settings(ech_ctx *ctx, struct input *in)
{
    static int cancel = 0;
    const unsigned byte = take(in);
    void *stream = &cancel;
    int done = 9;
    switch (byte % 10) {
    case 0:
        check(ctx, ech_set_threads(ctx, (int)(take(in) % 5) - 1));
        break;
    case 1:
        check(ctx, ech_set_memory_limit(ctx, take(in) % 2 ? (uint64_t)take(in) << 6 : 0));
        break;
    case 2:
        check(ctx,
              ech_set_log(ctx, (ech_log_level)(take(in) % 5), take(in) % 2 ? look : NULL, &cancel));
        break;
    case 3:
        cancel = (int)(take(in) % 2);
        check(ctx, ech_set_progress(ctx, take(in) % 2 ? progress : NULL, &cancel));
        break;
    case 4:
        check(ctx, ech_set_stream(ctx, NULL));
        break;
    case 5:
        check(ctx, take(in) % 2 ? ech_set_private_stream(ctx) : ech_get_stream(ctx, &stream));
        break;
    case 6:
        check(ctx, take(in) % 2 ? ech_record_event(ctx, NULL) : ech_wait_event(ctx, NULL));
        break;
    case 7:
        check(ctx, ech_poll(ctx, take(in) % 2 ? &done : NULL));
        break;
    case 8:
        check(ctx, ech_sync(ctx));
        ech_trim(ctx);
        break;
    default:
        check(ctx, ech_set_allocator(ctx, NULL));
    }
}

/* Device memory: what is copied in and within the memory is copied out again. */
static void use_block(ech_ctx *ctx, struct block *block, struct input *in)
{
    unsigned char data[64], back[64];
    const size_t bytes = take(in) % 65;
    if (!block->at) {
        const ech_status status = ech_malloc(ctx, &block->at, bytes);
        check(ctx, status);
        FUZZ_CHECK((status == ECH_OK && bytes) == (block->at != NULL));
        FUZZ_CHECK((uintptr_t)block->at % 256 == 0);
        block->bytes = bytes;
        return;
    }
    if (bytes > block->bytes) {
        ech_free(ctx, block->at, block->bytes);
        *block = (struct block){ NULL, 0 };
        return;
    }
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)take(in);
    const ech_status status = take(in) % 2 ? ech_copy(ctx, block->at, data, bytes)
                                           : ech_copy_async(ctx, block->at, data, bytes);
    check(ctx, status);
    if (status != ECH_OK || ech_sync(ctx) != ECH_OK) return;
    check(ctx, ech_copy(ctx, back, block->at, bytes));
    FUZZ_CHECK(!bytes || memcmp(back, data, bytes) == 0);
    check(ctx, ech_copy(ctx, NULL, data, bytes));
}

/* A query of a workspace or an explanation; they need no device. */
static void ask(struct input *in)
{
    static const char *const devices[] = { "cpu", "cuda", "simt", "cuda:3", "toaster", "cpu" };
    const char *device = devices[take(in) % 6];
    const unsigned what = take(in) % 16;
    const ech_dtype dtype = take_dtype(in);
    const size_t n = take(in) < 240 ? take_size(in) : SIZE_MAX >> take(in) % 64;
    const size_t groups = take_size(in);
    const size_t capacity = take(in) * (size_t)17;
    const ech_format format = (ech_format)(take(in) % 3);
    char *text = malloc(capacity + 1);
    size_t bytes = 0;
    FUZZ_CHECK(text != NULL);
    memset(text, 0x7F, capacity + 1);
    ech_status s;
    const ech_op op = (ech_op)(take(in) % 18);
    switch (what) {
    case 0:
        s = ech_sort_explain(device, n, dtype, groups, NULL, format, text, capacity);
        break;
    case 1:
        s = ech_argsort_explain(device, n, dtype, take_index(in), NULL, format, text, capacity);
        break;
    case 2:
        s = ech_reduce_explain(device, (ech_reduce_call)(take(in) % 5), op, n, groups, dtype, NULL,
                               format, text, capacity);
        break;
    case 3:
        s = ech_scan_explain(device, (ech_scan_call)(take(in) % 4), op, n, groups, dtype, NULL,
                             format, text, capacity);
        break;
    case 4:
        s = ech_select_explain(device, (ech_select_call)(take(in) % 10), n, groups, groups, NULL,
                               format, text, capacity);
        break;
    case 5:
        s = ech_histogram_explain(device, n, dtype, groups, NULL, format, text, capacity);
        break;
    case 6:
        s = ech_gf2_explain(device, (ech_gf2_call)(take(in) % 9), n, groups, take_size(in), NULL,
                            format, text, capacity);
        break;
    case 7:
        s = ech_matmul_explain(device, n, groups, take_size(in), dtype, NULL, format, text,
                               capacity);
        break;
    case 8:
        s = ech_sort_segments_explain(device, (ech_sort_call)(take(in) % 5), n, groups, dtype,
                                      take(in) % 10, NULL, format, text, capacity);
        break;
    case 9:
        s = ech_sort_segments_workspace(device, (ech_sort_call)(take(in) % 5), n, groups, dtype,
                                        take(in) % 10, NULL, &bytes);
        break;
    case 10:
        s = ech_sort_workspace(device, n, dtype, groups, NULL, &bytes);
        break;
    case 11:
        s = ech_reduce_workspace(device, (ech_reduce_call)(take(in) % 5), op, n, groups, dtype,
                                 NULL, &bytes);
        break;
    case 12:
        s = ech_scan_workspace(device, (ech_scan_call)(take(in) % 4), op, n, groups, dtype, NULL,
                               &bytes);
        break;
    case 13:
        s = ech_topk_workspace(device, (ech_topk_call)(take(in) % 4), n, groups, take_size(in),
                               dtype, NULL, &bytes);
        break;
    case 14:
        s = ech_topk_explain(device, (ech_topk_call)(take(in) % 4), n, groups, take_size(in), dtype,
                             NULL, format, text, capacity);
        break;
    default:
        s = ech_histogram_workspace(device, n, dtype, groups, NULL, &bytes);
    }
    check(NULL, s);
    FUZZ_CHECK(text[capacity] == 0x7F);
    if (s == ECH_OK && (what <= 8 || what == 14)) {
        FUZZ_CHECK(memchr(text, 0, capacity) != NULL && *text);
        if (format == ECH_FORMAT_JSON) FUZZ_CHECK(*text == '{' && strrchr(text, '}'));
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    struct input in = { bytes, n };
    struct contexts all;
    memset(&all, 0, sizeof all);
    if (ech_open(&all.ctx[0], "cpu") != ECH_OK) return 0;
    for (int step = 0; step < MOST_STEPS && in.left; step++) {
        const unsigned byte = take(&in), i = byte >> 7;
        switch (byte % 16) {
        case 0:
            open_one(&all, i, &in);
            break;
        case 1:
            close_one(&all, i);
            break;
        case 2:
            change_settings(all.ctx[i], &in);
            break;
        case 3:
            use_block(all.ctx[i], &all.blocks[i][take(&in) % BLOCKS], &in);
            break;
        case 4:
            ask(&in);
            break;
        default:
            /* Rarely without a context. */
            call_operation(&in, all.ctx[i] || byte % 32 == 31 ? all.ctx[i] : all.ctx[0]);
        }
    }
    for (unsigned i = 0; i < CONTEXTS; i++) close_one(&all, i);
    return 0;
}
