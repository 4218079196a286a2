#!/usr/bin/env bash
# gpu_sanitize.sh - runs the cases of tests/kernel_cases.txt, which launch every kernel of the operations, under NVIDIA's
# compute-sanitizer.
#
#   scripts/gpu_sanitize.sh [--tools "memcheck initcheck"] [--jobs N] [--seconds N] [--only PATTERN] BUILD_DIR OUT_DIR
#
# Runs N lines of the list at a time (8), each at most so many seconds (300). Writes a log for each tool and line to
# OUT_DIR, and prints a row for each. A line that does not end in time is "not finished", which is not a failure of its
# cases, but counts as one of this script. Exit status: 0 all clean, 1 otherwise.
#
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
tools="memcheck initcheck" jobs=8 seconds=300 only=.
usage() { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
while [ $# -gt 2 ]; do
    case $1 in
    --tools) tools=$2 ;;
    --jobs) jobs=$2 ;;
    --seconds) seconds=$2 ;;
    --only) only=$2 ;;
    *) usage ;;
    esac
    shift 2
done
[ $# -eq 2 ] || usage
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2

one() { # TOOL NUMBER PROGRAM ARGUMENT...
    local tool=$1 log="$out/$1_$2_$3.log" begin=$SECONDS status result exclude=""
    local program=$3
    shift 3
    # racecheck does not support the order between warps that mbarriers establish, which the rings of scans use.
    [ "$tool$program" = racecheckscan ] && exclude="--kernel-name-exclude kns=_ring"
    # shellcheck disable=SC2086  # two words or none
    timeout "$seconds" compute-sanitizer --tool "$tool" $exclude --error-exitcode 9 "$build/tests/test_$program" \
        --device cuda "$@" >"$log" 2>&1
    status=$?
    result=clean
    if [ $status -eq 124 ]; then result="not finished"
    elif [ $status -ne 0 ]; then result="FAILED, status $status"; fi
    printf '%-10s %-14s %4d s  %s; %s; %s\n' "$tool" "$program" $((SECONDS - begin)) "$result" \
        "$(grep -E '^[0-9]+ passed, ' "$log" | tail -n 1)" "$(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | tail -n 1 | sed 's/=* *//')"
    [ "$result" = clean ] || touch "$out/failed"
}

rm -f "$out/failed"
number=0
for tool in $tools; do
    while read -r when program arguments; do
        case $when in '' | '#'* | *,sm=*) continue ;; esac # sm: for the emulator as an older GPU
        grep -qE -- "$only" <<<"$program" || continue
        number=$((number + 1))
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        # shellcheck disable=SC2086  # the arguments are words
        one "$tool" "$number" "$program" $arguments &
    done <"$source/tests/kernel_cases.txt"
done
wait
[ ! -e "$out/failed" ]
