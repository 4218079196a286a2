/*
 * merge/cpu/operation.c - ech_merge() on the CPU: threads merge parts of the result.
 *
 *     result   |  part 0  |  part 1  |  part 2  | ...      parts of the same size
 *     a        |    |        |  |                          a binary search for each boundary finds
 *     b        |      |  |        |                        how the part divides into a and b
 *
 * Parts do not depend on the number of threads. The values of a part are moved after its keys, as
 * the merge of the keys has recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/cpu.h"
#include "cpu/vector.h"
#include "merge/cpu/common.h"
#include "sort/cpu/common.h"

enum {
    MERGE_RUN = 32,     /* elements of one input that are copied together */
    MERGE_STEPS = 64,   /* between two tests for such a run, from both ends */
    MERGE_HALVES = 128, /* elements; fewer are merged as a whole */
    MERGE_VECTORS = 64, /* fewer keys are merged one by one */
    AT_ONCE = 4096
};

struct part {
    size_t from[2], n[2]; /* of a and of b */
};

#define FROM u8
#include "merge/cpu/width.h"
#define FROM u16
#include "merge/cpu/width.h"
#define FROM u32
#include "merge/cpu/width.h"
#define FROM u64
#include "merge/cpu/width.h"

static const struct {
    size_t (*path)(const struct echi_merge *m, size_t diagonal);
    void (*part)(const struct echi_merge *m, const struct part *p, unsigned char *from_b);
    bool (*concatenate)(const struct echi_merge *m, const struct part *p, unsigned char *from_b);
    bool (*distinguishable)(const struct echi_order *order, const void *keys, size_t n);
} widths[9] = { [1] = { path_u8, part_u8, concatenate_u8, distinguishable_u8 },
                [2] = { path_u16, part_u16, concatenate_u16, distinguishable_u16 },
                [4] = { path_u32, part_u32, concatenate_u32, distinguishable_u32 },
                [8] = { path_u64, part_u64, concatenate_u64, distinguishable_u64 } };

/* Merges a part; from_b: NULL, or receives whether each key is from b. */
static void merge_keys(const struct echi_merge *m, const struct part *p, unsigned char *from_b)
{
    if (widths[m->key_bytes].concatenate(m, p, from_b)) return;
#ifdef ECHI_CPU_X86
    const size_t bytes = m->key_bytes;
    const char *a = (const char *)m->keys[0] + p->from[0] * bytes;
    const char *b = (const char *)m->keys[1] + p->from[1] * bytes;
    char *out = (char *)m->keys_out + (p->from[0] + p->from[1]) * bytes;
    if (!from_b && p->n[0] + p->n[1] >= MERGE_VECTORS && echi_cpu_isa() == ECHI_AVX512 &&
        echi_merge_avx512[bytes](&m->order, a, p->n[0], b, p->n[1], out))
        return;
#endif
    widths[m->key_bytes].part(m, p, from_b);
}

/* bytes is a constant for the sizes that move_values() lists. */
INLINE void move_sized(const struct echi_merge *m, const struct part *p,
                       const unsigned char *from_b, size_t bytes)
{
    const char *at[2] = { (const char *)m->values[0] + p->from[0] * bytes,
                          (const char *)m->values[1] + p->from[1] * bytes };
    char *out = (char *)m->values_out + (p->from[0] + p->from[1]) * bytes;
    const size_t n = p->n[0] + p->n[1];
    const char *a = at[0], *b = at[1];
    for (size_t k = 0; k < n; k++) {
        memcpy(out + k * bytes, from_b[k] ? b : a, bytes);
        a += from_b[k] ? 0 : bytes;
        b += from_b[k] ? bytes : 0;
    }
}

static void move_values(const struct echi_merge *m, const struct part *p,
                        const unsigned char *from_b)
{
    switch (m->value_bytes) {
    case 1:
        move_sized(m, p, from_b, 1);
        break;
    case 2:
        move_sized(m, p, from_b, 2);
        break;
    case 4:
        move_sized(m, p, from_b, 4);
        break;
    case 8:
        move_sized(m, p, from_b, 8);
        break;
    case 16:
        move_sized(m, p, from_b, 16);
        break;
    default:
        move_sized(m, p, from_b, m->value_bytes);
    }
}

/* Inputs that are not sorted may have boundaries in descending order. */
static struct part part_between(size_t first, size_t end, size_t from, size_t to)
{
    const size_t n = end - first, a = to < from ? 0 : echi_min(to - from, n);
    return (struct part){ { from, first - from }, { a, n - a } };
}

void echi_merge_part(const struct echi_merge *m, size_t i)
{
    const size_t n = m->n[0] + m->n[1], first = i * MERGE_PART,
                 end = first + echi_min(MERGE_PART, n - first);
    unsigned char from_b[MERGE_PART];
    const struct part p = part_between(first, end, widths[m->key_bytes].path(m, first),
                                       widths[m->key_bytes].path(m, end));
    merge_keys(m, &p, m->value_bytes ? from_b : NULL);
    if (m->value_bytes) move_values(m, &p, from_b);
}

