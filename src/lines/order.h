/*
 * lines/order.h - the contents of an order, for the files of this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_ORDER_H
#define ECHELON_LINES_ORDER_H

#include "lines/lines.h"

#include <string.h>

/* What a key compares. */
enum kind {
    KIND_BYTES = 0,
    KIND_NUMBER,  /* n */
    KIND_GENERAL, /* g */
    KIND_HUMAN,   /* h */
    KIND_MONTH,   /* M */
    KIND_VERSION, /* V */
    KIND_RANDOM   /* R */
};

struct key {
    enum kind kind;
    bool reverse;
    bool fold;                      /* f */
    bool dictionary, printing;      /* d, i; d has precedence */
    bool skip_start, skip_end;      /* b, for each end */
    bool all;                       /* the record as it is, without its terminator */
    bool filtered;                  /* fold, dictionary or printing: map applies */
    bool folds;                     /* fold is the only filter */
    size_t first_field, first_char; /* from 0 */
    size_t last_field;              /* from 0; SIZE_MAX: the end of the record */
    size_t last_char;               /* characters of the last field; 0: all */
    bool keep_quotes;               /* CSV: the record as it is */
    char *name;                     /* of a column; NULL: numbers */
    uint16_t map[256];              /* of each byte: what it becomes, or DROPPED */
};

enum { DROPPED = 256 };

struct lines_order {
    struct key keys[LINES_MOST_KEYS];
    int n_keys;
    bool direct;     /* one key, whose bytes are part of the record */
    bool whole;      /* and all of the record */
    bool number;     /* the first key is a number at the beginning of the record */
    bool resort;     /* the whole record follows as last resort */
    bool common;     /* quick.c makes most keys */
    bool fields;     /* a key is a part of the record */
    bool total;      /* equal full keys are equal records */
    bool underlined; /* --debug shows it, also if it cannot decide after the keys */
    bool reversed;   /* the last resort is descending */
    bool unique, csv, header;
    char terminator;
    int delimiter; /* LINES_BLANKS or a character */
    uint64_t seed[2];
};

/* ---- Words: words.c ---- */

/* Parses one key, or global letters.  Returns false after a message. */
bool lines_parse_key(struct key *key, const char *word, char error[LINES_ERROR]);
bool lines_parse_letters(struct key *key, const char *letters, char error[LINES_ERROR]);
/* Whether the key has no letter except r. */
bool lines_is_default(const struct key *key);
/* The letters of the key: "bn". */
void lines_key_letters(const struct key *key, char letters[16]);

/* ---- Fields: field.c ---- */

/* The bytes of a key in a record. */
struct span {
    const char *at, *end;
    bool quoted; /* CSV with quotes, which are not part of the value */
    bool inside; /* at is between quotes */
};

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* limit: the end of the memory that can be read after the record; NULL: its end. */
struct span lines_span_of(const struct lines_order *order, const struct key *key,
                          const char *record, size_t bytes, const char *limit);

/* Reads the bytes of a span without quotes, filtered as the key requires. */
struct reader {
    struct span span;
    const uint16_t *map; /* NULL: no filter */
};

struct reader lines_reader(const struct key *key, struct span span);
int lines_read(struct reader *reader); /* the next byte; -1: none */

/* Copies at most room bytes of a reader; returns how many. */
size_t lines_read_some(struct reader *reader, char *to, size_t room);

/* ---- Encoding: encode.c ---- */

/* Receives a stream of bytes, of which it keeps [skip, skip + room). */
struct sink {
    unsigned char *to;
    size_t skip, room;
    size_t n;     /* bytes of the stream so far */
    bool measure; /* the length is wanted; otherwise encoders may stop when the room is full */
    unsigned char flip; /* 0xff: complement */
    const char *limit;  /* the end of the memory that can be read after a record; NULL: its end */
};

static inline bool sink_full(const struct sink *s)
{
    return !s->measure && s->n >= s->skip + s->room;
}

