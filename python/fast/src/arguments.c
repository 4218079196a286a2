/* arguments.c - which arguments of a call the extension supports.
 *
 * Other arguments, valid or not, are left to the Python function, which also raises the errors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fast.h"

#include <limits.h>

/* The keywords, and the values that the extension supports. */
enum rule {
    UNKNOWN,    /* no value */
    AXIS,       /* None, 0 or -1 */
    NONE,       /* None */
    FALSE_ONLY, /* False */
    TRUE_ONLY,  /* True */
    FLAG,       /* False or True, which have the same effect */
    CHOICE,     /* False or True */
    STRING      /* one of two strings */
};

static const char *const keyword_names[] = { "axis",  "descending", "stable",
                                             "nulls", "out",        "stream",
                                             "dtype", "keepdims",   "include_initial",
                                             "side",  "sorter",     "needles_sorted",
                                             "mode",  "sorted",     "counts" };
enum { KEYWORDS = sizeof keyword_names / sizeof *keyword_names };
static PyObject *keywords[KEYWORDS]; /* interned, as the names in a call */

enum { SORTS, SUMS, ORDERED, SCANS, SEARCHES, SELECTIONS, GROUPS };

/* A row per group of operations, with a column per keyword. */
static const unsigned char rules[GROUPS][KEYWORDS] = {
    [SORTS] = { AXIS, CHOICE, FLAG, STRING, NONE, NONE, NONE },
    [SUMS] = { AXIS, 0, 0, 0, NONE, NONE, NONE, FALSE_ONLY },
    [ORDERED] = { AXIS, 0, 0, 0, NONE, NONE, 0, FALSE_ONLY },
    [SCANS] = { AXIS, 0, 0, 0, NONE, NONE, NONE, 0, FALSE_ONLY },
    [SEARCHES] = { 0, FALSE_ONLY, 0, 0, NONE, NONE, NONE, 0, 0, STRING, NONE, FALSE_ONLY },
    [SELECTIONS] = { AXIS, 0, 0, 0, NONE, NONE, NONE, 0, 0, 0, 0, 0, STRING, TRUE_ONLY, NONE },
};

/* By keyword: the strings of STRING; the first one is the default. */
static const char *const strings[KEYWORDS][2] = {
    [3] = { "last", NULL },
    [9] = { "left", "right" },
    [12] = { "largest", "smallest" },
};

/* In the order of operation_names. */
static const struct {
    unsigned char group, positional;
} shapes[OPERATIONS] = {
    { SORTS, 1 },   { SORTS, 1 },   { SUMS, 1 },  { ORDERED, 1 },  { ORDERED, 1 },    { SUMS, 1 },
    { ORDERED, 1 }, { ORDERED, 1 }, { SCANS, 1 }, { SEARCHES, 2 }, { SELECTIONS, 2 },
};

int arguments_bind(void)
{
    for (int i = 0; i < KEYWORDS; i++)
        if (!keywords[i] && !(keywords[i] = PyUnicode_InternFromString(keyword_names[i])))
            return -1;
    return 0;
}

static int string_is(PyObject *value, const char *text)
{
    return text && PyUnicode_CompareWithASCIIString(value, text) == 0;
}

/* Whether a keyword has a value that the extension supports. */
static int keyword_value(int keyword, enum rule rule, PyObject *value, arguments *out)
{
    switch (rule) {
    case AXIS:
        if (value == Py_None) return 1;
        if ((PyTypeObject *)Py_TYPE(value) != &PyLong_Type) return 0;
        out->axis_number = 1;
        int overflow;
        long axis = PyLong_AsLongAndOverflow(value, &overflow);
        return !overflow && (axis == 0 || axis == -1);
    case NONE:
        return value == Py_None;
    case FALSE_ONLY:
        return value == Py_False;
    case TRUE_ONLY:
        return value == Py_True;
    case FLAG:
        return value == Py_False || value == Py_True;
    case CHOICE:
        out->choice = value == Py_True;
        return value == Py_False || value == Py_True;
    case STRING:
        if (Py_TYPE(value) != &PyUnicode_Type) return 0;
        out->choice |= string_is(value, strings[keyword][1]);
        return string_is(value, strings[keyword][0]) || string_is(value, strings[keyword][1]);
    case UNKNOWN:
        break;
    }
    return 0;
}

static int keyword_of(const PyObject *name)
{
    for (int i = 0; i < KEYWORDS; i++)
        if (keywords[i] == name) return i;
    return -1;
}

int arguments_get(int which, PyObject *const *values, Py_ssize_t count, PyObject *names,
                  arguments *out)
{
    if (count != shapes[which].positional) return 0;
    *out = (arguments){ .arrays = { values[0], count > 1 ? values[1] : NULL } };
    int group = shapes[which].group;
    if (group == SELECTIONS) {
        if (Py_TYPE(values[1]) != &PyLong_Type) return 0;
        int overflow;
        long long k = PyLong_AsLongLongAndOverflow(values[1], &overflow);
        if (overflow || k < 1) return 0;
        out->k = (size_t)k;
    }
    for (Py_ssize_t i = 0, n = names ? PyTuple_Size(names) : 0; i < n; i++) {
        int keyword = keyword_of(PyTuple_GetItem(names, i));
        if (keyword < 0) return 0;
        if (!keyword_value(keyword, rules[group][keyword], values[count + i], out)) return 0;
    }
    return 1;
}
