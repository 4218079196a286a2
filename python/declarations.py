#!/usr/bin/env python3
"""declarations.py HEADER MODULE - writes the ctypes declarations of the functions in a header as a Python module.

HEADER is the amalgamated header (scripts/amalgamate.sh). The build writes echelon/_declarations.py.
python/tests/test_declarations.py compares it with include/abi.txt.

SPDX-License-Identifier: Apache-2.0
"""
import re
import sys
from pathlib import Path

TYPES = {
    "int": "ctypes.c_int", "unsigned": "ctypes.c_uint", "size_t": "ctypes.c_size_t", "double": "ctypes.c_double",
    "char": "ctypes.c_char", "uint8_t": "ctypes.c_uint8", "uint32_t": "ctypes.c_uint32", "uint64_t": "ctypes.c_uint64",
    "int64_t": "ctypes.c_int64",
}
HEAD = '''"""The declarations of libechelon, generated from echelon.h by declarations.py."""
import ctypes

'''


def declarations(header):
    """The text of a header without comments, preprocessor lines, assertions and the parts for C++."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^#ifdef __cplusplus\n(.*?)^#(?:endif|else\n(.*?)^#endif)\n",
                  lambda match: match[2] or "", text, flags=re.S | re.M)
    text = re.sub(r"^\s*#(?:[^\n\\]|\\\n)*", "", text, flags=re.M)
    text = re.sub(r"_Static_assert\(.*?\);", "", text, flags=re.S)
    return re.sub(r"\s+", " ", text)


class Module:
    """Reads declarations in the order of the header, and writes their ctypes form."""

    def __init__(self, header):
        self.enums, self.structs, self.callbacks = {}, {}, {}
        self.functions, self.lines = [], []
        version = [re.search(rf"#define ECH_VERSION_{part}\s+(\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.lines.append(f"VERSION = ({', '.join(version)})\n")
        self.opaque = set()
        for statement in self.statements(declarations(header)):
            self.read(statement)

    @staticmethod
    def statements(text):
        """The declarations between semicolons at depth 0."""
        depth, start = 0, 0
        for i, character in enumerate(text):
            depth += (character == "{") - (character == "}")
            if character == ";" and depth == 0:
                yield text[start:i].strip()
                start = i + 1

    def read(self, statement):
        enum = re.fullmatch(r"typedef enum (\w+) \{(.*)\} \w+", statement)
        struct = re.fullmatch(r"typedef struct (\w+) \{(.*)\} \w+", statement)
        opaque = re.fullmatch(r"typedef struct (\w+) \w+", statement)
        callback = re.fullmatch(r"typedef (\w+) \(\*(\w+)\)\((.*)\)", statement)
        function = re.fullmatch(r"ECH_API (.*?)(\w+)\((.*)\)", statement)
        if enum:
            self.read_enum(*enum.groups())
        elif struct:
            self.read_struct(*struct.groups())
        elif opaque:
            self.opaque.add(opaque[1])
        elif callback:
            self.callbacks[callback[2]] = self.prototype(callback[1], callback[3])
            self.lines.append(f"{callback[2]} = {self.callbacks[callback[2]]}")
        elif function:
            self.read_function(*function.groups())
        else:
            raise ValueError(f"cannot read the declaration: {statement}")

    def read_enum(self, name, body):
        self.enums[name] = []
        for constant in body.rstrip(", ").split(","):
            key, value = constant.split("=")
            self.enums[name].append(key.strip())
            self.lines.append(f"{key.strip()} = {int(value)}")

    def read_struct(self, name, body):
        fields = []
        for declaration in filter(None, (part.strip() for part in body.split(";"))):
            pointer = re.fullmatch(r"(\w[\w ]*?[ *]+)\(\*(\w+)\)\((.*)\)", declaration)
            if pointer:
                fields.append((pointer[2], self.prototype(pointer[1], pointer[3])))
                continue
            words = re.fullmatch(r"((?:const )?\w+(?: \*| ))(.*)", declaration)
            for field in words[2].split(","):
                array = re.fullmatch(r"\s*(\w+)\[(\d+)\]", field)
                kind = self.ctype(words[1])
                fields.append((array[1], f"{kind} * {array[2]}") if array else (field.strip(), kind))
        self.structs[name] = fields
        listed = "".join(f'\n        ("{field}", {kind}),' for field, kind in fields)
        self.lines.append(f"\n\nclass {name}(ctypes.Structure):\n    _fields_ = [{listed}\n    ]\n")

    def read_function(self, result, name, parameters):
        names, kinds = [], []
        for parameter in ([] if parameters.strip() == "void" else parameters.split(",")):
            kind, parameter_name = re.fullmatch(r"\s*(.*?[ *])(\w+)\s*", parameter).groups()
            names.append(parameter_name)
            kinds.append(self.ctype(kind))
        self.functions.append((name, self.ctype(result), kinds, names))

    def prototype(self, result, parameters):
        kinds = [self.ctype(re.fullmatch(r"\s*(.*?[ *])\w+\s*", part)[1]) for part in parameters.split(",")]
        return f"ctypes.CFUNCTYPE({', '.join([self.ctype(result)] + kinds)})"

    def ctype(self, text):
        """The ctypes type of a C type. Pointers are addresses, except for strings."""
        words = text.replace("*", " * ").split()
        if "*" in words:
            return "ctypes.c_char_p" if words == ["const", "char", "*"] else "ctypes.c_void_p"
        name = [word for word in words if word != "const"][0]
        if name == "void":
            return "None"
        if name in self.enums:
            return "ctypes.c_int"
        if name in self.callbacks:
            return "ctypes.c_void_p"
        return TYPES[name]

    def text(self):
        functions = "".join(f'\n    "{name}": ({result}, [{", ".join(kinds)}],\n        {names!r}),'
                            for name, result, kinds, names in self.functions)
        return HEAD + "\n".join(self.lines) + f"\n\n# The result, the types and the names of the parameters.\n" \
            f"FUNCTIONS = {{{functions}\n}}\n"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: declarations.py HEADER MODULE")
    Path(sys.argv[2]).write_text(Module(Path(sys.argv[1]).read_text()).text())


if __name__ == "__main__":
    main()
