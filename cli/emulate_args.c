/*
 * emulate_args.c - the arguments of a kernel for "echelon emulate": the words of --arg.
 *
 *     n=1000  n:u32=1000     a scalar
 *     in=a.npy  in:f32=b.raw an array from a file
 *     out:u32:1000           an array of 1000 uninitialised elements
 *     sum:f32:64=0           an array of 64 elements with this value
 *     next=null              a null pointer
 *     a.n=1000               a member of the parameter a, which is a struct
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words ---- */

static int fail_word(const char *word, const char *why)
{
    return cli_fail(EXIT_BAD,
                    "--arg %s: %s; use NAME=VALUE, NAME=FILE, NAME:TYPE:COUNT or "
                    "NAME:TYPE:COUNT=VALUE",
                    word, why);
}

static bool is_name(const char *text)
{
    if (!*text) return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '.') return false;
    return true;
}

int emulate_parse_word(const char *word, struct emulate_word *parsed)
{
    char head[KERNEL_NAME], option[KERNEL_NAME + 16];
    const size_t length = strcspn(word, "=");
    *parsed = (struct emulate_word){ .word = word, .dtype = -1 };
    if (word[length]) parsed->value = word + length + 1;
    if (length >= sizeof head) return fail_word(word, "the name is too long");
    snprintf(head, sizeof head, "%.*s", (int)length, word);
    char *type = strchr(head, ':'), *count = type ? strchr(type + 1, ':') : NULL;
    if (type) *type++ = 0;
    if (count) *count++ = 0;
    if (!is_name(head)) return fail_word(word, "the name is not an identifier");
    snprintf(parsed->name, sizeof parsed->name, "%s", head);
    if (!type && !parsed->value) return fail_word(word, "it has no value");
    if (parsed->value && !*parsed->value) return fail_word(word, "the value is empty");
    snprintf(option, sizeof option, "arg %s", head);
    if (type) {
        parsed->dtype = ech_dtype_from_name(type);
        if (parsed->dtype < 0)
            return cli_fail(EXIT_BAD, "--arg %s: unknown type \"%s\"; use one of: " CLI_TYPES, word,
                            type);
        if (!count && !parsed->value)
            return fail_word(word, "it has neither a value nor a number of elements");
    }
    if (!count) return EXIT_DONE;
    parsed->sized = true;
    return cli_parse_count(option, count, &parsed->count);
}

int emulate_parse(struct emulate_arguments *a, const struct cli_list *words)
{
    a->words = calloc((size_t)words->count + 1, sizeof *a->words);
    if (!a->words) return cli_fail(EXIT_MEMORY, "out of memory");
    for (int i = 0; i < words->count; i++) {
        int code = emulate_parse_word(words->words[i], &a->words[i]);
        if (code != EXIT_DONE) return code;
        for (int j = 0; j < i; j++)
            if (strcmp(a->words[j].name, a->words[i].name) == 0)
                return cli_fail(EXIT_BAD, "--arg %s is given twice, as \"%s\" and \"%s\"",
                                a->words[i].name, a->words[j].word, a->words[i].word);
        a->word_count++;
    }
    return EXIT_DONE;
}

/* ---- Names ---- */

/* A name that needs an argument. */
struct needed {
    char name[2 * KERNEL_NAME];
    int parameter;
};

/* The names of all arguments: a parameter, or the members of a struct.  A parameter without a name
 * is called by its position, from 1. */
static int list_needed(const struct kernel_text *text, const struct kernel *kernel,
                       struct needed list[EMULATE_ARGUMENTS])
{
    int n = 0;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const struct kernel_struct *s = kernel_text_struct(text, kernel, i);
        char name[KERNEL_NAME];
        if (*kernel->parameters[i])
            snprintf(name, sizeof name, "%s", kernel->parameters[i]);
        else
            snprintf(name, sizeof name, "%d", i + 1);
        for (int m = 0; m < (s ? s->member_count : 1) && n < EMULATE_ARGUMENTS; m++, n++) {
            snprintf(list[n].name, sizeof list[n].name, "%s%s%s", name, s ? "." : "",
                     s ? s->members[m] : "");
            list[n].parameter = i;
        }
    }
    return n;
}

static const struct emulate_word *find_word(const struct emulate_arguments *a, const char *name)
{
    for (int i = 0; i < a->word_count; i++)
        if (strcmp(a->words[i].name, name) == 0) return &a->words[i];
    return NULL;
}

