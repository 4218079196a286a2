#!/usr/bin/env python3
"""test.py - builds recipe.yaml with rattler-build and runs the tests of the recipe.

    pip install py-rattler-build py-rattler
    python3 packaging/conda/test.py

The packages that the recipe requires (compiler, cmake, ninja, ...) come from a channel that this test makes. They are
empty: the build uses the tools of this system. So the test covers rendering, build, package and tests of the recipe,
but not the compilers of conda-forge. It builds for the CPU only, and renders the variant with CUDA.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import rattler.index
    import rattler_build
except ImportError as error:
    print(f"skip rattler-build: {error} (pip install py-rattler-build py-rattler)\n0 passed, 0 failed, 1 skipped")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PLATFORM = "linux-64"
# Empty packages, and the version of each that the recipe accepts.
TOOLS = {"gcc_linux-64": "13", "sysroot_linux-64": "2.28", "cmake": "3.25.1", "ninja": "1.11", "pkg-config": "0.29",
         "zlib": "1.2.13", "zstd": "1.5.4"}

counts = {"passed": 0, "failed": 0}


def check(what, holds, detail=""):
    """Counts one check, and prints what failed."""
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAIL {what}\n    {detail}")
    return holds


def make_channel(folder):
    """Writes the empty packages. The compiler's sets CC when it is activated, as that of conda-forge does."""
    for name, version in TOOLS.items():
        files = folder / "files" / name
        (files / "share").mkdir(parents=True)
        (files / "share" / f"{name}.txt").write_text("This package is empty.\n")
        if name.startswith("gcc"):
            activate = files / "etc/conda/activate.d"
            activate.mkdir(parents=True)
            names = [v for v in os.environ if v.startswith("CCACHE_") or v == "CMAKE_C_COMPILER_LAUNCHER"]
            lines = [f'export {v}="{os.environ[v]}"' for v in names] + [f'export CC="{shutil.which("cc")}"']
            (activate / "gcc.sh").write_text("\n".join(lines) + "\n")
        rattler_build.assemble_package(name, version, PLATFORM, "0", folder / "channel" / PLATFORM, files_dir=files)
    (folder / "channel" / "noarch").mkdir(parents=True)
    asyncio.run(rattler.index.index_fs(folder / "channel"))
    return (folder / "channel").as_uri()


def variant(*names):
    """The variant that files next to the recipe describe."""
    return rattler_build.VariantConfig.from_files([HERE / name for name in names])


def version_of_header():
    """The version in include/echelon/base.h."""
    return subprocess.run([SOURCE / "scripts/version.sh"], check=True, capture_output=True, text=True).stdout.strip()


def test_render(recipe):
    """The recipe has one package per variant, and only the variant with CUDA requires nvcc and xz."""
    cpu = recipe.render(variant("variants.yaml"))
    gpu = recipe.render(variant("variants.yaml", "cuda.yaml"))
    check("one package for the CPU", len(cpu) == 1, cpu)
    check("one package for GPUs", len(gpu) == 1, gpu)
    texts = [str(rendered[0].recipe.to_dict()) for rendered in (cpu, gpu)]
    check("the version is that of the header", cpu[0].recipe.package.version == version_of_header(),
          cpu[0].recipe.package.version)
    for word in ("cuda-nvcc", "xz-tools", "liblzma-devel"):
        check(f"only the variant with CUDA needs {word}", [word in text for text in texts] == [False, True], texts)


def test_build(recipe, folder, channel):
    """The package is built, contains what it should, and its tests pass."""
    os.chdir(folder)
    try:
        results = recipe.run_build(variant("variants.yaml"), output_dir=folder / "output",
                                   tool_config=rattler_build.ToolConfiguration(test_strategy="skip"),
                                   channels=[channel], no_build_id=True)
    except Exception as error:  # the library has no common base class of its errors
        check("the recipe builds", False, error)
        return
    check("the recipe builds", len(results) == 1 and len(results[0].packages) == 1, results)
    package = rattler_build.Package.from_file(results[0].packages[0])
    print(f"{package.name} {package.version} {package.build_string}: {len(package.files)} files")
    check("the package for the CPU needs nothing from CUDA", not any("cuda" in str(d) for d in package.depends),
          package.depends)
    tests = package.run_tests(channel=[channel, (folder / "output").as_uri()])
    check("two tests of the recipe run after the build", len(tests) == 2, tests)
    for number, result in enumerate(tests):
        check(f"test {number} of the recipe", result.success, "\n    ".join(map(str, result.output)))


def main():
    """Renders, builds and tests in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy = folder / "source"
        copy.mkdir()
        subprocess.run([SOURCE / "scripts/dist.sh", "--copy", copy], check=True)
        recipe = rattler_build.Stage0Recipe.from_file(copy / "packaging/conda/recipe.yaml")
        test_render(recipe)
        test_build(recipe, folder, make_channel(folder))
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
