"""Contexts: threads, fork and spawn, the end of the interpreter, callbacks, finalizers.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import echelon
import numpy as np
import pytest
from conftest import same
from echelon._arrays.numpy_family import NumPy
from echelon._runtime import context as contexts
from echelon._runtime.call import Job
from echelon._runtime.native import declared as c

on_cpu = pytest.mark.skipif(echelon.get_device() != "cpu", reason="only the CPU can be used after fork()")


def run(program, *options):
    """Runs a program with all warnings as errors; returns what it printed."""
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "error::ResourceWarning", *options, "-c", program],
                          capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert done.stderr == "", done.stderr[-2000:]
    return done.stdout


def test_many_threads(rng):
    arrays = [rng.normal(size=20_000 + 17 * i).astype("f4") for i in range(8)]
    barrier = threading.Barrier(8)

    def work(x):
        barrier.wait()
        for _ in range(5):
            same(echelon.sort(x), np.sort(x))
            same(echelon.argsort(x), np.argsort(x, kind="stable"))
        return contexts.get(echelon.get_device())

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, arrays))
    assert len({context.handle for context in found}) == 8


def test_contexts_are_closed_with_their_threads():
    gc.collect()
    before = contexts.open_count()
    ready, leave = threading.Barrier(5), threading.Event()

    def work():
        echelon.sort(np.arange(10.0))
        ready.wait()
        leave.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    ready.wait()
    assert contexts.open_count() == before + 4
    leave.set()
    for thread in threads:
        thread.join()
    assert contexts.open_count() == before


def test_close_contexts():
    echelon.sort(np.arange(3))
    before = contexts.open_count()
    echelon.close_contexts()
    assert contexts.open_count() < before
    same(echelon.sort(np.array([2, 1])), np.array([1, 2]))
    view = NumPy.view(np.array([2, 1]))
    job = Job(view)
    echelon.close_contexts()
    job.call("ech_sort", view.pointer, view.pointer, 2, view.code, None)
    same(view.array, np.array([1, 2]))


def sorted_in_child(queue):
    """Sorts in a child process and reports the result and the number of contexts."""
    queue.put((echelon.sort(np.array([3, 1, 2])).tolist(), contexts.open_count()))


@on_cpu
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method):
    echelon.sort(np.random.default_rng(1).random(200_000))  # starts the threads of the library
    process = multiprocessing.get_context(method)
    queue = process.Queue()
    child = process.Process(target=sorted_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == ([1, 2, 3], 1)
    child.join(60)
    assert child.exitcode == 0


@on_cpu
def test_fork_with_threads():
    text = run("""
import os, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import numpy as np, echelon
x = np.random.default_rng(1).random(300_000)
stop = threading.Event()
def work():
    while not stop.is_set(): echelon.sort(x)
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
for _ in range(10):
    child = os.fork()
    if child == 0:
        assert (np.diff(echelon.sort(x)) >= 0).all()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
[thread.join() for thread in threads]
print("ended")
""")
    assert text == "ended\n"


def test_gpu_after_fork(monkeypatch):
    """What a child of a process that has used a GPU sees."""
    monkeypatch.setitem(contexts._gpu, "lost", True)
    with pytest.raises(echelon.NoDeviceError, match="created by fork.*spawn"):
        contexts.Context("cuda:0")
    contexts.Context("cpu").close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
def test_state_after_fork():
    text = run("""