/* A word without a parameter. */
static int check_surplus(const struct emulate_arguments *a, const struct kernel *kernel,
                         const struct needed *needed, int n)
{
    const char *names[EMULATE_ARGUMENTS];
    for (int i = 0; i < n; i++) names[i] = needed[i].name;
    for (int i = 0; i < a->word_count; i++) {
        const char *name = a->words[i].name;
        int k = 0;
        while (k < n && strcmp(names[k], name) != 0) k++;
        if (k < n) continue;
        const char *nearest = cli_nearest(name, names, n);
        return cli_fail(EXIT_BAD, "--arg %s: there is no parameter %s%s%s; see %s",
                        a->words[i].word, name, nearest ? "; did you mean " : "",
                        nearest ? nearest : "", kernel->signature);
    }
    return EXIT_DONE;
}

int emulate_match(struct emulate_arguments *a, const struct kernel_text *text,
                  const struct kernel *kernel, const char *source)
{
    struct needed *needed = calloc(EMULATE_ARGUMENTS, sizeof *needed);
    if (!needed) return cli_fail(EXIT_MEMORY, "out of memory");
    const int n = list_needed(text, kernel, needed);
    int code = check_surplus(a, kernel, needed, n);
    for (int i = 0; i < n && code == EXIT_DONE; i++) {
        const struct emulate_word *word = find_word(a, needed[i].name);
        if (!word)
            code = cli_fail(EXIT_BAD, "%s: there is no --arg for the parameter %s of %s", source,
                            needed[i].name, kernel->signature);
        else
            a->list[a->count++] = (struct emulate_argument){
                .name = word->name, .word = word, .parameter = needed[i].parameter, .differs = -1
            };
    }
    free(needed);
    return code;
}

/* ---- Types ---- */

/* The element type of a parameter; -1: none of the library's types. */
static int dtype_of(const struct simt_parameter *p)
{
    static const ech_dtype integers[2][4] = { { ECH_I8, ECH_I16, ECH_I32, ECH_I64 },
                                              { ECH_U8, ECH_U16, ECH_U32, ECH_U64 } };
    const int at = p->bytes == 1   ? 0
                   : p->bytes == 2 ? 1
                   : p->bytes == 4 ? 2
                   : p->bytes == 8 ? 3
                                   : -1;
    if (p->type == SIMT_TYPE_FLOAT) return p->bytes == 4 ? ECH_F32 : p->bytes == 8 ? ECH_F64 : -1;
    if (p->type == SIMT_TYPE_BOOL) return ECH_U8;
    if (at < 0 || p->type == SIMT_TYPE_OTHER) return -1;
    return (int)integers[p->type == SIMT_TYPE_UNSIGNED][at];
}

static int wrong_type(const struct emulate_argument *x, const struct kernel *kernel,
                      const char *found, int wanted)
{
    return cli_fail(EXIT_BAD, "--arg %s: has the type %s, but the parameter is %s; see %s",
                    x->word->word, found, ech_dtype_name((ech_dtype)wanted), kernel->signature);
}

/* ---- Scalars ---- */

static int parse_scalar(const char *what, const char *text, ech_dtype dtype, void *to)
{
    static const char *const why[] = { [IO_NUMBER_BAD] = "is not a number",
                                       [IO_NUMBER_FRACTION] = "is not an integer",
                                       [IO_NUMBER_RANGE] = "is out of range" };
    uint64_t count;
    const char *end = text + strlen(text);
    const io_number result = io_parse_key(text, end, dtype, to);
    if (result == IO_NUMBER_OK) return EXIT_DONE;
    /* 2^20 and 4Ki, as in other options */
    if (result == IO_NUMBER_BAD && isdigit((unsigned char)*text) && !io_is_float(dtype)) {
        char digits[32];
        if (cli_parse_count(what, text, &count) != EXIT_DONE) return EXIT_BAD;
        const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
        if (io_parse_key(digits, digits + n, dtype, to) == IO_NUMBER_OK) return EXIT_DONE;
        return cli_fail(EXIT_BAD, "--%s: \"%s\" is out of range for %s", what, text,
                        ech_dtype_name(dtype));
    }
    return cli_fail(EXIT_BAD, "--%s: \"%s\" %s for %s", what, text, why[result],
                    ech_dtype_name(dtype));
}

