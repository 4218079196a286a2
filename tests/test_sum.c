/*
 * test_sum.c - the sums of hashes of --verify: they do not depend on the order of the records, and
 * differ after a change of the records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/sum.h"
#include "files/sum_4.h"
#include "lines/lines.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 70, RECORDS = 40 };

static void fill(struct rng *rng, unsigned char *at, size_t n, bool few)
{
    for (size_t i = 0; i < n; i++) at[i] = (unsigned char)rng_below(rng, few ? 3 : 256);
}

static void swap_bytes(unsigned char *a, unsigned char *b, size_t n)
{
    unsigned char copy[MOST_BYTES];
    memcpy(copy, a, n);
    memmove(a, b, n);
    memcpy(b, copy, n);
}

/* Exchanges records: the sum stays.  Exchanges a part of two records, changes a byte, or repeats a
 * record instead of another: the sum changes if the records do. */
static void check_fixed(size_t bytes, struct rng *rng)
{
    unsigned char records[RECORDS * MOST_BYTES], changed[RECORDS * MOST_BYTES];
    fill(rng, records, RECORDS * bytes, rng_below(rng, 2));
    const uint64_t sum = files_sum_fixed(records, RECORDS, bytes);
    for (int trial = 0; trial < 200; trial++) {
        const size_t i = rng_below(rng, RECORDS), j = rng_below(rng, RECORDS);
        const size_t from = rng_below(rng, bytes), n = rng_below(rng, bytes - from) + 1;
        unsigned char *a = changed + i * bytes, *b = changed + j * bytes;
        memcpy(changed, records, RECORDS * bytes);
        swap_bytes(a, b, bytes);
        CHECK(files_sum_fixed(changed, RECORDS, bytes) == sum);
        memcpy(changed, records, RECORDS * bytes);
        swap_bytes(a + from, b + from, n);
        const bool parts = memcmp(a + from, b + from, n) != 0;
        const bool others = memcmp(a, records + j * bytes, bytes) != 0 || i == j;
        const bool same = memcmp(a, records + i * bytes, bytes) == 0;
        if (i != j && parts && others && !same)
            CHECK(files_sum_fixed(changed, RECORDS, bytes) != sum);
        memcpy(changed, records, RECORDS * bytes);
        a[from] ^= (unsigned char)(1 + rng_below(rng, 255));
        CHECK(files_sum_fixed(changed, RECORDS, bytes) != sum);
        memcpy(changed, records, RECORDS * bytes);
        memcpy(a, records + j * bytes, bytes);
        if (memcmp(a, records + i * bytes, bytes) != 0)
            CHECK(files_sum_fixed(changed, RECORDS, bytes) != sum);
    }
}

static void fixed(void)
{
    for (size_t bytes = 1; bytes <= MOST_BYTES; bytes++) {
        if (!test_begin("fixed(bytes=%d)", (int)bytes)) continue;
        struct rng rng = { bytes };
        check_fixed(bytes, &rng);
        test_end();
    }
}

/* The sum by vectors is the sum of the hashes of single records, for each number of records. */
static void vectors(void)
{
    if (!test_begin("vectors")) return;
    struct rng rng = { 5 };
    uint32_t numbers[100];
    uint64_t sum = 0;
    fill(&rng, (unsigned char *)numbers, sizeof numbers, false);
    for (size_t n = 0; n <= 100; n++) {
        CHECK(files_sum_fixed((const unsigned char *)numbers, n, 4) == sum);
        if (n < 100) sum += sum_hash_4(numbers[n]);
    }
    test_end();
}

/* The same records with other memory after them, and split at other places. */
static void lines(void)
{
    if (!test_begin("lines")) return;
    struct rng rng = { 9 };
    for (int trial = 0; trial < 2000; trial++) {
        unsigned char text[2 * MOST_BYTES];
        const uint32_t n = (uint32_t)rng_below(&rng, MOST_BYTES) + 1;
        fill(&rng, text, sizeof text, false);
        const uint64_t tight = files_sum_lines(text, &n, 1, text + n);
        CHECK(files_sum_lines(text, &n, 1, text + sizeof text) == tight);
        text[n] ^= 1; /* not a part of the record */
        CHECK(files_sum_lines(text, &n, 1, text + sizeof text) == tight);
        const uint32_t first = (uint32_t)rng_below(&rng, n), parts[2] = { first, n - first };
        CHECK(files_sum_lines(text, parts, 2, text + n) != tight);
        text[rng_below(&rng, n)] ^= 0x10;
        CHECK(files_sum_lines(text, &n, 1, text + n) != tight);
    }
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    fixed();
    vectors();
    lines();
    return test_finish();
}
