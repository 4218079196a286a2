"""Arguments that are no arrays.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from .errors import ArgumentError, DTypeError


def flag(value, name):
    """An argument that is True or False, as 1 or 0."""
    if isinstance(value, (bool, np.bool_)) or isinstance(value, int) and value in (0, 1):
        return int(value)
    raise DTypeError(f"{name} is {value!r}, but must be True or False")


def two_outputs(out):
    """The parameter out of a function with two results: None, or a pair of arrays."""
    if out is None:
        return None, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise DTypeError(f"out is {type(out).__name__}, but must be a pair of arrays")
    return tuple(out)


def integer(value, name, low=None, high=None):
    """An argument as an int in [low, high]; high needs low."""
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise DTypeError(f"{name} is {value!r}, but must be an integer") from None
    if low is not None and number < low or high is not None and number > high:
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(f"{name} is {number}, but must be {limits}")
    return number


def number(value, name):
    """An argument as a float."""
    try:
        return float(value)
    except OverflowError:
        raise ArgumentError(f"{name} is an integer that float64 cannot represent") from None
    except (TypeError, ValueError):
        raise DTypeError(f"{name} is {value!r}, but must be a number") from None


def choice(value, choices, name):
    """What a dict of choices contains for an argument."""
    try:
        return choices[value]
    except (KeyError, TypeError):
        raise ArgumentError(f"{name} is {value!r}, but must be one of {', '.join(map(repr, choices))}") from None
