# prelude.sh - what the tests of the command share.
#
# SPDX-License-Identifier: Apache-2.0

# Runs a command and prints its exit code, not to where the command's own output may go.
exec 9>&1
code() {
    "$@" 9>&-
    echo "exit $?" >&9
}

# The header of a .npy file: npy DESCR SHAPE [FORTRAN [MAJOR]]
npy() {
    npy_dict "{'descr': '$1', 'fortran_order': ${3-False}, 'shape': $2, }" "${4-1}"
}

# The same from the whole dict: npy_dict DICT [MAJOR]
npy_dict() {
    local dict=$1 major=${2-1} prefix=10
    [ "$major" -gt 1 ] && prefix=12
    local length=$(((${#dict} + 1 + prefix + 63) / 64 * 64 - prefix))
    printf '\x93NUMPY'
    # shellcheck disable=SC2059  # the format is the bytes
    printf "\\x$(printf %02x "$major")\\x00\\x$(printf %02x $((length % 256)))"
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x $((length / 256)))"
    [ "$major" -gt 1 ] && printf '\x00\x00'
    printf "%-$((length - 1))s\n" "$dict"
}

# Elements of a file as od prints them: dump TYPE FILE [HEADER_BYTES]
dump() {
    od -An -w8000 -v -t "$1" -j "${3-0}" "$2"
}

# Files of the directory, also hidden ones: a temporary file left behind would be among them.
files() {
    echo "files: $(find . -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ')"
}

skip() {
    echo "$*" >&2
    exit 77
}

# A sanitizer reserves too much address space to be told how much there is.
needs_plain_build() {
    grep -q -e __asan_init -e __tsan_init "$ECHELON" && skip "not with a sanitizer"
    return 0
}
