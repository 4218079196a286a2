"""The examples in examples/python run with small sizes.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "python"

# The name, the arguments, the modules that it needs, and what it prints.
EXAMPLES = [
    ("sort_frame.py", ["2000", "2"], ["pandas", "polars", "pyarrow"], "2000 rows, 2 threads"),
    ("neighbours.py", ["1000", "8"], ["sklearn"], "digits: accuracy"),
]


@pytest.mark.parametrize("name, arguments, modules, text", EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_example(name, arguments, modules, text):
    for module in modules:
        pytest.importorskip(module)
    result = subprocess.run([sys.executable, str(FOLDER / name), *arguments], capture_output=True, text=True,
                            env=os.environ, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
    assert text in result.stdout
