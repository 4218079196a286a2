/*
 * arrange/cpu/operation.c - gather, scatter, reverse and rotate on the CPU; fill, iota, transpose
 * and shuffle are in separate files.
 *
 * Threads take parts of the array dynamically. Elements in host memory need no alignment, so each
 * is copied by memcpy(), which is a load and a store for the sizes of CALL_BY_SIZE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/common.h"
#include "core/data_error.h"

#include <stdatomic.h>

/* ---- Gather, scatter ---- */

INLINED uint64_t index_at(const void *index, size_t i, int bytes)
{
    uint32_t narrow;
    uint64_t wide;
    if (bytes == 4) {
        memcpy(&narrow, (const char *)index + 4 * i, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, (const char *)index + 8 * i, sizeof wide);
    return wide;
}

static void report_error(struct echi_arrange_job *job, uint64_t where)
{
    uint64_t least = atomic_load(&job->first_bad);
    while (where < least && !atomic_compare_exchange_weak(&job->first_bad, &least, where)) {
    }
}

enum { SEVERAL = 8 };

/* Fewer and larger stores: memory operations limit a gather from a cache. */
INLINED void gather_several(const char *in, const uint64_t from[SEVERAL], char *out, size_t size)
{
    typedef uint64_t two_words __attribute__((vector_size(16)));
    if (size == 8) {
#pragma GCC unroll 4
        for (size_t j = 0; j < SEVERAL; j += 2) {
            uint64_t low, high;
            memcpy(&low, in + from[j] * 8, 8);
            memcpy(&high, in + from[j + 1] * 8, 8);
            const two_words both = { low, high };
            memcpy(out + j * 8, &both, 16);
        }
        return;
    }
    if (size == 4) {
#pragma GCC unroll 4
        for (size_t j = 0; j < SEVERAL; j += 2) {
            uint32_t low, high;
            memcpy(&low, in + from[j] * 4, 4);
            memcpy(&high, in + from[j + 1] * 4, 4);
            const uint64_t both = (uint64_t)high << 32 | low;
            memcpy(out + j * 4, &both, 8);
        }
        return;
    }
    if (size == 2) {
#pragma GCC unroll 4
        for (size_t j = 0; j < SEVERAL; j += 2) {
            uint16_t low, high;
            memcpy(&low, in + from[j] * 2, 2);
            memcpy(&high, in + from[j + 1] * 2, 2);
            const uint32_t both = (uint32_t)high << 16 | low;
            memcpy(out + j * 2, &both, 4);
        }
        return;
    }
    if (size == 1) {
#pragma GCC unroll 4
        for (size_t j = 0; j < SEVERAL; j += 2) {
            const unsigned char low = (unsigned char)in[from[j]];
            const uint16_t both = (uint16_t)((unsigned char)in[from[j + 1]] << 8 | low);
            memcpy(out + j, &both, 2);
        }
        return;
    }
#pragma GCC unroll 8
    for (size_t j = 0; j < SEVERAL; j++) memcpy(out + j * size, in + from[j] * size, size);
}

/* Returns the position of the first index that is too large, otherwise the end. */
INLINED size_t gather_from(const char *in, const char *index, char *out, size_t begin, size_t end,
                           uint64_t limit, int index_bytes, size_t size)
{
    size_t i = begin;
    for (; end - i >= SEVERAL; i += SEVERAL) {
        uint64_t from[SEVERAL];
#pragma GCC unroll 8
        for (size_t j = 0; j < SEVERAL; j++) { /* branches cost less than to combine the tests */
            from[j] = index_at(index, i + j, index_bytes);
            if (__builtin_expect(from[j] >= limit, 0)) goto one_by_one;
        }
        gather_several(in, from, out + i * size, size);
    }
one_by_one:
    for (; i < end; i++) {
        const uint64_t from = index_at(index, i, index_bytes);
        if (from >= limit) break;
        memcpy(out + i * size, in + from * size, size);
    }
    return i;
}

INLINED void gather_sized(const struct echi_arrange *a, size_t begin, size_t end, size_t *stopped,
                          int index_bytes, size_t size)
{
    *stopped = gather_from(a->in, a->index, a->out, begin, end, a->limit, index_bytes, size);
}

static size_t gather_range(const struct echi_arrange *a, size_t begin, size_t end)
{
    size_t stopped = begin;
    if (a->index_bytes == 4)
        CALL_BY_SIZE(gather_sized, a->element_bytes, a, begin, end, &stopped, 4)
    else
        CALL_BY_SIZE(gather_sized, a->element_bytes, a, begin, end, &stopped, 8)
    return stopped;
}

static void gather_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const size_t stopped = gather_range(job->request, begin, end);
    if (stopped != end) report_error(job, stopped);
}

