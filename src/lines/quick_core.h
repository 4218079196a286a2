/*
 * lines/quick_core.h - the code of quick.c, compiled once per instruction set.
 *
 *     QUICK(name)  the name of a function for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/mask.h"
#include "lines/quick.h"
#include "lines/short.h"
#include "lines/wide.h"

#define INLINE static inline __attribute__((always_inline))

/* What is read after the begin of a key. */
enum { READ_BYTES = MASK_BYTES + WIDE + 2 };

/* Bytes of a key, and 0 after the last. */
struct bytes {
    wide first;
    size_t n; /* more than WIDE: there are more */
};

/* ---- Fields ---- */

/* A record, and the bits of its fields. */
struct fields {
    const char *record;
    size_t bytes;
    uint64_t ends;   /* the ends of fields, or delimiters, but not the end of the record */
    uint64_t blanks; /* if blanks separate fields */
    uint64_t quotes; /* of CSV */
};

INLINE void find_fields(const struct lines_order *order, struct fields *f)
{
    const uint64_t inside = f->bytes < MASK_BYTES ? ((uint64_t)1 << f->bytes) - 1 : UINT64_MAX;
    f->quotes = 0;
    if (order->delimiter == LINES_BLANKS) {
        f->blanks = mask_of_blanks(f->record) & inside;
        f->ends = f->blanks & ~f->blanks << 1;
        return;
    }
    f->ends = mask_of(f->record, (char)order->delimiter) & inside;
    if (order->csv) {
        f->quotes = mask_of(f->record, '"') & inside;
        f->ends &= ~mask_between(f->quotes);
    }
}

/* The end of field i; SIZE_MAX: it is not known. */
INLINE size_t end_of(const struct fields *f, size_t i, size_t bytes)
{
    uint64_t ends = f->ends;
    for (; i && ends; i--) ends &= ends - 1;
    if (ends) return (size_t)__builtin_ctzll(ends);
    return f->bytes <= MASK_BYTES ? bytes : SIZE_MAX;
}

INLINE bool skip_field_blanks(const struct lines_order *order, const struct fields *f,
                              size_t *begin)
{
    if (*begin >= f->bytes) return true;
    if (*begin >= MASK_BYTES) return false;
    const uint64_t blanks =
        order->delimiter == LINES_BLANKS ? f->blanks : mask_of_blanks(f->record);
    *begin += (size_t)__builtin_ctzll(~(blanks >> *begin));
    if (f->bytes < MASK_BYTES) {
        if (*begin > f->bytes) *begin = f->bytes;
        return true;
    }
    return *begin < MASK_BYTES;
}

/* Quotes around the whole field are removed; for others, returns false. */
INLINE bool unquote(const struct fields *f, size_t *begin, size_t *end)
{
    if (*end > MASK_BYTES) return false;
    if (*begin == *end) return true;
    const uint64_t to = *end < MASK_BYTES ? ((uint64_t)1 << *end) - 1 : UINT64_MAX;
    const uint64_t quotes = (f->quotes & to) >> *begin;
    if (!quotes) return true;
    if (*end - *begin < 2 || quotes != (1 | (uint64_t)1 << (*end - *begin - 1))) return false;
    ++*begin;
    --*end;
    return true;
}

INLINE bool find_key(const struct lines_order *order, const struct key *key, const struct fields *f,
                     size_t *begin, size_t *end)
{
    size_t bytes = f->bytes;
    const bool quoted = order->csv && !key->keep_quotes;
    *begin = 0;
    *end = bytes;
    if (key->all) return true;
    if (quoted && bytes && f->record[bytes - 1] == '\r') bytes--; /* part of the end */
    if (key->first_field) {
        *begin = end_of(f, key->first_field - 1, bytes);
        if (*begin == SIZE_MAX) return false;
        if (order->delimiter != LINES_BLANKS && *begin < bytes) ++*begin;
    }
    *end = key->last_field == SIZE_MAX ? bytes : end_of(f, key->last_field, bytes);
    if (*end == SIZE_MAX) return false;
    if (*end > bytes) *end = bytes;
    if (*begin > *end) *begin = *end;
    if (key->skip_start && !skip_field_blanks(order, f, begin)) return false;
    if (*end < *begin) *end = *begin;
    return !quoted || unquote(f, begin, end);
}

/* ---- Bytes ---- */

INLINE void append(struct bytes *to, wide bytes, size_t n)
{
    if (to->n < WIDE) to->first = wide_or(to->first, wide_behind(bytes, to->n));
    to->n += n;
}

