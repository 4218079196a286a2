"""tables.py - records of CSV and compressed files, compared with Python's modules csv and gzip.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import gzip
import io
import subprocess

from .case import operation
from .command import COMMAND, clean, echelon, file

PACKED = {}  # extension: whether this build supports it


def packed(extension):
    """Whether the command was built with the library of the extension."""
    if extension not in PACKED:
        words = [COMMAND["path"], "gen", "uniform", "-N", "1", "-o", "probe.txt." + extension]
        done = subprocess.run(words, cwd=COMMAND["directory"], capture_output=True, check=False)
        PACKED[extension] = b"was built without" not in done.stderr
    return PACKED[extension]


def text_of(rows, delimiter, ending, quoting):
    to = io.StringIO()
    csv.writer(to, delimiter=delimiter, lineterminator=ending, quoting=quoting).writerows(rows)
    return to.getvalue()


def rows_of(text, delimiter):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True))


def write(t, name, text):
    """Writes the file, sometimes compressed in several members; returns its name."""
    data = text.encode()
    if not (t.flag(0.3) and packed("gz")):
        file(name).write_bytes(data)
        return name
    cuts = sorted(t.between(0, len(data)) for _ in range(t.between(0, 2)))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    file(name + ".gz").write_bytes(b"".join(gzip.compress(part, t.between(0, 9)) for part in parts))
    return name + ".gz"


def sorted_text(t, words, name):
    """The output of sort, read through one of the formats."""
    extension = t.pick([e for e in ("", "gz", "zst") if not e or packed(e)])
    t.note(output=extension or "plain")
    if not extension:
        return echelon(t, "sort", *words, name).out.decode()
    out = "out.csv." + extension
    echelon(t, "sort", *words, name, "-o", out)
    if extension == "gz":
        return gzip.decompress(file(out).read_bytes()).decode()
    return echelon(t, "sort", *words, out).out.decode()


@operation("csv_sort")
def csv_sort(t):
    clean()
    columns, place = t.between(2, 5), 0
    place = t.between(1, columns)
    delimiter, ending = t.pick(",;\t|"), t.pick(["\n", "\r\n"])
    quoting = t.pick([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    letters = 'ab",;\t|\n \r' + ("é" if t.flag() else "")

    def field(column):
        if column == place:
            return str(t.between(-99, 99))
        return "".join(t.pick(letters) for _ in range(t.between(0, 7)))

    rows = [[field(column) for column in range(1, columns + 1)] for _ in range(t.between(1, 300))]
    head = [[f"{letters}{column}" for column in range(1, columns + 1)]] if t.flag() else []
    mark = t.pick(["", "", "\ufeff"])
    want = mark + text_of(head + sorted(rows, key=lambda row: int(row[place - 1])), delimiter, ending, quoting)
    text = mark + text_of(head + rows, delimiter, ending, quoting)
    if t.flag(0.3) and ending == "\n":
        text = text[:-1]
    words = ["--column", place, "--delimiter", delimiter, "--header" if head else "--no-header"]
    t.note(rows=len(rows))
    t.equal("text", sorted_text(t, words, write(t, "in.csv", text)), want)


@operation("csv_records", weight=3)
def csv_records(t):
    """Arbitrary text, which may have misplaced quotes: the records are those of Python."""
    clean()
    text = "h,h\n" + "".join(t.pick('a"",,\n ') for _ in range(t.between(0, 40))) + "\n"
    rows = rows_of(text + "last\n", ",")
    last = rows.pop()
    closed = last == ["last"]
    name = write(t, "in.csv", text)
    t.note(text=repr(text))
    done = echelon(t, "shuf", "--seed", t.between(0, 99), name, "-o", "out.csv", status=0 if closed else 2)
    if closed:
        found = file("out.csv").read_text(encoding="utf-8")
        t.equal("length", len(found), len(text))
        t.equal("records", sorted(rows_of(found, ",")), sorted(rows))
    else:  # the field contains all newlines after its quote
        line = 2 + text.count("\n") - last[-1].count("\n")
        t.true(f"the message {done.err!r} does not name line {line}", f"line {line}, column {len(last)}," in done.err)
