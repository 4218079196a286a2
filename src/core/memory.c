/*
 * core/memory.c - allocation by the caller's or the backend's allocator, with accounting and limit;
 * layout of workspaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"

static bool within_limit(const ech_ctx *ctx, size_t bytes)
{
    return !ctx->limit_bytes ||
           (ctx->held_bytes <= ctx->limit_bytes && bytes <= ctx->limit_bytes - ctx->held_bytes);
}

/* ---- Memory of the caller ---- */

static void *take(struct echi_arena *arena, size_t bytes)
{
    size_t at = 0, size;
    int i = 0;
    if (__builtin_add_overflow(bytes, (size_t)ECHI_ALIGN - 1, &size)) return NULL;
    size &= ~(size_t)(ECHI_ALIGN - 1);
    for (; i < arena->blocks && arena->block[i].at - at < size; i++)
        at = arena->block[i].at + arena->block[i].bytes;
    if (arena->blocks == ECHI_ARENA_BLOCKS || arena->bytes - at < size) return NULL;
    for (int j = arena->blocks++; j > i; j--) arena->block[j] = arena->block[j - 1];
    arena->block[i].at = at;
    arena->block[i].bytes = size;
    return arena->base + at;
}

static bool give(struct echi_arena *arena, const void *pointer)
{
    for (int i = 0; i < arena->blocks; i++) {
        if (arena->base + arena->block[i].at != pointer) continue;
        arena->blocks--;
        for (; i < arena->blocks; i++) arena->block[i] = arena->block[i + 1];
        return true;
    }
    return false;
}

/* ---- Allocation ---- */

ech_status echi_try_allocate(ech_ctx *ctx, size_t bytes, const char *what, void **pointer)
{
    ech_status status = ECH_OK;
    *pointer = NULL;
    if (bytes == 0) return ECH_OK;
    const struct echi_backend *backend = ctx->backend;
    const ech_allocator *own = &ctx->allocator;
    if (ctx->arena && (*pointer = take(ctx->arena, bytes)) != NULL) return ECH_OK;
    if (!within_limit(ctx, bytes)) return ECH_ERR_MEMORY;
    if (own->allocate)
        *pointer = own->allocate(own->user, bytes, backend->stream(ctx));
    else
        status = backend->allocate(ctx, bytes, pointer);
    if (!*pointer) return status == ECH_OK ? ECH_ERR_MEMORY : status;
    ctx->held_bytes += bytes;
    if (ctx->held_bytes > ctx->peak_bytes) ctx->peak_bytes = ctx->held_bytes;
    echi_log(ctx, ECH_LOG_TRACE, "allocate %zu bytes for %s", bytes, what);
    return ECH_OK;
}

ech_status echi_allocate(ech_ctx *ctx, size_t bytes, const char *what, void **pointer)
{
    const ech_status status = echi_try_allocate(ctx, bytes, what, pointer);
    if (status != ECH_ERR_MEMORY) return status;
    if (!within_limit(ctx, bytes))
        return echi_fail(ctx, ECH_ERR_MEMORY,
                         "out of memory on %s: %zu bytes for %s exceed the limit of %llu bytes, of "
                         "which %llu are in use",
                         ctx->name, bytes, what, (unsigned long long)ctx->limit_bytes,
                         (unsigned long long)ctx->held_bytes);
    return echi_fail(ctx, ECH_ERR_MEMORY, "out of memory on %s: %zu bytes for %s", ctx->name, bytes,
                     what);
}

void echi_release(ech_ctx *ctx, void *pointer, size_t bytes)
{
    if (!pointer || (ctx->arena && give(ctx->arena, pointer))) return;
    if (ctx->allocator.release)
        ctx->allocator.release(ctx->allocator.user, pointer, bytes, ctx->backend->stream(ctx));
    else
        ctx->backend->release(ctx, pointer, bytes);
    ctx->held_bytes -= bytes;
}

/* Whether the workspace is in memory that the backend always has. */
static bool use_scratch(ech_ctx *ctx, size_t bytes, void **pointer)
{
    if (!ctx->backend->scratch || ctx->allocator.allocate || bytes == 0 || ctx->lent ||
        ctx->arena || !within_limit(ctx, bytes))
        return false;
    *pointer = ctx->lent = ctx->backend->scratch(ctx, bytes);
    if (!ctx->lent) return false;
    ctx->held_bytes += bytes;
    if (ctx->held_bytes > ctx->peak_bytes) ctx->peak_bytes = ctx->held_bytes;
    return true;
}

