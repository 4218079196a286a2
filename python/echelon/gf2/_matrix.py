"""Matrix: a matrix over GF(2) with 64 columns per word.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import numpy as np

from .. import _arrays
from .._arrays.view import check_indices, dtype_name
from .._ops.sort import one_dimension
from .._runtime import native
from .._runtime.arguments import integer, number
from .._runtime.call import Job
from .._runtime.errors import ArgumentError, DTypeError
from .._runtime.native import declared as c
from ._layout import (INTEGERS, WORDS, as_bytes, count_of, position, regrouped, shared_words, stride_of, unpack,
                      word_code)

_ZERO = ctypes.c_uint64(0)


def new(job, rows, cols, zero=False):
    """A Matrix whose bits the call writes. zero: they are 0. Unused bits of the last word of a row are 0."""
    view = job.empty((rows, stride_of(cols)), word_code(job.family))
    if view.size and (zero or cols % 64):
        job.call("ech_fill", view.pointer, view.size, 8, ctypes.addressof(_ZERO))
    return matrix_of(view, rows, cols)


def matrix_of(view, rows, cols):
    """The Matrix whose words are those of a View."""
    bits = Matrix.__new__(Matrix)
    bits._view, bits._rows, bits._cols = view, rows, cols
    return bits


def pack(job, view, rows, cols):
    """The Matrix of a View of integers or bool with rows * cols elements."""
    bits = new(job, rows, cols)
    if view.size:
        job.call("ech_gf2_pack", as_bytes(job, view).pointer, bits.reference())
    return bits


class Matrix:
    """A matrix over GF(2) in packed form: bit j of row i is bit j % 64 of words[i, j // 64].

    x: an array [rows, cols] of bool or integers, which are taken modulo 2. Other ways to make one are from_packed(),
    zeros(), identity() and random(). words is an array [rows, stride] of 64-bit integers of NumPy, PyTorch or CuPy, in
    host or GPU memory. Bits beyond cols have no effect. Functions of echelon.gf2 that get a Matrix return a Matrix.

    >>> from echelon import gf2
    >>> a = gf2.Matrix([[1, 1], [0, 1]])
    >>> a @ a
    Matrix([[1, 0],
            [0, 1]])
    >>> (a @ a) == gf2.Matrix.identity(2)
    True
    """

    __slots__ = ("_view", "_rows", "_cols")
    __array_ufunc__ = None  # array @ Matrix calls __rmatmul__
    __hash__ = None

    def __init__(self, x):
        from ._operand import Operand  # the class Operand needs Matrix
        bits = Operand(x, "x").bits
        self._view, self._rows, self._cols = bits._view, bits._rows, bits._cols

    # ---- Making one ----

    @classmethod
    def from_dense(cls, x):
        """Pack an array, as the constructor does; a copy of a Matrix shares its words.

        >>> from echelon import gf2
        >>> gf2.Matrix.from_dense([[1, 0, 3]]).to_packed().tolist()
        [[5]]
        """
        return cls(x)

    @classmethod
    def from_packed(cls, packed, cols, *, copy=None):
        """Use rows that are packed already.

        packed: uint8 [rows, (cols + 7) // 8], as numpy.packbits(..., axis=1, bitorder="little") and the samplers of
        stim return it; or 64-bit integers [rows, at least (cols + 63) // 64]. cols: the number of columns. copy: True
        copies the words; None shares them if possible (64-bit integers, or rows of whole aligned words); False raises
        ArgumentError if that is not possible.

        >>> import numpy
        >>> from echelon import gf2
        >>> gf2.Matrix.from_packed(numpy.array([[5], [2]], "uint8"), 3)
        Matrix([[1, 0, 1],
                [0, 1, 0]])
        """
        cols = count_of(cols, "cols")
        view = _arrays.view(packed, "packed")
        if view.kind or view.code not in (c.ECH_U8, *WORDS):
            raise DTypeError(f"packed has dtype {view.dtype}, but must have uint8, uint64 or int64")
        if view.ndim != 2:
            raise ArgumentError(f"packed has {view.ndim} dimensions, but must have two")
        width = view.shape[1]
        if view.code == c.ECH_U8 and width != (cols + 7) // 8 or width < stride_of(cols) and view.code != c.ECH_U8:
            raise ArgumentError(f"packed has shape {view.shape}, which does not fit cols = {cols}")
        job = Job(view)
        shared = None if copy else shared_words(view)
        if shared is not None:
            return matrix_of(shared, view.shape[0], cols)
        if copy is False and view.size:
            raise ArgumentError("copy is False, but packed has no rows of whole aligned words")
        return _copied(job, view, cols)

    @classmethod
    def zeros(cls, rows, cols, *, like=None):
        """A matrix of zeros. like: an array or a Matrix that determines the library and the device; by default NumPy.

        >>> from echelon import gf2
        >>> gf2.Matrix.zeros(2, 70).shape
        (2, 70)
        """
        return new(_job_like(like), count_of(rows, "rows"), count_of(cols, "cols"), zero=True)

    @classmethod
    def identity(cls, n, *, like=None):
        """The identity matrix. like: as for zeros().

        >>> from echelon import gf2
        >>> gf2.Matrix.identity(2)
        Matrix([[1, 0],
                [0, 1]])
        """
        job, n = _job_like(like), count_of(n, "n")
        bits = new(job, n, n)
        job.call("ech_gf2_identity", bits.reference())
        return bits

    @classmethod
    def random(cls, rows, cols, *, probability=0.5, seed=0, like=None):
        """Independent random bits. probability: of a one. seed: an integer that determines all bits. like: see zeros().

        >>> from echelon import gf2
        >>> gf2.Matrix.random(3, 4, seed=1) == gf2.Matrix.random(3, 4, seed=1)
        True
        """
        job = _job_like(like)
        bits = new(job, count_of(rows, "rows"), count_of(cols, "cols"))
        job.call("ech_gf2_random", bits.reference(), number(probability, "probability"),
                 integer(seed, "seed") & (2**64 - 1))
        return bits

    # ---- Properties and conversions ----

    @property
    def rows(self):
        """The number of rows."""
        return self._rows

    @property
    def cols(self):
        """The number of columns."""
        return self._cols

    @property
    def shape(self):
        """(rows, cols)."""
        return self._rows, self._cols

    @property
    def words(self):
        """The array of the words, [rows, stride]; it shares memory with the matrix."""
        return self._view.array

    @property
    def device(self):
        """"cpu", or the name of a GPU such as "cuda:0"."""
        return self._view.device

    @property
    def readonly(self):
        """Whether the words must not be written."""
        return self._view.readonly

    def __echelon_arrays__(self):
        return (self._view.array,)

    def struct(self):
        """The ech_gf2 that describes the matrix."""
        view = self._view
        stride = view.shape[1] if view.strides is None else view.strides[0] // 8
        return native.struct(c.ech_gf2, words=view.pointer if view.size else None, rows=self.rows, cols=self.cols,
                             stride=stride)

    def reference(self):
        """The argument of a function of the library."""
        return ctypes.byref(self.struct())

    def to_dense(self, dtype="uint8"):
        """Unpack to an array [rows, cols] of zeros and ones. dtype: bool or an integer type.

        >>> from echelon import gf2
        >>> gf2.Matrix.identity(2).to_dense("bool")
        array([[ True, False],
               [False,  True]])
        """
        name = dtype_name(dtype)
        if name not in (*INTEGERS, "bool"):
            raise DTypeError(f"dtype is {name}, but the dtypes are bool, {', '.join(INTEGERS)}")
        job = Job(self._view)
        kind = "bool" if name == "bool" else ""
        return job.finish(unpack(job, self, self.shape, _arrays.CODES["uint8" if kind else name], kind))

    def to_packed(self):
        """An array of uint8 [rows, (cols + 7) // 8] in the layout of from_packed(); unused bits are 0.

        >>> from echelon import gf2
        >>> gf2.Matrix.identity(3).to_packed().tolist()
        [[1], [2], [4]]
        """
        job = Job(self._view)
        copy, family = self.copy(), job.family
        width = (self.cols + 7) // 8
        if copy._view.size == 0:
            return job.finish(job.empty((self.rows, width), c.ECH_U8))
        rows = regrouped(family, copy.words, c.ECH_U8)
        return family.result(rows if rows.shape[1] == width else family.contiguous(rows[:, :width]))

    def copy(self):
        """A copy with its own words, without unused words between the rows."""
        return self._part(0, 0, self.rows, self.cols)

    __copy__ = copy

    def __reduce__(self):
        return Matrix.from_packed, (self.words, self.cols)

    @property
    def T(self):
        """The transposed matrix, a copy."""
        job = Job(self._view)
        out = new(job, self.cols, self.rows)
        if self.rows and self.cols:
            job.call("ech_gf2_transpose", self.reference(), out.reference())
        return out

    def count_ones(self):
        """The number of ones.

        >>> from echelon import gf2
        >>> gf2.Matrix.identity(70).count_ones()
        70
        """
        found = ctypes.c_uint64()
        if self.rows and self.cols:
            job = Job(self._view)
            job.call("ech_gf2_count", self.reference(), ctypes.addressof(found))
            job.call("ech_sync")
        return found.value

    # ---- Operators ----

    def __matmul__(self, other):
        from ._products import mul
        return mul(self, other)

    def __rmatmul__(self, other):
        from ._products import mul
        return mul(other, self)

    def __add__(self, other):
        from ._products import add
        return add(self, other)

    def __radd__(self, other):
        from ._products import add
        return add(other, self)

    __sub__, __xor__, __rsub__, __rxor__ = __add__, __add__, __radd__, __radd__

    def __eq__(self, other):
        """Whether two matrices have the same shape and the same bits."""
        if not isinstance(other, Matrix):
            return NotImplemented
        if self.shape != other.shape:
            return False
        job, found = Job(self._view, other._view), ctypes.c_uint8(1)
        if self.rows and self.cols:
            job.call("ech_gf2_equal", self.reference(), other.reference(), ctypes.addressof(found))
            job.call("ech_sync")
        return bool(found.value)

    def __len__(self):
        return self.rows

    def __repr__(self):
        if self.rows * self.cols > 1000:
            return f"<Matrix over GF(2), shape {self.shape}, device {self.device}>"
        lines = repr(np.array(self.to_dense().tolist(), "uint8").reshape(self.shape)).replace(", dtype=uint8", "")
        return lines.replace("array(", "Matrix(").replace("\n", "\n ")

    def __array__(self, dtype=None, copy=None):
        if self.device != "cpu":
            raise DTypeError("the matrix is in GPU memory; use to_dense()")
        if copy is False:
            raise ArgumentError("copy is False, but an array of NumPy has one element per bit")
        return np.asarray(self.to_dense(), dtype or "uint8")

    # ---- Parts ----

    def __getitem__(self, key):
        """A submatrix, as a copy: matrix[rows, cols], each an integer, a slice or a list of positions.

        Two integers return the bit as an int; one integer keeps its dimension, with length 1.
        """
        rows, cols = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        row, col = position(rows, self.rows, "row"), position(cols, self.cols, "column")
        result = self
        ranges = [part if isinstance(part, range) else range(n) for part, n in ((row, self.rows), (col, self.cols))]
        plain = [r if r.step == 1 else range(n) for r, n in zip(ranges, self.shape)]
        if [len(r) for r in plain] != list(self.shape):
            result = self._part(plain[0].start, plain[1].start, len(plain[0]), len(plain[1]))
        for axis, (part, r) in enumerate(((row, ranges[0]), (col, ranges[1]))):
            if not isinstance(part, range):
                result = result._gathered(axis, part)
            elif r.step != 1:
                result = result._gathered(axis, np.arange(r.start, r.stop, r.step))
        if hasattr(rows, "__index__") and hasattr(cols, "__index__"):
            return result.count_ones()
        return result.copy() if result is self else result

    def __setitem__(self, key, value):
        """Copies a Matrix, an array or 0 or 1 to a rectangle, for integers and slices without a step."""
        rows, cols = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        row, col = position(rows, self.rows, "row"), position(cols, self.cols, "column")
        if self.readonly:
            raise ArgumentError("the matrix is read-only")
        if not isinstance(row, range) or not isinstance(col, range) or row.step != 1 or col.step != 1:
            raise ArgumentError("a matrix can be assigned at integers and slices without a step")
        from ._operand import Operand
        shape, job = (len(row), len(col)), Job(self._view)
        if isinstance(value, (int, np.integer, np.bool_)):
            value = np.full(shape, value)
        source = Operand(value, "value", job).bits
        if source.shape != shape:
            raise ArgumentError(f"value has shape {source.shape}, but the part has shape {shape}")
        if source._view.pointer == self._view.pointer:
            source = source.copy()
        job.call("ech_gf2_copy", source.reference(), 0, 0, self.reference(), row.start, col.start, *shape)

    def _part(self, row, col, rows, cols):
        job = Job(self._view)
        out = new(job, rows, cols)
        if rows and cols:
            job.call("ech_gf2_copy", self.reference(), row, col, out.reference(), 0, 0, rows, cols)
        return out

    def _gathered(self, axis, index):
        """The rows (axis 0) or columns (axis 1) at these positions."""
        job = Job(self._view)
        places = job.contiguous(one_dimension(check_indices(job.moved(index, "index"), "index"), "index"))
        shape = (places.size, self.cols) if axis == 0 else (self.rows, places.size)
        out = new(job, *shape)
        if out.rows and out.cols:
            name = "ech_gf2_gather_rows" if axis == 0 else "ech_gf2_gather_cols"
            job.call(name, self.reference(), places.pointer, out.reference(), places.code)
        return out


def _job_like(like):
    if isinstance(like, Matrix):
        return Job(like._view)
    return Job(_arrays.view(np.empty(0) if like is None else like, "like"))


def _copied(job, view, cols):
    """The Matrix with a copy of packed rows."""
    bits = new(job, view.shape[0], cols, zero=True)
    if view.size and bits._view.size:
        family = job.family
        target = regrouped(family, bits.words, view.code)
        width = min(target.shape[1], view.shape[1])
        family.copy_to(target[:, :width], view.array[:, :width])
    return bits
