"""setup.py - the C extension of echelon-sort-fast: one wheel for Python 3.11 and later, others per version.

The stable ABI does not contain what the extension needs before Python 3.11, and not free-threaded builds.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import sysconfig

from setuptools import Extension, setup

stable = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
setup(
    ext_modules=[Extension(
        "echelon_fast",
        sources=[f"src/{name}.c" for name in ("arguments", "array", "module", "operations")],
        depends=["src/fast.h"],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if stable else [],
        extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"],
        py_limited_api=stable,
    )],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if stable else {},
)
