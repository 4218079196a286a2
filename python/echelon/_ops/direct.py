"""Direct solvers of dense systems: solve, lstsq, inv, det and slogdet of echelon.linalg.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math
import sys
import warnings
from typing import Any, NamedTuple, Optional

import numpy as np

from .. import _arrays
from .._arrays.layout import ranges_overlap
from .._arrays.numpy_family import address
from .._arrays.view import View
from .._runtime import native
from .._runtime.arguments import flag, integer, number
from .._runtime.call import Job, operation
from .._runtime.errors import ArgumentError, Error, UnsupportedError
from .._runtime.native import declared as c
from .common import cast
from .floats import check_number, common_float
from .products import Matrices, algorithm_of, regular

FACTORIZATIONS = {None: c.ECH_FACTOR_AUTO, "lu": c.ECH_FACTOR_LU, "cholesky": c.ECH_FACTOR_CHOLESKY,
                  "qr": c.ECH_FACTOR_QR}
_STATUS = {c.ECH_DIRECT_STATUS_SOLVED: "solved", c.ECH_DIRECT_STATUS_SINGULAR: "singular",
           c.ECH_DIRECT_STATUS_INDEFINITE: "indefinite", c.ECH_DIRECT_STATUS_NOT_FINITE: "not finite",
           c.ECH_DIRECT_STATUS_NOT_FINITE_B: "not finite b", c.ECH_DIRECT_STATUS_OVERFLOW: "overflow"}
_PLAIN = {np.dtype(np.float32): c.ECH_F32, np.dtype(np.float64): c.ECH_F64}
_REPORT = np.dtype(c.ech_direct_report)
_EPS = {c.ECH_F32: 2.0**-23, c.ECH_F64: 2.0**-52}


class LinAlgError(Error, np.linalg.LinAlgError):
    """A matrix is singular, not positive definite, or has NaN or infinity. report has the details, if there are any."""

    report: Optional["DirectReport"] = None


class ConditionWarning(UserWarning):
    """A matrix is so ill-conditioned that a result may have no correct digit."""


class DirectReport(NamedTuple):
    """What the library reports about one system.

    status: "solved", "singular", "indefinite", "not finite", "not finite b" or "overflow". factorization: "lu",
    "cholesky" or "qr". failed_index: the row or column that status concerns, otherwise 0. rcond: an estimate of
    1 / (|A| |A^-1|) in the 1-norm, for QR of R; 0 if it is unknown. backward_error: |b - A x| / (|A| |x| + |b|),
    the maximum over the columns of b, in the maximum norm. refinements: the number of refinement steps. sign and
    logabsdet: the determinant; NaN if it is unknown.
    """

    status: str
    factorization: str
    failed_index: int
    rcond: float
    backward_error: float
    refinements: int
    sign: float
    logabsdet: float


class SlogdetResult(NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: Any
    logabsdet: Any


class LstsqResult(NamedTuple):
    """The result of lstsq()."""

    x: Any
    residuals: Any
    rank: int
    s: None


def _report_of(report):
    """The DirectReport of an element of an array of _REPORT."""
    _, status, kind, failed_index, sign, log_abs, rcond, refinements, backward_error = report.item()
    name = native.functions.ech_factor_name(kind).decode()
    return DirectReport(_STATUS[status], name, failed_index, rcond, backward_error, refinements,
                        math.nan if math.isnan(log_abs) else float(sign), log_abs)


def _options(factorization, refine, algorithm):
    if not (factorization is None or isinstance(factorization, str)) or factorization not in FACTORIZATIONS:
        raise ArgumentError(f"factorization is {factorization!r}, but must be None, 'lu', 'cholesky' or 'qr'")
    steps = 0 if refine is None else integer(refine, "refine", 0, 1000) or -1
    return native.struct(c.ech_direct_options, kind=FACTORIZATIONS[factorization], refine=steps,
                         algorithm=algorithm_of(algorithm))


def _square(view, name):
    """The View, if its last two axes are square matrices."""
    if view.ndim < 2:
        raise LinAlgError(f"{name} has {view.ndim} dimensions, but must have at least two")
    if view.shape[-1] != view.shape[-2]:
        raise LinAlgError(f"{name} has shape {view.shape}, but its last two dimensions must be equal")
    return view


def _problem(status, report, name, index, count):
    """The LinAlgError of an outcome."""
    where = f"{name}[{', '.join(map(str, index))}]" if count > 1 else name
    at = report.failed_index
    text = {
        "singular": f"{where} is singular: column {at} depends linearly on the columns before it",
        "indefinite": f"{where} is not positive definite: the pivot of row {at} is not positive",
        "not finite": f"{where} contains NaN or infinity in row {at}",
        "not finite b": f"b contains NaN or infinity in column {at}, for {where}",
        "overflow": f"the elements of {where} are so large that column {at} overflows",
    }[status]
    error = LinAlgError(text)
    error.report = report
    return error


def _caller():
    """The stack level of the code that called the package, for a warning of the function that calls this one."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    return level


