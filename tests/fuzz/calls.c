/*
 * calls.c - the arrays of a call, and the checks after it, for fuzz_calls.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/poison.h"
#include "calls.h"

#include <string.h>

enum { GUARD = 64, ALIGN = 256, GUARD_BYTE = 0xA7, FILL_BYTE = 0x5C, MOST = 300 };

unsigned take(struct input *in)
{
    if (!in->left) return 0;
    in->left--;
    return *in->at++;
}

ech_dtype take_dtype(struct input *in)
{
    const unsigned byte = take(in);
    return (ech_dtype)(byte >= 250 ? byte - 238 : byte % 12); /* 12 to 17 do not exist */
}

ech_dtype take_index(struct input *in)
{
    static const ech_dtype types[] = { ECH_I32, ECH_U32, ECH_I64, ECH_U64 };
    const unsigned byte = take(in);
    return byte >= 250 ? ECH_F32 : types[byte % 4];
}

/* Mostly small. */
size_t take_size(struct input *in)
{
    const unsigned byte = take(in);
    return byte < 200 ? byte % 40 : byte < 250 ? MOST - byte : (size_t)take(in) * 17;
}

void call_begin(struct call *c, struct input *in, ech_ctx *ctx)
{
    *c = (struct call){ .in = in, .ctx = ctx, .spoiled = !ctx };
    const unsigned byte = take(in);
    if (byte < 128) return;
    c->spoil = (enum spoil)(byte % SPOILS);
    c->which = (int)(take(in) % 4);
}

static size_t whole_of(size_t bytes)
{
    return (bytes + 2 * (size_t)GUARD + 2 * (size_t)ALIGN - 1) / ALIGN * ALIGN;
}

static void permit(const struct area *a)
{
    ASAN_UNPOISON_MEMORY_REGION(a->base, whole_of(a->bytes));
}

static void forbid(const struct area *a)
{
    const unsigned char *end = a->data + a->bytes;
    ASAN_POISON_MEMORY_REGION(a->base, (size_t)(a->data - a->base));
    ASAN_POISON_MEMORY_REGION(end, (size_t)(a->base + whole_of(a->bytes) - end));
}

static struct area *make_area(struct call *c, size_t bytes, size_t offset)
{
    FUZZ_CHECK(c->count < AREAS);
    struct area *a = &c->areas[c->count++];
    *a = (struct area){ .bytes = bytes };
    a->base = aligned_alloc(ALIGN, whole_of(bytes));
    a->before = malloc(bytes + 1);
    FUZZ_CHECK(a->base && a->before);
    a->data = a->base + GUARD + offset;
    memset(a->base, GUARD_BYTE, whole_of(bytes));
    memset(a->data, FILL_BYTE, bytes);
    memset(a->before, FILL_BYTE, bytes);
    forbid(a);
    return a;
}

static void *spoilt(struct call *c, const struct area *a, size_t align)
{
    const bool mine = c->which == c->count - 1;
    if (!mine || !a->bytes) return a->data;
    if (c->spoil == ARRAY_NULL) {
        c->array_spoiled = true;
        return NULL;
    }
    if (c->spoil == ARRAY_UNALIGNED && align > 1) {
        c->array_spoiled = true;
        return a->data + 1; /* rejected before any access */
    }
    return a->data;
}

void *array_in(struct call *c, size_t n, size_t element_bytes, size_t align)
{
    struct area *a = make_area(c, n * element_bytes, take(c->in) % 4 * element_bytes % ALIGN);
    uint32_t state = take(c->in) * 2654435761u + 1;
    const unsigned kind = take(c->in);
    for (size_t i = 0; i < a->bytes; i++) {
        state = state * 1664525 + 1013904223;
        a->data[i] = kind % 4 == 0   ? (unsigned char)(i % element_bytes ? 0 : state >> 29)
                     : kind % 4 == 1 ? (unsigned char)take(c->in)
                                     : (unsigned char)(state >> 24);
    }
    a->constant = true;
    if (a->bytes) memcpy(a->before, a->data, a->bytes);
    return spoilt(c, a, align);
}

void *array_last(struct call *c)
{
    return c->areas[c->count - 1].data;
}

void array_keep(struct call *c)
{
    const struct area *a = &c->areas[c->count - 1];
    if (a->bytes) memcpy(a->before, a->data, a->bytes);
}

void *array_out(struct call *c, size_t n, size_t element_bytes, size_t align)
{
    const struct area *a = make_area(c, n * element_bytes, take(c->in) % 4 * element_bytes % ALIGN);
    return spoilt(c, a, align);
}

void call_size(struct call *c, size_t *size)
{
    static const size_t sizes[] = { 0, 7, 5000 };
    if (c->spoil != SIZE_FIELD) return;
    *size = sizes[take(c->in) % 3];
    c->spoiled = true;
}

void call_options(struct call *c, size_t *size, void **work, size_t *work_bytes, size_t needed,
                  const char **algorithm)
{
    static const char *const names[] = { "none such", "lsd", "empty", "" };
    const unsigned byte = take(c->in);
    call_size(c, size);
    if (c->spoil == ALGORITHM && algorithm) *algorithm = names[byte % 4];
    if (!c->ctx || strcmp(ech_device_name(c->ctx), "cpu") != 0 || (byte < 128 && !c->spoil)) return;
    size_t bytes = needed + (c->spoil ? 0 : byte % 3 * 100);
    if (c->spoil == WORK_SMALL && needed) {
        bytes = byte % 2 ? needed - 1 : needed / 2;
        c->spoiled = true;
    }
    struct area *a = make_area(c, bytes, ALIGN - GUARD);
    *work = a->data;
    *work_bytes = bytes;
    if (c->spoil == ARRAY_UNALIGNED && c->which == 3) {
        *work = a->data + 8;
        c->spoiled = true;
    }
}

static bool is_fill(const unsigned char *at, const unsigned char *end)
{
    while (at < end && *at == GUARD_BYTE) at++;
    return at == end;
}

bool call_check(struct call *c, ech_status status)
{
    FUZZ_CHECK(status == ECH_OK || *ech_error(c->ctx));
    FUZZ_CHECK(!(c->spoiled || c->array_spoiled) || status != ECH_OK);
    FUZZ_CHECK(status == ECH_OK || status == ECH_ERR_ARG || status == ECH_ERR_UNSUPPORTED ||
               status == ECH_ERR_MEMORY || status == ECH_ERR_CANCELED);
    const bool untouched =
        status == ECH_ERR_UNSUPPORTED || (status == ECH_ERR_ARG && !c->data_error);
    for (int i = 0; i < c->count; i++) {
        const struct area *a = &c->areas[i];
        permit(a);
        FUZZ_CHECK(is_fill(a->base, a->data));
        FUZZ_CHECK(is_fill(a->data + a->bytes, a->base + whole_of(a->bytes)));
        if (a->constant || untouched)
            FUZZ_CHECK(!a->bytes || memcmp(a->data, a->before, a->bytes) == 0);
    }
    return status == ECH_OK;
}

void call_end(struct call *c)
{
    for (int i = 0; i < c->count; i++) {
        permit(&c->areas[i]);
        free(c->areas[i].base);
        free(c->areas[i].before);
    }
}
