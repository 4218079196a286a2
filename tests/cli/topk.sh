# echelon topk: compared with sort and awk; lines are unchanged.
printf '%s\n' 3 -1 2.50 nan 0 -0 1e2 inf 3.0 >f.txt
for words in "" "--smallest" "--unsorted" "--smallest --unsorted" "--order total --smallest" "--index" \
    "--index --smallest" "--index --unsorted"; do
    # shellcheck disable=SC2086  # several words
    echo "-K 4 $words: $(echelon topk -K 4 $words f.txt | tr '\n' ' ')"
done
for k in 0 1 8 9 10 1M; do echo "-K $k: $(echelon topk -K $k f.txt | tr '\n' ' ')"; done
echo "the default is 10"
echelon gen uniform -N 20000 --type i32 >i.txt
code echelon topk i.txt | cmp - <(sort -n -r i.txt | head) && echo same
echo "compared with sort"
for type in u8 i16 f32 u64 bf16; do
    echelon gen uniform -N 30000 --type $type -o a.$type
    bytes=$(($(wc -c <a.$type) / 30000))
    for k in 1 10 3000 20000; do
        echelon topk -K $k a.$type | cmp - <(echelon sort -r a.$type | head -c $((k * bytes))) &&
            echelon topk --smallest -K $k a.$type | cmp - <(echelon sort a.$type | head -c $((k * bytes))) &&
            echelon topk --index -K $k a.$type -o i.u64 &&
            cmp i.u64 <(echelon sort --argsort -r a.$type | head -c $((k * 8))) && echo "$type $k: same"
    done
done
echo ".npy, in the byte order of the input"
{ npy '>i2' '(3,)'; printf '\x00\x02\xff\xff\x00\x01'; } >big.npy
code echelon topk -K 2 big.npy -o some.npy
head -c 128 some.npy | tail -c +11 | tr -s ' '
dump x1 some.npy 128
code echelon topk -K 3 --unsorted big.npy -o all.npy
cmp big.npy all.npy && echo same
code echelon topk -K 2 --index big.npy -o i.npy
head -c 127 i.npy | tail -c +11 | tr -s ' '
dump u8 i.npy 128
echo "rows"
printf '%s\n' 3 1 2 9 7 8 >a.txt
code echelon topk --rows 3 -K 2 a.txt
code echelon topk --rows 3 -K 2 --smallest --index a.txt
code echelon topk --rows 2 -K 5 --unsorted a.txt
printf '\x03\x01\x02\x09\x07\x08' >a.u8
echelon topk --rows 3 -K 1 a.u8 | od -An -t u1
{ npy '|u1' '(2, 3)'; cat a.u8; } >c.npy
{ npy '|u1' '(2, 3)' True; cat a.u8; } >f.npy
for name in c f; do
    echo "$name"
    echelon topk -K 2 "$name.npy" -o t.npy
    head -c 127 t.npy | tail -c +11 | tr -s ' '
    dump u1 t.npy 128
    echelon topk -K 2 "$name.npy" -o t.u8
    dump u1 t.u8
    echelon topk -K 2 --index "$name.npy" -o t.npy
    head -c 127 t.npy | tail -c +11 | tr -s ' '
    dump u8 t.npy 128
done
{ npy '>i2' '(1, 3)'; printf '\x00\x02\xff\xff\x00\x01'; } >b.npy
echelon topk -K 2 --smallest b.npy -o t.npy
head -c 127 t.npy | tail -c +11 | tr -s ' '
dump x1 t.npy 128
npy '<f4' '(0, 3)' >empty.npy
code echelon topk empty.npy -o t.npy
cmp empty.npy t.npy && echo same
echo "lines by a column, after the header"
printf 'name,price\r\n"a, b",9.5\r\nc,\r\nd,12\r\ne,9.5\r\n' >t.csv
code echelon topk -K 2 --smallest -k price t.csv | od -An -c
code echelon topk -K 3 -k price t.csv --index
code echelon topk -K 1 -k price --rows 2 t.csv
echo "in place, and errors"
cp i.txt j.txt
code echelon topk -K 100 --smallest j.txt -o j.txt
cmp j.txt <(sort -n i.txt | head -n 100) && echo same
code echelon topk -K x f.txt
code echelon topk -K -1 f.txt
code echelon topk -n 3 f.txt
code echelon topk --rows 4 a.txt
code echelon topk --rows 0 a.txt
code echelon topk --rows 3 c.npy
code echelon topk --order up f.txt
code echelon topk --algorithm unheard-of f.txt
code echelon topk f.txt f.txt
code echelon topk no.txt
printf 'x\n' | code echelon topk --format text
echo "plan"
echelon topk -K 2 f.txt --timing 2>&1 >/dev/null | grep -E '^(f.txt|algorithm)'
echelon explain topk -N 1000 -K 5 | grep -E '^(device|algorithm)'
echelon explain topk -N 1000 --rows 10 -K 50 --json | grep operation
code echelon explain topk -N 6 --rows 4
code echelon explain topk --argsort
code echelon explain sort --head 4
files