INLINE void append_plain(struct bytes *to, const char *at, size_t n)
{
    append(to, wide_and(wide_load(at), wide_first(n)), n);
}

/* Bytes that end in 0.  Returns false if a 0 or 1 has to be changed. */
INLINE bool append_ended(struct bytes *to, const char *at, size_t n, bool fold, bool reverse)
{
    const wide first = wide_first(n);
    wide text = wide_and(wide_load(at), first);
    if (wide_has_small(text, first)) return false;
    if (fold) text = wide_upper(text);
    if (reverse) text = wide_xor(text, wide_first(n + 1));
    append(to, text, n + 1);
    return true;
}

/* A number: pairs of digits, and the count of its integer digits. */
struct number {
    wide pairs;
    size_t digits;
    bool negative;
};

#if defined(__AVX2__)

enum { LONG_DIGITS = 32 };

INLINE __m256i long_first(size_t n)
{
    static const unsigned char ones[2 * LONG_DIGITS] = { 255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255 };
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + LONG_DIGITS - n));
}

INLINE __m256i long_values(const char *at)
{
    const __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)at);
    return _mm256_sub_epi8(text, _mm256_set1_epi8('0'));
}

/* As short_digits(), for at most 31 digits. */
INLINE bool find_digits(const char *at, size_t left, struct number *number)
{
    const size_t known = left < LONG_DIGITS ? left : LONG_DIGITS;
    const __m256i values = long_values(at);
    const __m256i is_digit =
        _mm256_cmpeq_epi8(_mm256_min_epu8(values, _mm256_set1_epi8(9)), values);
    const uint64_t mask =
        (uint64_t)(uint32_t)_mm256_movemask_epi8(is_digit) & (((uint64_t)1 << known) - 1);
    const size_t n = (size_t)__builtin_ctzll(~mask);
    const bool zero = n && *at == '0';
    if (n >= LONG_DIGITS || (zero && n > 1)) return false;
    number->digits = n - zero;
    __m256i digits = _mm256_and_si256(values, long_first(n));
    if (n < known && at[n] == '.') {
        const size_t more = (size_t)__builtin_ctzll(~(mask >> (n + 1)));
        if (n + 1 + more >= LONG_DIGITS) return false;
        const size_t all = number->digits + more;
        const __m256i fraction = _mm256_andnot_si256(long_first(number->digits), long_first(all));
        digits = _mm256_or_si256(_mm256_and_si256(digits, long_first(number->digits)),
                                 _mm256_and_si256(long_values(at + 1 + zero), fraction));
    }
    const __m256i sums = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    number->pairs =
        _mm_packus_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return true;
}

INLINE size_t used_pairs(const struct number *number)
{
    const wide zero = _mm_cmpeq_epi8(number->pairs, _mm_setzero_si128());
    const uint32_t used = ~(uint32_t)_mm_movemask_epi8(zero) & 0xffff;
    return used ? (size_t)(32 - __builtin_clz(used)) : 0;
}

INLINE wide add_ones(wide pairs, size_t used)
{
    return _mm_sub_epi8(pairs, wide_first(used));
}

#else

INLINE bool find_digits(const char *at, size_t left, struct number *number)
{
    struct short_number found;
    uint64_t pairs;
    if (!short_digits(at, left, &found, &pairs)) return false;
    number->pairs = pairs;
    number->digits = found.digits;
    return true;
}

INLINE size_t used_pairs(const struct number *number)
{
    const uint64_t pairs = (uint64_t)number->pairs;
    return pairs ? (size_t)(71 - __builtin_clzll(pairs)) / 8 : 0;
}

INLINE wide add_ones(wide pairs, size_t used)
{
    const uint64_t ones = 0x0101010101010101;
    return (uint64_t)pairs + (ones >> (64 - 8 * used));
}

#endif

/* The class, pairs of digits plus 1, and 0; as number.c. */
INLINE bool append_number(struct bytes *to, const char *at, const char *end, bool reverse)
{
    struct number number;
    while (at < end && is_blank(*at)) at++;
    number.negative = at < end && *at == '-';
    at += number.negative;
    if (!find_digits(at, (size_t)(end - at), &number)) return false;
    const size_t used = used_pairs(&number);
    if (!used) {
        append(to, wide_of(reverse ? 0x7f : 0x80, 0), 1);
        return true;
    }
    wide bytes =
        wide_or(wide_behind(add_ones(number.pairs, used), 1), wide_of(0x80 + 1 + number.digits, 0));
    const size_t flip = (size_t)0 - (reverse != number.negative); /* a choice would be a branch */
    bytes = wide_xor(bytes, wide_first((used + 2) & flip));
    append(to, bytes, used + 2);
    return true;
}

