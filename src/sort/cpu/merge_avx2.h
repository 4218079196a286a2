/*
 * sort/cpu/merge_avx2.h - template: the sorts of raw and of unsigned KEYs with AVX2: merges, for
 * more raw keys after partitions, and for more unsigned keys a radix sort.
 *
 *   KEY, NAME(x)  as in network.h
 *   RADIX         the radix sort, or undefined: there is no sort of unsigned keys
 *
 * SPDX-License-Identifier: Apache-2.0
 */

static void NAME(vector_sort)(const struct echi_order *order, const void *keys, void *out,
                              void *work, size_t n)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    const struct NAME(coding) *coding = NAME(is_coded)(order) ? &c : NULL;
    (void)work;
    NAME(network_sort)(keys, out, n, coding, coding);
}

#ifdef RADIX
static void NAME(vector_any)(const struct echi_order *order, const void *keys, void *out,
                             void *work, size_t n)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    (void)work;
    NAME(vector_quick)(keys, out, n, NAME(is_coded)(order) ? &c : NULL, &c);
}

static void NAME(vector_leaf)(void *keys, void *work, size_t n, bool in_y, int begin, int end)
{
    static const struct echi_order plain; /* of unsigned keys */
    if (n > MERGE_BYTES / sizeof(KEY))
        RADIX(keys, work, n, in_y, begin, end);
    else
        NAME(vector_sort)(&plain, in_y ? work : keys, keys, NULL, n);
}
#endif

#undef KEY
#undef NAME
#undef RADIX
