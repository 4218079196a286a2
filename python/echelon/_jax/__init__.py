"""The foreign function interface (FFI) of XLA, through ctypes.

SPDX-License-Identifier: Apache-2.0
"""