/* ---- Keys ---- */

/* The forms for which the loop over the records of a block is compiled separately. */
enum form { FORM_ANY, FORM_WHOLE, FORM_NUMBER /* of the whole record, then its bytes */ };

INLINE enum form form_of(const struct lines_order *order)
{
    if (order->whole) return FORM_WHOLE;
    const bool number = order->n_keys == 1 && order->number;
    return number && !order->reversed && !order->keys[0].reverse ? FORM_NUMBER : FORM_ANY;
}

INLINE bool first_bytes(const struct lines_order *order, enum form form, const char *record,
                        size_t bytes, size_t skip, bool resort, const char *limit, struct bytes *to)
{
    *to = (struct bytes){ wide_of(0, 0), 0 };
    if (limit - record <= READ_BYTES + (ptrdiff_t)bytes) return false;
    if (form == FORM_WHOLE) {
        append_plain(to, record + skip, bytes - skip);
        return true;
    }
    if (form == FORM_NUMBER) {
        if (!append_number(to, record, record + bytes, false)) return false;
        if (resort) append_plain(to, record, bytes);
        return true;
    }
    struct fields f = { .record = record, .bytes = bytes };
    if (order->fields) find_fields(order, &f);
    for (int i = 0; i < order->n_keys && to->n < WIDE; i++) {
        const struct key *key = &order->keys[i];
        size_t begin, end;
        if (!find_key(order, key, &f, &begin, &end)) return false;
        if (order->direct) {
            append_plain(to, record + begin, end - begin);
            return true;
        }
        if (key->kind == KIND_NUMBER
                ? !append_number(to, record + begin, record + end, key->reverse)
                : !append_ended(to, record + begin, end - begin, key->folds, key->reverse))
            return false;
    }
    if (!resort || to->n >= WIDE) return true;
    if (order->reversed) return append_ended(to, record, bytes, false, true);
    append_plain(to, record, bytes);
    return true;
}

/* ---- Blocks ---- */

/* The word of left bytes. */
INLINE uint64_t word_of(uint64_t bytes, size_t left)
{
    const uint64_t last = 0xff;
    return (bytes & ~last) | (left < WORD_MORE ? left : WORD_MORE);
}

/* Makes the words of up to 64 records, and returns a bit for each one that needs the encoders.  The
 * loop has no call, so that its constants stay in registers. */
INLINE uint64_t make_words(const struct block *b, enum form form, uint64_t from, uint64_t n)
{
    const struct lines_order *order = b->order;
    const char *limit = b->text + b->bytes;
    const size_t skip = b->skip;
    uint64_t *words = b->words + from, *next = b->next ? b->next + from : NULL, failed = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct bytes key;
        size_t bytes;
        const char *record = block_record(b, from + i, &bytes);
        const bool made = first_bytes(order, form, record, bytes, skip, order->resort, limit, &key);
        failed |= (uint64_t)!made << i;
        if (!made) continue;
        words[i] = word_of(wide_word(key.first), key.n);
        if (next)
            next[i] = key.n > WORD_BYTES ? word_of(wide_next(key.first), key.n - WORD_BYTES) : 0;
    }
    return failed;
}

INLINE void make_all_words(const struct block *b, enum form form, uint64_t from, uint64_t to)
{
    enum { SOME = 64 };
    for (; from < to; from += SOME) {
        uint64_t failed = make_words(b, form, from, to - from < SOME ? to - from : SOME);
        for (; failed; failed &= failed - 1) {
            const uint64_t i = from + (uint64_t)__builtin_ctzll(failed);
            if (b->next)
                b->words[i] = block_words(b, i, &b->next[i]);
            else
                b->words[i] = block_word(b, i, 0);
        }
    }
}

void QUICK(words)(const struct block *b, uint64_t from, uint64_t to)
{
    switch (form_of(b->order)) {
    case FORM_WHOLE:
        make_all_words(b, FORM_WHOLE, from, to);
        break;
    case FORM_NUMBER:
        make_all_words(b, FORM_NUMBER, from, to);
        break;
    default:
        make_all_words(b, FORM_ANY, from, to);
        break;
    }
}

/* ---- Prefixes ---- */

