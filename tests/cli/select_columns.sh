# echelon select with several conditions, on the columns of a table; text; ranges; compared with awk.
printf '%s\n' city,price,qty,date Oslo,3,1,2026-01-05 '"Ber,gen",2.5,2,2026-02-01' Oslo,,3,2025-12-31 \
    '"a ""q""",7,9,2026-01-31' 'Bodø,1,4,2026-03-01' >t.csv
for where in 'price>2' 'price:>2' 'price : > 2' '2>2' '2:>2' 'price:1..2.5' 'price:..2.5' 'price:3..' 'price:nan' \
    'price!=nan' 'price:zero' 'price!=3' 'qty&1' 'qty:!&1' 'city==Oslo' 'city=Oslo' 'city!=Oslo' 'city<P' 'city>=a' \
    'city:B..Bz' 'city=="Ber,gen"' 'city=="a ""q"""' 'city==' '1==Oslo' 'date:2026-01-01..2026-01-31' 'date>=2026-02' \
    'qty=="9"' 'qty>"3"' 'qty:"1".."2"'; do
    echo "$where: $(echelon select "$where" t.csv | tr '\n' '|')"
done
echo "all conditions, or any; inverted; the count; positions"
code echelon select 'price>=2.5' 'city!=Oslo' 'qty:1..9' t.csv
code echelon select --any 'price>=7' 'city==Oslo' t.csv
code echelon select -v --any 'price>=7' 'city==Oslo' t.csv
code echelon select -v 'price>=7' 'city==Oslo' --count t.csv
code echelon select --index --any 'price:..1' 'price:7..' t.csv
code echelon select --index 'city==Oslo' 'qty>1' t.csv -o index.npy
echelon stats index.npy --json | grep -o '"max.*'
code echelon select -k price '>2' '<7' - <t.csv
code echelon select -k city 'qty>2' ==Oslo t.csv
echo "NaN: only != holds, and -v selects the other elements"
printf '%s\n' 1 nan 3 >n.txt
for where in '<2' '..9' '!=1' nan; do
    echo "$where: $(echelon select "$where" n.txt | tr '\n' ' ')| $(echelon select -v "$where" n.txt | tr '\n' ' ')"
done
code echelon select '>=1' '!=nan' n.txt
echo "lines of text"
printf '%s\n' apple fig '' banana 07 7 >w.txt
code echelon select '>=b' w.txt
code echelon select '==""' w.txt --index
code echelon select '=="7"' w.txt
code echelon select --any '<a' '==fig' w.txt
echo "arrays"
seq 0 19 | echelon sort --type u16 - -o a.u16
code echelon select 3..5 a.u16 -o b.txt
cat b.txt
code echelon select --any '<2' '>=18' a.u16 -o b.u16
dump u2 b.u16
code echelon select '>=5' b.txt a.u16 --count
code echelon select '>=5' '<9' a.u16 --count
seq 9 | code echelon select '>2' '<6' - -o c.npy
dump d8 c.npy 128
echo "a structured array"
{
    npy_dict "{'descr': [('k', '|S2'), ('i', '>i2'), ('f', '<f4')], 'fortran_order': False, 'shape': (4,), }" 2
    printf 'ab\0\1\0\0\200\77a\0\0\2\0\0\0\100\0\0\1\0\0\0\100\100ab\377\377\0\0\300\177'
} >s.npy
code echelon select 'k==ab' 'i>0' s.npy -o one.npy
head -c 128 one.npy | tail -c +13 | tr -s ' '
dump x1 one.npy 128
code echelon select --any 'f:2..' 'f:nan' s.npy -o some.bin
dump x1 some.bin
code echelon select 'k==""' s.npy --index -o at.txt
cat at.txt
code echelon select 'k!=ab' s.npy -o s.npy
code echelon select --count 'k==""' s.npy
code echelon select 'i>0' s.npy -o s.txt
code echelon select 'k<3' s.npy
code echelon select '>3' s.npy
echo "a header is not data, also if only text is selected"
printf 'name,x\na,1\nb,2\n' | code echelon select '1!=a' -o - --format text
printf 'name,x\na,y\nb,z\n' | code echelon select '1!=a' --format text
printf 'name,x\na,y\nb,z\n' | code echelon select '1!=a' --format text --header
printf 'name,1\na,2\nb,3\n' | code echelon select '1!=a' --format text
echo "compared with awk"
for column in 1 2 3; do echelon gen uniform -N 5000 --type i8 --seed $column --format text >c$column; done
paste -d ' ' c1 c2 c3 >c.txt
code echelon select '1>10' '2<=0' '3!=5' c.txt | cmp - <(awk '$1 > 10 && $2 <= 0 && $3 != 5' c.txt) && echo same
code echelon select --any '1>100' '2:-3..3' '3==5' c.txt |
    cmp - <(awk '$1 > 100 || ($2 >= -3 && $2 <= 3) || $3 == 5' c.txt) && echo same
code echelon select -v --any '1>100' '2:-3..3' c.txt |
    cmp - <(awk '!($1 > 100 || ($2 >= -3 && $2 <= 3))' c.txt) && echo same
code echelon select '1<"2"' c.txt | cmp - <(awk '$1 "" < "2"' c.txt) && echo same
echo "errors"
code echelon select 'price>2' 'qty<9'
code echelon select 'price>2' 'qty<9' no.csv
code echelon select 'price~2' t.csv
code echelon select 'price:' t.csv
code echelon select ':>3' t.csv
code echelon select 'price:..' t.csv
code echelon select 'city=="a' t.csv
code echelon select 'city=="a"b' t.csv
code echelon select 'cost>2' t.csv
code echelon select 'price==cheap' t.csv
code echelon select 'price<1O' t.csv
code echelon select 'city<3' t.csv
code echelon select 'price&1' t.csv
code echelon select 'price>2' a.u16
code echelon select '=="2"' a.u16
code echelon select 'price>2' 'city==Oslo' t.csv -o x.npy
code echelon select 'price>2' --no-header t.csv
code echelon select 'price>2' --delimiter ';' t.csv
code echelon select 'qty>2' 'qty<x' t.csv
files
