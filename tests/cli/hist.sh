# echelon hist: the bars, and the counts compared with awk.
seq 100 >n.txt
printf '%s\n' 1 1 1 2 2 3 5 5 5 5 5 5 6 >few.txt
code echelon hist few.txt
code env LC_ALL=C.UTF-8 echelon hist few.txt
code env LC_ALL=C.UTF-8 echelon hist few.txt --ascii
code env LANG=en_US.utf8 LC_ALL= COLUMNS=40 echelon hist --bins 4 n.txt
code env COLUMNS=30 echelon hist --bins 3 n.txt
code echelon hist --log few.txt
echo "ranges of integers and of floats; numbers outside"
code echelon hist --range 10:19 --bins 5 n.txt
code echelon hist --range -5:4 n.txt
printf '%s\n' 0 0.1 0.25 0.5 0.999 1 nan inf -inf 7 >f.txt
code echelon hist --range 0:1 --bins 4 f.txt
code echelon hist --bins 2 f.txt
code echelon hist --edges 0,0.25,1,8 f.txt
code echelon hist --edges=-inf,0,inf f.txt
code echelon hist --edges 1,2,5,6 few.txt
code echelon hist --edges 2,3 few.txt
echo "one value, one infinite value, empty input"
printf '7\n7\n' | code echelon hist
printf '7.5\n7.5\n' | code echelon hist --bins 2
printf 'inf\nnan\n' | code echelon hist
code echelon hist </dev/null
code echelon hist --type f32 </dev/null
echo "minimum and maximum of the types"
printf '%s\n' -9223372036854775808 0 9223372036854775807 | code echelon hist --csv
printf '%s\n' 0 18446744073709551615 | code echelon hist --csv
printf '%s\n' 1e-300 2e-300 3e-300 | code echelon hist
printf '%s\n' -1e308 1e308 | code echelon hist
printf '%s\n' 1000000000 1000000001.5 | code echelon hist --type f64
echo "bytes"
printf 'hello world\n\xff' >hello
code echelon hist --bytes hello
code echelon hist --bytes --range 97:122 --bins 26 hello
echo "CSV and JSON"
code echelon hist --csv --range 0:1 --bins 2 f.txt
code echelon hist --json --range 0:1 --bins 2 f.txt
code echelon hist --json --bins 2 few.txt
code echelon hist --csv --edges 2,4,6 few.txt
echo "compared with awk"
echelon gen uniform -N 10000 --type i16 --format text >i16.txt
echelon hist --csv --range -32768:32767 --bins 16 i16.txt | tail -n +2 | cut -d, -f3 >got
awk '{ n[int(($1 + 32768) / 4096)]++ } END { for (i = 0; i < 16; i++) print n[i] }' i16.txt |
    cmp - got && echo same
echelon gen normal -N 10000 --type f64 --format text >f64.txt
echelon hist --csv --edges=-1,0,0.5,2 f64.txt | cut -d, -f3 | tr '\n' ' '
echo
awk '{ n[$1 < -1 ? 0 : $1 < 0 ? 1 : $1 < 0.5 ? 2 : $1 <= 2 ? 3 : 4]++ }
    END { for (i = 0; i < 5; i++) printf "%d ", n[i]; print "" }' f64.txt
echo "arrays of several dimensions, columns of text"
{ npy '|u1' '(2, 2, 2)' True; printf 'abcaabca'; } | code echelon hist
printf 'x,y\n1,2\n1,4\n' | code echelon hist -k y
echo "a chart"
cp few.txt 'a<b>&"c.txt'
code echelon hist 'a<b>&"c.txt' --svg chart.svg
grep -c '<rect class="bar"' chart.svg
grep -o '<text class="name".*' chart.svg
code echelon hist --log few.txt --svg - | grep -c logarithmic
echo 'x' >"$(printf 'bad\xff\1.txt')"
printf '1.5\n2\nnan\n' >"$(printf 'bad\xff\1.txt')"
code echelon hist "$(printf 'bad\xff\1.txt')" --svg bad.svg --csv
code echelon hist --edges=-inf,0,inf f.txt --svg inf.svg
code echelon hist --type f32 --svg empty.svg </dev/null
if command -v python3 >/dev/null; then
    for chart in chart bad inf empty; do
        python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $chart.svg || echo "$chart: bad XML"
    done
fi
echo "errors"
code echelon hist --bins 0 n.txt
code echelon hist --bins many n.txt
code echelon hist --range 5 n.txt
code echelon hist --range 5:4 n.txt
code echelon hist --range 0:1.5 n.txt
code echelon hist --range 1:1 f.txt
code echelon hist --range 0:inf f.txt
code echelon hist --edges 1 n.txt
code echelon hist --edges 1,x n.txt
code echelon hist --edges 1,2,2 n.txt
code echelon hist --edges 0,300 --type u8 n.txt
code echelon hist --edges 0,nan f.txt
code echelon hist --edges 1,2 --bins 3 n.txt
code echelon hist --bytes --type u8 n.txt
code echelon hist --csv --json n.txt
code echelon hist --svg no/chart.svg n.txt
rm bad*
files
