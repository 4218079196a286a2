/*
 * io/npy.c - reads and writes the header of a .npy file.
 *
 *     "\x93NUMPY" major minor length{2 bytes in version 1, otherwise 4} dict padding '\n' data
 *     dict = {'descr': '<f4', 'fortran_order': False, 'shape': (3,), }
 *
 * The descr of records is a list of fields: [('name', '<f4'), ('name', '|S8', (3,)), ...].
 *
 * NumPy evaluates the dict as a Python literal.  This parser accepts only the literals of valid
 * headers, and reports what it does not support: object types, too many dimensions, and structured
 * types unless the caller supports records.
 * Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/dtypes.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, MOST_HEADER = 1 << 20, MOST_RECORD = 1 << 30 /* bytes */ };

static const char magic[] = "\x93NUMPY";

static const char *const names[] = {
#define ENTRY(with, constant, name, width, bytes, kind, mantissa_bits, numpy) [constant] = numpy,
    ECHI_DTYPES(ENTRY, )
#undef ENTRY
};

/* ---- The bytes before the dict ---- */

io_status io_npy_header_bytes(const unsigned char *bytes, size_t n, const char *name,
                              size_t *header_bytes, struct io_error *error)
{
    *header_bytes = 0;
    if (n == 0) return io_fail(error, IO_FAIL, name, "is empty, not a .npy file");
    if (n < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return io_fail(error, IO_FAIL, name,
                       "is not a .npy file: it does not begin with \\x93NUMPY");
    if (n < 12)
        return io_fail(error, IO_FAIL, name, "the .npy header is truncated after %zu bytes", n);
    unsigned major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        return io_fail(error, IO_FAIL, name,
                       "the .npy version is %u.%u; versions 1.0, 2.0 and 3.0 are supported", major,
                       minor);
    uint64_t length = bytes[8] | (uint64_t)bytes[9] << 8;
    if (major > 1) length |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
    if (length > MOST_HEADER)
        return io_fail(error, IO_FAIL, name,
                       "the .npy header has a length of %llu bytes; the maximum is %d",
                       (unsigned long long)length, MOST_HEADER);
    *header_bytes = (major == 1 ? 10 : 12) + (size_t)length;
    return IO_OK;
}

/* ---- The dict ---- */

struct scan {
    const char *at, *end;
    const char *name;
    struct io_error *error;
};

static io_status bad(struct scan *s, const char *what)
{
    return io_fail(s->error, IO_FAIL, s->name, "the .npy header is malformed: %s", what);
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t')) s->at++;
}

static bool take(struct scan *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

/* Copies a quoted string into word, truncated to fit.  Returns false if there is none. */
static bool take_string(struct scan *s, char *word, size_t word_bytes)
{
    skip_blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
    char quote = *s->at++;
    size_t n = 0;
    for (; s->at < s->end && *s->at != quote; s->at++) {
        if (*s->at == '\\' || *s->at < ' ' || *s->at > '~') return false;
        if (n + 1 < word_bytes) word[n++] = *s->at;
    }
    word[n] = 0;
    if (s->at == s->end) return false;
    s->at++;
    return true;
}

static bool take_word(struct scan *s, const char *word)
{
    skip_blanks(s);
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return false;
    s->at += n;
    return true;
}

/* Multiplies *bytes by a number.  Returns false if there is none, or if the product is large. */
static bool take_factor(struct scan *s, uint64_t *bytes)
{
    uint64_t value = 0;
    bool any = false, fits = true;
    skip_blanks(s);
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++, any = true) {
        fits &= value <= MOST_RECORD;
        if (fits) value = value * 10 + (uint64_t)(*s->at - '0');
    }
    if (!any || !fits || value > MOST_RECORD) return false;
    *bytes *= value;
    return *bytes <= MOST_RECORD;
}

/* The size of an element of a descr such as "<f4", "|S8", "<U3" or "<M8[ns]". */
static bool descr_bytes(struct scan *s, const char *descr, uint64_t *bytes)
{
    *bytes = 1;
    if (descr[0] == 0 || !strchr("<>=|", descr[0]) || descr[1] == 0) return false;
    struct scan digits = { descr + 2, descr + strlen(descr), s->name, s->error };
    if (!take_factor(&digits, bytes)) return false;
    if (descr[1] == 'U') *bytes *= 4;
    return digits.at == digits.end || *digits.at == '[';
}

/* ('name', '<f4') or ('name', '<f4', (3,)).  A type that consists of fields is not supported. */
static io_status scan_record_field(struct scan *s, struct io_records *records)
{
    struct io_record_field *field = &records->fields[records->count];
    if (records->count == IO_MOST_FIELDS)
        return io_fail(s->error, IO_FAIL, s->name, "its records have more than %d fields",
                       IO_MOST_FIELDS);
    if (!take(s, '(') || !take_string(s, field->name, sizeof field->name) || !take(s, ',') ||
        !take_string(s, field->descr, sizeof field->descr))
        return bad(s, "a field of its records is not ('name', 'type'); titles of fields and fields "
                      "that consist of fields are not supported");
    uint64_t bytes;
    if (strchr(field->descr, 'O'))
        return io_fail(s->error, IO_FAIL, s->name,
                       "has records with Python objects (field \"%s\"), which are not supported",
                       field->name);
    if (!descr_bytes(s, field->descr, &bytes)) return bad(s, "a field has an invalid type");
    field->element_bytes = bytes;
    if (take(s, ',') && take(s, '(')) {
        field->array = true;
        while (!take(s, ')')) {
            if (!take_factor(s, &bytes)) return bad(s, "a field has an invalid shape");
            if (take(s, ',')) continue;
            if (!take(s, ')')) return bad(s, "the shape of a field does not end");
            break;
        }
        take(s, ',');
    }
    field->offset_bytes = records->bytes;
    records->bytes += bytes;
    if (records->bytes > MOST_RECORD)
        return io_fail(s->error, IO_FAIL, s->name, "its records have more than %d bytes",
                       MOST_RECORD);
    records->count++;
    return take(s, ')') ? IO_OK : bad(s, "a field of its records does not end");
}

/* descr receives the type that NumPy gives to the whole record. */
static io_status scan_records(struct scan *s, struct io_records *records, char *descr,
                              size_t descr_size)
{
    *records = (struct io_records){ .count = 0 };
    while (!take(s, ']')) {
        const io_status status = scan_record_field(s, records);
        if (status != IO_OK) return status;
        if (take(s, ',')) continue;
        if (!take(s, ']')) return bad(s, "the list of fields does not end");
        break;
    }
    if (!records->bytes) return io_fail(s->error, IO_FAIL, s->name, "its records are empty");
    snprintf(descr, descr_size, "|V%u", (unsigned)records->bytes);
    return IO_OK;
}

/* descr is truncated to 15 characters, more than any supported type has. */
static io_status scan_descr(struct scan *s, const struct io_hints *hints, struct io_npy *npy)
{
    const int dtype = hints->dtype;
    if (take(s, '[')) {
        npy->records = true;
        if (hints->records) return scan_records(s, hints->records, npy->descr, sizeof npy->descr);
        return io_fail(s->error, IO_FAIL, s->name,
                       "is an array of records (a structured dtype), which only \"echelon "
                       "records\" supports");
    }
    char *descr = npy->descr;
    if (!take_string(s, descr, sizeof npy->descr)) return bad(s, "'descr' is not a string");
    if (descr[0] == 0 || !strchr("<>=|", descr[0]))
        return io_fail(s->error, IO_FAIL, s->name, "its dtype '%s' has no byte order", descr);
    if (strchr(descr, 'O'))
        return io_fail(s->error, IO_FAIL, s->name,
                       "is an array of Python objects ('%s'), which is not supported", descr);
    npy->big_endian = descr[0] == '>' && strcmp(descr + 2, "1") != 0;
    npy->boolean = strcmp(descr + 1, "b1") == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!names[i] || strcmp(npy->boolean ? "u1" : descr + 1, names[i] + 1) != 0) continue;
        npy->dtype = i == ECH_U16 && dtype == ECH_BF16 ? ECH_BF16 : (ech_dtype)i;
        return IO_OK;
    }
    return io_fail(s->error, IO_FAIL, s->name,
                   "its dtype '%s' is not supported; use bool, integer or float of at most 8 bytes",
                   descr);
}