static void gather(ech_ctx *ctx, struct echi_arrange_job *job)
{
    const struct echi_arrange *a = job->request;
    job->run = gather_part;
    echi_arrange_parts(ctx, job, a->n, a->element_bytes);
}

/* Two elements of 8 bytes by one store. */
INLINED void gather_two(const char *in, uint64_t first, uint64_t second, char *out)
{
    typedef uint64_t two_words __attribute__((vector_size(16)));
    uint64_t low, high;
    memcpy(&low, in + first * 8, 8);
    memcpy(&high, in + second * 8, 8);
    const two_words both = { low, high };
    memcpy(out, &both, 16);
}

enum { GATHER_AT_ONCE = 1024, GATHER_FROM = 1 << 30 }; /* at most so many elements of out and in */

/* The same without a job, for few elements of a constant size: checks the arrays, and returns false
 * if there is something to report.  It uses few registers, because a function must save others. */
INLINED bool gather_few(const ech_ctx *ctx, const char *in, const char *index, char *out, size_t n,
                        size_t n_in, int index_bytes, size_t size)
{
    if (n - 1 >= GATHER_AT_ONCE || n_in - 1 >= GATHER_FROM || !echi_call_is_quick(ctx) || !in ||
        !index || !out || (uintptr_t)index % (size_t)index_bytes ||
        !echi_are_apart(out, n * size, in, n_in * size) ||
        !echi_are_apart(out, n * size, index, n * (size_t)index_bytes))
        return false;
    size_t i = 0;
    for (; i + SEVERAL <= n; i += SEVERAL) {
#pragma GCC unroll 8
        for (size_t j = 0; j < SEVERAL; j += 2) {
            const uint64_t from = index_at(index, i + j, index_bytes);
            if (__builtin_expect(from >= n_in, 0)) return false;
            if (size != 8) memcpy(out + (i + j) * size, in + from * size, size);
            const uint64_t next = index_at(index, i + j + 1, index_bytes);
            if (__builtin_expect(next >= n_in, 0)) return false;
            if (size == 8)
                gather_two(in, from, next, out + (i + j) * size);
            else
                memcpy(out + (i + j + 1) * size, in + next * size, size);
        }
    }
    for (; i < n; i++) {
        const uint64_t from = index_at(index, i, index_bytes);
        if (__builtin_expect(from >= n_in, 0)) return false;
        memcpy(out + i * size, in + from * size, size);
    }
    return true;
}

