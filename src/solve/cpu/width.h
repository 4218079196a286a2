/*
 * solve/cpu/width.h - template: steps of iterative solvers on vectors of REAL, one chunk at a time,
 * so that the result of one sum is in the cache for the next.
 *
 * The including file defines REAL and NAME(x).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

enum { NAME(CHUNK) = ECHI_SOLVE_LINE_BYTES * ECHI_SOLVE_LINES / (int)sizeof(REAL) };

static REAL NAME(coefficient)(const struct echi_solve_step *step, const struct echi_solve_sum *sum,
                              int k)
{
    const int scalar = sum->scalar[k];
    return (REAL)(scalar < 0 ? sum->factor[k] : sum->factor[k] * step->scalars[scalar]);
}

/* to [n] = the sum; `to` may be one of its vectors.  A few elements are read before they are
 * written, so that the compiler need not ask for overlaps. */
static void NAME(sum)(const struct echi_solve_step *step, const struct echi_solve_sum *sum,
                      size_t from, size_t n, REAL *to)
{
    enum { FEW = 64 / sizeof(REAL) };
    const REAL *v[ECHI_SOLVE_TERMS] = { NULL };
    REAL c[ECHI_SOLVE_TERMS] = { 0 };
    const int terms = sum->terms;
    for (int k = 0; k < terms; k++) {
        c[k] = NAME(coefficient)(step, sum, k);
        v[k] = (const REAL *)sum->v[k] + from;
    }
    for (size_t i = 0; i < n; i += FEW) {
        const size_t few = n - i < FEW ? n - i : FEW;
        REAL x[FEW] = { 0 };
        if (few == FEW && terms == 2) {
            for (size_t j = 0; j < FEW; j++) x[j] = c[0] * v[0][i + j] + c[1] * v[1][i + j];
            memcpy(to + i, x, sizeof x);
            continue;
        }
        for (int k = 0; k < terms; k++)
            for (size_t j = 0; j < few; j++)
                x[j] = k == 0 ? c[k] * v[k][i + j] : x[j] + c[k] * v[k][i + j];
        memcpy(to + i, x, few * sizeof(REAL));
    }
}

/* A dot product of a chunk: lanes, whose sums are added in adjacent pairs. */
static double NAME(dot)(const REAL *x, const REAL *y, size_t n)
{
    enum { FEW = 8 };
    const size_t width = ECHI_SOLVE_LINE_BYTES / sizeof(REAL);
    double lanes[ECHI_SOLVE_LINE_BYTES / sizeof(REAL)];
    const size_t i = n / width * width;
    for (size_t from = 0; from < width; from += FEW) { /* a few lanes are in registers */
        double few[FEW];
        for (size_t j = 0; j < FEW; j++) few[j] = -0.0;
        for (size_t line = from; line < i; line += width)
            for (size_t j = 0; j < FEW; j++) few[j] += (double)x[line + j] * (double)y[line + j];
        memcpy(lanes + from, few, sizeof few);
    }
    for (size_t j = 0; i + j < n; j++) lanes[j] += (double)x[i + j] * (double)y[i + j];
    for (size_t half = width / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++) lanes[j] = lanes[2 * j] + lanes[2 * j + 1];
    return lanes[0];
}

/* Memory for a sum: the vector that receives it, or a buffer. */
static REAL *NAME(place)(void *out, size_t from, REAL *buffer)
{
    return out ? (REAL *)out + from : buffer;
}

static void NAME(chunk)(const struct echi_solve_step *step, size_t from, size_t n, double *dots)
{
    REAL buffer[3][NAME(CHUNK)];
    REAL *a = NAME(place)(step->a.out, from, buffer[0]);
    REAL *b = NAME(place)(step->b.out, from, buffer[1]);
    REAL *z = NAME(place)(step->z, from, buffer[2]);
    const REAL *operands[] = { a, b, z, step->e ? (const REAL *)step->e + from : NULL,
                               step->f ? (const REAL *)step->f + from : NULL };
    if (step->a.out || step->a.terms) NAME(sum)(step, &step->a, from, n, a);
    if (step->b.out || step->b.terms) NAME(sum)(step, &step->b, from, n, b);
    if (step->diagonal) {
        const REAL *d = (const REAL *)step->diagonal + from;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): such a step makes b */
        for (size_t i = 0; i < n; i++) z[i] = d[i] * b[i];
    }
    for (int k = 0; k < step->dots; k++)
        dots[k] = NAME(dot)(operands[step->left[k]], operands[step->right[k]], n);
}

/* Subtracts vectors from b.out, then computes its dot products with others, or with itself. */
static void NAME(project)(const struct echi_solve_step *step, size_t from, size_t n, double *dots)
{
    const struct echi_solve_projection *p = &step->projection;
    REAL *out = (REAL *)step->b.out + from, w[NAME(CHUNK)];
    memcpy(w, out, n * sizeof(REAL));
    for (int k = 0; k < p->losses; k++) {
        const REAL c = (REAL)(p->factor * step->scalars[p->loses_by + k]);
        const REAL *v = (const REAL *)p->loses[k] + from;
        for (size_t i = 0; i < n; i++) w[i] = w[i] - c * v[i];
    }
    if (p->losses) memcpy(out, w, n * sizeof(REAL));
    for (int k = 0; k < step->dots; k++)
        dots[k] = NAME(dot)(w, p->meetings ? (const REAL *)p->meets[k] + from : w, n);
}

