# Several inputs of numbers, which are sorted as one array.
u32() { for i; do printf "\\x$(printf %02x $((i & 255)))\\x$(printf %02x $((i >> 8)))\\0\\0"; done; }
u32 700 3 5 >a.u32
u32 4 3 >b.u32
: >empty.u32
code echelon sort a.u32 b.u32 empty.u32 -o c.u32
dump u4 c.u32
code echelon sort -r -u a.u32 b.u32 -o c.u32
dump u4 c.u32
code echelon sort --argsort a.u32 b.u32 -o c.npy
dump u8 c.npy 128
code echelon sort --argsort -S 16Mi --verify a.u32 b.u32 -o c.u64
dump u8 c.u64
code echelon sort --bits 0:8 a.u32 b.u32 -o c.u32
dump u4 c.u32
code echelon sort a.u32 b.u32 >c.raw
dump u4 c.raw
cp a.u32 a
code echelon sort --type u32 a b.u32 -o a
dump u4 a
cat b.u32 | code echelon sort --type u32 a - -o c.u32
dump u4 c.u32
code echelon sort --type u16 --format raw a.u32 b.u32 -o c.u16
dump u2 c.u16
npy '<u4' '(2,)' >d.npy
u32 9 8 >>d.npy
code echelon sort -r d.npy d.npy -o c.u32
dump u4 c.u32
printf 'a.u32\0b.u32\0' | code echelon sort --files0-from=- -o c.u32
code echelon sort -u --consume c.u32 b.u32 -o c.u32
files
u32 4 3 >b.u32
echo "errors"
cp b.u32 b.f32
cp b.u32 b
printf '1\n2\n' >t.txt
printf '\1\2\3' >bad.u32
npy '<u4' '(1,2)' >m.npy
u32 9 8 >>m.npy
for inputs in 'a.u32 b.f32' 'a.u32 t.txt' 'a.u32 d.npy' 'd.npy a.u32' 'a.u32 b' 'a.u32 bad.u32' 'a.u32 missing.u32' \
    'a.bin b.bin' 'm.npy m.npy' '--type u16 a.u32 b.f32' 't.txt a.u32 --type u32'; do
    # shellcheck disable=SC2086  # words
    code echelon sort $inputs -o x.u32
done
code echelon sort a.u32 b.u32 -o x.txt
code echelon sort a.u32 b.u32 -o x.f32
code echelon sort -u d.npy d.npy | cat >piped.npy # its exit status is written past the pipe
cat piped.npy
rm piped.npy
for option in '--rows 2' '--axis 0' '--column 1' '--algorithm msd' '--format text'; do
    # shellcheck disable=SC2086  # words
    code echelon sort $option a.u32 b.u32 -o x.u32
done
code echelon sort -c a.u32 b.u32
code echelon sort -n a.u32 d.npy -o x.u32
files
