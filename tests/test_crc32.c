/*
 * test_crc32.c - tests of the CRC-32 of records, and of the pipeline that computes them.
 *
 * The oracle divides polynomials bit by bit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crc32.h"
#include "pipeline.h"
#include "test.h"

#include <stdatomic.h>
#include <string.h>

/* ---- CRC-32 ---- */

static uint32_t oracle(const unsigned char *bytes, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < 8 * n; i++) {
        const uint32_t bit = ((uint32_t)bytes[i / 8] >> i % 8 ^ c) & 1;
        c = c >> 1 ^ (bit ? 0xedb88320u : 0);
    }
    return ~c;
}

static void test_lengths(const struct crc32 *crc)
{
    enum { MOST = 300, OFFSETS = 17 };
    unsigned char bytes[MOST + OFFSETS];
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)((x = x * 69069 + 1) >> 24);
    for (size_t n = 0; n <= MOST; n++) {
        if (!test_begin("crc32(n=%d)", (int)n)) continue;
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            const uint32_t wanted = oracle(bytes + offset, n);
            CHECK_INT(crc32_of(crc, bytes + offset, n), wanted);
            CHECK_INT(crc32_portable(crc, bytes + offset, n), wanted);
        }
        test_end();
    }
}

static void test_known(const struct crc32 *crc)
{
    if (!test_begin("crc32(check value)")) return;
    CHECK_INT(crc32_of(crc, "123456789", 9), 0xcbf43926);
    CHECK_INT(crc32_portable(crc, "123456789", 9), 0xcbf43926);
    CHECK_INT(crc32_of(crc, "", 0), 0);
    test_end();
}

/* ---- Pipeline ---- */

struct count {
    uint64_t blocks, stop; /* how many there are; give() fails at block stop */
    uint64_t taken, given; /* in order */
    atomic_ullong worked;
    bool taken_in_order, given_in_order; /* two: take() and give() run at the same time */
};

static bool take(void *arg, void *slot, uint64_t block)
{
    struct count *c = arg;
    if (block == c->blocks) return false;
    c->taken_in_order = c->taken_in_order && block == c->taken++;
    memcpy(slot, &block, sizeof block);
    return true;
}

static void work(void *arg, void *slot, uint64_t block)
{
    struct count *c = arg;
    uint64_t found;
    memcpy(&found, slot, sizeof found);
    c->worked += found == block;
    found = 3 * block;
    memcpy(slot, &found, sizeof found);
}

static bool give(void *arg, void *slot, uint64_t block)
{
    struct count *c = arg;
    uint64_t found;
    memcpy(&found, slot, sizeof found);
    c->given_in_order = c->given_in_order && block == c->given++ && found == 3 * block;
    return block != c->stop;
}

static void test_pipeline(int threads, uint64_t blocks, uint64_t stop)
{
    struct count c = {
        .blocks = blocks, .stop = stop, .taken_in_order = true, .given_in_order = true
    };
    const struct pipeline pipeline = { .take = take, .work = work, .give = give, .arg = &c };
    if (!test_begin("pipeline(threads=%d,blocks=%d,stop=%d)", threads, (int)blocks, (int)stop))
        return;
    CHECK(pipeline_run(&pipeline, threads, sizeof(uint64_t)));
    CHECK(c.taken_in_order && c.given_in_order);
    CHECK_INT(c.worked, c.taken);
    CHECK_INT(c.given, stop < blocks ? stop + 1 : blocks);
    if (stop >= blocks) CHECK_INT(c.taken, blocks);
    test_end();
}

int main(int argc, char **argv)
{
    struct crc32 crc;
    test_main(argc, argv);
    crc32_init(&crc);
    test_known(&crc);
    test_lengths(&crc);
    for (int threads = 0; threads <= 3; threads++) {
        test_pipeline(threads, 0, 9);
        test_pipeline(threads, 1, 9);
        test_pipeline(threads, 1000, 5000);
        test_pipeline(threads, 1000, 0);
        test_pipeline(threads, 1000, 17);
    }
    return test_finish();
}
