#!/bin/sh
# run.sh SOURCE BUILD [--python PATH] [--sanitize NAMES] [PYTEST ARGUMENT...] - the tests of the Python package that is
# staged in BUILD/python. The interpreter is PATH, or the first python3 (3.9 or later) that has NumPy and pytest.
#
# The last line is "N passed, N failed, N skipped", from the summary of pytest. Exit status 77: nothing could run.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2
shift 2
. "$source/tests/lib.sh"

python=
if [ "${1:-}" = --python ]; then python=$2; shift 2; fi
if [ "${1:-}" = --sanitize ]; then
    skip "python: the interpreter cannot load a library that is built with -fsanitize=$2"
    finish
fi

# What a Python lacks, or nothing.
lacks() {
    command -v "$1" >/dev/null 2>&1 || { echo "there is no $1"; return; }
    "$1" -c '
import sys
missing = [] if sys.version_info >= (3, 9) else ["version 3.9 (it has %d.%d)" % sys.version_info[:2]]
for module in ("numpy", "pytest"):
    try:
        __import__(module)
    except ImportError:
        missing.append(module)
if missing:
    print(sys.executable, "lacks", ", ".join(missing))' 2>&1
}

reason="there is no Python 3"
for candidate in ${python:+"$python"} python3 /usr/bin/python3; do
    found=$(lacks "$candidate")
    if [ -z "$found" ]; then reason=; break; fi
    case $found in "there is no "*) ;; *) reason=$found ;; esac
done
if [ -n "$reason" ]; then
    skip "python: $reason"
    finish
fi

export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HYPOTHESIS_STORAGE_DIRECTORY="$work/hypothesis"
"$candidate" -m pytest -q -rs -p no:cacheprovider --color=no "$source/python/tests" "$@" >"$work/log" 2>&1
pytest_result python "$work/log" $?
# The extension is used if it is built. Without it, the functions that it replaces are tested, too.
if [ $# -eq 0 ] && "$candidate" -c "import echelon_fast" 2>/dev/null; then
    t=$source/python/tests/test_
    ECHELON_FAST=0 ECHELON_FUZZ=100 "$candidate" -m pytest -q -rs -p no:cacheprovider --color=no "${t}fuzz.py" \
        "${t}reduce.py" "${t}scan.py" "${t}search.py" "${t}sort.py" "${t}threads.py" "${t}topk.py" \
        -k "not fork and not exit and not processes" >"$work/log" 2>&1
    pytest_result "python without echelon_fast" "$work/log" $?
fi
finish
