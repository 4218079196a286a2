#!/bin/sh
# tidy.sh - clang-tidy 14, with the checks of .clang-tidy, over the host code of src and cli.
#
#   scripts/tidy.sh [BUILD_DIR [FILE...]]
#
# BUILD_DIR (default: build-tidy) is configured if it has no compile_commands.json; nothing in it needs to
# be built.  FILE: only these sources, as paths from here.  Prints findings and exits with 1 if there are
# any.  All files take some ten minutes of one processor.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-tidy}
[ $# -eq 0 ] || shift

# Another version has other checks.
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "tidy.sh: there is no clang-tidy" >&2; exit 2; }
"$tidy" --version | grep -q 'version 14' || { echo "tidy.sh: $tidy is not version 14" >&2; exit 2; }

if [ ! -f "$build/compile_commands.json" ]; then
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DECHELON_CUDA=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
    [ -f "$build/compile_commands.json" ] || { echo "tidy.sh: no $build/compile_commands.json" >&2; exit 2; }
fi
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046  # names without blanks: those that this build compiles
    set -- $(sed -n "s#^ *\"file\": \"$PWD/\(\(src\|cli\)/.*\.c\)\".*#\1#p" "$build/compile_commands.json" | sort -u)
fi
[ $# -gt 0 ] || { echo "tidy.sh: $build compiles no file of src or cli" >&2; exit 2; }

# One process per file keeps all processors busy to the end.
status=0
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 \
    "$tidy" -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2>"$build/tidy.log" || status=1
grep -E '(error|fatal):' "$build/tidy.log" >&2 || true
echo "tidy.sh: $# files, $([ $status -eq 0 ] && echo "no findings" || echo "findings")"
exit $status
