/*
 * reduce/cpu/values.c - values of chunks: of no elements, of two adjacent ranges, as a result;
 * and the table of short calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/cpu/common.h"

struct echi_value echi_reduce_nothing(const struct echi_reduce *r)
{
    struct echi_value v = { .u = 0 };
    switch (r->kind) {
    case ECHI_REDUCE_IPRODUCT:
        v.u = 1;
        break;
    case ECHI_REDUCE_PRODUCT:
        v.f = 1;
        break;
    case ECHI_REDUCE_PRODUCT64:
        v.d.sum = 1;
        break;
    case ECHI_REDUCE_VARIANCE:
        v.moments = moments_make(ECHI_SPREAD_PLAIN, 0, 0, 0, 0, ECHI_SCALE_NONE);
        break;
    case ECHI_REDUCE_MINMAX:
        v.ends.least = UINT64_MAX;
        v.ends.most = 0;
        break;
    case ECHI_REDUCE_ARG:
        v.best.rank = 0;
        v.best.at = UINT64_MAX;
        break;
    default:
        break;
    }
    return v;
}

struct echi_value echi_reduce_merge(const struct echi_reduce *r, int spread, struct echi_value a,
                                    struct echi_value b)
{
    switch (r->kind) {
    case ECHI_REDUCE_ISUM:
    case ECHI_REDUCE_IDOT:
    case ECHI_REDUCE_COUNT:
        a.u += b.u;
        break;
    case ECHI_REDUCE_IPRODUCT:
        a.u *= b.u;
        break;
    case ECHI_REDUCE_SUM:
    case ECHI_REDUCE_DOT:
        a.f += b.f;
        break;
    case ECHI_REDUCE_PRODUCT:
        a.f *= b.f;
        break;
    case ECHI_REDUCE_SUM64:
    case ECHI_REDUCE_DOT64:
        a.d.sum += b.d.sum;
        a.d.ignored += b.d.ignored;
        break;
    case ECHI_REDUCE_PRODUCT64:
        a.d.sum *= b.d.sum;
        break;
    case ECHI_REDUCE_VARIANCE:
        a.moments = moments_merge(spread, a.moments, b.moments);
        break;
    case ECHI_REDUCE_BITS:
        a.u = r->rule.exclusive ? a.u ^ b.u : a.u | b.u;
        break;
    case ECHI_REDUCE_MAX:
        if (b.u > a.u) a = b;
        break;
    case ECHI_REDUCE_MINMAX:
        if (b.ends.least < a.ends.least) a.ends.least = b.ends.least;
        if (b.ends.most > a.ends.most) a.ends.most = b.ends.most;
        break;
    default:
        if (b.best.at != UINT64_MAX && (a.best.at == UINT64_MAX || b.best.rank > a.best.rank))
            a = b;
    }
    return a;
}

/* As kernels write it: reduce/cuda/value.cuh. */
static void store_raw(const struct echi_reduce *r, const struct echi_value *v, uint64_t *raw)
{
    const struct echi_moments *m = &v->moments;
    if (r->kind == ECHI_REDUCE_VARIANCE) {
        raw[0] = bits_of_f64(m->n);
        raw[1] = bits_of_f64(m->offset);
        raw[2] = bits_of_f64(m->m2);
        raw[3] = m->center;
        raw[4] = m->scale;
    } else {
        raw[0] = bits_of_f64(v->d.sum);
        raw[1] = v->d.ignored;
    }
}

struct echi_value echi_reduce_value(const struct echi_reduce *r, const uint64_t *raw)
{
    struct echi_value v = { .u = 0 };
    if (r->kind == ECHI_REDUCE_VARIANCE) {
        v.moments = (struct echi_moments){ f64_of_bits(raw[0]), f64_of_bits(raw[1]),
                                           f64_of_bits(raw[2]), raw[3], (uint32_t)raw[4] };
    } else {
        v.d.sum = f64_of_bits(raw[0]);
        v.d.ignored = raw[1];
    }
    return v;
}

