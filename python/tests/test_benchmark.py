"""bench/python_libraries.py measures and checks: small sizes, compared with NumPy.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "bench" / "python_libraries.py"


@pytest.mark.parametrize("operation", ["sort", "unique", "histogram", "linalg.solve", "linalg.matmul", "gf2.osd"])
def test_rows(operation):
    done = subprocess.run([sys.executable, str(PROGRAM), "--libraries", "NumPy", "--sizes", "100", "--seconds", "0.001",
                           "--only", operation], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 skipped, 0 wrong" in done.stderr
    assert "# machine: " in done.stdout and "# versions: echelon " in done.stdout and "# date: " in done.stdout
    rows = list(csv.DictReader(line for line in done.stdout.splitlines() if not line.startswith("#")))
    assert rows and all(operation in row["op"] and float(row["ms"]) > 0 and row["result"] == "equal" for row in rows)
    expected = {"echelon"} if operation == "gf2.osd" else {"echelon", "NumPy"}
    assert {row["contender"] for row in rows} == expected


def test_wrong_result():
    """A library with another result is reported, and the exit status is 1."""
    code = (f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); sys.argv[1:] = ['--libraries', 'NumPy', "
            "'--sizes', '100', '--only', 'take', '--seconds', '0.001']; import python_cases, python_libraries;"
            "calls = next(o for o in python_cases.OPERATIONS if o.name == 'take').calls;"
            "calls['echelon'] = lambda e, x, i: e.take(x, i) + 1; sys.exit(python_libraries.main())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "wrong take float32 n=100: echelon" in done.stderr
    assert any(line.endswith(",wrong") for line in done.stdout.splitlines())
