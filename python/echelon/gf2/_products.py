"""Products, sums and transposed matrices over GF(2).

SPDX-License-Identifier: Apache-2.0
"""
from .._runtime.call import operation
from .._runtime.errors import ArgumentError
from ._matrix import Matrix, new
from ._operand import Operand, operands


@operation
def mul(a, b, /):
    """Multiply matrices modulo 2.

    a: [m, k], or a vector [k]. b: [k, n], or a vector [k].

    Returns a b: [m, n], without the dimension of a vector, with the type of b. Raises ArgumentError if the inner
    dimensions differ.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.mul([[1, 1], [0, 1]], numpy.array([[1, 1], [1, 0]], "uint8"))
    array([[0, 1],
           [1, 0]], dtype=uint8)
    >>> gf2.mul([[1, 1], [0, 1]], numpy.array([1, 1], "uint8"))
    array([0, 1], dtype=uint8)
    """
    left, right, job = operands(a, b, vectors=(True, True))
    if right.vector:  # b is a row: b a^T
        m, (k, inner) = left.shape[0], left.shape[::-1][:1] + (right.shape[1],)
        out = new(job, 1, m, zero=not k)
        name, arguments = "ech_gf2_mul_vec", (left.bits, right.bits)
    else:
        (m, k), (inner, n) = left.shape, right.shape
        out = new(job, m, n, zero=not k)
        name, arguments = "ech_gf2_mul", (left.bits, right.bits)
    if k != inner:
        raise ArgumentError(f"a has {k} columns, but b has {inner} rows")
    if k and out.rows and out.cols:
        job.call(name, *(bits.reference() for bits in arguments), out.reference(), None)
    if left.vector and right.vector:
        return right.result(job, out, vector=True)[0]
    return right.result(job, out, vector=left.vector or right.vector)


@operation
def add(a, b, /):
    """Add matrices modulo 2.

    a, b: matrices of one shape.

    Returns a + b, with the type of b. Raises ArgumentError if the shapes differ.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.add([[1, 1]], numpy.array([[1, 0]]))
    array([[0, 1]])
    """
    left, right, job = operands(a, b)
    if left.shape != right.shape:
        raise ArgumentError(f"b has shape {right.shape}, but a has shape {left.shape}")
    out = new(job, *left.shape)
    if out.rows and out.cols:
        job.call("ech_gf2_add", left.bits.reference(), right.bits.reference(), out.reference())
    return right.result(job, out)


@operation
def transpose(a, /):
    """Transpose a matrix.

    a: [m, n].

    Returns [n, m], a copy with the type of a.

    >>> import numpy
    >>> from echelon import gf2
    >>> gf2.transpose(numpy.array([[1, 1, 0]])).shape
    (3, 1)
    """
    operand = Operand(a, "a")
    return operand.result(operand.job(), operand.bits.T)


def matrix(x, /):
    """Pack an array.

    x: as Matrix.from_dense() accepts it, or a Matrix. Returns a Matrix: x itself if x is one.

    >>> from echelon import gf2
    >>> gf2.matrix([[1, 0]])
    Matrix([[1, 0]])
    """
    return x if isinstance(x, Matrix) else Matrix.from_dense(x)
