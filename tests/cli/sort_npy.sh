# .npy: the header of the input is copied if it is valid for the output; byte orders; versions.
echelon gen uniform -N 5 --type u32 | sort -n | tr '\n' ' '
echo
echelon gen uniform -N 5 --type u32 -o a.npy
code echelon sort a.npy -o b.npy
dump u4 b.npy 128
cmp <(head -c 128 a.npy) <(head -c 128 b.npy) && echo "same header"
echo "big endian"
{ npy '>i2' '(4,)'; printf '\x00\x02\xff\xff\x01\x00\x00\x00'; } >big.npy
code echelon sort big.npy -o big_out.npy
dump x1 big_out.npy 128
cmp <(head -c 128 big.npy) <(head -c 128 big_out.npy) && echo "same header"
for major in 1 2 3; do
    echo "version $major"
    { npy '|i1' '(3,)' False $major; printf '\x05\xfb\x01'; } | echelon sort >v.npy
    tail -c 3 v.npy | od -An -t d1
    wc -c <v.npy
done
echo "one dimension in Fortran order"
{ npy '|u1' '(3,)' True; printf 'cab'; } | echelon sort | tail -c 3
echo
echo "bool"
{ npy '|b1' '(4,)'; printf '\x01\x00\x01\x00'; } | echelon sort | tail -c 4 | od -An -t u1
echo "half precision"
{ npy '<f2' '(3,)'; printf '\x00\x40\x00\x3c\x00\xfc'; } | echelon sort | tail -c 6 | od -An -t x2
echo "bf16 in <u2"
{ npy '<u2' '(3,)'; printf '\x80\x3f\x80\xbf\x00\x00'; } | echelon sort --type bf16 | tail -c 6 |
    od -An -t x2
echo "--unique changes the shape"
{ npy '|u1' '(5,)'; printf 'babab'; } | echelon sort -u | tail -c +11 | tr -s ' '
echo
{ npy '>u2' '(4,)'; printf '\x00\x02\x00\x01\x00\x02\x00\x01'; } | echelon sort -ru |
    tail -c 4 | od -An -t x1
echo "empty input"
npy '<f8' '(0,)' >empty.npy
echelon sort empty.npy | cmp - empty.npy && echo "same file"
echo "the format is found by the first bytes"
cp a.npy a.dat
code echelon sort a.dat -o c.dat
cmp b.npy c.dat && echo "same file"
