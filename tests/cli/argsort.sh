# --argsort: stable positions, as u64, in the format of the input.
printf '3\n1\n2\n1\n' >a.txt
code echelon sort --argsort a.txt
code echelon sort --argsort -r a.txt
code echelon sort --argsort -u a.txt
echo "npy"
{ npy '|u1' '(4,)'; printf '\x03\x01\x02\x01'; } >a.npy
code echelon sort --argsort a.npy -o i.npy
head -c 127 i.npy | tail -c +11 | tr -s ' '
echo
dump u8 i.npy 128
echo "raw"
printf '\x03\x01\x02\x01' >a.u8
echelon sort --argsort a.u8 | od -An -w64 -t u8
echo "-0 equals 0, and all NaN are equal"
printf '\x00\x7e\x00\x00\x00\x80\x00\xfe\x01\x7c' >a.f16
echelon sort --argsort a.f16 | od -An -w64 -t u8
echo "many numbers: the permutation sorts them"
echelon gen few -N 30000 --values 100 -o many.txt
awk 'NR == FNR {a[NR - 1] = $1; next} {print a[$1]}' many.txt <(echelon sort --argsort many.txt) |
    cmp - <(echelon sort many.txt) && echo same
