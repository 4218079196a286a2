#!/bin/sh
# install_packages.sh FOLDER [PACKAGE...] - installs MPICH, mpi4py, Dask and pandas from PyPI in a virtual environment, for
# the tests with processes as ranks, unless the folder has them. The system does not change. NO_INSTALL=1 installs nothing.
# A failure, such as a missing network, is reported; these tests are skipped then.
#
#   PACKAGE    also this one: "torch" and "ray" (5 GB) for the tests of torch.distributed and of ray_sort.py
#
# SPDX-License-Identifier: Apache-2.0
set -u
folder=$1
shift
packages="numpy pytest mpich mpi4py dask[dataframe] distributed"
# Packages of the system are not used: dask imports a SciPy that it finds, which may need another NumPy than pandas.
[ "$(cat "$folder/packages" 2>/dev/null)" = "$packages" ] && [ -x "$folder/bin/mpiexec" ] && [ $# -eq 0 ] && exit 0
if [ "${NO_INSTALL:-0}" = 0 ]; then
    { { [ -x "$folder/bin/mpiexec" ] && [ -e "$folder/packages" ]; } || rm -rf "$folder"
        mkdir -p "$folder" && python3 -m venv "$folder" &&
        # shellcheck disable=SC2086  # a list
        "$folder/bin/python" -m pip install -q --disable-pip-version-check --retries 1 --timeout 10 \
            --only-binary :all: $packages "$@" && echo "$packages" >"$folder/packages"; } >/dev/null 2>&1 ||
        [ -e "$folder/packages" ] || rm -rf "$folder"
fi
[ -x "$folder/bin/mpiexec" ] ||
    echo "$folder has no MPICH, mpi4py and Dask (from PyPI): tests with processes as ranks are skipped."
exit 0
