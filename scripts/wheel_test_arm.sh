#!/bin/sh
# wheel_test_arm.sh WHEEL - runs the tests of the Python package with a wheel for 64-bit Arm processors, under qemu.
#
# A Python for Arm and its libraries are unpacked from Debian's packages into a temporary folder; nothing is installed.
# Needs qemu-aarch64-static (qemu-user-static), apt-get and dpkg of Debian 12, pip, and their servers.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/tests/lib.sh"
[ $# -eq 1 ] && [ -f "$1" ] || { echo "usage: scripts/wheel_test_arm.sh WHEEL" >&2; exit 2; }
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
for tool in qemu-aarch64-static apt-get dpkg python3 unzip; do
    command -v "$tool" >/dev/null 2>&1 || { skip "wheel for Arm: there is no $tool"; finish; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The packages of another architecture, with lists of their own.
mkdir -p "$work/lists/partial" "$work/packages" "$work/root" "$work/wheels" "$work/site" "$work/empty"
chmod 755 "$work"
apt_arm() {
    (cd "$work/packages" && apt-get -q -oAPT::Architecture=arm64 -oAPT::Architectures=arm64 \
        -oDir::State::Lists="$work/lists" -oDebug::NoLocking=1 "$@") >>"$work/log" 2>&1
}
apt_arm update && apt_arm download python3.11 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 \
    zlib1g libexpat1 libssl3 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libcrypt1 libuuid1 libgcc-s1 libstdc++6 ||
    { tail -n 5 "$work/log"; skip "wheel for Arm: the packages of Debian 12 cannot be loaded"; finish; }
for package in "$work"/packages/*.deb; do dpkg -x "$package" "$work/root" || exit 1; done
python3 -m pip download -q --only-binary :all: --python-version 3.11 --implementation cp -d "$work/wheels" \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_17_aarch64 \
    --platform manylinux2014_aarch64 numpy pytest hypothesis >"$work/log" 2>&1 ||
    { tail -n 5 "$work/log"; skip "wheel for Arm: NumPy cannot be loaded"; finish; }
packages=$work/root/usr/lib/python3/dist-packages # tests start interpreters without the PYTHONPATH of this one
mkdir -p "$packages"
for file in "$work"/wheels/*.whl; do unzip -q -o "$file" -d "$packages" || exit 1; done
unzip -q -o "$wheel" -d "$work/site" || exit 1

export PYTHONPATH="$work/site" PYTHONHOME="$work/root/usr" PYTHONDONTWRITEBYTECODE=1
unset ECHELON_LIBRARY ECHELON_DEVICE
# The interpreter is a program of this machine, so that tests can start it as sys.executable.
arm=$work/root/usr/bin/python3.11
mv "$arm" "$arm.arm"
printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" -0 "$0" "%s" "$@"\n' "$work/root" "$arm.arm" >"$arm"
chmod +x "$arm"
python() { (cd "$work/empty" && "$arm" "$@"); }
check "the package does not run on aarch64" \
    python -c 'import echelon, platform; assert platform.machine() == "aarch64" and echelon.sort([2, 1])[0] == 1'
python -m pytest -q -rs -p no:cacheprovider --color=no "$source/python/tests" >"$work/log" 2>&1
status=$?
echo "aarch64 under qemu: $(tail -n 1 "$work/log")"
pytest_result "wheel for Arm" "$work/log" "$status"
finish
