# Names of files with unprintable bytes, and long names; duplicate columns; byte order marks; small
# errors in options and headers.
bad=$(printf 'a\033[31m\nb\377\302\205\303\244')
code echelon sort "$bad"
echo x >"$bad"
code echelon sort --format text "$bad"
printf '1\n' >"$bad"
echelon stats --json "$bad" | sed 's/, "type.*//'
echelon hist --ascii "$bad" | head -n 1
echelon sort --timing "$bad" 2>&1 >/dev/null | sed 's/:.*//; q'
echelon select '>0' --json "$bad" -o out.txt | grep -o '"input": "[^"]*"'
if command -v python3 >/dev/null; then
    echelon stats --json "$bad" | python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read())'
fi
rm "$bad"
code echelon sort "\\x41 $(printf '\355\240\200\360\202\202\254\364\220\200\200\342\202\254')"
long=$(printf 'n%0199d' 7)
long=$long/$long/$long/$long/$long/$long
code echelon sort "$long/last.txt"
printf 'id,x,y,x\n1,2,3,4\n' >two.csv
echo "duplicate names of columns"
code echelon sort --column x two.csv
code echelon sort --column y two.csv
code echelon sort --column 4 two.csv
echo "byte order marks"
printf '\357\273\2773\n1\n2\n' >bom.txt
code echelon sort bom.txt | od -An -c
code echelon stats --format text bom.txt >facts
head -n 1 facts
code echelon select '<3' <bom.txt
code echelon reduce sum <bom.txt
printf '\357\273\277x,y\n3,1\n2,5\n' >bom.csv
code echelon sort --column x bom.csv | od -An -c
printf '\357\273\277x\n' >bom.txt
code echelon sort --format text bom.txt
code echelon shuf --seed 1 bom.txt | od -An -c
printf '\357\273\277' >bom.txt
code echelon sort --format text bom.txt
echo "advice for several columns"
printf '1,2\n' >c.txt
code echelon stats c.txt
code echelon reduce sum --format text <c.txt
code echelon solve c.txt c.txt
echo "options without effect"
code echelon gen uniform --values 3 -N 2
code echelon gen --values 3 -N 2
code echelon gen few --values 1 -N 2 --type u8
echo "headers of Python 2"
{ npy '<i4' '(2L,)'; printf '\2\0\0\0\1\0\0\0'; } >old.npy
code echelon scan old.npy -o out.txt
cat out.txt
{ npy '<i4' '(2L, 1L)'; printf '\2\0\0\0\1\0\0\0'; } | code echelon reduce sum
{ npy '<i4' '(L,)'; } | code echelon reduce sum
{ npy '<i4' '(2LL,)'; } | code echelon reduce sum
