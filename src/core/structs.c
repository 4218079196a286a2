/*
 * core/structs.c - structs that begin with their size, as the caller's header defines them: read,
 * written and checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"

#include <string.h>

ech_status echi_check_size(ech_ctx *ctx, const char *argument, const char *type, size_t size,
                           size_t bytes)
{
    enum { MOST_BYTES = 4096 }; /* no struct has ever been larger */
    if (size >= sizeof size && size <= MOST_BYTES) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "%s->size is %zu: set it to sizeof(%s), %zu", argument, size,
                     type, bytes);
}

ech_status echi_read_struct(ech_ctx *ctx, const char *argument, const char *type, const void *given,
                            void *read, size_t bytes)
{
    size_t size = bytes;
    memset(read, 0, bytes);
    if (given) memcpy(&size, given, sizeof size);
    ech_status status = echi_check_size(ctx, argument, type, size, bytes);
    if (status != ECH_OK) return status;
    if (given) memcpy(read, given, size < bytes ? size : bytes);
    memcpy(read, &bytes, sizeof bytes);
    for (size_t i = bytes; i < size; i++)
        if (((const unsigned char *)given)[i])
            return echi_fail(
                ctx, ECH_ERR_UNSUPPORTED,
                "%s has a nonzero field at byte %zu, which this version of the library (%s) does "
                "not know: set it to zero or use a newer library",
                argument, i, ech_version());
    return ECH_OK;
}

void echi_write_struct(const void *from, size_t bytes, void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    memset(given, 0, size);
    memcpy(given, from, size < bytes ? size : bytes);
    memcpy(given, &size, sizeof size);
}

ech_status echi_read_options(ech_ctx *ctx, const char *type, const void *given, void *read,
                             size_t bytes, size_t work_offset)
{
    const void *work;
    size_t work_bytes;
    ech_status status = echi_read_struct(ctx, "options", type, given, read, bytes);
    if (status != ECH_OK) return status;
    memcpy(&work, (const char *)read + work_offset, sizeof work);
    memcpy(&work_bytes, (const char *)read + work_offset + sizeof work, sizeof work_bytes);
    if (work_bytes && !work)
        return echi_fail(ctx, ECH_ERR_ARG, "options->work is NULL, but work_bytes is %zu",
                         work_bytes);
    if ((uintptr_t)work % ECHI_ALIGN)
        return echi_fail(ctx, ECH_ERR_ARG, "options->work is not aligned to %d bytes", ECHI_ALIGN);
    return ECH_OK;
}
