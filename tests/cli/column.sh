# --column and --delimiter select the column of the number; lines are unchanged.
cat >goods.csv <<'CSV'
id,name,price,note
1,nut,0.25,
2,"bolt, long",1.5,new
3,"9"" saw",12,"x"
4,gap,,old
5,"cog" , 3e-1 ,
CSV
echo "by name, by number; the first line stays first, an empty column is NaN and last"
code echelon sort --column price goods.csv
code echelon sort --column 3 -r goods.csv
code echelon sort --column id --delimiter , -r <goods.csv
code echelon sort --argsort --column price goods.csv
code echelon sort -c --column id goods.csv
code echelon sort -c --column price goods.csv
echo "tabs, semicolons, blanks"
printf 'a 3 x\nb 1 y\n' | code echelon sort --column 2 --delimiter ' '
printf 'a\t3\nb\t1\n' | code echelon sort --column 2
printf 'a;3\nb;1\n' | code echelon sort --column 2
printf '  a   3\n b 1\n' | code echelon sort --column 2
printf 'a|3\nb|1\n' | code echelon sort --column 2 --delimiter '|'
printf 'a\t3\r\nb\t1\r\n' | code echelon sort --column 2 --delimiter '\t' | od -An -c
echo "no header; a header with a byte order mark; an unnamed column"
printf '2,b\n1,a\n' | code echelon sort --column 1
printf '\xef\xbb\xbfid,x\n2,b\n1,a\n' | code echelon sort --column id | od -An -c
printf ',x\n2,b\n1,a\n' | code echelon sort --column 1
echo "only a header; empty input"
printf 'id,x\n' | code echelon sort --column id
code echelon sort --column 2 </dev/null
echo "compared with sort"
echelon gen uniform -N 5000 --type i32 >numbers
paste -d, <(seq 5000) numbers >pairs.csv
code echelon sort --column 2 pairs.csv -o out.csv
sort -t, -k2,2n -s pairs.csv | cmp - out.csv && echo same
echo "headers: by default a text above a number; an empty column and a typing error are data"
header() {
    # shellcheck disable=SC2059  # the format is the text
    printf "$1" >h.csv
    shift
    code echelon sort --column 1 "$@" h.csv --json 2>json
    grep -v '^{' json >&2
    grep -o '"header": [a-z]*' json
}
header 'id,x\n2,b\n1,a\n'
header ',x\n2,b\n1,a\n'
header '1O,x\n2,b\n1,a\n'
header ' -.5x,x\n2,b\n1,a\n'
header 'id,x\n,b\n1,a\n'
header 'id,x\n'
header 'nan,x\n2,b\n1,a\n'
header '2020,x\n3000,b\n1,a\n'
echo "--header, --no-header"
header ',x\n2,b\n1,a\n' --header
header '1O,x\n2,b\n1,a\n' --header
header 'nan,x\n2,b\n1,a\n' --header
header '2020,x\n3000,b\n1,a\n' --header
header 'id,x\n' --header
header 'id,x\n2,b\n1,a\n' --no-header
header '3,x\n2,b\n1,a\n' --no-header
header '' --header
header 'id,x\n2,b\n1,"5"6\n' --header
header 'id,x\n2,"5"6\n1,3\n'
printf 'value\n2\n1\n' | code echelon sort --header
printf 'value\n2\n1\n' | code echelon sort --format text
printf '2\n1\n' | code echelon sort --no-header
printf 'id,x\n2,b\n1,a\n' >h.csv
code echelon stats -k id h.csv --json
code echelon hist -k 1 h.csv --json --bins 1
code echelon reduce sum -k 1 h.csv --timing 2>&1 | grep header
code echelon scan -k 1 --header --no-header h.csv
code echelon select -k id --no-header '>1' h.csv
code echelon unique --header --format raw --type u8 h.csv
code echelon hist --bytes --header h.csv
echo "malformed quotes: an unclosed quote, a quoted newline, text after a quote; other quotes are text"
printf '1,"a\n' | code echelon sort --column 1
printf '2,"a\n1,b",3\n' | code echelon sort --column 1
printf 'id,"a\nb"\n1,2\n' | code echelon sort --column id
printf '"a\n1,b",3\n' | code echelon stats -k 2
printf 'id,x\n1,"5"6\n' | code echelon sort --column x
printf 'id,x\n1,"5" 6\n2,4\n' | code echelon sort --column id --type u8
printf '2,"5" \n1,5"6" x\n' | code echelon sort --column 1
printf '2 "5 \n1 "6\n' | code echelon sort --column 1
echo "errors"
try() {
    code echelon sort "$@" goods.csv -o out.txt
}
try --format text
try --column prise
try --column 5
try --column 2
try --column 0
try --column ''
code echelon unique --delimiter , goods.csv
try --column 2 --delimiter ,,
try --column 2 --delimiter 5
try --column 2 --delimiter ''
try --column 2 --type u8
try --column price --type u8
try --column 2 --format raw --type u8
cp goods.csv goods.npy
code echelon sort --column 2 goods.npy -o out.txt
code echelon sort --column name </dev/null
printf '1,2\n3\n' | code echelon sort --column 2
printf '1,2\n\n' | code echelon sort --column 1
printf 'x,y\n1,2\nz,3\n' | code echelon sort --column x
printf '%s,' name{1..60} '1\n' | code echelon sort --column 'no such'
files