def _judge(reports, name, batch, code):
    """Warns of ill-conditioned matrices before the first system without a solution, whose error it raises."""
    rcond = reports["rcond"]
    if reports.size and rcond.min() >= _EPS[code]:  # which is 0 if there is no solution
        return
    failed = reports["status"].nonzero()[0]
    end = failed[0] if failed.size else len(reports)
    for i in ((rcond[:end] < _EPS[code]) & (rcond[:end] > 0)).nonzero()[0]:
        index = np.unravel_index(i, batch)
        where = f"{name}[{', '.join(map(str, index))}]" if len(reports) > 1 else name
        warnings.warn(f"{where} is ill-conditioned (rcond is {rcond[i]:.3g}): the result may be inaccurate",
                      ConditionWarning, stacklevel=_caller())
    if failed.size:
        report = _report_of(reports[end])
        raise _problem(report.status, report, name, np.unravel_index(end, batch), len(reports))


def _step(x, batch):
    """The distance of the matrices of a batch in elements, or None if it is not always the same."""
    shape = x.view.shape
    if len(shape) == 2:
        return 0
    if x.view.strides is None and shape[:-2] == batch:
        return shape[-1] * shape[-2]
    return regular(x.distances(batch), x.view.itemsize)


def _each(batch, options, matrices, run):
    """Calls run(i, addresses) for the systems from i on, whose matrices are at these addresses: once, if possible.

    matrices: by the letters a, b and x of the fields of ech_direct_options.
    """
    count = math.prod(batch)
    steps = {name: _step(x, batch) for name, x in matrices.items()}
    if count == 1 or None not in steps.values():
        if count > 1:
            options.batch_count = count
            for name, step in steps.items():
                setattr(options, name + "_batch_stride", step)
        if count:
            run(0, [x.view.pointer for x in matrices.values()])
        return
    places = [x.view.pointer + x.distances(batch) for x in matrices.values()]
    for i, addresses in enumerate(zip(*(place.tolist() for place in places))):
        run(i, addresses)


def _is_packed(x):
    return x.flags.c_contiguous and x.flags.aligned


def _plain(x):
    """The shape of square matrices in an array of NumPy that the library can read as it is, otherwise None."""
    if type(x) is not np.ndarray or x.dtype not in _PLAIN or not x.size or not _is_packed(x):
        return None
    shape = x.shape
    return shape if len(shape) >= 2 and shape[-1] == shape[-2] else None


def _plain_reports(options, count, a_step, b_step, x_step):
    """An array for the reports of `count` systems, whose distances it writes to the options."""
    if count > 1:
        options.batch_count, options.a_batch_stride = count, a_step
        options.b_batch_stride, options.x_batch_stride = b_step, x_step
    reports = np.empty(count, _REPORT)
    reports["size"][0] = _REPORT.itemsize
    return reports


def _solve_plain(a, b, options):
    """solve() of arrays with the same batch, dtype and order that need no conversion; None for others."""
    shape = _plain(a)
    if (shape is None or type(b) is not np.ndarray or b.dtype != a.dtype or not b.size or
            not _is_packed(b) or (b.shape[:-1] != shape[:-1] and b.shape != shape[:1])):
        return None
    n, code = shape[-1], _PLAIN[a.dtype]
    columns = 1 if b.ndim == 1 else b.shape[-1]
    if b.ndim == 1 and len(shape) > 2:
        return None
    x, count = np.empty(b.shape, b.dtype), math.prod(shape[:-2])
    reports = _plain_reports(options, count, n * n, n * columns, n * columns)
    Job.on_host().call("ech_solve_direct", n, n, address(a), n, columns, address(b), columns, address(x), columns,
                       code, ctypes.addressof(options), address(reports))
    _judge(reports, "a", shape[:-2], code)
    return x


