/* operations.c - the functions that replace those of the package: each one calls the library, or
 * the Python function if the extension does not support the call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fast.h"

/* The C functions of the library.  Its enumerations are 32 bits wide. */
typedef int sort_call(void *context, const void *in, void *out, size_t n, int dtype,
                      const void *options);
typedef int argsort_call(void *context, const void *keys, void *index, size_t n, int dtype,
                         int index_dtype, const void *options);
typedef int rows_call(void *context, int op, const void *in, void *out, size_t rows, size_t cols,
                      int dtype, const void *options);
typedef int search_call(void *context, const void *sorted, const void *needles, void *positions,
                        size_t n, size_t m, int dtype, int index_dtype, const void *options);
typedef int topk_call(void *context, const void *in, void *values, void *indices, size_t rows,
                      size_t cols, size_t k, int dtype, int index_dtype, const void *options);

enum { SORT, ARGSORT, SUM, MIN, MAX, MEAN, ARGMIN, ARGMAX, CUMULATIVE_SUM, SEARCHSORTED, TOP_K };

/* Calls of at least this number of elements release the interpreter's lock.  Then they take at
 * least 1 us, depending on the operation: a sort and a search take at least 1 ns per element, the
 * others 0.1 ns.  Releasing the lock takes 50 ns, and as long as another thread keeps it. */
enum { RELEASED = 1000, RELEASED_LINEAR = 10000 };

operation operations[OPERATIONS];
int index_code;
const char *const operation_names[OPERATIONS] = { "sort",         "argsort", "sum",
                                                  "min",          "max",     "mean",
                                                  "argmin",       "argmax",  "cumulative_sum",
                                                  "searchsorted", "top_k" };

/* Releases the lock for a call of n elements.  Meanwhile the extension owns references to the
 * arrays, so that resize() in another thread fails: from Python 3.14 on, the interpreter may pass
 * references that it does not own. */
static PyThreadState *release(const arguments *given, size_t n, size_t least)
{
    if (n < least) return NULL;
    for (int i = 0; i < 2; i++) Py_IncRef(given->arrays[i]);
    return PyEval_SaveThread();
}

static void acquire(const arguments *given, PyThreadState *state)
{
    if (!state) return;
    PyEval_RestoreThread(state);
    for (int i = 0; i < 2; i++) Py_DecRef(given->arrays[i]);
}

/* An argument that has one dimension, or any number of dimensions if axis is None. */
static int get(const arguments *given, int i, int flattens, array *x)
{
    if (!array_get(given->arrays[i], x)) return 0;
    return x->ndim == 1 || (flattens && !given->axis_number);
}

/* Reads an argument again: opening a context and allocating a result may run Python code, such as
 * finalizers, which may resize the array. */
static int again(const arguments *given, int i, array *x)
{
    array now;
    if (!array_get(given->arrays[i], &now) || now.n != x->n || now.code != x->code) return 0;
    *x = now;
    return 1;
}

/* The result of a call with this status.  NULL without an exception: Python repeats the call and
 * raises the error. */
static PyObject *finished(int failed, PyObject *result)
{
    if (!failed) return result;
    Py_DecRef(result);
    return NULL;
}

static PyObject *sorted_array(const operation *o, const arguments *given)
{
    array x;
    void *data, *context;
    if (!get(given, 0, 0, &x)) return NULL;
    PyObject *result = array_new(x.n, array_dtype(x.code), &data);
    if (!result) return NULL;
    if (!(context = own_context()) || !again(given, 0, &x)) return finished(1, result);
    PyThreadState *state = release(given, x.n, RELEASED);
    int status = ((sort_call *)o->functions[0])(context, x.data, data, x.n, x.code,
                                                o->options[given->choice]);
    acquire(given, state);
    return finished(status, result);
}

