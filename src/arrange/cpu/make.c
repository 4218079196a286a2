/*
 * arrange/cpu/make.c - fill and iota on the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/dtypes.h"
#include "core/half.h"
#include "arrange/cpu/common.h"

/* ---- Fill ---- */

enum { PATTERN_BYTES = 4 << 10 };

/* A buffer of several copies of the element; larger elements are copied one at a time. */
static void fill_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const size_t size = a->element_bytes, most = PATTERN_BYTES / size;
    char pattern[PATTERN_BYTES];
    const char *from = a->value;
    size_t each = 1;
    if (most > 1) {
        each = echi_min(most, end - begin);
        for (size_t i = 0; i < each; i++) memcpy(pattern + i * size, a->value, size);
        from = pattern;
    }
    for (size_t i = begin; i < end; i += each)
        memcpy((char *)a->out + i * size, from, echi_min(each, end - i) * size);
}

void echi_cpu_fill(ech_ctx *ctx, struct echi_arrange_job *job)
{
    job->run = fill_part;
    echi_arrange_parts(ctx, job, job->request->n, job->request->element_bytes);
}

/* ---- Iota ---- */

static void iota_u8(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const uint8_t start = (uint8_t)a->start, step = (uint8_t)a->step;
    uint8_t *out = a->out;
    for (size_t i = begin; i < end; i++) out[i] = (uint8_t)(start + (uint8_t)i * step);
}

static void iota_u16(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const uint16_t start = (uint16_t)a->start, step = (uint16_t)a->step;
    uint16_t *out = a->out;
    for (size_t i = begin; i < end; i++) out[i] = (uint16_t)(start + (uint32_t)(uint16_t)i * step);
}

static void iota_u32(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const uint32_t start = (uint32_t)a->start, step = (uint32_t)a->step;
    uint32_t *out = a->out;
    for (size_t i = begin; i < end; i++) out[i] = start + (uint32_t)i * step;
}

static void iota_u64(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    uint64_t *out = a->out, value = a->start + begin * a->step;
    for (size_t i = begin; i < end; i++, value += a->step) out[i] = value;
}

/* i * step, rounded once. Below 2^29 the product of doubles is exact. Above, it is the sum of two
 * products, rounded to odd if it is inexact: rounding that sum to fewer bits then gives the same
 * result as rounding the exact product. */
static float product(uint64_t i, double step)
{
    const uint64_t low_bits = ((uint64_t)1 << 29) - 1;
    if (i <= low_bits) return (float)((double)(uint32_t)i * step);
    const double high = (double)(i & ~low_bits) * step, low = (double)(i & low_bits) * step;
    double sum = high + low;
    const double error = low - (sum - high); /* exact, for |high| > |low| or step is 0 */
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && sum - sum == 0 && (bits & 1) == 0) {
        bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)0 - 1;
        memcpy(&sum, &bits, sizeof sum);
    }
    return (float)sum;
}

enum { BATCH = 256 };

/* The values at first ... first + count - 1. */
static void iota_batch(float start, double step, uint64_t first, size_t count, float *values)
{
    if (first + count <= (uint64_t)1 << 29) {
        /* The position is a sum of two terms that vector instructions can convert. */
        const double base = (double)first;
        for (int32_t j = 0; j < (int32_t)count; j++)
            values[j] = start + (float)((base + (double)j) * step);
        return;
    }
    for (size_t j = 0; j < count; j++) values[j] = start + product(first + j, step);
}

static void iota_f32(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const float start = echi_f32_of_bits((uint32_t)a->start),
                no_number = echi_f32_of_bits(0x7FC00000);
    const double step = echi_f32_of_bits((uint32_t)a->step);
    float *out = a->out;
    for (size_t i = begin; i < end; i += BATCH) {
        const size_t count = echi_min(BATCH, end - i);
        iota_batch(start, step, i, count, out + i);
        for (size_t j = 0; j < count; j++)
            out[i + j] = out[i + j] == out[i + j] ? out[i + j] : no_number;
    }
}

static void iota_f64(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    double start, step, *out = a->out;
    const uint64_t nan = (uint64_t)0x7FF8 << 48;
    double no_number;
    memcpy(&no_number, &nan, sizeof no_number);
    memcpy(&start, &a->start, sizeof start);
    memcpy(&step, &a->step, sizeof step);
    const double base = (double)begin; /* exact: memory has fewer than 2^53 elements */
    for (uint32_t j = 0; j < (uint32_t)(end - begin); j++) {
        const double x = start + (base + (double)(int32_t)j) * step;
        out[begin + j] = x == x ? x : no_number;
    }
}

/* ---- Iota of 16-bit floats ---- */

static void iota_f16(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const float start = echi_f32_of_f16((uint32_t)a->start),
                step = echi_f32_of_f16((uint32_t)a->step);
    uint16_t *out = a->out;
    float values[BATCH];
    for (size_t i = begin; i < end; i += BATCH) {
        const size_t count = echi_min(BATCH, end - i);
        iota_batch(start, (double)step, i, count, values);
        for (size_t j = 0; j < count; j++) out[i + j] = echi_f16_of_f32(values[j]);
    }
}

static void iota_bf16(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const float start = echi_f32_of_bf16((uint32_t)a->start);
    const double step = echi_f32_of_bf16((uint32_t)a->step);
    uint16_t *out = a->out;
    float values[BATCH];
    for (size_t i = begin; i < end; i += BATCH) {
        const size_t count = echi_min(BATCH, end - i);
        iota_batch(start, step, i, count, values);
        for (size_t j = 0; j < count; j++) out[i + j] = echi_bf16_of_f32(values[j]);
    }
}

void echi_cpu_iota(ech_ctx *ctx, struct echi_arrange_job *job)
{
    static void (*const runs[])(struct echi_arrange_job * job, size_t begin, size_t end) = {
#define BY_WIDTH(with, constant, name, width, ...) [constant] = iota_##width,
#define BY_NAME(with, constant, name, ...)         [constant] = iota_##name,
        ECHI_INTEGER_DTYPES(BY_WIDTH, ) ECHI_FLOAT_DTYPES(BY_NAME, )
#undef BY_WIDTH
#undef BY_NAME
    };
    const struct echi_arrange *a = job->request;
    job->run = runs[a->dtype];
    echi_arrange_parts(ctx, job, a->n, a->element_bytes);
}
