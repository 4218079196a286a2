#!/bin/sh
# loading.sh SOURCE BUILD CC - no code is loaded from the current folder, and none that the environment names in a
# process with more privileges than its caller; and the library can be closed.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# ---- Search paths ----

# An empty entry of a search path is the current folder.
for file in src/libechelon.so src/libechelon_simt.so cli/echelon; do
    [ -e "$build/$file" ] || continue
    path=$(readelf -d "$build/$file" | sed -n 's/.*R[UN]*PATH.*\[\(.*\)\]/:\1:/p')
    case $path in *::*) bad=yes ;; *) bad=no ;; esac
    check "$file searches the current folder: $path" test $bad = no
done

# ---- Environment variables ----

# A library that leaves a mark when it is loaded, and one that pretends that the process is privileged.
cat >"$work/mark.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void leave(void)
{
    FILE *file = fopen(getenv("MARK"), "w");
    if (file) fclose(file);
}
END
cat >"$work/privileged.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
    return type == AT_SECURE ? 1 : next(type);
}
END
for name in mark privileged; do
    check "$name.so" "$cc" -shared -fPIC -w "$work/$name.c" -o "$work/$name.so" -ldl
done
export MARK="$work/loaded"
if grep -q '^ECHELON_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
    skip "variables: a sanitizer must be the first library"
else
    while read -r variable words; do
        # shellcheck disable=SC2086
        for privileged in no yes; do
            rm -f "$MARK"
            if [ $privileged = yes ]; then preload=$work/privileged.so; else preload=; fi
            printf '1\n2\n' | LD_PRELOAD=$preload env "$variable=$work/mark.so" "$build/cli/echelon" $words \
                >/dev/null 2>&1
            if [ $privileged = yes ]; then
                check "$variable is used in a privileged process" test ! -e "$MARK"
            elif [ ! -e "$MARK" ]; then
                skip "$variable: this build does not open such a library"
            else
                pass
            fi
        done
    done <<END
ECHELON_LIBSIMT sort --device simt
ECHELON_LIBCUDA sort --device cuda
ECHELON_BLAS explain matmul --device cpu
ECHELON_LAPACK explain solve --method lu --shape 9x9 --device cpu
ECHELON_SPARSE_DIRECT explain solve --method direct --nnz 9 --shape 9x9 --device cpu
END
    # A file that the emulator writes at the end.
    tally=$work/tally
    for preload in "" "$work/privileged.so"; do
        rm -f "$tally"
        sorted=$(printf '2\n1\n' | LD_PRELOAD=$preload env "ECHELON_SIMT_TALLY=$tally" "$build/cli/echelon" sort --device simt \
            2>/dev/null | tr '\n' ' ')
        if [ "$sorted" != "1 2 " ]; then
            skip "ECHELON_SIMT_TALLY: this build has no emulator"
        elif [ -n "$preload" ]; then
            check "ECHELON_SIMT_TALLY is used in a privileged process" test ! -e "$tally"
        else
            check "ECHELON_SIMT_TALLY does not write a file" grep -q sort "$tally"
        fi
    done
fi

# ---- Hardening ----

if grep -q '^ECHELON_SANITIZE:STRING=..*\|^ECHELON_HARDEN:BOOL=OFF' "$build/CMakeCache.txt"; then
    skip "hardening: not in this build"
else
    for file in src/libechelon.so src/libechelon_simt.so cli/echelon; do
        [ -e "$build/$file" ] || continue
        readelf -dlW "$build/$file" >"$work/elf"
        readelf -sW "$build/$file" >"$work/symbols"
        check "$file has lazy relocations" grep -q 'BIND_NOW\|FLAGS.* NOW' "$work/elf"
        check "$file has writable relocations" grep -q GNU_RELRO "$work/elf"
        check "$file has an executable stack" grep -q 'GNU_STACK.* RW ' "$work/elf"
        check "$file has no stack protector" grep -q __stack_chk_fail "$work/symbols"
        grep -q '^CMAKE_BUILD_TYPE:STRING=Debug' "$build/CMakeCache.txt" ||
            check "$file has no checked functions" grep -q 'printf_chk' "$work/symbols"
    done
fi

# ---- dlclose() ----

check "unload.c" "$cc" -std=c11 -w -I"$source/include" "$source/tests/unload.c" -o "$work/unload" -ldl
if grep -q '^ECHELON_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
    skip "dlclose(): a sanitizer must be the first library"
elif [ ! -e "$build/src/libechelon.so" ]; then
    skip "dlclose(): no shared library"
else
    check "the library cannot be closed" "$work/unload" "$build/src/libechelon.so"
fi
check "the library needs a runtime for threads" \
    sh -c '! readelf -d "$1" | grep -q "NEEDED.*\(gomp\|omp\|tbb\)"' sh "$build/src/libechelon.so"
finish
