/*
 * files/sum.c - the sum of the hashes of records, for --verify.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/sum.h"

#include "files/sum_4.h"
#include "lines/hash.h"
#include "lines/lines.h"

static uint64_t sum_4(const unsigned char *at, size_t n)
{
    uint64_t sum = 0;
#if defined(__x86_64__)
    if (lines_has_avx2()) return files_sum_4_avx2(at, n);
#endif
    for (size_t i = 0; i < n; i++) {
        uint32_t x;
        memcpy(&x, at + 4 * i, sizeof x);
        sum += sum_hash_4(x);
    }
    return sum;
}

/* Both factors depend on all bits. */
static uint64_t hash_8(uint64_t x)
{
    const uint64_t first = UINT64_C(0x9e3779b97f4a7c15), second = UINT64_C(0xd6e8feb86659fd93);
    return hash_fold(x ^ first, (x << 32 | x >> 32) ^ second);
}

uint64_t files_sum_fixed(const unsigned char *at, size_t n, size_t bytes)
{
    uint64_t sum = 0;
    if (bytes == 4) return sum_4(at, n);
    const char *from = (const char *)at, *limit = from + n * bytes;
    if (bytes == 8)
        for (size_t i = 0; i < n; i++) sum += hash_8(hash_load(from + 8 * i));
    else
        for (size_t i = 0; i < n; i++) sum += hash_bytes(from + bytes * i, bytes, limit);
    return sum;
}

uint64_t files_sum_lines(const unsigned char *at, const uint32_t *lengths, size_t n,
                         const unsigned char *limit)
{
    const char *from = (const char *)at, *end = (const char *)limit;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += hash_bytes(from, lengths[i], end);
        from += lengths[i];
    }
    return sum;
}
