# echelon merge: compared with a stable sort of all files; lines are unchanged.
printf '%s\n' 1 2.50 3 3.0 nan >a.txt
printf '%s\n' -1 2.5 3.00 7 >b.txt
code echelon merge a.txt b.txt
code echelon merge b.txt a.txt
code echelon merge a.txt - <b.txt | cmp - <(echelon merge a.txt b.txt) && echo same
code echelon merge a.txt
code echelon merge <b.txt
: >empty.txt
code echelon merge empty.txt b.txt empty.txt
echo "compared with sort"
for type in u8 i16 f32 u64 bf16; do
    for file in a b c d e; do
        echelon gen uniform -N 3000 --type $type --seed $((${#type} + $(printf '%d' "'$file"))) -o $file.$type
    done
    cat a.$type b.$type c.$type d.$type e.$type >all.$type
    for reverse in "" -r; do
        # shellcheck disable=SC2086  # one word or none
        for file in a b c d e; do echelon sort $reverse $file.$type -o sorted_$file.$type; done
        # shellcheck disable=SC2086
        echelon merge $reverse sorted_[a-e].$type | cmp - <(echelon sort $reverse all.$type) && echo "$type $reverse: same"
    done
done
echo "lines of a table; the header is written once"
printf '%s\n' name,x p,1 q,1 r,5 >a.csv
printf '%s\n' name,x s,1 t,4 u,5 v,6 >b.csv
printf '%s\n' name,x w,0 x,5 >c.csv
code echelon merge -k x a.csv b.csv c.csv
code echelon merge -k 2 -o a.csv c.csv a.csv
cat a.csv
echo ".npy, in the byte order of the first input"
{ npy '>i2' '(2,)'; printf '\x00\x02\x00\x09'; } >big.npy
{ npy '<i2' '(3,)'; printf '\xff\xff\x03\x00\x0a\x00'; } >little.npy
code echelon merge big.npy little.npy -o both.npy
head -c 128 both.npy | tail -c +11 | tr -s ' '
dump x1 both.npy 128
code echelon merge big.npy little.npy -o both.txt
cat both.txt
echo "errors"
printf '%s\n' 1 3 2 >c.txt
code echelon merge a.txt c.txt
code echelon merge -r b.txt a.txt
code echelon merge a.csv -k x c.csv b.csv c.txt
printf '\x03\x01' >d.u8
code echelon merge big.npy d.u8
printf '%s\n' 1 2 >i.txt
code echelon merge i.txt a.txt
code echelon merge --type f64 i.txt a.txt
code echelon merge - - <i.txt
code echelon merge a.txt no.txt
code echelon merge --order up a.txt
