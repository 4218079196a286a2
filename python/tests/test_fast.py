"""The extension echelon_fast: the same results and errors as those of the Python functions, its contexts, no leaks.

The tests are skipped if the extension is not built (python/fast), and on other devices than the CPU.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import gc
import inspect
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import threading

import echelon
import numpy as np
import pytest
from echelon._ops import fast as operations
from echelon._ops import reduce, scan, search, sort, topk
from echelon._runtime import context as contexts
from echelon._runtime import fast

if fast.extension is None:
    pytest.skip(f"the extension is not used: {fast.reason}", allow_module_level=True)
if echelon.get_device() != "cpu":
    pytest.skip(f"the extension supports only the CPU, but the device is {echelon.get_device()}",
                allow_module_level=True)

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
SIZES = [0, 1, 2, 100, 1000, 10_001]
PYTHON = {"sort": sort.sort, "argsort": sort.argsort, "sum": reduce.sum, "min": reduce.min, "max": reduce.max,
          "mean": reduce.mean, "argmin": reduce.argmin, "argmax": reduce.argmax,
          "cumulative_sum": scan.cumulative_sum, "searchsorted": search.searchsorted, "top_k": topk.top_k}
FLAT = ("sum", "min", "max", "mean", "argmin", "argmax")  # reductions of all axes
IN_C = FLAT[:4]  # those with results that C does not have for float16
# Options that the extension supports; others are left to Python.
OPTIONS = {"sort": [{}, {"descending": True}, {"axis": 0}, {"axis": None, "stable": False}, {"nulls": "last"}],
           "argsort": [{}, {"descending": True, "axis": -1}, {"dtype": None, "stream": None}],
           "cumulative_sum": [{}, {"axis": 0, "include_initial": False}],
           "searchsorted": [{}, {"side": "right"}, {"side": "left", "sorter": None}],
           "top_k": [{}, {"mode": "smallest"}, {"sorted": True, "axis": 0}]}
UNUSUAL = {"sort": [{"axis": 1}, {"axis": 2**70}, {"descending": 1}, {"descending": "x"}, {"nulls": "first"},
                    {"nulls": "x"}, {"out": 3}, {"stream": 5}, {"none": 1}, {"stable": None}],
           "argsort": [{"dtype": "int32"}, {"dtype": "x"}, {"axis": "x"}],
           "sum": [{"keepdims": True}, {"dtype": "float64"}, {"axis": 1}, {"axis": (0,)}],
           "mean": [{"dtype": "float64"}], "argmin": [{"axis": (0,)}], "max": [{"dtype": "int8"}],
           "cumulative_sum": [{"include_initial": True}, {"dtype": "float32"}],
           "searchsorted": [{"side": "x"}, {"side": None}, {"sorter": [0]}, {"dtype": "int32"}, {"descending": True}],
           "top_k": [{"mode": "x"}, {"sorted": False}, {"counts": 1}, {"dtype": "uint32"}]}


def values(rng, dtype, n):
    """Random elements with equal ones, and with NaN, infinities and both zeros."""
    if np.dtype(dtype).kind != "f":
        return rng.integers(0, 90, n).astype(dtype)
    x = rng.normal(size=n).astype(dtype)
    x[rng.integers(0, 9, n) == 0] = 0.5
    for place, value in enumerate([np.nan, -0.0, 0.0, np.inf, -np.inf, -np.nan]):
        x[place * 7 + 3:place * 7 + 4] = value
    return x


def positional(name, x, k=None):
    """The positional arguments of a function for an array."""
    if name == "top_k":
        return x, min(5, x.size) if k is None else k
    return (np.sort(x) if x.ndim == 1 else x, x) if name == "searchsorted" else (x,)


def parts(result):
    """What must be equal: the types, dtypes, shapes and bits of the results."""
    if isinstance(result, tuple):
        return [parts(part) for part in result]
    return type(result), result.dtype, result.shape, result.tobytes()


def outcome(function, args, options):
    """The parts of the result, or the type and the text of the exception."""
    try:
        return parts(function(*args, **options))
    except Exception as error:
        return type(error), str(error)


def equal(name, args, options):
    assert outcome(getattr(echelon, name), args, options) == outcome(PYTHON[name], args, options), (name, options)


def runs_python(name, args, options):
    """Whether a call runs Python code of the package."""
    function, found = getattr(echelon, name), []
    function(*args, **options)  # opens the context

    def note(frame, event, _):
        if event == "call" and "echelon" in frame.f_code.co_filename:
            found.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function(*args, **options)
    finally:
        sys.setprofile(None)
    return bool(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PYTHON)
def test_same_results(name, dtype, rng):
    for n in SIZES:
        x = values(rng, dtype, n)
        for options in OPTIONS.get(name, [{}, {"axis": 0}, {"axis": None, "keepdims": False}]):
            before = x.tobytes()
            args = positional(name, x)
            equal(name, args, options)
            assert x.tobytes() == before
            expected = n == 0 or dtype == "f2" and name in IN_C
            if n or name not in FLAT[1:]:
                assert runs_python(name, args, options) == expected, (n, options)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PYTHON)
def test_other_arguments(name, rng):
    x = values(rng, "f4", 30)
    for options in UNUSUAL.get(name, []):
        equal(name, positional(name, x), options)
    for args in [(), (x, x, x), (None,), ("x",), ([3.0, 1.0, 2.0],), (5.0,), (x, None), (x, -1), (x, 31), (x, 2**80),
                 (x, True), (x, 2.0), (x, np.int64(3))]:
        equal(name, args, {})


class Subclass(np.ndarray):
    """A subclass without changes."""


def unusual_arrays(rng):
    """Arrays that the extension does not support, by what they are."""
    x = rng.integers(0, 99, 24).astype("f8")
    unaligned = np.frombuffer(bytearray(65), "u1")[1:].view("f8")
    return {"subclass": x.view(Subclass), "strided": x[::2], "reversed": x[::-1], "big-endian": x.astype(">f8"),
            "bool": x > 50, "datetime64": x.astype("i8").astype("M8[s]"), "timedelta64": x.astype("m8[D]"),
            "columns": np.asfortranarray(x.reshape(4, 6)), "no dimensions": np.array(3.0), "unaligned": unaligned,
            "complex": x.astype("c16"), "object": np.array([1, 2], object), "text": np.array(["b", "a"]),
            "longlong": x.astype("longlong") if np.dtype("longlong") is not np.dtype("int64") else x[::2],
            "metadata": x.astype(np.dtype("f8", metadata={"unit": "m"})), "record": np.zeros(3, "f4,i4"),
            "no elements": x[:0], "masked": np.ma.array(x), "matrix": x.reshape(4, 6)[:, :3]}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PYTHON)
def test_unusual_arrays(name, rng):
    for kind, x in unusual_arrays(rng).items():
        try:
            args = positional(name, x)
        except TypeError:
            continue  # NumPy cannot sort it
        equal(name, args, {})
        try:
            assert runs_python(name, args, {}), kind
        except echelon.Error:
            pass
        equal(name, args, {"axis": 0})


@pytest.mark.parametrize("name", PYTHON)
def test_more_dimensions(name, rng):
    x = values(rng, "f4", 60).reshape(3, 4, 5)
    equal(name, positional(name, x), {})
    equal(name, positional(name, x), {"axis": -1})
    if name in FLAT:
        assert not runs_python(name, (x,), {})
        assert runs_python(name, (x,), {"axis": 0})


def test_two_dtypes(rng):
    for first, second in [("f4", "f8"), ("i4", "u4"), ("f8", ">f8")]:
        equal("searchsorted", (np.arange(9).astype(first), values(rng, "i2", 9).astype(second)), {})
    equal("searchsorted", (np.arange(9.0), 3.0), {})
    equal("searchsorted", (np.arange(9.0), np.zeros((2, 2))), {})


def test_read_only():
    x = np.array([3.0, 1.0, 2.0])
    x.flags.writeable = False
    for name in PYTHON:
        equal(name, positional(name, x), {})
    assert x.tolist() == [3.0, 1.0, 2.0] and echelon.sort(x).flags.writeable


def test_functions_are_described():
    for name, python in PYTHON.items():
        function = getattr(echelon, name)
        assert inspect.isbuiltin(function) and function.__name__ == name and function.__module__ == "echelon"
        assert inspect.signature(function) == inspect.signature(python)
        assert function.__doc__ == python.__doc__
        assert pickle.loads(pickle.dumps(function)) is function


def test_records_and_devices(rng):
    x = rng.random(100)
    assert not runs_python("sort", (x,), {})
    with echelon.profile() as profile:
        echelon.sort(x)
        echelon.sum(x)
    assert [call.function for call in profile.calls] == ["ech_sort", "ech_reduce_rows"]
    assert "ech_argsort" in str(echelon.explain(echelon.argsort, x))
    assert not runs_python("sort", (x,), {})
    try:
        fast.device_changed("auto")
        assert runs_python("sort", (x,), {})
    finally:
        echelon.set_device("cpu")
    assert not runs_python("sort", (x,), {})


def run(program, **environment):
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", program],
                          capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.strip()


def test_disabled():
    program = "import echelon, inspect; print(inspect.isbuiltin(echelon.sort), echelon._runtime.fast.reason)"
    assert run(program, ECHELON_FAST="0") == "False ECHELON_FAST is 0"
    assert run(program) == "True"


def test_wrong_bindings():
    """The extension rejects another layout of arrays, another interface, and a second binding."""
    assert run("""
