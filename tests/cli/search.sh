# echelon search: lower and upper bounds, also of columns of tables; errors.
printf '%s\n' 1 2.5 2.5 7 nan >s.txt
printf '%s\n' 0 2.5 nan -nan 8 1 >n.txt
code echelon search s.txt n.txt
code echelon search --upper s.txt - <n.txt
printf '%s\n' 9 4 4 1 >d.txt
printf '4\n5\n' | code echelon search -r d.txt
printf '4\n5\n' | code echelon search -r --upper d.txt
: >empty.txt
code echelon search s.txt empty.txt
code echelon search empty.txt n.txt
printf '%s\n' name,x a,1 b,3 c,3 >t.csv
code echelon search -k x t.csv t.csv -o i.txt && cat i.txt
echo "compared with the positions of a sort"
for type in u8 i16 u32 f64 u64; do
    echelon gen uniform -N 3000 --type $type -o a.$type
    echelon sort a.$type -o s.$type
    for algorithm in "" binary sorted; do
        echelon search ${algorithm:+--algorithm=$algorithm} --device cpu s.$type a.$type -o low.txt
        echelon search ${algorithm:+--algorithm=$algorithm} --device cpu --upper s.$type a.$type -o high.txt
        # Number i of the sorted file is at positions low to high - 1 of all equal numbers.
        echelon sort s.$type -o s.txt && echelon sort low.txt -o low && echelon sort high.txt -o high
        awk '{ if (!($1 in f)) f[$1] = NR - 1; l[$1] = NR; v[NR] = $1 }
             END { for (i = 1; i <= NR; i++) print f[v[i]], l[v[i]] }' s.txt >expected
        paste -d ' ' low high | cmp - expected && echo "$type $algorithm: same"
    done
done
echo "binary output"
code echelon search s.u32 a.u32 -o i.u32
code echelon search s.u32 a.u32 -o i.u64 && wc -c <i.u64
code echelon search s.u32 a.u32 -o i.npy && wc -c <i.npy
echo "errors"
code echelon search
code echelon search s.u32 a.u32 -o s.u32
code echelon search s.txt no.txt
code echelon search no.txt s.txt
code echelon search n.txt n.txt
code echelon search -r s.u8 a.u8
code echelon search - - <s.u8
code echelon search s.u8 a.u32
code echelon search d.txt n.txt
code echelon search s.u8 a.u8 s.u8
code echelon search --algorithm fast s.u8 a.u8 -o i.u64
code echelon search --order up s.u8 a.u8
