"""Strings in the form of Arrow, offsets and bytes, from string views, arrays of NumPy and Python objects.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .._runtime.errors import DTypeError

_BATCH = 1 << 22  # bytes that one step gathers, which limits the memory for their positions


def offsets_of(lengths):
    """The offsets [n + 1] of strings with these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def from_views(views, buffers, lengths):
    """(offsets, bytes) of string views: [n, 4] i32 as in Arrow; buffers are arrays of bytes.

    lengths: [n], zero for nulls. A view of up to 12 bytes contains them; a longer one has a prefix, the number of a
    buffer and the position in it.
    """
    offsets = offsets_of(lengths)
    data = np.empty(offsets[-1], np.uint8)
    rows = np.flatnonzero((lengths > 0) & (lengths <= 12))
    _gather(data, views.view(np.uint8).reshape(-1), offsets[rows], 16 * rows + 4, lengths[rows])
    rows = np.flatnonzero(lengths > 12)
    numbers = views[rows, 2]
    for number in np.unique(numbers):
        chosen = rows[numbers == number]
        _gather(data, buffers[number], offsets[chosen], views[chosen, 3].astype(np.int64), lengths[chosen])
    return offsets, data


def _gather(data, source, targets, starts, lengths):
    """Copies source[starts[i]:][:lengths[i]] to data[targets[i]:] for each i."""
    ends = np.cumsum(lengths, dtype=np.int64)
    first = 0
    while first < len(lengths):
        done = ends[first] - lengths[first]
        last = max(first + 1, int(np.searchsorted(ends, done + _BATCH, "right")))
        part = slice(first, last)
        places = np.arange(ends[last - 1] - done) - np.repeat(ends[part] - lengths[part] - done, lengths[part])
        data[places + np.repeat(targets[part], lengths[part])] = source[places + np.repeat(starts[part], lengths[part])]
        first = last


def from_fixed(array):
    """(offsets, bytes) of an array of NumPy with text of a fixed width, in UTF-8."""
    encoded = np.ascontiguousarray(np.char.encode(array, "utf-8"))
    width = encoded.dtype.itemsize
    lengths = np.char.str_len(encoded).astype(np.int64)
    matrix = encoded.view(np.uint8).reshape(len(array), width)
    return offsets_of(lengths), matrix[np.arange(width) < lengths[:, None]]


def from_objects(objects, name):
    """(offsets, bytes, valid) of str, bytes and missing values; valid is None if there are no missing values."""
    kinds = {type(value) for value in objects}
    text, binary = [any(issubclass(kind, base) for kind in kinds) for base in (str, bytes)]
    if text and binary:
        raise DTypeError(f"{name} contains both str and bytes, which cannot be compared")
    base = bytes if binary else str
    missing = {kind for kind in kinds if not issubclass(kind, base)}
    if missing:
        for value in objects:
            if type(value) in missing and not is_missing(value):
                raise DTypeError(f"{name} contains {value!r}, which is not a string, a number or a missing value")
    valid = np.fromiter((type(value) not in missing for value in objects), bool, len(objects)) if missing else None
    encoded = [b"" if type(value) in missing else value if binary else value.encode("utf-8", "surrogatepass")
               for value in objects]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return offsets_of(lengths), np.frombuffer(b"".join(encoded), np.uint8), valid


def is_missing(value):
    """Whether an object is None, NaN, or the missing value of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def is_text(objects):
    """Whether a list or an array of objects contains strings."""
    for value in objects:
        if isinstance(value, (str, bytes)):
            return True
        if not is_missing(value):
            return False
    return len(objects) > 0