import echelon, numpy as np, echelon_fast
from echelon._ops import fast
def bind(interface=1, dtypes=fast._DTYPES, samples=fast._samples()):
    try:
        echelon_fast.bind(interface, np.ndarray, np.empty, dtypes, samples, [], int, 3)
    except Exception as error:
        print(type(error).__name__, error)
x = np.arange(3)
address = x.__array_interface__["data"][0]
right = (x, address, (3,), x.dtype, x.flags.num)
for i, wrong in [(0, np.ma.array(x)), (1, address + 8), (2, (4,)), (2, (3, 1)), (3, np.dtype("f4")), (4, 0)]:
    bind(samples=(right, right[:i] + (wrong,) + right[i + 1:]))
bind(interface=2)
bind(dtypes=())
bind(samples=((),))
try:
    echelon_fast.function("sort", len, "sort()", "m", (0, 0), (0, 0), 0, (None,) * 12)
except ValueError as error:
    print(error)
bind()
bind()
for name, rows in [("x", (None,) * 12), ("sort", ()), ("sort", ((99, int, 0),) * 12)]:
    try:
        echelon_fast.function(name, len, "sort()", "m", (0, 0), (0, 0), 0, rows)
    except ValueError as error:
        print(error)
""", ECHELON_FAST="0").splitlines() == 6 * ["ImportError this version of NumPy has another array layout"] + [
        "ImportError the interface has version 1 instead of 2", "ValueError dtypes has another length",
        "TypeError function takes exactly 5 arguments (0 given)", "sort cannot be bound",
        "ImportError the process has bound the extension already", "there is no operation x", "sort cannot be bound",
        "code is not an ech_dtype"]


# ---- Contexts ----


def test_close_contexts(rng):
    x = rng.random(100)
    echelon.sort(x)
    key = ("cpu", contexts._Fast)
    assert key in contexts._local.contexts
    for _ in range(20):
        echelon.close_contexts()
        assert not contexts.contexts()
        assert echelon.sort(x).tobytes() == np.sort(x).tobytes()
        assert list(contexts._local.contexts) == [key]
    echelon.set_threads(1)
    equal("sort", (x,), {})
    echelon.set_threads(0)
    equal("sort", (x,), {})


def test_threads(rng):
    """Threads begin and end while others sort: their contexts are opened and closed with them."""
    gc.collect()
    x = rng.random(1500).astype("f4")
    expected, wrong = np.sort(x), []
    before = contexts.open_count()

    def work():
        for n in (100, 1500):
            for _ in range(50):
                if echelon.sort(x[:n]).tobytes() != np.sort(x[:n]).tobytes():
                    wrong.append(n)

    for _ in range(10):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
            assert echelon.sort(x).tobytes() == expected.tobytes()
        for thread in threads:
            thread.join()
    assert not wrong
    assert contexts.open_count() <= before + 1


def test_context_of_a_foreign_thread():
    """A thread that Python did not start has a new state, and therefore a new context, for each call of Python.

    The second call is that of the destructor of a thread-specific value.
    """
    x, results = np.array([3.0, 1.0, 2.0]), []

    def work(_):
        results.append((echelon.sort(x).tolist(), len(contexts.contexts())))
        if len(results) == 1:
            libc.pthread_setspecific(key, 1)
        return 0

    libc = ctypes.CDLL(None)
    callback = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(work)
    key, thread = ctypes.c_uint(), ctypes.c_ulong()
    assert libc.pthread_key_create(ctypes.byref(key), callback) == 0
    assert libc.pthread_create(ctypes.byref(thread), None, callback, None) == 0
    libc.pthread_join(thread, None)
    libc.pthread_key_delete(key)
    assert results == 2 * [([1.0, 2.0, 3.0], 1)]


def sorted_in_child(queue):
    x = np.array([3, 1, 2])
    queue.put((echelon.sort(x).tolist(), contexts.open_count(), runs_python("sort", (x,), {})))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    echelon.sort(np.arange(3))
    process = multiprocessing.get_context(method)
    queue = process.Queue()
    child = process.Process(target=sorted_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == ([1, 2, 3], 1, False)
    child.join(60)
    assert child.exitcode == 0
    assert echelon.sort(np.array([2, 1])).tolist() == [1, 2]


def test_callback_of_a_solver():
    """The operator of a solver sorts, while the context of the solver is busy."""
    sparse_linalg = pytest.importorskip("scipy.sparse.linalg")
    n, calls = 50, []
    matrix = np.diag(np.arange(1.0, n + 1))

    def multiply(v):
        calls.append(not runs_python("sort", (v.copy(),), {}))
        assert echelon.sort(v.copy()).tobytes() == np.sort(v).tobytes()
        return matrix @ v

    operator = sparse_linalg.LinearOperator((n, n), matvec=multiply, dtype="f8")
    x, info = echelon.sparse.linalg.cg(operator, np.ones(n))
    assert info == 0 and calls and all(calls)
    np.testing.assert_allclose(matrix @ x, np.ones(n), rtol=1e-4)


def test_exit():
    """Daemon threads that sort when the interpreter exits."""
    assert run("""
