/*
 * gf2_matrix.c - packed matrices for tests, in device or host memory, with a check of all
 * surrounding bits; devices and algorithms to test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Matrices ---- */

/* Packs n <= 64 bytes to bits, eight at a time: a product moves byte k to bit 56 + k. */
static uint64_t packed(const uint8_t *bytes, size_t n)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < n; k += 8) {
        uint64_t eight = 0;
        memcpy(&eight, bytes + k, n - k < 8 ? n - k : 8);
        bits |= (eight * 0x0102040810204080u >> 56) << k;
    }
    return bits;
}

static void put_bits(struct matrix *m, const struct bits *content)
{
    for (size_t i = 0; i < content->rows; i++)
        for (size_t j = 0; j < content->cols; j += 64) {
            const size_t n = content->cols - j < 64 ? content->cols - j : 64;
            const uint64_t mask = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
            uint64_t *word = &m->image[i * m->m.stride + j / 64];
            *word = (*word & ~mask) | packed(content->at + i * content->cols + j, n);
        }
}

bool matrix_make(struct matrix *m, ech_ctx *ctx, size_t rows, size_t cols,
                 const struct bits *content, size_t extra, uint64_t seed)
{
    struct rng rng = { seed };
    memset(m, 0, sizeof *m);
    m->m = (ech_gf2){
        .size = sizeof(ech_gf2), .rows = rows, .cols = cols, .stride = ech_gf2_stride(cols) + extra
    };
    m->words = rows * m->m.stride;
    m->image = malloc(m->words * sizeof *m->image + 1);
    if (!m->image || !buffer_make(&m->buffer, ctx, m->words * sizeof *m->image, 8)) return false;
    for (size_t i = 0; i < m->words; i++) m->image[i] = rng_next(&rng);
    if (content) put_bits(m, content);
    m->m.words = (uint64_t *)(void *)m->buffer.data;
    return buffer_set(&m->buffer, m->image);
}

void matrix_free(struct matrix *m)
{
    buffer_free(&m->buffer);
    free(m->image);
}

/* Reports the row and column of the first bit that differs, inside or outside the matrix. */
static void tell(const struct matrix *m, const uint64_t *got, const char *name)
{
    for (size_t i = 0; i < m->words; i++) {
        uint64_t differ = got[i] ^ m->image[i];
        if (!differ) continue;
        size_t row = i / m->m.stride;
        size_t col = i % m->m.stride * 64 + (size_t)__builtin_ctzll(differ);
        test_fail(__FILE__, __LINE__, "%s of %zu x %zu: bit (%zu, %zu)%s", name, m->m.rows,
                  m->m.cols, row, col,
                  col < m->m.cols ? " is wrong" : ", outside the matrix, has changed");
        return;
    }
}

bool matrix_is(struct matrix *m, const struct bits *wanted, const char *name)
{
    uint64_t *got = malloc(m->words * sizeof *got + 1);
    bool same = got && wanted->rows == m->m.rows && wanted->cols == m->m.cols;
    if (CHECK(same) && CHECK(buffer_get(&m->buffer, got))) {
        put_bits(m, wanted);
        same = memcmp(got, m->image, m->words * sizeof *got) == 0;
        if (!same) tell(m, got, name);
        same &= buffer_check_guards(&m->buffer, name);
    }
    free(got);
    return same;
}

/* ---- Arrays ---- */

bool array_make(struct buffer *buffer, ech_ctx *ctx, size_t count, size_t bytes, const void *from)
{
    return buffer_make(buffer, ctx, count * bytes, bytes) && (!from || buffer_set(buffer, from));
}

bool array_is(struct buffer *buffer, const void *wanted, size_t used, size_t bytes,
              const char *name)
{
    char *got = malloc(buffer->bytes + 1);
    bool same = got && buffer_get(buffer, got);
    for (size_t i = 0; same && i < used; i++)
        if (memcmp(got + i * bytes, (const char *)wanted + i * bytes, bytes) != 0) {
            test_fail(__FILE__, __LINE__, "%s[%zu] is wrong", name, i);
            same = false;
        }
    free(got);
    return CHECK(same) && buffer_check_guards(buffer, name);
}

ech_ctx *place(ech_ctx *ctx, uint64_t where, int bit)
{
    return where >> bit & 1 ? NULL : ctx;
}

/* ---- Algorithms ---- */

static bool accepts(ech_ctx *ctx, ech_gf2_call call, size_t rows, size_t cols, size_t other,
                    const char *word)
{
    const ech_gf2_echelon_options options = { .size = sizeof options, .algorithm = word };
    size_t bytes;
    return ech_gf2_workspace(ech_device_name(ctx), call, rows, cols, other, &options, &bytes) ==
           ECH_OK;
}

int gf2_algorithms(ech_ctx *ctx, ech_gf2_call call, size_t rows, size_t cols, size_t other,
                   char names[GF2_ALGORITHMS][GF2_NAME_BYTES])
{
    static const char separators[] = " \t\n,;:()\"";
    char text[4096];
    int count = 1;
    names[0][0] = 0;
    if (rows == 0 || cols == 0 || other == 0) return 1;
    CHECK_STATUS(ech_gf2_explain(ech_device_name(ctx), call, rows, cols, other, NULL,
                                 ECH_FORMAT_TEXT, text, sizeof text),
                 ECH_OK);
    for (char *word = strtok(text, separators); word; word = strtok(NULL, separators)) {
        bool known = strlen(word) >= GF2_NAME_BYTES || count == GF2_ALGORITHMS;
        for (int i = 1; i < count; i++) known |= strcmp(word, names[i]) == 0;
        if (!known && accepts(ctx, call, rows, cols, other, word)) strcpy(names[count++], word);
    }
    CHECK(count > 1); /* at least the chosen one */
    return count;
}

/* ---- Devices ---- */

enum { DEVICES = 16 };

static ech_ctx *opened[DEVICES];
static int n_opened;

int gf2_contexts(ech_ctx ***contexts)
{
    if (n_opened == 0) n_opened = test_contexts(opened, DEVICES);
    *contexts = opened;
    return n_opened;
}

void gf2_close(void)
{
    while (n_opened > 0) ech_close(opened[--n_opened]);
}

bool gf2_wanted(size_t bits)
{
    static unsigned number;
    return test_drawn(number++, bits <= 20000) || test_options.n_ids > 0;
}

static void *positions_of(const uint32_t *from, size_t count, ech_dtype dtype)
{
    uint64_t *wide = malloc(count * 8 + 1);
    if (!wide) abort();
    for (size_t i = 0; i < count; i++) wide[i] = from[i];
    void *array = index_array(wide, count, dtype);
    if (!array) abort();
    free(wide);
    return array;
}

bool positions_make(struct buffer *buffer, ech_ctx *ctx, size_t count, ech_dtype dtype,
                    const uint32_t *from)
{
    void *array = from ? positions_of(from, count, dtype) : NULL;
    const bool made = array_make(buffer, ctx, count, ech_dtype_bytes(dtype), array);
    free(array);
    return made;
}

bool positions_are(struct buffer *buffer, const uint32_t *wanted, size_t used, ech_dtype dtype,
                   const char *name)
{
    void *array = positions_of(wanted, used, dtype);
    const bool same = array_is(buffer, array, used, ech_dtype_bytes(dtype), name);
    free(array);
    return same;
}
