"""grid_checks.py - the checks of grid.sh: python3 grid_checks.py SOURCE DIRECTORY.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import io
import itertools
import re
import sys
import types
from pathlib import Path

SOURCE, DIRECTORY = Path(sys.argv[1]), Path(sys.argv[2])
GRID = SOURCE / "bench" / "grid"
sys.path.insert(0, str(GRID))

import design  # noqa: E402
import grid  # noqa: E402
import picture  # noqa: E402


def enumerators(header, prefix, last):
    """The names of the enumerators of a header up to `last`, in lower case without the prefix."""
    names = re.findall(rf"^\s+({prefix}[A-Z0-9_]+),?", (GRID / header).read_text(), re.M)
    return [name[len(prefix):].lower() for name in names[:names.index(last)]] if last in names else names


def levels():
    """The names in design.py and arrays.py have the order of the enumerators and fields in the headers."""
    dists = re.findall(r"^    DIST_(\w+),", (GRID / "data.h").read_text(), re.M)
    assert [name.lower() for name in dists] == list(design.DISTS), dists
    ops = [name for name in enumerators("grid.h", "GRID_", "GRID_OPS")]
    assert [{"encode": "rle_encode", "decode": "rle_decode"}.get(op, op) for op in ops] == list(design.OPS), ops
    import arrays
    text = (GRID / "grid.h").read_text()
    body = re.search(r"struct grid_case \{(.*?)\n\};", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = [re.sub(r"\[.*", "", name).strip(" *") for line in body.split(";") if line.strip()
              for name in re.sub(r"^\s*(struct )?\w+ ", "", line).split(",")]
    names = [{"input": "in"}.get(name, name) for name, _ in arrays.Case._fields_]
    assert fields == names, (fields, names)


def designs():
    """The printed coverage is that of the rows, and fewer rows are the beginning of more rows."""
    plan = design.Design("gpu")
    rows = plan.extend(120)
    ids = [row.id for row in rows]
    assert len(set(ids)) == len(ids) == 120
    assert all(design.Row.parse(row.id) == row for row in rows)
    seen = {pair for row in rows for pair in row.pairs()}
    assert f"120 rows cover {len(seen)} of {len(plan.witness)} pairs" in plan.coverage(), plan.coverage()
    assert {(("op", op), ("dist", dist)) for op in design.OPS for dist in design.DISTS} <= set(plan.witness)
    assert {(("n", n), ("dist", dist)) for n in plan.sizes for dist in design.DISTS} <= set(plan.witness)
    assert all(pair in plan.witness[pair].pairs() for pair in plan.missing)
    assert len(seen) > 7 * len(rows) and len(design.DISTS) >= 24  # a row covers 8 pairs
    assert [row.id for row in design.Design("gpu").extend(10)] == ids[:10]
    assert [row.id for row in design.Design("gpu", seed=2).extend(10)] != ids[:10]


class Fake:
    """A module whose competitor takes half of Echelon's time, and whose results differ for 16-bit types."""

    contenders = [("echelon", "1"), ("other", "2")]
    started = []

    def __init__(self, path, threads):
        self.case = types.SimpleNamespace(read=8.0, written=8.0)

    def machine(self):
        return b"a machine"

    def arrays(self):
        return types.SimpleNamespace(contents=self.case)

    def start(self, row, seed):
        self.row = row
        self.started.append(row.id)
        return "unsupported" if row.dtype == "u16" else None

    def check(self, number):
        return 0 if self.row.dtype == "f16" else 1

    def time(self, number, calls):
        return 50.0 if number else 100.0

    def limit(self, calls):
        return 40.0

    def end(self):
        pass


def run(rows, status=0):
    """The ids that a run with the fake module measures."""
    Fake.started = []
    sys.modules["arrays"] = types.SimpleNamespace(Module=Fake, backends=lambda gpu, module: [])
    sys.argv = ["grid.py", "cpu", "module.so", "--csv", str(DIRECTORY / "grid.csv"), "--rows", str(rows)]
    with contextlib.redirect_stdout(io.StringIO()):
        assert grid.main() == status
    return Fake.started


