#!/usr/bin/env python3
"""check_abi.py [--test] - compares the declarations in bindings/ that are written by hand with include/abi.txt: names
and types of functions and parameters, values of enumerators, fields of structs with their offsets, and versions.

Go and C++ are not compared: they read the header. --test also checks that a changed interface is noticed.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORD, INT, DOUBLE, POINTER, NOTHING = "8 bytes", "4 bytes", "double", "pointer", "nothing"
BYTES = {WORD: 8, INT: 4, DOUBLE: 8, POINTER: 8}


class Interface(NamedTuple):
    """Declarations: functions as (result, [(parameter, type)]), constants, and structs as [(field, offset, bytes)]."""
    functions: dict
    constants: dict
    structs: dict
    sizes: dict


class Language(NamedTuple):
    """How to read a file, and how often its declarations begin: none may be overlooked."""
    path: str
    read: object
    c_type: object  # how a type of C must be declared
    starts: tuple   # of functions, constants, structs


# ---- C ----

def c_class(text):
    """The size of a type of C as an argument."""
    if text.endswith("*"):
        return POINTER
    if text in ("size_t", "uint64_t"):
        return WORD
    return {"void": NOTHING, "double": DOUBLE}.get(text, INT)


def read_abi(text):
    """The interface that include/abi.txt lists."""
    functions, constants, structs, sizes = {}, {}, {}, {}
    for result, name, parameters in re.findall(r"^(\w[\w ]*?[ *]+)(ech_\w+)\((.*)\);$", text, re.M):
        pairs = re.findall(r"([\w ]+[ *]+)(\w+)(?:, |$)", parameters) if parameters != "void" else []
        functions[name] = result.strip(), [(word, kind.strip()) for kind, word in pairs]
    for line in re.findall(r"^ech_\w+: (ECH_.*)$", text, re.M):
        constants.update((name, int(value)) for name, value in re.findall(r"(ECH_\w+) = (-?\d+)", line))
    for name, size, fields in re.findall(r"^(ech_\w+): (\d+) bytes, (.*)$", text, re.M):
        sizes[name] = int(size)
        structs[name] = [(field, int(offset), int(width))
                         for field, offset, width in re.findall(r"(\w+) (\d+)\+(\d+)", fields)]
    return Interface(functions, constants, structs, sizes)


def layout(fields):
    """Offsets and sizes of fields of these sizes, with the natural alignment, and the size of the struct."""
    end, found = 0, []
    for name, width in fields:
        end = -(-end // width) * width
        found.append((name, end, width))
        end += width
    return found, -(-end // 8) * 8


# ---- Rust: types are those of C, spelled in another way ----

def rust_type(text):
    """A type of Rust in the spelling of C."""
    text = text.strip()
    for prefix, const in (("*mut ", ""), ("*const ", "const ")):
        if text.startswith(prefix):
            inner = rust_type(text[len(prefix):])
            return const + inner + ("*" if inner.endswith("*") else " *")
    names = {"usize": "size_t", "u64": "uint64_t", "u32": "uint32_t", "u8": "uint8_t", "c_int": "int",
             "c_double": "double", "c_char": "char", "c_void": "void", "": "void"}
    return names.get(text, text)


def read_rust(text):
    functions, structs, sizes = {}, {}, {}
    for name, parameters, result in re.findall(r"pub fn (ech_\w+)\((.*?)\)(?: -> ([^;]+))?;", text, re.S):
        pairs = re.findall(r"(\w+): ([^,]+?)\s*(?:,|$)", parameters.strip())
        functions[name] = rust_type(result), [(word.rstrip("_"), rust_type(kind)) for word, kind in pairs]
    constants = {name: int(value) for name, value in re.findall(r"pub const (ECH_\w+): \w+ = (-?\d+);", text)}
    for name, body in re.findall(r"#\[repr\(C\)\]\n#\[derive\(Clone, Copy\)\]\npub struct (ech_\w+) \{(.*?)\n\}", text,
                                 re.S):
        fields = [(field, BYTES[c_class(rust_type(kind))]) for field, kind in re.findall(r"pub (\w+): (.*),", body)]
        structs[name], sizes[name] = layout(fields)
    return Interface(functions, constants, structs, sizes)


# ---- Julia ----

def julia_type(text):
    text = text.strip()
    if re.fullmatch(r"(Ptr|Ref)\{.*\}|Cstring", text):
        return POINTER
    return {"Csize_t": WORD, "UInt64": WORD, "Cint": INT, "Cdouble": DOUBLE, "Cvoid": NOTHING}[text]


def read_julia(text):
    functions, structs, sizes = {}, {}, {}
    call = r"^(ech_\w+)\(([^)]*)\) =\s+ccall\(\(:(\w+), library\), (\w+),\s*\(([^)]*)\)(?:,\s*([^)]*))?\)$"
    for name, names, symbol, result, types, arguments in re.findall(call, text, re.M):
        words = [word.strip() for word in names.split(",") if word.strip()]
        passed = [word.strip() for word in arguments.split(",") if word.strip()]
        if symbol != name or passed != words:
            words = [f"{symbol}({arguments})"]  # differs from every list of parameters
        kinds = [julia_type(kind) for kind in types.split(",") if kind.strip()]
        functions[name] = julia_type(result), list(zip((word.rstrip("_") for word in words), kinds))
        if len(words) != len(kinds):
            functions[name] = julia_type(result), [("a different number of", "types")]
    constants = {name: int(value) for name, value in re.findall(r"^const (ECH_\w+) = Cint\((-?\d+)\)$", text, re.M)}
    for name, body in re.findall(r"^struct (ech_\w+)\n(.*?)^end$", text, re.M | re.S):
        fields = [(field, BYTES[julia_type(kind)]) for field, kind in re.findall(r"^    (\w+)::(.*)$", body, re.M)]
        structs[name], sizes[name] = layout(fields)
    return Interface(functions, constants, structs, sizes)


# ---- Fortran ----

FORTRAN = {"integer(c_size_t)": WORD, "integer(c_int)": INT, "real(c_double)": DOUBLE, "type(c_ptr)": POINTER}


def fortran_parameter(attributes):
    """The class of a parameter: by value, or a pointer that the function writes."""
    if attributes == "type(c_ptr), intent(out)":
        return POINTER
    kind, _, passed = attributes.partition(", ")
    return FORTRAN[kind] if passed == "value" else f"{attributes} without value"


def read_fortran(text):
    text = re.sub(r" *&\n *", " ", text)
    functions, structs, sizes = {}, {}, {}
    routine = r"^ +(?:function|subroutine) (ech_\w+)\((.*?)\) bind\(c\)(.*?)^ +end (?:function|subroutine) \1$"
    for name, names, body in re.findall(routine, text, re.M | re.S):
        kinds = {word: kind for kind, word in re.findall(r"^ +(\S.*?) :: (\w+)$", body, re.M)}
        result = FORTRAN[kinds.pop("answer")] if "answer" in kinds else NOTHING
        functions[name] = result, [(word, fortran_parameter(kinds.get(word, "undeclared")))
                                   for word in re.split(r",\s*", names)]
    constants = {name: int(value)
                 for name, value in re.findall(r"integer\(c_int\), parameter :: (ECH_\w+) = (-?\d+)$", text, re.M)}
    for name, body in re.findall(r"^ +type, bind\(c\) :: (ech_\w+)\n(.*?)^ +end type \1$", text, re.M | re.S):
        lines = re.findall(r"^ +(\S+) :: (\w+) = (\w+)$", body, re.M)
        structs[name], sizes[name] = layout([(field, BYTES[FORTRAN[kind]]) for kind, field, _ in lines])
        default = next((value for _, field, value in lines if field == "size"), "missing")
        if default != str(sizes[name]):
            sizes[name] = f"{default} in the default value of size"
    return Interface(functions, constants, structs, sizes)


LANGUAGES = {
    "Rust": Language("bindings/rust/src/sys.rs", read_rust, lambda kind: kind,
                     (r"pub fn ech_", r"pub const ECH_", r"pub struct ech_(?!ctx)")),
    "Julia": Language("bindings/julia/sys.jl", read_julia, c_class, (r"ccall\(", r"^const ECH_", r"^struct ")),
    "Fortran": Language("bindings/fortran/echelon_c.f90", read_fortran, c_class,
                        (r"^ +(?:function|subroutine) ", r"parameter ::", r"^ +type, bind\(c\)")),
}


# ---- Comparison ----

def compare(language, text, abi):
    """Yields (what, problem or None) for each declaration of a file."""
    found = language.read(text)
    for kind, start in zip(("functions", "constants", "structs"), language.starts):
        number, read = len(re.findall(start, text, re.M)), len(getattr(found, kind))
        yield kind, None if read == number > 0 else f"{read} of {number} declarations could be read"
    for name, (result, parameters) in found.functions.items():
        result_c, parameters_c = abi.functions.get(name, ("absent", []))
        expected = language.c_type(result_c), [(word, language.c_type(kind)) for word, kind in parameters_c]
        yield name, None if (result, parameters) == expected else f"{result} {parameters} is not {expected}"
    for name, value in found.constants.items():
        yield name, None if abi.constants.get(name) == value else f"{value} is not {abi.constants.get(name)}"
    for name, fields in found.structs.items():
        same = abi.structs.get(name) == fields and abi.sizes.get(name) == found.sizes[name]
        yield name, None if same else f"{found.sizes[name]}, {fields} is not {abi.sizes.get(name)}, " \
                                      f"{abi.structs.get(name)}"


def versions():
    """Yields (what, problem or None) for each version that is written in bindings/."""
    header = (ROOT / "include/echelon/base.h").read_text()
    numbers = re.findall(r"^#define ECH_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)$", header, re.M)
    version, minor = ".".join(numbers), ".".join(numbers[:2])
    for path, text in (("rust/Cargo.toml", f'version = "{version}"'), ("julia/Echelon.jl", f"libechelon.so.{minor}\"")):
        found = text in (ROOT / "bindings" / path).read_text()
        yield path, None if found else f"does not have {text}"


# Changes of the interface, each of which concerns all languages.
CHANGES = (
    (r"ECH_OP_MAX = 3", "ECH_OP_MAX = 33"),
    (r"descending 8\+4, order 12\+4, begin_bit", "order 8+4, descending 12+4, begin_bit"),
    (r"^ech_sort_options: 80 bytes", "ech_sort_options: 88 bytes"),
    (r"(ech_sort_pairs\(.*)size_t n, ech_dtype dtype", r"\1ech_dtype dtype, size_t n"),
    (r"void \*keys_out, void \*values_out", "void *values_out, void *keys_out"),
    (r"(ech_topk\(.*)size_t k", r"\1int k"),
    (r"^void ech_close\(", "ech_status ech_close("),
    (r"ech_argsort\(", "ech_argument_sort("),
)


def notices(abi_text):
    """Yields (what, problem or None): every language must notice every change."""
    for pattern, replacement in CHANGES:
        changed, number = re.subn(pattern, replacement, abi_text, flags=re.M)
        for name, language in LANGUAGES.items():
            text = (ROOT / language.path).read_text()
            noticed = number and any(problem for _, problem in compare(language, text, read_abi(changed)))
            yield f"{name}: {replacement}", None if noticed else "the change is not noticed"


def main():
    abi_text = (ROOT / "include/abi.txt").read_text()
    results = list(versions())
    for name, language in LANGUAGES.items():
        text = (ROOT / language.path).read_text()
        results += [(f"{name}: {what}", problem) for what, problem in compare(language, text, read_abi(abi_text))]
    if "--test" in sys.argv[1:]:
        results += notices(abi_text)
    failures = [f"FAIL {what}: {problem}" for what, problem in results if problem]
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{len(results) - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
