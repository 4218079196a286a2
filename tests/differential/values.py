"""values.py - the twelve dtypes in NumPy, their order, and random data.

Arrays of bf16 are u16 in NumPy.  "Bits" are the elements as unsigned integers of the same size.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

np.seterr(all="ignore")


class Dtype:
    def __init__(self, name, code):
        self.name, self.code = name, code
        self.width = int(name.lstrip("iubf"))
        self.bytes = self.width // 8
        self.kind = "f" if "f" in name else name[0]
        self.bits = np.dtype(f"u{self.bytes}")
        self.storage = self.bits if name == "bf16" else np.dtype(f"{self.kind}{self.bytes}")
        self.fraction = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}.get(name)
        if self.kind == "f":
            self.infinity = ((1 << (self.width - 1 - self.fraction)) - 1) << self.fraction
            self.nan = self.infinity | 1 << (self.fraction - 1)

    def __repr__(self):
        return self.name

    def value(self, a):
        """The numbers of an array: bf16 and f16 as f32, all others unchanged."""
        if self.name == "bf16":
            return (np.asarray(a, np.uint32) << 16).astype(np.uint32).view(np.float32)
        return a.astype(np.float32) if self.name == "f16" else a

    def store(self, x):
        """Rounds numbers to this dtype, to nearest, ties to even; NaN become the canonical NaN."""
        if self.kind != "f":
            return np.asarray(x).astype(self.storage)
        x = np.asarray(x)
        if self.name == "bf16":
            u = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
            out = ((u + 0x7FFF + (u >> 16 & 1)) >> 16).astype(np.uint16)
        else:
            out = x.astype(self.storage).view(self.bits)
        return np.where(np.isnan(x), self.bits.type(self.nan), out).astype(self.bits).view(self.storage)

    def is_nan(self, a):
        if self.kind != "f":
            return np.zeros(np.shape(a), bool)
        magnitude = a.view(self.bits) & self.bits.type((1 << (self.width - 1)) - 1)
        return magnitude > self.infinity

    def rank(self, a, total=False, collapse=False):
        """The order-preserving unsigned form.  collapse: -0 is +0, and every NaN is the first NaN."""
        u = np.ascontiguousarray(a).view(self.bits)
        one = self.bits.type
        sign = one(1 << (self.width - 1))
        if self.kind == "u":
            return u.copy()
        if self.kind == "i":
            return u ^ sign
        if collapse and not total:
            u = np.where(u == sign, one(0), u)
            u = np.where(self.is_nan(a), one(self.infinity + 1), u)
        ordered = np.where(u & sign, ~u, u | sign).astype(self.bits)
        if not total:  # negative NaN, which come first, follow the others
            ordered = ordered - one((1 << self.fraction) - 1)
        return ordered.astype(self.bits)

    def equal_key(self, a):
        """Equal elements have equal keys: -0 is +0, and all NaN are equal."""
        return self.rank(a, collapse=True)

    def extreme_key(self, a, largest):
        """Keys for minimum and maximum: -0 precedes +0; a NaN wins."""
        key = self.rank(a, total=True)
        if self.kind == "f":
            end = (1 << self.width) - 1 if largest else 0
            key = np.where(self.is_nan(a), self.bits.type(end), key)
        return key

    def limits(self):
        info = np.iinfo(self.storage)
        return int(info.min), int(info.max)


NAMES = "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64".split()
DTYPES = [Dtype(name, code) for code, name in enumerate(NAMES)]
BY_NAME = {dtype.name: dtype for dtype in DTYPES}
I32, I64, U8, U32, U64, F16, BF16, F32, F64 = (
    BY_NAME[name] for name in "i32 i64 u8 u32 u64 f16 bf16 f32 f64".split())
INTEGERS = [dtype for dtype in DTYPES if dtype.kind != "f"]
FLOATS = [dtype for dtype in DTYPES if dtype.kind == "f"]
INDICES = [BY_NAME[name] for name in "i32 u32 i64 u64".split()]

SPECIALS = [0x0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, 3.0]


def special_bits(rng, dtype, n):
    """Zeros, infinities, NaN with payloads, subnormals and the largest numbers."""
    sign = rng.integers(0, 2, n, dtype=np.uint64) << np.uint64(dtype.width - 1)
    payload = rng.integers(1, 1 << dtype.fraction, n, dtype=np.uint64)
    choice = rng.integers(0, 8, n)
    infinity = np.uint64(dtype.infinity)
    u = np.choose(choice, [np.uint64(0), infinity, infinity | payload, payload, infinity - np.uint64(1),
                           np.uint64(1) + 0 * payload, np.uint64(dtype.nan), np.uint64(0)])
    return (u.astype(np.uint64) | sign).astype(dtype.bits).view(dtype.storage)


def uniform(rng, dtype, n):
    return np.frombuffer(rng.bytes(n * dtype.bytes), dtype.storage).copy()


def moderate(rng, dtype, n, scale=None):
    """Numbers near 1 for floats, small integers otherwise."""
    if dtype.kind == "f":
        scale = scale or float(rng.choice([1.0, 3.0, 100.0]))
        return dtype.store((rng.standard_normal(n) * scale).astype(np.float64 if dtype is F64 else np.float32))
    low = 0 if dtype.kind == "u" else -50
    return rng.integers(low, 51, n).astype(dtype.storage)


DISTRIBUTIONS = ("uniform", "moderate", "few", "equal", "sorted", "reversed", "nearly", "special", "mixed", "extremes",
                 "zeros", "low", "prefix")


def random_array(rng, dtype, n, distribution):
    order = lambda a: a[np.argsort(dtype.rank(a), kind="stable")]
    if distribution == "moderate":
        return moderate(rng, dtype, n)
    if distribution == "few":
        values = random_array(rng, dtype, int(rng.integers(1, 20)), rng.choice(["uniform", "moderate", "mixed"]))
        return values[rng.integers(0, len(values), n)]
    if distribution == "equal":
        return np.repeat(random_array(rng, dtype, 1, "mixed"), n)
    if distribution == "sorted":
        return order(random_array(rng, dtype, n, rng.choice(["uniform", "moderate", "few"])))
    if distribution == "reversed":
        return order(random_array(rng, dtype, n, rng.choice(["uniform", "moderate"])))[::-1].copy()
    if distribution == "nearly":
        a = order(uniform(rng, dtype, n))
        if n:
            at = rng.integers(0, n, 1 + n // 50)
            a[at] = uniform(rng, dtype, len(at))
        return a
    if distribution == "special" and dtype.kind == "f":
        return special_bits(rng, dtype, n)
    if distribution == "mixed" and dtype.kind == "f":
        a = moderate(rng, dtype, n)
        at = rng.random(n) < rng.choice([0.01, 0.3])
        a[at] = special_bits(rng, dtype, n)[at]
        return a
    if distribution == "zeros" and dtype.kind == "f":
        return (rng.integers(0, 2, n, dtype=np.uint64) << np.uint64(dtype.width - 1)).astype(dtype.bits).view(
            dtype.storage)
    if distribution in ("special", "extremes", "zeros") and dtype.kind != "f":
        low, high = dtype.limits()
        values = np.array([low, low + 1, 0, 1, high - 1, high], dtype.storage)
        return values[rng.integers(0, len(values), n)]
    if distribution == "low":  # few bits are set
        u = np.frombuffer(rng.bytes(n * dtype.bytes), dtype.bits).copy()
        for _ in range(3):
            u &= np.frombuffer(rng.bytes(n * dtype.bytes), dtype.bits)
        return u.view(dtype.storage)
    if distribution == "prefix":  # long common prefixes
        u = uniform(rng, dtype, n).view(dtype.bits)
        keep = dtype.bits.type((1 << int(rng.integers(1, dtype.width))) - 1)
        base = uniform(rng, dtype, 1).view(dtype.bits)[0]
        return ((u & keep) | (base & ~keep)).astype(dtype.bits).view(dtype.storage)
    return uniform(rng, dtype, n)
