/* array.c - the memory of NumPy arrays.
 *
 * The extension reads the fields of an array directly.  The alternatives are the buffer protocol,
 * which takes 70 to 100 ns per array (a third of the time of a sort of 100 elements), and the
 * headers of NumPy, which would make the extension depend on the version of NumPy that it was
 * built with.  The places of these fields are a part of NumPy's binary interface: PyArray_DATA()
 * and other macros of its headers compile to the same accesses, so that they have not changed from
 * NumPy 1.0 to 2.x.  array_bind() compares them with the attributes of sample arrays.  If they
 * differ, the package does not use the extension.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fast.h"

/* The first fields of PyArrayObject_fields, in numpy/ndarraytypes.h. */
typedef struct fields {
    PyObject_HEAD char *data;
    int ndim;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    PyObject *base;
    PyObject *dtype;
    int flags;
} fields;

enum { C_CONTIGUOUS = 0x1, ALIGNED = 0x100, USABLE = C_CONTIGUOUS | ALIGNED };

static PyObject *array_type, *empty_function;
static PyObject *dtype_objects[DTYPES]; /* NULL for bfloat16, which NumPy does not have */

/* Whether the fields of a sample are at their places.  The shape is read through a pointer, and
 * therefore last. */
static int sample_matches(PyObject *sample)
{
    PyObject *x, *dtype, *shape;
    Py_ssize_t address;
    int flags;
    if (!PyArg_ParseTuple(sample, "OnOOi", &x, &address, &shape, &dtype, &flags)) return -1;
    const fields *a = (const fields *)(const void *)x;
    if ((PyObject *)Py_TYPE(x) != array_type || a->data != (char *)address || a->dtype != dtype ||
        a->flags != flags || a->ndim != PyTuple_Size(shape))
        return 0;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != PyLong_AsSsize_t(PyTuple_GetItem(shape, i))) return 0;
    return !PyErr_Occurred() ? 1 : -1;
}

static int layout_is_known(PyObject *samples)
{
    PyObject *size = PyObject_GetAttrString(array_type, "__basicsize__");
    if (!size) return -1;
    Py_ssize_t bytes = PyLong_AsSsize_t(size);
    Py_DecRef(size);
    if (bytes < (Py_ssize_t)sizeof(fields)) return PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t i = 0, n = PyTuple_Size(samples); i < n; i++) {
        int found = sample_matches(PyTuple_GetItem(samples, i));
        if (found != 1) return found;
    }
    return 1;
}

int array_bind(PyObject *ndarray, PyObject *empty, PyObject *dtypes, PyObject *samples)
{
    if (PyTuple_Size(dtypes) != DTYPES) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "dtypes has another length");
        return -1;
    }
    array_type = ndarray;
    int known = layout_is_known(samples);
    if (known != 1) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ImportError, "this version of NumPy has another array layout");
        return -1;
    }
    empty_function = empty;
    for (int i = 0; i < DTYPES; i++) {
        PyObject *dtype = PyTuple_GetItem(dtypes, i);
        dtype_objects[i] = dtype == Py_None ? NULL : dtype;
        Py_IncRef(dtype_objects[i]);
    }
    Py_IncRef(array_type);
    Py_IncRef(empty_function);
    return 0;
}

/* The ech_dtype of a dtype, or -1.  Each dtype of numbers in the byte order of the machine is one
 * object; other objects that equal it, such as one with metadata, are left to Python. */
static int code_of(const PyObject *dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtype_objects[i] == dtype) return i;
    return -1;
}

int array_get(PyObject *x, array *out)
{
    if ((PyObject *)Py_TYPE(x) != array_type) return 0;
    const fields *a = (const fields *)(const void *)x;
    if ((a->flags & USABLE) != USABLE || a->ndim < 1) return 0;
    size_t n = 1;
    for (int i = 0; i < a->ndim; i++) n *= (size_t)a->shape[i];
    *out = (array){ .data = a->data, .n = n, .ndim = a->ndim, .code = code_of(a->dtype) };
    return n && out->code >= 0;
}

PyObject *array_new(size_t n, PyObject *dtype, void **data)
{
    PyObject *length = PyLong_FromSize_t(n);
    if (!length) return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(empty_function, length, dtype, NULL);
    Py_DecRef(length);
    if (result) *data = ((const fields *)(const void *)result)->data;
    return result;
}

PyObject *array_dtype(int code)
{
    return dtype_objects[code];
}
