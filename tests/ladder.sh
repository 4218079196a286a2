#!/bin/sh
# ladder.sh COMMAND NAME - runs every rung of one ladder on the SIMT emulator: checks the results for unusual sizes and
# every type, in two orders of blocks and warps, and then the counts and the claims about them.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"
echelon=$1 name=$2

text=$("$echelon" ladder "$name" --check --device simt 2>&1)
status=$?
echo "$text"
check "a rung of $name is wrong" test "$status" -eq 0
checked=$(echo "$text" | sed -n 's/^\([0-9]*\) checked, .*/\1/p')
wrong=$(echo "$text" | sed -n 's/^[0-9]* checked, \([0-9]*\) wrong$/\1/p')
check "no rung of $name was checked" test "${checked:-0}" -gt 0
passed=$((passed + ${checked:-0} - ${wrong:-0}))
failed=$((failed + ${wrong:-0}))

if "$echelon" ladder "$name" --device simt --seed 7; then pass
else fail "$name is wrong in another order, or a claim about its counts is false"; fi
finish