static int load_scalar(struct emulate_argument *x, const struct kernel *kernel,
                       const struct simt_parameter *p)
{
    char what[KERNEL_NAME + 16];
    const int dtype = dtype_of(p);
    if (dtype < 0)
        return cli_fail(EXIT_BAD,
                        "--arg %s: the parameter is a struct or a type of %u bytes, which is not "
                        "supported; see %s",
                        x->word->word, p->bytes, kernel->signature);
    if (x->word->sized)
        return cli_fail(EXIT_BAD, "--arg %s: is an array, but the parameter is a scalar; see %s",
                        x->word->word, kernel->signature);
    if (x->word->dtype >= 0 && x->word->dtype != dtype)
        return wrong_type(x, kernel, ech_dtype_name((ech_dtype)x->word->dtype), dtype);
    x->dtype = (ech_dtype)dtype;
    snprintf(what, sizeof what, "arg %s", x->name);
    const char *value = x->word->value;
    if (p->type == SIMT_TYPE_BOOL && strcmp(value, "true") == 0) value = "1";
    if (p->type == SIMT_TYPE_BOOL && strcmp(value, "false") == 0) value = "0";
    int code = parse_scalar(what, value, x->dtype, x->scalar);
    if (code == EXIT_DONE && p->type == SIMT_TYPE_BOOL) x->scalar[0] = x->scalar[0] != 0;
    return code;
}

/* ---- Arrays ---- */

static int make_array(struct emulate_argument *x)
{
    char what[KERNEL_NAME + 16], one[16];
    const size_t size = ech_dtype_bytes(x->dtype);
    x->n = x->word->count;
    if (__builtin_mul_overflow(x->n, size, &x->bytes) || x->bytes > SIZE_MAX / 2)
        return cli_fail(EXIT_MEMORY, "--arg %s: the array is too large", x->word->word);
    if (!x->word->value) return EXIT_DONE;
    snprintf(what, sizeof what, "arg %s", x->name);
    int code = parse_scalar(what, x->word->value, x->dtype, one);
    if (code != EXIT_DONE) return code;
    char *to = x->initial = malloc(x->bytes + 1);
    if (!to) return cli_fail(EXIT_MEMORY, "--arg %s: out of memory", x->word->word);
    for (uint64_t i = 0; i < x->n; i++) memcpy(to + i * size, one, size);
    return EXIT_DONE;
}

/* dtype: of the parameter; -1: any. */
static int load_file(struct emulate_argument *x, int dtype)
{
    struct io_source source;
    struct io_error error;
    struct io_column column = { .keys = NULL };
    struct io_hints hints = { .format = -1, .dtype = x->word->dtype, .dimensions = 32 };
    if (strcmp(x->word->value, "-") == 0)
        return cli_fail(EXIT_BAD, "--arg %s: standard input is not supported; name a file",
                        x->word->word);
    io_status status = io_open(&source, x->word->value, &error);
    if (status != IO_OK)
        return cli_fail(EXIT_BAD,
                        "--arg %s: %s; without a file, use %s=null or %s:TYPE:COUNT, for example "
                        "%s:f32:1000",
                        x->name, error.text, x->name, x->name, x->name);
    if (status == IO_OK) {
        status = io_look(&source, &error);
        const bool npy =
            status == IO_OK && source.ahead_bytes >= 6 && memcmp(source.ahead, "\x93NUMPY", 6) == 0;
        /* Raw elements and text have the type of the parameter. */
        if (!npy && hints.dtype < 0 && io_dtype_from_extension(source.name) < 0)
            hints.dtype = dtype < 0 ? (int)ECH_U8 : dtype;
        if (status == IO_OK) status = io_load_column(&source, &hints, &column, &error);
        io_close(&source);
    }
    if (status != IO_OK)
        return cli_fail(status == IO_MEMORY ? EXIT_MEMORY : EXIT_BAD, "--arg %s: %s", x->name,
                        error.text);
    x->dtype = column.dtype;
    x->n = column.n;
    x->bytes = (size_t)column.n * ech_dtype_bytes(column.dtype);
    if (column.format == IO_NPY && column.npy.dimensions == 2) x->columns = column.npy.columns;
    const bool swapped = column.format == IO_NPY && column.npy.fortran && column.npy.dimensions > 1;
    x->initial = column.keys;
    column.keys = NULL;
    io_free_column(&column);
    if (swapped)
        return cli_fail(EXIT_BAD, "%s: is in Fortran order; save it with numpy.ascontiguousarray()",
                        x->word->value);
    return EXIT_DONE;
}

