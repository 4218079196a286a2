"""The devices of the machine.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import ctypes

from . import context as contexts
from . import errors, native
from .native import declared as c

Device = collections.namedtuple("Device", "name description features memory_bytes free_bytes multiprocessors driver")
Device.__doc__ = """A device.

name             for set_device(): "cpu", "cuda:0"
description      the model
features         instruction sets of a CPU, architecture of a GPU
memory_bytes     size of the memory
free_bytes       free at the time of the call
multiprocessors  of a GPU; hardware threads of a CPU
driver           CUDA version that the driver supports, 13000 for 13.0; 0 for the CPU
"""


def devices():
    """Return a list of the devices: the GPUs, then the CPU. Each is a named tuple, see Device.

    >>> import echelon
    >>> echelon.devices()[-1].name
    'cpu'
    """
    found, count = [], native.functions.ech_device_count()
    if count > 1:
        contexts.note_gpu()
    for i in range(count):
        device = native.struct(c.ech_device)
        status = native.functions.ech_device_get(i, ctypes.addressof(device))
        if status:
            raise errors.from_status(status, native.error_text())
        values = (getattr(device, field) for field in Device._fields)
        found.append(Device(*(v.decode(errors="replace") if isinstance(v, bytes) else v for v in values)))
    return found
