"""Matrices of bits that NumPy writes, what it makes of them, and what it reads; run by numpy_gf2.sh."""

import subprocess
import sys

import numpy as np

random = np.random.default_rng(7)
failures = []


def echelon(*words):
    return subprocess.run(["echelon", "gf2", *words], check=True, stdout=subprocess.PIPE).stdout


def expect(truth, *what):
    if not truth:
        failures.append(what)


def reduce(a):
    """The reduced echelon form, its pivots, and the transform."""
    rows, cols = a.shape
    both = np.concatenate([a, np.eye(rows, dtype=np.uint8)], axis=1)
    pivots = []
    for j in range(cols):
        ones = np.flatnonzero(both[len(pivots):, j])
        if len(ones) == 0:
            continue
        r, i = len(pivots), len(pivots) + ones[0]
        both[[r, i]] = both[[i, r]]
        others = np.flatnonzero(both[:, j])
        both[others[others != r]] ^= both[r]
        pivots.append(j)
        if len(pivots) == rows:
            break
    return both[:, :cols], pivots, both[:, cols:]


def check_reading(a):
    rows, cols = a.shape
    want = echelon("convert", "a.npy", "--format", "pbm")
    pbm = b"P4\n%d %d\n" % (cols, rows) + np.packbits(a, axis=1).tobytes()
    expect(want == pbm, a.shape, "pbm")
    for dtype in ("?", "<i8", ">i2", "<u4"):
        for order in "CF":
            np.save("b.npy", np.asarray(a.astype(dtype), order=order))
            expect(echelon("convert", "b.npy", "--format", "pbm") == want, a.shape, dtype, order)
    for order in ("little", "big"):
        packed = np.packbits(a, axis=1, bitorder=order)
        np.save("p.npy", packed)
        words = ("p.npy", "--packed", f"{order}:{cols}")
        expect(echelon("convert", *words, "--format", "pbm") == want, a.shape, order, "read")
        echelon("convert", "a.npy", "-o", "q.npy", "--format", f"npy-{order}")
        expect(np.array_equal(np.load("q.npy"), packed), a.shape, order, "written")
    echelon("convert", *words, "-o", "b.npy", "--format", "npy")
    expect(np.array_equal(np.load("b.npy"), a), a.shape, "unpacked")


def check_elimination(a):
    e, pivots, t = reduce(a)
    said = echelon("rref", "a.npy", "-o", "e.npy", "--transform", "t.npy", "--pivots")
    expect(np.array_equal(np.load("e.npy"), e), a.shape, "rref")
    expect(np.array_equal(np.load("t.npy"), t), a.shape, "transform")
    expect([int(word) for word in said.split()] == pivots, a.shape, "pivots")
    expect(int(echelon("rank", "a.npy")) == len(pivots), a.shape, "rank")
    echelon("nullspace", "a.npy", "-o", "k.npy")
    kernel = np.load("k.npy")
    expect(kernel.shape == (a.shape[1] - len(pivots), a.shape[1]), a.shape, "dimension")
    expect(not (a.astype(int) @ kernel.T % 2).any(), a.shape, "kernel")
    x = random.integers(0, 2, (a.shape[1], 5), dtype=np.uint8)
    b = (a.astype(int) @ x % 2).astype(np.uint8)
    np.save("x.npy", x)
    np.save("b.npy", b)
    echelon("mul", "a.npy", "x.npy", "-o", "ax.npy")
    expect(np.array_equal(np.load("ax.npy"), b), a.shape, "mul")
    echelon("solve", "a.npy", "b.npy", "-o", "x.npy")
    expect(np.array_equal(a.astype(int) @ np.load("x.npy") % 2, b), a.shape, "solve")


count = 0
for rows, cols in ((1, 1), (3, 8), (8, 9), (20, 63), (64, 64), (65, 70), (90, 40), (100, 257)):
    for density in (0.05, 0.5):
        bits = (random.random((rows, cols)) < density).astype(np.uint8)
        np.save("a.npy", bits)
        check_reading(bits)
        check_elimination(bits)
        count += 1
try:
    import scipy.io
    import scipy.sparse

    scipy.io.mmwrite("s.mtx", scipy.sparse.coo_matrix(bits), field="pattern", symmetry="general")
    expect(echelon("convert", "s.mtx", "--format", "pbm") ==
           echelon("convert", "a.npy", "--format", "pbm"), "mtx read")
    echelon("convert", "a.npy", "-o", "t.mtx")
    expect(np.array_equal(scipy.io.mmread("t.mtx").toarray(), bits), "mtx written")
except ImportError:
    pass
for what in failures:
    print("FAIL", what)
print(count, "matrices")
sys.exit(bool(failures))
