/*
 * buffer.c - memory for a test's inputs and outputs, between two guard zones.
 *
 *     base                data                    data + bytes
 *     | GUARD of 0xA7     | bytes of 0x5C          | GUARD of 0xA7 |
 *
 * In GPU memory, ech_copy() writes and reads the zones and the data. In host memory, the address
 * sanitizer reports any access to a zone, except to the up to seven bytes before data that are in
 * the same word of 8 bytes. On the emulator there are no zones: it reports each access before or
 * after an allocation, also one that only reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/poison.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 512, GUARD_BYTE = 0xA7, FILL_BYTE = 0x5C };

static bool has_zones(ech_ctx *ctx)
{
    return !ctx || strncmp(ech_device_name(ctx), "simt", 4) != 0;
}

static size_t whole_bytes(ech_ctx *ctx, size_t bytes, size_t offset)
{
    if (!has_zones(ctx)) return offset + bytes + (bytes == 0); /* data is in the allocation */
    return (bytes + 2 * GUARD + 512) / 256 * 256;
}

/* Forbids or permits accesses to the guard zones in host memory. */
static void forbid_guards(const struct buffer *buffer, bool forbid)
{
    const char *end = buffer->data + buffer->bytes;
    const size_t before = (size_t)(buffer->data - buffer->base);
    const size_t after = buffer->whole_bytes - before - buffer->bytes;
    if (buffer->ctx && !test_is_cpu(buffer->ctx)) return;
    if (forbid) {
        ASAN_POISON_MEMORY_REGION(buffer->base, before);
        ASAN_POISON_MEMORY_REGION(end, after);
    } else {
        ASAN_UNPOISON_MEMORY_REGION(buffer->base, before);
        ASAN_UNPOISON_MEMORY_REGION(end, after);
    }
}

bool buffer_make(struct buffer *buffer, ech_ctx *ctx, size_t bytes, size_t offset)
{
    const size_t whole = whole_bytes(ctx, bytes, offset);
    const size_t before = offset + (has_zones(ctx) ? GUARD : 0);
    *buffer = (struct buffer){ .ctx = ctx, .bytes = bytes, .whole_bytes = whole };
    char *image = aligned_alloc(256, (whole + 255) / 256 * 256);
    void *base = image;
    if (image && ctx && ech_malloc(ctx, &base, whole) != ECH_OK) base = NULL;
    if (!image || !base) {
        free(image);
        test_fail(__FILE__, __LINE__, "out of memory for a buffer of %zu bytes", bytes);
        return false;
    }
    memset(image, GUARD_BYTE, whole);
    memset(image + before, FILL_BYTE, bytes);
    buffer->base = base;
    buffer->data = buffer->base + before;
    bool copied = !ctx || CHECK_STATUS(ech_copy(ctx, base, image, whole), ECH_OK);
    if (ctx) free(image);
    forbid_guards(buffer, true);
    return copied;
}

void buffer_free(struct buffer *buffer)
{
    if (buffer->base) forbid_guards(buffer, false);
    if (buffer->ctx)
        ech_free(buffer->ctx, buffer->base, buffer->whole_bytes);
    else
        free(buffer->base);
    buffer->base = buffer->data = NULL;
}

bool buffer_set(struct buffer *buffer, const void *from)
{
    if (buffer->bytes == 0) return true;
    if (buffer->ctx)
        return CHECK_STATUS(ech_copy(buffer->ctx, buffer->data, from, buffer->bytes), ECH_OK);
    memcpy(buffer->data, from, buffer->bytes);
    return true;
}

bool buffer_get(const struct buffer *buffer, void *to)
{
    if (buffer->bytes == 0) return true;
    if (buffer->ctx)
        return CHECK_STATUS(ech_copy(buffer->ctx, to, buffer->data, buffer->bytes), ECH_OK);
    memcpy(to, buffer->data, buffer->bytes);
    return true;
}

static bool check_guards(const struct buffer *buffer, const char *name)
{
    size_t before = (size_t)(buffer->data - buffer->base);
    size_t after = buffer->whole_bytes - before - buffer->bytes;
    unsigned char zone[2 * GUARD + 512];
    const struct {
        const char *from;
        size_t bytes;
    } zones[] = { { buffer->base, before }, { buffer->data + buffer->bytes, after } };
    for (int z = 0; z < 2; z++) {
        if (zones[z].bytes == 0) continue;
        if (buffer->ctx) {
            if (!CHECK_STATUS(ech_copy(buffer->ctx, zone, zones[z].from, zones[z].bytes), ECH_OK))
                return false;
        } else {
            memcpy(zone, zones[z].from, zones[z].bytes);
        }
        for (size_t i = 0; i < zones[z].bytes; i++)
            if (zone[i] != GUARD_BYTE) {
                test_fail(__FILE__, __LINE__, "%s: byte %zu %s is 0x%02X", name,
                          z ? i + 1 : zones[z].bytes - i, z ? "past its end" : "before its start",
                          zone[i]);
                return false;
            }
    }
    return true;
}

bool buffer_check_guards(const struct buffer *buffer, const char *name)
{
    forbid_guards(buffer, false);
    const bool good = check_guards(buffer, name);
    forbid_guards(buffer, true);
    return good;
}

ech_dtype index_dtype(uint64_t which, uint64_t most)
{
    static const ech_dtype types[] = { ECH_U64, ECH_I32, ECH_I64, ECH_U32 };
    return types[most > INT32_MAX ? which % 2 * 2 : which % 4];
}

void *index_array(const uint64_t *from, size_t n, ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    char *to = malloc(n * bytes + 1);
    for (size_t i = 0; to && i < n; i++) {
        const uint32_t narrow = (uint32_t)from[i];
        if (bytes == 4)
            memcpy(to + i * bytes, &narrow, bytes);
        else
            memcpy(to + i * bytes, &from[i], bytes);
    }
    return to;
}

ech_dtype index_sign(ech_dtype dtype, uint64_t which)
{
    if (ech_dtype_bytes(dtype) == 4) return which % 2 ? ECH_U32 : ECH_I32;
    return which % 2 ? ECH_U64 : ECH_I64;
}
