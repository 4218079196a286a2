"""Part: the elements of a column in host memory as arrays of NumPy, read from Arrow arrays.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .._runtime import cuda
from .._runtime.errors import ArgumentError, DTypeError, UnsupportedError
from .._runtime.native import declared as c
from . import text
from .capsules import array_at

_PRIMITIVE = dict(zip("cCsSiIlLefg", ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")))
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}


class Part:
    """The elements of a column.

    values   [n]; [n, width] of uint8 for kinds other than ECH_KEY_DTYPE; None for strings
    offsets, data   of strings, as in Arrow
    bitmap, bit     an array of bytes or None, and the number of the first bit: 1 means that the element is valid
    view     the View of elements in GPU memory, whose bitmap is a DeviceArray; otherwise None
    kind     an ech_key_kind
    time     the dtype of NumPy that the values have as times, or None
    coded    whether the values are codes or ranks of other values, whose order they have
    """

    __slots__ = ("n", "values", "offsets", "data", "bitmap", "bit", "kind", "time", "coded", "view")

    def __init__(self, n, values=None, offsets=None, data=None, kind=c.ECH_KEY_DTYPE, time=None, coded=False):
        self.n, self.values, self.offsets, self.data, self.kind, self.time = n, values, offsets, data, kind, time
        self.bitmap, self.bit, self.coded, self.view = None, 0, coded, None

    def valid(self):
        """[n] of bool, or None if all elements are valid."""
        if self.bitmap is None:
            return None
        return bits(self.bitmap if self.view is None else self.bitmap.to_numpy(), self.bit, self.n)

    def mark(self, valid):
        """Sets the bitmap from [n] of bool, or None."""
        self.bit, self.bitmap = 0, None
        if valid is not None and not valid.all():
            self.bitmap = np.packbits(valid, bitorder="little")
        return self

    def simplify(self):
        """Drops a bitmap without nulls."""
        if self.bitmap is not None and self.valid().all():
            self.bitmap, self.bit = None, 0
        return self


def bits(bitmap, first, n):
    """[n] of bool from a bitmap."""
    start, stop = first // 8, (first + n + 7) // 8
    return np.unpackbits(bitmap[start:stop], bitorder="little")[first % 8:first % 8 + n].view(bool)


def time_of(form):
    """The dtype of NumPy for the format of a time, or None."""
    if form in ("tdD", "tdm"):
        return np.dtype("M8[D]" if form == "tdD" else "M8[ms]")
    if form[:2] == "ts" and form[3:4] == ":":
        return np.dtype(f"M8[{_UNITS[form[2]]}]")
    return np.dtype(f"m8[{_UNITS[form[2]]}]") if form[:2] in ("tt", "tD") else None


def decode(chunks, name="x"):
    """The Part of the Arrow arrays of a column; at least one."""
    if any(chunk.device != "cpu" for chunk in chunks):
        return _on_device(chunks, name)
    if chunks[0].dictionary is not None:
        return _dictionaries(chunks, name)
    return joined([_with_nulls(_plain(chunk, name), chunk) for chunk in chunks])


def _on_device(chunks, name):
    """The Part of numbers in GPU memory. The legacy default stream waits for the array's event."""
    chunk, dtype = chunks[0], _PRIMITIVE.get(chunks[0].format)
    if len(chunks) > 1 or dtype is None or chunk.dictionary is not None:
        raise UnsupportedError(f"{name} is an Arrow array of format {chunk.format!r} in GPU memory; only numbers in "
                               "one chunk are supported there")
    from .device_array import DeviceArray
    from .device_family import DEVICE
    if chunk.event:
        cuda.delay(chunk.device, 0, chunk.event)
    address = chunk.buffers[1] and chunk.buffers[1] + chunk.offset * int(dtype[1])
    part = Part(chunk.length)
    part.view = DEVICE.view(DeviceArray(address, (chunk.length,), None, dtype, chunk.device, chunk.owner, True), name)
    if chunk.validity:
        part.bit, size = chunk.offset, (chunk.offset + chunk.length + 7) // 8
        part.bitmap = DeviceArray(chunk.validity, (size,), None, "u1", chunk.device, chunk.owner, True)
    return part


