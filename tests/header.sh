#!/bin/sh
# header.sh SOURCE BUILD CC - echelon.h, each of its parts and the amalgamation compile as strict C11 and as C++; cffi
# parses the amalgamation.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 cc=$3
. "$source/tests/lib.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '#include <echelon.h>\n#include <echelon.h>\nint main(void) { return ech_dtype_bytes(ECH_U8) != 1; }\n' \
    >"$work/use.c"
cp "$work/use.c" "$work/use.cpp"
"$source/scripts/amalgamate.sh" "$work/echelon.h" || exit 1
strict="-Wall -Wextra -Wpedantic -pedantic-errors -Wundef -Werror -I$source/include -fsyntax-only"

# shellcheck disable=SC2086  # lists of flags
for standard in c11 c17 gnu11; do
    check "the header is $standard" "$cc" -std=$standard $strict -Wstrict-prototypes "$work/use.c"
done
found=no
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    found=yes
    # shellcheck disable=SC2086
    for standard in c++11 c++17; do
        check "the header is $standard for $cxx" $cxx -std=$standard $strict "$work/use.cpp"
    done
done
[ $found = yes ] || skip "the header as C++: there is no C++ compiler"

# Each header includes what it needs.
for header in "$source"/include/echelon/*.h "$work/echelon.h"; do
    # shellcheck disable=SC2086
    check "$(basename "$header") compiles by itself" "$cc" -std=c11 $strict -x c "$header"
done

# bindgen reads the declarations with clang.
if command -v clang >/dev/null; then
    functions=$(clang -std=c11 -x c -fsyntax-only -Xclang -ast-dump=json "$work/echelon.h" 2>/dev/null |
        grep -c '"name": "ech_[a-z0-9_]*",$')
    check "clang parses the amalgamation" test "$functions" -ge 150
else
    skip "clang is not installed"
fi

if python3 -c 'import cffi' 2>/dev/null; then
    cat >"$work/parse.py" <<'END'
# Reads the header as a binding does: without comments, preprocessor lines, ECH_API and extern "C".
import re, sys, cffi
text = open(sys.argv[1]).read()
text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", text, flags=re.S | re.M)
text = re.sub(r"^\s*#(?:[^\n\\]|\\\n)*", "", text, flags=re.M)
text = text.replace("ECH_API", "")
ffi = cffi.FFI()
ffi.cdef(text)
declared = set(re.findall(r"\b(ech_\w+)\(", text))
assert len(declared) >= 25, declared
assert ffi.sizeof("ech_sort_options") == 80, ffi.sizeof("ech_sort_options")
lib = ffi.dlopen(sys.argv[2])
for name in declared:
    getattr(lib, name)
assert ffi.string(lib.ech_dtype_name(lib.ECH_BF16)) == b"bf16"
END
    library=$(find "$2/src" -name libechelon.so | head -n 1)
    if grep -q '^ECHELON_SANITIZE:STRING=..*' "$2/CMakeCache.txt"; then
        skip "cffi: python cannot open a library with a sanitizer"
    else
        check "cffi parses the header and finds every function" \
            python3 "$work/parse.py" "$work/echelon.h" "$library"
    fi
else
    skip "cffi is not installed"
fi

finish
