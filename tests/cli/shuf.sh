# echelon shuf: every line once, the same order for the same seed, samples, permutations.
seq 1000 >n.txt
code echelon shuf --seed 1 n.txt >a.txt
code echelon shuf --seed 1 n.txt >b.txt
cmp a.txt b.txt && sort -n a.txt | cmp - n.txt && echo "every line once"
cmp -s a.txt n.txt || echo "in another order"
code echelon shuf --seed 2 n.txt | cmp -s - a.txt || echo "another seed, another order"
code echelon shuf n.txt | cmp -s - <(echelon shuf n.txt) || echo "no seed, another order each time"
head -n 5 a.txt | tr '\n' ' '
echo
echo "lines need not be numbers"
printf 'one\n\ntwo words\n\xff\x00x\r\nlast' >words
code echelon shuf words | LC_ALL=C sort | od -An -c
code echelon shuf </dev/null
echo "--header"
printf 'name\nb\nc\nd\n' >names.csv
code echelon shuf --header names.csv --seed 4
code echelon shuf --header names.csv --seed 4 --head 1
printf 'name' | code echelon shuf --header
code echelon shuf --header </dev/null
echo "samples"
echelon shuf --seed 1 --head 10 n.txt | cmp - <(head -n 10 a.txt) && echo "the first elements of the whole order"
echelon shuf --seed 1 -K 2000 n.txt | cmp - a.txt && echo "at most the whole input"
code echelon shuf -K 0 n.txt
echo ".npy and raw"
echelon gen sorted -N 300 --type u16 -o s.npy
code echelon shuf --seed 5 s.npy -o t.npy
cmp <(head -c 128 s.npy) <(head -c 128 t.npy) && echo "same header"
echelon sort t.npy | cmp - s.npy && echo "every number once"
code echelon shuf --seed 5 s.npy -K 3 -o u.npy
head -c 64 u.npy | tail -c +11 | tr -s ' '
cmp <(tail -c 6 u.npy) <(tail -c +129 t.npy | head -c 6) && echo "the first elements of the whole order"
printf 'aabbcc' | echelon shuf --type u16 --format raw --seed 3 | fold -w 2 | sort | tr '\n' ' '
echo
npy '<f4' '(0,)' >empty.npy
echelon shuf empty.npy | cmp - empty.npy && echo "same file"
echo "permutations"
echelon shuf --permutation 1000 | sort -n | cmp - <(seq 0 999) && echo "every number once"
echelon shuf --permutation 1000 --seed 9 >p.txt
echelon shuf --permutation 1000 --seed 9 -o p.npy
head -c 64 p.npy | tail -c +11 | tr -s ' '
tail -c 4000 p.npy | od -An -v -w4 -t u4 | tr -d ' ' | cmp - p.txt && echo same
echelon shuf --permutation 1000 --seed 9 -o p.u64
od -An -v -w8 -t u8 p.u64 | tr -d ' ' | cmp - p.txt && echo same
echelon shuf --permutation 1000 --seed 9 --head 4 | cmp - <(head -n 4 p.txt) && echo "its first elements"
code echelon shuf --permutation 0
echo "--timing prints the seed, which gives the same order"
export ECHELON_DEVICE=cpu # whose words these are
echelon shuf n.txt --timing >c.txt 2>stats
echelon shuf n.txt --seed "$(sed -n 's/^seed //p' stats)" | cmp - c.txt && echo same
echelon shuf n.txt --seed 7 --json 2>&1 >/dev/null | grep -o '"type.*"note": "seed 7"' | sed 's/"threads": [0-9]*, //'
echo "errors"
code echelon shuf --header s.npy
code echelon shuf --header --permutation 3
code echelon shuf --seed x n.txt
code echelon shuf --head x n.txt
code echelon shuf --permutation 5 n.txt
code echelon shuf --permutation 2^33 --type u32
code echelon shuf --permutation 5 --type f32
code echelon shuf no.txt
npy '<f4' '(2, 3)' | code echelon shuf
files
