#!/bin/sh
# wheel.sh SOURCE BUILD PYTHON - builds a wheel without kernels for GPUs and the source distribution, and tests them with
# scripts/wheel_test.sh. Skipped without venv or PyPI.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 python=$3
. "$source/tests/lib.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/tools" >"$work/log" 2>&1 ||
    { skip "wheel: $python cannot create virtual environments"; finish; }
"$work/tools/bin/python" -m pip download -q --no-deps -d "$work" build >"$work/log" 2>&1 ||
    { skip "wheel: PyPI cannot be reached"; finish; }
out=$build/wheel-test
rm -f "$out"/*.whl "$out"/*.tar.gz
PATH=$work/tools/bin:$PATH ECHELON_CUDA_ARCHS=none "$source/scripts/wheel.sh" "$out" ||
    { fail "scripts/wheel.sh"; finish; }
exec "$source/scripts/wheel_test.sh" "$out"/*.whl "$out"/*.tar.gz
