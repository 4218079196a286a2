#!/bin/sh
# check.sh - runs all tests of a build directory and adds up their cases.
#
#   scripts/check.sh BUILD_DIR [ctest arguments]
#
# The last line of a test program is "N passed, N failed, N skipped", the numbers of its cases. A test without such
# a line counts as one case. The last line of this script is "N passed, N failed". The exit status is 1 if a case
# failed or none passed.
#
# SPDX-License-Identifier: Apache-2.0
set -u
build=$1
shift
log=$build/Testing/Temporary/LastTest.log
rm -f "$log"

start=$(date +%s)
ctest --test-dir "$build" --output-on-failure --no-tests=error \
    --parallel "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" "$@"
status=$?
end=$(date +%s)

[ -f "$log" ] || { echo "0 passed, 1 failed"; exit 1; }
totals=$(awk '
    function close_test() {
        if (!open) return
        if (!result) result = "failed" # the run was interrupted
        if (!lines && result == "skipped") skipped++
        else if (!lines && result == "passed") passed++
        else if (result == "failed" && !own_failed) failed++ # crashed, or has no cases of its own
        open = 0
    }
    /^[0-9]+\/[0-9]+ Testing: / { close_test(); open = 1; lines = own_failed = 0; result = "" }
    /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
        lines++; passed += $1; failed += $3; own_failed += $3; skipped += $5
    }
    /^Test Pass(ed\.| Reason:)/ { result = "passed" }
    /^Test Fail(ed\.| Reason:)/ { result = "failed" }
    /^Test Skipped\.$/ { result = "skipped" }
    /^Test (timed out|Timed Out)/ { result = "failed" }
    END { close_test(); print passed + 0, failed + 0, skipped + 0 }
' "$log")
# shellcheck disable=SC2086  # three numbers
set -- $totals
passed=$1 failed=$2 skipped=$3
[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1

echo
echo "cases: $passed passed, $failed failed, $skipped skipped, in $((end - start)) s"
[ "$skipped" -gt 0 ] && grep -h '^skip' "$log" | sort | uniq -c | sort -rn | head -20
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
