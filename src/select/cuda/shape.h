/*
 * select/cuda/shape.h - the tiles of a selection, host code: which elements are read as vectors,
 * where the first tile begins, how many elements a tile has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_SHAPE_H
#define ECHI_SELECT_CUDA_SHAPE_H

#include "select/select.h"
#include "select/cuda/common.h"

static bool is_by_flags(const struct echi_select *s)
{
    return s->by == ECHI_BY_BYTES || s->by == ECHI_BY_BITS;
}

static uint32_t element_skew(const struct echi_select *s)
{
    return (uint32_t)((uintptr_t)s->in % 16 / s->element_bytes);
}

/* Whether select_k<bits> processes the flags, which must be aligned to vectors. It reads all
 * elements; select_flags_a reads those that it moves, by position, which suits large ones. */
static bool has_vectors(const struct echi_select *s)
{
    const size_t bytes = s->element_bytes;
    if (!is_by_flags(s) || bytes > 8 || (bytes & (bytes - 1))) return false;
    if (s->what == ECHI_KEEP && (s->starts || bytes > SELECT_FLAGGED_BYTES)) return false;
    if (((uintptr_t)s->in | (uintptr_t)s->out) % bytes) return false;
    const uint32_t skew = element_skew(s);
    if (s->by == ECHI_BY_BITS) return skew == 0 && (uintptr_t)s->flags % 2 == 0;
    return ((uintptr_t)s->flags - skew) % (16 / bytes) == 0;
}

/* Whether elements are moved by select_flags_a. */
static bool is_by_position(const struct echi_select *s)
{
    return is_by_flags(s) && !has_vectors(s);
}

/* The elements by which the first tile begins before the array, so that its vectors are aligned. */
static uint32_t skew_of(const struct echi_select *s)
{
    if (!is_by_position(s)) return element_skew(s);
    if (s->by == ECHI_BY_BYTES) return (uint32_t)((uintptr_t)s->flags % 16);
    return (uint32_t)((uintptr_t)s->flags % 2 * 8);
}

static bool is_along(const struct echi_select *s)
{
    return s->starts || s->lengths || s->values;
}

static uint32_t tile_of(const struct echi_select *s)
{
    if (is_by_position(s)) return SELECT_TILE_FLAGS;
    if (s->lengths && s->element_bytes == 1 && s->n <= SELECT_FEW_BYTES)
        return SELECT_TILE_BYTES / 2;
    return SELECT_TILE_BYTES / (uint32_t)s->element_bytes;
}

#endif