def _inverse_plain(x, options):
    """inv() of an array that needs no conversion; None for others."""
    shape = _plain(x)
    if shape is None:
        return None
    n, code = shape[-1], _PLAIN[x.dtype]
    result, count = np.empty(shape, x.dtype), math.prod(shape[:-2])
    reports = _plain_reports(options, count, n * n, 0, n * n)
    Job.on_host().call("ech_inverse", n, address(x), n, address(result), n, code, ctypes.addressof(options),
                       address(reports))
    _judge(reports, "x", shape[:-2], code)
    return result


def _reported(job, name, batch, options, matrices, code, info, call):
    """Runs the systems of a batch by call(addresses, the address of reports); returns the reports."""
    reports = np.zeros(math.prod(batch), _REPORT)
    reports["size"] = _REPORT.itemsize
    first = address(reports)
    _each(batch, options, matrices, lambda i, addresses: call(addresses, first + i * _REPORT.itemsize))
    if not info:
        _judge(reports, name, batch, code)
    return reports


def _clear_failed(place, reports, size):
    """Fills the results of systems without a solution with NaN."""
    failed = reports["status"].nonzero()[0]
    if failed.size:
        flat = place.view.family.reshape(place.view.array, (len(reports), size))
        for i in failed.tolist():
            flat[i] = math.nan


def _with_info(result, reports, batch, info):
    if not info:
        return result
    found = [_report_of(report) for report in reports]
    return result, (found if batch else found[0])


@operation
def solve(a, b, /, *, factorization=None, refine=None, algorithm=None, info=False, out=None):
    """Solve the linear systems a x = b.

    a: [..., n, n]. b: [n], or [..., n, k]; the batches of a and b are broadcast. factorization: "lu"; "cholesky", for
    which elements above the diagonal are not read; "qr"; None: Cholesky if a is symmetric and positive definite,
    otherwise LU. refine: the maximum number of refinement steps, in which residuals are computed in twice the
    precision: 0 to 1,000; None: 10. algorithm: "lapack" or "cusolver", a library of the vendor; "blocked", which is
    bit-identical on every device; None: the library if it is found. info: whether to return details and not to raise
    LinAlgError: x is then NaN if there is no solution. out: an array of the shape and dtype of the result.

    Returns x, an array of the shape of b with the batches of a, of dtype float32 or float64; with info the pair of x
    and a DirectReport, for a batch a list of them. Raises LinAlgError if a matrix is singular, not positive definite
    (only for "cholesky"), or has NaN or infinity, and ArgumentError for shapes that do not match. Warns with
    ConditionWarning if a matrix is so ill-conditioned that x may have no correct digit.

    >>> import echelon, numpy
    >>> a = numpy.array([[3.0, 1.0], [1.0, 2.0]])
    >>> echelon.linalg.solve(a, numpy.array([9.0, 8.0]))
    array([2., 3.])
    >>> x, report = echelon.linalg.solve(a, numpy.array([9.0, 8.0]), info=True)
    >>> report.status, report.factorization
    ('solved', 'cholesky')
    """
    info = flag(info, "info")
    options = _options(factorization, refine, algorithm)
    if out is None and not info:
        found = _solve_plain(a, b, options)
        if found is not None:
            return found
    job, (first, second), code = _systems(a, b)
    _square(first, "a")
    n = first.shape[-1]
    vector = second.ndim == 1
    if second.ndim == 0 or second.shape[-1 if vector else -2] != n:
        raise ArgumentError(f"b has shape {second.shape}, but must have {n} rows as a")
    try:
        batch = np.broadcast_shapes(first.shape[:-2], () if vector else second.shape[:-2])
    except ValueError:
        raise ArgumentError(f"a has shape {first.shape} and b {second.shape}: the batches cannot be broadcast "
                            "together") from None
    columns = 1 if vector else second.shape[-1]
    target = job.output(out, batch + ((n,) if vector else (n, columns)), code)
    if vector:
        second = _column(job, second)
    place = target
    if not target.contiguous or ranges_overlap(target, first) or ranges_overlap(target, second):
        place = job.empty(target.shape, code)
    x = _as_matrices(job, place, batch + (n, columns))
    left, right = Matrices(job, first, False), Matrices(job, second, False)

    def call(addresses, report):
        job.call("ech_solve_direct", n, n, addresses[0], left.stride, columns, addresses[1], right.stride,
                 addresses[2], x.stride, code, ctypes.addressof(options), report)

    reports = _reported(job, "a", batch, options, {"a": left, "b": right, "x": x}, code, info, call)
    if info:
        _clear_failed(x, reports, n * columns)
    return _with_info(job.finish(target, out, place), reports, batch, info)


