/* cpu/sort.c - placeholder until the real CPU sort lands: stable merge sort of encoded keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"
#include <string.h>
static uint64_t load(const void *p, size_t i, int b)
{
    uint64_t v = 0;
    memcpy(&v, (const char *)p + i * (size_t)b, (size_t)b);
    return v;
}
static uint64_t encode(const struct echi_order *o, uint64_t u, int w)
{
    uint64_t m = ~(uint64_t)0 >> (64 - w);
    uint64_t t = ((u >> (w - 1)) & 1) ? o->float_mask : 0;
    uint64_t e = ((u ^ (t | o->sign)) - o->shift) & m;
    if (e == o->zero) e += o->merge;
    if (e > o->last) e = o->last;
    return e ^ o->flip;
}
ech_status echi_cpu_sort_workspace(const struct echi_sort *s, size_t *bytes)
{
    if (s->algorithm && strcmp(s->algorithm, "merge"))
        return echi_fail(NULL, ECH_ERR_ARG, "the algorithm is \"%s\", and the CPU has \"merge\"",
                         s->algorithm);
    struct echi_layout l = { 0 };
    echi_part(&l, s->n, 16);
    echi_part(&l, s->n, 16);
    echi_part(&l, s->n, (size_t)s->key_bytes);
    echi_part(&l, s->n, s->value_bytes);
    if (l.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY,
                         "n is %zu: the workspace is larger than memory can be", s->n);
    *bytes = l.bytes;
    return ECH_OK;
}
ech_status echi_cpu_sort_explain(const struct echi_sort *s, struct echi_text *t)
{
    size_t b = 0;
    ech_status st = echi_cpu_sort_workspace(s, &b);
    if (st) return st;
    echi_print(t, "algorithm merge\nworkspace %zu bytes\n", b);
    return ECH_OK;
}
ech_status echi_cpu_sort(ech_ctx *ctx, const struct echi_sort *s)
{
    (void)ctx;
    struct kv {
        uint64_t k, i;
    };
    struct echi_layout l = { .base = s->work };
    size_t n = s->n;
    struct kv *a = echi_part(&l, n, 16), *b = echi_part(&l, n, 16);
    char *kc = echi_part(&l, n, (size_t)s->key_bytes), *vc = echi_part(&l, n, s->value_bytes);
    int bits = s->end_bit - s->begin_bit;
    uint64_t mask = bits ? ~(uint64_t)0 >> (64 - bits) : 0;
    for (size_t i = 0; i < n; i++) {
        a[i].k = bits ? (encode(&s->order, load(s->keys_in, i, s->key_bytes), 8 * s->key_bytes) >>
                         s->begin_bit) &
                            mask
                      : 0;
        a[i].i = i;
    }
    for (size_t w = 1; w < n; w *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * w) {
            size_t m = lo + w < n ? lo + w : n, h = lo + 2 * w < n ? lo + 2 * w : n, x = lo, y = m;
            for (size_t o = lo; o < h; o++)
                b[o] = (x < m && (y >= h || a[x].k <= a[y].k)) ? a[x++] : a[y++];
        }
        struct kv *t = a;
        a = b;
        b = t;
    }
    if (s->keys_out) {
        memcpy(kc, s->keys_in, n * (size_t)s->key_bytes);
        for (size_t i = 0; i < n; i++)
            memcpy((char *)s->keys_out + i * (size_t)s->key_bytes,
                   kc + a[i].i * (size_t)s->key_bytes, (size_t)s->key_bytes);
    }
    if (s->index_bytes)
        for (size_t i = 0; i < n; i++)
            memcpy((char *)s->values_out + i * (size_t)s->index_bytes, &a[i].i,
                   (size_t)s->index_bytes);
    else if (s->value_bytes) {
        memcpy(vc, s->values_in, n * s->value_bytes);
        for (size_t i = 0; i < n; i++)
            memcpy((char *)s->values_out + i * s->value_bytes, vc + a[i].i * s->value_bytes,
                   s->value_bytes);
    }
    return ECH_OK;
}
