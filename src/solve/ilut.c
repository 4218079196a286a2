/*
 * solve/ilut.c - the incomplete factorization ILUT (Y. Saad, 1994), in f64 on the host.
 *
 *     row i of A  ->  minus multiples of the rows of U left of the diagonal, in ascending order
 *                 ->  elements below drop_tolerance |row i of A| are dropped
 *                 ->  the largest `fill` elements more than A has are kept in L, and in U
 *
 * The result depends on A only: of elements of equal size, those with lower columns are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct element {
    uint64_t column;
    double value;
};

struct row {
    double *value;        /* [n] the elements of the current row; 0 elsewhere */
    bool *present;        /* [n] whether the row has an element in this column */
    uint64_t *heap;       /* [n] the columns left of the diagonal, the lowest at the top */
    uint64_t left;        /* number of columns in heap */
    uint64_t *right;      /* [n] the columns right of the diagonal, in any order */
    uint64_t right_count; /* number of columns in right */
    struct element *kept; /* [n] elements of L, or of U */
};

/* ---- The heap ---- */

static void push(struct row *r, uint64_t column)
{
    uint64_t at = r->left++;
    for (; at > 0 && r->heap[(at - 1) / 2] > column; at = (at - 1) / 2)
        r->heap[at] = r->heap[(at - 1) / 2];
    r->heap[at] = column;
}

static uint64_t pop(struct row *r)
{
    const uint64_t top = r->heap[0], last = r->heap[--r->left];
    uint64_t at = 0;
    for (uint64_t child; (child = 2 * at + 1) < r->left; at = child) {
        if (child + 1 < r->left && r->heap[child + 1] < r->heap[child]) child++;
        if (r->heap[child] >= last) break;
        r->heap[at] = r->heap[child];
    }
    r->heap[at] = last;
    return top;
}

/* Adds to the element in a column. */
static void add(struct row *r, uint64_t i, uint64_t column, double value)
{
    r->value[column] += value;
    if (r->present[column]) return;
    r->present[column] = true;
    if (column < i)
        push(r, column);
    else if (column > i)
        r->right[r->right_count++] = column;
}

/* ---- Selection ---- */

static int larger_first(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    const double size = fabs(x->value), other = fabs(y->value);
    if (size != other) return size > other ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static int by_column(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* Appends the `most` largest elements to the factor, by column. */
static void append(struct element *list, uint64_t count, uint64_t most, struct echi_host_csr *out)
{
    if (count > most) {
        qsort(list, count, sizeof *list, larger_first);
        count = most;
    }
    qsort(list, count, sizeof *list, by_column);
    for (uint64_t k = 0; k < count; k++) {
        out->columns[out->entries] = list[k].column;
        out->values[out->entries++] = list[k].value;
    }
}

/* ---- Rows ---- */

/* Loads row i of A; returns its Euclidean norm. */
static double load(struct row *r, const struct echi_host_csr *a, uint64_t i, uint64_t *lower,
                   uint64_t *upper)
{
    double sum = 0;
    *lower = *upper = 0;
    for (uint64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
        *lower += a->columns[e] < i && !r->present[a->columns[e]];
        *upper += a->columns[e] > i && !r->present[a->columns[e]];
        add(r, i, a->columns[e], a->values[e]);
        sum += a->values[e] * a->values[e];
    }
    return sqrt(sum);
}

/* Eliminates the elements left of the diagonal; returns the number of elements of L in r->kept. */
static uint64_t eliminate(struct row *r, const struct echi_host_csr *out, uint64_t i, double limit)
{
    uint64_t count = 0;
    while (r->left) {
        const uint64_t k = pop(r), pivot = out->diagonal[k];
        const double ratio = r->value[k] / out->values[pivot];
        r->value[k] = 0;
        r->present[k] = false;
        if (!(fabs(ratio) * fabs(out->values[pivot]) > limit)) continue;
        for (uint64_t e = pivot + 1; e < out->offsets[k + 1]; e++)
            add(r, i, out->columns[e], -ratio * out->values[e]);
        r->kept[count++] = (struct element){ k, ratio };
    }
    return count;
}

/* Moves the elements right of the diagonal to r->kept; returns their number. */
static uint64_t collect(struct row *r, double limit)
{
    uint64_t count = 0;
    for (uint64_t k = 0; k < r->right_count; k++) {
        const uint64_t j = r->right[k];
        if (fabs(r->value[j]) > limit) r->kept[count++] = (struct element){ j, r->value[j] };
        r->value[j] = 0;
        r->present[j] = false;
    }
    r->right_count = 0;
    return count;
}

/* False: row i has no pivot. */
static bool factor_row(struct row *r, const struct echi_host_csr *a, double drop, uint64_t fill,
                       uint64_t i, struct echi_host_csr *out)
{
    uint64_t lower, upper;
    const double limit = drop * load(r, a, i, &lower, &upper);
    const uint64_t left = eliminate(r, out, i, limit);
    append(r->kept, left, lower + fill, out);
    const double pivot = r->value[i];
    r->value[i] = 0;
    r->present[i] = false;
    out->diagonal[i] = out->entries;
    out->columns[out->entries] = i;
    out->values[out->entries++] = pivot;
    append(r->kept, collect(r, limit), upper + fill, out);
    out->offsets[i + 1] = out->entries;
    return pivot != 0;
}

uint64_t echi_ilut_entries(uint64_t n, uint64_t entries, uint64_t fill)
{
    uint64_t most;
    if (__builtin_mul_overflow(n, 2 * fill + 1, &most) ||
        __builtin_add_overflow(most, entries, &most))
        return UINT64_MAX;
    return most;
}

ech_status echi_ilut(ech_ctx *ctx, const struct echi_host_csr *a, double drop, uint64_t fill,
                     struct echi_host_csr *out, uint64_t *where)
{
    const uint64_t n = a->n, most = echi_ilut_entries(n, a->entries, fill);
    struct row r = { .value = calloc(n + 1, sizeof *r.value),
                     .present = calloc(n + 1, sizeof *r.present),
                     .heap = malloc((n + 1) * sizeof *r.heap),
                     .right = malloc((n + 1) * sizeof *r.right),
                     .kept = malloc((n + 1) * sizeof *r.kept) };
    ech_status status = ECH_OK;
    *where = UINT64_MAX;
    *out = (struct echi_host_csr){ .n = n };
    out->offsets = calloc(n + 1, 8);
    out->diagonal = malloc((n + 1) * 8);
    if (most < SIZE_MAX / 8) {
        out->columns = malloc((most + 1) * 8);
        out->values = malloc((most + 1) * 8);
    }
    if (!r.value || !r.present || !r.heap || !r.right || !r.kept || !out->offsets ||
        !out->diagonal || !out->columns || !out->values)
        FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for an incomplete factor");
    for (uint64_t i = 0; i < n && *where == UINT64_MAX; i++)
        if (!factor_row(&r, a, drop, fill, i, out)) *where = i;
done:
    free(r.value);
    free(r.present);
    free(r.heap);
    free(r.right);
    free(r.kept);
    return status;
}
