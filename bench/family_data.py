"""family_data.py - the inputs of family_python.py.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

NAMES = {"u32": "uint32", "u64": "uint64", "f32": "float32", "f64": "float64"}

# ---- Numbers ----


def numbers_of(dtype, dist, n, seed=1):
    """random: uniform bits, or floats in [0, 1).  few: 16 values.  zipf: exponent 1.1."""
    rng, kind = np.random.default_rng(seed), np.dtype(NAMES[dtype])
    if dist == "few":
        keys = rng.integers(0, 16, n).astype(kind)
    elif dist == "zipf":
        keys = np.minimum(rng.zipf(1.1, n), 2**31).astype(kind)
    elif kind.kind == "f":
        keys = rng.random(n, kind)
    else:
        keys = rng.integers(0, 2**(8 * kind.itemsize), n, kind)
    return np.sort(keys) if dist == "sorted" else keys


def distinct(dtype, n, seed=1):
    """n different sorted keys, of 2 n or more."""
    rng, kind = np.random.default_rng(seed), np.dtype(NAMES[dtype])
    steps = rng.integers(1, 4, n)
    return np.cumsum(steps).astype(kind)


# ---- Strings ----


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


def zipf_words(rng, n):
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


STRINGS = [words, url, numbers, repeated, uuid, zipf_words]


def strings_of(name, n):
    """The strings, and as in Apache Arrow: their offsets and bytes."""
    strings = next(d for d in STRINGS if d.__name__ == name)(np.random.default_rng(n), n)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([len(s) for s in strings], out=offsets[1:])
    return strings, offsets, np.frombuffer(b"".join(strings), np.uint8)
