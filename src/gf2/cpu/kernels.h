/*
 * gf2/cpu/kernels.h - template: the kernels of common.h whose C source is the same for every
 * instruction set, and the struct that lists all of them.
 *
 *   NAME(x)    x##_avx2 ...
 *
 * The including file provides prepare, multiply, OPERAND_BYTES and OPERAND_PERMUTE from one of
 * gf2_affine_*.h; and find and gather from there, or defines GF2_BY_WORDS.
 *
 * Rows are converted to columns in blocks of 16 rows x 16 bytes: vectors of 16 bytes are
 * interleaved four times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
typedef uint8_t NAME(bytes) __attribute__((vector_size(16)));
typedef uint64_t NAME(words) __attribute__((vector_size(32)));

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (NAME(bytes)){ __VA_ARGS__ })
#endif

/* Interleaving rows i and i + 8 four times transposes 16 x 16 bytes. */
INLINED void NAME(turn)(NAME(bytes) * rows)
{
    for (int step = 0; step < 4; step++) {
        NAME(bytes) next[16];
        for (int i = 0; i < 8; i++) {
            next[2 * i] = SHUFFLE(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                  22, 7, 23);
            next[2 * i + 1] = SHUFFLE(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                      13, 29, 14, 30, 15, 31);
        }
        for (int i = 0; i < 16; i++) rows[i] = next[i];
    }
}

/* Loads 16 rows x 16 bytes, of which `count` rows with `bytes` bytes exist; the rest becomes 0. */
static void NAME(to_edge)(const uint8_t *in, size_t stride_bytes, size_t count, size_t bytes,
                          uint8_t *out)
{
    for (size_t c = 0; c < bytes; c++)
        for (size_t r = 0; r < 16; r++)
            out[c * ECHI_GF2_TILE + r] = r < count ? in[r * stride_bytes + c] : 0;
}

INLINED void NAME(to_block)(const uint8_t *in, size_t stride_bytes, uint8_t *out)
{
    NAME(bytes) rows[16];
    for (int r = 0; r < 16; r++) memcpy(&rows[r], in + (size_t)r * stride_bytes, 16);
    NAME(turn)(rows);
    for (int c = 0; c < 16; c++) memcpy(out + c * ECHI_GF2_TILE, &rows[c], 16);
}

static void NAME(to_columns)(const uint64_t *words, size_t stride, size_t rows, size_t bytes,
                             uint8_t *tile)
{
    const uint8_t *in = (const uint8_t *)words;
    const size_t stride_bytes = stride * 8;
    const size_t all = (rows + ECHI_GF2_LINE - 1) / ECHI_GF2_LINE * ECHI_GF2_LINE;
    for (size_t first = 0; first < bytes; first += 64) {
        const size_t end = echi_min(bytes, first + 64);
        for (size_t r = 0; r < all; r += 16) {
#ifdef GF2_WIDE
            if (r + 16 <= rows && first + 64 == end) {
                NAME(to_wide)
                (in + r * stride_bytes + first, stride_bytes, tile + first * ECHI_GF2_TILE + r);
                continue;
            }
#endif
            for (size_t c = first; c < end; c += 16) {
                uint8_t *out = tile + c * ECHI_GF2_TILE + r;
                if (r + 16 <= rows && c + 16 <= end) {
                    NAME(to_block)(in + r * stride_bytes + c, stride_bytes, out);
                    continue;
                }
                const size_t count = r < rows ? echi_min(16, rows - r) : 0;
                NAME(to_edge)
                (in + r * stride_bytes + c, stride_bytes, count, echi_min(16, end - c), out);
            }
        }
    }
}

