#!/bin/sh
# wheel_test.sh WHEEL [SDIST] - checks the contents of a wheel, installs it in a fresh virtual environment of each
# Python that can be found, and runs python/tests there, with no compiler in PATH. With SDIST, also builds that source
# distribution without CUDA in the first environment, and runs the tests again.
#
#   PYTHONS="python3.9 /opt/python/bin/python3"   only these interpreters; the default is python3.9 to python3.14 and
#                                                 the free-threaded python3.13t and python3.14t, from PATH and pyenv
#
# The environments are removed afterwards. pip needs PyPI for NumPy, pytest and hypothesis.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/tests/lib.sh"
[ $# -ge 1 ] && [ -f "$1" ] || { echo "usage: scripts/wheel_test.sh WHEEL [SDIST]" >&2; exit 2; }
absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
wheel=$(absolute "$1")
sdist=${2:+$(absolute "$2")}
extension=$(echo "$(dirname "$wheel")"/fast/*.whl)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH PYTHONHOME ECHELON_LIBRARY ECHELON_DEVICE
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# The path of version $1, such as 3.9 or 3.14t, or nothing.
python_of() {
    for candidate in "python$1" /usr/bin/"python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/${1%t}".*/bin/"python$1"; do
        path=$(command -v "$candidate") && "$path" -c '' 2>/dev/null && { echo "$path"; return; }
    done
}

pythons=${PYTHONS:-}
if [ -z "$pythons" ]; then
    for version in 3.9 3.10 3.11 3.12 3.13 3.14 3.13t 3.14t; do
        found=$(python_of "$version")
        if [ -n "$found" ]; then pythons="$pythons $found"
        else skip "wheel: there is no Python $version on this machine; the package is untested with it"; fi
    done
fi

# The contents, by the first Python of the list.
contents() {
    "$1" - "$wheel" <<'END'
import re, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = [name for name in wheel.namelist() if not name.endswith("/")]
libraries = [name for name in names if ".so" in name]
metadata = wheel.read([name for name in names if name.endswith("/METADATA")][0]).decode()
needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
allowed = r"echelon/.*\.pyi?|echelon/py\.typed|echelon/_lib/libechelon(\.so\.\d+\.\d+|_mpi\.so)" \
    r"|echelon/_lib/echelon/kernels\.pack" \
    r"|echelon_sort-[^/]*\.dist-info/(METADATA|WHEEL|RECORD|licenses/(.*/)?LICENSE|sboms/.*)"
others = [name for name in names if not re.fullmatch(allowed, name)]
assert not others, f"files that do not belong in the wheel: {others}"
assert len(libraries) == 2 and "echelon/py.typed" in names, names
assert sum(name.endswith("/LICENSE") for name in names) == 2, names
assert len(needs) == 1 and "numpy" in needs[0], needs
assert re.search(r"-py3-none-", sys.argv[1]), sys.argv[1]
END
}

# tests NAME PYTHON: runs python/tests with the package that is installed for PYTHON, and adds its numbers.
tests() {
    name=$1 python=$2
    mkdir -p "$work/empty"
    where=$(cd "$work/empty" && PATH=$work/empty "$python" -c 'import echelon; print(echelon.__file__)' 2>&1)
    case $where in "$work"/*) ;; *) fail "wheel: $name: echelon is not that of the environment: $where"; return ;; esac
    (cd "$work/empty" && PATH=$work/empty "$python" -m pytest -q -rs -p no:cacheprovider --color=no \
        "$source/python/tests") >"$work/log" 2>&1
    status=$?
    echo "$name, $("$python" -c 'import numpy; print("NumPy", numpy.__version__)'): $(tail -n 1 "$work/log")"
    pytest_result "wheel, $name" "$work/log" "$status"
}

# extension_tests NAME PYTHON: the tests of the extension that make wheel has built next to the wheel.
extension_tests() {
    name=$1 python=$2
    if [ ! -f "$extension" ]; then
        skip "wheel: $name: the extension echelon-sort-fast is not built"
    elif ! "$python" -m pip install -q --no-deps --no-index "$extension" >"$work/log" 2>&1; then
        skip "wheel: $name: the extension is for other versions: $(tail -n 1 "$work/log")"
    else
        (cd "$work/empty" && PATH=$work/empty "$python" -m pytest -q -rs -p no:cacheprovider --color=no \
            "$source/python/tests/test_fast.py") >"$work/log" 2>&1
        pytest_result "wheel, $name, with the extension" "$work/log" $?
    fi
}

# environment NAME PYTHON REQUIREMENT...: an environment with the wheel and the packages of the tests.
environment() {
    name=$1 python=$2
    shift 2
    "$python" -m venv "$work/$name" >"$work/log" 2>&1 &&
        PATH=$work/empty "$work/$name/bin/python" -m pip install -q --only-binary :all: "$wheel" pytest hypothesis \
            "$@" >"$work/log" 2>&1 && return 0
    fail "wheel: $name: cannot be installed"
    sed 's/^/    /' "$work/log"
    return 1
}

mkdir "$work/empty"
first=
for interpreter in $pythons; do
    version=$("$interpreter" -c '
import sys
print("%d.%d.%d%s" % (*sys.version_info[:3], getattr(sys, "abiflags", "")))')
    if [ -z "$first" ]; then check "the contents of the wheel" contents "$interpreter"; fi
    if environment "$version" "$interpreter"; then
        tests "Python $version" "$work/$version/bin/python"
        extension_tests "Python $version" "$work/$version/bin/python"
    fi
    if [ -z "$first" ]; then # the oldest NumPy, with the oldest interpreter
        first=$interpreter
        case $version in 3.9.*)
            environment oldest "$interpreter" 'numpy<1.24' && tests "Python $version" "$work/oldest/bin/python" ;;
        esac
    fi
    rm -rf "${work:?}/$version" "$work/oldest"
done

if [ -n "$sdist" ] && [ -n "$first" ]; then
    "$first" -m venv "$work/sdist"
    if SKBUILD_CMAKE_DEFINE=ECHELON_CUDA=OFF "$work/sdist/bin/python" -m pip install -v "$sdist" >"$work/log" 2>&1; then
        check "the source distribution without CUDA does not state that it runs on CPUs only" \
            grep -q "this package runs on CPUs only" "$work/log"
        "$work/sdist/bin/python" -m pip install -q --only-binary :all: pytest hypothesis
        tests "source distribution" "$work/sdist/bin/python"
    else
        fail "the source distribution cannot be built"
        tail -n 30 "$work/log" | sed 's/^/    /'
    fi
fi
finish
