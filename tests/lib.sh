# lib.sh - shared functions of the test scripts: counts, and the last line, which scripts/check.sh reads.
# SPDX-License-Identifier: Apache-2.0

passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "skip $*"; }

# check WHAT COMMAND...: passes if the command succeeds, otherwise fails with the name WHAT and prints the output.
check() {
    what=$1
    shift
    if output=$("$@" 2>&1); then pass; else fail "$what"; printf '%s\n' "$output" | sed 's/^/    /'; fi
}

# A script without passed or failed checks counts as skipped.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || exit 1
    [ "$passed" -gt 0 ] || exit 77
    exit 0
}
