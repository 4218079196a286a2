# echelon records: raw records, structured arrays and matrices; the keys; errors.
record() { # u32 u16 i16: 8 bytes
    printf "\\x$(printf %02x $(($1 & 255)))\\x00\\x00\\x$(printf %02x $(($1 >> 24)))\\x$(printf %02x "$2")\\x00"
    printf "\\x$(printf %02x $(($3 & 255)))\\x$(printf %02x $((($3 >> 8) & 255)))"
}
show() { od -An -v -w8 -t u4 -N 8 "$1" >/dev/null && od -An -v -w8 -t d2 "$1"; }
{ record 3 7 -1; record 1 9 5; record 3 2 -9; record 1 9 4; record 2 0 0; } >a.raw
echo "raw"
code echelon records --record 8 --keys 0:u32 a.raw -o b.raw && show b.raw
code echelon records --record 8 --keys 0:u32,6:i16 a.raw -o b.raw && show b.raw
code echelon records --record 8 --keys 0:u32:desc,6:i16:asc a.raw -o b.raw && show b.raw
code echelon records --record 8 --keys 0:u32:desc,6:i16 -r a.raw -o b.raw && show b.raw
code echelon records --record 8 --keys 4:bytes3,0:unsigned3 - -o a.raw <a.raw && show a.raw
code echelon records --record 8 --keys 4:3 a.raw -o b.raw && cmp b.raw <(echelon records --record 8 --keys 4:bytes3 a.raw)
code echelon records --record 8 --keys 6:signed2 --argsort a.raw -o i.txt && cat i.txt
code echelon records --record 8 --keys 6:signed2 --argsort a.raw -o i.npy && dump u8 i.npy 128
code echelon records --record 8 --keys 0:u8 --threads 1 --device cpu /dev/null -o empty.raw && files
echo "a structured array"
fields="[('id', '<u4'), ('', '|V2'), ('price', '<i2')]"
{ npy_dict "{'descr': $fields, 'fortran_order': False, 'shape': (5,), }"; cat a.raw; } >t.npy
code echelon records --keys price:desc t.npy -o s.npy && tail -c 40 s.npy >s.raw && show s.raw
head -c -40 s.npy | cmp - <(head -c -40 t.npy) && echo "same header"
code echelon records --keys id,price t.npy -o s.raw && show s.raw
code echelon records --keys 0:u32,price:desc --argsort t.npy -o i.txt && cat i.txt
shape="[('a', '>u2'), ('b', '<f4', (2, 3)), ('c', '|S2'), ('d', '>i4'), ('e', '<U1'), ('f', '|b1')]"
{ npy_dict "{'descr': $shape, 'fortran_order': False, 'shape': (1,), }"; head -c 37 /dev/zero; } >w.npy
code echelon records --keys a,c,f w.npy -o s.npy
for key in b d e g; do code echelon records --keys $key w.npy -o s.npy; done
echo "a matrix"
for order in False True; do
    { npy '<i2' '(3, 2)' $order; printf '\x03\x00\x01\x00\xff\xff\x02\x00\x03\x00\x00\x00'; } >m.npy
    code echelon records --keys 0,1 m.npy -o s.npy && dump d2 s.npy 128
    code echelon records --keys 1 -r m.npy -o s.npy && dump d2 s.npy 128