static io_status scan_fortran(struct scan *s, struct io_npy *npy)
{
    npy->fortran = take_word(s, "True");
    return npy->fortran || take_word(s, "False") ? IO_OK
                                                 : bad(s, "'fortran_order' is not True or False");
}

static io_status scan_shape(struct scan *s, int most, struct io_npy *npy)
{
    if (!take(s, '(')) return bad(s, "'shape' is not a tuple");
    const char *text = s->at;
    uint64_t dimensions = 0, n = 1;
    while (!take(s, ')')) {
        skip_blanks(s);
        uint64_t value = 0;
        bool over = false, any = false;
        for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++, any = true) {
            unsigned digit = (unsigned)(*s->at - '0');
            over |= value > (UINT64_MAX - digit) / 10;
            value = value * 10 + digit;
        }
        if (!any) return bad(s, "'shape' does not consist of integers");
        if (s->at < s->end && *s->at == 'L') s->at++; /* a long integer of Python 2 */
        if (over)
            return io_fail(s->error, IO_FAIL, s->name,
                           "the shape in the .npy header exceeds 2^64 elements");
        dimensions++;
        npy->rows = n;
        npy->columns = value;
        if (__builtin_mul_overflow(n, value, &n))
            return io_fail(s->error, IO_FAIL, s->name,
                           "the shape in the .npy header exceeds 2^64 elements");
        if (take(s, ',')) continue;
        if (!take(s, ')')) return bad(s, "'shape' does not end");
        /* In Python, (3) is an integer; a tuple of one element is (3,). */
        if (dimensions == 1) return bad(s, "'shape' is not a tuple");
        break;
    }
    if (dimensions < 1 || dimensions > (uint64_t)(most ? most : 1))
        return io_fail(s->error, IO_FAIL, s->name,
                       "has %llu dimensions, shape (%.*s; only arrays of one%s are supported",
                       (unsigned long long)dimensions, s->at - text < 60 ? (int)(s->at - text) : 60,
                       text,
                       most < 2    ? ""
                       : most == 2 ? " or two"
                                   : " and more");
    npy->n = n;
    npy->dimensions = dimensions;
    return IO_OK;
}

