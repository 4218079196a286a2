"""contest.py - the library through ctypes, and calls of several libraries that alternate; for the scripts that compare
Echelon with libraries of Python.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import gc
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from differential.library import Library  # noqa: E402


class Echelon:
    """A context.  Constants and structs are those of lib: self.lib.U32 is ECH_U32."""

    def __init__(self, path, device, threads=0):
        self.lib = Library(path)
        place = ctypes.c_void_p()
        self.ctx = None
        self.lib.call("ech_open", ctypes.addressof(place), device.encode())
        self.ctx = place.value
        if threads:
            self.call("ech_set_threads", threads)
        self.version = self.lib.raw("ech_version").decode()

    def call(self, name, *arguments):
        self.lib.call(name, self.ctx, *arguments, ctx=self.ctx)

    def function(self, name):
        """The function itself, for calls in measured time: arguments are numbers, the result is a status."""
        function, _ = self.lib.functions[name]
        ctx = self.ctx

        def call(*arguments):
            if function(ctx, *arguments):
                sys.exit(f"{name}: {self.lib.raw('ech_error', ctx).decode()}")

        return call


def module(name):
    """A module, or None if it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return None


def alternate(works, least=5, most=200, seconds=0.3, clocks=None, before=None, burst=50e-6):
    """Milliseconds per call of each work, ascending.  The works run alternately; short calls are repeated for `burst`
    seconds, and count as one.  Each work runs `most` times, or until it has run `least` times and has taken `seconds`;
    twice if it takes more than that.  before(work) is called before each call, outside of the measured time; calls are
    then not repeated.  clocks: by name, functions that return seconds; the default is elapsed time."""
    times, repeats, remaining = {name: [] for name in works}, {}, dict(works)
    gc.disable()
    while remaining:
        for name, work in list(remaining.items()):
            count, found = repeats.get(name, 1), times[name]
            clock = (clocks or {}).get(name, time.perf_counter)
            if before is not None:
                before(work)
            start = clock()
            for _ in range(count):
                result = work()
            one = (clock() - start) / count
            del result
            found.append(one)
            repeats[name] = max(1, int(burst / max(1e-9, min(found)))) if before is None else 1
            enough = 2 if one > seconds else least
            if len(found) >= most or (len(found) >= enough and len(found) * one * count >= seconds):
                del remaining[name]
    gc.enable()
    return {name: [1e3 * t for t in sorted(found)] for name, found in times.items()}


def summary(times):
    """The minimum and the median."""
    return times[0], statistics.median(times)
