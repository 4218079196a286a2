# Kernels on the SIMT emulator.  Counts of requests depend on the host's compiler, so the test
# compares only counts that the algorithm determines.
needs_plain_build
echelon info | grep -q '^simt: ' || skip "no emulator"
echelon info --json | grep -o '"simt": "SIMT emulator'

# sum FIELD KERNEL: sums a column of out.csv over the rows of kernels, without source lines
sum() {
    awk -F, -v field="$1" -v kernel="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !$2 && $1 ~ kernel { sum += $at[field] } END { print kernel, field, sum + 0 }' out.csv
}
kernels() { awk -F, 'NR > 1 && !$2 { print $1, $3, $4, $5 }' out.csv; }
no_times() { cut -d, -f 1-5,7-; }

echo "the table"
code echelon profile sort >out
head -n 2 out
grep -E '^(sort_|total)' out | sed 's/,[^,]* ms$//'
grep -o -E '^ +[a-z]+( [a-z]+)*' out | sort | uniq -c
tail -n 1 out
awk 'length > 100' out

echo "counts that the algorithm determines"
code echelon profile sort --algorithm onesweep --csv >out.csv
sum load_bytes histogram
for field in launches barriers store_bytes; do sum $field onesweep; done

echo "the lines of a kernel add up to its counts, and are sorted by cost"
code echelon profile sort -N 20k --type u64 --csv --lines >lines.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    !$2 { for (i = 7; i <= NF; i++) of[$1, i] = $i; before = 2^60; next }
    { for (i = 7; i <= NF; i++) of[$1, i] -= $i
      cost = 0
      for (name in at) if (name ~ /_(sectors|wavefronts)$/) cost += $at[name]
      if (cost > before) print "not by cost:", $0
      before = cost; lines++
      if ($2 ~ /^[a-z_0-9]+\.(cuh?|cc):[0-9]+$/) named++ }
    END { for (i in of) if (of[i]) print "not the sum:", i, of[i]
          print (lines > 50 ? "many lines" : lines), (named / lines > 0.9 ? "with names" : named) }' \
    lines.csv
code echelon profile sort -N 1000 -l --kernel small | grep -c -E '^  [a-z_]+\.cuh?:[0-9]+ ' |
    sed 's/^[1-9][0-9]*$/many/'

echo "runs are identical"
echelon profile sort --csv -l | no_times >again.csv
echelon profile sort --csv -l | no_times | cmp - again.csv && echo same
for words in "--seed 1" "--seed 2 --threads 2"; do
    # shellcheck disable=SC2086
    echelon profile sort --algorithm onesweep --csv $words >out.csv
    echo "exit $?"
    sum barriers .
    sum store_bytes onesweep
done

echo "sorts"
for words in "--type u8" "--type f16" "--type f64 --dist nan-mix" "--values 4 -N 30k" "--values 3 -N 1k" \
    "--argsort -N 1k" "-r --type i64 -N 2" "--bits 0:8 -N 30k" "-N 1" "-N 0" \
    "--dist constant --algorithm onesweep" \
    "--algorithm onesweep -N 100" "--order total --type f32"; do
    echo "$words"
    # shellcheck disable=SC2086
    code echelon profile sort $words --csv >out.csv
    kernels
done
echelon gen -N 3000 --type f32 -o a.npy
echelon gen -N 100 -o a.txt
sum=$(cksum a.npy a.txt)
code echelon profile sort a.npy >out
head -n 1 out
code echelon profile sort a.txt --argsort >out
head -n 1 out
code echelon profile sort - <a.txt >out
head -n 1 out
code echelon profile sort -N 3 --json >json
grep -o -E '"(input|format|type|n|value_bytes|device)": [^,]*|"faults": .*' json
if command -v python3 >/dev/null; then python3 -m json.tool json >/dev/null || echo "bad JSON"; fi
code echelon profile sort a.npy --check
[ "$sum" = "$(cksum a.npy a.txt)" ] && echo "the input is unchanged"

echo "other operations: no faults, and every element is read"
for words in reduce "reduce --op argmin --type f64" "scan --op max --type u8" "hist --bins 10" \
    "hist --bins 4000 --type u16" select "select --where <1000000" "unique --dist few" shuf; do
    # shellcheck disable=SC2086
    code echelon profile $words -N 3000 --check
    # shellcheck disable=SC2086
    echelon profile $words -N 3000 --csv >out.csv
    [ "$(sum load_bytes . | cut -d' ' -f 3)" -ge 3000 ] || echo "$words read too little"
done
code echelon profile scan a.txt >out
head -n 1 out
code echelon profile hist -N 3 --json >json
grep -o -E '"(profiled|plan)": "[a-z]*' json

echo "errors"
: >empty.npy
head -c 1000 /dev/urandom >garbage.npy
code echelon profile sort empty.npy
code echelon profile sort garbage.npy
code echelon profile sort none.npy
code echelon profile sort </dev/null --type f32 --format raw - >out
head -n 1 out
code echelon profile sort --dist unifrom
code echelon profile sort --dist nan-mix
code echelon profile sort --type f31
code echelon profile sort --bits 0:33
code echelon profile sort --algorithm bogo
code echelon profile sort a.txt --values 4
code echelon profile sort -N 2^62
code echelon profile sort --values 2^62
code echelon profile sort -N 5 --kernel bogo
code env ECHELON_SIMT=wild echelon profile sort
code env ECHELON_SIMT=memory=3 echelon profile scan -N 1M
files
