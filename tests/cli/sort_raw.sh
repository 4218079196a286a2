# Raw elements, little endian.
printf '\x03\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00' >a.bin
code echelon sort a.bin --type u32 -o o.bin
dump u4 o.bin
code echelon sort a.bin --type i32 -o o.bin
dump d4 o.bin
cp a.bin a.i32
code echelon sort a.i32 -o o.bin
dump d4 o.bin
echelon sort -r --type=u8 --format=raw - <a.bin >o.bin
dump u1 o.bin
cp a.bin a.u8
code echelon sort -u a.u8 -o o.bin
dump u1 o.bin
echo "-0 and +0 are ordered by their bits, and are equal for --unique"
printf '\x00\x00\x00\x00\x00\x00\x00\x80' >zero.f32
echelon sort zero.f32 | od -An -t x4
echelon sort -r zero.f32 | od -An -t x4
echelon sort -u zero.f32 | od -An -t x4
echo "empty input"
: >empty.u64
code echelon sort empty.u64
code echelon sort --argsort empty.u64
code echelon sort -c empty.u64