done
{ npy '>i2' '(2, 2)'; printf '\x00\x03\x01\x00\xff\xff\x00\x02'; } >m.npy
code echelon records --keys 0 m.npy -o s.npy && dump x1 s.npy 128
code echelon records --keys 2 m.npy -o s.npy
code echelon records --keys 3:i16 m.npy -o s.npy
echo "echelon sort, of any size"
code echelon sort -k price:desc t.npy -o s.raw && tail -c 40 s.npy >s2.raw && show s.raw
code echelon sort -k id -k price --argsort t.npy -o i.txt && cat i.txt
code echelon sort -k id -u t.npy -o s.raw && show s.raw
code echelon sort -k id -u t.npy -o s.npy
code echelon sort -k 1 -r m.npy -o s.npy && dump x1 s.npy 128
code echelon sort --record 8 -k 0:u32 --argsort a.raw -o i.npy && dump u8 i.npy 128
code echelon records --keys price --verify - -o s.raw <t.npy && show s.raw
code echelon sort -k price:x t.npy
code echelon sort -k price t.npy t.npy
code echelon sort -k price --rows 2 t.npy
code echelon sort -k price -n t.npy
code echelon sort -c -k price t.npy
echelon gen uniform -N 700k --type u64 -o big.u64
{ npy_dict "{'descr': [('a', '<u2'), ('b', '|S6')], 'fortran_order': False, 'shape': (700000,), }"; cat big.u64; } >big.npy
for option in "-k a -k b:desc" "-k b --argsort" "-k a -u"; do
    for end in raw u64; do
        # shellcheck disable=SC2086  # several words
        echelon sort -S 4G $option big.npy -o want.$end 2>/dev/null
        # shellcheck disable=SC2086
        echelon sort -S 16Mi $option big.npy -o got.$end 2>/dev/null && cmp want.$end got.$end && echo "$option $end"
    done
done
{ npy '<u2' '(700000, 4)' True; cat big.u64; } >big.npy
code echelon records --keys 3,1 -S 4G big.npy -o want.npy
code echelon records --keys 3,1 -S 18M big.npy -o got.npy && cmp want.npy got.npy
code echelon records --keys 3,1 -S 16Mi big.npy -o got.npy
rm big.* want.* got.*
echo "a report"
code echelon records --record 8 --keys 0:u32 a.raw -o b.raw --device cpu --threads 1 --timing 2>&1 | sed 's/  *[0-9.]* [mG][sB].*//' | head -n 2
echo "errors"
code echelon records a.raw -o b.raw
code echelon records --keys 0:u32 a.raw -o b.raw
code echelon records --record 8 --keys 0:u32 t.npy -o b.raw
code echelon records --record 8 --keys 0:u32 - -o b.raw <t.npy
code echelon records --record 7 --keys 0:u32 a.raw -o b.raw
code echelon records --record 0 --keys 0:u32 a.raw -o b.raw
code echelon records --record 8 --keys 5:u32 a.raw -o b.raw
code echelon records --record 8 --keys 99999999999999999999:u32 a.raw -o b.raw
code echelon records --record 8 --keys 5:u33 a.raw -o b.raw
code echelon records --record 8 --keys 5:bytes0 a.raw -o b.raw
code echelon records --record 8 --keys 5:desc a.raw -o b.raw
code echelon records --record 8 --keys 0:u32,,4:u16 a.raw -o b.raw
code echelon records --record 8 --keys '' a.raw -o b.raw
code echelon records --record 8 --keys "$(printf '0:u8,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)0:u8" a.raw -o b.raw
code echelon records --record 8 --keys "$(printf '%0100d' 0):u8" a.raw -o b.raw
code echelon records --record 8 --keys 0:u32 --keys 4:u16 a.raw -o b.raw
code echelon records --record 8 --keys 0:u32 a.raw -o b.txt
code echelon records --record 8 --keys 0:u32 a.raw -o b.npy
code echelon records --record 8 --keys 0:u32 --algorithm fast a.raw -o b.raw
code echelon records --keys 0:u32 a.txt -o b.raw
{ npy '<i2' '(3,)'; printf '\x03\x00\x01\x00\xff\xff'; } >v.npy
code echelon records --keys 0 v.npy -o b.npy
{ npy_dict "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2, 1), }"; printf '\x03\x00\x01\x00'; } >v.npy
code echelon records --keys a v.npy -o b.npy
{ npy_dict "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (3,), }"; printf '\x03\x00\x01\x00'; } >v.npy
code echelon records --keys a v.npy -o b.npy
code echelon sort t.npy
for descr in "[('a', [('b', '<i4')])]" "[(('t', 'a'), '<i4')]" "[('a', '<i4', (3)" "[('a', '|O')]" "[]" "[('a', '|V0')]" "[('a', 'i4')]" "[('a', '<i4', (9999999999,))]"; do
    npy_dict "{'descr': $descr, 'fortran_order': False, 'shape': (1,), }" >x.npy
    code echelon records --keys a x.npy -o b.npy
done