/* Writes or adds 16 bytes of `count` rows. */
INLINED void NAME(from_block)(const uint8_t *in, size_t count, size_t bytes, uint8_t *out,
                              size_t stride_bytes, bool add)
{
    NAME(bytes) rows[16];
    for (int c = 0; c < 16; c++) memcpy(&rows[c], in + c * ECHI_GF2_TILE, 16);
    NAME(turn)(rows);
    for (size_t r = 0; r < count; r++, out += stride_bytes) {
        NAME(bytes) old = { 0 };
        if (add) memcpy(&old, out, bytes);
        old ^= rows[r];
        memcpy(out, &old, bytes);
    }
}

/* Writes or adds the bits in mask of the last word of each row. */
static void NAME(from_last)(const uint8_t *in, size_t rows, size_t bytes, uint64_t mask,
                            uint64_t *out, size_t stride, bool add)
{
    for (size_t r = 0; r < rows; r++, out += stride) {
        uint64_t word = 0;
        for (size_t c = 0; c < bytes; c++) word |= (uint64_t)in[c * ECHI_GF2_TILE + r] << 8 * c;
        *out = add ? *out ^ (word & mask) : (*out & ~mask) | (word & mask);
    }
}

static void NAME(from_columns)(const uint8_t *tile, size_t rows, size_t cols, uint64_t *words,
                               size_t stride, bool add)
{
    const size_t whole = cols / 64 * 8, bytes = (cols + 7) / 8;
    for (size_t first = 0; first < whole; first += 64) {
        const size_t end = echi_min(whole, first + 64);
        for (size_t r = 0; r < rows; r += 16) {
#ifdef GF2_WIDE
            if (first + 64 == end) {
                NAME(from_wide)
                (tile + first * ECHI_GF2_TILE + r, rows - r,
                 (uint8_t *)(words + r * stride) + first, stride * 8, add);
                continue;
            }
#endif
            for (size_t c = first; c < end; c += 16) {
                const uint8_t *in = tile + c * ECHI_GF2_TILE + r;
                uint8_t *out = (uint8_t *)(words + r * stride) + c;
                const size_t count = echi_min(16, rows - r);
                if (c + 16 <= end) {
                    NAME(from_block)(in, count, 16, out, stride * 8, add);
                    continue;
                }
                uint8_t half[16 * ECHI_GF2_TILE]; /* the tile may end after these 8 */
                for (size_t i = 0; i < 8; i++)
                    memcpy(half + i * ECHI_GF2_TILE, in + i * ECHI_GF2_TILE, 16);
                for (size_t i = 8; i < 16; i++) memset(half + i * ECHI_GF2_TILE, 0, 16);
                NAME(from_block)(half, count, 8, out, stride * 8, add);
            }
        }
    }
    if (whole == bytes) return;
    NAME(from_last)
    (tile + whole * ECHI_GF2_TILE, rows, bytes - whole, echi_gf2_last_mask(cols), words + whole / 8,
     stride, add);
}

#ifdef GF2_BY_WORDS
static void NAME(gather)(const uint8_t *const *from, const uint8_t *bit, int n, uint8_t *out,
                         int lines)
{
    const uint64_t ones = 0x0101010101010101;
    for (int line = 0; line < lines; line++) {
        uint64_t sum[ECHI_GF2_LINE / 8] = { 0 };
        for (int t = 0; t < n; t++) {
            uint64_t bytes[ECHI_GF2_LINE / 8];
            memcpy(bytes, from[t] + line * ECHI_GF2_LINE, sizeof bytes);
            const int right = bit[t] > t ? bit[t] - t : 0, left = bit[t] > t ? 0 : t - bit[t];
            for (int i = 0; i < ECHI_GF2_LINE / 8; i++)
                sum[i] |= (bytes[i] >> right << left) & ones << t;
        }
        memcpy(out + line * ECHI_GF2_LINE, sum, sizeof sum);
    }
}