io_status io_npy_parse(const unsigned char *header, size_t header_bytes, const char *name,
                       const struct io_hints *hints, struct io_npy *npy, struct io_error *error)
{
    size_t prefix = header[6] == 1 ? 10 : 12;
    struct scan s = { (const char *)header + prefix, (const char *)header + header_bytes, name,
                      error };
    enum { DESCR = 1, FORTRAN = 2, SHAPE = 4, ALL = 7 };
    int seen = 0;
    *npy = (struct io_npy){ .header_bytes = header_bytes };
    if (!take(&s, '{')) return bad(&s, "it is not a dict");
    while (!take(&s, '}')) {
        char key[16];
        if (!take_string(&s, key, sizeof key)) return bad(&s, "a key is not a string");
        if (!take(&s, ':')) return bad(&s, "a key has no value");
        io_status status;
        int what = strcmp(key, "descr") == 0           ? DESCR
                   : strcmp(key, "fortran_order") == 0 ? FORTRAN
                   : strcmp(key, "shape") == 0         ? SHAPE
                                                       : 0;
        if (what == 0 || (seen & what)) return bad(&s, "a key is unknown or a duplicate");
        seen |= what;
        if (what == DESCR)
            status = scan_descr(&s, hints, npy);
        else if (what == FORTRAN)
            status = scan_fortran(&s, npy);
        else
            status = scan_shape(&s, hints->dimensions, npy);
        if (status != IO_OK) return status;
        if (!take(&s, ',')) {
            if (!take(&s, '}')) return bad(&s, "the dict does not end");
            break;
        }
    }
    skip_blanks(&s);
    if (seen != ALL) return bad(&s, "'descr', 'fortran_order' or 'shape' is missing");
    if (s.at != s.end) return bad(&s, "more text follows the dict");
    return IO_OK;
}

/* second is the text after the comma of the shape. */
static size_t write_header(const char *descr, uint64_t n, const char *second, unsigned char *header)
{
    char dict[IO_NPY_HEADER];
    const char *quote = descr[0] == '[' ? "" : "'";
    int length = snprintf(dict, sizeof dict,
                          "{'descr': %s%s%s, 'fortran_order': False, 'shape': (%llu,%s), }", quote,
                          descr, quote, (unsigned long long)n, second);
    /* The header ends in a newline, and the data begins at a multiple of 64, as in NumPy. */
    size_t used = 10 + (size_t)length, total = (used + 1 + 63) / 64 * 64;
    memset(header, ' ', total);
    memcpy(header, magic, MAGIC_BYTES);
    header[6] = 1;
    header[7] = 0;
    header[8] = (unsigned char)((total - 10) & 255);
    header[9] = (unsigned char)((total - 10) >> 8);
    memcpy(header + 10, dict, (size_t)length);
    header[total - 1] = '\n';
    return total;
}