def _systems(a, b):
    """The call and the Views of a and b in their common type, float32 or float64."""
    views = [_arrays.view(a, "a"), _arrays.view(b, "b")]
    if _arrays.family_of(a) is None and _arrays.family_of(b) is not None:
        job = Job(views[1])
        views[0] = job.view(a, "a")
    else:
        job = Job(views[0])
        views[1] = job.view(b, "b")
    for view, name in zip(views, "ab"):
        check_number(view, name)
    code = common_float([view.code for view in views])
    return job, [cast(job, view, code) for view in views], code


def _column(job, view):
    """A vector as a matrix with one column."""
    view = job.contiguous(view)
    return _reshaped(view, (view.shape[0], 1))


def _reshaped(view, shape):
    return View(view.family.reshape(view.array, shape), view.family, view.pointer, shape, None, view.code, view.device,
                view.readonly, view.kind)


def _as_matrices(job, view, shape):
    """The Matrices of a contiguous array."""
    return Matrices(job, _reshaped(view, shape), False)


def _matrix(x, name="x"):
    """The call, and the View of square matrices of float32 or float64."""
    view = check_number(_arrays.view(x, name), name)
    job = Job(view)
    return job, _square(cast(job, view, common_float([view.code])), name)


@operation
def inv(x, /, *, factorization=None, refine=0, algorithm=None, info=False, out=None):
    """Compute the inverses of matrices.

    x: [..., n, n]. factorization, algorithm, info: as for solve(). refine: as for solve(), with the default 0. out: an
    array of the shape and dtype of the result.

    Returns an array of the shape of x, of dtype float32 or float64; with info the pair of it and the reports, as
    solve() does. Raises LinAlgError and warns as solve() does.

    >>> import echelon, numpy
    >>> echelon.linalg.inv(numpy.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    info = flag(info, "info")
    options = _options(factorization, refine, algorithm)
    if out is None and not info:
        found = _inverse_plain(x, options)
        if found is not None:
            return found
    job, view = _matrix(x)
    target = job.output(out, view.shape, view.code)
    place = target if target.contiguous and not ranges_overlap(target, view) else job.empty(view.shape, view.code)
    a, inverse = Matrices(job, view, False), Matrices(job, place, False)
    n, batch = view.shape[-1], view.shape[:-2]

    def call(addresses, report):
        job.call("ech_inverse", n, addresses[0], a.stride, addresses[1], inverse.stride, view.code,
                 ctypes.addressof(options), report)

    reports = _reported(job, "x", batch, options, {"a": a, "x": inverse}, view.code, info, call)
    if info:
        _clear_failed(inverse, reports, n * n)
    return _with_info(job.finish(target, out, place), reports, batch, info)


def _determinants(x, factorization, algorithm):
    """The call, the shape, the ech_dtype, and arrays of NumPy with the signs and the logarithms of the absolute values.

    If a logarithm is NaN, the sign is 0.
    """
    options = _options(factorization, 0, algorithm)
    shape = _plain(x)
    if shape is None:
        job, view = _matrix(x)
        a, shape, code = Matrices(job, view, False), view.shape, view.code
    else:
        job, a, code = Job.on_host(), None, _PLAIN[x.dtype]
    n, batch = shape[-1], shape[:-2]
    signs, logs = np.empty(math.prod(batch), np.intc), np.empty(math.prod(batch))
    first = address(signs), address(logs)

    def call(i, addresses):
        job.call("ech_determinant", n, addresses[0], a.stride if a else n, code, ctypes.addressof(options),
                 first[0] + i * signs.itemsize, first[1] + i * logs.itemsize)

    if a:
        _each(batch, options, {"a": a}, call)
    else:
        options.batch_count, options.a_batch_stride = signs.size, n * n
        call(0, [address(x)])
    return job, batch, code, signs, logs


def _from_host(job, values, shape, code):
    """An array of the call's family with the values of an array of NumPy."""
    host = np.ascontiguousarray(values, np.float32 if code == c.ECH_F32 else np.float64)
    if job.family.name == "numpy":
        return job.family.result(host.reshape(shape))
    target = job.empty(shape, code)
    if host.size:
        job.call("ech_copy", target.pointer, host.ctypes.data, host.nbytes)
    return job.finish(target)


