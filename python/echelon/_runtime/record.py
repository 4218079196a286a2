"""explain() and profile(): which functions of the library a call uses, how they work, and how long they take.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import json
import threading
import time

from .._arrays.view import BYTES, NAMES
from . import call as calls
from .native import declared as c
from .native import functions

_CAPACITY = 1 << 16


def _rows(values):
    return values.get("rows", 1) * values["cols"] if "cols" in values else values["n"]


def _index_bytes(values):
    return BYTES[values["index_dtype"]]


def _with_batch_count(values):
    """The options of a batch of products, with the number of products, which is a parameter of the call."""
    options = c.ech_matmul_options()
    ctypes.pointer(options)[0] = c.ech_matmul_options.from_address(values["options"])
    options.batch_count = values["batch_count"]
    return ctypes.byref(options)


# Functions of the library: the function that explains them, and the values of its parameters that are not parameters
# of the call. A value may be a function of the call's parameters.
_FAMILIES = [
    (("ech_sort", "ech_sort_pairs"), "ech_sort_explain", {}),
    (("ech_argsort",), "ech_argsort_explain", {}),
    (("ech_sort_rows", "ech_sort_pairs_rows"), "ech_sort_segments_explain",
     {"call": c.ECH_SORT_CALL_ROWS, "n": _rows, "groups": lambda v: v["rows"]}),
    (("ech_argsort_rows",), "ech_sort_segments_explain",
     {"call": c.ECH_SORT_CALL_ARGSORT_ROWS, "n": _rows, "groups": lambda v: v["rows"], "value_bytes": _index_bytes}),
    (("ech_sort_segments", "ech_sort_pairs_segments"), "ech_sort_segments_explain",
     {"call": c.ECH_SORT_CALL_SEGMENTS, "groups": lambda v: v["segments"]}),
    (("ech_argsort_segments",), "ech_sort_segments_explain",
     {"call": c.ECH_SORT_CALL_ARGSORT_SEGMENTS, "groups": lambda v: v["segments"], "value_bytes": _index_bytes}),
    (("ech_is_sorted",), "ech_is_sorted_explain", {}),
    (("ech_reduce", "ech_reduce_rows"), "ech_reduce_explain",
     {"call": c.ECH_REDUCE_CALL_ROWS, "n": _rows, "groups": lambda v: v.get("rows", 1)}),
    (("ech_reduce_segments",), "ech_reduce_explain",
     {"call": c.ECH_REDUCE_CALL_SEGMENTS, "groups": lambda v: v["segments"]}),
    (("ech_reduce_by_key",), "ech_reduce_explain", {"call": c.ECH_REDUCE_CALL_BY_KEY, "groups": 0}),
    (("ech_dot",), "ech_reduce_explain", {"call": c.ECH_REDUCE_CALL_DOT, "op": c.ECH_OP_SUM, "groups": 0}),
    (("ech_scan", "ech_scan_rows"), "ech_scan_explain",
     {"call": c.ECH_SCAN_CALL_ROWS, "n": _rows, "groups": lambda v: v.get("rows", 1)}),
    (("ech_scan_segments",), "ech_scan_explain",
     {"call": c.ECH_SCAN_CALL_SEGMENTS, "groups": lambda v: v["segments"]}),
    (("ech_scan_by_key",), "ech_scan_explain", {"call": c.ECH_SCAN_CALL_BY_KEY, "groups": 0}),
    (("ech_histogram", "ech_histogram_edges", "ech_bincount"), "ech_histogram_explain", {}),
    (("ech_histogram_2d",), "ech_histogram_explain", {"bins": lambda v: v["x_bins"] * v["y_bins"]}),
    (("ech_topk",), "ech_topk_explain", {"call": c.ECH_TOPK_CALL_ARRAY, "groups": 1}),
    (("ech_topk_rows",), "ech_topk_explain",
     {"call": c.ECH_TOPK_CALL_ROWS, "n": _rows, "groups": lambda v: v["rows"]}),
    (("ech_topk_segments",), "ech_topk_explain",
     {"call": c.ECH_TOPK_CALL_SEGMENTS, "groups": lambda v: v["segments"]}),
    (("ech_merge", "ech_merge_pairs"), "ech_merge_explain", {}),
    (("ech_merge_many", "ech_merge_many_pairs"), "ech_merge_many_explain", {}),
    (("ech_set_operation", "ech_set_operation_pairs"), "ech_set_operation_explain", {}),
    (("ech_lower_bound",), "ech_search_explain", {"call": c.ECH_SEARCH_CALL_LOWER}),
    (("ech_upper_bound",), "ech_search_explain", {"call": c.ECH_SEARCH_CALL_UPPER}),
    (("ech_argsort_columns",), "ech_argsort_columns_explain", {}),
    (("ech_sort_records",), "ech_sort_records_explain",
     {"in_place": lambda v: int(v["records"] == v["records_out"])}),
    (("ech_argsort_strings",), "ech_strings_explain", {}),
    (("ech_unique_all",), "ech_unique_explain", {"call": c.ECH_UNIQUE_CALL_ALL}),
    (("ech_mode",), "ech_unique_explain", {"call": c.ECH_UNIQUE_CALL_MODE}),
    (("ech_nth_element",), "ech_quantile_explain", {"call": c.ECH_QUANTILE_CALL_NTH, "count": 1}),
    (("ech_partition_at",), "ech_quantile_explain",
     {"call": c.ECH_QUANTILE_CALL_PARTITION, "count": lambda v: v["n_ranks"]}),
    (("ech_quantiles",), "ech_quantile_explain",
     {"call": c.ECH_QUANTILE_CALL_QUANTILES, "count": lambda v: v["n_q"]}),
    (("ech_matmul",), "ech_matmul_explain", {}),
    (("ech_matmul_pointers",), "ech_matmul_explain", {"options": _with_batch_count}),
    (("ech_matvec",), "ech_matvec_explain", {}),
    (("ech_spmv",), "ech_csr_explain", {"call": c.ECH_CSR_CALL_SPMV, "n": 0}),
    (("ech_spmm",), "ech_csr_explain", {"call": c.ECH_CSR_CALL_SPMM}),
    (("ech_csr_from_coo",), "ech_csr_explain", {"call": c.ECH_CSR_CALL_FROM_COO, "a": lambda v: v["out"]}),
    (("ech_csr_transpose",), "ech_csr_explain", {"call": c.ECH_CSR_CALL_TRANSPOSE, "n": 0}),
    (("ech_solve",), "ech_solve_explain", {}),
    (("ech_solve_sparse", "ech_sparse_factor_create"), "ech_solve_sparse_explain", {}),
    (("ech_solve_direct",), "ech_direct_explain", {"call": c.ECH_DIRECT_CALL_SOLVE}),
    (("ech_inverse",), "ech_direct_explain",
     {"call": c.ECH_DIRECT_CALL_INVERSE, "m": lambda v: v["n"], "nrhs": 0}),
    (("ech_determinant",), "ech_direct_explain",
     {"call": c.ECH_DIRECT_CALL_DETERMINANT, "m": lambda v: v["n"], "nrhs": 0}),
]
_SELECT = {"ech_select_flags": "FLAGS", "ech_select_if": "IF", "ech_partition_flags": "PARTITION_FLAGS",
           "ech_partition_if": "PARTITION_IF", "ech_partition_3way": "PARTITION_3WAY", "ech_unique": "UNIQUE",
           "ech_unique_by_key": "UNIQUE_BY_KEY", "ech_rle_encode": "RLE_ENCODE", "ech_rle_decode": "RLE_DECODE"}
_ARRANGE = {"ech_gather": "GATHER", "ech_scatter": "SCATTER", "ech_reverse": "REVERSE", "ech_rotate": "ROTATE",
            "ech_transpose": "TRANSPOSE", "ech_fill": "FILL", "ech_iota": "IOTA", "ech_permutation": "PERMUTATION",
            "ech_shuffle": "SHUFFLE"}
_EXPLAINED = {name: (function, values) for names, function, values in _FAMILIES for name in names}
_EXPLAINED.update((name, ("ech_select_explain", {"call": getattr(c, "ECH_SELECT_CALL_" + call)}))
                  for name, call in _SELECT.items())
_EXPLAINED.update((name, ("ech_arrange_explain", {"call": getattr(c, "ECH_ARRANGE_CALL_" + call), "n": _rows}))
                  for name, call in _ARRANGE.items())


def _gf2(name, values):
    """The parameters of ech_gf2_explain() for a call, or None."""
    call = {"ech_gf2_mul": "MUL", "ech_gf2_addmul": "MUL", "ech_gf2_mul_vec": "MUL_VEC", "ech_gf2_echelon": "ECHELON",
            "ech_gf2_rank": "ECHELON", "ech_gf2_pluq": "PLUQ", "ech_gf2_solve": "SOLVE",
            "ech_gf2_nullspace": "NULLSPACE", "ech_gf2_left_nullspace": "NULLSPACE", "ech_gf2_inverse": "INVERSE",
            "ech_gf2_echelon_batched": "BATCHED", "ech_gf2_rank_batched": "BATCHED",
            "ech_gf2_solve_batched": "BATCHED"}.get(name)
    if call is None:
        return None
    if call == "BATCHED":
        batch = _struct_at(c.ech_gf2_batch, values["a"])
        return {"call": c.ECH_GF2_CALL_BATCHED, "rows": batch.rows, "cols": batch.cols, "other": batch.count}
    a, other = _struct_at(c.ech_gf2, values["a"]), 0
    if call in ("MUL", "SOLVE"):
        other = _struct_at(c.ech_gf2, values["b"]).cols
    elif call == "MUL_VEC":
        other = _struct_at(c.ech_gf2, values["x"]).rows
    options = None if call.startswith("MUL") else values["options"]
    return {"call": getattr(c, "ECH_GF2_CALL_" + call), "rows": a.rows, "cols": a.cols, "other": other,
            "options": options}


def _struct_at(kind, pointer):
    """The struct that an argument (an address or byref()) points to."""
    return kind.from_address(ctypes.cast(pointer, ctypes.c_void_p).value)


def _explanation(context, name, arguments):
    """The JSON object of the library for a call, or None if it has no explanation."""
    values = dict(zip(c.FUNCTIONS[name][2], (context.handle, *arguments)))
    gf2 = _gf2(name, values) if name.startswith("ech_gf2_") else None
    if gf2 is not None:
        function, extra = "ech_gf2_explain", gf2
    elif name in _EXPLAINED:
        function, extra = _EXPLAINED[name]
    else:
        return None
    text = ctypes.create_string_buffer(_CAPACITY)
    known = {"device": context.device.encode(), "format": c.ECH_FORMAT_JSON, "text": text, "capacity_bytes": _CAPACITY,
             "value_bytes": values.get("value_bytes", 0)}
    if "dtype" in values:
        known["element_bytes"] = BYTES[values["dtype"]]
    known.update(values)
    known.update((key, value(values) if callable(value) else value) for key, value in extra.items())
    if functions.__dict__[function](*(known.get(key, 0) for key in c.FUNCTIONS[function][2])):
        return None
    return json.loads(text.value)


class Call:
    """One call of the library.

    function      the name of the C function
    milliseconds  the time; on a GPU with the time until the work had finished
    n             the number of elements, or None
    dtype         the name of the dtype, or None
    device        the device that ran it
    plan          the explanation of the library as a dict, or None
    """

    def __init__(self, context, name, arguments, milliseconds, plan):
        values = dict(zip(c.FUNCTIONS[name][2][1:], arguments))
        self.function, self.milliseconds, self.device, self.plan = name, milliseconds, context.device, plan
        self.n = values.get("n", _rows(values) if "cols" in values else None)
        self.dtype = NAMES[values["dtype"]] if "dtype" in values else None

    def __repr__(self):
        algorithm = (self.plan or {}).get("algorithm", {}).get("name")
        parts = [self.function, self.device, self.dtype, None if self.n is None else f"n = {self.n}", algorithm]
        return "<" + ", ".join(part for part in parts if part) + f", {self.milliseconds:.3f} ms>"


class Recorder:
    """The calls of the thread that opened it."""

    def __init__(self, plans):
        self.calls, self.plans, self.thread = [], plans, threading.get_ident()

    def run(self, context, name, arguments, function):
        """Calls a function, with the time until its work has finished."""
        gpu = context.device.startswith(("cuda", "auto"))
        if gpu:
            functions.ech_sync(context.handle)
        begin = time.perf_counter()
        status = function(context.handle, *arguments)
        if gpu and not status:
            status = functions.ech_sync(context.handle)
        elapsed = time.perf_counter() - begin
        if name not in ("ech_sync", "ech_copy", "ech_copy_async", "ech_malloc"):
            plan = _explanation(context, name, arguments) if self.plans and not status else None
            self.calls.append(Call(context, name, arguments, 1000 * elapsed, plan))
        return status


@contextlib.contextmanager
def _recording(plans):
    recorder = Recorder(plans)
    outer = next((one for one in reversed(list(calls.recorders)) if one.thread == recorder.thread), None)
    calls.recorders.append(recorder)
    try:
        yield recorder
    finally:
        calls.recorders.remove(recorder)
        if outer is not None:
            outer.calls.extend(recorder.calls)


class Profile:
    """The result of profile(): a list of calls, and the sums by function."""

    def __init__(self, recorder):
        self._recorder = recorder

    @property
    def calls(self):
        """The calls in their order."""
        return self._recorder.calls

    @property
    def milliseconds(self):
        """The time of all calls together."""
        return sum(call.milliseconds for call in self.calls)

    def __repr__(self):
        return f"<Profile: {len(self.calls)} calls, {self.milliseconds:.3f} ms>"

    def __str__(self):
        totals = {}
        for call in self.calls:
            entry = totals.setdefault((call.function, call.device), [0, 0.0])
            entry[0] += 1
            entry[1] += call.milliseconds
        lines = [f"{'function':32} {'device':10} {'calls':>8} {'ms':>12}"]
        for (name, device), (count, milliseconds) in sorted(totals.items(), key=lambda item: -item[1][1]):
            lines.append(f"{name:32} {device:10} {count:8} {milliseconds:12.3f}")
        return "\n".join(lines)


@contextlib.contextmanager
def profile():
    """Measure the calls of the library in a with statement, for this thread.

    Yields a Profile: its calls (function, milliseconds, n, dtype, device), milliseconds, and as text a table. On a GPU
    each call is followed by a wait for its work, so that calls do not overlap; it must not be used while a CUDA graph
    is captured.

    >>> import echelon, numpy
    >>> with echelon.profile() as p:
    ...     x = echelon.sort(numpy.arange(1000))
    >>> [call.function for call in p.calls]
    ['ech_sort']
    """
    with _recording(plans=False) as recorder:
        yield Profile(recorder)


def explain(function, /, *args, **options):
    """Call a function of this package, and return how the library computed the result.

    function: such as echelon.sort. args, options: its arguments.

    Returns a list with one Call for each call of the library: its function, n, dtype, device, milliseconds, and its
    plan, a dict with the algorithm, the alternatives, the workspace and, on a GPU, the kernels. The function is really
    called, so that `out` is written.

    >>> import echelon, numpy
    >>> call, = echelon.explain(echelon.sort, numpy.arange(1000, dtype="float32"))
    >>> call.function, call.plan["operation"]
    ('ech_sort', 'sort')
    """
    with _recording(plans=True) as recorder:
        function(*args, **options)
    return recorder.calls