def _with_nulls(part, chunk):
    if chunk.format != "n" and chunk.validity:
        part.bitmap = array_at(chunk.validity, ((chunk.offset + chunk.length + 7) // 8,), "u1", chunk.owner)
        part.bit = chunk.offset
    return part.simplify()


def _plain(chunk, name):
    form, n, start, owner, buffers = chunk.format, chunk.length, chunk.offset, chunk.owner, chunk.buffers
    time = time_of(form)
    dtype = "i4" if form in ("tdD", "tts", "ttm") else "i8" if time is not None else _PRIMITIVE.get(form)
    if dtype is not None:
        values = array_at(buffers[1] and buffers[1] + start * int(dtype[1]), (n,), dtype, owner)
        return Part(n, values if values.flags.aligned else values.copy(), time=time)
    if form == "b":
        return Part(n, bits(array_at(buffers[1], ((start + n + 7) // 8,), "u1", owner), start, n))
    if form == "n":
        return Part(n, np.zeros(n, np.int8)).mark(np.zeros(n, bool))
    if form in ("u", "z", "U", "Z"):
        return _strings(n, start, 8 if form.isupper() else 4, buffers, owner)
    if form in ("vu", "vz"):
        return _views(chunk)
    width, kind = _width_of(form, name)
    if width == 0:
        return Part(n, np.zeros((n, 1), np.uint8), kind=kind)  # equal elements; the library needs a width
    return Part(n, array_at(buffers[1] and buffers[1] + start * width, (n, width), "u1", owner), kind=kind)


def _width_of(form, name):
    """The width and the kind of opaque elements: decimals and binary of a fixed size."""
    if form[:2] == "w:":
        return int(form[2:]), c.ECH_KEY_BYTES
    if form[:2] == "d:":
        digits = form[2:].split(",")
        return (int(digits[2]) if len(digits) > 2 else 128) // 8, c.ECH_KEY_SIGNED
    if form in ("_pli128", "_plu128"):  # 128-bit integers of polars
        return 16, c.ECH_KEY_SIGNED if form[3] == "i" else c.ECH_KEY_UNSIGNED
    raise DTypeError(f"{name} is an Arrow array of format {form!r}; numbers, bool, times, decimals, strings and binary "
                     "are supported")


def _strings(n, start, size, buffers, owner):
    if not buffers[1] or n == 0:
        return Part(n, offsets=np.zeros(1, f"i{size}"), data=np.zeros(0, np.uint8))
    offsets = array_at(buffers[1] + start * size, (n + 1,), f"i{size}", owner)
    offsets = offsets if offsets.flags.aligned else offsets.copy()
    return Part(n, offsets=offsets, data=array_at(buffers[2], (int(offsets[-1]),), "u1", owner))


def _views(chunk):
    n, start, owner, buffers = chunk.length, chunk.offset, chunk.owner, chunk.buffers
    views = array_at(buffers[1] and buffers[1] + 16 * start, (n, 4), "i4", owner)
    lengths = views[:, 0].astype(np.int64)
    if chunk.validity:
        lengths[~bits(array_at(chunk.validity, ((start + n + 7) // 8,), "u1", owner), start, n)] = 0
    count = len(buffers) - 3
    sizes = array_at(buffers[-1], (count,), "i8", owner)
    variadic = [array_at(buffers[2 + i], (int(sizes[i]),), "u1", owner) for i in range(count)]
    offsets, data = text.from_views(views, variadic, lengths)
    return Part(n, offsets=offsets, data=data)


def _dictionaries(chunks, name):
    """The codes of an ordered dictionary; otherwise the ranks of the values in all dictionaries of the column."""
    codes = [_with_nulls(_plain(chunk, name), chunk) for chunk in chunks]
    for part in codes:
        part.coded = True
    if chunks[0].ordered and len(chunks) == 1:
        return codes[0]
    values = [decode([chunk.dictionary], name) for chunk in chunks]
    if chunks[0].ordered:
        if any(_contents(part) != _contents(values[0]) for part in values[1:]):
            raise ArgumentError(f"{name} has chunks whose ordered dictionaries differ; unify them first")
        return joined(codes)
    ranks, base = ranks_of(joined(values)), 0
    for part, dictionary in zip(codes, values):
        valid = part.valid()
        places = part.values.astype(np.int64) + base
        if valid is not None:
            places[~valid] = 0
        part.values = ranks[places] if len(ranks) else np.zeros(part.n, np.int32)
        known = part.values >= 0
        part.mark(known if valid is None else known & valid)
        base += dictionary.n
    return joined(codes)


def _contents(part):
    """The elements of a Part as an object that can be compared."""
    valid = part.valid()
    return as_bytes(part), None if valid is None else valid.tolist()


def ranks_of(part):
    """[n] of int32: equal values have equal ranks, and nulls have rank -1."""
    if part.values is not None and part.values.ndim == 1:
        values = part.values
    else:
        values = as_bytes(part)
        if part.kind in (c.ECH_KEY_SIGNED, c.ECH_KEY_UNSIGNED):
            signed = part.kind == c.ECH_KEY_SIGNED
            values = [int.from_bytes(value, "little", signed=signed) for value in values]
    if isinstance(values, list):
        order = {value: rank for rank, value in enumerate(sorted(set(values)))}
        ranks = np.fromiter((order[value] for value in values), np.int32, len(values))
    else:
        ranks = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int32)
    valid = part.valid()
    if valid is not None:
        ranks[~valid] = -1
    return ranks


def as_bytes(part):
    """The strings, or the opaque elements, as a list of bytes."""
    if part.values is not None:
        return [row.tobytes() for row in part.values]
    data, offsets = part.data.tobytes(), part.offsets.tolist()
    return [data[first:last] for first, last in zip(offsets, offsets[1:])]


def joined(parts):
    """One Part from those of the chunks of a column."""
    if len(parts) == 1:
        return parts[0]
    first, n = parts[0], sum(part.n for part in parts)
    whole = Part(n, kind=first.kind, time=first.time, coded=first.coded)
    if first.values is not None:
        whole.values = np.concatenate([part.values for part in parts])
    else:
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        whole.offsets = text.offsets_of(lengths)
        whole.data = np.concatenate([part.data[int(part.offsets[0]):int(part.offsets[-1])] for part in parts])
    if any(part.bitmap is not None for part in parts):
        whole.mark(np.concatenate([np.ones(part.n, bool) if part.bitmap is None else part.valid() for part in parts]))
    return whole


def empty(form, name):
    """The Part of a column without arrays."""
    time = time_of(form)
    if form in ("u", "z", "U", "Z", "vu", "vz"):
        return Part(0, offsets=np.zeros(1, np.int64), data=np.zeros(0, np.uint8))
    if time is not None or form in _PRIMITIVE:
        return Part(0, np.zeros(0, "i8" if time is not None else _PRIMITIVE[form]), time=time)
    if form in ("b", "n"):
        return Part(0, np.zeros(0, bool))
    width, kind = _width_of(form, name)
    return Part(0, np.zeros((0, max(width, 1)), np.uint8), kind=kind)
