#!/bin/sh
# grid.sh SOURCE - tests the benchmark grid without measuring: its design, that a run is resumed, and the heat map.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$1/tests/lib.sh"
python=$(command -v python3) || { skip "grid: python3 is not installed"; finish; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$python" -B "$1/tests/grid_checks.py" "$1" "$directory" >"$directory/result" 2>&1
while read -r verdict what; do
    case $verdict in
    pass) pass ;;
    *) fail "grid: $verdict $what" ;;
    esac
done <"$directory/result"
[ $((passed + failed)) -ge 5 ] || fail "grid: not all checks ran"
finish
