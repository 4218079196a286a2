# prelude.sh - functions for the tests of the command.
#
# SPDX-License-Identifier: Apache-2.0

# Runs a command and prints its exit status, also if the output of the command is redirected.
exec 9>&1
code() {
    "$@" 9>&-
    echo "exit $?" >&9
}

# The header of a .npy file: npy DESCR SHAPE [FORTRAN [MAJOR]]
npy() {
    npy_dict "{'descr': '$1', 'fortran_order': ${3-False}, 'shape': $2, }" "${4-1}"
}

# The header with a given dict: npy_dict DICT [MAJOR]
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

# Lists the files of the directory, including hidden ones, to find temporary files.
files() {
    echo "files: $(find . -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ')"
}

skip() {
    echo "$*" >&2
    exit 77
}

# Uses another Python if that of the PATH has no NumPy.
needs_numpy() {
    command python3 -c 'import numpy' 2>/dev/null && return
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3 has no numpy"
    python3() { /usr/bin/python3 "$@"; }
}

# For tests of compressed files: needs_packing EXTENSION PROGRAM
needs_packing() {
    command -v "$2" >/dev/null || skip "no $2"
    echelon gen uniform -N 1 -o "probe.txt.$1" 2>probe && rm "probe.txt.$1" probe && return
    grep -q 'was built without' probe && skip "the command was built without the library of $2"
    cat probe >&2
}

# For tests of "echelon emulate", which compiles kernels.
needs_compiler() {
    needs_plain_build
    echelon info | grep -q '^simt: ' || skip "no emulator"
    command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null ||
        skip "no C++ compiler"
}

# A limit of the address space does not work with a sanitizer, which reserves much of it.
needs_plain_build() {
    grep -q -e __asan_init -e __tsan_init -e __msan_init "$ECHELON" && skip "not with a sanitizer"
    return 0
}