import os
from echelon._runtime import context
context._gpu["used"] = True
child = os.fork()
if child == 0:
    os._exit(7 if context._gpu["lost"] and not context.contexts() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert text == "7\n"


def test_exit_with_open_contexts():
    run("import echelon, numpy; echelon.sort(numpy.arange(9))")
    run("""
import echelon, numpy, threading
keep = []
def work():
    keep.append(echelon._runtime.context.get("cpu"))
    echelon.sort(numpy.arange(9))
thread = threading.Thread(target=work)
thread.start()
thread.join()
""")


@pytest.mark.parametrize("repetition", range(3))
def test_exit_with_daemon_threads_in_a_call(repetition):
    run("""
import threading, time, numpy, echelon
x = numpy.random.default_rng(1).random(400_000)
def work():
    while True: echelon.sort(x)
for _ in range(4): threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""")


def test_exit_during_callbacks():
    """A context that is busy when the interpreter exits stays open."""
    run("""
import echelon, numpy, sys
from echelon._runtime import context
echelon.sort(numpy.arange(9))
context.get("cpu").busy = True
""")


class Allocator:
    """An allocator in host memory that calls functions while it runs."""

    def __init__(self, action=lambda: None):
        self.blocks, self.action, self.calls = {}, action, 0

    def allocate(self, size, stream):
        self.calls += 1
        self.action()
        block = ctypes.create_string_buffer(size + 256)
        address = (ctypes.addressof(block) + 255) // 256 * 256
        self.blocks[address] = block
        return address

    def release(self, pointer, size, stream):
        del self.blocks[pointer]


def job_with(allocator):
    """A Job whose context uses an allocator, and a call that needs workspace."""
    x = np.random.default_rng(1).random(100_000)
    view = NumPy.view(x)
    job = Job(view)
    job.context = contexts.Context("cpu")
    job.context.set_allocator(allocator.allocate, allocator.release)
    result = job.empty(view.shape, c.ECH_I64)
    return job, lambda: job.call("ech_argsort", view.pointer, result.pointer, view.size, view.code, c.ECH_I64, None)


def test_calls_in_callbacks():
    results = []

    def action():
        results.append(echelon.sort(np.array([2, 1])).tolist())

    allocator = Allocator(action)
    job, call = job_with(allocator)
    call()
    assert allocator.calls > 0 and results == [[1, 2]] * allocator.calls
    job.context.close()
    assert allocator.blocks == {}


def test_nested_contexts():
    outer = contexts.get(echelon.get_device())
    outer.busy = True
    try:
        inner = contexts.get(echelon.get_device())
        assert inner is not outer and contexts.get(echelon.get_device()) is inner
        same(echelon.sort(np.array([2, 1])), np.array([1, 2]))
        same(echelon.sort(np.array([[2, 1]]), axis=1), np.array([[1, 2]]))
        for function in (echelon.synchronize, echelon.close_contexts, lambda: echelon.set_threads(1),
                         lambda: echelon.set_memory_limit(1)):
            with pytest.raises(echelon.Error, match="callback"):
                function()
    finally:
        outer.busy = False
    assert contexts.get(echelon.get_device()) is outer


@pytest.mark.parametrize("exception, raised", [(RuntimeError("full"), echelon.OutOfMemoryError),
                                               (KeyboardInterrupt(), KeyboardInterrupt)])
def test_exceptions_in_callbacks(exception, raised):
    def fail():
        raise exception

    job, call = job_with(Allocator(fail))
    with pytest.raises(raised) as found:
        call()
    assert found.value is exception or found.value.__cause__ is exception
    assert job.context.failure is None and not job.context.busy


def test_exception_in_release():
    allocator = Allocator()
    allocator.release = lambda *arguments: 1 / 0
    job, call = job_with(allocator)
    with pytest.raises(ZeroDivisionError):
        call()
    assert job.context.failure is None
    assert job.views[-1].array[0] == np.argmin(job.views[0].array)


def test_context_is_released_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        before = contexts.open_count()
        context = contexts.Context("cpu")
        context.set_allocator(Allocator().allocate, Allocator().release)
        assert contexts.open_count() == before + 1
        del context
        assert contexts.open_count() == before
    finally:
        gc.enable()


def test_finalizer_in_a_call():
    """A finalizer that makes calls while another call is prepared."""
    results = []

    class Last:
        def __del__(self):
            results.append(echelon.sort(np.array([2, 1])).tolist())

    for _ in range(200):
        cycle = [Last()]
        cycle.append(cycle)
        del cycle
        x = np.array([[3, 1], [2, 4]])
        same(echelon.sort(x, axis=0), np.sort(x, axis=0))
    gc.collect()
    assert results == [[1, 2]] * 200


@pytest.mark.parametrize("call, error, text", [
    (lambda: echelon.set_threads(-1), echelon.ArgumentError, "threads is -1"),
    (lambda: echelon.set_threads(2**31), echelon.ArgumentError, "threads is 2147483648"),
    (lambda: echelon.set_threads(1.5), echelon.DTypeError, "threads is 1.5"),
    (lambda: echelon.set_memory_limit(2**64), echelon.ArgumentError, "size is 1844"),
    (lambda: echelon.set_memory_limit("1"), echelon.DTypeError, "size is '1'"),
    (lambda: echelon.set_device(0), echelon.DTypeError, "device is int"),
    (lambda: echelon.set_device("cpu\0"), echelon.ArgumentError, "device is"),
    (lambda: echelon.set_device("gpu"), echelon.ArgumentError, "gpu"),
])
def test_errors(call, error, text):
    device = echelon.get_device()
    with pytest.raises(error, match=text):
        call()
    assert echelon.get_device() == device


def test_settings_reach_other_threads():
    echelon.set_memory_limit(123 << 20)
    echelon.set_threads(1)
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: echelon.sort(np.array([2, 1])).tolist()).result() == [1, 2]
    finally:
        echelon.set_memory_limit(0)
        echelon.set_threads(0)
