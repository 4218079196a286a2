/*
 * standalone.c - runs a fuzz target without libFuzzer, on every file of a corpus and on mutated
 * copies.
 *
 *     fuzz_npy_short CORPUS [CHANGED [SEED]]
 *
 * The mutations are few and random. They exercise the targets in every `make check`, with any
 * compiler. To find new paths, use libFuzzer (tests/fuzz/README.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <dirent.h>
#include <stdint.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16 };

static uint64_t state;

/* xorshift64* (Vigna 2016) */
static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

static size_t below(size_t n)
{
    return n ? (size_t)(next() % n) : 0;
}

static size_t replace(unsigned char *bytes, size_t n, size_t at, const char *with)
{
    size_t length = strlen(with);
    if (at + length > MOST_BYTES) return n;
    memcpy(bytes + at, with, length);
    return at + length > n ? at + length : n;
}

/* Applies one mutation and returns the new length. */
static size_t change(unsigned char *bytes, size_t n)
{
    static const char *const words[] = {
        "nan", "inf", "-",           "1e308",      "1e-320",
        "0x",  ".",   "\n",          "\r\n",       "18446744073709551616",
        "<f4", ">i8", "|b1",         "'shape': (", "), ",
        "{",   "}",   "99999999999", "True",       "\x93NUMPY",
    };
    size_t at = below(n), length = below(16);
    switch (next() % 6) {
    case 0: /* flip a bit */
        if (n) bytes[at] ^= (unsigned char)(1u << below(8));
        return n;
    case 1: /* replace a byte */
        if (n) bytes[at] = (unsigned char)next();
        return n;
    case 2: /* truncate */
        return at;
    case 3: /* delete bytes */
        if (at + length > n) length = n - at;
        memmove(bytes + at, bytes + at + length, n - at - length);
        return n - length;
    case 4: /* duplicate bytes */
        if (at + length > n) length = n - at;
        if (n + length > MOST_BYTES) return n;
        memmove(bytes + at + length, bytes + at, n - at);
        return n + length;
    default:
        return replace(bytes, n, at, words[below(sizeof words / sizeof *words)]);
    }
}

static size_t load(const char *directory, const char *name, unsigned char *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    size_t n = fread(bytes, 1, MOST_BYTES, file);
    fclose(file);
    return n;
}

/* Runs the input from an allocation of exactly its size, so that a sanitizer detects an overrun. */
static void run(const unsigned char *bytes, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    if (!copy) exit(1);
    if (n) memcpy(copy, bytes, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

int main(int argc, char **argv)
{
    static unsigned char original[MOST_BYTES], changed[MOST_BYTES];
    if (argc < 2) {
        fprintf(stderr, "usage: %s CORPUS [CHANGED [SEED]]\n", argv[0]);
        return 2;
    }
    unsigned long each = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    state = argc > 3 ? strtoull(argv[3], NULL, 10) | 1 : 1;

    DIR *directory = opendir(argv[1]);
    if (!directory) {
        perror(argv[1]);
        return 1;
    }
    unsigned files = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        size_t n = load(argv[1], entry->d_name, original);
        run(original, n);
        files++;
        for (unsigned long i = 0; i < each; i++) {
            size_t m = n;
            memcpy(changed, original, n);
            for (size_t changes = 1 + below(4); changes; changes--) m = change(changed, m);
            run(changed, m);
        }
    }
    closedir(directory);
    printf("%u files, %lu changed copies of each\n", files, each);
    return files ? 0 : 1;
}
