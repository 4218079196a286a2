# Files compressed by gzip are read and written; the extension before .gz is that of the format.
needs_packing gz gzip
seq 30 -1 1 >n.txt
printf 'id,x\n2,"a\nb"\n1,c\n' >t.csv
gzip -k n.txt t.csv
echo "input: a file, a pipe, a name without extensions, several members"
code echelon sort n.txt.gz | cksum
code echelon sort <n.txt.gz | cksum
# shellcheck disable=SC2002  # a pipe
cat n.txt.gz | code echelon sort | cksum
echelon sort n.txt | cksum
cp n.txt.gz plain
code echelon stats plain --json | grep -o '"n": [0-9]*'
cat n.txt.gz n.txt.gz >two.txt.gz
code echelon reduce sum two.txt.gz
: | gzip >empty.txt.gz
code echelon reduce sum empty.txt.gz
code echelon sort --column id t.csv.gz
code echelon shuf --seed 1 --header t.csv.GZ 2>&1
cp t.csv.gz t.csv.GZ
code echelon shuf --seed 1 --header t.csv.GZ
echo "output"
code echelon sort n.txt.gz -o out.txt.gz
gzip -dc out.txt.gz | cksum
code echelon sort --column id t.csv.gz -o t.csv.gz
gzip -dc t.csv.gz
code echelon sort --argsort n.txt -o index.npy.gz
code echelon reduce max index.npy.gz
code echelon sort --type i32 n.txt -o n.i32.gz
gzip -dc n.i32.gz | od -An -t d4 | head -1
code echelon stats n.i32.gz --json | grep -o '"type": "[a-z0-9]*"'
code echelon hist n.txt --svg h.svg.gz >hist.txt
gzip -dc h.svg.gz | head -c 4
echo
: | code echelon sort --format text -o none.txt.gz
gzip -dc none.txt.gz | wc -c
code echelon sort n.txt -o out.u8.gz
echelon gen uniform -N 1M --type u32 -o big.u32
code echelon sort big.u32 -o big.u32.gz
echelon sort big.u32 | cksum
gzip -dc big.u32.gz | cksum
code echelon sort -c big.u32.gz
echo "the file does not depend on the threads"
for threads in 1 2 5; do echelon sort big.u32 -o out.u32.gz --threads $threads && cmp out.u32.gz big.u32.gz; done
gzip -t out.u32.gz && echo same
seq 200000 | echelon shuf --seed 1 -o large.txt.gz
gzip -dc large.txt.gz | sort -n | cmp - <(seq 200000) && echo same
mkfifo pipe.txt.gz
gzip -dc <pipe.txt.gz >piped.txt &
code echelon sort n.txt -o pipe.txt.gz
wait
cksum <piped.txt
echo "matrices"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n' | gzip >a.mtx.gz
printf '2\n8\n' | gzip >b.txt.gz
code echelon solve a.mtx.gz b.txt.gz -o x.npy.gz --method lu
code echelon sort x.npy.gz -o x.txt
cat x.txt
printf 'P1\n2 2\n1 0\n1 1\n' | gzip >m.pbm.gz
code echelon gf2 inverse m.pbm.gz -o inverse.jcf.gz
code echelon gf2 rank inverse.jcf.gz
gzip -dc inverse.jcf.gz
echo "a limit of memory counts decompressed bytes"
printf '%%%%MatrixMarket matrix coordinate pattern general\n100000 100000 1\n1 1\n' | gzip >huge.mtx.gz
code echelon gf2 rank huge.mtx.gz
echo "raw elements that begin as a compressed file"
printf '\x1f\x8b\x08\x00\x01\x00\x00\x00' >magic.u32
code echelon sort magic.u32 | od -An -t x4
code echelon sort --type u32 --format raw - <magic.u32 | od -An -t x4
code echelon sort --type u32 - <magic.u32
gzip -c magic.u32 >magic.u32.gz
code echelon sort magic.u32.gz | od -An -t x4
code echelon sort --format raw --type u32 magic.u32.gz | od -An -t x4
code echelon records --record 4 --keys 0:u32 magic.u32.gz | od -An -t x4
code echelon records --record 4 --keys 0:u32 - <magic.u32 | od -An -t x4
echo "errors; the output is not replaced"
echo before >out.txt
head -c 40 n.txt.gz >cut.txt.gz
code echelon sort cut.txt.gz -o out.txt
code echelon sort - <cut.txt.gz -o out.txt
cat n.txt.gz <(echo more) >more.txt.gz
code echelon sort more.txt.gz -o out.txt
cat n.txt.gz <(printf '\0') >zero.txt.gz
code echelon sort zero.txt.gz -o out.txt
{ head -c 30 n.txt.gz; tail -c +36 n.txt.gz; } >bad.txt.gz
code echelon sort bad.txt.gz -o out.txt
code echelon sort n.txt.gz.gz -o out.txt
cp n.txt same.txt.gz
code echelon sort same.txt.gz -o out.txt
: >nothing.txt.gz
code echelon sort nothing.txt.gz -o out.txt
head -c 3 n.txt.gz >short
code echelon stats short
cp n.txt.gz n.npy.gz
code echelon sort n.npy.gz -o out.txt
code echelon sort n.txt -o missing/out.txt.gz
code echelon sort --column 9 t.csv.gz -o t.csv.gz
cat out.txt
gzip -dc t.csv.gz
files