static PyObject *positions(const operation *o, const arguments *given)
{
    array x;
    void *data, *context;
    if (!get(given, 0, 0, &x)) return NULL;
    PyObject *result = array_new(x.n, array_dtype(index_code), &data);
    if (!result) return NULL;
    if (!(context = own_context()) || !again(given, 0, &x)) return finished(1, result);
    PyThreadState *state = release(given, x.n, RELEASED);
    int status = ((argsort_call *)o->functions[0])(context, x.data, data, x.n, x.code, index_code,
                                                   o->options[given->choice]);
    acquire(given, state);
    return finished(status, result);
}

/* A scalar of NumPy from one element. */
static PyObject *scalar(const row *r, const void *element)
{
    static const char formats[] = "bhiqBHIQ..fd"; /* by ech_dtype */
    PyObject *number = NULL;
    switch (formats[r->code]) {
    case 'b':
        number = PyLong_FromLong(*(const int8_t *)element);
        break;
    case 'h':
        number = PyLong_FromLong(*(const int16_t *)element);
        break;
    case 'i':
        number = PyLong_FromLong(*(const int32_t *)element);
        break;
    case 'q':
        number = PyLong_FromLongLong(*(const int64_t *)element);
        break;
    case 'B':
        number = PyLong_FromLong(*(const uint8_t *)element);
        break;
    case 'H':
        number = PyLong_FromLong(*(const uint16_t *)element);
        break;
    case 'I':
        number = PyLong_FromUnsignedLong(*(const uint32_t *)element);
        break;
    case 'Q':
        number = PyLong_FromUnsignedLongLong(*(const uint64_t *)element);
        break;
    case 'f':
        number = PyFloat_FromDouble((double)*(const float *)element);
        break;
    case 'd':
        number = PyFloat_FromDouble(*(const double *)element);
        break;
    default:
        break;
    }
    if (!number) return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(r->result, number, NULL);
    Py_DecRef(number);
    return result;
}

static PyObject *reduced(const operation *o, const arguments *given)
{
    array x;
    void *context;
    if (!get(given, 0, 1, &x) || !o->rows[x.code].supported) return NULL;
    if (!(context = own_context()) || !again(given, 0, &x)) return NULL;
    uint64_t element = 0;
    PyThreadState *state = release(given, x.n, RELEASED_LINEAR);
    int status = ((rows_call *)o->functions[0])(context, o->op, x.data, &element, 1, x.n, x.code,
                                                o->options[0]);
    acquire(given, state);
    return status ? NULL : scalar(&o->rows[x.code], &element);
}

static PyObject *scanned(const operation *o, const arguments *given)
{
    array x;
    void *data, *context;
    if (!get(given, 0, 0, &x) || !o->rows[x.code].supported) return NULL;
    const row *r = &o->rows[x.code];
    PyObject *result = array_new(x.n, r->result, &data);
    if (!result) return NULL;
    if (!(context = own_context()) || !again(given, 0, &x)) return finished(1, result);
    PyThreadState *state = release(given, x.n, RELEASED_LINEAR);
    int status =
        ((rows_call *)o->functions[0])(context, o->op, x.data, data, 1, x.n, x.code, r->options);
    acquire(given, state);
    return finished(status, result);
}

static PyObject *searched(const operation *o, const arguments *given)
{
    array x, needles;
    void *data, *context;
    if (!get(given, 0, 0, &x) || !get(given, 1, 0, &needles) || x.code != needles.code) return NULL;
    PyObject *result = array_new(needles.n, array_dtype(index_code), &data);
    if (!result) return NULL;
    if (!(context = own_context()) || !again(given, 0, &x) || !again(given, 1, &needles))
        return finished(1, result);
    PyThreadState *state = release(given, needles.n, RELEASED);
    int status = ((search_call *)o->functions[given->choice])(
        context, x.data, needles.data, data, x.n, needles.n, x.code, index_code, o->options[0]);
    acquire(given, state);
    return finished(status, result);
}

