# Sorts of files that are larger than the memory budget, of which 16 MiB is the minimum.
unset TMPDIR
echelon gen uniform -N 4400k --type u32 -o a.u32
echelon sort a.u32 -o want.u32
code echelon sort -S 16Mi --verify a.u32 -o b.u32
cmp b.u32 want.u32 && echo "numbers"
code echelon sort -S 1k --verify --format raw --type u32 <a.u32 -o b.u32
cat a.u32 | code echelon sort -S 16Mi --verify --format raw --type u32 - -o b.u32
cmp b.u32 want.u32 && echo "a pipe"
code echelon sort -S 16Mi --argsort a.u32 -o i.u64
echelon sort --argsort a.u32 -o want.u64
cmp i.u64 want.u64 && echo "positions"
code echelon sort -S 16Mi -T . -T /tmp --record 100 -k 4:10 -k 0:u32:desc a.u32 -o b.raw
echelon records --record 100 --keys 4:bytes10,0:u32:desc a.u32 -o want.raw
cmp b.raw want.raw && echo "records"
rm i.u64 want.u64 b.raw want.raw

echo "lines"
echelon gen uniform -N 300k --type i64 -o a.txt
LC_ALL=C sort a.txt >want.txt
code echelon sort -S 16Mi --verify --string a.txt -o b.txt
cmp b.txt want.txt && echo "by bytes"
head -n 1000 a.txt >c.txt
code echelon sort -S 16Mi --verify -u --string a.txt c.txt a.txt | cmp - <(LC_ALL=C sort -u a.txt) && echo "unique"
LC_ALL=C sort -s -n a.txt >want.txt
code echelon sort -S 16Mi --verify a.txt -o b.txt
cmp b.txt want.txt && echo "every line is a number"
{ echo name; cat a.txt; } >h.txt
code echelon sort -S 16Mi --verify --header -k name:n h.txt -o b.txt
{ echo name; LC_ALL=C sort -n a.txt; } | cmp - b.txt && echo "a header"
rm ./*.txt

echo "small inputs"
printf '3\n1\n2' >s.txt
code echelon sort --verify s.txt
printf 'b\na' | code echelon sort --verify --string
printf 'bbaaccaa' | code echelon sort --record 2 -u
echo
npy '<i4' '(3,)' >a.npy
printf '\3\0\0\0\1\0\0\0\3\0\0\0' >>a.npy
code echelon sort --verify -u a.npy -o b.npy
dump d4 b.npy 128
code echelon sort --verify --argsort a.npy -o b.npy
dump d8 b.npy 128
: >e.u32
code echelon sort --verify e.u32 -o e2.u32
cp s.txt s2.txt
code echelon sort --consume s.txt s2.txt -o s3.txt
cat s3.txt
code echelon sort --consume s3.txt -o s3.txt
cat s3.txt

echo "several arrays"
code echelon sort a.npy a.npy -o b.npy
head -c 80 b.npy | tail -c 70
echo
dump d4 b.npy 128
code echelon sort --verify a.npy s3.txt -o b.npy
echo "byte order"
npy '>u2' '(4,)' >b.npy
printf '\2\0\0\1\1\0\0\1' >>b.npy
for output in c.npy c.u16; do
    code echelon sort --verify b.npy -o $output
    echelon sort b.npy -o d.${output#*.}
    cmp $output d.${output#*.} && echo "$output"
done
code echelon sort --verify -u b.npy -o c.npy
dump x1 c.npy 128
code echelon sort --verify --argsort b.npy -o c.u64
dump d8 c.u64
code echelon sort --verify b.npy -o c.u32
code echelon sort --verify --argsort b.npy -o c.u32
code echelon sort --verify a.npy b.npy -o c.npy
cat b.npy | code echelon sort --verify - -o c.npy
cmp c.npy d.npy && echo "a pipe"
rm c.* d.*

echo "plan"
code echelon sort --device cpu -S 16Mi --dry-run a.u32 | grep -v -e bins -e pass -e block
code echelon sort --device cpu -S 16Mi --dry-run --string s3.txt

echo "errors"
code echelon sort --consume s3.txt
code echelon sort --dry-run --merge s3.txt
code echelon sort --verify s3.txt --rows 2
code echelon sort --record 0 a.u32
code echelon sort --record 8 -k 4:8 a.u32
code echelon sort --record 8 -k 4 a.u32
code echelon sort --record 7 a.u32
code echelon sort --record 4 a.u32 -o b.npy
code echelon sort --memory 101% a.u32
code echelon sort --verify -T none -S 16Mi a.u32
code echelon sort --verify a.u32 missing.u32 --string
ECHELON_TRANSFERS=quick code echelon sort --verify a.u32
for transfers in threads none direct buffered; do
    ECHELON_TRANSFERS=$transfers code echelon sort -S 16Mi --verify a.u32 -o b.u32
    cmp b.u32 want.u32 && echo "$transfers"
done
for i in $(seq 1100); do echo "$i" >"many$i"; done
find . -name 'many*' -print0 | code echelon sort --verify -n --files0-from - | cmp - <(seq 1100) && echo "many inputs"
rm many*
files
