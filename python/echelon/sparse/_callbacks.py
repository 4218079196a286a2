"""Functions that ech_solve() calls: products with A and M, and the monitor function.

An exception must not leave a callback: it is kept, the callback returns an error, and the solver raises it again.

SPDX-License-Identifier: Apache-2.0
"""
from .. import _arrays
from .._ops.floats import check_number
from .._runtime import native
from .._runtime.errors import ArgumentError
from .._runtime.native import declared as c

_FIELDS = {**dict(c.ech_operator._fields_), **dict(c.ech_solve_options._fields_)}


def queue(job, name, *arguments):
    """Calls a function of the library in a callback, with the context of the call that runs."""
    context = job.context
    status = getattr(native.functions, name)(context.handle, *arguments)
    if status:
        raise context.error(status)


class Vectors:
    """The vectors of a solver as arrays: x and the workspace are arrays, and each vector is a part of one of them."""

    def __init__(self, job, n, code):
        self.job, self.n, self.code, self.bytes = job, n, code, n * _arrays.BYTES[code]
        self.owners, self.known = (), {}

    def belong_to(self, *owners):
        """The arrays that contain the vectors; their memory stays valid as long as one of its parts is in use."""
        self.owners, self.known = owners, {}

    def array(self, pointer):
        """The vector at an address, or a copy if its memory does not belong to an array."""
        found = self.known.get(pointer)
        if found is None:
            for view in self.owners:
                start = pointer - view.pointer
                if 0 <= start <= view.nbytes - self.bytes:
                    part = view.array[start // view.itemsize:(start + self.bytes) // view.itemsize]
                    found = self.known[pointer] = view.family.retyped(part, view.family.dtype(self.code))
                    return found
            view = self.job.empty((self.n,), self.code)
            self.job.views.pop()  # it need not live as long as the call
            queue(self.job, "ech_copy", view.pointer, pointer, self.bytes)
            found = view.array
        return found

    def write(self, pointer, result, name):
        """Copies what a function returned to the vector at an address."""
        view = check_number(_arrays.view(result, name), name)
        if view.device != self.job.device:
            raise ArgumentError(f"{name} is on device {view.device}, but must be on {self.job.device}")
        if view.size != self.n or view.ndim > 2:
            raise ArgumentError(f"{name} has shape {view.shape}, but must have shape ({self.n},)")
        if view.code != self.code or not view.contiguous:
            view = view.family.view(view.family.cast(view.array, view.family.dtype(self.code)))
        queue(self.job, "ech_copy" if self.job.device == "cpu" else "ech_copy_async", pointer, view.pointer, self.bytes)


class Callback:
    """A function for the library: field names the member of a struct that has its type."""

    def __init__(self, field, function, failed):
        self.failure = None

        def run(*arguments):
            try:
                return function(*arguments)
            except BaseException as error:  # also KeyboardInterrupt: the solver raises it again
                self.failure = self.failure or error
                return failed

        self.pointer = _FIELDS[field](run)

    def raise_failure(self):
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure


class Function:
    """A product that a function of Python computes."""

    def __init__(self, vectors, function, name, shift=0.0):
        self.vectors, self.function, self.name, self.shift = vectors, function, name, shift

    def apply(self, x, y):
        vector = self.vectors.array(x)
        result = self.function(vector)
        if self.shift:
            result = _arrays.view(result, self.name).array.reshape(-1) - self.shift * vector
        self.vectors.write(y, result, self.name)


class Product:
    """A product with a matrix, and with the shifted matrix A - shift I."""

    def __init__(self, vectors, matrix, shift=0.0):
        self.vectors, self.matrix, self.shift = vectors, matrix, shift

    def apply(self, x, y):
        vectors, job = self.vectors, self.vectors.job
        if self.shift:
            queue(job, "ech_copy" if job.context.device == "cpu" else "ech_copy_async", y, x, vectors.bytes)
        self.matrix.multiply(job, x, -self.shift, y)


class SparseFactor:
    """A sparse matrix as the factor of a Product."""

    def __init__(self, matrix):
        self.matrix = matrix

    def multiply(self, job, x, beta, y):
        queue(job, "ech_spmv", 1.0, self.matrix.address, x, beta, y, None)


class DenseFactor:
    """A dense matrix as the factor of a Product."""

    def __init__(self, view, stride):
        self.view, self.stride = view, stride

    def multiply(self, job, x, beta, y):
        n = self.view.shape[0]
        queue(job, "ech_matvec", n, n, 1.0, self.view.pointer, self.stride, x, beta, y, self.view.code, None)


def apply_callback(field, product):
    """The Callback of a Function or a Product."""
    def run(_, handle, x, y):
        product.apply(x, y)
        return 0

    return Callback(field, run, 1)


def monitor_callback(observe):
    """The Callback that passes the number of an iteration and its residual to observe()."""
    def run(_, right_hand_side, iteration, residual):
        observe(iteration, residual)
        return 0

    return Callback("monitor", run, 1)
