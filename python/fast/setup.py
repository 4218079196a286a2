"""setup.py - the C extension of echelon-sort-fast: one wheel for Python 3.10 and later, others per version.

The stable ABI does not contain what the extension needs before Python 3.10, and not free-threaded builds.

SPDX-License-Identifier: Apache-2.0
"""
import re
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).resolve().parent


def version():
    """The version of the header of the library; in a source distribution, that of PKG-INFO."""
    header = HERE.parents[1] / "include" / "echelon" / "base.h"
    if header.exists():
        parts = (re.search(rf"#define ECH_VERSION_{part} +(\d+)", header.read_text()).group(1)
                 for part in ("MAJOR", "MINOR", "PATCH"))
        return ".".join(parts)
    return re.search(r"^Version: (.*)$", (HERE / "PKG-INFO").read_text(), re.MULTILINE).group(1)


stable = sys.version_info >= (3, 10) and not sysconfig.get_config_var("Py_GIL_DISABLED")
setup(
    version=version(),
    ext_modules=[Extension(
        "echelon_fast",
        sources=[f"src/{name}.c" for name in ("arguments", "array", "module", "operations")],
        depends=["src/fast.h"],
        define_macros=[("Py_LIMITED_API", "0x030A0000")] if stable else [],
        extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"],
        py_limited_api=stable,
    )],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if stable else {},
)