/* The last two parameters are constants in the second call, because each would need a register. */
#define GATHER(index_dtype, width, size)                                                           \
    static ech_status gather_##index_dtype##_##size(ech_ctx *ctx, const void *in,                  \
                                                    const void *index, void *out, size_t n,        \
                                                    size_t n_in, ech_dtype dtype, size_t bytes)    \
    {                                                                                              \
        (void)dtype, (void)bytes;                                                                  \
        if (gather_few(ctx, in, index, out, n, n_in, width, size)) return ECH_OK;                  \
        return echi_gather_any(ctx, in, index, out, n, n_in, ECH_##index_dtype, size);             \
    }
#define GATHERS(size) GATHER(I32, 4, size) GATHER(U32, 4, size) GATHER(U64, 8, size)
GATHERS(1)
GATHERS(2)
GATHERS(3)
GATHERS(4)
GATHERS(6)
GATHERS(8)
GATHERS(12)
GATHERS(16)
#define ANY echi_gather_any
#define ROW(dtype)                                                                                 \
    {                                                                                              \
        ANY, gather_##dtype##_1, gather_##dtype##_2, gather_##dtype##_3, gather_##dtype##_4, ANY,  \
            gather_##dtype##_6, ANY, gather_##dtype##_8, ANY, ANY, ANY, gather_##dtype##_12, ANY,  \
            ANY, ANY, gather_##dtype##_16                                                          \
    }
#define NONE                                                                                       \
    {                                                                                              \
        ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY        \
    }
echi_gather_function *const echi_cpu_gathers[ECH_U64 + 1][ECHI_GATHER_BYTES + 1] = {
    NONE, NONE, ROW(I32), ROW(U64), NONE, NONE, ROW(U32), ROW(U64)
};
#undef ANY
#undef ROW
#undef NONE

/* With duplicate indices, two threads may write the same element: words are stored atomically. */
INLINED void put_words(char *to, const char *from, size_t size, size_t word)
{
    for (size_t at = 0; at < size; at += word) {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        switch (word) {
        case 1:
            memcpy(&u8, from + at, 1);
            __atomic_store_n((uint8_t *)(void *)(to + at), u8, __ATOMIC_RELAXED);
            break;
        case 2:
            memcpy(&u16, from + at, 2);
            __atomic_store_n((uint16_t *)(void *)(to + at), u16, __ATOMIC_RELAXED);
            break;
        case 4:
            memcpy(&u32, from + at, 4);
            __atomic_store_n((uint32_t *)(void *)(to + at), u32, __ATOMIC_RELAXED);
            break;
        default:
            memcpy(&u64, from + at, 8);
            __atomic_store_n((uint64_t *)(void *)(to + at), u64, __ATOMIC_RELAXED);
            break;
        }
    }
}

/* word is the largest power of two, at most 8, that divides both the size and the address of
 * out. */
INLINED void scatter_words(struct echi_arrange_job *job, size_t begin, size_t end, size_t word)
{
    const struct echi_arrange *a = job->request;
    const size_t size = a->element_bytes;
    const char *in = a->in, *index = a->index;
    char *out = a->out;
    const uint64_t limit = a->limit;
    const int index_bytes = a->index_bytes;
    for (size_t i = begin; i < end; i++) {
        const uint64_t to = index_at(index, i, index_bytes);
        if (to >= limit) {
            report_error(job, i);
            return;
        }
        if (size == word)
            put_words(out + to * word, in + i * word, word, word);
        else
            put_words(out + to * size, in + i * size, size, word);
    }
}

static void scatter_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const size_t both = job->request->element_bytes | (size_t)(uintptr_t)job->request->out;
    switch (echi_min(echi_opaque_align(both), 8)) {
    case 1:
        scatter_words(job, begin, end, 1);
        break;
    case 2:
        scatter_words(job, begin, end, 2);
        break;
    case 4:
        scatter_words(job, begin, end, 4);
        break;
    default:
        scatter_words(job, begin, end, 8);
        break;
    }
}

static void scatter(ech_ctx *ctx, struct echi_arrange_job *job)
{
    job->run = scatter_part;
    echi_arrange_parts(ctx, job, job->request->n, job->request->element_bytes);
}

/* ---- Reverse ---- */

/* Reverses the elements within eight bytes; size is 1, 2 or 4. */
INLINED uint64_t reverse_word(uint64_t u, size_t size)
{
    if (size == 1) return __builtin_bswap64(u);
    u = u << 32 | u >> 32;
    if (size == 4) return u;
    return (u & 0x0000FFFF0000FFFFu) << 16 | (u >> 16 & 0x0000FFFF0000FFFFu);
}

INLINED void reverse_sized(struct echi_arrange_job *job, size_t begin, size_t end, size_t size)
{
    const struct echi_arrange *a = job->request;
    const size_t n = a->n, each = 8 / size; /* elements per word */
    const char *in = a->in;
    char *out = a->out;
    size_t i = begin;
    if (size < 8 && (size & (size - 1)) == 0)
        for (; i + each <= end; i += each) {
            uint64_t u;
            memcpy(&u, in + (n - i - each) * size, 8);
            u = reverse_word(u, size);
            memcpy(out + i * size, &u, 8);
        }
    for (; i < end; i++) memcpy(out + i * size, in + (n - 1 - i) * size, size);
}

INLINED void swap_bytes(char *a, char *b, size_t size)
{
    char held[64];
    for (size_t done = 0; done < size;) {
        const size_t now = echi_min(size - done, sizeof held);
        memcpy(held, a + done, now);
        memcpy(a + done, b + done, now);
        memcpy(b + done, held, now);
        done += now;
    }
}

/* Exchanges elements [begin, end) of the first half with their mirror images in the second. */
INLINED void swap_sized(struct echi_arrange_job *job, size_t begin, size_t end, size_t size)
{
    const struct echi_arrange *a = job->request;
    const size_t n = a->n, each = 8 / size;
    char *out = a->out;
    size_t i = begin;
    if (size < 8 && (size & (size - 1)) == 0)
        for (; i + each <= end; i += each) {
            char *front = out + i * size, *back = out + (n - i - each) * size;
            uint64_t u, v;
            memcpy(&u, front, 8);
            memcpy(&v, back, 8);
            u = reverse_word(u, size);
            v = reverse_word(v, size);
            memcpy(front, &v, 8);
            memcpy(back, &u, 8);
        }
    for (; i < end; i++) swap_bytes(out + i * size, out + (n - 1 - i) * size, size);
}