void echi_reduce_result_to(const struct echi_reduce *r, void *out, const struct echi_value *v,
                           size_t n, size_t index)
{
    const struct echi_reduce_rule *rule = &r->rule;
    uint64_t bits[2];
    if (rule->raw) {
        store_raw(r, v, (uint64_t *)out + ECHI_RAW_WORDS * index);
        return;
    }
    switch (r->kind) {
    case ECHI_REDUCE_SUM:
    case ECHI_REDUCE_DOT:
        bits[0] = f32_result(v->f + 0.0f);
        break;
    case ECHI_REDUCE_PRODUCT:
        bits[0] = f32_result(v->f);
        break;
    case ECHI_REDUCE_SUM64:
    case ECHI_REDUCE_DOT64:
        bits[0] = sum_result(rule, v->d.sum, n - v->d.ignored);
        break;
    case ECHI_REDUCE_PRODUCT64:
        bits[0] = f64_result(v->d.sum);
        break;
    case ECHI_REDUCE_VARIANCE:
        bits[0] = moments_result(rule, v->moments);
        break;
    case ECHI_REDUCE_BITS:
        bits[0] = v->u ^ rule->first;
        break;
    case ECHI_REDUCE_MAX:
        bits[0] = max_result(rule, v->u);
        break;
    case ECHI_REDUCE_MINMAX:
        minmax_result(rule, v->ends.least, v->ends.most, bits);
        result_store(out, 2 * index, rule->bytes, bits[0]);
        result_store(out, 2 * index + 1, rule->bytes, bits[1]);
        return;
    case ECHI_REDUCE_ARG:
        bits[0] = v->best.at;
        break;
    case ECHI_REDUCE_COUNT:
        bits[0] = count_result(rule, v->u, n);
        break;
    default:
        bits[0] = v->u;
    }
    result_store(out, index, rule->out_bytes, bits[0]);
}

void echi_reduce_result(const struct echi_reduce *r, const struct echi_value *v, size_t n,
                        size_t index)
{
    echi_reduce_result_to(r, r->out, v, n, index);
}

void echi_reduce_store(const struct echi_reduce *r, const struct echi_value *value, size_t count,
                       size_t first)
{
    if (echi_reduce_is_plain(r)) {
        for (size_t j = 0; j < count; j++)
            ((uint64_t *)r->out)[first + j] = f64_result(value[j].d.sum + 0.0);
        return;
    }
    switch (r->kind) {
    case ECHI_REDUCE_ISUM:
    case ECHI_REDUCE_IPRODUCT:
        for (size_t j = 0; j < count; j++) ((uint64_t *)r->out)[first + j] = value[j].u;
        break;
    case ECHI_REDUCE_SUM:
        for (size_t j = 0; j < count; j++)
            ((uint32_t *)r->out)[first + j] = (uint32_t)f32_result(value[j].f + 0.0f);
        break;
    default:
        for (size_t j = 0; j < count; j++) echi_reduce_result(r, &value[j], r->columns, first + j);
    }
}

void echi_reduce_store_sums(const struct echi_reduce *r, const void *sums, const uint64_t *ends,
                            size_t count, size_t first)
{
    const float *narrow = sums;
    const double *wide = sums;
    if (echi_reduce_is_plain(r))
        for (size_t s = 0; s < count; s++)
            ((uint64_t *)r->out)[first + s] = f64_result(wide[s] + 0.0);
    else if (r->kind == ECHI_REDUCE_ISUM)
        memcpy((uint64_t *)r->out + first, sums, count * sizeof(uint64_t));
    else if (r->kind == ECHI_REDUCE_SUM)
        for (size_t s = 0; s < count; s++)
            ((uint32_t *)r->out)[first + s] = (uint32_t)f32_result(narrow[s] + 0.0f);
    else
        for (size_t s = 0; s < count; s++) {
            const struct echi_value value = { .d = { wide[s], 0 } };
            echi_reduce_result(r, &value, (size_t)(ends[s + 1] - ends[s]), first + s);
        }
}

/* ---- Short calls ---- */

static echi_reduce_function *const no_calls[ECH_OP_STDDEV + 1][ECHI_DTYPE_COUNT];

echi_reduce_function *const (*const echi_reduce_calls[ECHI_LEVELS])[ECHI_DTYPE_COUNT] = {
    [ECHI_LEVEL_NONE] = no_calls,
    [ECHI_LEVEL_PORTABLE] = echi_reduce_portable.calls,
#ifdef ECHI_CPU_X86
    [ECHI_LEVEL_AVX2] = echi_reduce_avx2.calls,
    [ECHI_LEVEL_AVX512] = echi_reduce_avx512.calls,
    [ECHI_LEVEL_VBMI2] = echi_reduce_avx512.calls,
#endif
};