bool echi_merge_distinguishable(const struct echi_order *order, const void *keys, size_t n,
                                size_t key_bytes)
{
    return widths[key_bytes].distinguishable(order, keys, n);
}

bool echi_merge_begins(const struct echi_merge *m)
{
    return widths[m->key_bytes].path(m, 1) == 1;
}

static void run_part(void *arg, size_t i, int thread)
{
    (void)thread;
    echi_merge_part(arg, i);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_merge *m = request;
    const size_t n = m->n[0] + m->n[1];
    struct echi_merge copy = *m;
    (void)plan;
    (void)work;
    echi_parallel(echi_parallel_for_bytes(ctx, 2 * n * (m->key_bytes + m->value_bytes)),
                  n / MERGE_PART + (n % MERGE_PART != 0), run_part, &copy);
    return ECH_OK;
}

/* Sorts both inputs, if a sorting network takes less time than a merge, and orders equal keys in
 * the same way. */
static bool sort_few(const struct echi_merge *m)
{
    enum { SORT_KEYS = 192, SORT_BYTES = 512 };
    _Alignas(64) char keys[SORT_BYTES];
    const size_t bytes = m->key_bytes, n = m->n[0] + m->n[1];
    if (echi_cpu_isa() != ECHI_AVX512 || n > SORT_KEYS || n * bytes > SORT_BYTES) return false;
    struct echi_order order = m->order;
    if (order.float_mask) { /* in the order of bits */
        for (int i = 0; i < 2; i++)
            if (!echi_merge_distinguishable(&m->order, m->keys[i], m->n[i], bytes)) return false;
        order.merge = 0;
        order.last = ~(uint64_t)0 >> (64 - 8 * bytes);
    }
    memcpy(keys, m->keys[0], m->n[0] * bytes);
    memcpy(keys + m->n[0] * bytes, m->keys[1], m->n[1] * bytes);
    const struct echi_sort sort = { .keys_in = keys,
                                    .keys_out = m->keys_out,
                                    .n = n,
                                    .dtype = m->dtype,
                                    .key_bytes = (int)bytes,
                                    .order = order,
                                    .end_bit = (int)(8 * bytes) };
    return echi_cpu_sort.quick(&sort);
}

/* The same for more keys, or with values. */
NOINLINE static bool merge_several(const struct echi_merge *m)
{
    const struct part whole = { { 0, 0 }, { m->n[0], m->n[1] } };
    if (m->algorithm || m->n[0] > AT_ONCE || m->n[1] > AT_ONCE - m->n[0]) return false;
    if (m->value_bytes) {
        unsigned char from_b[AT_ONCE];
        merge_keys(m, &whole, from_b);
        move_values(m, &whole, from_b);
    } else if (!widths[m->key_bytes].concatenate(m, &whole, NULL) && !sort_few(m)) {
        merge_keys(m, &whole, NULL);
    }
    return true;
}

static bool merge_at_once(const void *request)
{
    const struct echi_merge *m = request;
#ifdef ECHI_CPU_X86
    if (!m->algorithm && !m->value_bytes && m->n[0] + m->n[1] <= ECHI_MERGE_FEW &&
        echi_cpu_isa() == ECHI_AVX512 && echi_merge_few_avx512(m))
        return true;
#endif
    return merge_several(m);
}

static ech_status check_algorithm(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_merge *m = request;
    (void)plan;
    *work_bytes = 0;
    if (m->algorithm && strcmp(m->algorithm, "merge_path") != 0)
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED,
                         "algorithm \"%s\" is for GPUs; available on the CPU: merge_path",
                         m->algorithm);
    return ECH_OK;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    (void)request;
    echi_explain_algorithm(e, true, "merge_path",
                           "threads merge parts of %d elements of the result, whose boundaries "
                           "they find by binary search",
                           MERGE_PART);
    return ECH_OK;
}

const struct echi_operation echi_cpu_merge = {
    .plan = check_algorithm, .explain = explain, .run = run, .quick = merge_at_once
};

/* ---- Short calls ---- */

static echi_merge_function *const no_calls[4];

echi_merge_function *const *const echi_merge_calls[ECHI_LEVELS] = {
    [ECHI_LEVEL_NONE] = no_calls,
    [ECHI_LEVEL_PORTABLE] = no_calls,
    [ECHI_LEVEL_AVX2] = no_calls,
#ifdef ECHI_CPU_X86
    [ECHI_LEVEL_AVX512] = echi_merge_calls_avx512,
    [ECHI_LEVEL_VBMI2] = echi_merge_calls_avx512,
#endif
};
