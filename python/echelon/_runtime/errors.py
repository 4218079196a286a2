"""The exceptions of the package.

Each is a subclass of Error and of the exception of Python that describes the same fault, so that `except ValueError`
catches an ArgumentError.

SPDX-License-Identifier: Apache-2.0
"""


class Error(Exception):
    """Base class of the exceptions of Echelon."""


class ArgumentError(Error, ValueError):
    """An argument has a value, shape, stride, device or stream that the function does not accept."""


class DTypeError(Error, TypeError):
    """An argument has a type or a dtype that the function does not accept."""


class UnsupportedError(Error, NotImplementedError):
    """The call is valid, but this device or this build does not support it."""


class OutOfMemoryError(Error, MemoryError):
    """The memory of the device is not sufficient, or the memory limit does not permit the call."""


class NoDeviceError(Error, RuntimeError):
    """The device does not exist or cannot be used."""


class DeviceError(Error, RuntimeError):
    """The GPU driver reported an error. The process cannot use this GPU again."""


class CanceledError(Error, RuntimeError):
    """The progress function ended the call."""


class CommunicationError(Error, ConnectionError):
    """Another rank of a communicator has ended, has aborted, or did not answer within the time limit."""


# By ech_status.
BY_STATUS = {1: ArgumentError, 2: UnsupportedError, 3: OutOfMemoryError, 4: NoDeviceError, 5: DeviceError,
             6: CanceledError, 7: CommunicationError}


def from_status(status, message):
    """The exception of a status other than ECH_OK."""
    return BY_STATUS.get(status, Error)(message or f"the library returned status {status}")