ech_status echi_borrow(ech_ctx *ctx, size_t bytes, const char *what, void **pointer)
{
    if (use_scratch(ctx, bytes, pointer)) return ECH_OK;
    if (ctx->allocator.allocate || ctx->backend->pooled || bytes == 0 || ctx->lent || ctx->arena)
        return echi_allocate(ctx, bytes, what, pointer);
    if (ctx->spare_bytes < bytes || !within_limit(ctx, bytes)) {
        ech_status status = echi_allocate(ctx, bytes, what, pointer);
        ctx->lent = *pointer;
        ctx->lent_bytes = bytes;
        return status;
    }
    *pointer = ctx->lent = ctx->spare;
    ctx->lent_bytes = ctx->spare_bytes;
    ctx->spare = NULL;
    ctx->spare_bytes = 0;
    ctx->held_bytes += bytes;
    if (ctx->held_bytes > ctx->peak_bytes) ctx->peak_bytes = ctx->held_bytes;
    echi_log(ctx, ECH_LOG_TRACE, "reuse %zu bytes for %s", bytes, what);
    return ECH_OK;
}

void echi_give_back(ech_ctx *ctx, void *pointer, size_t bytes)
{
    if (!pointer) return;
    if (pointer != ctx->lent) {
        echi_release(ctx, pointer, bytes);
        return;
    }
    ctx->lent = NULL;
    ctx->held_bytes -= bytes;
    if (ctx->backend->scratch) return;
    if (ctx->lent_bytes > ctx->spare_bytes) {
        echi_drop_spare(ctx);
        ctx->spare = pointer;
        ctx->spare_bytes = ctx->lent_bytes;
    } else {
        ctx->backend->release(ctx, pointer, ctx->lent_bytes);
    }
}

void echi_drop_spare(ech_ctx *ctx)
{
    if (ctx->spare) ctx->backend->release(ctx, ctx->spare, ctx->spare_bytes);
    ctx->spare = NULL;
    ctx->spare_bytes = 0;
}

void *echi_part(struct echi_layout *layout, size_t count, size_t element_bytes)
{
    size_t bytes, end;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)ECHI_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(layout->bytes, bytes & ~(size_t)(ECHI_ALIGN - 1), &end)) {
        layout->overflow = true;
        return NULL;
    }
    void *part = layout->base ? layout->base + layout->bytes : NULL;
    layout->bytes = end;
    return part;
}

ech_status ech_malloc(ech_ctx *ctx, void **pointer, size_t bytes)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!pointer) return echi_fail(ctx, ECH_ERR_ARG, "pointer is NULL");
    return echi_allocate(ctx, bytes, "ech_malloc()", pointer);
}

void ech_free(ech_ctx *ctx, void *pointer, size_t bytes)
{
    if (ctx) echi_release(ctx, pointer, bytes);
}

static ech_status check_copy(ech_ctx *ctx, const void *to, const void *from, size_t bytes)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (bytes && !to) return echi_fail(ctx, ECH_ERR_ARG, "to is NULL");
    if (bytes && !from) return echi_fail(ctx, ECH_ERR_ARG, "from is NULL");
    return ECH_OK;
}

ech_status ech_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    ech_status status = check_copy(ctx, to, from, bytes);
    return status == ECH_OK && bytes ? ctx->backend->copy(ctx, to, from, bytes) : status;
}

ech_status ech_copy_async(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    ech_status status = check_copy(ctx, to, from, bytes);
    return status == ECH_OK && bytes ? ctx->backend->copy_async(ctx, to, from, bytes) : status;
}

void ech_memory_usage(ech_ctx *ctx, int reset, uint64_t *now_bytes, uint64_t *peak_bytes)
{
    if (now_bytes) *now_bytes = ctx ? ctx->held_bytes : 0;
    if (peak_bytes) *peak_bytes = ctx ? ctx->peak_bytes : 0;
    if (ctx && reset) ctx->peak_bytes = ctx->held_bytes;
}

void ech_trim(ech_ctx *ctx)
{
    if (!ctx) return;
    ech_trim(ctx->cpu);
    ech_trim(ctx->side);
    echi_drop_spare(ctx);
    ctx->backend->trim(ctx);
}