size_t io_npy_header_of(const char *descr, uint64_t n, uint64_t columns, unsigned char *header)
{
    return columns ? io_npy_header_matrix(descr, n, columns, header)
                   : write_header(descr, n, "", header);
}

size_t io_npy_header_matrix(const char *descr, uint64_t rows, uint64_t columns,
                            unsigned char *header)
{
    char second[24];
    snprintf(second, sizeof second, " %llu", (unsigned long long)columns);
    return write_header(descr, rows, second, header);
}

size_t io_npy_header(const char *descr, uint64_t n, unsigned char *header)
{
    return io_npy_header_of(descr, n, 0, header);
}

const char *io_npy_descr(ech_dtype dtype)
{
    return names[dtype];
}

/* ---- A whole file ---- */

static io_status load_header(struct io_source *source, const struct io_hints *hints,
                             struct io_column *column, struct io_error *error)
{
    unsigned char first[12];
    size_t got, header_bytes;
    io_status status = io_read(source, first, sizeof first, &got, error);
    if (status == IO_OK)
        status = io_npy_header_bytes(first, got, source->name, &header_bytes, error);
    if (status != IO_OK) return status;
    if (header_bytes < sizeof first)
        return io_fail(error, IO_FAIL, source->name, "the .npy header is truncated");
    column->header = malloc(header_bytes);
    if (!column->header) return io_no_memory(error, source->name, header_bytes, "its header");
    memcpy(column->header, first, sizeof first);
    status =
        io_read(source, column->header + sizeof first, header_bytes - sizeof first, &got, error);
    if (status != IO_OK) return status;
    if (got != header_bytes - sizeof first)
        return io_fail(error, IO_FAIL, source->name,
                       "the .npy header has a length of %zu bytes, but the file ends after %zu",
                       header_bytes, got + sizeof first);
    return io_npy_parse(column->header, header_bytes, source->name, hints, &column->npy, error);
}

io_status io_npy_load(struct io_source *source, const struct io_hints *hints,
                      struct io_column *column, struct io_error *error)
{
    uint64_t size = source->size;
    int dtype = hints->dtype;
    io_status status = load_header(source, hints, column, error);
    if (status != IO_OK) return status;
    const struct io_npy *npy = &column->npy;
    if (dtype >= 0 && (ech_dtype)dtype != npy->dtype)
        return io_fail(error, IO_FAIL, source->name, "contains %s, but --type is %s",
                       ech_dtype_name(npy->dtype), ech_dtype_name((ech_dtype)dtype));

    size_t element_bytes = npy->records ? hints->records->bytes : ech_dtype_bytes(npy->dtype), got;
    unsigned long long n = npy->n;
    if (npy->n > PTRDIFF_MAX / element_bytes)
        return io_fail(error, IO_FAIL, source->name,
                       "the shape (%llu,) in the .npy header exceeds the address space", n);
    uint64_t need = npy->n * element_bytes;
    if (size && size - npy->header_bytes != need)
        return io_fail(error, IO_FAIL, source->name,
                       "the .npy header specifies %llu elements of '%s', %llu bytes, but %llu "
                       "bytes follow",
                       n, npy->descr, (unsigned long long)need,
                       (unsigned long long)(size - npy->header_bytes));
    status = io_read_all(source, need, size ? need : 0, 0, &column->keys, &got, error);
    if (status != IO_OK) return status;
    char more;
    size_t extra = 0;
    if (got == need) status = io_read(source, &more, 1, &extra, error);
    if (status != IO_OK) return status;
    if (got != need || extra)
        return io_fail(error, IO_FAIL, source->name,
                       "the .npy header specifies %llu elements of '%s', %llu bytes, but %s follow",
                       n, npy->descr, (unsigned long long)need, extra ? "more" : "fewer");
    column->dtype = npy->dtype;
    column->n = npy->n;
    column->keys_bytes = got;
    if (npy->big_endian) io_swap(column->keys, column->n, element_bytes);
    return IO_OK;
}
