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

# pytest_result NAME LOG STATUS: adds the numbers of a run of pytest -rs with this output and exit status. Prints a line
# for each reason of skipped tests, and the output if a test failed.
pytest_result() {
    summary=$(tail -n 1 "$2") # "2 failed, 10 passed, 1 skipped, 3 warnings, 1 error in 0.12s"
    number() { echo "$summary" | sed -n "s/^\(.*[ =]\)*\([0-9][0-9]*\) $1.*/\2/p"; }
    good=$(number passed) bad=$(number failed) errors=$(number error) left=$(number skipped)
    bad=$((${bad:-0} + ${errors:-0}))
    passed=$((passed + ${good:-0})) failed=$((failed + bad)) skipped=$((skipped + ${left:-0}))
    awk -v name="$1" '/^SKIPPED \[[0-9]+\] / {
        n = $2
        gsub(/[^0-9]/, "", n)
        sub(/^SKIPPED \[[0-9]+\] [^ ]+ /, "")
        count[$0] += n
    } END { for (reason in count) printf "skip %s: %d x %s\n", name, count[reason], reason }' "$2" | sort
    [ "$3" -ne 0 ] || return 0
    sed 's/^/    /' "$2"
    [ "$bad" -gt 0 ] || [ "$3" -eq 5 ] || fail "$1: pytest ended with status $3" # 5: no test was selected
}

# A script without passed or failed checks counts as skipped.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || exit 1
    [ "$passed" -gt 0 ] || exit 77
    exit 0
}
