"""The examples on the pages docs/guide/python*.md print what they show, and examples/python runs.

SPDX-License-Identifier: Apache-2.0
"""
import doctest
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_doctests import Checker

SOURCE = Path(__file__).parents[2]
PAGES = [page for page in sorted((SOURCE / "docs" / "guide").glob("python*.md")) if ">>>" in page.read_text()]
EXAMPLES = sorted((SOURCE / "examples" / "python").glob("*.py"))
SMALL = {  # arguments for a test
    "ldpc_osd": ["--distance", "3", "--shots", "100"],
    "neighbours": ["1000", "8"],
    "poisson_cg": ["20"],
    "ray_sort": ["2", "1000"],
    "sort_frame": ["2000", "2"],
    "torch_sampling": ["--rows", "3", "--columns", "1000", "--k", "20", "--device", "cpu", "--repeats", "3",
                       "--backend", "aot_eager"],
}


def skip_without(text):
    """Skips the test if a module that the text imports is not installed."""
    for name in re.findall(r"^(?:>>> )?(?:import|from) (\w+)", text, re.M):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"there is no module {name}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page):
    text = re.sub(r"^```.*$", "", page.read_text(), flags=re.M)
    skip_without(text)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report = []
    result = doctest.DocTestRunner(Checker(), verbose=False).run(test, out=report.append)
    assert result.attempted > 0 and result.failed == 0, "".join(report)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example(example):
    skip_without(example.read_text())
    done = subprocess.run([sys.executable, str(example), *SMALL.get(example.stem, [])], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout and not done.stderr, done.stdout + done.stderr
