/* fast.h - what the files of the Python extension echelon_fast share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ECHELON_FAST_H
#define ECHELON_FAST_H

/* References are counted by the functions Py_IncRef() and Py_DecRef(): the macros of the stable ABI
 * of Python 3.10 would change the counts of immortal objects of later versions. */
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

/* The version of the interface between the package echelon and this extension.  The package does
 * not use an extension with another version. */
#define INTERFACE 1

enum { DTYPES = 12, OPERATIONS = 11 };

/* ---- array.c ---- */

/* An array of NumPy with contiguous, aligned elements in the byte order of the machine. */
typedef struct array {
    char *data;
    size_t n;
    int ndim;
    int code; /* the ech_dtype */
} array;

/* Remembers the types and functions of NumPy, and checks the layout of arrays with samples.
 * Returns 0, or -1 with an exception. */
int array_bind(PyObject *ndarray, PyObject *empty, PyObject *dtypes, PyObject *samples);
/* Whether x is an array with at least one element that the extension can use. */
int array_get(PyObject *x, array *out);
/* A new array of n elements and its data; NULL with an exception on failure. */
PyObject *array_new(size_t n, PyObject *dtype, void **data);
PyObject *array_dtype(int code);

/* ---- arguments.c ---- */

typedef struct arguments {
    PyObject *arrays[2];
    size_t k;        /* of top_k() */
    int choice;      /* descending, side="right" or mode="smallest" */
    int axis_number; /* axis is 0 or -1, so that the array must have one dimension */
} arguments;

int arguments_bind(void);
/* Whether the extension supports the arguments of a call. */
int arguments_get(int which, PyObject *const *values, Py_ssize_t count, PyObject *names,
                  arguments *out);

/* ---- operations.c ---- */

/* A function of the library; operations.c has the types of the functions. */
typedef void library_function(void);

/* One dtype of an operation. */
typedef struct row {
    int supported;
    int code;            /* the ech_dtype of the result */
    PyObject *result;    /* the dtype of the result, or its type if it is a scalar */
    const void *options; /* of a cumulative sum; NULL: the defaults */
} row;

typedef struct operation {
    PyObject *python;               /* the function of the package, for all other calls */
    PyObject *doc;                  /* keeps the text of the PyMethodDef */
    library_function *functions[2]; /* of the library; the second one is that of side="right" */
    const void *options[2];         /* without and with the choice (arguments.choice) */
    int op;                         /* the ech_op */
    row rows[DTYPES];
} operation;

extern operation operations[OPERATIONS];
extern int index_code; /* ECH_I64 */

extern const char *const operation_names[OPERATIONS];
/* A builtin function of the module `module` for an operation. */
PyObject *operation_function(int which, PyObject *module);

/* ---- module.c ---- */

/* Whether calls may use the extension now. */
int usable(void);
/* The context of this thread; NULL if there is none, perhaps with an exception. */
void *own_context(void);

#endif
