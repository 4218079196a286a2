"""calls.py - contexts, devices, memory, names and the functions that change a context.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes

import numpy as np

from .case import operation
from .values import DTYPES, NAMES

ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)


@operation("names", "ech_status_name", "ech_dtype_bytes", "ech_dtype_name", "ech_dtype_from_name", "ech_version",
           "ech_version_number", "ech_device_count", "ech_device_get", "ech_method_name", "ech_precond_name",
           "ech_factor_name", weight=0.1)
def names(t):
    raw = t.lib.raw
    dtype = t.pick(DTYPES)
    t.equal("bytes", raw("ech_dtype_bytes", dtype.code), dtype.bytes)
    t.equal("name", raw("ech_dtype_name", dtype.code), dtype.name.encode())
    t.equal("dtype", raw("ech_dtype_from_name", dtype.name.encode()), dtype.code)
    other = bytes(t.rng.choice(list(b"abcfiu123468"), t.between(0, 4)).tolist())
    t.equal("dtype of a random name", raw("ech_dtype_from_name", other),
            NAMES.index(other.decode()) if other.decode() in NAMES else -1)
    code = t.pick([-1, 12, t.between(13, 2**31 - 1)])
    t.equal("bytes of an unknown dtype", raw("ech_dtype_bytes", code), 0)
    t.equal("name of an unknown dtype", raw("ech_dtype_name", code), b"?")
    for constant, number in t.lib.constants.items():
        if constant == "ECH_OK" or constant.startswith("ECH_ERR_"):
            t.equal("status", raw("ech_status_name", number), constant.encode())
        for prefix, function in (("ECH_METHOD_", "ech_method_name"), ("ECH_PRECOND_", "ech_precond_name"),
                                 ("ECH_FACTOR_", "ech_factor_name")):
            if constant.startswith(prefix):
                t.equal("name", raw(function, number),
                        constant[len(prefix):].lower().replace("_", "-").encode())
    t.equal("unknown status", raw("ech_status_name", code + 100), b"ECH_ERR_?")
    version = raw("ech_version").decode()
    major, minor, patch = map(int, version.split("."))
    t.equal("version", raw("ech_version_number"), 10000 * major + 100 * minor + patch)
    count = raw("ech_device_count")
    device = t.struct("ech_device")
    t.lib.call("ech_device_get", count - 1, t.address(device))
    t.equal("the last device", device.name, b"cpu")
    t.true("its memory", 0 < device.free_bytes <= device.memory_bytes and device.multiprocessors > 0)


@operation("memory", "ech_malloc", "ech_free", "ech_copy", "ech_copy_async", "ech_memory_usage", "ech_trim",
           "ech_set_memory_limit", "ech_sync", "ech_poll", "ech_error", weight=0.3)
def memory(t):
    usage = (ctypes.c_uint64 * 2)()
    address = ctypes.addressof(usage)

    def now(reset=0):
        t.lib.raw("ech_memory_usage", t.ctx, reset, address, address + 8)
        return usage[0], usage[1]

    before, _ = now(reset=1)
    contents = np.frombuffer(t.rng.bytes(t.between(0, 100_000)), np.uint8)
    n = len(contents)
    pointer = ctypes.c_void_p(1)
    t.lib.call("ech_malloc", t.ctx, ctypes.addressof(pointer), n, ctx=t.ctx)
    t.true("the address", (pointer.value is None) == (n == 0) and (pointer.value or 0) % 256 == 0)
    held, peak = now()
    t.true("bytes held", held >= before + n and peak >= held)
    copy, back = t.pick(["ech_copy", "ech_copy_async"]), t.out(n, np.uint8)
    t.note(n=n, copy=copy)
    t.lib.call(copy, t.ctx, pointer.value, t.put(contents).p, n, ctx=t.ctx)
    t.lib.call(copy, t.ctx, back.p, pointer.value, n, ctx=t.ctx)
    t.lib.call("ech_sync", t.ctx, ctx=t.ctx)
    done = ctypes.c_int()
    t.lib.call("ech_poll", t.ctx, ctypes.addressof(done), ctx=t.ctx)
    t.equal("done", done.value, 1)
    t.same("copy", back.a, contents)
    t.lib.call("ech_set_memory_limit", t.ctx, held + 1000, ctx=t.ctx)
    try:
        second = ctypes.c_void_p()
        t.fails("ECH_ERR_MEMORY", "ech_malloc", ctypes.addressof(second), 100_000)
        t.true("a message", bool(t.lib.raw("ech_error", t.ctx)))
    finally:
        t.lib.call("ech_set_memory_limit", t.ctx, 0, ctx=t.ctx)
    t.lib.raw("ech_free", t.ctx, pointer.value, n)
    t.equal("bytes after the release", now()[0], before)
    t.lib.raw("ech_trim", t.ctx)
    t.equal("bytes after ech_trim()", now()[0], before)
    t.check_arrays()


@operation("context", "ech_open", "ech_close", "ech_device_name", "ech_error", "ech_set_threads", "ech_set_log",
           "ech_set_allocator", "ech_set_progress", weight=0.3)
def context(t):
    handle = ctypes.c_void_p()
    call, raw = t.lib.call, t.lib.raw
    bad = t.pick([b"cpu2", b"tpu", b"cuda:x", b""])
    t.true("a device that does not exist", raw("ech_open", ctypes.addressof(handle), bad) != 0)
    t.true("the context of a failure", handle.value is None and raw("ech_error", None) != b"")
    call("ech_open", ctypes.addressof(handle), t.device.encode())
    name = raw("ech_device_name", handle.value)
    t.true(f"the name of the device, {name}", name.decode().startswith(t.device))
    t.equal("the message of a new context", raw("ech_error", handle.value), b"")
    messages, blocks = [], {}
    log = LOG(lambda user, level, message: messages.append((level, message)))
    level = t.between(0, 3)
    call("ech_set_log", handle.value, level, ctypes.cast(log, ctypes.c_void_p).value, None, ctx=handle.value)
    allocator = None
    if t.device == "cpu":
        def allocate(user, bytes_, stream):
            block = np.empty(bytes_ + 256, np.uint8)
            address = block.ctypes.data + -block.ctypes.data % 256
            blocks[address] = (bytes_, block)
            return address

        def release(user, pointer, bytes_, stream):
            if blocks.pop(pointer)[0] != bytes_:
                messages.append((9, b"released with another size"))

        functions = ALLOCATE(allocate), RELEASE(release)
        allocator = t.struct("ech_allocator", allocate=ctypes.cast(functions[0], ctypes.c_void_p).value,
                             release=ctypes.cast(functions[1], ctypes.c_void_p).value)
        call("ech_set_allocator", handle.value, t.address(allocator), ctx=handle.value)
    call("ech_set_threads", handle.value, t.between(0, 4), ctx=handle.value)
    t.true("a negative number of threads", raw("ech_set_threads", handle.value, -1) == t.lib.ERR_ARG)
    keys = t.rng.integers(0, 1000, t.between(0, 5000)).astype(np.int32)
    in_, out = t.put(keys), t.out(len(keys), np.int32)
    call("ech_sort", handle.value, in_.p, out.p, len(keys), 2, None, ctx=handle.value)
    t.same("keys", out.a, np.sort(keys))
    done = []
    progress = PROGRESS(lambda user, share: done.append(share) or 0)
    call("ech_set_progress", handle.value, ctypes.cast(progress, ctypes.c_void_p).value, None, ctx=handle.value)
    n = t.between(1, 600)
    words = t.put(t.rng.integers(0, 2**63, (n, -(-n // 64)), dtype=np.uint64), writable=True)
    a = t.struct("ech_gf2", words=words.p, rows=n, cols=n, stride=-(-n // 64))
    rank = t.out(1, np.uint32)
    call("ech_gf2_rank", handle.value, t.address(a), rank.p, None, ctx=handle.value)
    t.true("progress", all(0 <= share <= 1 for share in done))
    call("ech_set_progress", handle.value, None, None, ctx=handle.value)
    t.true("levels of messages", all(1 <= entry[0] <= level for entry in messages))
    raw("ech_close", handle.value)
    t.true("blocks that were not released", not blocks)
    t.check_arrays()
