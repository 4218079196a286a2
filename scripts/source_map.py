#!/usr/bin/env python3
"""source_map.py - writes the list of files into src/README.md, one line each, from their heads.

    scripts/source_map.py           rewrites what lies between the markers
    scripts/source_map.py --check   fails when the list is not that of the files

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = ROOT / "src" / "README.md"
TITLES = {"cpu": "The CPU", "cuda": "NVIDIA GPUs", "simt": "The executor, which runs the kernels on the CPU",
          "io": "Files, for the command"}
SUFFIXES = {".c", ".h", ".cu", ".cuh", ".def", ".txt"}


def sentence(path):
    """The first sentence of the head comment, without the file's name."""
    text = path.read_text()
    if text.startswith("#"):
        head = re.match(r"(?:#.*\n)+", text)[0].replace("#", " ")
    else:
        head = text.split("*/", 1)[0].lstrip("/*")
    head = " ".join(line.strip().lstrip("*").strip() for line in head.splitlines())
    head = head.split(" - ", 1)[-1].strip()
    return re.split(r"(?<=[a-z0-9)\]`])[.;](?:\s|$)|SPDX", head, maxsplit=1)[0].strip(" .").replace("|", "\\|")


def listing():
    lines = []
    for folder, title in TITLES.items():
        files = sorted(path for path in (ROOT / "src" / folder).glob("*")
                       if path.suffix in SUFFIXES and path.name != "CMakeLists.txt")
        if files:
            lines += [f"{title}:", "", "| file | |", "|---|---|"]
            lines += [f"| `{folder}/{path.name}` | {sentence(path)} |" for path in files] + [""]
    return "\n".join(lines)


def main():
    text = TEXT.read_text()
    new = re.sub(r"(<!-- files:begin -->\n).*?(<!-- files:end -->)",
                 lambda match: f"{match[1]}\n{listing()}\n{match[2]}", text, flags=re.S)
    if "--check" not in sys.argv:
        TEXT.write_text(new)
    elif new != text:
        print("src/README.md is not the list of the files: run scripts/source_map.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
