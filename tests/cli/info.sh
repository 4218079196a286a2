# The devices of this machine.
code echelon info >out
head -n 1 out | tr 0-9 N
grep -c '^cpu: ' out
grep -c -E '^cuda(:[0-9]+)?: .' out | sed 's/^[1-9][0-9]*$/a GPU, or why there is none/'
code echelon info --json >json
if command -v python3 >/dev/null; then python3 -m json.tool json >/dev/null || echo "bad JSON"; fi
grep -o -E '"(version|devices|memory_bytes)"' json | sort -u
