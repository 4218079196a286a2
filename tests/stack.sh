#!/bin/sh
# stack.sh TEST... - runs tests of operations on the CPU with a stack of 64 KiB, which docs/guide/threads.md promises to
# be enough for a thread that calls the library. The system uses up to 8 KiB of the limit for a random offset.
# Exit status: 0 all passed, 1 otherwise.
#
# SPDX-License-Identifier: Apache-2.0
ulimit -s 72 || exit 1
passed=0 failed=0
for test in "$@"; do
    if output=$(env -i "$test" --device cpu --quick --every 121 --offset 1 2>&1); then
        passed=$((passed + 1))
    else
        printf 'FAIL %s\n%s\n' "$test" "$output" | tail -20
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
test "$failed" = 0 && test "$passed" -gt 0
