# Files compressed by zstd are read and written; the extension before .zst is that of the format.
needs_packing zst zstd
seq 30 -1 1 >n.txt
zstd -q n.txt
echo "input: a file, a pipe, a name without extensions, several frames, frames to skip"
code echelon sort n.txt.zst | cksum
code echelon sort <n.txt.zst | cksum
# shellcheck disable=SC2002  # a pipe
cat n.txt.zst | code echelon sort | cksum
echelon sort n.txt | cksum
cat n.txt.zst <(zstd -qc --no-check n.txt) >two
code echelon reduce sum two
{ printf '\x50\x2a\x4d\x18\x03\0\0\0abc'; cat n.txt.zst; printf '\x5f\x2a\x4d\x18\0\0\0\0'; } >skip.txt.zst
code echelon reduce sum skip.txt.zst
: | zstd -q >empty.txt.zst
code echelon reduce sum empty.txt.zst
echo "output"
code echelon sort n.txt.zst -o out.txt.zst --threads 1
zstd -dqc out.txt.zst | cksum
code echelon sort --argsort n.txt -o index.npy.zst
code echelon reduce max index.npy.zst
: | code echelon sort --format text -o none.txt.zst
zstd -dqc none.txt.zst | wc -c
echelon gen uniform -N 3M --type u32 -o big.u32
code echelon sort big.u32 -o big.u32.zst
code echelon sort big.u32 -o one.u32.zst --threads 1
cmp big.u32.zst one.u32.zst && zstd -tq big.u32.zst && echo same
echelon sort big.u32 | cksum
zstd -dqc big.u32.zst | cksum
code echelon sort -c big.u32.zst
echo "errors; the output is not replaced"
echo before >out.txt
head -c 40 n.txt.zst >cut.txt.zst
code echelon sort cut.txt.zst -o out.txt
cat n.txt.zst <(echo more) >more.txt.zst
code echelon sort more.txt.zst -o out.txt
{ head -c 30 n.txt.zst; printf '\x55\x55'; tail -c +33 n.txt.zst; } >bad.txt.zst
code echelon sort bad.txt.zst -o out.txt
cp n.txt same.txt.zst
code echelon sort same.txt.zst -o out.txt
head -c 200M /dev/zero | zstd -q --long=28 --no-check >long
code echelon sort --type u8 long -o out.txt
cat out.txt
files
