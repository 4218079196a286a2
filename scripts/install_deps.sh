#!/bin/sh
# install_deps.sh - installs the missing tools of the build: a C and a C++ compiler, CMake, ninja or make, and with nvcc
# also xz and its library. If none is missing, it does nothing and needs no network. The libraries of compressed files
# are optional: it installs them if that is possible.
#
#   --tests        also Python with NumPy, pytest, hypothesis and SciPy, and KLU, SuperLU and MUMPS, if that is possible:
#                  without them make check skips some tests (install_packages.sh installs more)
#   NO_INSTALL=1   installs nothing: reports the missing tools and the command that installs them, and fails
#
# make demo, make ladder and make check install; all other targets of the Makefile set NO_INSTALL.
#
# SPDX-License-Identifier: Apache-2.0
set -u

have() { command -v "$1" >/dev/null 2>&1; }

# Each line: the missing tool, its purpose, and its package for apt, dnf, pacman, zypper, apk.
missing=
lack() { missing="$missing$1|$2|$3|$4|$5|$6|$7
"; }

if ! have "${CC:-cc}" && ! have gcc && ! have clang; then
    lack "a C compiler" "it compiles the library" \
        gcc gcc gcc gcc gcc
fi
compiler=${CC:-$(command -v cc || command -v gcc || command -v clang || echo none)}
if ! have "$compiler" || ! echo '#include <stdlib.h>' | "$compiler" -E - >/dev/null 2>&1; then
    lack "the C library's headers" "the source files include them" \
        libc6-dev glibc-devel glibc glibc-devel musl-dev
fi
have "${CXX:-c++}" || have g++ || have clang++ ||
    lack "a C++ compiler" "it compiles the CUDA kernels for tests without a GPU" \
        g++ gcc-c++ gcc gcc-c++ g++
have cmake || lack cmake "it configures the build" cmake cmake cmake cmake cmake
if have nvcc || [ -x /usr/local/cuda/bin/nvcc ]; then
    have xz || lack xz "it compresses the CUDA kernels" xz-utils xz xz xz xz
    ! have "$compiler" || echo '#include <lzma.h>' | "$compiler" -E - >/dev/null 2>&1 ||
        lack liblzma "the library decompresses the CUDA kernels with it" \
            liblzma-dev xz-devel xz xz-devel xz-dev
fi
have ninja || have make ||
    lack "ninja or make" "it runs the build" ninja-build ninja-build ninja ninja ninja

if [ -n "$missing" ]; then
    echo "The build needs tools that are not installed:"
    printf %s "$missing" | while IFS='|' read -r what why _; do echo "  $what: $why"; done

    if have apt-get; then column=3 install="apt-get install -y --no-install-recommends"
    elif have dnf; then column=4 install="dnf install -y"
    elif have pacman; then column=5 install="pacman -S --noconfirm --needed"
    elif have zypper; then column=6 install="zypper --non-interactive install"
    elif have apk; then column=7 install="apk add"
    else
        echo "There is no supported package manager: install the tools manually." >&2
        exit 1
    fi
    packages=$(printf %s "$missing" | cut -d'|' -f$column | tr '\n' ' ')
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo "
    if [ "${NO_INSTALL:-0}" != 0 ]; then
        echo "Nothing was installed. To install the tools: $as_root$install $packages" >&2
        exit 1
    fi
    echo "Installing: $as_root$install $packages"
    export DEBIAN_FRONTEND=noninteractive
    if have apt-get; then ${as_root}apt-get update -q || exit 1; fi
    # shellcheck disable=SC2086  # lists of words
    $as_root$install $packages || exit 1
fi

# The libraries of compressed files, which are optional.
lacks_header() { ! echo "#include <$1.h>" | "${CC:-cc}" -E - >/dev/null 2>&1; }
if [ "${NO_INSTALL:-0}" = 0 ] && have apt-get && { lacks_header zlib || lacks_header zstd; }; then
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo -n "
    { ${as_root}apt-get update -q && ${as_root}apt-get install -y --no-install-recommends zlib1g-dev libzstd-dev; } \
        >/dev/null 2>&1
fi
lacks_header zlib && echo "zlib is not installed (zlib1g-dev): the command will not read or write gzip files."
lacks_header zstd && echo "libzstd is not installed (libzstd-dev): the command will not read or write zstd files."

# The modules of Python that tests use, as far as one interpreter has them.
python_has() {
    python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null
}
if [ "${1:-}" = --tests ] && ! python_has "numpy, pytest, hypothesis, scipy"; then
    if [ "${NO_INSTALL:-0}" = 0 ] && have apt-get; then
        as_root=
        [ "$(id -u)" = 0 ] || as_root="sudo -n "
        { ${as_root}apt-get update -q && ${as_root}apt-get install -y --no-install-recommends \
            python3-numpy python3-pytest python3-hypothesis python3-scipy; } >/dev/null 2>&1
    fi
    python_has numpy || echo "Python has no NumPy (python3-numpy): tests that compare with it are skipped."
    python_has "numpy, pytest" || echo "Python has no pytest (python3-pytest): tests of the Python package are skipped."
    for module in hypothesis scipy; do
        python_has "numpy, pytest, $module" ||
            echo "Python has no $module (python3-$module): some tests of the Python package are skipped."
    done
fi

# The libraries of sparse direct solvers that tests use, each if its file is missing. Other releases have other versions.
have_library() { ldconfig -p 2>/dev/null | grep -q "$1"; }
if [ "${1:-}" = --tests ] && have apt-get; then
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo -n "
    while read -r file packages; do
        have_library "$file" && continue
        for package in $packages; do
            [ "${NO_INSTALL:-0}" = 0 ] || break
            ${as_root}apt-get install -y --no-install-recommends "$package" >/dev/null 2>&1 </dev/null && break
        done
        have_library "$file" || echo "$file is not installed ($packages): some tests of sparse direct solvers are skipped."
    done <<END
libklu.so. libklu1 libklu2
libsuperlu.so.5 libsuperlu5
libdmumps_seq-5.5.so libmumps-seq-5.5
END
fi

version=$(cmake --version | sed -n 's/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
# shellcheck disable=SC2086
set -- $version
if [ "$1" -lt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -lt 21 ]; }; then
    echo "cmake has version $1.$2, but the presets need 3.21. Install a newer version, for example with" >&2
    echo "  python3 -m pip install cmake" >&2
    exit 1
fi
