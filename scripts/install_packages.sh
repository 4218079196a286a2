#!/bin/sh
# install_packages.sh FOLDER - installs MPICH, mpi4py and Dask from PyPI in a virtual environment, for the tests with
# processes as ranks, unless the folder has them. The system does not change. NO_INSTALL=1 installs nothing. A failure, such as
# a missing network, is reported; these tests are skipped then.
#
# SPDX-License-Identifier: Apache-2.0
set -u
folder=$1
[ ! -x "$folder/bin/mpiexec" ] || exit 0
if [ "${NO_INSTALL:-0}" = 0 ]; then
    python=python3
    $python -c "import numpy, pytest" 2>/dev/null || python=/usr/bin/python3
    { mkdir -p "$folder" && $python -m venv --system-site-packages "$folder" &&
        "$folder/bin/python" -m pip install -q --disable-pip-version-check --retries 1 --timeout 10 \
            --only-binary :all: mpich mpi4py dask distributed; } >/dev/null 2>&1 || rm -rf "$folder"
fi
[ -x "$folder/bin/mpiexec" ] ||
    echo "$folder has no MPICH, mpi4py and Dask (from PyPI): tests with processes as ranks are skipped."
exit 0