static size_t NAME(find)(const uint8_t *bytes, size_t from, size_t to, uint8_t mask)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t allowed = ~(uint64_t)0 << from % 8 * 8;
    for (size_t i = from & ~(size_t)7; i < to; i += 8, allowed = ~(uint64_t)0) {
        uint64_t x;
        memcpy(&x, bytes + i, sizeof x);
        x &= mask * ones;
        x ^= x >> 4;
        x ^= x >> 2;
        x ^= x >> 1;
        x &= ones & allowed;
        if (!x) continue;
        const size_t at = i + (size_t)__builtin_ctzll(x) / 8;
        return at < to ? at : to;
    }
    return to;
}
#endif

/* Four rows at a time would not help: the sums have to stay in registers. */
INLINED void NAME(combine_words)(const struct echi_gf2_tables *tables, const uint64_t *multipliers,
                                 size_t rows, uint64_t *out, size_t stride, const size_t vectors)
{
    const int bits = tables->bits;
    const size_t table = (size_t)ECHI_GF2_STRIP << bits;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (size_t r = 0; r < rows; r++, out += stride) {
        uint64_t left = multipliers[r];
        if (!left) continue;
        NAME(words) sum[ECHI_GF2_STRIP / 4];
        for (size_t v = 0; v < vectors; v++) memcpy(&sum[v], out + v * 4, sizeof sum[v]);
        const uint64_t *entries = tables->entries;
        for (; left; left >>= bits, entries += table) {
            const uint64_t *entry = entries + (left & mask) * ECHI_GF2_STRIP;
            for (size_t v = 0; v < vectors; v++) {
                NAME(words) words;
                memcpy(&words, entry + v * 4, sizeof words);
                sum[v] ^= words;
            }
        }
        for (size_t v = 0; v < vectors; v++) memcpy(out + v * 4, &sum[v], sizeof sum[v]);
    }
}

static void NAME(combine)(const struct echi_gf2_tables *tables, const uint64_t *multipliers,
                          size_t rows, uint64_t *out, size_t stride, size_t width)
{
    const int bits = tables->bits;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    if (width == ECHI_GF2_STRIP) {
        NAME(combine_words)(tables, multipliers, rows, out, stride, ECHI_GF2_STRIP / 4);
        return;
    }
    if (width == 4) {
        NAME(combine_words)(tables, multipliers, rows, out, stride, 1);
        return;
    }
    for (size_t r = 0; r < rows; r++, out += stride) {
        const uint64_t *entries = tables->entries;
        for (uint64_t left = multipliers[r]; left; left >>= bits) {
            const uint64_t *entry = entries + (left & mask) * ECHI_GF2_STRIP;
            for (size_t w = 0; w < width; w++) out[w] ^= entry[w];
            entries += (size_t)ECHI_GF2_STRIP << bits;
        }
    }
}

/* ---- One word per column ---- */

#ifndef __AVX2__

/* Exchanges blocks of side x side bits above and below the diagonal. */
static void NAME(turn_words)(uint64_t words[64])
{
    uint64_t low = 0xffffffff;
    for (int side = 32; side; side /= 2, low ^= low << side)
        for (int i = 0; i < 64; i += 2 * side)
            for (int k = i; k < i + side; k++) {
                const uint64_t t = (words[k] >> side ^ words[k + side]) & low;
                words[k] ^= t << side;
                words[k + side] ^= t;
            }
}

#else

#ifdef __clang__
#define SWAP_WORDS(v, a, b, c, d) __builtin_shufflevector(v, v, a, b, c, d)
#else
#define SWAP_WORDS(v, a, b, c, d) __builtin_shuffle(v, (NAME(words)){ a, b, c, d })
#endif

/* Exchanges blocks of `side` bits above and below the diagonal, side = 32 ... 4. */
INLINED void NAME(swap_squares)(NAME(words) * v, int side, uint64_t low)
{
    const int step = side / 4;
    for (int i = 0; i < 16; i += 2 * step)
        for (int k = i; k < i + step; k++) {
            const NAME(words) t = (v[k] >> side ^ v[k + step]) & low;
            v[k] ^= t << side;
            v[k + step] ^= t;
        }
}

