# lib.sh - what the test scripts share: counts, and the line that scripts/check.sh sums up.
# SPDX-License-Identifier: Apache-2.0

passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "skip $*"; }

# check "what it proves" command...: passes when the command succeeds, and shows its output when not.
check() {
    what=$1
    shift
    if output=$("$@" 2>&1); then pass; else fail "$what"; printf '%s\n' "$output" | sed 's/^/    /'; fi
}

# A script in which nothing passed or failed was skipped as a whole.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || exit 1
    [ "$passed" -gt 0 ] || exit 77
    exit 0
}