static PyObject *selected(const operation *o, const arguments *given)
{
    array x;
    void *values_data, *indices_data, *context;
    if (!get(given, 0, 0, &x) || given->k > x.n) return NULL;
    PyObject *values = array_new(given->k, array_dtype(x.code), &values_data);
    if (!values) return NULL;
    PyObject *indices = array_new(given->k, array_dtype(index_code), &indices_data);
    PyObject *pair = indices ? PyTuple_Pack(2, values, indices) : NULL;
    Py_DecRef(values); /* the pair keeps both arrays */
    Py_DecRef(indices);
    if (!pair) return NULL;
    if (!(context = own_context()) || !again(given, 0, &x)) return finished(1, pair);
    PyThreadState *state = release(given, x.n, RELEASED_LINEAR);
    int status =
        ((topk_call *)o->functions[0])(context, x.data, values_data, indices_data, 1, x.n, given->k,
                                       x.code, index_code, o->options[given->choice]);
    acquire(given, state);
    return finished(status, pair);
}

/* ---- Calls ---- */

typedef PyObject *attempt(const operation *o, const arguments *given);

static attempt *const attempts[OPERATIONS] = { sorted_array, positions, reduced, reduced,
                                               reduced,      reduced,   reduced, reduced,
                                               scanned,      searched,  selected };

static PyObject *python_call(const operation *o, PyObject *const *values, Py_ssize_t count,
                             PyObject *names)
{
    PyObject *result = NULL, *options = NULL, *tuple = PyTuple_New(count);
    if (!tuple) return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_IncRef(values[i]);
        PyTuple_SetItem(tuple, i, values[i]);
    }
    if (names && !(options = PyDict_New())) goto done;
    for (Py_ssize_t i = 0, n = names ? PyTuple_Size(names) : 0; i < n; i++)
        if (PyDict_SetItem(options, PyTuple_GetItem(names, i), values[count + i])) goto done;
    result = PyObject_Call(o->python, tuple, options);
done:
    Py_DecRef(options);
    Py_DecRef(tuple);
    return result;
}

static PyObject *run(int i, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    const operation *o = &operations[i];
    arguments given;
    if (usable() && arguments_get(i, values, count, names, &given)) {
        PyObject *result = attempts[i](o, &given);
        if (result) return result;
        if (PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL; /* such as an interrupt */
            PyErr_Clear();
        }
    }
    return python_call(o, values, count, names);
}

/* ---- One C function per operation, because a builtin function that has an object of its own
 *      cannot be pickled ---- */

static PyObject *sort(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(SORT, values, count, names);
}

static PyObject *argsort(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(ARGSORT, values, count, names);
}

static PyObject *sum(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(SUM, values, count, names);
}

static PyObject *min(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(MIN, values, count, names);
}

static PyObject *max(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(MAX, values, count, names);
}

static PyObject *mean(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(MEAN, values, count, names);
}

static PyObject *argmin(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(ARGMIN, values, count, names);
}

static PyObject *argmax(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(ARGMAX, values, count, names);
}

static PyObject *cumulative_sum(PyObject *self, PyObject *const *values, Py_ssize_t count,
                                PyObject *names)
{
    (void)self;
    return run(CUMULATIVE_SUM, values, count, names);
}

static PyObject *searchsorted(PyObject *self, PyObject *const *values, Py_ssize_t count,
                              PyObject *names)
{
    (void)self;
    return run(SEARCHSORTED, values, count, names);
}

static PyObject *top_k(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run(TOP_K, values, count, names);
}

typedef PyObject *fast_function(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
static fast_function *const c_functions[OPERATIONS] = {
    sort, argsort, sum, min, max, mean, argmin, argmax, cumulative_sum, searchsorted, top_k
};
static PyMethodDef definitions[OPERATIONS];

PyObject *operation_function(int i, PyObject *module)
{
    const char *doc = PyUnicode_AsUTF8AndSize(operations[i].doc, NULL);
    if (!doc) return NULL;
    definitions[i] = (PyMethodDef){ operation_names[i], (PyCFunction)(void (*)(void))c_functions[i],
                                    METH_FASTCALL | METH_KEYWORDS, doc };
    return PyCFunction_NewEx(&definitions[i], NULL, module);
}
