# --check: exit status 0 or 1, and the position on standard error.
printf '1\n2\n2\n3\n' >up.txt
printf '1\n2\n4\n3\n' >not.txt
for flags in '' -r -u -ru; do
    # shellcheck disable=SC2086  # none or one
    code echelon sort -c $flags up.txt
done
code echelon sort --check not.txt
tac up.txt | code echelon sort -rc
echo "npy, raw"
{ npy '<i2' '(3,)'; printf '\x00\x00\xff\xff\x01\x00'; } >a.npy
code echelon sort -c a.npy
code echelon sort a.npy -o a.npy
code echelon sort -c a.npy
printf '\x01\x01\x00' >a.u8
code echelon sort -c a.u8
code echelon sort -cr a.u8
code echelon sort -cru a.u8
echo "floats: NaN last, zeros equal"
printf '0\n-0\n0\ninf\nnan\n-nan\n' | code echelon sort -c
printf '0\n-0\n' | code echelon sort -c --order total --type f64
printf 'nan\n1\n' | code echelon sort -c
printf 'nan\n1\n' | code echelon sort -cr
echo "by bits"
printf '16\n1\n33\n2\n' | code echelon sort -c --bits 0:4
printf '16\n1\n33\n2\n' | code echelon sort -c --bits 4:8
echo "empty input and one number are sorted"
code echelon sort -cu </dev/null
echo 1 | code echelon sort -cu
files