def resume():
    (DIRECTORY / "grid.csv").unlink(missing_ok=True)
    first, more = run(20), run(30)
    assert len(first) == 20 and len(more) == 10 and not set(first) & set(more)
    assert run(30) == []
    _, rows, skipped = picture.read(DIRECTORY / "grid.csv")
    assert len(rows) + sum(skipped.values()) == 30
    assert all(row.ratio == 0.5 and row.red for row in rows if row.dtype != "f16")
    assert all(row.ratio is None and row.wrong == "other" for row in rows if row.dtype == "f16")


def crash():
    """A row during which a run ended is recorded and not repeated."""
    (DIRECTORY / "grid.csv").unlink(missing_ok=True)
    victim = design.Design("cpu").extend(3)[1].id
    (DIRECTORY / "grid.current").write_text(victim)
    assert victim not in run(3)
    assert picture.read(DIRECTORY / "grid.csv")[2]["crashed"] == 1
    assert not (DIRECTORY / "grid.current").exists()


CSV = """# 2026-01-01; a command
# device: a machine; details
id,op,dtype,param,n,dist,library,version,ns,gb_per_s,limit,verdict
sort/i32/0/100/zipf,sort,i32,0,100,zipf,echelon,1,100.0,8,0.500,echelon
sort/i32/0/100/zipf,sort,i32,0,100,zipf,A,1,90.0,8,,equal
sort/i32/0/100/zipf,sort,i32,0,100,zipf,B,1,10.0,8,,wrong
sort/i32/0/100/organ,sort,i32,0,100,organ,echelon,1,100.0,8,0.500,echelon
sort/i32/0/100/organ,sort,i32,0,100,organ,A,1,30.0,8,,equal
sum/f32/0/1048576/two,sum,f32,0,1048576,two,echelon,1,100.0,8,0.970,echelon
sum/f32/0/1048576/two,sum,f32,0,1048576,two,A,1,105.0,8,,equal
min/f32/0/1048576/two,min,f32,0,1048576,two,echelon,1,100.0,8,0.500,echelon
min/f32/0/1048576/two,min,f32,0,1048576,two,A,1,400.0,8,,equal
topk/f32/10/100/two,topk,f32,10,100,two,echelon,,,,,skipped: unsupported
"""


def pictures():
    (DIRECTORY / "fixed.csv").write_text(CSV)
    svg, red = DIRECTORY / "fixed.svg", DIRECTORY / "red.csv"
    sys.argv = ["picture.py", str(DIRECTORY / "fixed.csv"), "--svg", str(svg), "--red", str(red)]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        picture.main()
    assert "4 rows, 4 with a competitor; 2 below 1.10; 1 below 1.10 at 95%" in output.getvalue(), output.getvalue()
    assert "differs: sort/i32/0/100/zipf: B" in output.getvalue()
    lines = red.read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["sort/i32/0/100/organ", "sort/i32/0/100/zipf"], lines
    assert [line.split(",")[6] for line in lines] == ["0.300", "0.900"], lines
    text = svg.read_text()
    assert "a machine, 2026-01-01" in text
    cells = re.findall(r'height="14" fill="(#\w+)"', text)
    # Each row is in three tables; two rows share a cell of two of them.
    expected = {"#a50f15": 3, "#fcbba1": 1, "#a6d96a": 3, "#2166ac": 3}
    assert {shade: cells.count(shade) for shade in set(cells)} == expected, cells


for check in (levels, designs, resume, crash, pictures):
    try:
        check()
        print("pass", check.__name__)
    except Exception as error:  # a missing function or file is also a failure
        print("fail", check.__name__, f"{type(error).__name__}: {error}")