/* Element-wise steps; returns the first row whose element is invalid. */
static size_t NAME(elements)(const struct echi_solve_step *step, size_t from, size_t n)
{
    REAL *out = (REAL *)step->a.out + from;
    const REAL *in = step->e;
    size_t bad = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (step->what == ECHI_SOLVE_RANDOM) {
            out[i] = (REAL)solve_uniform((uint64_t)step->column, from + i);
            continue;
        }
        REAL x = 0;
        if (in) {
            x = in[(from + i) * step->e_step];
        } else {
            const uint64_t at = echi_solve_diagonal(&step->csr, from + i);
            if (at != UINT64_MAX) x = ((const REAL *)step->csr.values)[at];
        }
        if (step->invert == ECHI_INVERT_ABSOLUTE && x < 0) x = -x;
        if (bad == SIZE_MAX && (x == 0 || (step->invert == ECHI_INVERT_POSITIVE && !(x > 0))))
            bad = from + i;
        out[i] = (REAL)step->scale / x;
    }
    return bad;
}

/* Rows order[begin ... end - 1] of a triangle; without an order, all rows. */
static void NAME(rows)(const struct echi_solve_step *step, const uint64_t *order, uint64_t begin,
                       uint64_t end)
{
    const struct echi_solve_csr *a = &step->csr;
    const REAL *in = step->e, *values = a->values, *inverse = step->diagonal;
    REAL *out = step->a.out;
    for (uint64_t k = begin; k < end; k++) {
        const uint64_t i = order ? order[k] : step->upper ? step->n - 1 - k : k;
        const uint64_t last = echi_solve_index(a->offsets, a->index_bytes, i + 1);
        uint64_t e = echi_solve_index(a->offsets, a->index_bytes, i);
        REAL sum = 0;
        for (; e < last && e < a->entries; e++) {
            const uint64_t j = echi_solve_index(a->columns, a->index_bytes, e);
            if (step->upper ? j > i && j < step->n : j < i) sum = sum + values[e] * out[j];
        }
        const REAL scale = inverse ? inverse[i] : 1;
        out[i] = step->scaled_sum ? in[i] - sum * scale : (in[i] - sum) * scale;
    }
}

/* Loads the diagonal block of `size` rows from `start` on; duplicate entries are added. */
static void NAME(take_square)(const struct echi_solve_step *step, uint64_t start, uint64_t size,
                              double (*square)[ECHI_SOLVE_BLOCK])
{
    const struct echi_solve_csr *a = &step->csr;
    const REAL *dense = step->e, *values = a->values;
    for (uint64_t i = 0; i < size; i++) {
        for (uint64_t j = 0; j < size; j++)
            square[i][j] = dense ? (double)dense[(start + i) * step->e_step + start + j] : 0;
        if (dense) continue;
        const uint64_t last = echi_solve_index(a->offsets, a->index_bytes, start + i + 1);
        uint64_t e = echi_solve_index(a->offsets, a->index_bytes, start + i);
        for (; e < last && e < a->entries; e++) {
            const uint64_t j = echi_solve_index(a->columns, a->index_bytes, e) - start;
            if (j < size) square[i][j] += (double)values[e];
        }
    }
}

static void NAME(put_square)(const struct echi_solve_step *step, uint64_t start, uint64_t size,
                             double (*square)[ECHI_SOLVE_BLOCK])
{
    REAL *out = (REAL *)step->a.out + start;
    for (uint64_t j = 0; j < size; j++)
        for (uint64_t i = 0; i < size; i++) out[j * step->block_step + i] = (REAL)square[i][j];
}

/* Multiplies diagonal blocks by the vector, for rows begin ... end - 1. */
static void NAME(times_squares)(const struct echi_solve_step *step, uint64_t begin, uint64_t end)
{
    const uint64_t block = (uint64_t)step->block;
    for (uint64_t start = begin; start < end; start += block) {
        const uint64_t size = block < end - start ? block : end - start;
        const REAL *square = (const REAL *)step->diagonal + start;
        const REAL *in = (const REAL *)step->e + start;
        REAL sums[ECHI_SOLVE_BLOCK];
        for (uint64_t i = 0; i < size; i++) sums[i] = square[i] * in[0];
        for (uint64_t j = 1; j < size; j++) {
            const REAL *column = square + j * step->block_step, x = in[j];
            for (uint64_t i = 0; i < size; i++) sums[i] = sums[i] + column[i] * x;
        }
        memcpy((REAL *)step->a.out + start, sums, size * sizeof(REAL));
    }
}
