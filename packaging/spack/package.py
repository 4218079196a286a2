# package.py - the Spack package of Echelon.
# SPDX-License-Identifier: Apache-2.0

import os

from spack.package import *

try:  # Spack 1.0 and later; before, spack.package has these classes
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass


class Echelon(CMakePackage, CudaPackage):
    """Sorting, scans, reductions, histograms, selection, matrix products, linear systems and linear algebra over GF(2)
    on NVIDIA GPUs and CPUs: a C11 library and a command."""

    # "make dist" writes the archive, which Spack expects in the current folder; it has no checksum that could be listed
    # here, so that the installation needs the option --no-checksum. In a checkout "spack dev-build" needs no archive.
    manual_download = True
    url = f"file://{os.getcwd()}/echelon-0.2.0.tar.gz"

    license("Apache-2.0 AND MIT")

    version("0.2.0")

    variant("static", default=False, description="Also build the static library")
    variant("tools", default=True, description="Build the command echelon")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")
    depends_on("zlib-api", when="+tools")
    depends_on("zstd", when="+tools")
    depends_on("xz", type=("build", "link", "run"), when="+cuda")

    generator("ninja")

    conflicts("platform=darwin", msg="Echelon supports Linux only")
    conflicts("platform=windows", msg="Echelon supports Linux only")

    # Without cuda_arch: the compute capabilities of the CMake preset "release".
    release_archs = ("75", "80", "90", "100", "120")

    def cmake_args(self):
        archs = self.release_archs
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            archs = self.spec.variants["cuda_arch"].value
        args = [
            self.define_from_variant("ECHELON_BUILD_CLI", "tools"),
            self.define_from_variant("ECHELON_BUILD_STATIC", "static"),
            self.define_from_variant("ECHELON_CUDA", "cuda"),
            self.define("ECHELON_BUILD_BENCH", False),
            self.define("ECHELON_BUILD_PYTHON", False),
            self.define("ECHELON_BUILD_TESTS", False),
            self.define("ECHELON_SIMT", False),
            self.define("ECHELON_WERROR", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("ECHELON_NVCC", self.spec["cuda"].prefix.bin.nvcc))
            args.append(self.define("ECHELON_CUDA_ARCHS", list(archs)))
        return args

    def test_sort(self):
        """sort three numbers with the installed command"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("the command is not built")
        echelon = which(self.prefix.bin.echelon)
        with open("numbers.txt", "w") as file:
            file.write("3\n1\n2\n")
        out = echelon("sort", "--device", "cpu", "numbers.txt", output=str.split, error=str.split)
        assert out.split() == ["1", "2", "3"], out