/* Bits that stay, and bits from the other word, shifted by side bits. */
INLINED void NAME(swap_within)(NAME(words) * v, NAME(words) keep, NAME(words) up, int side)
{
    for (int k = 0; k < 16; k++) {
        const NAME(words) other =
            side == 2 ? SWAP_WORDS(v[k], 2, 3, 0, 1) : SWAP_WORDS(v[k], 1, 0, 3, 2);
        v[k] = (v[k] & keep) | (other << side & up) | (other >> side & ~(keep | up));
    }
}

static void NAME(turn_words)(uint64_t words[64])
{
    static const uint64_t half = 0xffffffff, quarter = 0x0000ffff0000ffff,
                          eighth = 0x00ff00ff00ff00ff, four = 0x0f0f0f0f0f0f0f0f,
                          two = 0x3333333333333333, one = 0x5555555555555555;
    NAME(words) v[16];
    memcpy(v, words, sizeof v);
    NAME(swap_squares)(v, 32, half);
    NAME(swap_squares)(v, 16, quarter);
    NAME(swap_squares)(v, 8, eighth);
    NAME(swap_squares)(v, 4, four);
    NAME(swap_within)(v, (NAME(words)){ two, two, ~two, ~two }, (NAME(words)){ ~two, ~two }, 2);
    NAME(swap_within)(v, (NAME(words)){ one, ~one, one, ~one }, (NAME(words)){ ~one, 0, ~one }, 1);
    memcpy(words, v, sizeof v);
}

#endif

/* Vectors begin at a multiple of eight: columns before the pivot's have no one in its row, nor in
 * any non-pivot row below. */
INLINED void NAME(swap_rows)(uint64_t *column, size_t from, size_t all, int i, int j)
{
    for (size_t c = from; c < all; c += 8)
        for (size_t k = 0; k < 8; k++) {
            const uint64_t differ = (column[c + k] >> i ^ column[c + k] >> j) & 1;
            column[c + k] ^= differ << i | differ << j;
        }
}

INLINED void NAME(add_row)(uint64_t *column, size_t from, size_t all, int row, uint64_t to)
{
    for (size_t c = from; c < all; c += 8)
        for (size_t k = 0; k < 8; k++) column[c + k] ^= to & (0 - (column[c + k] >> row & 1));
}

static size_t NAME(eliminate)(uint64_t *column, size_t all, const struct echi_gf2_turned *t,
                              uint32_t *pivots, uint8_t *pivot_rows)
{
    uint64_t left = ~(uint64_t)0 >> (64 - t->rows); /* rows that are not pivot rows */
    size_t rank = 0;
    for (size_t c = 0; c < t->limit && rank < t->most && left; c++) {
        const uint64_t found = column[c] & left;
        if (!found) continue;
        int row = __builtin_ctzll(found);
        if (t->swaps && row != (int)rank) NAME(swap_rows)(column, c / 8 * 8, all, row, (int)rank);
        if (t->swaps) row = (int)rank;
        left ^= (uint64_t)1 << row;
        const uint64_t others = column[c] ^ (uint64_t)1 << row;
        NAME(add_row)(column, c / 8 * 8, all, row, t->reduced ? others : others & left);
        pivots[rank] = (uint32_t)c;
        pivot_rows[rank++] = (uint8_t)row;
    }
    return rank;
}

const struct echi_gf2_isa NAME(echi_gf2) = {
    .name = NAME_TEXT,
    .operand_bytes = OPERAND_BYTES,
    .fast = OPERAND_FAST,
    .prepare = NAME(prepare),
    .multiply = NAME(multiply),
    .find = NAME(find),
    .to_columns = NAME(to_columns),
    .from_columns = NAME(from_columns),
    .permute = OPERAND_PERMUTE,
    .gather = NAME(gather),
    .combine = NAME(combine),
    .turn = NAME(turn_words),
    .eliminate = NAME(eliminate),
};
