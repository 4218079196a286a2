# What is here.
code echelon info >out
head -n 1 out | tr 0-9 N
grep -c '^cpu: ' out
tail -n 1 out
code echelon info --json >json
if command -v python3 >/dev/null; then python3 -m json.tool json >/dev/null || echo "bad JSON"; fi
grep -o -E '"(version|devices|memory_bytes)"' json | sort -u