static int load_array(struct emulate_argument *x, const struct kernel *kernel,
                      const struct simt_parameter *p)
{
    const int dtype = dtype_of(p);
    x->array = true;
    x->dtype = dtype >= 0 ? (ech_dtype)dtype : ECH_U8;
    if (!x->word->sized && strcmp(x->word->value, "null") == 0) return EXIT_DONE;
    if (x->word->dtype >= 0) x->dtype = (ech_dtype)x->word->dtype;
    int code = x->word->sized ? make_array(x) : load_file(x, dtype);
    if (code != EXIT_DONE) return code;
    if (dtype >= 0 && (int)x->dtype != dtype)
        return wrong_type(x, kernel, ech_dtype_name(x->dtype), dtype);
    if (p->bytes && x->bytes % p->bytes)
        return cli_fail(EXIT_BAD,
                        "--arg %s: has %zu bytes, which are no multiple of the %u bytes of an "
                        "element; see %s",
                        x->word->word, x->bytes, p->bytes, kernel->signature);
    return EXIT_DONE;
}

/* The type of the argument; NULL: the table of the module does not have it. */
static const struct simt_parameter *type_of(struct emulate_argument *x,
                                            const struct simt_signature *signature)
{
    const char *member = strchr(x->name, '.');
    if (!member) return &signature->parameters[x->parameter];
    for (const struct simt_member *m = signature->members; m->name; m++) {
        if ((int)m->parameter != x->parameter || strcmp(m->name, member + 1) != 0) continue;
        x->offset = m->offset;
        return &m->type;
    }
    return NULL;
}

static int make_parameters(struct emulate_arguments *a, const struct simt_signature *signature)
{
    a->parameter_count = (int)signature->count;
    for (int i = 0; i < a->parameter_count; i++) {
        const struct simt_parameter *p = &signature->parameters[i];
        const size_t bytes = p->pointer ? sizeof(CUdeviceptr) : p->bytes;
        a->parameters[i] = calloc(1, bytes + 16);
        if (!a->parameters[i]) return cli_fail(EXIT_MEMORY, "out of memory");
    }
    return EXIT_DONE;
}

static int check_output(const struct emulate_argument *x)
{
    const int named = io_dtype_from_extension(x->output);
    if (!x->array || !x->bytes)
        return cli_fail(EXIT_BAD, "--output %s=%s: the argument is not an array", x->name,
                        x->output);
    if (strcmp(x->output, "-") != 0 && named >= 0 && named != (int)x->dtype)
        return cli_fail(EXIT_BAD, "%s: the extension means %s, but the array %s is %s", x->output,
                        ech_dtype_name((ech_dtype)named), x->name, ech_dtype_name(x->dtype));
    return EXIT_DONE;
}

int emulate_load(struct emulate_arguments *a, const struct kernel *kernel,
                 const struct simt_signature *signature)
{
    if (signature->count != (uint32_t)kernel->parameter_count)
        return cli_fail(EXIT_BAD, "%s has %u parameters, but %d were found in its text: %s",
                        kernel->name, signature->count, kernel->parameter_count, kernel->signature);
    int code = make_parameters(a, signature);
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        struct emulate_argument *x = &a->list[i];
        const struct simt_parameter *p = type_of(x, signature);
        if (!p)
            code = cli_fail(EXIT_BAD, "%s: the type of %s is unknown", kernel->name, x->name);
        else
            code = p->pointer ? load_array(x, kernel, p) : load_scalar(x, kernel, p);
        if (code == EXIT_DONE && !x->array)
            memcpy((char *)a->parameters[x->parameter] + x->offset, x->scalar, p->bytes);
    }
    for (int i = 0; i < a->count && code == EXIT_DONE; i++)
        if (a->list[i].output) code = check_output(&a->list[i]);
    return code;
}

void emulate_free(struct emulate_arguments *a)
{
    for (int i = 0; i < a->count; i++) {
        free(a->list[i].initial);
        free(a->list[i].result);
        free(a->list[i].other);
    }
    for (int i = 0; i < a->parameter_count; i++) free(a->parameters[i]);
    free(a->words);
    memset(a, 0, sizeof *a);
}