static void reverse_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    CALL_BY_SIZE(reverse_sized, job->request->element_bytes, job, begin, end)
}

static void swap_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    CALL_BY_SIZE(swap_sized, job->request->element_bytes, job, begin, end)
}

static void reverse(ech_ctx *ctx, struct echi_arrange_job *job)
{
    const struct echi_arrange *a = job->request;
    const bool in_place = a->in == a->out;
    job->run = in_place ? swap_part : reverse_part;
    echi_arrange_parts(ctx, job, in_place ? a->n / 2 : a->n, a->element_bytes);
}

/* ---- Rotate ---- */

/* In bytes [begin, end) of out, those before the rotation point and those after it are one piece
 * each. */
static void rotate_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const size_t by = a->by * a->element_bytes, turn = a->n * a->element_bytes - by;
    const char *in = a->in;
    char *out = a->out;
    const size_t middle = begin > turn ? begin : echi_min(end, turn);
    memcpy(out + begin, in + begin + by, middle - begin);
    if (middle < end) memcpy(out + middle, in + (middle - turn), end - middle);
}

static void rotate(ech_ctx *ctx, struct echi_arrange_job *job)
{
    job->run = rotate_part;
    echi_arrange_parts(ctx, job, job->request->n * job->request->element_bytes, 1);
}

/* ---- Indices of another width ---- */

static void convert_part(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const uint64_t *wide = a->in;
    const uint32_t *narrow = a->in;
    for (size_t i = begin; i < end; i++)
        if (a->element_bytes == 4)
            ((uint32_t *)a->out)[i] = wide[i] < UINT32_MAX ? (uint32_t)wide[i] : UINT32_MAX;
        else
            ((uint64_t *)a->out)[i] = narrow[i];
}

static void convert_index(ech_ctx *ctx, struct echi_arrange_job *job)
{
    job->run = convert_part;
    echi_arrange_parts(ctx, job, job->request->n, 12);
}

/* ---- The operation ---- */

static ech_status cpu_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

static ech_status run_job(ech_ctx *ctx, struct echi_arrange_job *job)
{
    static void (*const runs[])(ech_ctx * ctx, struct echi_arrange_job * job) = {
        [ECHI_GATHER] = gather,
        [ECHI_SCATTER] = scatter,
        [ECHI_REVERSE] = reverse,
        [ECHI_ROTATE] = rotate,
        [ECHI_TRANSPOSE] = echi_cpu_transpose,
        [ECHI_FILL] = echi_cpu_fill,
        [ECHI_IOTA] = echi_cpu_iota,
        [ECHI_PERMUTATION] = echi_cpu_permutation,
        [ECHI_SHUFFLE] = echi_cpu_shuffle,
        [ECHI_CONVERT_INDEX] = convert_index,
    };
    if (job->request->n) runs[job->request->what](ctx, job);
    return atomic_load_explicit(&job->first_bad, memory_order_relaxed) == UINT64_MAX ? ECH_OK
                                                                                     : ECH_ERR_ARG;
}

static ech_status cpu_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct echi_arrange_job job = { .request = request, .first_bad = UINT64_MAX };
    (void)plan;
    (void)work;
    if (run_job(ctx, &job) == ECH_OK) return ECH_OK;
    return echi_report_error(ctx, ECHI_INDEX_TOO_LARGE, atomic_load(&job.first_bad));
}

static bool arrange_at_once(const void *request)
{
    const struct echi_arrange *a = request;
    if (a->what == ECHI_GATHER && a->n - 1 < ECHI_AT_ONCE && a->element_bytes <= ECHI_AT_ONCE_BYTES)
        return gather_range(a, 0, a->n) == a->n;
    struct echi_arrange_job job = { .request = a, .first_bad = UINT64_MAX };
    return a->n <= ECHI_AT_ONCE && a->element_bytes <= ECHI_AT_ONCE_BYTES &&
           run_job(NULL, &job) == ECH_OK; /* a context is needed for threads only */
}

static ech_status cpu_explain(const void *request, struct echi_explain *e)
{
    const struct echi_arrange *a = request;
    echi_explain_algorithm(e, true, a->n ? "parts" : "empty",
                           a->n ? "threads write parts of the output" : "there are no elements");
    return ECH_OK;
}

const struct echi_operation echi_cpu_arrange = {
    .plan = cpu_workspace, .explain = cpu_explain, .run = cpu_run, .quick = arrange_at_once
};
