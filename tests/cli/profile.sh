# What kernels do on the executor.  Counts of requests depend on the host's compiler, so that exact
# are only those that the algorithm decides.
echelon info | grep -q '^simt: ' || skip "no executor"
echelon info --json | grep -o '"simt": "runs'
# sum FIELD [KERNEL]: of a CSV of the whole, by the name of its column
sum() {
    awk -F, -v field="$1" -v kernel="${2-}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !$2 && $1 ~ kernel { sum += $at[field] } END { print field, sum + 0 }' csv
}

echo "the table"
code echelon profile sort >out
sed -E 's/ +/ /g; s/[0-9.]+ ms/N ms/; s/^( [a-z 0-9]+).*/\1/; s/ [0-9].*//' out | grep -v '^$' | sort | uniq -c
awk 'length > 100' out
grep -A 1 -E '^sort_[a-z]+: ' out | grep -o -E '^sort_[a-z]+: .* threads'

echo "what the algorithm decides"
code echelon profile sort --csv --algorithm onesweep >csv
for field in launches blocks threads barriers; do sum $field onesweep; done
sum store_bytes finish
sum divergent histogram
