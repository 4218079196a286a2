/*
 * sparse_direct/structure.c - a column without a place in any full matching of rows and columns,
 * which makes a matrix singular for all values: for libraries that do not name a column.
 *
 * For each column, a depth-first search looks for a row that is free, or whose column can be
 * matched with another row (augmenting paths, as in MC21 of I. Duff).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct/sparse_direct.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const struct echi_csc *a;
    int64_t *column_of; /* [n] the column matched with a row; -1: none */
    int64_t *visited;   /* [n] the last column whose search has visited this row */
    int64_t *path;      /* [n] columns of the path */
    int64_t *at;        /* [n] the next entry to try in each of them */
};

/* Whether column j can be matched. */
static bool augment(const struct search *s, int64_t j)
{
    size_t depth = 0;
    s->path[0] = j;
    s->at[0] = s->a->offsets[j];
    for (;;) {
        const int64_t column = s->path[depth], end = s->a->offsets[column + 1];
        int64_t e = s->at[depth];
        while (e < end && (s->a->values[e] == 0 || s->visited[s->a->rows[e]] == j)) e++;
        s->at[depth] = e + 1;
        if (e == end) {
            if (!depth--) return false;
            continue;
        }
        const int64_t row = s->a->rows[e], next = s->column_of[row];
        s->visited[row] = j;
        if (next < 0) break;
        s->path[++depth] = next;
        s->at[depth] = s->a->offsets[next];
    }
    for (size_t k = 0; k <= depth; k++) s->column_of[s->a->rows[s->at[k] - 1]] = s->path[k];
    return true;
}

uint64_t echi_csc_unmatched(const struct echi_csc *a)
{
    const size_t n = a->n;
    int64_t *memory = malloc((4 * n + 1) * sizeof *memory);
    uint64_t found = UINT64_MAX;
    if (!memory) return found;
    const struct search s = { a, memory, memory + n, memory + 2 * n, memory + 3 * n };
    memset(memory, 0xff, 2 * n * sizeof *memory);
    for (size_t j = 0; j < n && found == UINT64_MAX; j++)
        if (!augment(&s, (int64_t)j)) found = j;
    free(memory);
    return found;
}
