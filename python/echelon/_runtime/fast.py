"""The optional extension echelon_fast (python/fast), which makes calls of small arrays of NumPy faster.

It is used if it can be imported. ECHELON_FAST=0 disables it. `reason` states why it is not used, and is "" if it is.

SPDX-License-Identifier: Apache-2.0
"""
import os

INTERFACE = 1  # as in python/fast/src/fast.h
reason = ""
extension = None


def _load():
    """The extension, or None, and the reason."""
    if os.environ.get("ECHELON_FAST") == "0":
        return None, "ECHELON_FAST is 0"
    try:
        import echelon_fast
    except ImportError as error:
        return None, f"echelon_fast cannot be imported: {error}"
    if echelon_fast.INTERFACE != INTERFACE:
        return None, f"echelon_fast has the interface {echelon_fast.INTERFACE}, but {INTERFACE} is needed"
    return echelon_fast, ""


def disable(why):
    """Removes the extension, because it cannot be used."""
    global extension, reason
    extension, reason = None, why


def contexts_changed():
    """A context was closed, or this process was created by fork()."""
    if extension is not None:
        extension.invalidate()


def device_changed(device):
    """device: the device for arrays in host memory. The extension supports only the CPU."""
    if extension is not None:
        extension.activate(device == "cpu")


extension, reason = _load()
