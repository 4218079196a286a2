# The exact output of counts and faults, which are those of tests/fake_libsimt.c.
[ -n "${ECHELON_FAKE_LIBSIMT-}" ] || skip "no emulator"
export ECHELON_LIBSIMT=$ECHELON_FAKE_LIBSIMT
echelon gen -N 5 -o a.u32
code echelon profile sort a.u32
code env FAKE_SIMT_FAULTS=2 echelon profile sort a.u32 --lines --kernel fast
code echelon profile sort a.u32 --csv --lines
code env FAKE_SIMT_FAULTS=1 echelon profile sort a.u32 --csv --kernel none
code env FAKE_SIMT_FAULTS=2 echelon profile sort a.u32 --json --lines >json
sed -E 's/"(version|plan)": "[^"]*"/"\1": V/g; s/, "(total|lines|faults)"/,\n"\1"/g' json
if command -v python3 >/dev/null; then python3 -m json.tool json >/dev/null || echo "bad JSON"; fi
echo "--check"
code echelon profile sort a.u32 --check
code env FAKE_SIMT_FAULTS=2 echelon profile sort a.u32 --check
code env FAKE_SIMT_FAULTS=1 echelon profile sort a.u32 --check --json >json
grep -o '"kernels"' json
code echelon profile sort a.u32 --kernel quick
files
