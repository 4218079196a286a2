"""The declarations that declarations.py generates agree with include/abi.txt, which the C compiler wrote.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import re
from pathlib import Path

import pytest
from echelon import _declarations as declared

ABI = Path(__file__).resolve().parents[2] / "include" / "abi.txt"
SCALARS = {"int": ctypes.c_int, "unsigned": ctypes.c_uint, "size_t": ctypes.c_size_t, "double": ctypes.c_double,
           "uint64_t": ctypes.c_uint64, "uint32_t": ctypes.c_uint32, "void": None}


def sections():
    """The lines of each section of the file, by the first word of its title."""
    found = {}
    for line in ABI.read_text().splitlines():
        title = re.match(r"# (Exported|Functions|Enumerators|Structs)", line)
        if title:
            lines = found.setdefault(title[1], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


SECTIONS = sections()
ENUMS = {line.split(":")[0] for line in SECTIONS["Enumerators"]}
CALLBACKS = [line for line in SECTIONS["Functions"] if "(*" in line]


def expected_type(text):
    """The ctypes type of a C type as it stands in abi.txt, "const void *"."""
    if text == "const char *":
        return ctypes.c_char_p
    if text.endswith("*") or any(f"(*{text})" in line for line in CALLBACKS):
        return ctypes.c_void_p
    return ctypes.c_int if text in ENUMS else SCALARS[text]


def parameters(text):
    """The (type, name) of each parameter."""
    if text == "void":
        return []
    return [re.fullmatch(r"(.*[ *])(\w+)", part.strip()).groups() for part in text.split(",")]


def prototypes():
    for line in SECTIONS["Functions"]:
        if not line.startswith("typedef"):
            result, name, inside = re.fullmatch(r"(.*[ *])(ech_\w+)\((.*)\);", line).groups()
            yield result.strip(), name, parameters(inside)


def test_functions():
    expected = {name: (expected_type(result), [expected_type(kind.strip()) for kind, _ in arguments],
                       [argument for _, argument in arguments])
                for result, name, arguments in prototypes()}
    assert len(expected) > 150
    assert sorted(expected) == sorted(declared.FUNCTIONS)
    for name, (result, kinds, names) in expected.items():
        assert (result, kinds, names) == tuple(declared.FUNCTIONS[name]), name


def test_symbols():
    assert sorted(SECTIONS["Exported"]) == sorted(declared.FUNCTIONS)


def test_callbacks():
    """Function types have the same result and parameters."""
    assert CALLBACKS
    for line in CALLBACKS:
        result, name, inside = re.fullmatch(r"typedef (.*) \(\*(\w+)\)\((.*)\);", line).groups()
        kind = getattr(declared, name)
        assert kind._restype_ is expected_type(result), name
        assert list(kind._argtypes_) == [expected_type(text.strip()) for text, _ in parameters(inside)], name


def test_enumerators():
    expected = {}
    for line in SECTIONS["Enumerators"]:
        expected.update((key.strip(), int(value)) for key, value in re.findall(r"(\w+) = (-?\d+)", line))
    generated = {key: value for key, value in vars(declared).items() if key.startswith("ECH_")}
    assert len(expected) > 100 and expected == generated


def structs():
    return {line.split(":")[0]: line for line in SECTIONS["Structs"]}


def generated_structs():
    return {name for name, value in vars(declared).items()
            if isinstance(value, type) and issubclass(value, ctypes.Structure)}


def test_structs():
    assert len(structs()) > 30 and set(structs()) == generated_structs()


@pytest.mark.parametrize("name", sorted(structs()))
def test_layout(name):
    size, fields = re.fullmatch(r"\w+: (\d+) bytes(.*)", structs()[name]).groups()
    expected = [(field, int(offset), int(width))
                for field, offset, width in re.findall(r", (\w+) (\d+)\+(\d+)", fields)]
    kind = getattr(declared, name)
    generated = [(field, getattr(kind, field).offset, getattr(kind, field).size) for field, *_ in kind._fields_]
    assert expected and (int(size), expected) == (ctypes.sizeof(kind), generated)
