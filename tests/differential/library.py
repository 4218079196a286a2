"""library.py - libechelon through ctypes, with the signatures of include/abi.txt and the structs of the headers.

A changed prototype, struct or enumerator therefore changes the calls of the tests, or fails at the start.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
C_TYPES = {
    "int": ctypes.c_int, "size_t": ctypes.c_size_t, "uint64_t": ctypes.c_uint64, "double": ctypes.c_double,
    "uint32_t": ctypes.c_uint32, "unsigned": ctypes.c_uint, "void": None, "char": ctypes.c_char,
    "uint8_t": ctypes.c_uint8, "int64_t": ctypes.c_int64,
}


class Error(Exception):
    """The interface of the library is not the one that include/abi.txt describes."""


class Status(Exception):
    """A call failed."""

    def __init__(self, name, status, message):
        super().__init__(f"{name}: {status}: {message}")
        self.status, self.message = status, message


class Library:
    def __init__(self, path):
        self.cdll = ctypes.CDLL(str(path))
        self.called = set()
        self.constants, self.enums = {}, set()
        sections = self.read_abi()
        self.exported = [line for line in sections["Exported symbols"] if line.startswith("ech")]
        for line in sections["Enumerators"]:
            name, values = line.split(": ", 1)
            self.enums.add(name)
            for value in values.split(", "):
                constant, number = value.split(" = ")
                self.constants[constant] = int(number)
        self.structs = self.read_structs(sections)
        self.functions = {}
        for line in sections["Functions and function types"]:
            if not line.startswith("typedef"):
                self.add_function(line)
        if set(self.functions) != set(self.exported):
            raise Error(f"exported symbols without a prototype: {set(self.exported) ^ set(self.functions)}")

    @staticmethod
    def read_abi():
        sections, current = {}, None
        for line in (SOURCE / "include/abi.txt").read_text().splitlines():
            if line.startswith("# "):
                current = sections.setdefault(line[2:].split(":")[0], [])
            elif line and current is not None:
                current.append(line)
        return sections

    def c_type(self, text):
        """The ctypes type of a C type; pointers are addresses."""
        words = [word for word in text.replace("*", " * ").split() if word != "const"]
        if "*" in words or "(" in text:
            constant_text = words == ["char", "*"] and "const" in text
            return ctypes.c_char_p if constant_text else ctypes.c_void_p
        if words[0] in self.enums:
            return ctypes.c_int
        if words[0].endswith("_function"):
            return ctypes.c_void_p
        return C_TYPES[words[0]]

    def read_structs(self, sections):
        """The structs of the headers, compared with the layouts of include/abi.txt."""
        text = "".join(path.read_text() for path in sorted((SOURCE / "include/echelon").glob("*.h")))
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        structs = {}
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text, flags=re.S):
            fields = []
            for declaration in filter(None, (part.strip() for part in body.split(";"))):
                pointer = re.match(r".*?\(\*(\w+)\)", declaration, flags=re.S)
                if pointer:
                    fields.append((pointer.group(1), ctypes.c_void_p))
                    continue
                kind, names = re.match(r"((?:const )?\w+)\s*((?:[*\w][\w\[\], *]*))$",
                                       " ".join(declaration.split())).groups()
                for field in names.split(","):
                    field = field.strip()
                    stars = field.count("*") + kind.count("*")
                    field = field.replace("*", "").strip()
                    array = re.match(r"(\w+)\[(\d+)\]", field)
                    if array:
                        fields.append((array.group(1), self.c_type(kind) * int(array.group(2))))
                    elif stars and "char" in kind:
                        fields.append((field, ctypes.c_char_p))
                    else:
                        fields.append((field, ctypes.c_void_p if stars else self.c_type(kind)))
            structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        for line in sections["Structs"]:
            name, layout = line.split(": ")
            struct = structs[name]
            found = [f"{ctypes.sizeof(struct)} bytes"]
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                found.append(f"{field} {place.offset}+{place.size}")
            if ", ".join(found) != layout:
                raise Error(f"the layout of {name}: {found} instead of {layout}")
        return structs

    def add_function(self, line):
        kind, name, arguments = re.match(r"(.*?)(\bech_\w+)\((.*)\);$", line).groups()
        function = getattr(self.cdll, name)
        function.restype = self.c_type(kind.strip())
        types = []
        for argument in arguments.split(", "):
            if argument == "void":
                continue
            types.append(self.c_type(re.sub(r"\w+$", "", argument)))
        function.argtypes = types
        self.functions[name] = (function, kind.strip() == "ech_status")

    def raw(self, name, *arguments):
        """Calls a function and returns its result."""
        self.called.add(name)
        function, _ = self.functions[name]
        if len(arguments) != len(function.argtypes):
            raise Error(f"{name} has {len(function.argtypes)} parameters, not {len(arguments)}")
        return function(*arguments)

    def call(self, name, *arguments, ctx=None):
        """Calls a function that returns a status, and raises Status if it fails."""
        status = self.raw(name, *arguments)
        if status:
            message = self.raw("ech_error", ctx).decode()
            raise Status(name, self.raw("ech_status_name", status).decode(), message)

    def struct(self, name, **fields):
        s = self.structs[name]()
        s.size = ctypes.sizeof(s)
        for field, value in fields.items():
            if value is not None:
                setattr(s, field, value)
        return s

    def __getattr__(self, name):
        """Constants: library.OP_SUM is ECH_OP_SUM."""
        try:
            return self.constants["ECH_" + name]
        except KeyError:
            raise AttributeError(name) from None

    def explain(self, name, *arguments):
        """The JSON of a function ech_..._explain()."""
        text = ctypes.create_string_buffer(1 << 16)
        self.call(name, *arguments, self.FORMAT_JSON, ctypes.addressof(text), len(text))
        return json.loads(text.value)