static inline void sink_put(struct sink *s, unsigned char byte)
{
    if (s->n - s->skip < s->room) s->to[s->n - s->skip] = byte ^ s->flip; /* wraps before skip */
    s->n++;
}

/* Appends n bytes. */
static inline void sink_put_all(struct sink *s, const char *at, size_t n)
{
    const size_t end = s->skip + s->room;
    const size_t from = s->n < s->skip ? s->skip - s->n : 0;
    size_t to = s->n < end ? end - s->n : 0;
    if (to > n) to = n;
    if (from < to) {
        unsigned char *out = s->to + (s->n + from - s->skip);
        if (s->flip)
            for (size_t i = from; i < to; i++) *out++ = (unsigned char)at[i] ^ 0xff;
        else
            memcpy(out, at + from, to - from);
    }
    s->n += n;
}

/* Encoders of numbers and versions: number.c, general.c, version.c, random.c. */
void lines_put_number(struct sink *sink, const char *at, const char *end);
void lines_put_human(struct sink *sink, const char *at, const char *end);
void lines_put_month(struct sink *sink, const char *at, const char *end);
void lines_put_general(struct sink *sink, const char *at, const char *end);
void lines_put_version(struct sink *sink, struct reader reader);
void lines_put_random(struct sink *sink, struct reader reader, const uint64_t seed[2]);

/* The end of the number, month or text that a key of a kind compares, for --debug: *at is advanced
 * past leading blanks. */
const char *lines_general_end(const char *at, const char *end); /* of strtold() */
const char *lines_number_end(enum kind kind, const char **at, const char *end);

/* Appends the key of a record, and the last resort if it is wanted. */
void lines_encode(const struct lines_order *order, const char *record, size_t bytes, bool resort,
                  struct sink *sink);

/* Bytes [depth, depth + 7) of the full key as a big-endian number with, in the lowest byte, the
 * number of bytes that follow depth, at most 8.  Equal words of 0 to 7 are equal full keys. */
uint64_t lines_word(const struct lines_order *order, const char *record, size_t bytes, size_t depth,
                    const char *limit);
enum { WORD_BYTES = 7, WORD_MORE = 8 };
/* The words at depth and, in *next, at depth + WORD_BYTES. */
uint64_t lines_words(const struct lines_order *order, const char *record, size_t bytes,
                     size_t depth, uint64_t *next, const char *limit);
/* The word of left bytes at at. */
static inline uint64_t lines_load_word(const unsigned char *at, size_t left)
{
    uint64_t word = 0;
    if (left >= WORD_MORE) {
        for (size_t i = 0; i < 8; i++) word = word << 8 | at[i]; /* one load */
        return (word & ~(uint64_t)0xff) | WORD_MORE;
    }
    for (size_t i = 0; i < left && i < WORD_BYTES; i++) word |= (uint64_t)at[i] << (56 - 8 * i);
    return word | left;
}

/* ---- Records: record.c ---- */

/* Offsets of the records of a block: [n + 1] of begin_bytes each; the last is bytes, or bytes + 1
 * if the last record has no terminator.  *misplaced: the offset of a quote of CSV that is inside a
 * value without quotes, does not end one, or is not closed; SIZE_MAX: none.  If there is one, the
 * offsets have no meaning. */
uint64_t lines_split(const struct lines_order *order, const char *text, size_t bytes, int threads,
                     void **begins, size_t *begin_bytes, size_t *misplaced);

/* ---- Output: gather.c ---- */

/* Computes sorted->sums and out_bytes; returns false if out of memory. */
bool lines_sum(struct lines_sorted *sorted, int threads);

static inline uint64_t load_uint(const void *array, size_t element_bytes, uint64_t i)
{
    return element_bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static inline void store_uint(void *array, size_t element_bytes, uint64_t i, uint64_t value)
{
    if (element_bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)value;
    else
        ((uint64_t *)array)[i] = value;
}

#endif
