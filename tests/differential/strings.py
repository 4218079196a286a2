"""strings.py - sorts of strings, compared with sorted() of Python.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .values import INDICES

NAMES = ("ech_argsort_strings", "ech_strings_workspace", "ech_strings_explain")


def text(t, n):
    """Random strings: short ones, words from a list, common prefixes, few different bytes."""
    kind = t.between(0, 4)
    t.note(kind=kind)
    alphabet = t.pick([b"\0\1", b"a", b"ab", b"0123456789", bytes(range(256))])
    letters = np.frombuffer(alphabet, np.uint8)
    most = t.pick([0, 3, 9, 30])
    prefix = t.rng.bytes(t.pick([0, 1, 6, 7, 8, 40, 1000])) if n < 2000 else b""

    def word():
        return letters[t.rng.integers(0, len(letters), t.rng.integers(0, most + 1))].tobytes()

    if kind == 0:
        return [prefix] * n
    if kind == 1:
        words = [word() for _ in range(20)] or [b""]
        return [words[i] for i in t.rng.integers(0, len(words), n)]
    if kind == 2:
        some = [prefix + word() for _ in range(5)]
        return [some[i] + word() for i in t.rng.integers(0, len(some), n)]
    if kind == 3:
        return [alphabet[:1] * int(k) for k in t.rng.integers(0, 60, n)]
    return [word() for _ in range(n)]


@operation("argsort_strings", *NAMES, weight=2)
def argsort_strings(t):
    n, index, wide = t.size(most=30_000), t.pick(INDICES), t.pick(INDICES)
    strings = text(t, n)
    start, after = t.between(0, 9), t.between(0, 9)
    fields = {"descending": int(t.flag()), "nulls_first": int(t.flag())}
    valid = np.ones(n, bool)
    if t.flag(0.4):
        offset = t.between(0, 40)
        bits = t.rng.random(offset + n) < t.pick([0.0, 0.1, 0.9, 1.0])
        valid = bits[offset:]
        packed = np.packbits(bits, bitorder="little")
        fields.update(validity=t.put(packed if len(packed) else np.zeros(1, np.uint8)).p, validity_offset=offset)
    t.note(index=index, offsets=wide, start=start, **fields)
    offsets = np.cumsum([start] + [len(s) for s in strings]).astype(wide.storage)
    data = np.frombuffer(b"x" * start + b"".join(strings) + b"x" * after, np.uint8)
    positions = [i for i in range(n) if valid[i]]
    rank = {s: r for r, s in enumerate(sorted({strings[i] for i in positions}, reverse=bool(fields["descending"])))}
    positions.sort(key=lambda i: rank[strings[i]])
    nulls = [i for i in range(n) if not valid[i]]
    wanted = np.array(nulls + positions if fields["nulls_first"] else positions + nulls, index.storage)
    options = t.struct("ech_strings_options", **fields)
    plain = (n, len(data), wide.code, index.code, t.address(options))
    options.algorithm = t.algorithm(NAMES[2], *plain)
    for name, value in t.work(NAMES[1], *plain).items():
        setattr(options, name, value)
    t.threads()
    indices = t.out(n, index.storage)
    t.call(NAMES[0], t.put(offsets).p, t.put(data).p, indices.p, *plain)
    t.same("indices", indices.a, wanted)
