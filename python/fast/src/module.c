/* module.c - the Python module echelon_fast: functions of the package echelon for small arrays.
 *
 * The package passes the addresses of the library's functions, so that the extension is not linked
 * with the library.  The state is that of the process: one interpreter may use the module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fast.h"

#include <stdatomic.h>
#include <string.h>

static PyObject *recorders; /* the list of the package's recorders; calls are recorded in Python */
static PyObject *open_context; /* returns the address of the context of this thread */
static PyInterpreterState *interpreter;
static atomic_int active;

/* Each thread keeps the address of its context.  The generation changes when such a context is
 * closed, also in another thread, and after fork(): then the address may be that of a closed
 * context, and the package is asked again. */
static _Atomic uint64_t generation = 1;
static _Thread_local struct {
    void *context;
    uint64_t generation;
} own;

int usable(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed) && PyList_Size(recorders) == 0;
}

void *own_context(void)
{
    uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
    if (own.generation == now) return own.context;
    PyObject *address = PyObject_CallFunctionObjArgs(open_context, NULL);
    if (!address) return NULL;
    void *context = PyLong_AsVoidPtr(address);
    Py_DecRef(address);
    /* If a context was closed meanwhile, it may be this one: the call is left to Python. */
    if (!context || atomic_load(&generation) != now) return NULL;
    own.context = context;
    own.generation = now;
    return context;
}

static PyObject *none(void)
{
    Py_IncRef(Py_None);
    return Py_None;
}

static PyObject *invalidate(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    atomic_fetch_add(&generation, 1);
    return none();
}

static PyObject *activate(PyObject *self, PyObject *value)
{
    (void)self;
    int on = PyObject_IsTrue(value);
    if (on < 0) return NULL;
    atomic_store(&active, on);
    return none();
}

static PyObject *bind(PyObject *self, PyObject *values)
{
    (void)self;
    PyObject *ndarray, *empty, *dtypes, *samples, *list, *open;
    int interface, index;
    if (!PyArg_ParseTuple(values, "iOOO!O!O!Oi", &interface, &ndarray, &empty, &PyTuple_Type,
                          &dtypes, &PyTuple_Type, &samples, &PyList_Type, &list, &open, &index))
        return NULL;
    if (interface != INTERFACE)
        return PyErr_Format(PyExc_ImportError, "the interface has version %d instead of %d",
                            INTERFACE, interface);
    if (interpreter)
        return PyErr_Format(PyExc_ImportError, "the process has bound the extension already");
    if (arguments_bind() || array_bind(ndarray, empty, dtypes, samples)) return NULL;
    interpreter = PyInterpreterState_Get();
    Py_IncRef(list);
    Py_IncRef(open);
    recorders = list;
    open_context = open;
    index_code = index;
    return none();
}

/* Reads (code, result, options address) or None. */
static int read_row(PyObject *value, row *out)
{
    PyObject *result, *options;
    if (value == Py_None) {
        *out = (row){ .supported = 0 };
        return 0;
    }
    if (!PyArg_ParseTuple(value, "iOO", &out->code, &result, &options)) return -1;
    if (out->code < 0 || out->code >= DTYPES) {
        PyErr_SetString(PyExc_ValueError, "code is not an ech_dtype");
        return -1;
    }
    Py_IncRef(result);
    out->result = result;
    out->options = PyLong_AsVoidPtr(options);
    out->supported = 1;
    return PyErr_Occurred() ? -1 : 0;
}

static int operation_index(const char *name)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (!strcmp(operation_names[i], name)) return i;
    PyErr_Format(PyExc_ValueError, "there is no operation %s", name);
    return -1;
}

static PyObject *function(PyObject *self, PyObject *values)
{
    (void)self;
    const char *name;
    PyObject *python, *doc, *module, *rows, *addresses[4];
    int op;
    if (!PyArg_ParseTuple(values, "sOUO(OO)(OO)iO!", &name, &python, &doc, &module, &addresses[0],
                          &addresses[1], &addresses[2], &addresses[3], &op, &PyTuple_Type, &rows))
        return NULL;
    int i = operation_index(name);
    if (i < 0) return NULL;
    operation *o = &operations[i];
    if (!interpreter || o->python || PyTuple_Size(rows) != DTYPES)
        return PyErr_Format(PyExc_ValueError, "%s cannot be bound", name);
    void *pointers[4];
    for (int j = 0; j < 4; j++) pointers[j] = PyLong_AsVoidPtr(addresses[j]);
    if (PyErr_Occurred()) return NULL;
    for (int j = 0; j < DTYPES; j++)
        if (read_row(PyTuple_GetItem(rows, j), &o->rows[j])) return NULL;
    for (int j = 0; j < 2; j++) {
        o->functions[j] = (library_function *)(uintptr_t)pointers[j];
        o->options[j] = pointers[2 + j];
    }
    o->op = op;
    Py_IncRef(python);
    Py_IncRef(doc);
    o->python = python;
    o->doc = doc;
    return operation_function(i, module);
}

static PyMethodDef methods[] = {
    { "bind", bind, METH_VARARGS, "Remember what all functions need." },
    { "function", function, METH_VARARGS, "Return the builtin function of an operation." },
    { "activate", activate, METH_O, "Select whether calls use the extension." },
    { "invalidate", invalidate, METH_NOARGS, "Forget the contexts of all threads." },
    { NULL, NULL, 0, NULL },
};

static int executed(PyObject *module)
{
    return PyModule_AddIntConstant(module, "INTERFACE", INTERFACE);
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, (void *)(uintptr_t)executed },
#ifdef Py_mod_multiple_interpreters
    { Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
#ifdef Py_mod_gil
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL },
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "echelon_fast",
    .m_doc = "Functions of the package echelon for small arrays. Import echelon, not this module.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit_echelon_fast(void);

PyMODINIT_FUNC PyInit_echelon_fast(void)
{
    return PyModuleDef_Init(&definition);
}
