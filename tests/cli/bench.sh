# "echelon bench": the structure of the output.  Times are replaced by T.
times() { sed -E 's/[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/T/g; s/ +T/ T/g; s/(device  *[a-z]+: ).*/\1CPU/'; }
echo "all operations"
echelon bench -N 5000 --repetitions 1 -D cpu | grep -v ^version | times
echo "every type and distribution"
for type in i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64; do
    echo "$type $(echelon bench -N 300 -y $type --repetitions 1 -D cpu | grep -c -E '^[a-z-]+ +[0-9]+\.[0-9]+ ')"
done
for distribution in normal sorted reversed almost constant few zipf hot and2 and4 and8 nan-mix; do
    echo "$distribution $(echelon bench -N 300 -y f32 --distribution $distribution --repetitions 1 -D cpu |
        grep -c -E '^[a-z-]+ +[0-9]+\.[0-9]+ ')"
done
for n in 1 2 3; do echelon bench -N $n --repetitions 2 -D cpu | grep -c -E '^[a-z-]+ +[0-9]+\.[0-9]+ '; done
echo "the minimum does not exceed the median, and the rates are those of the median"
echelon bench -N 20000 --repetitions 4 -D cpu --threads 1 --csv x.csv sort scan select unique gather >out
grep -c -E '^(sort|scan|select|unique|gather) ' out
sed -E '2,$s/"[^"]*"/CPU/' x.csv | awk -F, 'NR == 1 { print NF, $0; next }
    { rate = $3 / $10 / $12; print NF, $1, $2, $3, $4, $5, $7, $8, $9, ($10 > 0 && $11 <= $10), (rate > 0.999 && rate < 1.001) }'
# u32: sort reads and writes 8 bytes per element, gather 12; select writes about half of the elements.
awk -F, 'NR > 1 { gsub(/"[^"]*"/, "CPU"); printf "%s %.1f bytes per element\n", $1, $13 * 1e9 / $12 }' x.csv
echo "JSON"
echelon bench sort topk -N 1000 -K 3 -B 7 -D cpu --repetitions 3 --threads 1 --distribution few --json |
    sed -E 's/"description": "[^"]*"/"description": "CPU"/; s/"version": "[^"]*"/"version": "V"/;
        s/(seconds|second)": [0-9.e+-]+/\1": T/g'
echo "errors"
code echelon bench sorts
code echelon bench sort sort
code echelon bench -N 0
code echelon bench --repetitions 0
code echelon bench --repetitions 1001
code echelon bench --bins 0
code echelon bench -N 5 -K 6
code echelon bench --type u3
code echelon bench --distribution flat
code echelon bench --distribution nan-mix
code echelon bench --json --csv y.csv
code echelon bench copy -N 10 --repetitions 1 -D cpu --csv no/y.csv >/dev/null
code echelon bench copy -N 10 --repetitions 1 -D cpu >/dev/full
files