INLINE void store_prefixes(const struct lines_order *order, enum form form, const char *text,
                           const char *limit, const uint32_t *lengths, size_t n, uint64_t *prefixes)
{
    enum { SOME = 64 };
    for (size_t from = 0; from < n; from += SOME) {
        const size_t some = n - from < SOME ? n - from : SOME;
        uint64_t failed = 0;
        const char *at = text;
        for (size_t i = from; i < from + some; text += lengths[i++]) {
            struct bytes key;
            const bool made = first_bytes(order, form, text, lengths[i] - 1, 0, false, limit, &key);
            failed |= (uint64_t)!made << (i - from);
            if (made) prefixes[i] = wide_word(key.first);
        }
        for (size_t i = from; failed; failed >>= 1, at += lengths[i++])
            if (failed & 1)
                prefixes[i] = lines_prefix(order, at, lines_body(order, at, lengths[i]));
    }
}

void QUICK(prefixes)(const struct lines_order *order, const char *text, size_t bytes,
                     const uint32_t *lengths, size_t n, uint64_t *prefixes)
{
    const char *limit = text + bytes;
    switch (form_of(order)) {
    case FORM_WHOLE:
        store_prefixes(order, FORM_WHOLE, text, limit, lengths, n, prefixes);
        break;
    case FORM_NUMBER:
        store_prefixes(order, FORM_NUMBER, text, limit, lengths, n, prefixes);
        break;
    default:
        store_prefixes(order, FORM_ANY, text, limit, lengths, n, prefixes);
        break;
    }
}

size_t QUICK(ends)(const struct lines_order *order, const char *text, size_t bytes, size_t most,
                   uint32_t *lengths)
{
    size_t n = 0, begin = 0;
    uint64_t inside = 0; /* all bits: between quotes */
    for (size_t at = 0; bytes - at >= MASK_BYTES; at += MASK_BYTES) {
        uint64_t ends = mask_of(text + at, order->terminator);
        if (order->csv) {
            const uint64_t between = mask_between(mask_of(text + at, '"')) ^ inside;
            ends &= ~between;
            inside = (uint64_t)0 - (between >> (MASK_BYTES - 1));
        }
        for (; ends; ends &= ends - 1) {
            const size_t end = at + (size_t)__builtin_ctzll(ends) + 1;
            lengths[n++] = (uint32_t)(end - begin);
            begin = end;
            if (n == most) return n;
        }
    }
    for (; begin < bytes && n < most; n++) {
        lengths[n] = (uint32_t)lines_next(order, text + begin, bytes - begin);
        begin += lengths[n];
    }
    return n;
}

/* ---- Quotes of CSV ---- */

uint64_t QUICK(quoted)(const struct quoted_text *q, size_t from, size_t *to, bool *between,
                       void *begins, uint64_t at)
{
    uint64_t n = 0, inside = *between ? UINT64_MAX : 0;
    bool before = lines_is_neighbour(q, from, -1);
    size_t i = from;
    for (; *to - i >= MASK_BYTES; i += MASK_BYTES) {
        const char *text = q->text + i;
        const uint64_t quotes = mask_of(text, '"'), newlines = mask_of(text, '\n');
        const uint64_t odd = mask_between(quotes) ^ inside;
        uint64_t ends = newlines & ~odd;
        inside = (uint64_t)0 - (odd >> (MASK_BYTES - 1));
        if (!begins) {
            /* Most quotes are next to a delimiter, an end or a quote. */
            const uint64_t near = mask_of(text, q->delimiter) | quotes | newlines;
            const uint64_t left = near << 1 | before;
            const bool after = lines_is_neighbour(q, i + MASK_BYTES - 1, 1);
            const uint64_t right = near >> 1 | (uint64_t)after << (MASK_BYTES - 1);
            uint64_t rare = quotes & ~((odd & left) | (~odd & right));
            for (; rare; rare &= rare - 1) {
                const int k = __builtin_ctzll(rare);
                if (!lines_is_in_place(q, i + (size_t)k, odd >> k & 1))
                    lines_set_misplaced(q, i + (size_t)k);
            }
            before = near >> (MASK_BYTES - 1);
            n += (uint64_t)__builtin_popcountll(ends);
            continue;
        }
        for (; ends; ends &= ends - 1)
            store_uint(begins, q->begin_bytes, at + ++n, i + (size_t)__builtin_ctzll(ends) + 1);
    }
    *to = i;
    *between = inside != 0;
    return n;
}