import threading, echelon, numpy as np
x = np.random.default_rng(1).random(5000)
def work():
    while True: echelon.sort(x), echelon.sum(x[:100])
for _ in range(3): threading.Thread(target=work, daemon=True).start()
for _ in range(200): echelon.sort(x)
print("ended")
""") == "ended"


# ---- Errors and memory ----


def test_errors_of_the_library():
    """An algorithm that does not exist: each call fails in the library, and Python raises the error."""
    text = run("""
import echelon, numpy as np
from echelon._ops import sort
x = np.arange(100.0)
for function in (echelon.sort, sort.sort):
    for _ in range(3):
        try:
            function(x)
            print("no error")
        except echelon.Error as error:
            print(type(error).__name__, error)
""", ECHELON_ALGORITHM="nonsense").splitlines()
    assert len(text) == 6 and len(set(text)) == 1 and "nonsense" in text[0], text


def test_memory_error():
    """A result that cannot be allocated."""
    assert run("""
import resource, echelon, numpy as np
x = np.zeros(1 << 28, "i1")
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 29), resource.RLIM_INFINITY))
try:
    echelon.cumulative_sum(x)
except echelon.OutOfMemoryError as error:
    print("raised")
""") == "raised"


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_no_leaks(rng):
    """10^6 calls: the memory of the process does not grow. An integer for the length of each result would be 14 MB."""
    x = rng.random(300)  # the integers up to 256 are constants
    work = [(getattr(echelon, name), positional(name, x, 300)) for name in PYTHON]
    before = None
    for i in range(1_000_000 // len(work)):
        for function, args in work:
            function(*args)
        if i == 1000:
            before = peak_bytes()
    assert peak_bytes() - before < 6 << 20


def test_references(rng):
    """The numbers of references do not change, also if a call is left to Python or raises an error."""
    x = rng.random(50)
    objects = [None, True, False, x, x.dtype, np.dtype("i8"), np.float64, np.int64, np.ndarray, np.empty, echelon.sort,
               *PYTHON.values()]
    cases = [(name, positional(name, x), options) for name in PYTHON
             for options in OPTIONS.get(name, [{}]) + UNUSUAL.get(name, [])]
    cases += [("top_k", (x, 99), {}), ("sort", (), {}), ("sort", ("x",), {}), ("max", (x[:0],), {})]
    for round_ in range(3):
        if round_ == 1:
            gc.collect()
            before = [sys.getrefcount(thing) for thing in objects]
        for name, args, options in cases:
            for _ in range(100):
                try:
                    getattr(echelon, name)(*args, **options)
                except Exception:
                    pass
    gc.collect()
    after = [sys.getrefcount(thing) for thing in objects]
    changed = [(thing, a, b) for thing, a, b in zip(objects, before, after) if abs(b - a) > 50]
    assert not changed


def test_every_operation_is_tested():
    assert {row[0] for row in operations._operations()} == set(PYTHON)


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="references are counted per thread")
def test_arrays_of_a_call_have_an_owner(rng):
    """While the lock is released, the count has a reference of the call, so that resize() in this thread fails."""
    x, done, counts = rng.random(3_000_000), [], []

    def call():
        echelon.argsort(x)
        done.append(True)

    thread = threading.Thread(target=call)
    idle = sys.getrefcount(x)
    thread.start()
    while not done:
        counts.append(sys.getrefcount(x))
    thread.join()
    passed = 1 if sys.version_info < (3, 14) else 0  # by the interpreter
    assert max(counts) >= idle + passed + 1