@operation
def slogdet(x, /, *, factorization=None, algorithm=None):
    """Compute the signs and the logarithms of the absolute values of determinants.

    x: [..., n, n]. factorization and algorithm: as for solve().

    Returns a named tuple SlogdetResult(sign, logabsdet) of arrays of shape [...]. A singular matrix has sign 0 and
    -infinity; a matrix with NaN or infinity has NaN; for n = 0 the determinant is 1.

    >>> import echelon, numpy
    >>> sign, logabsdet = echelon.linalg.slogdet(numpy.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> float(sign), float(logabsdet)
    (-1.0, 0.0)
    """
    job, batch, code, signs, logs = _determinants(x, factorization, algorithm)
    signs = signs.astype(np.float64)
    signs[logs != logs] = math.nan
    return SlogdetResult(_from_host(job, signs, batch, code), _from_host(job, logs, batch, code))


@operation
def det(x, /, *, factorization=None, algorithm=None):
    """Compute determinants.

    x: [..., n, n]. factorization and algorithm: as for solve().

    Returns an array of shape [...]. The result is infinite if the determinant overflows: use slogdet() for large
    matrices.

    >>> import echelon, numpy
    >>> round(float(echelon.linalg.det(numpy.array([[1.0, 2.0], [3.0, 4.0]]))), 12)
    -2.0
    """
    job, batch, code, signs, logs = _determinants(x, factorization, algorithm)
    with np.errstate(over="ignore"):
        return _from_host(job, signs * np.exp(logs), batch, code)


@operation
def lstsq(a, b, /, rcond=None, *, refine=None, algorithm=None, info=False):
    """Find the x that minimises |b - a x|, by a QR factorization.

    a: [m, n], m >= n, with linearly independent columns. b: [m] or [m, k]. rcond: the smallest reciprocal condition
    number, estimated in the 1-norm, that is accepted; None: all. refine, algorithm, info: as for solve().

    Returns a named tuple LstsqResult(x, residuals, rank, s), as NumPy does: x [n] or [n, k]; residuals [1] or [k], the
    sums of (b - a x)^2, empty if m = n; rank is n; s is None, since singular values are not computed. With info it
    returns the pair of this and a DirectReport. Raises LinAlgError if a column depends linearly on the columns before
    it, up to rounding, and UnsupportedError for m < n.

    >>> import echelon, numpy
    >>> a = numpy.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> x, residuals, rank, s = echelon.linalg.lstsq(a, numpy.array([1.0, 3.0, 5.0]))
    >>> numpy.round(x, 12), rank
    (array([2., 1.]), 2)
    """
    info = flag(info, "info")
    job, (first, second), code = _systems(a, b)
    options = _options("qr", refine, algorithm)
    if first.ndim != 2:
        raise LinAlgError(f"a has {first.ndim} dimensions, but must have two")
    rcond = None if rcond is None else number(rcond, "rcond")
    m, n = first.shape
    vector = second.ndim == 1
    if second.ndim not in (1, 2) or second.shape[0] != m:
        raise LinAlgError(f"b has shape {second.shape}, but must have {m} rows as a")
    if m < n:
        raise UnsupportedError(f"a has shape {first.shape}; systems with fewer rows than columns are not supported")
    if vector:
        second = _column(job, second)
    columns = second.shape[1]
    target = job.empty((n,) if vector else (n, columns), code)
    x = _as_matrices(job, target, (n, columns))
    left, right = Matrices(job, first, False), Matrices(job, second, False)

    def call(addresses, report):
        job.call("ech_solve_direct", m, n, addresses[0], left.stride, columns, addresses[1], right.stride,
                 addresses[2], x.stride, code, ctypes.addressof(options), report)

    reports = _reported(job, "a", (), options, {"a": left, "b": right, "x": x}, code, info, call)
    found = reports["rcond"][0]
    if rcond is not None and not info and found < rcond:
        error = LinAlgError(f"a has the reciprocal condition number {found:.3g}, less than rcond, {rcond}")
        error.report = _report_of(reports[0])
        raise error
    _clear_failed(x, reports, n * columns)
    residuals = _residuals(job, left, x, right, m > n)
    return _with_info(LstsqResult(job.finish(target), residuals, n, None), reports, (), info)


def _residuals(job, a, x, b, overdetermined):
    """The sums of the squares of b - a x for each column."""
    m, columns = b.view.shape
    family = b.view.family
    if not overdetermined:
        return family.result(job.empty((0,), b.view.code).array)
    rest = job.add(family.view(family.contiguous(b.view.array)))
    if columns:
        job.call("ech_matmul", m, columns, x.view.shape[0], -1.0, a.view.pointer, a.stride, x.view.pointer, x.stride,
                 1.0, rest.pointer, columns, b.view.code, None)
    return (rest.array * rest.array).sum(0)
