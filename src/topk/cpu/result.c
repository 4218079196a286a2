/*
 * topk/cpu/result.c - sorts the candidates of a group and writes them: values are read from the
 * input, because encoded keys do not contain the sign of zero and the bits of NaN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"
#include "topk/cpu/common.h"

#include <string.h>

void echi_topk_lay_out_sort(const struct echi_topk *t, size_t parts, struct echi_layout *layout,
                            struct echi_topk_memory *m)
{
    const size_t selected = echi_topk_most(t), bytes = (size_t)t->key_bytes;
    /* Short groups are sorted as a whole if nearly all of the elements are selected. */
    const size_t most = selected < ECHI_TOPK_WHOLE ? 2 * selected : selected;
    const size_t sorts = t->groups > 1 ? parts : 1; /* at the same time */
    if (!t->sorted || selected <= ECHI_TOPK_FEW) return;
    if (__builtin_mul_overflow(most, sorts, &m->sorted) || m->sorted > t->n) m->sorted = t->n;
    m->sorted_positions = echi_part(layout, m->sorted, sizeof *m->sorted_positions);
    m->block_bytes = ECHI_SCRATCH_BYTES * echi_min(most, ECHI_BLOCK_KEYS);
    m->block = echi_part(layout, parts, m->block_bytes);
    if (most <= ECHI_BLOCK_KEYS) return;
    m->other_positions = echi_part(layout, m->sorted, sizeof *m->other_positions);
    m->sorted_e = echi_part(layout, m->sorted, bytes);
    m->other_e = echi_part(layout, m->sorted, bytes);
    m->counts_bytes = ECHI_BUCKETS * sizeof(size_t);
    m->counts = echi_part(layout, parts, m->counts_bytes);
    m->lines = echi_part(layout, parts, ECHI_LINES_BYTES);
}

static char *moved(char *pointer, size_t n, size_t bytes)
{
    return pointer ? pointer + n * bytes : NULL;
}

/* Sorts the candidates of a group; returns their positions in this order. */
static const uint64_t *sort_many(const struct echi_topk_group *group)
{
    const struct echi_topk_memory *m = &group->job->memory;
    const size_t bytes = (size_t)group->job->request->key_bytes, thread = (size_t)group->thread;
    const size_t first = group->sorted, position_bytes = sizeof *group->positions;
    const int width = echi_bit_length(bytes) - 1;
    const bool all = echi_topk_sorts(group);
    const struct echi_sort sort = { .n = all ? group->n : group->k,
                                    .value_bytes = position_bytes,
                                    .index_bytes = all ? (int)position_bytes : 0,
                                    .key_bytes = (int)bytes,
                                    .order = echi_topk_encoded,
                                    .end_bit = (int)(8 * bytes),
                                    .stable = true };
    const struct echi_sort_job sort_job = {
        .sort = &sort,
        .isa = echi_cpu_sort_isa(),
        .width = echi_cpu_sort_isa()->widths[width],
        .window = echi_sort_window(&sort),
        .key_bytes = bytes,
        .value_bytes = position_bytes,
        .in = { group->e, all ? NULL : (char *)group->positions },
        .out = { moved(m->sorted_e, first, bytes), (char *)(m->sorted_positions + first) },
        .other = { moved(m->other_e, first, bytes),
                   moved((char *)m->other_positions, first, position_bytes) },
        .scratch = moved(m->block, thread, m->block_bytes),
        .scratch_bytes = m->block_bytes,
        .counts = (size_t *)(void *)moved(m->counts, thread, m->counts_bytes),
        .lines = moved(m->lines, thread, ECHI_LINES_BYTES),
        .threads = group->threads
    };
    echi_sort_msd(&sort_job);
    return m->sorted_positions + first;
}

#define GATHER(size)                                                                               \
    if (bytes == size) {                                                                           \
        for (size_t j = 0; j < k; j++)                                                             \
            memcpy(to + j * to_step * size, from + positions[j] * step * size, size);              \
        return;                                                                                    \
    }

/* Element j of `to` becomes element positions[j] of `from`. */
static void gather(char *to, size_t to_step, const char *from, size_t step,
                   const uint64_t *positions, size_t k, size_t bytes)
{
    GATHER((size_t)4)
    GATHER((size_t)8)
    GATHER((size_t)2)
    GATHER((size_t)1)
}

#undef GATHER

static void write_positions(char *to, size_t step, const uint64_t *positions, size_t k, int bytes)
{
    for (size_t j = 0; j < k; j++) {
        const uint32_t narrow = (uint32_t)positions[j];
        if (bytes == 4)
            memcpy(to + 4 * j * step, &narrow, 4);
        else
            memcpy(to + 8 * j * step, &positions[j], 8);
    }
}

void echi_topk_write_at(const struct echi_topk *t, const char *in, const uint64_t *positions,
                        size_t k, size_t g)
{
    const size_t bytes = (size_t)t->key_bytes, at = g * t->out_strides.row;
    if (t->values)
        gather((char *)t->values + at * bytes, t->out_strides.element, in, t->in_strides.element,
               positions, k, bytes);
    if (t->indices)
        write_positions((char *)t->indices + at * (size_t)t->index_bytes, t->out_strides.element,
                        positions, k, t->index_bytes);
}

/* Writes the positions of few candidates in the order of the keys. */
static void sort_few(const struct echi_topk_group *group, size_t candidates, uint64_t *out)
{
    const int width = echi_bit_length((uint64_t)group->job->request->key_bytes) - 1;
    const struct echi_sort_width *sorts = echi_cpu_sort_isa()->widths[width];
    const struct echi_window window = { .order = echi_topk_encoded, .mask = ~(uint64_t)0 };
    if (candidates <= ECHI_RANKED_KEYS && sorts->sort_ranks)
        sorts->sort_ranks(&window, group->e, group->positions, candidates, sizeof *out, NULL, out);
    else
        group->job->width->sort(group->e, group->positions, candidates, out);
}

void echi_topk_write(const struct echi_topk_group *group, size_t candidates, size_t g)
{
    const struct echi_topk *t = group->job->request;
    const uint64_t *positions = group->positions;
    uint64_t few[ECHI_TOPK_FEW];
    if (t->sorted && group->k <= ECHI_TOPK_FEW) {
        sort_few(group, candidates, few);
        positions = few;
    } else if (t->sorted) {
        positions = sort_many(group);
    }
    echi_topk_write_at(t, group->in, positions, group->k, g);
}
