#!/bin/sh
# dist.sh SOURCE BUILD [--python PATH] [--sanitize NAMES] - the tests of the Python package whose ranks are processes of
# MPI and workers of Dask, with the Python of BUILD/packages, in which make check installs MPICH, mpi4py, Dask and pandas.
# scripts/install_packages.sh BUILD/packages torch ray adds PyTorch and Ray; their tests are skipped otherwise.
#
# The last line is "N passed, N failed, N skipped". Exit status 77: nothing could run.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2
. "$source/tests/lib.sh"

python=$build/packages/bin/python
case "$*" in
*--sanitize*)
    skip "python_dist: the interpreter cannot load a library that is built with a sanitizer"
    finish
    ;;
esac
if ! [ -x "$python" ]; then
    skip "python_dist: there is no $python: MPICH, mpi4py and Dask are not installed (make check installs them)"
    finish
fi
export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
t=$source/python/tests/test_
set -- "${t}dist_processes.py" "${t}dask.py"
if [ -n "${ECHELON_TEST_LONG:-}" ]; then
    set -- "$@" "${t}stubs.py::test_stub[dask.pyi]" "${t}doctests.py::test_docstring[echelon.dask.sort]" \
        "${t}dist.py::test_torch" "${t}guide.py::test_example[ray_sort]"
fi
"$python" -m pytest -q -rs -p no:cacheprovider --color=no "$@" >"$work/log" 2>&1
pytest_result python_dist "$work/log" $?
finish
