/*
 * gf2/cpu/moves.c - composition of row swaps, so that a byte column is permuted in one step.
 *
 * Pivots are mostly found near their final place, so the rows that move are in few lines of 64.  If
 * an instruction set can permute the bytes of a line, each new line is the sum of such permutations
 * of old ones; otherwise bytes are loaded, then stored, one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

/* The place in m->line of a row's line; -1: too far away. */
static int place(struct echi_gf2_moves *m, int8_t *places, size_t first, size_t row)
{
    const size_t line = row / ECHI_GF2_LINE - first;
    if (line >= ECHI_GF2_MOVE_LINES) return -1;
    if (places[line] < 0) {
        places[line] = (int8_t)m->lines;
        m->line[m->lines++] = first + line;
    }
    return places[line];
}

/* Determines the sources of each touched line; false: too many of them. */
static bool by_lines(struct echi_gf2_moves *m, size_t start)
{
    const size_t first = start / ECHI_GF2_LINE;
    int8_t places[ECHI_GF2_MOVE_LINES], moves[ECHI_GF2_MOVE_LINES][ECHI_GF2_MOVE_LINES];
    memset(places, -1, sizeof places);
    memset(moves, -1, sizeof moves);
    for (size_t i = 0; i < m->pairs; i++) {
        const int to = place(m, places, first, m->to[i]);
        const int from = place(m, places, first, m->from[i]);
        if (to < 0 || from < 0) return false;
        if (moves[to][from] < 0) {
            if (m->moves == ECHI_GF2_MOVES) return false;
            m->move[m->moves].mask = 0;
            moves[to][from] = (int8_t)m->moves++;
        }
        struct echi_gf2_move *move = &m->move[moves[to][from]];
        move->index[m->to[i] % ECHI_GF2_LINE] = m->from[i] % ECHI_GF2_LINE;
        move->mask |= (uint64_t)1 << m->to[i] % ECHI_GF2_LINE;
    }
    for (int to = 0; to < m->lines; to++) {
        m->count[to] = 0;
        for (int from = 0; from < m->lines; from++)
            if (moves[to][from] >= 0) {
                m->from_line[to][m->count[to]] = (uint8_t)from;
                m->which[to][m->count[to]++] = (uint8_t)moves[to][from];
            }
    }
    return true;
}

void echi_gf2_moves_make(struct echi_gf2_moves *m, const uint32_t *swapped, size_t start, size_t q,
                         uint32_t *moved, bool lines)
{
    m->pairs = 0;
    m->lines = m->moves = 0;
    for (size_t i = start; i < start + q; i++) {
        const uint32_t row = moved[i];
        moved[i] = moved[swapped[i]];
        moved[swapped[i]] = row;
    }
    for (size_t i = start; i < start + q; i++)
        for (int end = 0; end < 2; end++) {
            const uint32_t row = end ? swapped[i] : (uint32_t)i;
            if (moved[row] == row) continue;
            m->to[m->pairs] = row;
            m->from[m->pairs++] = moved[row];
            moved[row] = row;
        }
    if (!lines || m->pairs == 0) return;
    if (!by_lines(m, start)) m->lines = 0;
}

void echi_gf2_moves_apply(const struct echi_gf2_moves *m, const struct echi_gf2_isa *isa,
                          const struct echi_gf2_columns *columns, size_t c)
{
    if (m->lines) {
        uint8_t *lines[ECHI_GF2_MOVE_LINES];
        for (int i = 0; i < m->lines; i++)
            lines[i] = echi_gf2_at(columns, c, m->line[i] * ECHI_GF2_LINE);
        isa->permute(m, lines);
        return;
    }
    uint8_t bytes[ECHI_GF2_PAIRS];
    for (size_t i = 0; i < m->pairs; i++) bytes[i] = *echi_gf2_at(columns, c, m->from[i]);
    for (size_t i = 0; i < m->pairs; i++) *echi_gf2_at(columns, c, m->to[i]) = bytes[i];
}
