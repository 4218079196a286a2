# echelon unique: compared with sort and uniq; lines are unchanged.
printf '%s\n' 3 1 3 2 1.0 3 +1 >mixed.txt
code echelon unique mixed.txt
code echelon unique --count mixed.txt
code echelon unique --count --by-count mixed.txt
code echelon unique --by-count mixed.txt
code echelon unique --repeated mixed.txt
code echelon unique --singletons mixed.txt
code echelon unique --runs --count mixed.txt
code echelon unique --count --repeated --by-count mixed.txt
echo "NaN and zeros of either sign"
printf '0\n-nan\n-0\nnan\n1\n' | code echelon unique --count
echo "compared with sort and uniq"
echelon gen zipf -N 20000 >z.txt
code echelon unique z.txt | cmp - <(sort -n z.txt | uniq) && echo same
code echelon unique --count z.txt | cmp - <(sort -n z.txt | uniq -c) && echo same
code echelon unique --repeated z.txt | cmp - <(sort -n z.txt | uniq -d) && echo same
code echelon unique --singletons z.txt | cmp - <(sort -n z.txt | uniq -u) && echo same
code echelon unique --runs --count z.txt | cmp - <(uniq -c z.txt) && echo same
code echelon unique --count --by-count z.txt |
    cmp - <(sort -n z.txt | uniq -c | sort -s -k1,1nr) && echo same
echo ".npy and raw"
printf 'banana' >b.u8
echelon unique b.u8 && echo
echelon unique --runs --singletons b.u8 && echo
code echelon unique --count b.u8
code echelon unique --count b.u8 -o c.npy
tail -c +11 c.npy | head -c 118 | tr -s ' '
tail -c 27 c.npy | od -An -v -w9 -t x1
{ npy '>u2' '(4,)'; printf '\x00\x02\x00\x01\x00\x02\x00\x01'; } | echelon unique --by-count -o v.npy
head -c 128 v.npy | tail -c +11 | tr -s ' '
tail -c 4 v.npy | od -An -t x1
npy '<f4' '(0,)' >empty.npy
echelon unique empty.npy | cmp - empty.npy && echo "same file"
code echelon unique --count empty.npy
echo "by a column: the first line of each number, after the header"
printf 'id,x\n1,a\n2,b\n1,c\n' | code echelon unique -k id
printf 'id,x\n1,a\n2,b\n1,c\n' | code echelon unique -k id --count
echo "in order of first appearance, positions, the mode"
code echelon unique --appearance mixed.txt
code echelon unique --appearance --count mixed.txt
code echelon unique --appearance --repeated --count mixed.txt
code echelon unique --index mixed.txt
code echelon unique --index --singletons mixed.txt
code echelon unique --index --appearance mixed.txt
code echelon unique --inverse mixed.txt
code echelon unique --inverse --appearance mixed.txt
code echelon unique --mode mixed.txt
code echelon unique --mode --count mixed.txt
printf 'id,x\n2,a\n1,b\n2,c\n' | code echelon unique -k id --appearance
printf 'id,x\n2,a\n1,b\n2,c\n' | code echelon unique -k id --inverse
echelon unique --appearance b.u8 && echo
echelon unique --mode b.u8 && echo
echelon unique --inverse --appearance b.u8 -o i.npy
head -c 128 i.npy | tail -c +11 | tr -s ' '
tail -c 48 i.npy | od -An -v -w8 -t u8
awk '!seen[$0]++' z.txt >first.txt
code echelon unique --appearance z.txt | cmp - first.txt && echo same
awk '!($0 in code) { code[$0] = n++ } { print code[$0] }' z.txt >codes.txt
code echelon unique --inverse --appearance z.txt | cmp - codes.txt && echo same
awk '!seen[$0]++ { print NR - 1 }' z.txt >index.txt
code echelon unique --index --appearance z.txt | cmp - index.txt && echo same
code echelon unique --mode z.txt | cmp - <(sort -n z.txt | uniq -c | sort -s -k1,1nr | awk 'NR == 1 { print $2 }') &&
    echo same
echelon unique --inverse empty.npy | tail -c +11 | head -c 50 && echo
code echelon unique --mode empty.npy -o none.txt && cat none.txt
echo "in place, and errors"
cp mixed.txt m.txt
code echelon unique m.txt -o m.txt
cat m.txt
code echelon unique --repeated --singletons mixed.txt
code echelon unique --inverse --count mixed.txt
code echelon unique --index --by-count mixed.txt
code echelon unique --mode --appearance mixed.txt
code echelon unique --appearance --runs mixed.txt
code echelon unique -x mixed.txt
code echelon unique --count-by mixed.txt
code echelon unique mixed.txt mixed.txt
printf 'x\n' | code echelon unique --format text
files
