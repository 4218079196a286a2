"""strings_python.py - measures ech_argsort_strings() on the CPU, NumPy, polars and pyarrow on the same strings.

    bench/strings_python.py build/src/libechelon.so                  >strings.csv
    bench/strings_python.py build/src/libechelon.so 1000000 url      one number of strings, one distribution

Prints CSV rows: distribution, strings, bytes, threads, library, milliseconds (the median of five runs, after one that
is not counted), million strings per second, and whether the permutation is the one of ech_argsort_strings().  The
permutation is unique if the sort is stable; for other sorts the sorted strings are compared.  polars is measured in a
process of its own for each number of threads.  NumPy sorts strings of fixed width; its time excludes the conversion.
Libraries that are not installed are omitted.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SIZES = [10_000, 1_000_000, 5_000_000]
ECH_I64, ECH_U32, RUNS = 3, 6, 5


def words(rng, n):
    lengths = rng.integers(5, 21, n)
    ends = np.cumsum(lengths)
    text = rng.integers(97, 123, ends[-1], dtype=np.uint8).tobytes()
    return [text[e - k:e] for e, k in zip(ends.tolist(), lengths.tolist())]


def url(rng, n):
    hosts = [b"https://www.example.com/", b"https://www.example.org/articles/2026/november/",
             b"https://docs.example.net/en/latest/", b"http://localhost:8080/"]
    parts = [b"index", b"news", b"about", b"item?id=", b"reference/api/", b"search?query=", b"users/profile/"]
    which, part, number = rng.integers(0, 4, n), rng.integers(0, 7, n), rng.integers(0, n, n)
    return [hosts[a] + parts[b] + b"%d" % c for a, b, c in zip(which, part, number)]


def numbers(rng, n):
    return [b"%d" % v for v in rng.integers(0, 10**9, n)]


def repeated(rng, n):
    return [b"one repeated string of 33 bytes.."] * n


def uuid(rng, n):
    text = rng.bytes(16 * n).hex()
    return [f"{t[:8]}-{t[8:12]}-{t[12:16]}-{t[16:20]}-{t[20:]}".encode()
            for t in (text[i:i + 32] for i in range(0, 32 * n, 32))]


def zipf(rng, n):
    """Words of a vocabulary, with the frequencies of Zipf's law: /usr/share/dict/words, or random ones."""
    try:
        with open("/usr/share/dict/words", "rb") as file:
            vocabulary = file.read().split()
    except OSError:
        letters = np.frombuffer(b"etaoinshrdlucmfwypvbgkjqxz", np.uint8)
        vocabulary = [letters[np.minimum(rng.zipf(1.3, rng.integers(2, 13)), 26) - 1].tobytes() for _ in range(50_000)]
    rng.shuffle(vocabulary)
    ranks = np.minimum(rng.zipf(1.2, n), len(vocabulary)) - 1
    return [vocabulary[r] for r in ranks]


DISTRIBUTIONS = [words, url, numbers, repeated, uuid, zipf]


def make(name, n):
    strings = next(d for d in DISTRIBUTIONS if d.__name__ == name)(np.random.default_rng(n), n)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([len(s) for s in strings], out=offsets[1:])
    return strings, offsets, np.frombuffer(b"".join(strings), np.uint8)


def measure(work):
    result, times = work(), []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return result, statistics.median(times)


def echelon(path, offsets, data, threads):
    library = ctypes.CDLL(path)
    context = ctypes.c_void_p()
    library.ech_error.restype = ctypes.c_char_p
    if library.ech_open(ctypes.byref(context), b"cpu"):
        sys.exit(library.ech_error(None).decode())
    library.ech_set_threads(context, threads)
    n = len(offsets) - 1
    indices = np.empty(n, np.uint32)
    pointer = [a.ctypes.data_as(ctypes.c_void_p) for a in (offsets, data, indices)]

    def work():
        if library.ech_argsort_strings(context, *pointer, ctypes.c_size_t(n), ctypes.c_size_t(len(data)), ECH_I64,
                                       ECH_U32, None):
            sys.exit(library.ech_error(context).decode())
        return indices

    result, ms = measure(work)
    library.ech_close(context)
    return result.copy(), ms


def polars_child(name, n):
    """Runs in a process with POLARS_MAX_THREADS: prints the time, then writes the permutation."""
    import polars
    import pyarrow
    strings, offsets, data = make(name, n)
    array = pyarrow.LargeStringArray.from_buffers(n, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data))
    series = polars.from_arrow(array)
    result, ms = measure(series.arg_sort)
    sys.stdout.buffer.write(b"%s %f\n" % (polars.__version__.encode(), ms) + result.to_numpy().astype(np.uint32).tobytes())


def row(name, n, data, threads, library, ms, same):
    print(f"{name},{n},{len(data)},{threads},{library},{ms:.3f},{n / ms * 1e-3:.2f},{same}", flush=True)


def one(path, name, n):
    strings, offsets, data = make(name, n)
    wanted, ms = echelon(path, offsets, data, 1)
    row(name, n, data, 1, "echelon", ms, "")
    if os.cpu_count() > 1:
        result, ms = echelon(path, offsets, data, 2)
        row(name, n, data, 2, "echelon", ms, np.array_equal(result, wanted))

    def same(found):
        return all(strings[i] == strings[j] for i, j in zip(found, wanted))

    for threads in (1, 2):
        done = subprocess.run([sys.executable, __file__, "--polars", name, str(n)], capture_output=True,
                              env={**os.environ, "POLARS_MAX_THREADS": str(threads)}, check=False)
        if done.returncode == 0:
            head, result = done.stdout.split(b"\n", 1)
            version, ms = head.decode().split()
            row(name, n, data, threads, f"polars-{version}", float(ms), same(np.frombuffer(result, np.uint32)))
    try:
        import pyarrow
        import pyarrow.compute
        array = pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), n,
                                                      [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)])
        result, ms = measure(lambda: pyarrow.compute.array_sort_indices(array))
        row(name, n, data, 1, f"pyarrow-{pyarrow.__version__}", ms, same(result.to_numpy()))
    except ImportError:
        pass
    fixed = np.array(strings, "S")
    result, ms = measure(lambda: np.argsort(fixed, kind="stable"))
    row(name, n, data, 1, f"numpy-S-{np.__version__}", ms, np.array_equal(result, wanted))
    if n <= 1_000_000:
        objects = np.array(strings, object)
        result, ms = measure(lambda: np.argsort(objects, kind="stable"))
        row(name, n, data, 1, f"numpy-object-{np.__version__}", ms, np.array_equal(result, wanted))


def main():
    if sys.argv[1:2] == ["--polars"]:
        return polars_child(sys.argv[2], int(sys.argv[3]))
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print("distribution,n,bytes,threads,library,ms,Mstrings/s,same")
    for n in [int(sys.argv[2])] if len(sys.argv) > 2 else SIZES:
        for name in sys.argv[3:] or [d.__name__ for d in DISTRIBUTIONS]:
            one(sys.argv[1], name, n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
