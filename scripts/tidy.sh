#!/bin/sh
# tidy.sh - runs clang-tidy 14 with the checks of .clang-tidy on the host code of src and cli.
#
#   scripts/tidy.sh [BUILD_DIR [FILE...]]
#
# BUILD_DIR (default: build-tidy) is configured if it has no compile_commands.json; it need not be built. FILE: only
# these sources, as paths from the repository root. Prints findings; the exit status is 1 if there are any. All files
# take about ten minutes on one core.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-tidy}
[ $# -eq 0 ] || shift

# Other versions have different checks.
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "tidy.sh: clang-tidy is not installed" >&2; exit 2; }
"$tidy" --version | grep -q 'version 14' || { echo "tidy.sh: $tidy is not version 14" >&2; exit 2; }

if [ ! -f "$build/compile_commands.json" ]; then
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DECHELON_CUDA=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
    [ -f "$build/compile_commands.json" ] || { echo "tidy.sh: no $build/compile_commands.json" >&2; exit 2; }
fi
sed -i 's/ -mmemset-strategy=[^ ]*//' "$build/compile_commands.json" # an option of gcc that clang rejects
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046  # the sources that this build compiles; names without blanks
    set -- $(sed -n "s#^ *\"file\": \"$PWD/\(\(src\|cli\)/.*\.c\)\".*#\1#p" "$build/compile_commands.json" | sort -u)
fi
[ $# -gt 0 ] || { echo "tidy.sh: $build compiles no file of src or cli" >&2; exit 2; }

# One process per file keeps all cores busy.
status=0
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 \
    "$tidy" -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2>"$build/tidy.log" || status=1
grep -E '(error|fatal):' "$build/tidy.log" >&2 || true
echo "tidy.sh: $# files, $([ $status -eq 0 ] && echo "no findings" || echo "findings")"
exit $status
