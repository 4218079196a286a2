"""markers.py - what the scripts that write tables into markdown share: files rewritten, or compared.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys


def main(script, rewrite):
    """Rewrites the files of the command line by rewrite(text); with --check only says which differ.
    The exit status."""
    stale = []
    for name in (word for word in sys.argv[1:] if word != "--check"):
        path = pathlib.Path(name)
        text = path.read_text()
        new = rewrite(text)
        if new != text and "--check" in sys.argv:
            stale.append(name)
        elif new != text:
            path.write_text(new)
    for name in stale:
        print(f"{name}: a table is not that of bench/results; run bench/{script} {name}")
    return bool(stale)
