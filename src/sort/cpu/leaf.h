/*
 * sort/cpu/leaf.h - template: the sort of unsigned KEYs in the cache, in portable C: insertion
 * sort, merge sort or LSD radix sort with 8-bit digits, depending on the size.
 *
 *   KEY      uint32_t or uint64_t
 *   NAME(x)  x with the width as a suffix
 *
 * SPDX-License-Identifier: Apache-2.0
 */

static void NAME(insertion)(KEY *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        KEY key = x[i];
        size_t j = i;
        for (; j && x[j - 1] > key; j--) x[j] = x[j - 1];
        x[j] = key;
    }
}

/* Merges runs [0, middle) and [middle, n) of in, without branches on keys: for random keys every
 * other one would be mispredicted. */
static void NAME(merge)(const KEY *in, size_t middle, size_t n, KEY *out)
{
    size_t a = 0, b = middle, i = 0;
    while (a < middle && b < n) {
        KEY left = in[a], right = in[b];
        bool second = right < left;
        out[i++] = second ? right : left;
        b += second;
        a += !second;
    }
    memcpy(out + i, in + a, (middle - a) * sizeof(KEY));
    memcpy(out + i + (middle - a), in + b, (n - b) * sizeof(KEY));
}

static void NAME(merge_sort)(KEY *x, KEY *y, size_t n)
{
    for (size_t i = 0; i < n; i += INSERTION_KEYS)
        NAME(insertion)(x + i, echi_min(n - i, INSERTION_KEYS));
    KEY *from = x, *to = y;
    for (size_t run = INSERTION_KEYS; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run)
            NAME(merge)(from + i, echi_min(run, n - i), echi_min(2 * run, n - i), to + i);
        KEY *swap = from;
        from = to;
        to = swap;
    }
    if (from != x) memcpy(x, from, n * sizeof(KEY));
}

static void NAME(pass)(const KEY *in, KEY *out, size_t n, int shift, size_t *at)
{
    size_t sum = 0;
    for (int b = 0; b < 256; b++) {
        size_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    _Pragma("GCC unroll 4") for (size_t i = 0; i < n; i++) out[at[(in[i] >> shift) & 255]++] =
        in[i];
}

static void NAME(radix)(KEY *x, KEY *y, size_t n, bool in_y, int begin, int end)
{
    size_t at[sizeof(KEY)][256];
    KEY *from = in_y ? y : x, *to = in_y ? x : y;
    int passes = (end - begin + 7) / 8;
    memset(at, 0, sizeof at);
    for (size_t i = 0; i < n; i++) {
        KEY key = from[i] >> begin;
        _Pragma("GCC unroll 8") for (int p = 0; p < passes; p++, key = (KEY)(key >> 8))
            at[p][key & 255]++;
    }
    for (int p = 0; p < passes; p++) {
        if (at[p][(from[0] >> (begin + 8 * p)) & 255] == n) continue; /* all digits are equal */
        NAME(pass)(from, to, n, begin + 8 * p, at[p]);
        KEY *swap = from;
        from = to;
        to = swap;
    }
    if (from != x) memcpy(x, from, n * sizeof(KEY));
}

static void NAME(leaf)(void *keys, void *work, size_t n, bool in_y, int begin, int end)
{
    KEY *x = keys, *y = work;
    if (n == 0) return;
    if (n > MERGE_KEYS) {
        NAME(radix)(x, y, n, in_y, begin, end);
        return;
    }
    if (in_y) memcpy(x, y, n * sizeof(KEY));
    if (n <= INSERTION_KEYS)
        NAME(insertion)(x, n);
    else
        NAME(merge_sort)(x, y, n);
}

#undef KEY
#undef NAME
