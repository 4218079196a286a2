#!/bin/sh
# site.sh DIRECTORY - builds the documentation as a static site in DIRECTORY; a dead link is an error (make docs).
#
#   PYTHON   the interpreter that has MkDocs; python3 by default
#
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -eq 1 ] || { echo "usage: scripts/site.sh DIRECTORY" >&2; exit 2; }
python=${PYTHON:-python3}
case $1 in /*) site=$1 ;; *) site=$PWD/$1 ;; esac
cd "$(dirname "$0")/.."

if ! "$python" -c 'import mkdocs, material, pymdownx' 2>/dev/null; then
    cat >&2 <<END
make docs needs MkDocs and Material for MkDocs, which $python does not have.  Nothing was built.
To install the versions of docs/requirements.txt in a folder of their own, and build with them:

    python3 -m venv build-docs
    build-docs/bin/pip install -r docs/requirements.txt
    make docs PYTHON=build-docs/bin/python
END
    exit 1
fi
mkdir -p build
"$python" scripts/site.py build/site-pages
# Material prints a notice about its future; docs/requirements.txt pins the version.
if ! NO_MKDOCS_2_WARNING=1 "$python" -m mkdocs build --strict --site-dir "$site" >build/site.log 2>&1; then
    grep -v '^INFO' build/site.log >&2
    exit 1
fi
echo "The documentation is in $1: open $1/index.html."
