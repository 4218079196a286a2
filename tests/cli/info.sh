# The devices of this machine.
code echelon info >out
head -n 1 out | tr 0-9 N
grep -c '^cpu: ' out
grep -c -E '^cuda(:[0-9]+)?: .' out | sed 's/^[1-9][0-9]*$/a GPU, or why there is none/'
code echelon info --json >json
if command -v python3 >/dev/null; then python3 -m json.tool json >/dev/null || echo "bad JSON"; fi
grep -o -E '"(version|devices|memory_bytes)"' json | sort -u

# The number of threads: ECHELON_THREADS before OMP_NUM_THREADS before the affinity mask.
threads() { env -u ECHELON_THREADS -u OMP_NUM_THREADS "$@" echelon info | grep -o 'threads  *[0-9]*' | tr -s ' '; }
threads OMP_NUM_THREADS=7
threads OMP_NUM_THREADS=7 ECHELON_THREADS=3
threads taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[^0-9].*//')"
echo 3 >keys.txt
code env ECHELON_THREADS=two echelon sort keys.txt --type u8 --device cpu
